#!/usr/bin/env bats
# The witness rule: a signal that reached the server with its group is not
# relayed, one that was meant for the front is; and one to the supervisor is as
# if it had come to the front.

# VIA is for wrap, in the helper.
# shellcheck disable=SC2034

load helper
bats_require_minimum_version 1.5.0

SENDER=		# -f: one for each pid

term_count() {
	count_lines log '^TERM from '
}

# family SPEC...: a deaf server with these children, as CHILD1, CHILD2 ...; a
# leader of its session if VIA says so. Once more by the same words: afresh.
family() {
	local spec n=0
	wrap -- -d "${@/#/-g}"
	WITNESS=$(witness_of "$SUPERVISOR")
	for spec; do
		n=$((n + 1))
		printf -v "CHILD$n" %s "$(child_pid log "$spec")"
	done
	FAMILY=("$@")
}

# tell COUNT GAP_US NAME...: TERM to each of these variables' processes by one
# sender; the server gets COUNT of them, and no ladder begins. Where the sender
# itself was held up, that says nothing: again, with others if one has begun.
tell() {
	local wanted=$1 pause=$2 before gap try name pids
	shift 2
	for try in 1 2 3 4 5 6 7 8 9 10; do
		pids=()
		for name; do
			pids+=("${!name}")
		done
		before=$(term_count)
		gap=$(sig send $SENDER -g "$pause" TERM "${pids[@]}") || return 1
		settle || return 1
		if [ "${gap#gap }" -gt 8000 ]; then
			[ -s "$ERR" ] || continue
				# shellcheck disable=SC2086
			kill -KILL "$SERVER" ${CHILD1-} ${CHILD2-}
			finish "$FRONT"
			rm log
			family "${FAMILY[@]}"
			continue
		fi
		assert_lines "$ERR" . 0
		assert_equal "$(($(term_count) - before))" "$wanted" \
			"TERM to $* with $pause us between, try $try"
		return
	done
	skip "busy: $gap us between two signals"
}

# The front alone is stopped, and that has happened when this returns.
stop_front() {
	kill -STOP "$FRONT"
	await_stopped "$FRONT"
}

# --- to the front -----------------------------------------------------------------

@test "witness: a signal to the front alone, in a session of its own, arrives once (34)" {
	local name
	VIA=(setsid)
	wrap -v -- -d
	for name in INT TERM HUP QUIT; do
		kill "-$name" "$FRONT"
		await_line log "^$name from "
	done
	settle
	for name in INT TERM HUP QUIT; do
		assert_lines log "^$name from " 1
		assert_lines "$ERR" "$name relayed; sender $$ " 1
	done
}

@test "witness: a host in our own group can end the server (80)" {
	cat >host <<-'END'
		"$1" -v -- server -l log -e 5 &
		until grep -q ready log 2>/dev/null; do sleep 0.02; done
		kill -TERM $!
		wait $!
		echo "status $?"
	END
	start setsid sh host "$OW"
	finish "$PID"
	assert_equal "$(cat "$OUT")" "status 5"
	assert_lines log '^TERM ' 1
	assert_lines "$ERR" "TERM relayed; sender $PID \(sh\)\$" 1
}

@test "witness: a make that is told to end passes it on to the server, once (80)" {
	need make
	printf 'all:\n\t%s -- server -l log -e 5\n' "$OW" >makefile
	start setsid make
	server_pid log
	kill -TERM "$PID"
	finish "$PID"
	[ "$status" -ne 0 ]
	assert_lines log '^TERM ' 1
}

# --- to the group -----------------------------------------------------------------

@test "witness: TERM to the group reaches the server once (35a)" {
	local n
	VIA=(setsid)
	wrap -v -- -d -g deaf
	for n in 1 2 3; do
		kill -TERM -- "-$FRONT"
		settle
		assert_lines log '^TERM ' "$n"
	done
	assert_lines log '^\[[0-9]+\] TERM ' 3
	assert_lines "$ERR" "TERM relayed" 0
	assert_alive "$FRONT" "$SUPERVISOR"
}

@test "witness: every signal to the group reaches the server once (34, 35, 36)" {
	local name
	VIA=(setsid)
	wrap -- -d
	set -- HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM \
		TERM STKFLT TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO \
		PWR SYS CHLD CONT RT40
	for name; do
		sig send "$name" "-$FRONT"
	done
	settle
	for name; do
		assert_lines log "^$name from " 1
	done
	assert_alive "$FRONT" "$SUPERVISOR"
}

