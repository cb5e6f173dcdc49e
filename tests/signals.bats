#!/usr/bin/env bats
# Relay, masks, the ladder that a signal asks for, and messages that nobody
# reads. Which signals went to the group is the matter of witness.bats.

# VIA is for wrap, in the helper.
# shellcheck disable=SC2034

load helper
bats_require_minimum_version 1.5.0

# All that can be caught, but for CHLD and CONT.
ALL="HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT
	TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"

elapsed() {
	echo $(($(now_ms) - begin))
}

# --- relay -------------------------------------------------------------------

@test "signals: every catchable one sent to the front reaches the server once (36)" {
	local name
	wrap -- -d
	for name in $ALL; do
		sig send "$name" "$FRONT"
	done
	until_true '[ "$(count_lines log "^[A-Z0-9]+ from ")" -ge 27 ]'
	settle
	for name in $ALL; do
		assert_lines log "^$name from " 1
	done
	assert_alive "$FRONT" "$SUPERVISOR" "$SERVER"
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 137
	assert_equal "$(cat "$OUT" "$ERR")" ""
}

@test "signals: the same one again is relayed again (36)" {
	local n
	wrap -- -d
	for n in 1 2 3; do
		kill -TERM "$FRONT"
		until_true "[ \"\$(count_lines log '^TERM ')\" -ge $n ]"
	done
	settle
	assert_lines log '^TERM from ' 3
}

@test "signals: real-time ones arrive each, in order, with their value (36)" {
	local value
	wrap --
	for value in 7 -1 8 123456789 9; do
		sig send -q "$value" 36 "$FRONT"
	done
	sig send RT50 "$FRONT"
	await_line log '^RT50 from '
	settle
	assert_equal "$(sed -n 's/^RT36 .* value //p' log | xargs)" \
		"7 -1 8 123456789 9"
	assert_lines log '^RT36 from .* code -1 ' 5
	assert_lines log '^RT50 from ' 1
}

# 32 and 33 in glibc, 34 too in musl: signals like any to others.
@test "signals: what the C library keeps for itself is relayed as well (36)" {
	local n
	for n in 32 33; do	# of which the server dies
		wrap --
		sig send "$n" "$FRONT"
		finish "$FRONT"
		expect_status $((128 + n))
		rm log
	done
	wrap --
	sig send 34 "$FRONT"
	await_line log '^RT34 from '
}

@test "signals: a burst of 1000 real-time ones arrives completely (36)" {
	wrap --
	# shellcheck disable=SC2046
	sig send -q 7 40 $(yes "$FRONT" | head -n 1000)
	settle
	assert_equal "$(count_lines log '^RT40 from .* code -1 value 7$')" 1000
}

@test "signals: none of 2500 is lost that came while the front did not run (36)" {
	wrap --
	kill -STOP "$FRONT"
	# shellcheck disable=SC2046
	sig send -q 7 40 $(yes "$FRONT" | head -n 2500)
	kill -CONT "$FRONT"
	settle
	assert_equal "$(count_lines log '^RT40 from .* code -1 value 7$')" 2500
}

@test "signals: PIPE sent to the front is not ownerwrap's own: it is relayed (36)" {
	start "$OW" -- server -l log -n
	server_pid log
	kill -PIPE "$PID"
	finish "$PID"
	expect_status 141
}

@test "signals: CONT is passed on only where the server is stopped (36)" {
	wrap --
	kill -CONT "$FRONT"
	settle
	assert_lines log '^CONT ' 0
	kill -STOP "$SERVER"
	await_stopped "$FRONT"
	kill -CONT "$FRONT"
	await_line log '^CONT '
	settle
	assert_lines log '^CONT ' 1
}

