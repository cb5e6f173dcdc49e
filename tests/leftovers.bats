#!/usr/bin/env bats
# The server has ended by itself and left processes: --leftovers.

load helper

# left [OPTION...] -- SERVER OPTION...: owner O, front W, its supervisor SUP, and
# a server S that has ended with status 7, told by the test and not by us
left() {
	at_dashes "$@"
	owned "${BEFORE[@]}" -- server -l log -e 7 "${AFTER[@]}"
	its_supervisor
	kill -TERM "$S"
}

# --- stop ------------------------------------------------------------------

@test "leftovers stop: what the server left is stopped, the status is its own" {
	left -- -g plain -g slow=100,log=child -g setpgid
	child=$(child_pid child 'slow=.*')
	finish "$W"
	expect_status 7
	assert_alive "$O"
	refute_alive "$child" "$(child_pid log plain)"
	assert_equal "$(cat child.done)" complete
	assert_lines log '^\[[0-9]+\] TERM ' 2
	assert_lines child '^\[[0-9]+\] TERM ' 1
	said "server ended and left 3 processes: stopped \(--leftovers wait or leave keeps them\)"
}

@test "leftovers stop: a deaf one is killed after kill-after" {
	left -k 0.6 -- -g deaf
	child=$(child_pid log deaf)
	await_line "$ERR" 'server ended'
	await_line log "^\[$child\] TERM "
	finish "$W"
	expect_status 7
	refute_alive "$child"
	said "server ended and left 1 process: stopped \(--leftovers wait or leave keeps it\)"
}

@test "leftovers stop: not before kill-after" {
	begin=$(now_ms)
	left -k 0.8 -- -g deaf
	finish "$W"
	taken 800 "$begin"
	expect_status 7
}

@test "leftovers stop: nothing is said where nothing is left" {
	left --
	finish "$W"
	expect_status 7
	assert_equal "$(cat "$ERR")" ""
}

@test "leftovers stop: a server that died by a signal hands that on" {
	owned -- server -l log -x 300 -k SEGV -g plain
	finish "$W"
	expect_status 139
	refute_alive "$(child_pid log plain)"
}

@test "leftovers stop: the death of the owner meanwhile changes no status" {
	left -g 0 -k 0.8 -- -g deaf
	await_line "$ERR" 'server ended'
	kill -KILL "$O"
	finish "$W"
	expect_status 7
	assert_lines "$ERR" 'is gone' 0
}

@test "leftovers stop: a server that ends in the grace leaves nothing" {
	owned -g 60 -- server -l log -e 7 -g plain
	kill -KILL "$O"
	await_line "$ERR" 'is gone'
	kill -TERM "$S"
	finish "$W"
	expect_status 7
	refute_alive "$(child_pid log plain)"
}

@test "leftovers stop: --scope tree stops daemons, too" {
	left --scope tree -- -g setsid -g double,setsid
	finish "$W"
	expect_status 7
	refute_alive "$(child_pid log setsid)" "$(child_pid log double,setsid)"
	said "server ended and left 2 processes: stopped .*"
	assert_lines "$ERR" 'left running' 0
}

# --- wait ------------------------------------------------------------------

@test "leftovers wait: the status is withheld till the last one has ended" {
	left --leftovers wait -- -g normal -g deaf
	deaf=$(child_pid log deaf)
	await_line "$ERR" 'waited for'
	kill -KILL "$(child_pid log normal)"
	await_gone "$(child_pid log normal)"
	lives_on 200 "$W" "$deaf"
	assert_lines log '^\[[0-9]+\] TERM ' 0
	kill -KILL "$deaf"
	finish "$W"
	expect_status 7
	said "server ended and left 2 processes: waited for"
	assert_lines "$ERR" stopp 0
}

@test "leftovers wait: those of a spared daemon are waited for, too" {
	# The last one is no child of ours: its end is not signalled to us.
	mkfifo go
	cat >daemon <<-'END'
		read -r word <go &
		exec setsid sh -c 'echo $$ >up; exec sleep 300'
	END
	start "$OW" --leftovers wait --interval 0.1 -- sh -c \
		'sh daemon & until [ -s up ]; do sleep 0.02; done; exit 7'
	W=$PID
	await_line "$ERR" 'server ended and left 1 process: waited for'
	daemon=$(cat up)
	track "$daemon"
	lives_on 300 "$W"
	echo end >go
	finish "$W"
	expect_status 7
	assert_alive "$daemon"
	said "left running as daemons: $daemon \(sleep\); --scope tree stops them"
	kill -KILL "$daemon"
}

