#!/usr/bin/env bats
# Several owners of mixed kinds, --any, the grace, and what the messages say
# about owners.

load helper
bats_require_minimum_version 1.5.0

# The descriptor of the test whose other end is an owner's.
hang_up() { exec 8>&-; }

# mixed [OPTION...]: the server has three owners: a process, $A;
# the writer of a pipe, the test's descriptor 8; ./my-editor, $C, an ancestor.
# Sets FRONT, SERVER.
mixed() {
	rm -f log host in
	mkfifo in
	[ -e my-editor ] || ln -s "$FIXTURES/owner" my-editor
	new_owner
	A=$OWNER
	exec 8<>in
	start ./my-editor -l host sh -c 'exec "$@" 9<in' - \
		"$OW" -p "$A" --owner-fd 9 -n my-editor "$@" -- \
		server -l log 8<&-
	C=$PID
	below_host
}

# end NAME: that owner is gone
end() {
	case $1 in
	pid) kill -KILL "$A" ;;
	fd) hang_up ;;
	name) kill -KILL "$C" ;;
	esac
}

# clear_up: what is left of the three
clear_up() {
	hang_up
	kill -KILL "$A" "$C" 2>/dev/null || :
}

up='up [0-9]+s'

# --- several ---------------------------------------------------------------------

@test "owners: pid, descriptor and name: the last one counts, in any order (73)" {
	for order in 'pid fd name' 'fd name pid' 'name pid fd'; do
		read -r first second third <<<"$order"
		mixed -g 0
		end "$first"
		lives_on 200 "$SERVER"
		end "$second"
		lives_on 200 "$SERVER"
		assert_lines log '^TERM' 0
		end "$third"
		ended_by_term
		said "owners $A \\(sleep, $up\\), fd 9 \\(pipe\\), $C \\(my-editor, $up\\) are gone; stopping server $SERVER \\(TERM now, .*\\)"
	done
}

@test "owners: all at once (73)" {
	mixed -g 0
	kill -KILL "$A" "$C"
	hang_up
	ended_by_term
}

