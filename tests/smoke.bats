#!/usr/bin/env bats
# The harness tests itself here: fixtures and helpers, without ownerwrap.

load helper
bats_require_minimum_version 1.5.0

@test "harness: the server logs ready, then each signal, then ends with its status" {
	start server -l log -e 7
	server=$(server_pid log)
	assert_equal "$server" "$PID"
	kill -USR1 "$server"
	await_line log "^USR1 from $$ code 0 value 0$"
	kill -TERM "$server"
	finish "$server"
	expect_status 7
	assert_lines log '^TERM from ' 1
}

@test "harness: the server logs real-time signals with count and value" {
	start server -l log
	server=$(server_pid log)
	run sig send -q 5 40 "$server" "$server" "$server"
	expect_status 0
	until_true '[ "$(count_lines log "^RT40 from .* code -1 value 5$")" = 3 ]'
	kill -KILL "$server"
	finish "$server"
	expect_status 137
}

@test "harness: a deaf server and an ignoring one live on" {
	start server -l deaf -d
	deaf=$(server_pid deaf)
	start server -l ignoring -D
	ignoring=$(server_pid ignoring)
	kill -TERM "$deaf" "$ignoring"
	kill -USR1 "$ignoring"
	await_line deaf '^TERM '
	await_line ignoring '^USR1 '
	assert_lines ignoring '^TERM ' 0
	assert_alive "$deaf" "$ignoring"
}

@test "harness: slow ends and work after EOF leave a complete file" {
	start server -l log -t 300
	server=$(server_pid log)
	begin=$(now_ms)
	kill -TERM "$server"
	finish "$server"
	[ $(($(now_ms) - begin)) -ge 300 ]
	assert_equal "$(cat log.done)" complete
	run server -l eof -E -w 0 </dev/null
	expect_status 0
	assert_equal "$(grep -v ready eof)" $'eof\ndone'
}

@test "harness: the server ends by itself, by status or by signal" {
	run server -l log -x 0 -e 42
	expect_status 42
	run server -l log -x 0 -k SEGV
	expect_status 139
}

