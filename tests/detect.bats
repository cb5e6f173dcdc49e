#!/usr/bin/env bats
# When is the owner gone, and when is it not?

load helper
bats_require_minimum_version 1.5.0

# --- the owner ends --------------------------------------------------------

@test "detect: the server is stopped when its owner is killed (1)" {
	new_owner
	wrap -p "$OWNER" --grace 0 --
	kill -KILL "$OWNER"
	ended_by_term 124
	assert_lines "$ERR" "^ownerwrap\\[server\\]: owner $OWNER \\(sleep, up [0-9]+s\\) is gone; stopping server $SERVER \\(TERM now, KILL 5s later, 10s if others must be told\\)\$" 1
	assert_equal "$(cat "$OUT")" "" stdout
}

@test "detect: it makes no difference how the owner ends (1)" {
	for how in 'exit 0' 'exit 1' 'kill -TERM $$' 'kill -SEGV $$'; do
		start sh -c "ulimit -c 0; until [ -e end ]; do sleep 0.02; done; $how"
		OWNER=$PID
		wrap -p "$OWNER" --grace 0 --
		assert_alive "$OWNER"
		touch end
		ended_by_term 124
		rm end
	done
}

@test "detect: by default the server has 2 s to end by itself (1, 92)" {
	new_owner
	wrap -p "$OWNER" --
	begin=$(now_ms)
	kill -KILL "$OWNER"
	await_line "$ERR" "stopping server $SERVER \\(TERM in 2s, KILL 5s later, 10s if others must be told\\)\$"
	await_gone "$SERVER"
	[ $(($(now_ms) - begin)) -ge 2000 ]
	ended_by_term 124
}

@test "detect: the stop signal comes after the grace, not before (1)" {
	new_owner
	wrap -p "$OWNER" --grace 700ms --
	begin=$(now_ms)
	kill -KILL "$OWNER"
	await_gone "$SERVER"
	[ $(($(now_ms) - begin)) -ge 700 ]
	ended_by_term 124
	assert_lines "$ERR" 'TERM in 0.7s, KILL 5s later, 10s if' 1
}

@test "detect: a server that ends within the grace keeps its status (1, 92)" {
	new_owner
	mkfifo in
	exec 8<>in
	start sh -c 'exec "$0" -p "$1" -g 1m -- server -l log -E -w 100 -e 7 <in 8<&-' "$OW" "$OWNER"
	FRONT=$PID
	SERVER=$(server_pid log)
	kill -KILL "$OWNER"
	await_line "$ERR" 'TERM in 60s'
	exec 8>&-
	finish "$FRONT"
	expect_status 7
	assert_lines log '^done$' 1
	assert_lines log '^TERM from ' 0
}

@test "detect: a server that says nothing yet is stopped too (2)" {
	new_owner
	start "$OW" -p "$OWNER" -g 0 -- sh -c 'echo $$ >pid; sleep 5; read x'
	FRONT=$PID
	let_pass 50
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ ! -s pid ] || refute_alive "$(cat pid)"
}

@test "detect: an owner that has ended before: nothing is started (3)" {
	start true
	finish "$PID"
	run --separate-stderr "$OW" -p "$PID" -- touch started
	expect_status 124
	expect_output ""
	assert_equal "$stderr" "ownerwrap[touch]: owner $PID is not there: not started (ended, or in another pid namespace: --owner-fd)"
	[ ! -e started ]
	run "$OW" -q -p "$PID" -- touch started
	expect_status 124
	assert_equal "${#lines[@]}" 1
	[ ! -e started ]
}

@test "detect: an owner killed while ownerwrap starts, 40 times (3)" {
	for ((i = 0; i < 40; i++)); do
		sleep 300 3>&- &
		owner=$!
		plain "$OW" -q -p "$owner" -g 0 -- sleep 299 2>/dev/null 3>&- &
		front=$!
		let_pass $((RANDOM % 20))
		kill -KILL "$owner"
		finish "$front"
		expect_status 124
	done
	no_leftovers
}

@test "detect: a host killed while ownerwrap starts, 20 times (3, 86)" {
	for ((i = 0; i < 20; i++)); do
		rm -f host
		start owner -r owner -s -l host "$OW" -q -g 0 -- sleep 299
		await_line host '^cmd '
		let_pass $((RANDOM % 20))
		kill -KILL "$(pid_in host owner)"
		await_gone "$PID"	# the subreaper: it has no child left
	done
	no_leftovers
}