@test "owners: pid, descriptor and name with --any: the first one counts (73)" {
	local -A line=(
		[pid]='%A is gone, not fd 9 \(pipe\), %C'
		[fd]='fd 9 \(pipe\) is gone, not %A, %C'
		[name]='%C is gone, not %A, fd 9 \(pipe\)'
	)
	for first in pid fd name; do
		mixed --any -g 0
		assert_alive "$SERVER"
		end "$first"
		ended_by_term
		wanted=${line[$first]//%A/"$A \\(sleep, $up\\)"}
		wanted=${wanted//%C/"$C \\(my-editor, $up\\)"}
		said "owner $wanted; stopping server $SERVER \\(TERM now, .*\\)"
		clear_up
	done
}

@test "owners: the same for an ordinary user" {
	as_nobody
	OWN=$OW
	mkfifo in
	chmod 644 in
	for any in '' --any; do
		rm -f log
		new_owner
		exec 8<>in
		ln -sf "$FIXTURES/owner" my-editor
		# shellcheck disable=SC2086
		start "${NOBODY[@]}" ./my-editor -l host.$any sh -c 'exec "$@" 9<in' - \
			"$OWN" $any -p "$OWNER" --owner-fd 9 -n my-editor -g 0 \
			-- server -l log 8<&-
		SERVER=$(server_pid log)
		FRONT=$(pid_in host.$any cmd)
		kill -KILL "$OWNER"
		if [ -z "$any" ]; then
			lives_on 200 "$SERVER"
			hang_up
			lives_on 200 "$SERVER"
			kill -KILL "$PID"
		fi
		ended_by_term
		exec 8>&-
		kill -KILL "$PID" 2>/dev/null || :
	done
}

@test "owners: the same owner by pid and by name is one (73)" {
	ln -s "$FIXTURES/owner" my-editor
	for options in '-p $PPID' '-p $PPID --any' '-p $PPID:$ticks'; do
		rm -f log host
		start ./my-editor -l host sh -c '
			ticks=$(sed "s/.*) //" /proc/$PPID/stat | cut -d" " -f20)
			exec "$0" -v '"$options"' -n my-editor -g 0 -- server -l log' "$OW"
		below_host
		said "server $SERVER started; owner $PID \\(my-editor, $up\\), (watched by pidfd|polled every 0\\.1s)"
		held_once "$PID"
		kill -KILL "$PID"
		ended_by_term
		said "owner $PID \\(my-editor, $up\\) is gone; stopping server $SERVER .*"
	done
}

@test "owners: a wrong START beside the name of the same process (16, 73)" {
	ln -s "$FIXTURES/owner" my-editor
	start ./my-editor -l host sh -c '
		exec "$0" -v -p $PPID:1 -n my-editor -g 0 -- server -l log' "$OW"
	below_host
	lives_on 200 "$SERVER"
	kill -KILL "$PID"
	ended_by_term
}

@test "owners: a pidfd and the pid of one process" {
	# Two names; nothing is lost by it.
	for any in '' --any; do
		rm -f log host
		# shellcheck disable=SC2016,SC2086
		start ends -l host pidfd 9 sh -c '
			exec "$@" -p "$(sed -n "s/^child //p" host)" -g 0 -- server -l log' - \
			"$OW" $any --owner-fd 9
		below_host
		lives_on 150 "$SERVER"
		kill -USR1 "$PID"
		ended_by_term
		kill -KILL "$PID"
	done
}

@test "owners: some are gone at the start" {
	start true
	finish "$PID"
	dead=$PID
	exec 9< <(:)
	until_true "! [ -e /proc/$! ]"
	new_owner
	start "$OW" -v -p "$dead" --owner-fd 9 -n nobody-so-called -p "$OWNER" -g 0 -- server -l log
	FRONT=$PID
	SERVER=$(server_pid log)
	said 'no ancestor is called nobody-so-called: skipped'
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term
	said "owners $dead, fd 9 \\(pipe\\), $OWNER \\(sleep, $up\\) are gone; stopping server $SERVER .*"

	new_owner
	ow --any -p "$OWNER" --owner-fd 9 -- touch started
	expect_status 124
	expect_said 'ownerwrap[touch]: owner fd 9 (pipe) is not there: not started'
	ow --any --owner-fd 9 -p "$OWNER" -p "$dead" -- touch started
	expect_status 124
	expect_said "ownerwrap[touch]: owner fd 9 (pipe), $dead is not there: not started (ended, or in another pid namespace: --owner-fd)"
	ow -p "$dead" --owner-fd 9 -n nobody-so-called -- touch started
	expect_status 124
	expect_said_match "^ownerwrap\[touch\]: owner $dead, fd 9 \(pipe\) is not there: not started"
	[ ! -e started ]
	exec 9<&-
}

@test "owners: with --any names not found do not count as gone" {
	new_owner
	start "$OW" --any -n nobody-so-called -p "$OWNER" -g 0 -- server -l log
	FRONT=$PID
	SERVER=$(server_pid log)
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term
}

@test "owners: 64 of mixed kinds are possible, 65 are an error" {
	local many=()
	for ((i = 0; i < 61; i++)); do
		many+=(-p $((2147483647 - i)))	# nobody's, so gone
	done
	mixed "${many[@]}" -g 0
	end pid
	end name
	lives_on 200 "$SERVER"
	end fd
	ended_by_term
	exec 8<>in
	ow "${many[@]}" -p $$ -p $PPID -p 1 --owner-fd 9 -- touch started 9<in 8<&-
	expect_status 125
	assert_equal "${#stderr_lines[@]}" 1
	expect_said_match '^ownerwrap\[touch\]: --owner-fd 9: must be .*; 64 owners at most$'
	[ ! -e started ]
	hang_up
}

@test "owners: an explicit one replaces the parent, whatever its kind (86)" {
	# The parent goes, and who adopts does not matter.
	mkfifo in
	exec 8<>in
	start owner -r -l reaper owner -s -x 200 sh -c 'exec "$@" 9<in' - \
		"$OW" --owner-fd 9 -g 0 -- server -l log 8<&-
	SERVER=$(server_pid log)
	lives_on 400 "$SERVER"
	hang_up
	finish "$PID"
	assert_lines log '^TERM from ' 1
	assert_lines reaper '^adopted [0-9]+ ended 124$' 1
}

@test "owners: adopted before the start, with a descriptor (86)" {
	mkfifo in
	exec 8<>in
	start owner -r -l reaper owner -s -x 0 -a 100 sh -c 'exec "$@" 9<in' - \
		"$OW" --owner-fd 9 -g 0 -- server -l log 8<&-
	SERVER=$(server_pid log)
	lives_on 200 "$SERVER"
	hang_up
	finish "$PID"
	assert_lines log '^TERM from ' 1
}

# five_owners: sets pids, and many, the options that name them
five_owners() {
	pids=() many=()
	while [ ${#pids[@]} -lt 5 ]; do
		new_owner
		pids+=("$OWNER")
		many+=(-p "$OWNER")
	done
}

@test "owners: killed while others are opened: the server is never left (3)" {
	local i
	for ((i = 0; i < 8; i++)); do
		five_owners
		rm -f in
		mkfifo in
		exec 8<>in
		exec 9<in
		plain "$OW" -q --any "${many[@]}" --owner-fd 9 -n bash -g 0 -- sleep 299 \
			2>/dev/null 3>&- 8<&- &
		front=$!
		track "$front"
		exec 9<&-
		let_pass $((RANDOM % 20))
		if ((i % 4 == 3)); then
			hang_up
		else
			kill -KILL "${pids[RANDOM % 5]}"
		fi
		finish "$front"
		expect_status 124
		kill -KILL "${pids[@]}" 2>/dev/null || :
	done
	exec 8>&-
	no_leftovers
}

@test "owners: all killed one by one while they are opened (3)" {
	local i pid
	for ((i = 0; i < 8; i++)); do
		five_owners
		plain "$OW" -q "${many[@]}" -g 0 -- sleep 299 2>/dev/null 3>&- &
		front=$!
		track "$front"
		let_pass $((RANDOM % 10))
		for pid in $(shuf -e "${pids[@]}"); do
			kill -KILL "$pid"
		done
		finish "$front"
		expect_status 124
	done
	no_leftovers
}

# --- the grace ---------------------------------------------------------------------

@test "owners: the grace counts from the moment the last one went" {
	mixed -g 0.8
	end pid
	lives_on 500 "$SERVER"
	end name
	lives_on 500 "$SERVER"
	assert_lines "$ERR" . 0
	begin=$(now_ms)
	end fd
	await_line log '^TERM '
	taken 800 "$begin"
	ended_by_term
	said "owners .* are gone; stopping server $SERVER \\(TERM in 0\\.8s, KILL 5s later, 10s if others must be told\\)"
}

@test "owners: with --any the grace counts from the first one, and stays" {
	mixed --any -g 1.2
	begin=$(now_ms)
	end pid
	await_line "$ERR" 'is gone, not fd 9'
	lives_on 500 "$SERVER"
	end fd
	end name
	await_line log '^TERM '
	taken 1200 "$begin"
	ended_by_term
	said '.* stopping server .*' 1
}

@test "owners: a server that ends by itself in the grace is not signalled (92)" {
	# Its stdin ends with its owner; it needs a while and has a status.
	for kind in read unix; do
		rm -f log host
		start ends -l host $kind 0 "$OW" --owner-fd 0 -g 1m -- \
			server -l log -E -w 200 -e 7
		FRONT=$(pid_in host cmd)
		SERVER=$(server_pid log)
		supervisor=$(supervisor_of "$FRONT")
		kill -USR1 "$PID"
		await_line host '^exit '
		refute_alive "$SERVER" "$supervisor"
		assert_lines host '^exit 7$' 1
		assert_lines log '^eof$' 1
		assert_lines log '^done$' 1
		assert_lines log '^[A-Z]+[0-9]* from ' 0
		assert_lines "$ERR" . 1
		kill -KILL "$PID"
	done
}

@test "owners: a server that ends in the grace, its owner having been killed (92)" {
	ln -s "$FIXTURES/owner" my-editor
	mkfifo in
	# The host is the writer of the stdin, too, as an editor is.
	exec 8<>in
	start ./my-editor -l host sh -c 'exec "$0" -n my-editor -g 1m -- server -l log -E -e 3 -f 1 <in 8<&-' "$OW"
	exec 8>&-
	below_host
	supervisor=$(supervisor_of "$FRONT")
	plain_child=$(child_pid log plain)
	kill -KILL "$PID"
	await_gone "$FRONT"
	refute_alive "$SERVER" "$supervisor"
	assert_lines log '^eof$' 1
	assert_lines log '^[A-Z]+[0-9]* from ' 0
	await_gone "$plain_child"
}

@test "owners: a server that dies in the grace gives its signal as status (92)" {
	new_owner
	start "$OW" -p "$OWNER" -g 1m -- server -l log -n
	SERVER=$(server_pid log)
	kill -KILL "$OWNER"
	await_line "$ERR" 'is gone; stopping'
	kill -USR1 "$SERVER"
	finish "$PID"
	expect_status $((128 + $(kill -l USR1)))
}

# --- messages -----------------------------------------------------------------------

@test "owners: the start's line has each with pid, name and age, under -v (71)" {
	mixed -v -g 0
	said "server $SERVER started; owner $A \\(sleep, $up\\), fd 9 \\(pipe\\), $C \\(my-editor, $up\\), (watched by pidfd|polled every 0\\.1s)"
	assert_lines "$ERR" . 1
	clear_up
	await_gone "$FRONT"
	mixed -g 0
	assert_equal "$(cat "$ERR")" ''
	clear_up
	await_gone "$FRONT"
}

@test "owners: the age is that of the process, not of the watch (71)" {
	new_owner
	let_pass 2100
	start "$OW" -v -p "$OWNER" -g 0 -- server -l log
	SERVER=$(server_pid log)
	assert_lines "$ERR" '; owner [0-9]+ \(sleep, up ([2-9]|[1-9][0-9]+)s\), ' 1
	kill -KILL "$OWNER"
	finish "$PID"
	assert_lines "$ERR" 'owner [0-9]+ \(sleep, up ([2-9]|[1-9][0-9]+)s\) is gone; ' 1
}

@test "owners: descriptors are said by number and kind" {
	local -A name=([read]=pipe [fifo]=pipe [unix]=socket [tcp]=socket
		[pty]=terminal [pidfd]=pidfd)
	for kind in "${!name[@]}"; do
		rm -f log host fifo.7
		start ends -l host "$kind" 7 "$OW" -v --owner-fd 7 -g 0 -- server -l log
		SERVER=$(server_pid log)
		said "server $SERVER started; owner fd 7 \\(${name[$kind]}\\), (watched by poll|polled every 0\\.1s)"
		assert_equal "$(ps -o args= -p "$(pgrep -P "$(pid_in host cmd)" -x ow-supervisor)")" \
			"ow-supervisor server=$SERVER owner=fd7(${name[$kind]})"
		kill -USR1 "$PID"
		await_line host '^exit 124$'
		said "owner fd 7 \\(${name[$kind]}\\) is gone; stopping server $SERVER \\(.*\\)"
		kill -KILL "$PID"
	done
}
