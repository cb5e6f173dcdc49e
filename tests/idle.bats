#!/usr/bin/env bats
# The inactivity backstop: --max-idle. What keeps a server alive here is done by
# the fixture `busy` for a second or so, and then no more.

# VIA, LIMIT are for the helper.
# shellcheck disable=SC2034

load helper
bats_require_minimum_version 1.5.0

RIGHT_MAX_IDLE='a duration: 5, 0.25, 500ms, 3s, 30m, 1h; 0 = off'
NOT_KNOWN="can't work here: with --scope process the server's tree is not known"
NOT_MEASURED="can't work here: what processes do can't be measured"

# serve [OPTION...] -- COMMAND: with an owner that lives, O; the front is W, the
# server S, its log ./log
serve() {
	owned -i 0.1 "$@"
}

# serve_busy [OPTION...] -- BUSY OPTION...: it is busy in any case until `go`.
# Sets SUP, the supervisor.
serve_busy() {
	at_dashes "$@"
	serve "${BEFORE[@]}" -- busy -l log -s server.times -g go "${AFTER[@]}"
	its_supervisor
}

# serve_gated [OPTION...] -- SERVER OPTION...: the same for the usual server,
# with a child that ends at `go`
serve_gated() {
	at_dashes "$@"
	serve "${BEFORE[@]}" -- sh -c 'busy gate go & exec "$@"' - \
		server -l log "${AFTER[@]}"
	its_supervisor
}

# go: all is prepared, from now on the server may be idle
go() {
	: >go
}

# call ADDRESS OPTION...: `busy call`; PORT in ADDRESS is the server's. Sets
# CLIENT.
call() {
	local port w=$W s=$S err=$ERR
	port=$(sed -n 's/^port //p' log)
	start "${AS[@]}" busy call "${1/PORT/$port}" -s client.times "${@:2}"
	CLIENT=$PID
	CALLED=$OUT
	ERR=$err W=$w S=$s
	await_line "$CALLED" '^connected$' && go
}

# of NAME: what server and client have noted under it, the greatest
of() {
	cat server.times client.times 2>/dev/null |
		sed -n "s/^$1 0*\\([0-9][0-9]*\\)\$/\\1/p" | sort -n | tail -n 1
}

# ended_idle MS: the server was ended for that, and was told so not
# earlier than MS after the last thing it did. (Unless the machine itself came to
# a halt for so long, then and there.)
ended_idle() {
	go
	finish "$W"
	expect_status 124
	refute_alive "$S"
	assert_alive "$O"
	said "nothing happened for [0-9.]+s; stopping server $S \(TERM now, .*\)"
	[ "$(of count)" -gt 1 ] || fail 'nothing was done at all'
	[ $(($(of term) - $(of last))) -ge "$1" ] || [ "$(of gap)" -ge "$1" ] ||
		fail "told $(($(of term) - $(of last))) ms after the last thing, expected $1"
}

# not_idle MS: it lives for so long, and nothing was said
not_idle() {
	local end=$(($(now_ms) + $1))
	go
	while [ "$(now_ms)" -lt "$end" ]; do
		gone "$W" && break
		nap
	done
	assert_lines "$ERR" 'nothing happened' 0
	assert_alive "$W" "$S"
}

# idle_without CLIENT: while that is there it lives on, without it it does not
idle_without() {
	not_idle 900
	begin=$(now_ms)
	kill -KILL "$1"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
}

# other BUSY OPTION...: a server that has nothing to do with ours, its log:
# other.log. Sets OTHER.
other() {
	start busy -l other.log "$@"
	await_line other.log '^ready '
	OTHER=$(server_pid other.log)
}

# stop_now: the test has seen enough
stop_now() {
	kill -KILL "$S"
	finish "$W"
	expect_status 137
}

# --- the end ---------------------------------------------------------------

@test "idle: a server in which nothing happens is ended though its owner lives" {
	serve_busy --max-idle 0.5 --
	begin=$(now_ms)
	go
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$S" "$SUP"
	assert_alive "$O"
	[ "$(of term)" -gt 0 ] || fail "it was not told"
	assert_equal "$(cat "$ERR")" "ownerwrap[busy]: nothing happened for 0.5s; stopping server $S (TERM now, KILL 5s later, 10s if others must be told)"
}