@test "detect: a launcher that lives on with the pipe hides nothing (4)" {
	mkfifo in
	cat >launcher <<-'END'
		exec 8<>in
		"$OW" -p "$1" -g 0 -- server -l log -E <in &
		echo $! >front
		wait
		exec sleep 300
	END
	new_owner
	OW=$OW start sh launcher "$OWNER"
	launcher=$PID
	SERVER=$(server_pid log)
	FRONT=$(cat front)
	kill -KILL "$OWNER"
	await_gone "$FRONT" "$SERVER"
	assert_lines log '^TERM from ' 1
	assert_lines log '^eof$' 0
	assert_alive "$launcher"
}

@test "detect: the spawning thread may end, the process may not (5)" {
	for options in '' '-p $PPID'; do
		rm -f log host
		start owner -t -l host sh -c "exec \"\$0\" -g 0 $options -- server -l log" "$OW"
		host=$PID
		SERVER=$(server_pid log)
		FRONT=$(pid_in host cmd)
		lives_on 400 "$SERVER" "$FRONT" "$host"
		assert_lines log '^TERM' 0
		kill -KILL "$host"
		await_gone "$FRONT" "$SERVER"
		assert_lines log '^TERM from ' 1
	done
}

@test "detect: pid 1 is an owner like any other (6)" {
	need_pidns
	run in_pidns sh -c '"$0" -p 1 -- sh -c "sleep 0.5; echo ran; exit 3"; echo $?' "$OW"
	expect_output $'ran\n3'
	run in_pidns sh -c '"$0" -- sh -c "sleep 0.5; echo ran; exit 3"; echo $?' "$OW"
	expect_output $'ran\n3'
}

@test "detect: an owner whose orphans go to a subreaper (7)" {
	for options in '' '-p $PPID'; do
		rm -f log host reaper
		start owner -r -l reaper owner -l host sh -c "exec \"\$0\" -g 4 $options -- server -l log" "$OW"
		reaper=$PID
		SERVER=$(server_pid log)
		FRONT=$(pid_in host cmd)
		host=$(pid_in host owner)
		kill -KILL "$host"
		await_gone "$host"
		assert_equal "$(ps -o ppid= -p "$FRONT" | tr -d ' ')" "$reaper"
		await_gone "$FRONT" "$SERVER"
		assert_lines log '^TERM from ' 1
		finish "$reaper"
		assert_lines reaper "^adopted $FRONT ended 124$" 1
	done
}

@test "detect: a zombie is no owner (9)" {
	start owner -z -l host sleep 300
	OWNER=$(pid_in host cmd)
	wrap -p "$OWNER" -g 0 --
	kill -KILL "$OWNER"
	ended_by_term 124
	[[ $(ps -o stat= -p "$OWNER") == Z* ]]
	kill -0 "$OWNER"
}

@test "detect: an owner that is a zombie already: nothing is started (9, 3)" {
	start owner -z -l host true
	zombie=$(pid_in host cmd)
	await_gone "$zombie"
	[[ $(ps -o stat= -p "$zombie") == Z* ]]
	run "$OW" -p "$zombie" -- touch started
	expect_status 124
	expect_match "^ownerwrap\[touch\]: owner $zombie .*is not there: not started"
	run "$OW" -p "$zombie:$(start_ticks "$zombie")" -- touch started
	expect_status 124
	[ ! -e started ]
}

@test "detect: an owner whose main thread has ended is alive (10)" {
	begin=$(now_ms)
	start owner -m 6000
	OWNER=$PID
	until_true "[[ \$(ps -o stat= -p $OWNER) == Z* ]]"
	wrap -p "$OWNER" -g 0 --
	lives_on 500 "$SERVER"
	await_gone "$FRONT"
	[ $(($(now_ms) - begin)) -ge 6000 ]
	ended_by_term 124
}

@test "detect: a stopped owner is alive (13)" {
	new_owner
	kill -STOP "$OWNER"
	wrap -p "$OWNER" -g 0 --
	lives_on 400 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: a renamed, re-exec'd owner is alive (13)" {
	start sh -c 'until [ -e go ]; do sleep 0.02; done; exec sleep 300'
	OWNER=$PID
	wrap -p "$OWNER" -g 0 --
	touch go
	await_program "$OWNER" sleep
	lives_on 300 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: a frozen supervisor draws no conclusion from the time (13)" {
	new_owner
	wrap -p "$OWNER" -g 0.2 --
	freeze 1600 "$SUPERVISOR"
	lives_on 500 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: a freeze during the grace gives the server its time again (13)" {
	new_owner
	wrap -p "$OWNER" -g 0.4 --
	kill -KILL "$OWNER"
	await_line "$ERR" 'TERM in 0.4s'
	freeze 1800 "$SUPERVISOR" "$SERVER"
	await_gone "$SERVER"
	[ $(($(now_ms) - begin)) -ge 400 ]
	ended_by_term 124
}

