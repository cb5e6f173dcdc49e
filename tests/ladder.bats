#!/usr/bin/env bats
# The stop ladder: its steps, their times, what begins it, what status it gives.

load helper

# --- the steps -------------------------------------------------------------

@test "stop: the stop signal comes first, then CONT, once each" {
	owned -g 0 -- server -l log -t 100
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S"
	assert_equal "$(sed -n 's/^\(TERM\|CONT\) .*/\1/p' log)" $'TERM\nCONT'
	said "owner $O \(sleep, up [0-9]+s\) is gone; stopping server $S \(TERM now, KILL 5s later, 10s if others must be told\)"
}

@test "stop: a stopped server and a stopped child still do their work (42)" {
	owned -g 0 -- server -l log -t 100 -g stop,slow=100,log=child
	child=$(child_pid child 'stop,.*')
	kill -STOP "$S"
	await_stopped "$S"
	kill -KILL "$O"
	# The front is stopped as the server is, but never the ladder.
	await_gone "$S" "$child"
	finish "$W"
	expect_status 124
	assert_equal "$(cat log.done child.done)" $'complete\ncomplete'
	terms 1
	assert_lines child '^\[[0-9]+\] TERM ' 1
	assert_lines child '^\[[0-9]+\] CONT ' 1
	assert_lines "$ERR" 'killed' 0
}

@test "stop: others are told when the server has ended, not before" {
	owned -g 0 -- server -l log -t 400 -g plain
	child=$(child_pid log plain)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$child"
	# One log, in the order of time: the server's work was done by then.
	run sed -n -E 's/^(done|\[[0-9]+\] TERM) ?.*/\1/p' log
	expect_output "done"$'\n'"[$child] TERM"
}

@test "stop: others of a deaf server are told after kill-after" {
	owned -g 0 -k 0.5 -- server -l log -d -g plain -g deaf
	plain=$(child_pid log plain)
	deaf=$(child_pid log deaf)
	begin=$(now_ms)
	kill -KILL "$O"
	await_line log '^TERM '
	await_line log "^\[$plain\] TERM "
	taken 500 "$begin"
	await_gone "$S" "$deaf"
	taken 1000 "$begin"
	finish "$W"
	expect_status 124
	refute_alive "$plain"
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 2
	still_there "$ERR" "$S" TERM 1000
}

@test "stop: a lone deaf server is killed after one kill-after, not two" {
	owned -g 0 -k 1 -- server -l log -d
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 1000 "$begin"
	expect_status 124
	refute_alive "$S"
	terms 1
	said "owner .* is gone; stopping server $S \(TERM now, KILL 1s later, 2s if others must be told\)"
	still_there "$ERR" "$S" TERM 1000
}

@test "stop: a deaf grandchild of a polite server is killed after kill-after (24)" {
	owned -g 0 -k 0.6 -- server -l log -g deaf -g ignore
	deaf=$(child_pid log deaf)
	ignore=$(child_pid log ignore)
	begin=$(now_ms)
	kill -KILL "$O"
	await_gone "$S"
	await_line log "^\[$deaf\] TERM "
	finish "$W"
	taken 600 "$begin"
	expect_status 124
	refute_alive "$deaf" "$ignore"
	assert_lines "$ERR" 'killed' 0	# the server was not
}

@test "stop: a deaf grandchild of a deaf server is killed after two kill-afters" {
	owned -g 0 -k 0.5 -- server -l log -d -g deaf
	deaf=$(child_pid log deaf)
	begin=$(now_ms)
	kill -KILL "$O"
	await_gone "$deaf"
	taken 1000 "$begin"
	finish "$W"
	expect_status 124
	refute_alive "$S"
}

@test "stop: a step ends as soon as there is nothing to wait for" {
	owned -g 0 -k 60 -- server -l log -t 50 -g slow=50 -g setpgid
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S"
}

@test "stop: a server that needs its time gets it (44)" {
	owned -g 0 -k 30 -- server -l log -t 1200
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 1200 "$begin"
	expect_status 124
	assert_equal "$(cat log.done)" complete
	assert_lines "$ERR" killed 0
}

@test "stop: a server that takes too long is killed after kill-after, never earlier (44)" {
	owned -g 0.2 -k 0.8 -- server -l log -t 60000
	begin=$(now_ms)
	kill -KILL "$O"
	await_line log '^TERM '
	taken 200 "$begin"
	finish "$W"
	taken 1000 "$begin"
	expect_status 124
	refute_alive "$S"
	[ ! -e log.done ]
	still_there "$ERR" "$S" TERM 800
}

