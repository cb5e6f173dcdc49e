#!/usr/bin/env bats
# Descriptors: the server gets those of ownerwrap, which keeps none of them.

load helper
bats_require_minimum_version 1.5.0

# descriptors PID: "number target" of all it has open
descriptors() {
	local fd
	for fd in "/proc/$1/fd"/*; do
		echo "${fd##*/} $(readlink "$fd")"
	done
}

# released KIND LINE OPTION...: the server lets go, and the host sees LINE of
# each while the server and both of ours live on
released() {
	local kind=$1 line=$2
	shift 2
	rm -f log
	start sock "$kind" "$OW" -v -- server -l log "$@"
	server=$(server_pid log)
	for line in $line; do
		await_line "$OUT" "^${line/_/ } at"
	done
	assert_alive "$server"
	kill -TERM "$(pid_in "$OUT" pid)"
	finish "$PID"
	expect_status 0
}

@test "descriptors: a host gets EPIPE and EOF when the server closes 0 and 1 (55)" {
	released pipes 'stdin_epipe stdout_eof' -1
	assert_lines "$OUT" '^stderr eof at' 1
}

@test "descriptors: a writer gets EPIPE as soon as the server is gone (55)" {
	mkfifo in
	start "$OW" -- sh -c 'exec <in; read -r line; exec <&-; echo closed >said; exec sleep 300'
	exec 8>in
	echo first >&8
	await_line said closed
	trap '' PIPE
	until_true '! echo more >&8' 2>/dev/null
	exec 8>&-
}

@test "descriptors: one pipe on 1 and 2 ends when the server closes it (85)" {
	released pipe12 both_eof -2
}

@test "descriptors: one socket on 0, 1 and 2 ends when the server closes it (85)" {
	released one socket_eof -2
}

@test "descriptors: no message gets into a protocol on 2 once the server runs (85)" {
	for kind in pipe12 one; do
		start sock $kind "$OW" -v -- sh -c \
			'kill -USR1 $PPID; sleep 300 & echo protocol; exit 3'
		finish "$PID"
		expect_status 3
		assert_lines "$OUT" ownerwrap 0
		assert_lines "$OUT" ' data "protocol\\n"$' 1
	done
}

@test "descriptors: a refused start is also said where 2 is the protocol's (85)" {
	for kind in pipe12 one; do
		start sock $kind "$OW" -- ./missing
		finish "$PID"
		expect_status 127
		assert_lines "$OUT" ' data "ownerwrap\[missing\]: ./missing: not found, ' 1
		start sock $kind "$OW" --grace x true
		finish "$PID"
		expect_status 125
		assert_lines "$OUT" ' data "ownerwrap\[true\]: --grace x: must be ' 1
	done
}

@test "descriptors: EOF on stderr comes when the server lets go, front killed (97)" {
	start sock pipes "$OW" -k 1 -- server -l log -2 -d
	server=$(server_pid log)
	front=$(pid_in "$OUT" pid)
	supervisor=$(supervisor_of "$front")
	track "$front" "$server" "$supervisor"
	kill -KILL "$front"
	await_line "$OUT" '^stderr eof'
	assert_alive "$server"		# deaf: it lives for another second
	await_gone "$server" "$supervisor"
}

@test "descriptors: EOF on stderr comes when its last child lets go, front killed (97)" {
	start sock pipes "$OW" -k 5 -- server -l log -t 100 -g slow=300
	server=$(server_pid log)
	front=$(pid_in "$OUT" pid)
	supervisor=$(supervisor_of "$front")
	track "$front" "$server" "$supervisor"
	kill -KILL "$front"
	finish "$PID"
	assert_lines "$OUT" '^stderr eof' 1
	await_gone "$supervisor"
	assert_lines log.done complete 1
}

@test "descriptors: the server gets 3 and above with their numbers (56)" {
	echo seven >seven
	echo three >three
	ow -- sh -c 'cat <&7; cat <&3; [ ! -e /proc/self/fd/8 ]' 3<three 7<seven
	expect_status 0
	expect_output $'seven\nthree'
}