@test "detect: a freeze before SIGKILL gives the server its time again (13)" {
	new_owner
	wrap -p "$OWNER" -g 0 -k 0.4 -- -d
	kill -KILL "$OWNER"
	await_line log '^TERM'
	freeze 1800 "$SUPERVISOR" "$SERVER"
	await_gone "$SERVER"
	[ $(($(now_ms) - begin)) -ge 400 ]
	ended_by_term 124
}

@test "detect: end of file on stdin means nothing (14)" {
	start sh -c 'exec "$0" -p $PPID -g 0 -- server -l log </dev/null' "$OW"
	FRONT=$PID
	SERVER=$(server_pid log)
	lives_on 400 "$SERVER"
	assert_lines log '^TERM' 0
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 137
}

@test "detect: stdin is never read, and a writer may leave (14)" {
	mkfifo in
	exec 8<>in
	printf 'one\ntwo\n' >&8
	start sh -c 'exec "$0" -p $PPID -g 0 -- sh -c "sleep 0.5; cat; sleep 0.4; echo end" <in 8<&-' "$OW"
	until_true "[ -n \"\$(pgrep -P $PID)\" ]"
	for pid in "$PID" "$(pgrep -P "$PID")"; do
		until_true "[ \"\$(readlink /proc/$pid/fd/0)\" = /dev/null ]"
	done
	exec 8>&-
	finish "$PID"
	expect_status 0
	assert_equal "$(cat "$OUT")" $'one\ntwo\nend'
}

# --- an owner that is a relative ------------------------------------------

@test "detect: an owner that is ownerwrap's own child (3)" {
	start sh -c 'sleep 300 & echo $! >owner; exec "$0" -p $! -g 0 -- server -l log' "$OW"
	FRONT=$PID
	SERVER=$(server_pid log)
	lives_on 200 "$SERVER"
	kill -KILL "$(cat owner)"
	ended_by_term 124
}

@test "detect: a spawner may die while the owner lives (72)" {
	new_owner
	start sock pipes "$OW" -p "$OWNER" -g 0 -- server -l log
	spawner=$PID
	SERVER=$(server_pid log)
	FRONT=$(pid_in "$OUT" pid)
	kill -KILL "$spawner"
	await_gone "$spawner"
	lives_on 1000 "$SERVER" "$FRONT"
	assert_lines log '^(TERM|HUP|PIPE|INT)' 0
	kill -KILL "$OWNER"
	await_gone "$FRONT" "$SERVER"
	assert_lines log '^TERM from ' 1
}

@test "detect: of window, agent and host just the given pid counts (70)" {
	cat >launch <<-'END'
		until [ -s pid ]; do sleep 0.02; done
		exec "$OW" -p "$(cat pid)" -g 0 -- server -l log
	END
	# -z: they live on when the one below has ended
	OW=$OW start owner -z -l window owner -z -l agent owner -l host sh launch
	await_line host '^cmd '
	sed -n 's/^owner //p' agent >pid.new
	mv pid.new pid
	FRONT=$(pid_in host cmd)
	SERVER=$(server_pid log)
	for name in host window; do
		kill -KILL "$(pid_in $name owner)"
		lives_on 300 "$SERVER"
	done
	kill -KILL "$(cat pid)"
	await_gone "$FRONT" "$SERVER"
	assert_lines log '^TERM from ' 1
}

# --- how it is noticed ------------------------------------------------------

# notification refused: the same outcome by polling
polled_by() {
	new_owner
	start "$@" "$OW" -v -i 0.1 -p "$OWNER" -g 0 -- server -l log
	FRONT=$PID
	SERVER=$(server_pid log)
	lives_on 300 "$SERVER"
	assert_lines "$ERR" "^ownerwrap\\[server\\]: server $SERVER started; owner $OWNER \\(sleep, up [0-9]+s\\), polled every 0.1s\$" 1
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: pidfd_open is not there: polling (67)" {
	polled_by deny ENOSYS pidfd_open --
}

@test "detect: pidfd_open is forbidden: polling (67)" {
	polled_by deny EPERM pidfd_open --
}