@test "signals: a forged CHLD is harmless (36)" {
	wrap -- -e 6
	sig send CHLD "$FRONT" "$SUPERVISOR" "$FRONT" "$SUPERVISOR"
	sig send -q "$SERVER" CHLD "$FRONT" "$SUPERVISOR"
	settle
	assert_lines log '^CHLD ' 0
	assert_alive "$FRONT" "$SUPERVISOR" "$SERVER"
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 6
	assert_lines log '^TERM ' 1
}

@test "signals: under -v a relay and its sender are named (36)" {
	wrap -v -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	await_line "$ERR" "^ownerwrap\[server\]: TERM relayed; sender $$ \(.+\)\$"
	kill -USR1 "$FRONT"
	await_line "$ERR" "^ownerwrap\[server\]: USR1 relayed; sender $$ \(.+\)\$"
}

# --- masks and dispositions ----------------------------------------------------

@test "signals: mask and dispositions of the server are the inherited ones (38)" {
	local how direct
	for how in "block TERM,CHLD,USR1,CONT ignore INT,PIPE,HUP" \
		"block all ignore all" "block 40 ignore 41" \
		"ignore CHLD,TERM,TSTP" "unblock all default all"; do
		# shellcheck disable=SC2086
		direct=$(plain sig $how -- sig show)
		# shellcheck disable=SC2086
		run plain sig $how -- "$OW" -- sig show
		expect_status 0
		expect_output "$direct"
	done
}

@test "signals: with all of them blocked and ignored ownerwrap relays and ends (38)" {
	start sig block all ignore all -- "$OW" -- \
		sig unblock all -- server -l log -e 9
	server_pid log
	kill -USR1 "$PID"
	await_line log '^USR1 from '
	kill -TERM "$PID"
	finish "$PID"
	expect_status 9
	assert_lines log '^USR1 ' 1
	assert_lines log '^TERM ' 1
}

@test "signals: with TERM and CHLD blocked the owner's death ends a deaf server (38)" {
	new_owner
	VIA=(sig block "TERM,CHLD" --)
	wrap -p "$OWNER" -g 0 -k 0.3 -- -n
	begin=$(now_ms)
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ "$(elapsed)" -ge 300 ]
	still_there "$ERR" "$SERVER" TERM 300
}

@test "signals: with TERM and CHLD blocked the server's status is kept (38)" {
	run plain sig block TERM,CHLD -- "$OW" -- sh -c 'sleep 0.1; exit 7'
	expect_status 7
}

@test "signals: with CHLD ignored the server's status is kept (40)" {
	run plain sig ignore CHLD -- "$OW" -- server -l log -x 150 -e 7
	expect_status 7
	run plain sig ignore CHLD -- "$OW" -- sig show
	expect_match 'SigIgn: 0000000000010000'
	run owner -S "$OW" -- server -l log -x 0 -k SEGV
	expect_status 139
}

@test "signals: with CHLD ignored an orphan outlives the server, without a spin (40)" {
	begin=$(now_ms)
	VIA=(sig ignore CHLD --)
	wrap --leftovers wait -- -x 500 -e 7 -g normal,exit=4000
	await_line "$ERR" 'server ended and left 1 process: waited for'
	lives_on 400 "$FRONT" "$SUPERVISOR"
	[ "$(cpu_ticks "$FRONT" "$SUPERVISOR")" -le 10 ]
	finish "$FRONT"
	expect_status 7
	[ "$(elapsed)" -ge 4000 ]
}

@test "signals: with CHLD ignored a deaf orphan is still killed (40)" {
	VIA=(sig ignore CHLD --)
	wrap -k 0.3 -- -x 500 -e 7 -g deaf
	finish "$FRONT"
	expect_status 7
	refute_alive "$(child_pid log deaf)"
}

@test "signals: under nohup a server with a HUP handler of its own gets HUP (83)" {
	VIA=(nohup)
	wrap -- -e 3
	kill -HUP "$FRONT"
	finish "$FRONT"
	expect_status 3
	assert_lines log '^HUP from ' 1
}