@test "stop: a spinning server that ignores everything is killed (43)" {
	owned -g 0 -k 0.5 -- server -l log -D -b
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$S"
}

@test "stop: a shell that traps and spins is killed (43)" {
	start sleep 300
	O=$PID
	start "$OW" --owner-pid "$O" -g 0 -k 0.5 -- \
		sh -c 'trap "" TERM HUP INT; echo $$ >pid; while :; do :; done'
	W=$PID
	until_true '[ -s pid ]'
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$(cat pid)"
}

# --- --signal, --kill-after ------------------------------------------------

@test "stop: --kill-after inf never forces" {
	owned -g 0 -k inf -- server -l log -d -g deaf
	deaf=$(child_pid log deaf)
	kill -KILL "$O"
	await_line log '^TERM '
	said "owner .* is gone; stopping server $S \(TERM now, no KILL\)"
	lives_on 500 "$S" "$deaf" "$W"
	# Once the server has ended the others are told, and waited for.
	kill -KILL "$S"
	await_line log "^\[$deaf\] TERM "
	lives_on 300 "$deaf" "$W"
	kill -KILL "$deaf"
	finish "$W"
	expect_status 124
	assert_lines "$ERR" 'still there' 0
}

@test "stop: --signal KILL goes straight to force" {
	owned -g 0 -k 60 -s KILL -- server -l log -d -g deaf
	deaf=$(child_pid log deaf)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$deaf"
	assert_lines log 'TERM|CONT' 0
	said "owner .* is gone; stopping server $S \(KILL now\)"
}

@test "stop: --signal KILL waits for the grace" {
	owned -g 0.5 -s KILL -- server -l log
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$S"
}