@test "leftovers wait: the owner's death ends them, the status stays" {
	left --leftovers wait -g 0.5 -k 0.5 -- -g plain -g deaf
	await_line "$ERR" 'waited for'
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 1000 "$begin"
	expect_status 7
	refute_alive "$(child_pid log plain)" "$(child_pid log deaf)"
	said "owner $O \(sleep, up [0-9]+s\) is gone; stopping what the server left \(TERM in 0\.5s, .*\)"
}

@test "leftovers wait: TERM, INT, HUP or QUIT to the front ends them" {
	local signal
	for signal in TERM INT HUP QUIT; do
		rm -f log
		left -v --leftovers wait -- -g plain
		child=$(child_pid log plain)
		await_line "$ERR" 'waited for'
		kill -USR1 "$W"
		lives_on 100 "$child" "$W"
		kill "-$signal" "$W"
		finish "$W"
		expect_status 7
		refute_alive "$child"
		# Whatever asked for it, the stop signal is what they get.
		assert_lines log "^\[$child\] TERM " 1
		said "a signal asks for it; stopping .*"
	done
}

@test "leftovers wait: a deaf one is killed after kill-after, asked by TERM" {
	left --leftovers wait -k 0.6 -- -g deaf
	await_line "$ERR" 'waited for'
	begin=$(now_ms)
	kill -TERM "$W"
	finish "$W"
	taken 600 "$begin"
	expect_status 7
	refute_alive "$(child_pid log deaf)"
}

@test "leftovers wait: the front's death ends them" {
	left --leftovers wait -g 60 -- -g plain -g deaf
	await_line "$ERR" 'waited for'
	begin=$(now_ms)
	kill -KILL "$W"
	await_gone "$SUP"
	taken 2000 "$begin"
	refute_alive "$(child_pid log plain)" "$(child_pid log deaf)"
}

@test "leftovers wait: the supervisor's death ends them, the status stays" {
	left --leftovers wait -k 0.5 -- -g plain -g deaf
	await_line "$ERR" 'waited for'
	kill -KILL "$SUP"
	finish "$W"
	expect_status 7
	refute_alive "$(child_pid log plain)" "$(child_pid log deaf)"
}

# --- leave -----------------------------------------------------------------

@test "leftovers leave: the front ends at once, the rest when the owner goes" {
	left --leftovers leave -g 0.5 -k 0.5 -- -g plain -g deaf
	plain=$(child_pid log plain)
	deaf=$(child_pid log deaf)
	finish "$W"
	expect_status 7
	said "server ended and left 2 processes: left until the owner goes"
	lives_on 300 "$plain" "$deaf" "$SUP"
	assert_lines log '^\[[0-9]+\] TERM ' 0
	begin=$(now_ms)
	kill -KILL "$O"
	await_line log "^\[$plain\] TERM "
	taken 500 "$begin"
	await_gone "$SUP"
	taken 1000 "$begin"
	refute_alive "$plain" "$deaf"
}

@test "leftovers leave: OWNERWRAP_LEFTOVERS says it, too" {
	export OWNERWRAP_LEFTOVERS=leave
	left -g 0 -- -g plain
	finish "$W"
	expect_status 7
	assert_alive "$(child_pid log plain)"
	kill -KILL "$O"
	await_gone "$(child_pid log plain)"
}

@test "leftovers leave: the lone supervisor shows itself and lets go of stderr" {
	left --leftovers leave -g 0 -- -g plain
	finish "$W"
	assert_equal "$(ps -o args= -p "$SUP")" \
		"ow-supervisor server=$S owner=$O(sleep)"
	for fd in 0 1 2; do
		assert_equal "$(readlink "/proc/$SUP/fd/$fd" || echo closed)" \
			/dev/null
	done
	kill -KILL "$O"
	await_gone "$SUP"
	assert_lines "$ERR" 'is gone' 0
}

