#!/usr/bin/env bats
# Exit statuses: the server's, and ownerwrap's own.

load helper
bats_require_minimum_version 1.5.0

# ended WANTED CMD...: the command's wait status, as `owner` logs it
ended() {
	local wanted=$1
	shift
	rm -f ended
	run owner -l ended "$@"
	assert_equal "$(grep -E '^(exit|signal|core) ' ended | tr '\n' ' ')" \
		"$wanted " "end of $*"
}

# while_orphaned [OPTION...] -- SERVER...: the owner is killed by the server's
# own sh, which then becomes the server
while_orphaned() {
	at_dashes "$@"
	new_owner
	ow --owner-pid "$OWNER" "${BEFORE[@]}" -- \
		sh -c 'kill -KILL "$0"; exec "$@"' "$OWNER" "${AFTER[@]}"
}

@test "status: every exit status of the server is ownerwrap's (51)" {
	for code in $(seq 0 255); do
		wanted=0
		"$OW" -- sh -c "exit $code" || wanted=$?
		assert_equal "$wanted" "$code"
	done
}

@test "status: 124 to 127 of the server are passed on without a word (51)" {
	for code in 124 125 126 127; do
		ow "-$code" -- sh -c "exit $code"
		expect_status "$code"
		expect_said ""
	done
}

@test "status: ownerwrap dies of the signal that killed the server (51)" {
	for name in HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE \
		ALRM TERM XCPU XFSZ VTALRM PROF IO SYS 40 64; do
		number=$name
		[[ $name == [0-9]* ]] || number=$(kill -l "$name")
		ended "signal $number" sig default all unblock all -- limits core=0 -- \
			"$OW" -- sh -c "kill -$number \$\$"
	done
}

@test "status: a server killed from outside is no different (51)" {
	for name in TERM KILL INT; do
		start owner -l "ended.$name" "$OW" -- server -l "log.$name" -n
		kill "-$name" "$(server_pid "log.$name")"
		finish "$PID"
		assert_lines "ended.$name" "^signal $(kill -l $name)\$" 1
	done
}

@test "status: what the server makes of a signal to ownerwrap counts (51)" {
	start owner -l ended "$OW" -- server -l log -e 42
	server_pid log >/dev/null
	kill -TERM "$(pid_in ended cmd)"
	finish "$PID"
	assert_lines ended '^exit 42$' 1
	start owner -l other "$OW" -- server -l log2 -n
	server_pid log2 >/dev/null
	kill -INT "$(pid_in other cmd)"
	finish "$PID"
	assert_lines other "^signal $(kill -l INT)\$" 1
}

@test "status: ownerwrap dies of the signal also where it is blocked or ignored (51)" {
	ended "signal 15" sig block all -- "$OW" -- \
		sig unblock all -- sh -c 'kill -TERM $$'
	ended "signal 2" sig ignore all -- "$OW" -- \
		sig default all -- sh -c 'kill -INT $$'
}

@test "status: a core is dumped once, by the server (51)" {
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] ||
		skip "the core pattern is not a file in the directory"
	command=(sig default all unblock all -- limits core=unlimited --)
	mkdir direct wrapped
	(cd direct && ended "signal 11 core 11" "${command[@]}" \
		sh -c 'kill -SEGV $$')
	(cd wrapped && ended "signal 11" "${command[@]}" "$OW" -- \
		sh -c 'kill -SEGV $$')
	assert_equal "$(find wrapped -name "core*" -type f | wc -l)" 1
}

@test "status: as pid 1 a death by signal n is 128 + n (51)" {
	need_pidns
	for name in TERM SEGV; do
		run "${PIDNS[@]}" "$OW" -- sh -c "kill -$name \$\$"
		expect_status $((128 + $(kill -l $name)))
	done
}

@test "status: it is the server's if it ends within the grace (51)" {
	for code in 0 1 42 255; do
		while_orphaned -- sh -c "exit $code"
		expect_status "$code"
	done
	while_orphaned -- sh -c "kill -KILL \$\$"
	expect_status 137
	while_orphaned -g 10 -- sh -c "sleep 0.3; kill -TERM \$\$"
	expect_status 143
	expect_said_match '^ownerwrap\[sh\]: owner [0-9]+( \(sleep, up [0-9]+s\))? is gone; '
}

@test "status: a stop for want of an owner is 124, however the server ends (51)" {
	for options in -n '-e 0' '-e 42' '-k SEGV -x 300'; do
		# shellcheck disable=SC2086
		while_orphaned -g 0 -- server -l log $options
		assert_equal "$status" 124 "status with server $options"
		expect_said_match '^ownerwrap\[sh\]: owner [0-9]+( \(sleep, up [0-9]+s\))? is gone; '
	done
	while_orphaned -g 0.1 -k 0.2 -- server -l deaf -d
	expect_status 124
	expect_said_match ': server [0-9]+ still there .* after TERM: killed'
	while_orphaned -g 0 -s KILL -- server -l log
	expect_status 124
}

@test "status: a stop asked for has the server's status (51)" {
	start "$OW" -k 5 -- server -l log -e 9
	server_pid log >/dev/null
	kill -TERM "$PID"
	finish "$PID"
	expect_status 9
}

@test "status: no owner at the start is 124 (3)" {
	sh -c 'echo $$' >dead
	refused 124 "ownerwrap[touch]: owner $(cat dead) is not there: not started (ended, or in another pid namespace: --owner-fd)" \
		-p "$(cat dead)"
}