@test "idle: off by default, and with 0" {
	serve -- server -l log
	first=$W second=$S err=$ERR
	rm log
	serve --max-idle 0 -- server -l log
	lives_on 500 "$first" "$second" "$W" "$S"
	assert_equal "$(cat "$ERR" "$err")" ""
	track "$second"
	kill -KILL "$second"
	finish "$first"
	stop_now
}

@test "idle: what ends by itself meanwhile has its own status" {
	serve --max-idle 60 -- server -l log -e 7 -x 400
	finish "$W"
	expect_status 7
	assert_equal "$(cat "$ERR")" ""
}

@test "idle: a deaf server is killed" {
	serve --max-idle 0.3 -k 0.3 -- server -l log -d
	await_line log '^TERM from '
	finish "$W"
	expect_status 124
	refute_alive "$S"
	said "server $S still there 0\\.[0-9]+s after TERM: killed"
}

@test "idle: what the server started is told too, and killed where it is deaf" {
	serve_gated --max-idle 0.3 -k 0.3 -- -g plain -g deaf
	plain=$(child_pid log plain)
	deaf=$(child_pid log deaf)
	go
	finish "$W"
	expect_status 124
	assert_lines log "^\\[$plain\\] TERM " 1
	assert_lines log "^\\[$deaf\\] TERM " 1
	refute_alive "$plain" "$deaf"
}

@test "idle: the stop signal is the one that was asked for" {
	serve --max-idle 0.3 -s INT -- server -l log
	finish "$W"
	expect_status 124
	assert_lines log '^INT from ' 1
	assert_lines log '^TERM ' 0
	said 'nothing happened for 0.3s; .*\(INT now, .*'
}

@test "idle: -q says nothing" {
	serve --max-idle 0.3 -q -- server -l log
	finish "$W"
	expect_status 124
	assert_equal "$(cat "$ERR")" ""
}

@test "idle: a server without an owner to watch is ended too" {
	need_pidns
	start "${PIDNS[@]}" "$OW" -i 0.1 --max-idle 0.4 -- \
		sh -c 'echo $PPID; exec server'
	finish "$PID"
	expect_status 124
	assert_lines "$OUT" '^[0-9]+$' 1
	said 'nothing happened for 0.4s; .*'
}

# --- what a process does ---------------------------------------------------

@test "idle: CPU time beyond a tick in each look is activity" {
	serve_busy --max-idle 0.6 -- -n 8 -e 50 cpu=60
	# What is left for the last look may be a single tick.
	ended_idle 400
}

@test "idle: reading is activity" {
	serve_busy --max-idle 0.5 -- -n 9 -e 80 read
	ended_idle 500
}

@test "idle: writing is activity" {
	serve_busy --max-idle 0.5 -- -n 9 -e 80 write
	ended_idle 500
}

@test "idle: a pipe is read and written, too" {
	serve_busy --max-idle 0.5 -- -n 9 -e 80 pipe
	ended_idle 500
}

@test "idle: what a child of the server does is activity" {
	serve_busy --max-idle 0.5 -- -C -n 9 -e 80 write
	ended_idle 500
}

@test "idle: what a daemon of it does is activity, though it is not stopped" {
	serve --max-idle 0.5 -- sh -c '
		setsid busy -s server.times -g go -n 14 -e 80 write &
		echo ready $$ >log; exec sleep 300'
	daemon=$(pgrep -P "$S")
	track "$daemon"
	until_true '[ -n "$(of count)" ]'
	before=$(of count)
	go
	finish "$W"
	expect_status 124
	# All that it wanted to, or it was the machine that stood still.
	after=$(($(of count) - before))		# each begins and ends
	[ "$after" -ge 28 ] || [ "$(of gap)" -ge 500 ] || fail "only $after of 28"
	assert_equal "$(of term)" 0	# it was not told
	assert_alive "$daemon"
	said 'nothing happened for 0.5s; .*'
}

@test "idle: a process that comes is activity, and one that goes" {
	serve_busy --max-idle 0.5 -- -n 4 -e 200 fork=1000
	ended_idle 500
}

