#!/usr/bin/env bats
# Launchers that are meant to live on, and owners that always do: who counts by
# default.

load helper
bats_require_minimum_version 1.5.0

# A script that goes on when the server has ended. WAIT: it begins it so late.
setup() {
	harness_setup
	cat >start.sh <<-'END'
		#!/bin/sh
		echo $$ >start.pid
		sleep "${WAIT-0}"
		"$OW" --log wlog -g 0 -- server -l log
		echo $? >status
		exec sleep 300
	END
	chmod +x start.sh
	export OW
}

# by_script: the server runs, whoever began the script has gone, and the script
# is its only owner
by_script() {
	local script
	SERVER=$(server_pid log) || return 1
	script=$(pid_in start.pid)
	track "$script" "$SERVER"
	lives_on 300 "$SERVER"
	assert_lines wlog "; owner $script \\(start\\.sh, up [0-9]+s\\), (watched|polled)" 1
	kill -KILL "$script"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1
}

# in_shell SHELL COMMAND: typed into an interactive one on a terminal, then exit
in_shell() {
	local options=(-i)
	rm -f log wlog start.pid
	[ "$1" != bash ] || options=(--norc --noprofile -i)
	printf '%s\n' 'expect \$ $' "send $2\\n" "until test -s ${3-log}" \
		'nap 100' 'send exit\n' 'wait exit 0' >script
	TERM=dumb PS1='$ ' ENV='' run plain pty script "$1" "${options[@]}"
	expect_status 0
}

@test "launchers: ./start.sh & in an interactive shell, and logout (103)" {
	for shell in bash dash; do
		need $shell
		in_shell $shell './start.sh &'
		by_script
	done
}

@test "launchers: nohup ./start.sh & in an interactive shell, and logout (103)" {
	in_shell bash 'nohup ./start.sh &'
	by_script
}

@test "launchers: ( ./start.sh & ) in an interactive shell, and logout (103)" {
	in_shell bash '( ./start.sh & )'
	by_script
}

@test "launchers: the same, all gone before the server's start (103)" {
	export WAIT=0.5
	for command in './start.sh &' 'nohup ./start.sh &' '( ./start.sh & )'; do
		in_shell bash "$command" start.pid
		by_script
	done
}

@test "launchers: ssh host './start.sh &': its shell is gone (103)" {
	# sshd's shell leads a session without a terminal.
	export WAIT=0.3
	start setsid -w sh -c './start.sh & :'
	finish "$PID"
	expect_status 0
	by_script
}

@test "launchers: ( ./start.sh & ) is never refused while its shell goes (103)" {
	local i
	echo '( ./start.sh & )' >typed
	for ((i = 0; i < 10; i++)); do
		rm -f log wlog start.pid
		start setsid -w sh -c 'exec bash --norc -i <typed'
		by_script
	done
}

@test "launchers: in the foreground of an interactive shell it is the owner (103)" {
	# The terminal's host is not: its shell reads on.
	printf '%s\n' 'expect \$ $' 'send ./start.sh\n' 'until grep -q ready log' \
		'close' 'wait' >script
	TERM=dumb PS1='$ ' run plain pty script bash --norc --noprofile -i
	expect_status 0
	SERVER=$(server_pid log)
	await_gone "$SERVER"
	assert_lines wlog "; owner $(cat start.pid) \\(start\\.sh, up [0-9]+s\\), (watched|polled)" 1
}

@test "launchers: with HUP ignored it is the owner, nohup or not (103)" {
	start sig ignore HUP -- owner -z -l host ./start.sh
	SERVER=$(server_pid log)
	track "$(pid_in host cmd)"
	kill -KILL "$PID"
	by_script
}

@test "launchers: with HUP ignored sh -c is looked through, as ever (103)" {
	start sig ignore HUP -- owner -z -l host sh -c '"$OW" -g 0 -- server -l log; exec sleep 300'
	SERVER=$(server_pid log)
	track "$(pid_in host cmd)"
	kill -KILL "$PID"
	await_gone "$SERVER"
	assert_alive "$(pid_in host cmd)"
}