@test "descriptors: a lock is free as soon as the server lets go of it (56)" {
	need flock
	mkfifo go
	exec 9>lock
	flock 9
	start "$OW" -- sh -c 'read -r line <go; exec 9>&-; echo >closed; exec sleep 300'
	exec 9>&-
	supervisor_of "$PID" >/dev/null
	run flock -n lock true
	expect_status 1			# the server has it
	echo >go
	until_true '[ -e closed ]'
	until_true 'flock -n lock true'
	assert_alive "$PID"
}

@test "descriptors: front and supervisor have none of the host's but 2 (56)" {
	mkfifo fifo
	exec 7<>fifo 8>lock 9</dev/null 40<.
	descriptors $$ | cut -d' ' -f2 | grep -v '^/dev/null$' >host
	start "$OW" -v -- sh -c 'echo >started; exec sleep 300'
	supervisor=$(supervisor_of "$PID")
	until_true '[ -e started ]'
	await_line "$ERR" 'server [0-9]+ started'
	for pid in "$PID" "$supervisor"; do
		descriptors "$pid" >own
		assert_lines own '^0 /dev/null$' 1
		assert_lines own '^1 /dev/null$' 1
		assert_equal "$(sed -n 's/^2 //p' own)" "$ERR"
		# What is above 2 is ours: to each other and for the owner.
		assert_lines own '^([3-9]|[1-9][0-9]+) ' \
			"$(count_lines own '^[0-9]+ (pipe:|socket:|anon_inode:)')"
		grep -v ' /dev/null$' own | grep -v '^2 ' | cut -d' ' -f2 >rest
		assert_equal "$(grep -Fx -f host rest)" "" "of the host's in $pid"
	done
	exec 7>&- 8>&- 9>&- 40>&-
}

@test "descriptors: none of ours reaches the server" {
	start dump -o direct
	finish "$PID"
	new_owner
	start "$OW" --log log -p "$OWNER" -p $$ -v -- dump -o wrapped
	finish "$PID"
	expect_status 0
	diff <(grep -o '^fd [0-9]*' direct) <(grep -o '^fd [0-9]*' wrapped)
}

