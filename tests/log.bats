#!/usr/bin/env bats
# --log with several writers and over a long time. What a single one writes, and
# the system log, are in messages.bats.

load helper
bats_require_minimum_version 1.5.0

STAMP='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z'

# whole FILE: every line is one message, from its time to its end
whole() {
	local odd
	odd=$(grep -Evc "^$STAMP [0-9]+ ownerwrap\[[a-z]+\]: [^[:cntrl:]]*\$" "$1" || true)
	[ "$odd" = 0 ] || {
		cat -A "$1" | tail -n 20 >&2
		fail "$odd lines that are no message"
	}
	# A torn one would have a second beginning in it.
	assert_lines "$1" "$STAMP .*$STAMP" 0
}

@test "log: many that write at the same time tear no line and lose none" {
	local n fronts=() long
	long=$(head -c 600 /dev/zero | tr '\0' x)
	for ((n = 0; n < 30; n++)); do
		OWNERWRAP_GRACE=$long OWNERWRAP_SIGNAL=$long "$OW" -q --log out.log \
			-- sh -c 'kill -USR2 $PPID; exit 3' 3>&- &
		fronts+=("$!")
	done
	track "${fronts[@]}"
	for n in "${fronts[@]}"; do
		finish "$n"
		expect_status 3
	done
	whole out.log
	assert_lines out.log ': server [0-9]+ started; ' 30
	assert_lines out.log ': OWNERWRAP_GRACE=x+.*: ignored, must be' 30
	assert_lines out.log ': OWNERWRAP_SIGNAL=x+.*: ignored, must be' 30
}

@test "log: a message is one write, so a FIFO keeps lines whole too" {
	local n fronts=()
	mkfifo fifo
	cat fifo >got 3>&- &
	reader=$!
	track "$reader"
	exec 7>fifo
	for ((n = 0; n < 20; n++)); do
		OWNERWRAP_GRACE=soon "$OW" -q --log fifo -- true 3>&- 7>&- &
		fronts+=("$!")
	done
	for n in "${fronts[@]}"; do
		finish "$n"
		expect_status 0
	done
	exec 7>&-
	finish "$reader"
	whole got
	assert_lines got ': server [0-9]+ started; ' 20
}

@test "log: copytruncate: what comes later is at the beginning of the emptied file" {
	new_owner
	wrap --log out.log -g 0 -k 0.3 -p "$OWNER" -- -d
	kill -USR1 "$FRONT"
	await_line out.log 'USR1 relayed'
	inode=$(stat -c %i out.log)
	# As logrotate does it.
	cp out.log out.log.1
	: >out.log
	kill -USR2 "$FRONT"
	await_line out.log 'USR2 relayed'
	whole out.log
	assert_lines out.log . 1
	# No hole of NUL bytes up to where it had been.
	assert_equal "$(tr -d '\0' <out.log | wc -c)" "$(wc -c <out.log)"
	: >out.log
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	whole out.log
	assert_lines out.log ' is gone; stopping | still there ' 2
	assert_lines out.log . 2
	assert_equal "$(stat -c %i out.log)" "$inode"
	whole out.log.1
}

@test "log: it goes on after the death of the editor and of the front" {
	touch keep
	start owner -l host "$OW" --log out.log -g 0.2 -i 0.1 -k 0.3 \
		--keep-if "test -e $PWD/keep" -- server -l log -d
	editor=$(pid_in host owner)
	below_host
	supervisor=$(supervisor_of "$FRONT")
	track "$supervisor"
	kill -KILL "$editor" "$FRONT"
	await_line out.log "^$STAMP $supervisor .*no owner left, kept: "
	rm keep
	await_gone "$SERVER" "$supervisor"
	whole out.log
	assert_lines out.log "^$STAMP $supervisor .* still there .*: killed\$" 1
}

@test "log: one that was removed or renamed stays the same file, nothing is made anew" {
	wrap --log out.log --
	mv out.log old.log
	kill -USR1 "$FRONT"
	await_line old.log 'USR1 relayed'
	[ ! -e out.log ]
	rm old.log
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 0
	assert_equal "$(echo *.log)" '*.log'
}

@test "log: a FIFO that nobody reads does not hold up the start" {
	mkfifo fifo
	begin=$(now_ms)
	ow --log fifo touch started
	# Whether it is refused or goes on without, it does so at once.
	[ $(($(now_ms) - begin)) -lt $((LIMIT * 1000)) ]
	expect_status 125
	expect_said "ownerwrap[touch]: --log fifo: must be $RIGHT_LOG"
	OWNERWRAP_LOG=fifo ow sh -c 'exit 3'
	expect_status 3
}

@test "log: what each option of this file's neighbours says goes there, too" {
	touch "a.$PPID" a.1
	true &
	wait "$!"
	touch "a.$!"
	ow -q --log out.log --sweep 'a.{pid}' true
	expect_status 0
	expect_said ''
	assert_lines out.log ": swept 1 file: a\.\{pid\}\$" 1
	whole out.log
	: >t.sock
	ow -q --log out.log --share ./t.sock true
	expect_status 125
	assert_lines out.log '/t\.sock: is there, and no socket of this user$' 1
}

@test "log: 200 messages of one process are in the order in which they were said" {
	wrap --log out.log --
	sig send -q 1 60 "$FRONT" >/dev/null
	for ((n = 0; n < 200; n++)); do
		kill -USR1 "$FRONT"
		kill -USR2 "$FRONT"
	done
	settle
	whole out.log
	cut -d' ' -f1 out.log >stamps
	sort -c stamps
	kill "$FRONT"
	finish "$FRONT"
}