@test "detect: pidfd_open has no descriptor: polling (67)" {
	polled_by deny EMFILE pidfd_open --
	new_owner
	start limits fds=6 -- "$OWNERWRAP_BIN" -v -i 0.1 -p "$OWNER" -g 0 -- sleep 300
	FRONT=$PID
	await_line "$ERR" ", polled every 0.1s\$"
	lives_on 300 "$FRONT"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
}

@test "detect: pidfd_send_signal is not there or forbidden (67)" {
	for errno in ENOSYS EPERM; do
		new_owner
		rm -f log
		start deny $errno pidfd_send_signal,pidfd_open -- "$OW" -i 0.1 \
			-p "$OWNER" -g 0 -k 0.3 -- server -l log -g deaf -g plain
		FRONT=$PID
		SERVER=$(server_pid log)
		kill -KILL "$OWNER"
		ended_by_term 124
		refute_alive "$(child_pid log deaf)" "$(child_pid log plain)"
	done
}

@test "detect: the default owner, too, is polled where it must be (67)" {
	start owner -l host deny ENOSYS pidfd_open -- "$OW" -i 0.1 -g 0 -- server -l log
	SERVER=$(server_pid log)
	FRONT=$(pid_in host cmd)
	lives_on 300 "$SERVER"
	kill -KILL "$PID"
	await_gone "$FRONT" "$SERVER"
	assert_lines log '^TERM from ' 1
}

@test "detect: too few descriptors are one line and 125 (67, 76)" {
	for n in 1 2 3 4 5; do	# one is the dynamic linker's
		run limits fds=$n -- "$OWNERWRAP_BIN" -p $$ -- touch started
		expect_status 125
		assert_equal "${#lines[@]}" 1
		expect_match '^ownerwrap.*: 6 free descriptors are needed: '
		[ ! -e started ]
	done
	run limits fds=6 -- "$OWNERWRAP_BIN" -p $$ -- touch started
	expect_status 0
	[ -e started ]
}

@test "detect: more owners than descriptors are polled, without a spin (67, 76)" {
	local owners=() options=()
	for _ in {1..30}; do
		new_owner
		owners+=("$OWNER")
		options+=(-p "$OWNER")
	done
	# shellcheck disable=SC2016
	start sh -c 'ulimit -S -n 20; exec "$@"' - \
		"$OW" -i 0.1 -g 0 -s INT "${options[@]}" -- \
		sh -c 'ulimit -S -n 200; exec server -l log -d'
	FRONT=$PID
	SERVER=$(server_pid log)
	supervisor=$(supervisor_of "$FRONT")
	lives_on 1000 "$SERVER" "$supervisor"
	[ "$(cpu_ticks "$supervisor")" -le 50 ]
	kill -TERM "$FRONT"
	await_line log '^TERM from '
	kill -KILL "${owners[@]:1}"
	lives_on 150 "$SERVER"
	assert_lines log '^INT ' 0
	kill -KILL "${owners[0]}"
	await_line log '^INT from '
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 124
}

@test "detect: too many processes of this user are one line and 125 (76)" {
	local as=()
	cp "$OWNERWRAP_BIN" "$FIXTURES/limits" .
	# Root is not limited; and only an otherwise unused uid can be counted.
	privileged 'to be a user without other processes'
	chmod 755 . && dir=$(mktemp -d) && chmod 755 "$dir"
	cp "$OWNERWRAP_BIN" "$dir/ow" && cp "$FIXTURES/limits" "$dir"
	as=(setpriv --reuid $((60000 + RANDOM % 4000)) --clear-groups --)
	for n in 1 2; do
		run "${as[@]}" "$dir/limits" nproc=$n -- "$dir/ow" -p 1 -- true
		echo "$n: $output"
		expect_status 125
		assert_equal "${#lines[@]}" 1
		expect_match "^ownerwrap\[true\]: the (supervisor|server) can't be forked: "
	done
	run "${as[@]}" "$dir/limits" nproc=3 -- "$dir/ow" -p 1 -- true
	rm -r "$dir"
	expect_status 0
	expect_output ""
}