@test "stop: --signal is what server and others get, by name or number" {
	local signal expected
	for signal in INT SIGHUP 3; do
		rm -f log
		owned -g 0 -s "$signal" -- server -l log -g plain
		expected=${signal#SIG}
		expected=${expected/3/QUIT}
		kill -KILL "$O"
		finish "$W"
		expect_status 124
		assert_lines log "^$expected " 1
		assert_lines log "^\[[0-9]+\] $expected " 1
		assert_lines log 'TERM' 0
		said "owner .* is gone; stopping server $S \($expected now, KILL 5s later, .*"
	done
}

@test "stop: a server that does not end at --signal USR1 is killed" {
	owned -g 0 -k 0.5 -s USR1 -- server -l log
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	assert_lines log '^USR1 ' 1
	terms 0
	still_there "$ERR" "$S" USR1 500
}

# --- what begins it --------------------------------------------------------

@test "stop: TERM to the front without --kill-after is relayed, no more (43)" {
	owned -g 0 -- server -l log -d -g deaf
	kill -TERM "$W"
	await_line log '^TERM '
	lives_on 500 "$S" "$W"
	assert_lines log '^\[[0-9]+\] TERM ' 0
	kill -TERM "$W"			# again, since no ladder has begun
	until_true '[ "$(count_lines log "^TERM ")" = 2 ]'
	assert_alive "$W"
	kill -KILL "$S" "$(child_pid log deaf)"
	finish "$W"
	expect_status 137
}

@test "stop: TERM to the front with --kill-after begins the ladder (43)" {
	owned -g 0 -k 0.5 -- server -l log -D -b -g deaf
	deaf=$(child_pid log deaf)
	begin=$(now_ms)
	kill -TERM "$W"
	finish "$W"
	taken 1000 "$begin"		# the server, then the other, were told
	expect_status 137		# not 124: no owner has gone
	refute_alive "$S" "$deaf"
	assert_alive "$O"
}

@test "stop: OWNERWRAP_KILL_AFTER counts as given" {
	export OWNERWRAP_KILL_AFTER=0.4
	owned -g 0 -- server -l log -d
	begin=$(now_ms)
	kill -TERM "$W"
	finish "$W"
	taken 400 "$begin"
	expect_status 137
	terms 1
}

@test "stop: with --kill-after inf TERM to the front is relayed, no more" {
	owned -g 0 -k inf -- server -l log -d
	kill -TERM "$W"
	await_line log '^TERM '
	kill -TERM "$W"
	until_true '[ "$(count_lines log "^TERM ")" = 2 ]'
	assert_alive "$S" "$W"
	kill -KILL "$S"
	finish "$W"
	expect_status 137
}

@test "stop: a signal that is not the stop signal begins nothing" {
	owned -g 0 -k 0.2 -s INT -- server -l log -d
	kill -TERM "$W"
	await_line log '^TERM '
	lives_on 500 "$S" "$W"
	kill -INT "$W"
	finish "$W"
	expect_status 137
	assert_lines log '^INT ' 1
}

@test "stop: TERM to the front with --kill-after leaves the server its status" {
	owned -k 30 -- server -l log -t 100 -e 7 -g plain
	kill -TERM "$W"
	finish "$W"
	expect_status 7
	assert_equal "$(cat log.done)" complete
	terms 1
}

@test "stop: TERM to the group with --kill-after begins the ladder, one TERM" {
	start sleep 300
	O=$PID
	start setsid "$OW" --owner-pid "$O" -k 0.5 -- server -l log -d
	W=$PID
	S=$(server_pid log)
	begin=$(now_ms)
	kill -TERM "-$W"
	finish "$W"
	taken 500 "$begin"
	expect_status 137
	terms 1
}

@test "stop: TERM to the supervisor alone with --kill-after begins the ladder" {
	owned -v -k 5 -- server -l log -e 7 -g plain
	kill -TERM "$(supervisor_of "$W")"
	finish "$W"
	expect_status 7
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
	said "a signal asks for it; stopping server $S \(TERM now, .*\)"
}

@test "stop: INT, HUP or QUIT to the supervisor alone is relayed, others are not" {
	local signal
	for signal in INT HUP QUIT; do
		rm -f log
		owned -- server -l log
		sup=$(supervisor_of "$W")
		kill -USR1 "$sup"
		lives_on 100 "$S"
		kill "-$signal" "$sup"
		finish "$W"
		expect_status 0
		assert_lines log "^$signal " 1
		assert_equal "$(grep -cE '^[A-Z0-9]+ from ' log)" 1
	done
}

@test "stop: TERM to the supervisor is no matter while a stopped front can't say" {
	owned -- server -l log
	sup=$(supervisor_of "$W")
	kill -STOP "$W"
	await_stopped "$W"
	kill -TERM "$sup"
	lives_on 400 "$S"
	terms 0
	kill -CONT "$W"
	finish "$W"
	expect_status 0
	terms 1
}

@test "stop: TERM to a stopped front and the supervisor is one TERM, no ladder" {
	owned -- server -l log -d
	sup=$(supervisor_of "$W")
	kill -STOP "$W"
	await_stopped "$W"
	sig send TERM "$W" "$sup" >/dev/null
	let_pass 300
	kill -CONT "$W"
	lives_on 400 "$W" "$S"
	assert_lines "$ERR" stopping 0
	kill -KILL "$S"
	finish "$W"
	expect_status 137
}

@test "stop: TERM from the server to its parent begins nothing" {
	run "$OW" -- sh -c 'kill -TERM $PPID; sleep 0.4; exit 3'
	expect_status 3
	expect_output ""
}

@test "stop: while it runs the stop signal is not relayed, others are" {
	owned -g 0 -k 60 -- server -l log -d
	# shellcheck disable=SC2034
	FRONT=$W			# for settle
	kill -KILL "$O"
	await_line log '^TERM '
	kill -TERM "$W"
	kill -USR1 "$W"
	kill -INT "$W"
	settle
	assert_lines log '^USR1 ' 1
	assert_lines log '^INT ' 1
	kill -KILL "$S"
	finish "$W"
	expect_status 124
	terms 1
}

@test "stop: a stop signal long ago is said again before KILL (82)" {
	start sleep 300
	O=$PID
	export O
	cat >script <<-'END'
		until grep -q ready log
		send \x03
		until grep -q '^INT from 0 ' log
		nap 700
		run [ $(grep -c '^INT ' log) = 1 ]
		run kill -KILL $O
		wait exit 124
	END
	run pty script "$OW" -p "$O" -g 0 -k 0.5 -s INT -- server -l log -d
	expect_status 0
	assert_lines log '^INT ' 2
	expect_match 'still there 0\.[5-9][0-9]*s after INT: killed|still there [1-3]'
}

@test "stop: a TERM relayed long ago is said again before KILL (82)" {
	owned -g 0 -- server -l log -d
	kill -TERM "$W"
	await_line log '^TERM '
	lives_on 5100 "$S"		# what a stop signal counts for
	terms 1
	kill -KILL "$O"
	until_true '[ "$(count_lines log "^TERM ")" = 2 ]'
	assert_alive "$S"
	kill -KILL "$S"
	finish "$W"
	expect_status 124
}

@test "stop: a stop signal of a moment ago is not said again, its time counts" {
	start sleep 300
	O=$PID
	export O
	cat >script <<-'END'
		until grep -q ready log
		send \x03
		until grep -q '^INT from 0 ' log
		nap 1000
		run kill -KILL $O
		wait exit 124
	END
	run pty script "$OW" -p "$O" -g 0 -k 2 -s INT -- server -l log -d
	expect_status 0
	assert_lines log '^INT ' 1
	expect_match 'still there 2(\.[0-9]+)?s after INT: killed'
}

# --- grace -----------------------------------------------------------------

@test "stop: after the owner's death comes the grace, then TERM" {
	owned -g 0.6 -- server -l log
	begin=$(now_ms)
	kill -KILL "$O"
	await_line log '^TERM '
	taken 600 "$begin"
	finish "$W"
	expect_status 124
	said "owner $O \(sleep, up [0-9]+s\) is gone; stopping server $S \(TERM in 0\.6s, KILL 5s later, .*\)"
}

@test "stop: work at the end of input is done within the default grace (92)" {
	mkfifo in
	start sh -c 'exec sleep 300 >in'
	O=$PID
	start sh -c 'exec "$@" <in' - "$OW" -p "$O" -- \
		server -l log -E -w 500 -e 7
	W=$PID
	S=$(server_pid log)
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 7			# it ended before the ladder began
	assert_equal "$(cat log.done)" complete
	terms 0
}

@test "stop: when the server ends within the grace, so does ownerwrap (92)" {
	mkfifo in
	start sh -c 'exec sleep 300 >in'
	O=$PID
	start sh -c 'exec "$@" <in' - "$OW" -p "$O" -g 60 -- \
		server -l log -E -w 100
	W=$PID
	server_pid log
	kill -KILL "$O"
	finish "$W"
	expect_status 0
	assert_lines log TERM 0
}

# --- a frozen machine ------------------------------------------------------

@test "freeze: a supervisor stopped for long takes no live owner for gone (13)" {
	owned -g 0 -- server -l log
	sup=$(supervisor_of "$W")
	freeze 1500 "$sup"
	lives_on 500 "$S" "$W"
	terms 0
	kill -KILL "$O"
	finish "$W"
	expect_status 124
}

@test "freeze: a grace that was slept through is given again (13)" {
	owned -g 0.5 -- server -l log
	sup=$(supervisor_of "$W")
	kill -KILL "$O"
	await_line "$ERR" 'is gone; stopping'
	freeze 1700 "$sup" "$S"
	await_line log '^TERM '
	taken 500 "$begin"
	finish "$W"
	expect_status 124
}

@test "freeze: a step that was slept through is given again, once (13)" {
	owned -g 0 -k 0.5 -- server -l log -d
	sup=$(supervisor_of "$W")
	kill -KILL "$O"
	await_line log '^TERM '
	freeze 1700 "$sup" "$S"
	await_line log '^CONT '
	assert_alive "$S"
	await_gone "$S"
	taken 500 "$begin"
	finish "$W"
	expect_status 124
	terms 1
}

# --- status ----------------------------------------------------------------

@test "status: 124 for a stop for an owner, however the server ended" {
	local how
	for how in '-e 0' '-e 7' '-n' '-t 100'; do
		rm -f log
		# shellcheck disable=SC2086
		owned -g 0 -- server -l log $how
		kill -KILL "$O"
		finish "$W"
		expect_status 124
	done
}

@test "status: the server's, if it ends within the grace" {
	local how
	for how in '0 -e 0' '7 -e 7' '139 -k SEGV'; do
		rm -f log
		# shellcheck disable=SC2086
		owned -g 30 -- server -l log -x 400 ${how#* }
		kill -KILL "$O"
		finish "$W"
		expect_status "${how%% *}"
	done
}

# --- seen from outside -----------------------------------------------------

@test "title: ps shows the supervisor with server and owner (89)" {
	owned -- server -l log
	sup=$(supervisor_of "$W")
	until_true "[ '$(ps -o args= -p "$sup")' = 'ow-supervisor server=$S owner=$O(sleep)' ]"
	ps -C ow-supervisor -o pid=,args= >list
	assert_lines list "^ *$sup ow-supervisor server=$S owner=$O\(sleep\)\$" 1
	# The front keeps what the host gave it.
	tr '\0' ' ' <"/proc/$W/cmdline" >argv
	assert_lines argv " --owner-pid $O -- server -l log \$" 1
	assert_equal "$(ps -o comm= -p "$W")" "$(basename "$OWNERWRAP_BIN")"
	kill -TERM "$W"
	finish "$W"
	expect_status 0
}