@test "launchers: an adopted sh -c between them is refused (86, 103)" {
	start owner -r -l reaper owner -s -x 0 -a 100 sh -c './start.sh; :'
	await_line wlog 'the owner is gone, [0-9]+ \(owner\) adopted what it left: not started'
	track "$(cat start.pid)"
	[ ! -e log ]
	kill -KILL "$PID"
}

@test "launchers: a script in a script, and the end of any counts (103)" {
	cat >outer.sh <<-'END'
		#!/bin/sh
		echo $$ >outer.pid
		./start.sh
		exec sleep 300
	END
	chmod +x outer.sh
	for name in host outer.pid start.pid; do
		rm -f log wlog host
		start owner -z -l host ./outer.sh
		SERVER=$(server_pid log)
		track "$(cat outer.pid)" "$(cat start.pid)"
		assert_lines wlog "; owner $(cat start.pid) \\(start.sh, [^)]*\\), $(cat outer.pid) \\(outer.sh, [^)]*\\), $PID \\(owner, " 1
		sed -i 's/^owner //;q' host
		kill -KILL "$(cat $name)"
		await_gone "$SERVER"
		assert_lines log '^TERM from ' 1
		kill -KILL "$(cat outer.pid)" "$(cat start.pid)" "$PID" 2>/dev/null || :
	done
}

# --- an owner that never goes -----------------------------------------------------

# first NAME COMMAND...: that runs below a process 1 of this name
first() {
	need_pidns
	[ -e "$1" ] || ln -s "$FIXTURES/owner" "$1"
	run "${PIDNS[@]}" "./$1" "${@:2}"
}

@test "launchers: an owner that outlives every editor is said (109)" {
	for name in init systemd launchd runit s6-svscan tini dumb-init catatonit; do
		first $name "$OW" -- sh -c 'exit 3'
		expect_status 3
		expect_output "ownerwrap[sh]: owner 1 ($name) outlives every editor: name one with --owner-pid"
	done
	first systemd "$OW" -q -- sh -c 'exit 3'
	expect_status 3
	expect_output ''
}

@test "launchers: so is a child of process 1, but no other (109)" {
	ln -s "$FIXTURES/owner" systemd
	ln -s "$FIXTURES/owner" tini
	first app ./systemd "$OW" -- sh -c 'exit 3'
	expect_status 3
	expect_match '^ownerwrap\[sh\]: owner [0-9]+ \(systemd\) outlives every editor: name one with --owner-pid$'
	first app ./app ./tini "$OW" -- sh -c 'exit 3'
	expect_status 3
	expect_output ''
}

@test "launchers: who is adopted by it, leading a session (109)" {
	ln -s "$FIXTURES/owner" systemd
	first systemd -r setsid -f sh -c '
		until [ "$(cut -d " " -f 4 "/proc/$$/stat")" = 1 ]; do :; done
		exec "$0" --log "$1" -- sh -c "sleep 0.3; echo ran"' \
		"$OW" "$PWD/wlog"
	expect_match ran
	assert_lines wlog 'owner 1 \(systemd\) outlives every editor: ' 1
	first app ./systemd -r owner -s -x 0 -a 100 setsid "$OW" \
		--log "$PWD/wlog2" -- sleep 0.3
	assert_lines wlog2 'owner [0-9]+ \(systemd\) outlives every editor: ' 1
}

@test "launchers: another process 1 is said under -v (109)" {
	first app "$OW" -- sh -c 'exit 3'
	expect_status 3
	expect_output ''
	first app "$OW" --log "$PWD/wlog" -- sh -c 'exit 3'
	expect_status 3
	assert_lines wlog 'owner 1 \(app\) is the first process: if it outlives the editor, name one with --owner-pid$' 1
}

@test "launchers: a named process 1 is meant, and nothing is said (109)" {
	first systemd "$OW" -p 1 -- sh -c 'exit 3'
	expect_status 3
	expect_output ''
}