@test "signals: under nohup a server without a handler is not moved by HUP (83)" {
	VIA=(nohup)
	wrap -- -n
	kill -HUP "$FRONT"
	lives_on 200 "$FRONT" "$SUPERVISOR" "$SERVER"
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 143
}

# --- senders from the tree -----------------------------------------------------

# A server that logs TERM, INT and USR1 and does what go.1, go.2 ... say.
obedient() {
	cat >obedient <<-'END'
		for s in TERM INT USR1; do trap "echo $s >>log" $s; done
		echo "ready $$" >>log
		n=1
		while :; do
			until [ -e go.$n ]; do sleep 0.02; done
			. ./go.$n
			echo "did $n" >>log
			n=$((n + 1))
		done
	END
	start setsid "$OW" "$@" -- sh obedient
	FRONT=$PID
	await_line log '^ready '
	orders=0
}

order() {
	orders=$((orders + 1))
	echo "$1" >"go.tmp"
	mv go.tmp "go.$orders"
	await_line log "^did $orders\$"
	let_pass 150
}

@test "signals: what the server sends to its own group is not sent back (36)" {
	obedient -k 0.3
	order 'kill -s TERM 0'
	order 'kill -s USR1 0'
	order "sh -c 'trap : TERM; kill -s TERM -- -$FRONT; sleep 0.5'"
	assert_lines log '^TERM$' 2
	assert_lines log '^USR1$' 1
	lives_on 400 "$FRONT"
}

@test "signals: what the server or a descendant sends to the front is not sent back (36)" {
	obedient -v
	order "kill -s TERM $FRONT"
	order "kill -s USR1 $FRONT"
	order "sh -c 'kill -s INT $FRONT; sleep 0.5'"
	order "setsid sh -c 'kill -s TERM $FRONT; sleep 0.5'"
	order "(setsid sh -c 'kill -s USR1 $FRONT; sleep 0.5' &) &"
	order "sleep 0.6"
	assert_lines log '^(TERM|USR1|INT)$' 0
	assert_lines "$ERR" 'relayed' 0
	kill -s USR1 "$FRONT"
	await_line log '^USR1$'
	assert_alive "$FRONT"
}

@test "signals: what the server sends to the supervisor alone asks for nothing (36)" {
	obedient -k 0.3
	order "kill -s TERM $(supervisor_of "$FRONT")"
	order "sleep 0.5"
	assert_lines log '^TERM$' 0
	assert_alive "$FRONT"
}

# --- a stop asked for by the stop signal -----------------------------------------

@test "stop signal: with --kill-after a spinning server that ignores it is killed (43)" {
	wrap -v -k 0.3 -- -D -b
	begin=$(now_ms)
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 137
	[ "$(elapsed)" -ge 300 ]
	refute_alive "$SUPERVISOR" "$SERVER"
	assert_lines "$ERR" "^ownerwrap\[server\]: a signal asks for it; stopping server $SERVER \(TERM now, KILL 0\.3s later, 0\.6s if others must be told\)\$" 1
	still_there "$ERR" "$SERVER" TERM 300
}

@test "stop signal: when the owner is killed a spinning server that ignores it is killed (43)" {
	new_owner
	wrap -p "$OWNER" -g 0 -k 0.3 -- -D -b
	begin=$(now_ms)
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ "$(elapsed)" -ge 300 ]
	refute_alive "$SUPERVISOR" "$SERVER"
	still_there "$ERR" "$SERVER" TERM 300
}

@test "stop signal: the ladder it begins gives the server it once (43, 35)" {
	wrap -k 0.4 -- -d
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 137
	assert_lines log '^TERM ' 1
}

@test "stop signal: the ladder it begins takes deaf descendants too (43)" {
	wrap -k 0.3 -- -e 4 -g deaf -g ignore,setpgid
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 4
	refute_alive "$(child_pid log deaf)" \
		"$(child_pid log ignore,setpgid)"
}

