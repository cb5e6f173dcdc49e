#!/usr/bin/env bats
# Stop and continue, seen by a parent that waits for both (the pty fixture).

load helper
bats_require_minimum_version 1.5.0

# on_pty SCRIPT-ON-STDIN CMD...: a command with a group of its own below a
# leader that waits for it, as a shell does. $LEAD empty: it leads the session
# itself, so its group is an orphaned one.
on_pty() {
	cat >script
	# shellcheck disable=SC2086
	run plain pty ${LEAD--L} script "$@"
	expect_status 0
}

# For the scripts: pid of the server; state of a process.
SERVER='$(sed -n "s/^ready //p" log)'
state() {
	# shellcheck disable=SC2016
	printf '[ "$(ps -o stat= -p %s | cut -c1)" = %s ]' "$1" "$2"
}

stopped() {
	[[ $(ps -o stat= -p "$1") == T* ]]
}

@test "stops: the front stops by the server's own signal, CONT undoes both (48)" {
	local name
	for name in TSTP TTIN TTOU STOP; do
		on_pty "$OW" -- server -l log -z -e 5 <<-END
			until grep -q ready log
			run kill -$name $SERVER
			wait stopped $name
			run $(state "$SERVER" T)
			kill CONT cmd
			until grep -q CONT log
			until ! $(state '$PTY_PID' T)
			kill TERM cmd
			wait exit 5
		END
		rm log
	done
}

@test "stops: a second stop is seen again (48)" {
	on_pty "$OW" -- server -l log -z -e 5 <<-END
		until grep -q ready log
		run kill -TSTP $SERVER
		wait stopped TSTP
		kill CONT -cmd
		until grep -q CONT log
		run kill -STOP $SERVER
		wait stopped STOP
		kill CONT cmd
		until ! $(state "$SERVER" T)
		until ! $(state '$PTY_PID' T)
		run kill -TTIN $SERVER
		wait stopped TTIN
		kill CONT cmd
		kill TERM cmd
		wait exit 5
	END
}

# Stopped before its exec, the server would hold up who waits for it.
@test "stops: ^Z while the command is being executed stops all right after (48)" {
	local skip=1		# its own
	[ "${OWNERWRAP_TEST_MODE-}" != poll ] || skip=2
	on_pty late -s $skip execve go "$OW" -- server -l log -z -e 5 <<-END
		until ls go.*
		kill TSTP -cmd
		run sleep 0.1
		run touch go
		wait stopped TSTP
		kill CONT -cmd
		until grep -q ready log
		kill TERM cmd
		wait exit 5
	END
}

@test "stops: TSTP to the front is for the server, which may refuse it (48)" {
	on_pty "$OW" -- server -l log -e 5 <<-END
		until grep -q ready log
		kill TSTP cmd
		until grep -q TSTP log
		run sleep 0.1
		run ! $(state '$PTY_PID' T)
		kill TERM cmd
		wait exit 5
	END
	assert_lines log '^TSTP ' 1
}

@test "stops: TSTP to the front stops a server as usual, then the front (48)" {
	on_pty "$OW" -- server -l log -z -e 5 <<-END
		until grep -q ready log
		kill TSTP cmd
		wait stopped TSTP
		run $(state "$SERVER" T)
		kill CONT cmd
		kill TERM cmd
		wait exit 5
	END
}

@test "stops: a traced server's stop is the front's, too, and CONT undoes both (48)" {
	local name
	sleep 300 3>&- &
	track $!
	tracer $! || skip_or_fail "needs permission to trace"
	for name in TSTP STOP; do
		on_pty "$OW" -- server -l log -z -e 5 <<-END
			until grep -q ready log
			run tracer $SERVER
			run if [ $name = TSTP ]; then kill -TSTP \$PTY_PID; else kill -STOP $SERVER; fi
			wait stopped $name
			until $(state "$SERVER" t)
			kill CONT cmd
			until grep -q CONT log
			until ! $(state '$PTY_PID' T)
			run ! $(state "$SERVER" t)
			kill TERM cmd
			wait exit 5
		END
		rm log
	done
}

@test "stops: a server in a group of its own is deaf to its own TSTP, as documented (48)" {
	on_pty "$OW" -- server -l log -z -G -e 5 <<-END
		until grep -q ready log
		run kill -TSTP $SERVER
		run sleep 0.2
		run ! $(state "$SERVER" T)
		run kill -STOP $SERVER
		wait stopped STOP
		kill CONT cmd
		until grep -q CONT log
		kill TERM cmd
		wait exit 5
	END
}

@test "stops: TSTP in an orphaned group stops nobody, as without ownerwrap (48)" {
	LEAD='' on_pty "$OW" -- server -l log -z -e 5 <<-END
		until grep -q ready log
		kill TSTP cmd
		run kill -TSTP $SERVER
		run sleep 0.2
		run ! $(state '$PTY_PID' T)
		run ! $(state "$SERVER" T)
		kill TERM cmd
		wait exit 5
	END
}

@test "stops: CONT straight to the server continues the front (48)" {
	wrap -- -e 5
	kill -STOP "$SERVER"
	until_true "stopped $FRONT"
	kill -CONT "$SERVER"
	until_true "! stopped $FRONT"
	await_line log '^CONT '
	assert_lines log '^CONT ' 1
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 5
}

@test "stops: STOP and CONT in quick succession leave both running (48)" {
	wrap -- -e 5
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -STOP "$SERVER"
		kill -CONT "$SERVER"
	done
	kill -STOP "$SERVER"
	let_pass 10
	kill -CONT "$SERVER"
	let_pass 100
	until_true "! stopped $FRONT"
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 5
}

