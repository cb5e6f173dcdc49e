#!/usr/bin/env bats
# One of ownerwrap's own processes is killed: the other one stops the server.

load helper

# --- the front -------------------------------------------------------------

@test "front killed: server and others get the stop signal at once (30)" {
	owned -g 60 -- server -l log -t 100 -g plain -g setpgid
	sup=$(supervisor_of "$W")
	kill -KILL "$W"
	await_gone "$sup"		# long before the grace
	refute_alive "$S"
	assert_alive "$O"
	assert_equal "$(cat log.done)" complete
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 2
	said "the front was killed; stopping server $S \(TERM now, KILL 2s later, 4s if others must be told\)"
}

# hung [WORD...]: front $PID, whose server's exec hangs, started by WORD;
# supervisor $SUP, server $S
hung() {
	local skip=1		# its own
	[ "${OWNERWRAP_TEST_MODE-}" != poll ] || skip=2
	start "$@" late -s $skip execve go "$OW" -k 0.3 -- server -l log
	until_true 'ls go.* >/dev/null 2>&1'
	S=$(ls go.*)
	S=${S#go.}
	SUP=$(ps -o ppid= -p "$S" | xargs)
}

@test "front killed: it is seen although the command's exec hangs (30)" {
	hung
	kill -KILL "$PID"
	await_gone "$SUP"
	refute_alive "$S"
	[ ! -e log ]
}

@test "stop signal: it is relayed although the command's exec hangs (30)" {
	hung
	kill -TERM "$PID"
	finish "$PID"
	expect_status 143
	refute_alive "$SUP" "$S"
}

@test "supervisor killed: while the command is being executed nothing is left (30)" {
	hung sig ignore TERM --	# else the kernel's would end it
	kill -KILL "$SUP"
	finish "$PID"
	refute_alive "$S"
	[ ! -e log ]
}

@test "front killed: a deaf server is killed after 2 s, if not before (30)" {
	owned --log wlog -k 30 -- server -l log -d
	sup=$(supervisor_of "$W")
	begin=$(now_ms)
	kill -KILL "$W"
	await_gone "$sup"
	taken 2000 "$begin"
	refute_alive "$S"
	terms 1
	still_there wlog "$S" TERM 2000
}

@test "front killed: a shorter kill-after holds, also for deaf children (30)" {
	owned -k 0.4 -- server -l log -d -g deaf -g threads
	sup=$(supervisor_of "$W")
	begin=$(now_ms)
	kill -KILL "$W"
	await_gone "$sup"
	taken 800 "$begin"
	refute_alive "$S" "$(child_pid log deaf)" "$(child_pid log threads)"
	said "the front was killed; stopping server $S \(TERM now, KILL 0\.4s later, 0\.8s if others must be told\)"
}

@test "front killed: with --kill-after inf there is no force, others are told" {
	owned --log wlog -k inf -- server -l log -d -g deaf
	deaf=$(child_pid log deaf)
	begin=$(now_ms)
	kill -KILL "$W"
	await_line log '^TERM '
	await_line log "^\[$deaf\] TERM "
	taken 2000 "$begin"
	lives_on 500 "$S" "$deaf"
	logged "the front was killed; stopping server $S \(TERM now, no KILL\)"
	assert_lines wlog 'still there' 0
	kill -KILL "$S" "$deaf"
}

@test "front killed: a ladder that runs is shortened to 2 s" {
	owned -g 0 -k 60 -- server -l log -d
	sup=$(supervisor_of "$W")
	kill -KILL "$O"
	await_line log '^TERM '
	let_pass 300
	begin=$(now_ms)
	kill -KILL "$W"
	await_gone "$sup"
	taken 2000 "$begin"
	refute_alive "$S"
	terms 1
}

@test "front killed: a running ladder is not made longer" {
	owned --log wlog -g 0 -k 0.9 -- server -l log -d
	sup=$(supervisor_of "$W")
	kill -KILL "$O"
	await_line log '^TERM '
	kill -KILL "$W"
	await_gone "$sup"
	still_there wlog "$S" TERM 900 2000
}

@test "front killed: a grace that runs is cut off (30)" {
	owned -g 60 -- server -l log
	sup=$(supervisor_of "$W")
	kill -KILL "$O"
	await_line "$ERR" 'is gone; stopping'
	kill -KILL "$W"
	await_gone "$sup"
	refute_alive "$S"
	terms 1
}

@test "front killed: time counts from a stop signal the server had already" {
	owned --log wlog -- server -l log -d
	sup=$(supervisor_of "$W")
	begin=$(now_ms)
	kill -TERM "$W"
	await_line log '^TERM '
	kill -KILL "$W"
	await_gone "$sup"
	taken 2000 "$begin"
	refute_alive "$S"
	terms 1
	still_there wlog "$S" TERM 2000
}

@test "front killed: with the owner dead too (30)" {
	owned -g 60 -- server -l log -g plain
	sup=$(supervisor_of "$W")
	sig send KILL "$O" "$W" >/dev/null
	await_gone "$sup"
	refute_alive "$S" "$(child_pid log plain)"
}

@test "front killed: in its first milliseconds nothing is left (30)" {
	local i fronts=()
	for i in {0..24}; do
		start "$OW" -k 0.3 -- server -d
		fronts+=("$PID")
		let_pass $((i % 6))
		kill -KILL "$PID"
	done
	await_gone "${fronts[@]}"
	no_leftovers
}

@test "front killed: with --kill-after inf a lone deaf server stays (30)" {
	wrap -k inf --log said -- -d
	kill -KILL "$FRONT"
	await_line log '^TERM from '
	lives_on 2300 "$SERVER" "$SUPERVISOR"	# more than the 2 s that a front's death allows
	assert_lines said 'killed$' 0
	kill -KILL "$SERVER"
	await_gone "$SUPERVISOR"
}

# group_killed OPTION... -- SPEC...: SIGKILL to the group of a server with such
# children; all of them and all of ours are gone before 2 s have passed twice
group_killed() {
	local spec others=()
	at_dashes "$@"
	rm -f log
	start sleep 300
	O=$PID
	start setsid "$OW" -p "$O" "${BEFORE[@]}" -- \
		server -l log -d "${AFTER[@]/#/-g}"
	W=$PID
	S=$(server_pid log)
	its_supervisor
	for spec in "${AFTER[@]}"; do
		others+=("$(child_pid log "$spec")")
	done
	track "${others[@]}"
	kill -KILL "-$W"
	await_gone "$W" "$S" "$SUP" "${others[@]}"
	assert_alive "$O"
	kill -KILL "$O"
}

@test "front killed: with its whole group what is in another one ends too (99)" {
	group_killed -- deaf setpgid
	group_killed -k 0.3 -- setpgid,deaf
	group_killed --scope tree -k 0.3 -- setsid setsid,deaf
}

@test "front killed: with its whole group, as soon as the server is there (99)" {
	local n
	for n in 1 2 3 4 5; do
		group_killed -k 0.1 -- setpgid
	done
}

# --- the supervisor --------------------------------------------------------

@test "supervisor killed: the server is stopped once, its status kept (89)" {
	owned -g 60 -- server -l log -t 100 -e 7
	sup=$(supervisor_of "$W")
	kill -KILL "$sup"
	finish "$W"
	expect_status 7
	refute_alive "$S"
	assert_alive "$O"
	assert_equal "$(cat log.done)" complete
	terms 1
	said "the supervisor was killed; stopping server $S \(TERM now, .*\)"
}

@test "supervisor killed: a deaf server is killed after kill-after (89)" {
	owned -k 0.6 -- server -l log -d
	begin=$(now_ms)
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	taken 600 "$begin"
	expect_status 137
	terms 1
	still_there "$ERR" "$S" TERM 600
}

@test "supervisor killed: the server's children are told, deaf ones killed (89)" {
	owned -k 0.5 -- server -l log -g plain -g deaf -g double -g setpgid
	begin=$(now_ms)
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	taken 500 "$begin"
	expect_status 0
	refute_alive "$S"
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 4
}

@test "supervisor killed: a server that ends at once is not waited for (89)" {
	local i sups=() fronts=()
	for i in {1..6}; do
		rm -f log
		owned -k 60 -- server -l log -e 7
		fronts+=("$W")
		sups+=("$(supervisor_of "$W")")
	done
	sig send KILL "${sups[@]}" >/dev/null
	for W in "${fronts[@]}"; do
		finish "$W"
		expect_status 7
	done
}

@test "supervisor killed: a daemon in its own session is spared and named (89)" {
	owned -k 0.5 -- server -l log -g setsid
	daemon=$(child_pid log setsid)
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	assert_alive "$daemon"
	said "left running as daemons: $daemon \(server\); --scope tree stops them"
	kill -KILL "$daemon"
}

@test "supervisor killed: --scope tree takes the daemon (89)" {
	owned -k 0.5 --scope tree -- server -l log -g setsid
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	refute_alive "$(child_pid log setsid)"
}

@test "supervisor killed: while it stops for an owner: 124 (89)" {
	owned -g 0 -k 1.2 -- server -l log -d -g plain
	sup=$(supervisor_of "$W")
	kill -KILL "$O"
	await_line log '^TERM '
	begin=$(now_ms)
	kill -KILL "$sup"
	finish "$W"
	taken 2400 "$begin"		# from step 1 again, others to be told
	expect_status 124
	refute_alive "$S" "$(child_pid log plain)"
	terms 2				# the kernel's, documented
}

@test "supervisor killed: in the grace after an owner: not for an owner (89)" {
	owned -g 60 -- server -l log -e 7
	kill -KILL "$O"
	await_line "$ERR" 'is gone; stopping'
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	expect_status 7
	terms 1
}

@test "supervisor killed: while it clears what the server left (89)" {
	owned -k 1.5 -- server -l log -e 7 -g deaf
	sup=$(supervisor_of "$W")
	deaf=$(child_pid log deaf)
	kill -TERM "$S"
	await_line log "^\[$deaf\] TERM "
	kill -KILL "$sup"
	finish "$W"
	expect_status 7
	refute_alive "$deaf"
}

@test "supervisor killed: a stopped server can act on the stop signal (89)" {
	owned -- server -l log -t 50
	sup=$(supervisor_of "$W")
	kill -STOP "$S"
	await_stopped "$W"	# as the server is
	kill -KILL "$sup"
	kill -CONT "$W"
	finish "$W"
	expect_status 0
	assert_equal "$(cat log.done)" complete
}

@test "supervisor killed: TERM to the front meanwhile is not said twice (89)" {
	owned -k 60 -- server -l log -d
	sup=$(supervisor_of "$W")
	kill -KILL "$sup"
	await_line log '^TERM '
	kill -TERM "$W"
	kill -USR1 "$W"
	await_line log '^USR1 '
	kill -KILL "$S"
	finish "$W"
	expect_status 137
	terms 1
}

@test "supervisor killed: a stranger child of the front lives (89)" {
	start sleep 300
	O=$PID
	# shellcheck disable=SC2016
	start sh -c 'sleep 300 & echo $! >stranger; exec "$@"' - \
		"$OW" -p "$O" -k 0.6 -- server -l log -t 50 -g plain
	W=$PID
	S=$(server_pid log)
	child=$(child_pid log plain)
	stranger=$(cat stranger)
	track "$stranger" "$child"
	sup=$(supervisor_of "$W")
	kill -KILL "$sup"
	finish "$W"
	expect_status 125		# not our child: no status to be had
	refute_alive "$S"
	assert_equal "$(cat log.done)" complete
	assert_alive "$stranger"
	terms 1
	kill -KILL "$stranger"
	if alive "$child"; then kill -KILL "$child"; fi	# out of reach
}

@test "supervisor killed: with a stranger child a deaf server is killed (89)" {
	start sleep 300
	O=$PID
	# shellcheck disable=SC2016
	start sh -c 'sleep 300 & echo $! >stranger; exec "$@"' - \
		"$OW" -p "$O" -k 0.6 -- server -l log -d
	W=$PID
	S=$(server_pid log)
	track "$(cat stranger)"
	sup=$(supervisor_of "$W")
	begin=$(now_ms)
	kill -KILL "$sup"
	finish "$W"
	taken 600 "$begin"
	expect_status 125
	refute_alive "$S"
	assert_alive "$(cat stranger)"
	terms 1
	kill -KILL "$(cat stranger)"
}

@test "supervisor killed: with a stranger child the front does not spin (89)" {
	start sleep 300
	O=$PID
	# shellcheck disable=SC2016
	start sh -c 'sleep 300 & echo $! >stranger; exec "$@"' - \
		"$OW" -p "$O" -k 60 -- server -l log -t 1500
	W=$PID
	server_pid log
	track "$(cat stranger)"
	kill -KILL "$(supervisor_of "$W")"
	await_line log '^TERM '
	lives_on 800 "$W"
	read -r -a fields <<<"$(stat_of "/proc/$W/stat")"
	ticks=$((fields[11] + fields[12]))
	[ "$ticks" -lt 20 ] || fail "$ticks ticks of 80 used"
	finish "$W"
	expect_status 125
	assert_equal "$(cat log.done)" complete
	kill -KILL "$(cat stranger)"
}

@test "supervisor killed: --scope process has no status, the server is gone (89)" {
	owned --scope process -k 0.6 -- server -l log -d -g plain
	child=$(child_pid log plain)
	begin=$(now_ms)
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	taken 600 "$begin"
	expect_status 125
	refute_alive "$S"
	assert_alive "$child"
	terms 1
	kill -KILL "$child"
}

@test "supervisor killed: --kill-after inf never forces (89)" {
	owned -k inf -- server -l log -d
	kill -KILL "$(supervisor_of "$W")"
	await_line log '^TERM '
	lives_on 500 "$S" "$W"
	kill -KILL "$S"
	finish "$W"
	expect_status 137
}

@test "supervisor killed: --signal is what the server gets (89)" {
	owned -s INT -k 60 -- server -l log
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	expect_status 0
	assert_lines log '^INT ' 1
	terms 0
}

@test "supervisor killed: a set-id server is told by hand, once (89)" {
	as_nobody
	cp "$FIXTURES/server" idserver
	chmod 4755 idserver
	start "${NOBODY[@]}" sleep 300
	O=$PID
	start "${NOBODY[@]}" "$OW" -p "$O" -- ./idserver -l log -e 7
	W=$PID
	S=$(server_pid log)
	read -r user saved <<<"$(ps -o ruid=,suid= -p "$S")"
	assert_equal "$user $saved" "65534 0"
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	expect_status 7
	terms 1
}

@test "supervisor killed: a server that changed its user is told by hand (89)" {
	as_nobody
	owned -- "${NOBODY[@]}" server -l log -e 7
	assert_equal "$(ps -o ruid= -p "$S" | tr -d ' ')" 65534
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	expect_status 7
	terms 1
}

@test "supervisor killed: without /proc the server is told once (89)" {
	hide_proc
	owned=("$OW" -- server -l log -t 1300 -e 7)
	start setsid "${HIDDEN[@]}" "${owned[@]}"
	W=$PID
	S=$(server_pid log)
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	expect_status 7
	refute_alive "$S"
	assert_lines log '^TERM ' 2	# a second one after 1 s: none can tell
}

@test "supervisor killed: without /proc a server out of the kernel's reach is told after 1 s (89)" {
	as_nobody
	hide_proc
	start setsid "${HIDDEN[@]}" "$OW" -- "${NOBODY[@]}" server -l log -e 7
	W=$PID
	S=$(server_pid log)
	begin=$(now_ms)
	kill -KILL "$(supervisor_of "$W")"
	finish "$W"
	taken 1000 "$begin"
	expect_status 7
	refute_alive "$S"
	terms 1
}

@test "supervisor killed: in its first milliseconds nothing is left (30)" {
	local i n sup fronts=()
	for i in {1..20}; do
		start "$OW" -k 0.5 -- server -d
		fronts+=("$PID")
		sup=
		for ((n = 0; n < 500; n++)); do
			sup=$(pgrep -P "$PID") && break
		done
		is_pid "${sup%%$'\n'*}"
		kill -KILL "${sup%%$'\n'*}"
	done
	for i in "${fronts[@]}"; do
		finish "$i"
		case $status in
		125 | 137 | 143) ;;	# before the start; KILL; before its
		*) fail "status $status" ;;	# handlers, TERM
		esac
	done
}

# --- both ------------------------------------------------------------------

@test "both killed, supervisor first: the server is told (30, 89)" {
	owned -- server -l log -t 50
	sup=$(supervisor_of "$W")
	sig send KILL "$sup" "$W" >/dev/null
	await_gone "$S"
	assert_equal "$(cat log.done)" complete
	# The kernel tells it at the death of each of its two parents.
	[ "$(count_lines log "^TERM ")" -le 2 ]
}

@test "both killed, front first: the server is told (30, 89)" {
	owned -- server -l log -t 50
	sup=$(supervisor_of "$W")
	sig send KILL "$W" "$sup" >/dev/null
	await_gone "$S"
	assert_equal "$(cat log.done)" complete
	# By the supervisor, if it came to it, and by the kernel.
	[ "$(count_lines log '^TERM ')" -le 2 ]
}