@test "detect: with little memory it works, or says so and ends with 125 (76)" {
	nosan 'the sanitizer maps terabytes'
	local works=0
	local kb needed=1024
	# What true needs alone, its dynamic linker above all.
	until limits as=$((needed * 1024)) -- true 2>/dev/null; do
		needed=$((needed + 64))
	done
	for ((kb = needed - 64; kb <= needed + 1024; kb += 64)); do
		limits as=$((kb * 1024)) -- "$OWNERWRAP_BIN" -p $$ -- \
			touch started >out 2>&1 && status=0 || status=$?
		if [ "$status" = 0 ]; then
			[ -e started ]
			rm started
			works=$kb
			continue
		fi
		grep -q '^ownerwrap' out || continue	# not our words
		expect_status 125
		assert_lines out '^ownerwrap(\[touch\])?: ' 1
		[ ! -e started ]
		assert_equal "$works" 0 "worked with less"
	done
	[ "$works" != 0 ] && [ "$works" -le 65536 ]
}

@test "detect: with notification nothing wakes up while nothing happens (75)" {
	nopoll 'it wakes up'
	new_owner
	wrap -p "$OWNER" --
	asleep "$FRONT" "$SUPERVISOR"
	before=$(switches "$FRONT" "$SUPERVISOR")
	let_pass 2000
	assert_equal "$(switches "$FRONT" "$SUPERVISOR")" "$before" switches
	kill -KILL "$SERVER"
	finish "$FRONT"
}

@test "detect: polling wakes up once an interval, the front never (75)" {
	new_owner
	wrap -p "$OWNER" --poll -i 0.25 --
	asleep "$FRONT"
	front=$(switches "$FRONT")
	before=$(switches "$SUPERVISOR")
	begin=$(now_ms)
	let_pass 1500
	woken=$(($(switches "$SUPERVISOR") - before))
	most=$(((($(now_ms) - begin) / 250) + 2))
	assert_equal "$(switches "$FRONT")" "$front" switches
	((woken >= 3 && woken <= most)) || fail "$woken times, at most $most"
	kill -KILL "$SERVER"
	finish "$FRONT"
}

@test "detect: polling starts no process (75)" {
	need_pidns
	# Nobody but ownerwrap can fork in there: read is of the shell.
	run timeout -s KILL 40 "${PIDNS[@]}" bash -c 'mkfifo never; exec 8<>never
		sleep 300 & owner=$!
		"$0" -p $owner --poll -i 0.02 -- sleep 299 & front=$!
		until pgrep -x sleep -P "$(pgrep -x ow-supervisor)" >/dev/null; do
			read -t 0.02 -u 8; done
		read -t 0.2 -u 8
		read before </proc/sys/kernel/ns_last_pid
		read -t 1 -u 8
		read after </proc/sys/kernel/ns_last_pid
		kill $owner; wait $front; echo $? $((after - before))' "$OW"
	assert_equal "${lines[-1]}" "124 0"
}

@test "detect: --poll looks every interval, and says so" {
	new_owner
	wrap -v -p "$OWNER" --poll -i 0.3 -g 0 --
	assert_lines "$ERR" ', polled every 0.3s$' 1
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: without --poll no interval is waited for" {
	nopoll 'it waits'
	new_owner
	wrap -v -p "$OWNER" -i 1h -g 0 --
	assert_lines "$ERR" ', watched by pidfd$' 1
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: --poll waits for its interval before it looks" {
	new_owner
	wrap -p "$OWNER" --poll -i 1h -g 0 --
	kill -KILL "$OWNER"
	lives_on 300 "$SERVER"
	kill -TERM "$FRONT"
	ended_by_term 0
}

@test "detect: an interval of 0 is an error that says what to write" {
	for value in 0 0s 0ms 0.0 '' -1 x 1x 1.s .5; do
		run "$OW" -p $$ -i "$value" -- touch started
		expect_status 125
		expect_output "ownerwrap[touch]: -i $value: must be a duration of 1ms or more: 1, 0.25, 500ms, 3s, 30m, 1h"
		[ ! -e started ]
	done
	for value in 1ms 0.001 1 0.25 500ms 3s 30m 1h 99999h; do
		run "$OW" -p $$ --interval="$value" -- true
		expect_status 0
		expect_output ""
	done
}

@test "detect: an interval of 1ms is looked at and found" {
	new_owner
	wrap -p "$OWNER" --poll -i 1ms -g 0 --
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "detect: an owner that dies while the whole group is stopped is seen (100)" {
	# shellcheck disable=SC2034	# the helpers' own
	VIA=(setsid)
	owned --log wlog -g 0 -k 0.3 -- server -l log -t 60000
	kill -STOP "-$W"
	await_stopped "$W"
	await_stopped "$S"
	orphan
	expect_stopped
	terms 1
	assert_lines log '^CONT ' 1
	still_there wlog "$S" TERM 300
}