@test "leftovers leave: the host sees the end of stderr" {
	start sleep 300
	O=$PID
	# cat ends when nobody holds the pipe: front, supervisor and server.
	start sh -c '"$@" 2>&1 >/dev/null | cat; echo eof' - "$OW" -p "$O" \
		--leftovers leave -- sh -c 'sleep 300 2>/dev/null & sleep 0.2'
	finish "$PID"
	assert_lines "$OUT" '^ownerwrap\[sh\]: server ended and left 1 process: left until the owner goes$' 1
	assert_lines "$OUT" '^eof$' 1
	kill -KILL "$O"
}

@test "leftovers leave: what the lone supervisor says goes to --log" {
	left --leftovers leave --log wlog -g 0 -k 0.3 -- -g deaf
	finish "$W"
	kill -KILL "$O"
	await_gone "$(child_pid log deaf)"
	assert_lines wlog "server ended and left 1 process: left until the owner goes\$" 1
	assert_lines wlog "owner $O \(sleep, up [0-9]+s\) is gone; stopping what the server left \(TERM now, .*\)\$" 1
	assert_lines "$ERR" 'is gone' 0
}

@test "leftovers leave: TERM to the lone supervisor stops them" {
	left --leftovers leave -g 60 -- -g plain
	child=$(child_pid log plain)
	finish "$W"
	kill -USR1 "$SUP"
	lives_on 200 "$child" "$SUP"
	kill -TERM "$SUP"
	await_gone "$SUP"
	refute_alive "$child"
	assert_alive "$O"
	assert_lines log "^\[$child\] TERM " 1
}

@test "leftovers leave: when they have ended so has the lone supervisor" {
	left --leftovers leave -- -g plain
	finish "$W"
	kill -KILL "$(child_pid log plain)"
	await_gone "$SUP"
}

@test "leftovers leave: nothing left, no supervisor" {
	left --leftovers leave --
	finish "$W"
	expect_status 7
	refute_alive "$SUP"
	assert_equal "$(cat "$ERR")" ""
}

@test "leftovers leave: the default owner is watched without the front" {
	start owner -z -l olog "$OW" --leftovers leave -g 0 --interval 0.1 -- \
		server -l log -x 300 -e 7 -g plain
	child=$(child_pid log plain)
	W=$(pid_in olog cmd)
	await_gone "$W"
	lives_on 500 "$child"
	kill -KILL "$PID"
	await_gone "$child"
}

@test "leftovers leave: of a looked-through shell only the topmost counts" {
	# The shell ends with the front, the owner above it lives on.
	start owner -z -l olog sh -c '"$@"; :' - "$OW" --leftovers leave -g 0 \
		--interval 0.1 -- server -l log -x 300 -g plain
	host=$PID
	child=$(child_pid log plain)
	shell=$(pid_in olog cmd)
	await_gone "$shell"
	lives_on 500 "$child" "$host"
	kill -KILL "$host"
	await_gone "$child"
}

@test "leftovers leave: of two owners the last one counts" {
	start sleep 300
	first=$PID
	left --owner-pid "$first" --leftovers leave -g 0 -- -g plain
	child=$(child_pid log plain)
	finish "$W"
	kill -KILL "$O"
	lives_on 400 "$child"
	kill -KILL "$first"
	await_gone "$child"
}

@test "leftovers leave: with --scope process it has no effect" {
	left --scope process --leftovers leave -- -g plain
	child=$(child_pid log plain)
	finish "$W"
	expect_status 7
	refute_alive "$SUP"
	assert_alive "$child"
	assert_equal "$(cat "$ERR")" ""
	kill -KILL "$child"
}

@test "leftovers leave: what a server leaves in the grace has the rest of it" {
	owned --leftovers leave -g 1 -k 0.3 -- server -l log -e 7 -g deaf
	its_supervisor
	child=$(child_pid log deaf)
	begin=$(now_ms)
	kill -KILL "$O"
	await_line "$ERR" 'is gone'
	kill -TERM "$S"
	finish "$W"
	expect_status 7
	await_gone "$SUP"
	taken 1300 "$begin"
	refute_alive "$child"
}

@test "leftovers: one that is another process all the time is caught (24)" {
	run timeout -s KILL 20 "$OW" -k 0.2 -- hop 50000 "$PWD/survived"
	expect_status 3
	no_leftovers
	[ ! -e survived ]
}
