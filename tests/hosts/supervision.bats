#!/usr/bin/env bats
# Supervisors of services, and a container's first process.

load hosts
bats_require_minimum_version 1.5.0

# service OPTION... [-- SERVER OPTION...]: a service directory, ./some
service() {
	at_dashes "$@"
	mkdir -p some
	printf '%s\n' '#!/bin/sh' "exec 2>>$BATS_TEST_TMPDIR/said" \
		"exec ownerwrap -v ${BEFORE[*]} -- server -l $BATS_TEST_TMPDIR/log ${AFTER[*]}" \
		>some/run
	chmod +x some/run
}

runit() {
	need runsv sv
	service "$@"
	host runsv ./some
	SERVER=$(server_pid log)
}

s6() {
	need s6-supervise s6-svc
	service "$@"
	host s6-supervise ./some
	SERVER=$(server_pid log)
}

@test "runit: a service begins, ends and begins again, each time with one TERM" {
	runit -- -e 7 -t 100 -g plain
	assert_lines said "started; owner $HOST \\(runsv, " 1
	sv -w 20 down ./some
	refute_alive "$SERVER"
	terms 1
	rm log
	sv -w 20 up ./some
	SERVER=$(server_pid log)
	sv restart ./some
	await_gone "$SERVER"
	sv exit ./some
	await_nobody
}

@test "runit: signals of all kinds reach the server" {
	runit -k 0.5 -- -d
	for command in hup 1 2 alarm interrupt quit; do
		sv "$command" ./some
	done
	for signal in HUP USR1 USR2 ALRM INT QUIT; do
		await_line log "^$signal from "
	done
	# With --kill-after a TERM ends a deaf one as well.
	sv exit ./some
	await_nobody
}

@test "runit: force-stop of a deaf server leaves nothing" {
	runit -- -d -g deaf
	sv -w 1 force-stop ./some || true
	await_gone "$SERVER"
	sv force-shutdown ./some || true
	await_nobody
}

@test "runit: kill -9 of runsv leaves nothing" {
	runit -g 0.2
	kill -KILL "$HOST"
	await_nobody
	terms 1
}

@test "s6: a service begins, ends and begins again, each time with one TERM" {
	s6 -- -e 7 -t 100 -g plain
	assert_lines said "started; owner $HOST \\(s6-supervise, " 1
	s6-svc -wD -d ./some
	refute_alive "$SERVER"
	terms 1
	rm log
	s6-svc -u ./some
	SERVER=$(server_pid log)
	s6-svc -wR -r ./some
	refute_alive "$SERVER"
	s6-svc -dx ./some
	await_nobody
}

@test "s6: kill -9 of a service's process leaves nothing of it, and another begins" {
	s6 -k 0.5 -- -d -g deaf
	old=$SERVER
	s6-svc -k ./some
	await_gone "$old"
	until_true '[ "$(count_lines log "^ready ")" = 2 ]'
	s6-svc -dx ./some
	s6-svc -k ./some
	await_nobody
}

@test "s6: kill -9 of s6-supervise leaves nothing" {
	s6 -g 0.2
	kill -KILL "$HOST"
	await_nobody
	terms 1
}

@test "tini: as a container's first process it gives TERM to the front, once" {
	need tini
	need_pidns
	start "${PIDNS[@]}" tini -- ownerwrap -- server -l log -e 7 -g plain
	server_pid log
	kill -TERM "$(pgrep -P "$PID" tini)"
	finish "$PID"
	expect_status 7
	terms 1
	await_nobody
}

@test "tini: to the whole group it is once as well" {
	need tini
	need_pidns
	start "${PIDNS[@]}" tini -g -- ownerwrap -- server -l log -e 7 -g plain
	server_pid log
	kill -TERM "$(pgrep -P "$PID" tini)"
	finish "$PID"
	expect_status 7
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
	await_nobody
}

@test "tini: its children are no business of ours, nor ours of it" {
	need tini
	need_pidns
	# What a daemon leaves to tini is reaped by tini.
	start "${PIDNS[@]}" tini -- ownerwrap --scope process -- \
		server -l log -x 600 -e 3 -g double,exit=100
	finish "$PID"
	expect_status 3
	await_nobody
}