@test "stops: TERM and CONT to the front of a stopped server end it (48)" {
	wrap -- -e 5
	kill -STOP "$SERVER"
	until_true "stopped $FRONT"
	kill -TERM "$FRONT"
	let_pass 100
	assert_lines log '^TERM ' 0
	kill -CONT "$FRONT"
	finish "$FRONT"
	expect_status 5
	assert_lines log '^TERM ' 1
}

# --- the watch goes on --------------------------------------------------------------

@test "stops: the owner's death ends a stopped server, TERM then CONT, and the front (42, 48)" {
	new_owner
	wrap -p "$OWNER" -g 0 -- -t 100
	kill -STOP "$SERVER"
	until_true "stopped $FRONT"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	assert_equal "$(cat log.done)" complete
	assert_lines log '^TERM ' 1
	assert_lines log '^CONT ' 1
}

@test "stops: CONT at the end reaches a front that is only about to stop (48)" {
	new_owner
	start late kill go "$OW" -p "$OWNER" -g 0 -- server -l log
	FRONT=$PID
	SERVER=$(server_pid log)
	kill -STOP "$SERVER"
	until_true "[ -e go.$FRONT ]"
	kill -KILL "$OWNER"
	await_gone "$SERVER"
	: >go
	finish "$FRONT"
	expect_status 124
}

# The stop flushes a CONT that waits in the front (signal(7)).
@test "stops: CONT to a front that is only about to stop is not lost" {
	start late kill go "$OW" -- server -l log
	FRONT=$PID
	SERVER=$(server_pid log)
	kill -STOP "$SERVER"
	until_true "[ -e go.$FRONT ]"
	kill -CONT "$FRONT"
	await_line log '^CONT '
	: >go
	until_true "! stopped $FRONT && ! stopped $SERVER"
	kill -USR1 "$FRONT"
	await_line log '^USR1 '
	kill "$FRONT"
	finish "$FRONT"
	expect_status 0
}

@test "stops: a stopped front whose supervisor is killed goes on with CONT" {
	new_owner
	wrap -p "$OWNER" -g 0 -- -t 100
	sup=$(supervisor_of "$FRONT")
	kill -STOP "$SERVER"
	until_true "stopped $FRONT"
	kill -KILL "$sup"
	kill -KILL "$OWNER"
	await_gone "$sup"
	lives_on 200 "$FRONT" "$SERVER"
	stopped "$FRONT"
	stopped "$SERVER"
	kill -CONT "$FRONT"
	await_gone "$FRONT" "$SERVER"
}

@test "stops: the owner's death kills a stopped and deaf server (42)" {
	new_owner
	wrap -p "$OWNER" -g 0.1 -k 0.3 -- -d
	kill -STOP "$SERVER"
	until_true "stopped $FRONT"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	assert_lines log '^TERM ' 1
}

@test "stops: a stopped descendant gets TERM, then CONT, and does its work (42)" {
	local child
	new_owner
	wrap -p "$OWNER" -g 0 -k 5 -- -t 50 -g stop,slow=50,log=child
	child=$(sed -n 's/^child \([0-9]*\) .*/\1/p' child)
	track "$child"
	until_true "stopped $child"
	kill -STOP "$SERVER"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	assert_equal "$(cat log.done)" complete
	assert_equal "$(cat child.done)" complete
}

@test "stops: no CONT to a descendant that TERM was refused for (42)" {
	local child
	privileged "a child with other ids than the server"
	need setpriv
	cp "$FIXTURES/server" .
	chmod 4755 server
	chmod 777 .
	reachable setpriv --reuid 65534 --clear-groups
	new_owner
	start setpriv --reuid 65534 --clear-groups "$OW" -p "$OWNER" -g 0 \
		-k 0.3 -- ./server -l log -g stop,uid=0,log=child
	child=$(child_pid child stop,uid=0,log=child)
	track "$child"
	server_pid log
	kill -KILL "$OWNER"
	await_line "$ERR" "not ours to end: $child|$child .*can't be ended"
	stopped "$child"
	assert_lines child '(CONT|TERM) ' 0
	kill -KILL "$child"
	finish "$PID"
	expect_status 124
}

@test "stops: a stopped front does not blind the watch (48)" {
	new_owner
	wrap -p "$OWNER" -g 0 -k 0.3 -- -d
	kill -STOP "$FRONT"
	until_true "stopped $FRONT"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	refute_alive "$SERVER" "$SUPERVISOR"
}

@test "stops: a server that ends under a stopped front ends the front (48)" {
	wrap -- -e 5
	kill -STOP "$FRONT"
	until_true "stopped $FRONT"
	kill -TERM "$SERVER"
	finish "$FRONT"
	expect_status 5
}

@test "stops: a stopped server that is killed ends the front (48)" {
	wrap -- -d
	kill -STOP "$SERVER"
	until_true "stopped $FRONT"
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 137
}

# One that handles TSTP may have the CONT before it stops by itself, bare, too.
@test "stops: CONT right behind TSTP leaves none stopped, however late that acts" {
	start "$OW" -- sh -c 'trap "echo USR1 >>log" USR1
		echo ready $$ >log; while :; do sleep 0.02; done'
	SERVER=$(server_pid log)
	for i in $(seq 40); do
		kill -TSTP "$PID"
		kill -CONT "$PID"
		kill -USR1 "$PID"
		until_true "[ \$(count_lines log '^USR1') = $i ]"
	done
	kill "$PID"
	finish "$PID"
}

# A stop of the group that meets the supervisor in its setsid() stops it outside
# of the group, where no CONT of the group comes.
@test "stops: CONT to the front continues a stopped supervisor, too" {
	owned -g 0 -- server -l log
	its_supervisor
	kill -STOP "$SUP"
	await_stopped "$SUP"
	kill -CONT "$W"
	until_true "! stopped $SUP"
	orphan
	expect_stopped
}