@test "witness: TERM to the group and death of the owner are one TERM (35)" {
	new_owner
	VIA=(setsid)
	wrap -p "$OWNER" -g 0 -k inf -- -d
	kill -TERM -- "-$FRONT"
	round_trip			# the front has told of it
	kill -KILL "$OWNER"
	await_line "$ERR" "owner $OWNER \(sleep, up [0-9]+s\) is gone; stopping"
	await_line log '^CONT '		# the end of step 1
	settle
	assert_lines log '^TERM ' 1
}

@test "witness: TERM to the front, then death of the owner, are one TERM (35b)" {
	new_owner
	wrap -p "$OWNER" -g 0 -k inf -- -d
	kill -TERM "$FRONT"
	await_line log '^TERM '
	kill -KILL "$OWNER"
	await_line log '^CONT '
	settle
	assert_lines log '^TERM ' 1
}

@test "witness: TERM to the front, then death of the owner: the next is KILL (35b)" {
	local begin
	new_owner
	wrap -p "$OWNER" -g 0 -k 0.6 -- -d
	begin=$(now_ms)
	kill -TERM "$FRONT"
	await_line log '^TERM '
	kill -KILL "$OWNER"
	finish "$FRONT"
	[ $(($(now_ms) - begin)) -ge 600 ]
	expect_status 137	# TERM, with --kill-after, was the first reason
	assert_lines log '^TERM ' 1
}

@test "witness: TERM to the front and death of the owner at once are one TERM (35c)" {
	local order
	for order in front owner; do
		new_owner
		wrap -p "$OWNER" -g 0 -k inf -- -d
		if [ "$order" = front ]; then
			kill -TERM "$FRONT"
			kill -KILL "$OWNER"
		else
			kill -KILL "$OWNER"
			kill -TERM "$FRONT"
		fi
		await_line log '^CONT '
		settle
		assert_lines log '^TERM ' 1
		kill -KILL "$SERVER"
		finish "$FRONT"
		expect_status 124
		rm log
	done
}

@test "witness: killpg in the first milliseconds: the server never survives (81)" {
	run plain early 60 4000 TERM "$OW" -- sleep 300
	expect_status 0
	expect_output "ended 60 by signal 60 by exit 0"
}

@test "witness: a group signal right after the server is ready arrives once (81)" {
	local n
	VIA=(setsid)
	for n in 1 2 3 4 5 6 7 8 9 10; do
		rm -f log
		start setsid "$OW" -- server -l log -d
		FRONT=$PID
		until [ -s log ]; do :; done
		kill -TERM -- "-$FRONT"
		SERVER=$(server_pid log)
		track "$SERVER"
		settle
		assert_lines log '^TERM ' 1
		kill -KILL "$SERVER"
		finish "$FRONT"
	done
}

@test "witness: TERM to the front in the first milliseconds is not lost (81)" {
	local n
	for n in 1 2 3 4 5 6 7 8; do
		start "$OW" -- sleep 300
		until_true "pgrep -P '$PID' >/dev/null"
		kill -TERM "$PID"
		finish "$PID"
		expect_status 143
	done
}

# --- to one after the other -----------------------------------------------------

@test "witness: TERM to each process of the tree, front first, is one (35d)" {
	VIA=(setsid)
	family deaf
	tell 1 0 FRONT SUPERVISOR WITNESS SERVER CHILD1
	tell 1 1000 FRONT SUPERVISOR WITNESS SERVER CHILD1
}

@test "witness: TERM to front, supervisor, witness and server, in every order, is one (93)" {
	local a b c us
	family
	for us in 0 1000; do
		for a in FRONT SUPERVISOR WITNESS; do
			for b in FRONT SUPERVISOR WITNESS; do
				[ "$b" != "$a" ] || continue
				for c in FRONT SUPERVISOR WITNESS; do
					[ "$c" != "$a" ] && [ "$c" != "$b" ] ||
						continue
					tell 1 $us "$a" "$b" "$c" SERVER
				done
			done
		done
		tell 1 $us SERVER FRONT WITNESS SUPERVISOR
		tell 1 $us SERVER SUPERVISOR WITNESS FRONT
		tell 1 $us WITNESS SERVER FRONT SUPERVISOR
	done
	assert_alive "$FRONT" "$SUPERVISOR" "$WITNESS"
}

@test "witness: a walk with a sender for each pid, as of xargs, is one (93)" {
	family
	SENDER=-f
	tell 1 0 FRONT SUPERVISOR WITNESS SERVER
}

