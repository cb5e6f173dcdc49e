#!/usr/bin/env bats
# Only one, the oldest wins: flock(1) before ownerwrap, as the manual has it.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	need flock
	new_owner
}

# only [SERVER OPTION...]: one that runs, with ./log; sets FRONT, which is
# flock, and SERVER
only() {
	start flock -n lock "$OW" -p "$OWNER" -g 0 -i 0.1 -- server -l log "$@"
	FRONT=$PID
	SERVER=$(server_pid log) || return 1
	track "$SERVER"
}

# next STATUS: one more start, and whether its server has run
next() {
	rm -f started
	run flock -n lock "$OW" -p $$ -- touch started
	expect_status "$1"
	[ "$1" != 0 ] || rm started || return 1
	[ ! -e started ]
}

@test "flock: a second start is status 1, and the first notices nothing" {
	only
	next 1
	next 1
	lives_on 200 "$SERVER" "$FRONT"
	assert_lines log '^ready ' 1
	assert_lines log '^[A-Z]+ from ' 0
	kill -TERM "$SERVER"
	finish "$FRONT"
	expect_status 0
	next 0
}

@test "flock: once the owner has gone and the server has ended the lock is free" {
	only -g plain -d
	kill -KILL "$OWNER"
	await_line log '^TERM '
	next 1
	kill -KILL "$SERVER"
	finish "$FRONT"
	expect_status 124
	next 0
}

@test "flock: flock or front killed: the lock is the server's until that has ended" {
	only -d
	kill -KILL "$(pgrep -P "$FRONT")"	# the front
	next 1
	kill -KILL "$SERVER"
	finish "$FRONT"
	until_true 'flock -n lock true'
	only
	kill -KILL "$FRONT"		# flock
	finish "$FRONT"
	next 1
	kill -KILL "$OWNER"
	await_gone "$SERVER"
	until_true 'flock -n lock true'
}

@test "flock: a daemon that the server has left keeps the lock" {
	only -g setsid
	daemon=$(child_pid log setsid)
	track "$daemon"
	kill -TERM "$SERVER"
	finish "$FRONT"
	assert_alive "$daemon"
	next 1
	kill -KILL "$daemon"
	await_gone "$daemon"
	next 0
}

@test "flock: with -F the pid is ownerwrap's, the owner the parent" {
	flock -F lock true 2>/dev/null || skip_or_fail 'needs flock -F'
	start flock -n -F lock "$OW" -- server -l log
	FRONT=$PID
	SERVER=$(server_pid log)
	SUPERVISOR=$(supervisor_of "$FRONT")
	track "$SERVER" "$SUPERVISOR"
	next 1
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 0
	assert_lines log '^TERM ' 1
	next 0
}