@test "idle: a process that goes is activity" {
	serve --max-idle 0.6 -- sh -c '
		busy gate go & sleep 300 & echo child $! >log
		echo ready $$ >>log; exec sleep 300'
	child=$(sed -n 's,^child ,,p' log)
	track "$child"
	go
	# Nothing happens for half of the time.
	lives_on 300 "$child"
	begin=$(now_ms)
	kill -KILL "$child"
	finish "$W"
	taken 600 "$begin"
	expect_status 124
	said "nothing happened for 0.6s; .*"
}

@test "idle: what a child reads that is gone before the next look is activity" {
	serve_busy --max-idle 0.5 -- -n 9 -e 80 fork
	ended_idle 500
}

@test "idle: a timer that does next to nothing is no activity" {
	serve_busy --max-idle 0.5 -- -n 100000 -e 30 none
	begin=$(now_ms)
	go
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	said "nothing happened for 0.5s; .*"
	[ "$(of count)" -gt 5 ] || fail "it did not wake up"
}

@test "idle: a server that logs on a timer is never idle" {
	serve --max-idle 0.4 -- sh -c \
		'echo ready $$ >log; while sleep 0.1; do echo "still here"; done'
	not_idle 900
	stop_now
}

@test "idle: what the owner and others do is none of it" {
	start busy -s other.times -n 100000 -e 30 write cpu=15
	other=$PID
	start "$OW" -p "$other" -i 0.1 --max-idle 0.5 -- server -l log
	finish "$PID"
	expect_status 124
	assert_alive "$other"
}

# --- TCP -------------------------------------------------------------------

# tcp LISTEN CALL [BUSY OPTION]: open, it is activity, if silent; then closed
tcp() {
	serve_busy --max-idle 0.5 -- "$1" "${@:3}"
	call "$2"
	idle_without "$CLIENT"
	assert_alive "$O"
	said "nothing happened for 0.5s; .*"
}

@test "idle: an open TCP connection is activity" {
	tcp -L 4:PORT
}

@test "idle: an open TCP connection is activity, with IPv6" {
	[ -e /proc/net/if_inet6 ] || skip_or_fail 'needs IPv6'
	tcp -6 6:PORT
}

@test "idle: ... with IPv4 to a server that has only an IPv6 socket" {
	[ -e /proc/net/if_inet6 ] || skip_or_fail 'needs IPv6'
	tcp -4 4:PORT
}

@test "idle: ... and to one that listens by MPTCP, as Go's do" {
	[ "$(cat /proc/sys/net/mptcp/enabled 2>/dev/null)" = 1 ] ||
		skip 'needs a kernel with MPTCP'
	tcp -m m:PORT
}

@test "idle: ... also where the server has not accepted it yet" {
	tcp -L 4:PORT -N
}

@test "idle: bytes over TCP by recv and send are nowhere else to be seen" {
	serve_busy --max-idle 0.5 -- -L
	call 4:PORT -n 9 -e 80
	not_idle 900
	kill -KILL "$CLIENT"
	ended_idle 0
}

@test "idle: an open TCP connection that the server made is activity" {
	other -L
	port=$(sed -n 's/^port //p' other.log)
	serve --max-idle 0.5 -- sh -c \
		"echo ready \$\$ >log; exec busy call 4:$port"
	await_line "$OUT" '^connected$'
	idle_without "$OTHER"
	said "nothing happened for 0.5s; .*"
}

@test "idle: a TCP connection counts on any port, whatever --keep-connected names" {
	serve_busy --keep-connected=1 --max-idle 0.5 -- -L
	call 4:PORT
	not_idle 900
	stop_now
}

@test "idle: one that the client half-closed is none, nor is one of the tree" {
	serve_busy --keep-connected --max-idle 0.5 -- -L -N
	call 4:PORT -w
	await_line "$CALLED" '^done$'
	finish "$W"
	expect_status 124
	assert_alive "$CLIENT"
	rm log
	serve --keep-connected --max-idle 0.5 -- sh -c '
		busy -l sub.log -L & until [ -s sub.log ]; do sleep 0.05; done
		echo ready $$ >log
		exec busy call 4:$(sed -n "s/^port //p" sub.log)'
	await_line "$OUT" '^connected$'
	finish "$W"
	expect_status 124
}

# --- Unix sockets ----------------------------------------------------------

# unix LISTEN NAME CALL [BUSY OPTION]: open, it is activity; then closed
unix() {
	serve_busy -i 0.4 --max-idle 0.5 -- "$1" "$2" "${@:4}"
	call "$3:$2"
	idle_without "$CLIENT"
	said "nothing happened for 0.5s; .*"
}