@test "harness: children say who they are and are what was asked for" {
	start server -l log -g deaf,setsid -g setpgid -g double -g stop \
		-g slow=10,log=own -g exit=0,code=3 -f 2
	server=$(server_pid log)
	await_line log '^CHLD '
	setsid=$(child_pid log deaf,setsid)
	await_line log "^child $setsid ppid $server sid $setsid pgid $setsid "
	setpgid=$(child_pid log setpgid)
	await_line log "^child $setpgid .* pgid $setpgid setpgid$"
	double=$(child_pid log double)
	refute_line "^child $double ppid $server "
	stopped=$(child_pid log stop)
	until_true "[ \"\$(ps -o stat= -p $stopped | cut -c1)\" = T ]"
	kill -TERM "$setsid" "$(child_pid own slow=10,log=own)"
	await_line log "^\[$setsid\] TERM from "
	await_line own.done '^complete$'
	refute_line '^TERM '
	assert_lines log '^child .* plain$' 2
	for pid in $(sed -n 's/^child \([0-9]*\) .*/\1/p' log) "$server"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

refute_line() {
	assert_lines log "$1" 0
}

@test "harness: a process whose main thread ended is alive, a zombie is not" {
	start server -l log -g threads
	server=$(server_pid log)
	thread=$(child_pid log threads)
	until_true "[[ \$(ps -o stat= -p $thread) == Z* ]]"
	assert_alive "$thread"
	kill -TERM "$thread"
	await_gone "$thread"
	kill -KILL "$server"
	start owner -z true
	until_true "[ -n \"\$(pgrep -P $PID)\" ]"
	zombie=$(pgrep -P "$PID")
	await_gone "$zombie"
	kill -0 "$zombie"
	run alive ""
	expect_status 2
	run gone ""
	expect_status 2
}

@test "harness: what a test leaves behind is found, also without its parent" {
	setsid sh -c 'sleep 300 & :' 3>&-
	until_true '[ -n "$(marked)" ]'
	left=$(marked)
	LIMIT=0 run no_leftovers
	expect_status 1
	expect_match "left behind by this test.*sleep 300"
	await_gone "$left"
	assert_equal "$(marked)" ""
}

@test "harness: the server's port is open, answers, and is free afterwards" {
	start server -l log -p -P -f 1
	server=$(server_pid log)
	port=$(sed -n 's/^port //p' log)
	run net get "$port"
	expect_output "ownerwrap fixture"
	run net bind "$port"
	expect_status 1
	kill -KILL "$server"
	finish "$server"
	run net bind -r "$port"
	expect_status 1		# the child holds it
	kill -KILL "$(child_pid log plain)"
	await_gone "$(child_pid log plain)"
	run net bind -r "$port"
	expect_status 0
}

@test "harness: listen3 hands over a listener and names the right process" {
	start net listen3 sh -c 'echo $$ $LISTEN_PID $LISTEN_FDS; readlink /proc/$$/fd/3'
	finish "$PID"
	assert_equal "$(head -n 1 "$OUT")" "$PID $PID 1"
	assert_lines "$OUT" '^socket:' 1
}

@test "harness: owner reports the command's end and hands on its status" {
	run owner -l log sh -c 'exit 9'
	expect_status 9
	assert_lines log '^exit 9$' 1
	run plain owner -S sig show
	expect_match 'SigIgn: 0*10000'
}

@test "harness: an owner that leaves early is replaced by the subreaper" {
	start owner -r -l outer owner -l inner -a 50 -x 0 sleep 300
	await_line inner '^cmd '
	command=$(sed -n 's/^cmd //p' inner)
	reaper=$(sed -n 's/^owner //p' outer)
	track "$command"
	until_true "gone \$(sed -n 's/^owner //p' inner)"
	assert_equal "$(ps -o ppid= -p "$command" | tr -d ' ')" "$reaper"
}

@test "harness: owner -s does not lead the session that it is in" {
	start owner -s -l log -t sleep 300
	await_line log '^cmd '
	owner=$(sed -n 's/^owner //p' log)
	read -r pid sid <<<"$(ps -o pid=,sid= -p "$owner")"
	[ "$pid" != "$sid" ]
	[ "$sid" != "$(ps -o sid= -p $$ | tr -d ' ')" ]
	kill -KILL "$(sed -n 's/^cmd //p' log)"
	finish "$PID"
	expect_status 137
}

@test "harness: an owner whose main thread ends lives as long as asked" {
	begin=$(now_ms)
	start owner -m 2000
	until_true "[[ \$(ps -o stat= -p $PID) == Z* ]]"
	assert_alive "$PID"
	finish "$PID"
	expect_status 0
	[ $(($(now_ms) - begin)) -ge 2000 ]
}

@test "harness: pty types, reads, interrupts and reports the end" {
	cat >script <<-'END'
		termios before
		send hello\n
		expect ^hello$
		expect ^hello$
		fg cmd
		same before
		send \x03
		wait signal INT
	END
	run pty script cat
	expect_status 0
	run pty -L script cat
	expect_status 0
	run pty - sh -c 'exit 4' <<<'wait exit 3'
	expect_status 1
	run pty - cat <<<$'timeout 1\nexpect never'
	expect_status 1
}

@test "harness: pty sees stops, resumes, and hangs up" {
	cat >script <<-'END'
		send \x1a
		wait stopped TSTP
		fg other
		run test -n "$PTY_PID" -a -c "$PTY_SLAVE"
		resume
		send again\n
		expect ^again$
		kill TERM cmd
		wait signal TERM
	END
	run pty -L script cat
	expect_status 0
	run pty - sleep 300 <<<$'close\nwait signal HUP'
	expect_status 0
}

@test "harness: pty notices changed terminal modes" {
	cat >script <<-'END'
		until grep -q ready log
		same initial
	END
	run pty script server -l log -T
	expect_status 1
	expect_match 'FAILED in line 2'
}

@test "harness: an interactive shell has job control on the pty" {
	cat >script <<-'END'
		expect \$ $
		send cat\n
		nap 200
		send \x1a
		expect Stopped
		send fg\n
		nap 200
		send line\n
		expect ^line$
		send \x03
		expect \$ $
		send exit 5\n
		wait exit 5
	END
	PS1='$ ' run pty script bash --norc --noprofile -i
	expect_status 0
}

@test "harness: sig sets masks and dispositions, start gives the usual ones" {
	run plain sig block TERM,CHLD ignore INT,PIPE default HUP -- sig show
	expect_match 'SigBlk: 0000000000014000'
	expect_match 'SigIgn: 0000000000001002'
	start sig show
	finish "$PID"
	assert_equal "$(cat "$OUT")" $'SigBlk: 0000000000000000\nSigIgn: 0000000000000000\nSigCgt: 0000000000000000'
}

@test "harness: sig send measures, waits, and reports who was not there" {
	start server -l log
	server=$(server_pid log)
	run sig send -g 20000 USR2 "$server" "$server"
	expect_status 0
	[ "${output#gap }" -ge 20000 ]
	until_true '[ "$(count_lines log ^USR2)" = 2 ]'
	run sig storm 1 10 1000 35 "$server"
	expect_status 0
	until_true '[ "$(count_lines log ^RT35)" = 10 ]'
	kill -KILL "$server"
	finish "$server"
	run sig send USR2 "$server"
	expect_status 1
	expect_match "$server: errno 3"
	run sig send 0 1
	expect_match '1: errno 22'
}

@test "harness: dump is the same twice, and shows a difference" {
	exec 9</dev/null
	dump -o one a '' '-b c' $'d\ne'
	dump -o two a '' '-b c' $'d\ne'
	sed -i 's/6f6e65/74776f/' one	# the name of the file itself
	run diff one two
	expect_status 0
	assert_lines one '^fd 9 /dev/null ' 1
	(umask 077 && dump -o two a '' '-b c' $'d\ne')
	run diff one two
	expect_match 'umask 077'
}

@test "harness: deny refuses just the calls it was told to" {
	run deny EPERM fork -- sh -c '/bin/true; echo here'
	expect_match 'fork'
	run deny ENOSYS pidfd_open,436 -- sh -c '/bin/true; echo here'
	expect_output here
}

@test "harness: limits leaves exactly so many descriptors" {
	run -127 limits fds=0 -- sh -c 'exec 9</dev/null'
	run limits nofile=77 core=0 -- sh -c 'ulimit -n; ulimit -c'
	expect_output $'77\n0'
}

@test "harness: a pid can be used again in a pid namespace" {
	need_pidns
	run in_pidns sh -c 'sleep 0 & wait; o=$!; pidreuse $o sleep 99; echo $o; cat /proc/$o/comm'
	expect_status 0
	[[ ${lines[0]} == "ok ${lines[1]}" ]]
	assert_equal "${lines[2]}" sleep
}

@test "harness: sock tells when each end was let go" {
	run sock pipes sh -c 'exec <&-; echo out; exec >&-; sleep 0.3; exit 3'
	expect_status 3
	expect_match 'stdin epipe at'
	expect_match 'stdout data "out\\n"'
	[[ $output == *stdout\ eof*stderr\ eof* ]]
	run sock one sh -c 'echo "$(readlink /proc/$$/fd/0)" >&2'
	expect_match 'socket data "socket:'
	expect_match 'socket eof at'
	run sock pipe12 sh -c 'echo a; echo b >&2'
	expect_match 'both eof at'
	run sock deadpipe sh -c 'echo a >&2; exit 4'
	expect_match '(signal PIPE|exit) '
	run sock fullpipe timeout 0.2 sh -c 'echo a >&2'
	expect_status 124
	run sock close=0,2 sh -c '[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/2 ] && echo closed'
	expect_output closed
}