@test "witness: a slow walk that begins with the front is no wish of its own (93)" {
	local gap try
	for try in 1 2 3 4 5; do
		wrap -- -d
		gap=$(sig send -g 20000 TERM "$FRONT" "$SUPERVISOR")
		settle
		# Else sender, front or supervisor was held up for too long.
		if [ "${gap#gap }" -le 35000 ] && [ "$(term_count)" = 1 ]; then
			assert_lines "$ERR" . 0
			return
		fi
		kill -KILL "$SERVER"
		finish "$FRONT"
		rm log
	done
	skip "busy: $gap us between two signals"
}

@test "witness: a walk of the tree from the leaves is one TERM (93)" {
	family deaf deaf,setpgid
	tell 1 0 CHILD1 CHILD2 SERVER WITNESS SUPERVISOR FRONT
	tell 1 1000 CHILD1 CHILD2 SERVER WITNESS SUPERVISOR FRONT
	tell 1 1000 CHILD1 CHILD2 FRONT SUPERVISOR WITNESS SERVER
}

@test "witness: TERM to front and server only is two, as documented (93)" {
	family
	tell 2 0 FRONT SERVER
	tell 2 1000 SERVER FRONT
}

@test "witness: TERM to front and supervisor only is one, and so is the next one (93)" {
	family
	tell 1 0 FRONT SUPERVISOR
	tell 1 0 FRONT
	tell 1 1000 SUPERVISOR FRONT
	tell 1 0 FRONT
}

@test "witness: a copy that no relay used swallows nothing later (93)" {
	wrap -- -d
	sig send TERM "$(witness_of "$SUPERVISOR")"
	let_pass 300
	kill -TERM "$FRONT"
	settle
	assert_lines log '^TERM ' 1
}

@test "witness: HUP to the front, then to the group, are two (93)" {
	VIA=(setsid)
	wrap -- -d
	sig send HUP "$FRONT"
	let_pass 40
	sig send HUP "-$FRONT"
	settle
	assert_lines log '^HUP ' 2
}

@test "witness: to the front, then to its group, is one, as of timeout (101)" {
	local n
	for n in 1 2 3; do
		rm -f log
		plain timeout -s INT 2 "$OW" -- server -l log -d -x 2500 || true
		assert_lines log '^INT ' 1
	done
}

@test "witness: a killed one is as if there were none: nothing is lost (93)" {
	VIA=(setsid)
	wrap -- -d
	kill -KILL "$(witness_of "$SUPERVISOR")"
	until_true "! pgrep -P $SUPERVISOR -x ow-witness >/dev/null"
	kill -USR1 "$FRONT"
	kill -TERM -- "-$FRONT"
	settle
	assert_lines log '^USR1 ' 1
	[ "$(term_count)" -ge 1 ]
	[ "$(term_count)" -le 2 ]
	assert_alive "$FRONT" "$SUPERVISOR"
}

@test "witness: a stopped one holds nothing up, and doubles nothing (93)" {
	local witness
	VIA=(setsid)
	wrap -- -d
	witness=$(witness_of "$SUPERVISOR")
	kill -STOP "$witness"
	await_stopped "$witness"
	kill -TERM -- "-$FRONT"
	settle
	assert_lines log '^TERM ' 1
	kill -TERM "$FRONT"
	settle
	assert_lines log '^TERM ' 2
}