@test "idle: an open connection to a Unix socket is activity" {
	unix -u ./sock u
}

@test "idle: ... to one that works with packets" {
	unix -U ./sock U
}

@test "idle: ... to an abstract one" {
	unix -u "@idle.$OWTEST_ID" u
}

@test "idle: ... also where it was not accepted yet" {
	unix -u ./sock u -N
}

@test "idle: a Unix connection within the tree is none" {
	serve --max-idle 0.4 -- sh -c '
		busy -l sub.log -u ./sock & until [ -s sub.log ]; do sleep 0.05; done
		echo ready $$ >log
		exec busy call u:./sock'
	await_line "$OUT" '^connected$'
	finish "$W"
	expect_status 124
}

@test "idle: a Unix socket to which nobody is connected is none" {
	serve_busy --max-idle 0.5 -- -u ./sock
	go
	finish "$W"
	expect_status 124
}

@test "idle: an open connection to another's Unix socket is activity" {
	other -u ./other
	serve --max-idle 0.5 -- sh -c 'echo ready $$ >log; exec busy call u:./other'
	await_line "$OUT" '^connected$'
	idle_without "$OTHER"
	said 'nothing happened for 0.5s; .*'
}

@test "idle: ... also where that one has not accepted it yet" {
	other -u ./other -N
	serve --max-idle 0.5 -- sh -c 'echo ready $$ >log; exec busy call u:./other'
	await_line "$OUT" '^connected$'
	idle_without "$OTHER"
}

@test "idle: bytes on a Unix socket by recv and send are nowhere else to be seen" {
	serve_busy --max-idle 0.5 -- -u ./sock
	call u:./sock -n 9 -e 80
	not_idle 900
	kill -KILL "$CLIENT"
	ended_idle 0
}

@test "idle: to talk by recv and send on the host's socketpair is activity" {
	VIA=(busy host quiet)
	serve --max-idle 0.8 -- busy echo log
	lives_on 2000 "$S"
	begin=$(now_ms)
	: >quiet
	finish "$W"
	taken 800 "$begin"
	expect_status 124
	refute_alive "$S"
	said 'nothing happened for 0.8s; .*'
}

# --- UDP -------------------------------------------------------------------

@test "idle: a server with a UDP port is never idle" {
	for kind in b B; do
		rm -f log
		serve --max-idle 0.3 -- busy -l log -$kind
		not_idle 700
		stop_now
	done
}

@test "idle: ... but somebody else's UDP port is nothing" {
	other -b
	serve --max-idle 0.3 -- server -l log
	finish "$W"
	expect_status 124
}

# --- what can't be looked at -----------------------------------------------

@test "idle: a process that can't be looked into is not idle" {
	NOBODY=()
	[ "$(id -u)" != 0 ] || as_nobody
	VIA=("${NOBODY[@]}")
	serve --max-idle 0.4 -- busy -l log -g go -p
	not_idle 900
	stop_now
}

@test "idle: an ordinary user's server is ended" {
	NOBODY=()
	[ "$(id -u)" != 0 ] || as_nobody
	VIA=("${NOBODY[@]}")
	serve_busy --max-idle 0.5 -- -n 9 -e 80 write
	ended_idle 500
}

# --- the time --------------------------------------------------------------

@test "idle: an interval longer than it does not make it longer" {
	begin=$(now_ms)
	owned -i 60 --max-idle 0.3 -- server -l log
	finish "$W"
	taken 300 "$begin"
	within 60000 "$begin"
	expect_status 124
	rm log
	owned -i 60 --max-idle 0.5 -- busy -l log -s server.times -g go -n 9 -e 80 write
	ended_idle 500
	within 60000 "$begin"
}

@test "idle: a freeze of the supervisor is not idleness" {
	serve_gated --max-idle 2.4 --
	gate=$(pgrep -P "$S" -x busy)
	go
	await_gone "$gate"
	# It sees that, and some looks more.
	let_pass 400
	kill -STOP "$SUP"
	lives_on 1500 "$S"
	begin=$(now_ms)
	kill -CONT "$SUP"
	finish "$W"
	taken 2400 "$begin"
	expect_status 124
}