@test "descriptors: closed 0, 1 and 2 stay closed for the server, in every combination (63)" {
	for closed in 0 1 2 0,1 0,2 1,2 0,1,2; do
		sock close=$closed dump -o dump </dev/null >out 2>err
		mv dump direct
		sock close=$closed "$OW" -v -- dump -o dump </dev/null >out 2>err
		diff direct dump || fail "closed: $closed"
		for fd in ${closed//,/ }; do
			assert_lines dump "^fd $fd " 0
		done
	done
}

@test "descriptors: nothing of ours lands on a closed 0, 1 or 2" {
	start sock close=0,1,2 "$OW" -v -- sh -c 'echo >started; exec sleep 300'
	supervisor=$(supervisor_of "$PID")
	until_true '[ -e started ]'
	for pid in "$PID" "$supervisor"; do
		until_true "[ \"\$(readlink /proc/$pid/fd/1)\" = /dev/null ]"
		for fd in 0 1 2; do
			target=$(readlink "/proc/$pid/fd/$fd") || continue
			[ "$target" = /dev/null ] || fail "$fd is $target"
		done
	done
}

@test "descriptors: with closed 0, 1 and 2 the statuses are the same" {
	for closed in 2 1,2 0,1,2; do
		run -127 sock close=$closed "$OW" -- ./missing
		run sock close=$closed "$OW" --grace x true
		expect_status 125
		run sock close=$closed "$OW" -- sh -c 'exit 9'
		expect_status 9
		expect_output ""
	done
}

@test "descriptors: with 6 free ones everything works, by polling (67)" {
	new_owner
	run --separate-stderr limits fds=6 -- "$OW" -v -p "$OWNER" -- sh -c 'exit 7'
	expect_status 7
	expect_said_match '; owner [0-9]+ \(sleep, up [0-9]+s\), polled every '
	start limits fds=6 -- "$OW" -i 0.1 -g 0 -p "$OWNER" -- sleep 300
	server=$(server_of "$PID")
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
	refute_alive "$server"
	start limits fds=6 -- "$OW" -- sleep 300
	server=$(server_of "$PID")
	kill -TERM "$PID"
	finish "$PID"
	expect_status 143
	refute_alive "$server"
}

# The fixture server wants higher numbers than there are. Prints the pid of the
# server `sleep` below front PID.
server_of() {
	local supervisor
	supervisor=$(supervisor_of "$1") || return 1
	until_true "pgrep -P $supervisor -x sleep >/dev/null" || return 1
	pgrep -P "$supervisor" -x sleep
}

@test "descriptors: with 6 free ones the default owner is watched (67)" {
	start owner -l owned limits fds=6 -- "$OW" -i 0.1 -g 0.1 -- sleep 300
	front=$(pid_in owned cmd)
	server=$(server_of "$front")
	track "$server" "$front"
	kill -KILL "$PID"
	await_gone "$server" "$front"
}

@test "descriptors: without close_range nothing inherited is kept either (56)" {
	need deny
	local pid
	start deny ENOSYS close_range -- "$OW" -- server -l log 8</dev/null 9</dev/null
	FRONT=$PID
	server_pid log
	for pid in "$FRONT" "$(supervisor_of "$FRONT")"; do
		[ ! -e "/proc/$pid/fd/8" ] || [ "$(readlink "/proc/$pid/fd/8")" != /dev/null ]
		[ ! -e "/proc/$pid/fd/9" ] || [ "$(readlink "/proc/$pid/fd/9")" != /dev/null ]
	done
	kill "$FRONT"
	finish "$FRONT"
}

@test "descriptors: with fewer than 6 free ones there is one line and 125 (67)" {
	for free in 5 4 3 2 1; do
		for owner in "" "-p $$"; do
			# shellcheck disable=SC2086
			run --separate-stderr limits fds=$free -- "$OW" $owner touch started
			assert_equal "$status" 125 "status with $free free"
			expect_output ""
			expect_said "ownerwrap[touch]: 6 free descriptors are needed: Too many open files"
			[ ! -e started ]
		done
	done
}

@test "descriptors: with none free there is one line and 125 (67)" {
	# No shared library can be opened then: only a static program starts.
	cc -O1 -static -o static "${SOURCES[@]}" 2>/dev/null ||
		skip_or_fail "needs a static libc"
	run --separate-stderr limits fds=0 -- ./static touch started
	expect_status 125
	expect_output ""
	expect_said_match '^ownerwrap(\[touch\])?: 6 free descriptors are needed: Too many open files$'
	[ ! -e started ]
}

@test "descriptors: a log takes one more" {
	run --separate-stderr limits fds=7 -- "$OW" --log log -- sh -c 'exit 7'
	expect_status 7
	assert_lines log ' started; ' 1
	run --separate-stderr limits fds=6 -- "$OW" --log log touch started
	expect_status 125
	assert_equal "${#stderr_lines[@]}" 1
}

@test "descriptors: no process for the supervisor: one line, 125, nothing left" {
	for error in EAGAIN ENOMEM; do
		run --separate-stderr deny $error fork -- "$OW" touch started
		expect_status 125
		expect_output ""
		expect_said_match "^ownerwrap\[touch\]: the supervisor can't be forked: [A-Z][a-z ]+$"
		[ ! -e started ]
	done
}

# Another user's, so that nobody else's processes count.
limited() {
	privileged "to become another user"
	need setpriv
	chmod 1777 .
	uid=$((100000 + RANDOM + $$ % 1000 * 32768))
	reachable setpriv --reuid $uid --regid $uid --clear-groups
	run --separate-stderr setpriv --reuid $uid --regid $uid --clear-groups \
		limits "$1" -- "$OW" -p $$ "${@:2}"
}

@test "descriptors: ulimit -u exhausted: one line, 125, nothing left" {
	limited nproc=1 touch started
	expect_status 125
	expect_said "ownerwrap[touch]: the supervisor can't be forked: Resource temporarily unavailable"
	limited nproc=2 touch started
	expect_status 125
	expect_said "ownerwrap[touch]: the server can't be forked: Resource temporarily unavailable"
	expect_output ""
	[ ! -e started ]
	limited nproc=3 sh -c 'exit 7'
	expect_status 7
	expect_said ""
}

@test "descriptors: it works in a small address space (76)" {
	nosan "the sanitizer needs much"
	run --separate-stderr limits as=65536000 -- "$OW" -- sh -c 'exit 7'
	expect_status 7
	expect_said ""
	new_owner
	start limits as=16000000 -- "$OW" -g 0 -k 0.2 -p "$OWNER" -- \
		server -l log -d -g deaf
	server=$(server_pid log)
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
	refute_alive "$server" "$(child_pid log deaf)"
}
