#!/usr/bin/env bats
# The plain POSIX body: no exit descriptors, no /proc, no adopted orphans, no
# death signal. Built for Linux only to be tested here.

load helper
bats_require_minimum_version 1.5.0

# On top of the usual: the plain POSIX program, polling as it must.
setup() {
	harness_setup
	plain_posix
}

# serve [OPTION...] -- COMMAND...: sets FRONT and SERVER. In a session without
# a terminal, so the server leads a group.
serve() {
	rm -f log
	start setsid "$OW" -i 0.1 "$@"
	FRONT=$PID
	SERVER=$(server_pid log)
}

@test "posix: the server is stopped when its owner is killed (1)" {
	new_owner
	serve -v -p "$OWNER" -g 0 -- server -l log
	assert_lines "$ERR" "^ownerwrap\\[server\\]: server $SERVER started; owner $OWNER, polled every 0.1s\$" 1
	lives_on 300 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
	assert_lines "$ERR" "owner $OWNER is gone; stopping server $SERVER" 1
	assert_equal "$(cat "$OUT")" ""
}

@test "posix: the grace is waited for (1)" {
	new_owner
	serve -p "$OWNER" -g 0.6 -- server -l log
	begin=$(now_ms)
	kill -KILL "$OWNER"
	await_gone "$SERVER"
	[ $(($(now_ms) - begin)) -ge 600 ]
	ended_by_term 124
}

@test "posix: the parent is the default owner (1, 7)" {
	start owner -r -l reaper owner -l host setsid "$OW" -i 0.1 -g 0 -- server -l log
	SERVER=$(server_pid log)
	FRONT=$(pid_in host cmd)
	lives_on 300 "$SERVER"
	kill -KILL "$(pid_in host owner)"
	finish "$PID"
	refute_alive "$SERVER" "$FRONT"
	assert_lines reaper "^adopted $FRONT ended 124$" 1
	assert_lines log '^TERM from ' 1
}

@test "posix: who is adopted before the first line is not started (86)" {
	start owner -r -l reaper owner -s -x 0 -a 100 "$OW" -- touch started
	finish "$PID"
	assert_lines "$ERR" "^ownerwrap\\[touch\\]: the owner is gone, $PID adopted what it left: not started \\(name an owner: --owner-pid PID\\)\$" 1
	assert_lines reaper '^adopted [0-9]+ ended 124$' 1
	[ ! -e started ]
}

@test "posix: the spawning thread may end (5)" {
	start owner -t -l host setsid "$OW" -i 0.1 -g 0 -- server -l log
	SERVER=$(server_pid log)
	lives_on 400 "$SERVER"
	kill -KILL "$PID"
	await_gone "$SERVER" "$(pid_in host cmd)"
}

@test "posix: an owner that is not there: nothing is started (3)" {
	start true
	finish "$PID"
	run "$OW" -p "$PID" -- touch started
	expect_status 124
	expect_output "ownerwrap[touch]: owner $PID is not there: not started (ended, or in another pid namespace: --owner-fd)"
	[ ! -e started ]
}

@test "posix: an owner killed while ownerwrap starts, 20 times (3)" {
	for ((i = 0; i < 20; i++)); do
		sleep 300 3>&- &
		owner=$!
		plain setsid "$OW" -q -i 0.02 -p "$owner" -g 0 -- sleep 299 2>/dev/null 3>&- &
		front=$!
		let_pass $((RANDOM % 20))
		kill -KILL "$owner"
		finish "$front"
		expect_status 124
	done
	no_leftovers
}

@test "posix: several owners, and --any (73)" {
	for any in '' --any; do
		new_owner; A=$OWNER
		new_owner; B=$OWNER
		# shellcheck disable=SC2086
		serve $any -p "$A" -p "$B" -g 0 -- server -l log
		kill -KILL "$A"
		if [ -z "$any" ]; then
			lives_on 300 "$SERVER"
			kill -KILL "$B"
		fi
		ended_by_term 124
	done
}

@test "posix: TERM and others are relayed once (36)" {
	serve -p $$ -- server -l log -e 6
	for signal in USR1 USR2 HUP WINCH ALRM; do
		kill -$signal "$FRONT"
		await_line log "^$signal from "
		[ $signal != HUP ] || break
	done
	finish "$FRONT"
	expect_status 6
	for signal in USR1 USR2 HUP; do
		assert_lines log "^$signal from " 1
	done
	serve -p $$ -- server -l log -e 7
	kill -TERM "$FRONT"
	ended_by_term 7
}

@test "posix: with --kill-after a request is followed by force (43)" {
	serve -p $$ -k 0.4 -- server -l log -d
	begin=$(now_ms)
	kill -TERM "$FRONT"
	finish "$FRONT"
	[ $(($(now_ms) - begin)) -ge 400 ]
	expect_status 137
	refute_alive "$SERVER"
}

@test "posix: the status is the server's (51)" {
	for code in 0 1 42 255; do
		run plain setsid -w "$OW" -p $$ -- sh -c "exit $code"
		expect_status $code
		expect_output ""
	done
	for signal in TERM KILL INT SEGV; do
		run plain setsid -w "$OW" -p $$ -- sh -c "ulimit -c 0; kill -$signal \$\$"
		expect_status $((128 + $(kill -l $signal)))
	done
}

@test "posix: 127, 126, 125 (54)" {
	run -127 "$OW" -p $$ -- ./not-there
	expect_output 'ownerwrap[not-there]: ./not-there: not found, or its interpreter is not'
	PATH=/usr/bin:/bin run -127 "$OW" -p $$ -- not-there
	expect_output 'ownerwrap[not-there]: not-there: not found in PATH=/usr/bin:/bin'
	mkdir directory
	run "$OW" -p $$ -- ./directory
	expect_status 126
	expect_match "^ownerwrap\[directory\]: ./directory: can't be executed: "
	run "$OW" -p 0 -- touch started
	expect_status 125
	[ ! -e started ]
}