@test "idle: what happened during a freeze counts" {
	serve --max-idle 2.4 -- sh -c '
		busy gate go & sleep 300 & echo child $! >log
		echo ready $$ >>log; exec sleep 300'
	its_supervisor
	child=$(sed -n 's,^child ,,p' log)
	track "$child"
	gate=$(pgrep -P "$S" -x busy)
	go
	await_gone "$gate"
	let_pass 300
	kill -STOP "$SUP"
	kill -KILL "$child"
	await_gone "$child"
	begin=$(now_ms)
	kill -CONT "$SUP"
	finish "$W"
	taken 2400 "$begin"
	expect_status 124
	said "nothing happened for 2.4s; .*"
}

# --- with other options ----------------------------------------------------

@test "idle: a server that a keeper keeps is ended too" {
	serve_gated --keep-if true --max-idle 0.5 --
	kill -KILL "$O"
	await_line "$ERR" 'no owner left, kept: --keep-if says so'
	go
	finish "$W"
	expect_status 124
	said "nothing happened for 0.5s; stopping server $S \(TERM now, .*\)"
	refute_alive "$S"
}

@test "idle: it does not wait for the end of a grace" {
	begin=$(now_ms)
	serve_gated -g 60 --max-idle 0.4 --
	kill -KILL "$O"
	await_line "$ERR" 'is gone; stopping server'
	go
	finish "$W"
	taken 400 "$begin"
	within 60000 "$begin"
	expect_status 124
	said 'nothing happened for 0.4s; .*'
	assert_lines log '^TERM from ' 1
}

@test "idle: a ladder that has begun is not begun again" {
	serve_gated --max-idle 0.3 -g 0 -k 0.9 -- -d
	kill -KILL "$O"
	await_line log '^TERM from '
	go
	finish "$W"
	expect_status 124
	assert_lines "$ERR" 'nothing happened' 0
	assert_lines log '^TERM from ' 1
}

@test "idle: what the server left, and is waited for, is ended; the status is the server's" {
	serve_gated --leftovers wait --max-idle 0.4 -- -e 7 -g plain -g setpgid
	plain=$(child_pid log plain)
	kill -TERM "$S"
	await_gone "$S"
	assert_alive "$plain" "$W"
	go
	finish "$W"
	expect_status 7
	refute_alive "$plain" "$(child_pid log setpgid)"
	said 'nothing happened for 0.4s; stopping what the server left \(TERM now, .*\)'
	assert_lines log "^\\[$plain\\] TERM from " 1
}

@test "idle: what is left behind by --leftovers leave is ended too" {
	serve_gated --leftovers leave --max-idle 0.4 --log messages -- -e 7 -g plain
	plain=$(child_pid log plain)
	kill -TERM "$S"
	finish "$W"
	expect_status 7
	assert_alive "$plain"
	go
	await_gone "$plain" "$SUP"
	assert_lines messages 'nothing happened for 0.4s; .*stopping what the server left' 1
}

@test "idle: a signal that is relayed ends nothing and begins nothing" {
	serve -v --max-idle 60 -- server -l log -d
	kill -TERM "$W"
	await_line log '^TERM from '
	assert_alive "$S" "$W"
	said 'TERM relayed; .*'
	assert_lines "$ERR" stopping 0
	kill -KILL "$S"
	finish "$W"
	expect_status 137
}

# --- options ---------------------------------------------------------------

@test "idle: a malformed value is refused" {
	for value in '' x 1x -1 1e3 inf 'a b' ' 1' 1.5.2; do
		refused 125 "ownerwrap[touch]: --max-idle $value: must be $RIGHT_MAX_IDLE" \
			--max-idle "$value"
	done
}

@test "idle: OWNERWRAP_MAX_IDLE does the same; the option replaces it" {
	export OWNERWRAP_MAX_IDLE=400ms
	serve -- server -l log
	finish "$W"
	expect_status 124
	said 'nothing happened for 0.4s; .*'
	rm log
	serve --max-idle 0 -- server -l log
	export -n OWNERWRAP_MAX_IDLE
	lives_on 600 "$W" "$S"
	stop_now
}