@test "status: leftovers are stopped at once, the status is the server's (52)" {
	begin=$(now_ms)
	ow -- sh -c 'sleep 300 & exit 3'
	expect_status 3
	within 5000 "$begin"
	expect_said "ownerwrap[sh]: server ended and left 1 process: stopped (--leftovers wait or leave keeps it)"
	ow -- sh -c 'sleep 300 & sleep 300 & kill -KILL $$'
	expect_status 137
	expect_said "ownerwrap[sh]: server ended and left 2 processes: stopped (--leftovers wait or leave keeps them)"
}

@test "status: a pipe held by leftovers does not keep it back (52)" {
	"$OW" -- sh -c 'echo out; sleep 300 & exit 3' | cat >out
	assert_equal "${PIPESTATUS[0]}" 3
	assert_equal "$(cat out)" out
}

@test "status: deaf leftovers are killed, the status stays the server's (52)" {
	start "$OW" -k 0.2 -- server -l log -x 300 -e 3 -g deaf
	deaf=$(child_pid log deaf)
	finish "$PID"
	expect_status 3
	refute_alive "$deaf"
	assert_lines log "^\[$deaf\] TERM " 1
}

@test "status: leftovers wait withholds the status till they have ended (52)" {
	begin=$(now_ms)
	ow --leftovers wait -- sh -c 'sleep 0.6 & exit 3'
	expect_status 3
	taken 600 "$begin"
	expect_said "ownerwrap[sh]: server ended and left 1 process: waited for"
}

@test "status: leftovers wait is over when the owner goes: the server's status (52)" {
	new_owner
	start "$OW" --owner-pid "$OWNER" -g 0 --leftovers wait -- \
		sh -c 'sleep 300 & exit 3'
	await_line "$ERR" 'left 1 process: waited for$'
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 3
	assert_lines "$ERR" ': owner [0-9]+ \(sleep, up [0-9]+s\) is gone; stopping what the server left ' 1
}

@test "status: leftovers leave hands it out at once, and they go with the owner (52)" {
	new_owner
	start "$OW" --owner-pid "$OWNER" -g 0.1 --leftovers leave -- \
		server -l log -e 3 -g plain
	server=$(server_pid log)
	left=$(child_pid log plain)
	supervisor=$(supervisor_of "$PID")
	track "$server" "$left" "$supervisor"
	kill -TERM "$server"
	finish "$PID"
	expect_status 3
	assert_alive "$left" "$supervisor"
	assert_equal "$(cat "$ERR")" "ownerwrap[server]: server ended and left 1 process: left until the owner goes"
	kill -KILL "$OWNER"
	await_gone "$left" "$supervisor"
	assert_lines log "^\[$left\] TERM " 1
}

@test "status: a command that is not found is 127 (54)" {
	PATH=/nowhere:/bin:/usr/bin ow -127 -- nothing-like-this
	expect_output ""
	expect_said "ownerwrap[nothing-like-this]: nothing-like-this: not found in PATH=/nowhere:/bin:/usr/bin"
	run -127 --separate-stderr env -u PATH "$OW" nothing-like-this
	expect_said "ownerwrap[nothing-like-this]: nothing-like-this: not found in PATH, which is not set"
	ow -127 -- ./missing
	expect_said "ownerwrap[missing]: ./missing: not found, or its interpreter is not"
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	ow -127 -- ./script
	expect_said "ownerwrap[script]: ./script: not found, or its interpreter is not"
}

@test "status: a command that can't be executed is 126 (54)" {
	mkdir dir
	echo true >plain
	ow -- ./dir
	expect_status 126
	expect_output ""
	expect_said "ownerwrap[dir]: ./dir: can't be executed: Permission denied"
	ow -- ./plain
	expect_status 126
	expect_said "ownerwrap[plain]: ./plain: can't be executed: Permission denied"
	ow -- ./plain/x
	expect_status 126
	expect_said "ownerwrap[x]: ./plain/x: can't be executed: Not a directory"
		ln -s loop loop
	ow -- ./loop
	expect_status 126
}

@test "status: a text file without an interpreter line is run by sh (54)" {
	echo 'echo "from sh: $*"; exit 5' >text
	chmod +x text
	ow -- ./text a b
	expect_status 5
	expect_output "from sh: a b"
	expect_said ""
}

@test "status: PATH is searched as execvp does (54)" {
	mkdir one two
	echo 'echo one' >one/tool
	printf '#!/bin/sh\necho two\n' >two/tool
	chmod +x two/tool
	PATH=$PWD/one:$PWD/two:$PATH ow tool
	expect_output two
	rm two/tool
	PATH=$PWD/one:$PWD/two:$PATH ow tool
	expect_status 126
	expect_said "ownerwrap[tool]: tool: can't be executed: Permission denied"
}

@test "status: a failed start says so although the owner is dying (54)" {
	for ((i = 0; i < 10; i++)); do
		sleep 0.00$i 3>&- &
		status=0
		"$OW" -g 0 -p $! -- /nothing/here 2>said || status=$?
		case $status in
		127) tail -n 1 said | grep -q "/nothing/here: not found, " ;;
		124) grep -Eq "owner [0-9]+.* is (gone|not there)" said ;;
		*) fail "status $status" ;;
		esac
	done
}

@test "status: malformed use is 125, not the server's doing (54)" {
	refused 125 "ownerwrap[touch]: --scope x: must be $RIGHT_SCOPE" --scope x
}

@test "status: what an exec'd shell has left its front is reaped, and unhurt before" {
	for option in "" --share=./sock; do
		rm -f left log
		# shellcheck disable=SC2016
		start sh -c 'sleep 300 & echo pid $! >left; exec "$@"' - \
			"$OW" $option -g 0.1 -- server -l log
		SERVER=$(server_pid log)
		left=$(pid_in left pid)
		track "$left"
		assert_alive "$left"
		kill -KILL "$left"
		until_true "[ ! -e /proc/$left ]"
		kill "$PID"
		finish "$PID"
		await_gone "$SERVER"
	done
}