@test "posix: the front is killed, the server and its group end (30)" {
	serve -p $$ -k 0.3 -- server -l log -g deaf -g plain
	children=$(pgrep -P "$SERVER")
	kill -KILL "$FRONT"
	# shellcheck disable=SC2086
	await_gone "$SERVER" $children
	assert_lines log '^TERM from ' 1
	no_leftovers
}

@test "posix: without a terminal what is in the server's group ends, too (24, 26)" {
	new_owner
	serve -p "$OWNER" -g 0 -k 0.4 -- server -l log -g deaf -g double -g setsid
	deaf=$(child_pid log deaf)
	double=$(child_pid log double)
	setsid=$(child_pid log setsid)
	assert_equal "$(ps -o pgid= -p "$SERVER" | tr -d ' ')" "$SERVER"
	assert_equal "$(ps -o pgid= -p "$double" | tr -d ' ')" "$SERVER"
	begin=$(now_ms)
	kill -KILL "$OWNER"
	ended_by_term 124
	[ $(($(now_ms) - begin)) -ge 400 ]
	refute_alive "$deaf" "$double"
	assert_lines log "^\\[$deaf\\] TERM from " 1
	assert_alive "$setsid"
	kill -KILL "$setsid"
}

@test "posix: others in the group have kill-after from their signal (24)" {
	new_owner
	serve -p "$OWNER" -g 0 -k 0.6 -- server -l log -d -g slow=200,log=slow
	begin=$(now_ms)
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ $(($(now_ms) - begin)) -ge 1200 ]
	assert_lines slow.done '^complete$' 1
}

@test "posix: a server that left its group is stopped alone, and a line says so (25)" {
	new_owner
	serve -p "$OWNER" -g 0 -k 0.3 -- server -l log -d -J
	assert_lines log '^join ok$' 1
	kill -KILL "$OWNER"
	ended_by_term 124
	assert_lines "$ERR" "group $SERVER is not there: server alone is stopped\$" 1
	assert_lines "$ERR" "server $SERVER still there .* after TERM: killed\$" 1
}

@test "posix: the server's end takes its group along (52)" {
	serve -p $$ -- server -l log -x 200 -e 3 -g plain
	plain=$(child_pid log plain)
	finish "$FRONT"
	expect_status 3
	refute_alive "$plain"
	assert_lines log "^\\[$plain\\] TERM from " 1
}

@test "posix: EPERM for a group that only holds zombies is its end (68)" {
	run deny EPERM kill -- setsid -w "$OW" -p $$ -- sh -c 'exit 7'
	expect_status 7
	expect_output ""
}

@test "posix: a true EPERM is reported (68)" {
	new_owner
	start deny EPERM kill -- setsid "$OW" -i 0.1 -p "$OWNER" -g 0 -k 0.2 -- \
		server -l log -x 1500 -e 7
	FRONT=$PID
	SERVER=$(server_pid log)
	lives_on 300 "$SERVER"		# EPERM is no proof of an owner's end
	assert_lines "$ERR" . 0
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 137
}

@test "posix: the server has the descriptors, and ownerwrap none of them (55, 56)" {
	exec 9<"$0"
	run setsid -w "$OW" -p $$ -- sh -c 'readlink /proc/$$/fd/9; set -- /proc/$$/fd/*; echo $#'
	assert_equal "${lines[0]}" "$(readlink /proc/$$/fd/9)"
	with=${lines[1]}
	run setsid -w sh -c 'set -- /proc/$$/fd/*; echo $#'
	expect_output "$with"
	serve -p $$ -- server -l log
	supervisor=$(pgrep -P "$FRONT")
	for pid in "$FRONT" "$supervisor"; do
		assert_equal "$(readlink /proc/"$pid"/fd/0)" /dev/null
		assert_equal "$(readlink /proc/"$pid"/fd/1)" /dev/null
		[ ! -e "/proc/$pid/fd/9" ] || [ "$(readlink "/proc/$pid/fd/9")" != "$(readlink /proc/$$/fd/9)" ]
	done
	exec 9<&-
	kill -TERM "$FRONT"
	ended_by_term 0
}

@test "posix: a closed stdio stays closed (55)" {
	run sock close=0,1 "$OW" -p $$ -- sh -c '[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/1 ] && exit 5'
	expect_status 5
}

@test "posix: with a terminal no group is changed, ^C reaches the server once (34, 79)" {
	cat >script <<-'END'
		until grep -q ready log
		fg cmd
		send \x03
		wait exit 4
	END
	run pty -L script "$OW" -i 0.1 -- server -l log -e 4
	expect_status 0
	assert_lines log '^INT from ' 1
}

@test "posix: a stopped server is continued to be stopped (42)" {
	new_owner
	serve -p "$OWNER" -g 0 -- server -l log
	kill -STOP "$SERVER"
	await_stopped "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "posix: the supervisor is killed: it is said, and nothing is signalled wrongly (89)" {
	serve -p $$ -k 0.3 -- server -l log
	supervisor=$(pgrep -P "$FRONT")
	kill -KILL "$supervisor"
	finish "$FRONT"
	expect_status 125
	assert_lines "$ERR" "the supervisor $supervisor was killed; server $SERVER can't be reached from here" 1
	assert_alive "$SERVER"
	kill -KILL "$SERVER"
}