@test "witness: it has a name, works in /, holds nothing of the host's" {
	local witness fd
	exec 9</dev/zero
	wrap -- -d
	exec 9<&-
	witness=$(witness_of "$SUPERVISOR")
	until_true "[ \"\$(ps -o args= -p $witness)\" = 'ow-witness server=$SERVER' ]"
	assert_equal "$(readlink "/proc/$witness/cwd")" /
	for fd in /proc/"$witness"/fd/*; do
		case $(readlink "$fd") in
		/dev/null | socket:* | pipe:* | anon_inode:*signalfd*) ;;
		*) fail "$(ls -l "$fd")" ;;
		esac
	done
	assert_equal "$(ps -o pgid=,sid= -p "$witness")" \
		"$(ps -o pgid=,sid= -p "$FRONT")"
	assert_equal "$(ps -o sid= -p "$SUPERVISOR" | xargs)" "$SUPERVISOR"
	kill -KILL "$SUPERVISOR"
	await_gone "$witness"
}

@test "witness: one copy proves one signal (93)" {
	VIA=(setsid)
	wrap -- -d
	# Real-time ones, of which the front gets two however close they are.
	sig send RT40 "-$FRONT" "$FRONT"
	settle
	assert_lines log '^RT40 ' 2
}

@test "witness: a copy from another sender proves nothing (93)" {
	wrap -- -d
	sig send USR1 "$SUPERVISOR"
	sig send USR1 "$FRONT"
	settle
	assert_lines log '^USR1 ' 1
}

@test "witness: a server that left the group gets what went to the group (35)" {
	local way
	for way in -G -s; do
		VIA=(setsid)
		wrap -- -d "$way"
		kill -TERM -- "-$FRONT"
		settle
		kill -USR1 -- "-$FRONT"
		settle
		assert_lines log '^TERM ' 1
		assert_lines log '^USR1 ' 1
		kill -KILL "$SERVER"
		finish "$FRONT"
		rm log
	done
}

# --- while the front is stopped ----------------------------------------------------

@test "witness: what a stopped front gets is relayed once it runs again (35)" {
	wrap -- -d
	stop_front
	kill -TERM "$FRONT"
	kill -USR1 "$FRONT"
	let_pass 200
	assert_lines log '^(TERM|USR1) ' 0
	kill -CONT "$FRONT"
	settle
	assert_lines log '^TERM ' 1
	assert_lines log '^USR1 ' 1
}

@test "witness: copies don't age while the front is stopped (35)" {
	VIA=(setsid)
	wrap -v -- -d
	stop_front
	kill -TERM -- "-$FRONT"
	kill -USR1 -- "-$FRONT"
	await_line log '^USR1 '
	let_pass 300
	kill -CONT "$FRONT"
	settle
	assert_lines log '^TERM ' 1
	assert_lines log '^USR1 ' 1
	assert_lines "$ERR" '(TERM|USR1) relayed|stopping' 0
	kill -TERM "$FRONT"		# the copies are used up
	settle
	assert_lines log '^TERM ' 2
}

@test "witness: a whole group that was stopped gets its TERM once, when continued (35)" {
	VIA=(setsid)
	wrap -- -d
	kill -STOP -- "-$FRONT"
	kill -TERM -- "-$FRONT"
	let_pass 200
	kill -CONT -- "-$FRONT"
	settle
	assert_lines log '^TERM ' 1
	assert_alive "$FRONT" "$SUPERVISOR"
}

# --- to the supervisor alone ----------------------------------------------------------

@test "supervisor: TERM, INT, HUP or QUIT to it alone is as if it had come to the front (93)" {
	local name begin
	for name in TERM INT HUP QUIT; do
		wrap -- -e 6
		begin=$(now_ms)
		kill "-$name" "$SUPERVISOR"
		finish "$FRONT"
		[ $(($(now_ms) - begin)) -ge 50 ]
		expect_status 6
		assert_lines log "^$name " 1
		assert_lines log '^(TERM|INT|HUP|QUIT) ' 1
		assert_lines "$ERR" . 0
		refute_alive "$SUPERVISOR" "$SERVER"
		rm log
	done
}

@test "supervisor: the stop signal to it alone, with --kill-after, runs the whole ladder (93)" {
	local begin
	wrap -k 0.3 -s INT -- -d -g deaf
	begin=$(now_ms)
	kill -INT "$SUPERVISOR"
	finish "$FRONT"
	[ $(($(now_ms) - begin)) -ge 650 ]
	expect_status 137
	assert_lines log '^INT ' 1
	refute_alive "$(child_pid log deaf)"
}

@test "supervisor: other signals to it alone ask for nothing (93)" {
	wrap -- -d
	sig send USR1 "$SUPERVISOR"
	sig send PIPE "$SUPERVISOR"
	sig send ALRM "$SUPERVISOR"
	sig send RT40 "$SUPERVISOR"
	sig send TSTP "$SUPERVISOR"
	let_pass 200
	settle
	assert_equal "$(grep -vE '^(ready|RT60) ' log)" ""
	assert_alive "$SUPERVISOR"
}

@test "supervisor: a stopped front answers when it is continued (93)" {
	wrap -- -e 6
	stop_front
	kill -TERM "$SUPERVISOR"
	let_pass 400
	assert_lines log '^TERM ' 0
	assert_lines "$ERR" stopping 0
	kill -CONT "$FRONT"
	finish "$FRONT"
	expect_status 6
	assert_lines log '^TERM ' 1
}

@test "supervisor: a signal after the server's end stops what it left (36)" {
	local name begin
	for name in TERM INT HUP QUIT; do
		wrap -k 0.3 --leftovers wait -- -x 500 -e 7 -g deaf
		await_line "$ERR" 'server ended and left 1 process: waited for$'
		begin=$(now_ms)
		kill "-$name" "$FRONT"
		finish "$FRONT"
		[ $(($(now_ms) - begin)) -ge 300 ]
		expect_status 7
		assert_lines log '^\[[0-9]+\] TERM ' 1
		refute_alive "$(child_pid log deaf)"
		rm log
	done
}