@test "idle: a malformed OWNERWRAP_MAX_IDLE is a line, and off" {
	export OWNERWRAP_MAX_IDLE=soon
	serve -- server -l log
	export OWNERWRAP_MAX_IDLE=
	said "OWNERWRAP_MAX_IDLE=soon: ignored, must be $RIGHT_MAX_IDLE"
	lives_on 300 "$W" "$S"
	stop_now
	rm log
	serve -- server -l log
	assert_equal "$(cat "$ERR")" ""
	stop_now
}

@test "idle: not with --scope process, whose tree is not known" {
	refused 125 "ownerwrap[touch]: --max-idle: $NOT_KNOWN" \
		--scope process --max-idle 5
	refused 125 "ownerwrap[touch]: --max-idle: $NOT_KNOWN" \
		--max-idle 5 --scope process
	run -0 --separate-stderr "$OW" --scope process --max-idle 0 true
	assert_equal "$stderr" ""
	export OWNERWRAP_MAX_IDLE=0.3
	serve --scope process -- server -l log
	said "OWNERWRAP_MAX_IDLE=0.3: ignored, $NOT_KNOWN"
	lives_on 600 "$W" "$S"
	stop_now
}

@test "idle: refused where there is no usable /proc" {
	nosan 'the sanitizer misses /proc, and says so'
	hide_proc
	run "${HIDDEN[@]}" "$OW" --max-idle 5 touch started
	expect_status 125
	expect_output "ownerwrap[touch]: --max-idle: $NOT_MEASURED"
	[ ! -e started ]
	OWNERWRAP_MAX_IDLE=5 run "${HIDDEN[@]}" "$OW" touch started
	expect_status 0
	expect_match "OWNERWRAP_MAX_IDLE=5: ignored, $NOT_MEASURED"
	[ -e started ]
}

@test "idle: refused where the kernel does not tell what sockets there are" {
	# 41: socket()
	run deny EPERM 41 -- "$OW" --max-idle 5 touch started
	expect_status 125
	expect_output "ownerwrap[touch]: --max-idle: $NOT_MEASURED"
	[ ! -e started ]
}

@test "idle: refused by the plain POSIX program" {
	plain_posix
	refused 125 "ownerwrap[touch]: --max-idle: $NOT_MEASURED" --max-idle 5
	OWNERWRAP_MAX_IDLE=5 run -0 --separate-stderr "$OW" true
	assert_equal "$stderr" "ownerwrap[true]: OWNERWRAP_MAX_IDLE=5: ignored, $NOT_MEASURED"
	run -0 --separate-stderr "$OW" --max-idle 0 true
	assert_equal "$stderr" ""
}

# --- cost ------------------------------------------------------------------

@test "idle: without it, nobody wakes up while an owner lives, keepers or not (75)" {
	nopoll 'it looks every interval'
	serve --keep-connected --keep-if "touch $PWD/asked" -- server -l log -p
	its_supervisor
	asleep "$SUP" "$W"
	before=$(switches "$SUP" "$W")
	let_pass 1000
	assert_equal "$(switches "$SUP" "$W")" "$before" switches
	[ ! -e asked ]
	stop_now
}

@test "idle: with it, the supervisor wakes up once an interval, the front never (75)" {
	nopoll 'it looks for the owner too'
	owned -i 0.5 --max-idle 60 -- server -l log -p
	its_supervisor
	asleep "$W"
	begin=$(now_ms) before=$(switches "$SUP") front=$(switches "$W")
	let_pass 1200
	looks=$(($(switches "$SUP") - before)) passed=$(($(now_ms) - begin))
	[ "$looks" -ge 1 ] || fail 'it does not look'
	[ "$looks" -le $((passed / 500 + 2)) ] ||
		fail "$looks wake-ups in $passed ms"
	assert_equal "$(switches "$W")" "$front" switches
	stop_now
}

@test "idle: a server that ends at once is no idle one" {
	for code in 1 2 3 4 5 6; do
		run "$OW" -p $$ --max-idle 1 -- sh -c "exit $code"
		[ "$status" -eq "$code" ] || fail "status $status: $output"
	done
}

@test "idle: a server that is stopped is not idle before it goes on" {
	serve --max-idle 0.6 -- server -l log
	kill -STOP "$S"
	lives_on 1500 "$S"
	begin=$(now_ms)
	kill -CONT "$S"
	finish "$W"
	expect_status 124
	taken 600 "$begin"
}