@test "stop signal: the ladder it begins takes the variable's kill-after (43)" {
	export OWNERWRAP_KILL_AFTER=0.3
	wrap -- -d
	begin=$(now_ms)
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 137
	[ "$(elapsed)" -ge 300 ]
}

@test "stop signal: sent to the group it begins the ladder too (43)" {
	VIA=(setsid)
	wrap -k 0.3 -- -d
	kill -TERM -- "-$FRONT"
	finish "$FRONT"
	expect_status 137
	assert_lines log '^TERM ' 1
}

@test "stop signal: without --kill-after it is relayed and nothing more (43)" {
	wrap -v -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	settle
	assert_lines "$ERR" 'stopping' 0
	kill -TERM "$FRONT"		# in a ladder it would not be relayed
	settle
	assert_lines log '^TERM ' 2
	assert_alive "$SERVER"
}

@test "stop signal: with --kill-after inf it is relayed and nothing more (43)" {
	wrap -v -k inf -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	kill -TERM "$FRONT"
	settle
	assert_lines log '^TERM ' 2
	assert_lines "$ERR" 'stopping' 0
	kill -KILL "$SERVER"
	finish "$FRONT"
	export OWNERWRAP_KILL_AFTER=inf
	rm log
	wrap -v -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	kill -TERM "$FRONT"
	settle
	assert_lines log '^TERM ' 2
	assert_lines "$ERR" 'stopping' 0
}

@test "stop signal: another one, by --signal or variable, begins the ladder, TERM does not (43)" {
	local given
	for given in option variable; do
		if [ "$given" = option ]; then
			wrap -k 0.3 -s INT -- -d
		else
			export OWNERWRAP_SIGNAL=SIGINT
			wrap -k 0.3 -- -d
		fi
		kill -TERM "$FRONT"
		await_line log '^TERM '
		settle
		lives_on 400 "$SERVER"
		begin=$(now_ms)
		kill -INT "$FRONT"
		finish "$FRONT"
		expect_status 137
		[ "$(elapsed)" -ge 300 ]
		assert_lines log '^INT ' 1
		still_there "$ERR" "$SERVER" INT 300
		rm log
	done
}

@test "stop signal: with --signal KILL nothing that can be caught begins the ladder (43)" {
	wrap -k 0.3 -s KILL -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	lives_on 500 "$SERVER"
}

@test "ladder: the stop signal is not relayed to who had it, all others are (35)" {
	new_owner
	wrap -p "$OWNER" -g 0 -k 60 -- -d
	kill -KILL "$OWNER"
	await_line log '^TERM '
	kill -TERM "$FRONT"
	kill -INT "$FRONT"
	kill -USR1 "$FRONT"
	sig send -q 5 RT40 "$FRONT"
	settle
	kill -TERM "$FRONT"
	settle
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 124
	assert_lines log '^TERM ' 1
	assert_lines log '^INT ' 1
	assert_lines log '^USR1 ' 1
	assert_lines log '^RT40 .* value 5$' 1
}

@test "ladder: nor is it, where a signal began the ladder (35)" {
	wrap -k 60 -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	settle
	kill -TERM "$FRONT"
	kill -INT "$FRONT"
	kill -USR1 "$FRONT"
	settle
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 137
	assert_lines log '^TERM ' 1
	assert_lines log '^INT ' 1
	assert_lines log '^USR1 ' 1
}

# --- time to end -----------------------------------------------------------------

@test "kill-after: a server that needs its time gets it, and not more (44)" {
	new_owner
	wrap -p "$OWNER" -g 0 -k 10 -- -t 700
	begin=$(now_ms)
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ "$(elapsed)" -ge 700 ]
	[ "$(elapsed)" -lt 10000 ]
	assert_equal "$(cat log.done)" complete
	assert_lines "$ERR" 'killed' 0
}

@test "kill-after: a server that needs longer is killed, never earlier (44)" {
	new_owner
	wrap -p "$OWNER" -g 0.2 -k 0.4 -- -t 60000
	begin=$(now_ms)
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ "$(elapsed)" -ge 600 ]
	[ ! -e log.done ]
	assert_lines log '^TERM ' 1
}

# --- messages that nobody takes ----------------------------------------------------

@test "messages: a full stderr that nobody reads holds nothing up (45)" {
	new_owner
	start sock fullpipe "$OW" -v -p "$OWNER" -g 0 -k 0.3 -- server -l log -d
	track "$(server_pid log)"
	kill -USR1 "$(pid_in "$OUT" pid)"	# one more message
	await_line log '^USR1 '
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
	refute_alive "$(server_pid log)"
	assert_lines log '^TERM ' 1
}

@test "messages: a stderr whose reader is gone kills nobody, neither ours nor the server (45, 90)" {
	new_owner
	start sock deadpipe "$OW" -v -p "$OWNER" -g 0 -k 0.3 -- server -l log -d
	server=$(server_pid log)
	track "$server"
	kill -USR1 "$(pid_in "$OUT" pid)"
	await_line log '^USR1 '
	lives_on 100 "$server"
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
	refute_alive "$server"
	assert_lines log '^TERM ' 1
	assert_lines log '^PIPE ' 0
}

@test "messages: our own EPIPE does not kill a server with PIPE at its default (90)" {
	start sock deadpipe "$OW" -v -- server -l log -n -x 2000 -e 5
	server_pid log
	kill -USR2 "$(supervisor_of "$(pid_in "$OUT" pid)")"
	finish "$PID"
	expect_status 5
	run plain sock deadpipe "$OW" -v -- sig show
	expect_match 'SigIgn: 0000000000000000'
}

@test "messages: the EPIPE of a line that came before the start is not relayed (90)" {
	export OWNERWRAP_GRACE=soon
	start sock deadpipe "$OW" -v -- server -l log -n -x 400 -e 5
	finish "$PID"
	expect_status 5
	start sock deadpipe "$OW" -v -- server -l second -x 200 -e 5
	finish "$PID"
	expect_status 5
	assert_lines second "^PIPE " 0
}

@test "messages: the EPIPE of a front that stands in is not relayed (90)" {
	start sock deadpipe "$OW" -v -k 0.4 -- server -l log -d
	track "$(server_pid log)"
	kill -KILL "$(supervisor_of "$(sed -n "s/^pid //p" "$OUT")")"
	finish "$PID"
	expect_status 137
	refute_alive "$(server_pid log)"
	assert_lines log "^PIPE " 0
}

@test "messages: our own EPIPE is not seen with a refused start (90)" {
	run -127 plain sock deadpipe "$OW" -v -- ./not-there
}

@test "messages: the host's EOF on stderr comes when server and children let go (97)" {
	start sock pipes "$OW" -- server -l log -d -2
	server=$(server_pid log)
	track "$server"
	front=$(pid_in "$OUT" pid)
	track "$(supervisor_of "$front")"
	assert_lines "$OUT" '^stderr eof ' 0
	kill -KILL "$front"
	await_line "$OUT" '^stderr eof at '
	assert_alive "$server"		# deaf, so it is killed after 2 s
	finish "$PID"
	await_gone "$server"
	assert_lines log '^TERM ' 1
}

@test "messages: a child that holds stderr holds back the EOF, ownerwrap does not (97)" {
	start sock pipes "$OW" -- server -l log -g setsid,double
	server=$(server_pid log)
	child=$(child_pid log setsid,double)
	track "$server" "$child"
	front=$(pid_in "$OUT" pid)
	supervisor=$(supervisor_of "$front")
	kill -KILL "$front"
	await_gone "$server" "$supervisor"
	let_pass 100
	assert_lines "$OUT" '^stderr eof ' 0
	kill -KILL "$child"
	finish "$PID"
	assert_lines "$OUT" '^stderr eof ' 1
}
