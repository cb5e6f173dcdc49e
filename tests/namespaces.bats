#!/usr/bin/env bats
# Pid namespaces, and a /proc that shows others or nothing.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	DIRS=()
}

teardown() {
	[ "${#DIRS[@]}" = 0 ] || rm -rf "${DIRS[@]}"
	harness_teardown
}

# A pid namespace whose /proc is still the old one; sets OLD_PROC.
need_old_proc() {
	need unshare
	OLD_PROC=(unshare -Urpf --kill-child)
	"${OLD_PROC[@]}" true 2>/dev/null && return 0
	OLD_PROC=(unshare -pf --kill-child)
	"${OLD_PROC[@]}" true 2>/dev/null || skip_or_fail "needs pid namespaces"
}

# outer NAME: the pid out here of the process NAME below PID, once it is there
outer() {
	until_true "[ -n \"\$(below $PID $1)\" ]" || return 1
	below "$PID" "$1"
}

# below PID NAME: the nearest descendants with this name
below() {
	local child
	for child in $(pgrep -P "$1"); do
		if [ "$(cat "/proc/$child/comm")" = "$2" ]; then
			echo "$child"
		else
			below "$child" "$2"
		fi
	done
}

# --- an owner that can't be seen ---------------------------------------------

@test "namespaces: an owner out there is not there, and the line says why (64)" {
	need_pidns
	start sleep 300
	# A number that nobody has inside.
	until [ "$PID" -gt 1000 ]; do start sleep 300; done
	owner=$PID
	run --separate-stderr in_pidns "$OW" --owner-pid "$owner" -- touch started
	expect_status 124
	expect_output ""
	assert_equal "$stderr" "ownerwrap[touch]: owner $owner is not there: not started (ended, or in another pid namespace: --owner-fd)"
	[ ! -e started ]
	assert_alive "$owner"
}

# --- a parent that can't be seen ----------------------------------------------

unseen='the parent is not visible from here \(another pid namespace\): the server runs unwatched \(--owner-fd 0 can watch\)$'

@test "namespaces: entered from outside, ppid 0: one line, unwatched (87)" {
	need_pidns
	need nsenter
	start "${PIDNS[@]}" sleep 300
	space=$(outer sleep)
	enter=(nsenter -t "$space" -p -m -r)
	if [ "$(id -u)" != 0 ]; then
		enter=(nsenter -t "$space" -U -p -m -r --preserve-credentials)
	fi
	# Below no shell: the parent must be out here.
	start "${enter[@]}" --wd="$PWD" "$OW" -k 0.3 -- server -l log -e 3
	front_parent=$PID
	await_line log '^ready'
	server=$(outer server)
	assert_lines "$ERR" "^ownerwrap\\[server\\]: $unseen" 1
	lives_on 400 "$server"
	assert_lines log '^TERM' 0
	# The server's own status, from outside as from inside.
	kill -TERM "$(pgrep -P "$front_parent")"
	finish "$front_parent"
	expect_status 3
	assert_lines log '^TERM ' 1
	assert_lines "$ERR" . 1
}

@test "namespaces: as pid 1 the line comes under -v only (87)" {
	need_pidns
	run --separate-stderr in_pidns "$OW" -- sh -c 'echo $PPID; exit 3'
	expect_status 3
	assert_equal "$stderr" ""
	run --separate-stderr in_pidns "$OW" -v -- sh -c 'exit 3'
	expect_status 3
	[[ ${stderr_lines[0]} =~ ^ownerwrap\[sh\]:\ $unseen ]]
	[[ $stderr =~ server\ [0-9]+\ started\;\ no\ owner\ is\ watched ]]
}

@test "namespaces: TERM to ownerwrap as pid 1 from outside reaches the server (87)" {
	need_pidns
	start "${PIDNS[@]}" "$OW" -- server -l log -e 4
	await_line log '^ready'
	front=$(pgrep -P "$PID")
	server=$(outer server)
	assert_alive "$server"
	kill -USR1 "$front"
	await_line log '^USR1 from '
	kill -TERM "$front"
	finish "$PID"
	expect_status 4
	assert_lines log '^USR1 ' 1
	assert_lines log '^TERM ' 1
}

@test "namespaces: pid 1 with an owner reaps what comes to it (87, 6)" {
	need_pidns
	cat >inside <<-'END'
		"$OW" -p 1 -g 0 -- server -l log -g double -g exit=0 -e 5 &
		until grep -qs ready log; do sleep 0.02; done
		kill -TERM $!
		wait $!; echo "status $?"
		ps -eo stat=,args= | grep -c '^Z'
	END
	OW=$OW run timeout -s KILL 40 "${PIDNS[@]}" sh inside
	expect_match 'status 5'
	expect_match '0$'
}

@test "namespaces: as pid 1 the front reaps orphans that are not of its tree (87)" {
	need_pidns
	need nsenter
	start "${PIDNS[@]}" "$OW" -- server -l log -e 4
	await_line log '^ready'
	front=$(pgrep -P "$PID")
	enter=(nsenter -t "$front" -p -m -r)
	if [ "$(id -u)" != 0 ]; then
		enter=(nsenter -t "$front" -U -p -m -r --preserve-credentials)
	fi
	for _ in 1 2 3; do
		"${enter[@]}" sh -c '(sleep 0.2; echo done >>"$1") &' - \
			"$PWD/orphans" 3>&-
	done
	until_true '[ "$(count_lines orphans done)" = 3 ]'
	until_true '[ "$(pgrep -c -P "$front")" = 1 ]'
	pgrep -P "$front" -x ow-supervisor
	kill -TERM "$front"
	finish "$PID"
	expect_status 4
}

# --- the /proc of another namespace --------------------------------------------

# with_old_proc WRAPPER... -- OPTION...: sets PID, FRONT and SERVER (out here);
# in front of the server, the same numbers belong to others in that /proc
with_old_proc() {
	at_dashes "$@"
	rm -f log
	start "${BEFORE[@]}" "${OLD_PROC[@]}" "$OW" "${AFTER[@]}" -- \
		server -l log -d -g slow=200,log=slow -g setpgid,deaf
	await_line log '^ready'
	FRONT=$(pgrep -P "$PID")
	SERVER=$(outer server)
	CHILDREN=$(pgrep -P "$SERVER")
}

@test "namespaces: with another namespace's /proc the server's group is stopped (88)" {
	need_old_proc
	# Nobody who has one of the numbers that are small inside.
	start sleep 300
	canary=$PID
	for options in '' '--poll'; do
		# shellcheck disable=SC2086
		with_old_proc setsid -- -k 0.5 -v $options
		assert_equal "$(ps -o pgid= -p "$SERVER" | tr -d ' ')" "$SERVER"
		begin=$(now_ms)
		kill -TERM "$FRONT"
		await_gone "$SERVER"
		[ $(($(now_ms) - begin)) -ge 1000 ]	# others were told
		finish "$PID"
		expect_status 137
		# shellcheck disable=SC2086
		refute_alive $CHILDREN	# all: the namespace has ended, too
		# The second one went to the group, of which it is one.
		assert_lines log '^TERM from ' 2
		assert_lines slow '^\[.*\] TERM from ' 1
		assert_lines slow.done '^complete$' 1
		rm slow slow.done
		assert_alive "$canary"
	done
}

@test "namespaces: with another namespace's /proc and a terminal, the server alone (88)" {
	need_old_proc
	cat >script <<-'END'
		until grep -q ready log
		run kill -TERM $(pgrep -P $PTY_PID)
		wait
	END
	run timeout -s KILL 20 pty script "${OLD_PROC[@]}" "$OW" -v -k 0.4 -- server -l log -d -g deaf
	expect_match 'server [0-9]+ still there .* after TERM: killed'
	assert_lines log '^TERM from ' 1
	assert_lines log '^\[.*\] TERM' 0
	expect_match 'ownerwrap\[server\]: .*server alone is stopped'
}

@test "namespaces: no /proc at all (88)" {
	need unshare umount
	unshare -Urm sh -c 'mount -t tmpfs none /proc' 2>/dev/null ||
		skip_or_fail 'needs user and mount namespaces'
	for options in '' '--poll'; do
		rm -f log host
		# shellcheck disable=SC2016,SC2086
		start setsid unshare -Urm sh -c 'mount -t tmpfs none /proc && exec owner -l host "$@"' \
			sh "$OW" -k 0.4 -g 0 -i 0.1 $options -- server -l log -g deaf
		SERVER=$(server_pid log)
		FRONT=$(pid_in host cmd)
		child=$(child_pid log deaf)
		lives_on 300 "$SERVER"
		kill -KILL "$PID"
		await_gone "$FRONT" "$SERVER" "$child"
		assert_lines log '^TERM from ' 1
		assert_lines log '^\[.*\] TERM from ' 1
	done
}

@test "namespaces: no /proc: an owner given by number is found and missed (88)" {
	need unshare
	unshare -Urm sh -c 'mount -t tmpfs none /proc' 2>/dev/null ||
		skip_or_fail 'needs user and mount namespaces'
	for options in '' '--poll'; do
		rm -f log
		start sleep 300
		owner=$PID
		# shellcheck disable=SC2016,SC2086
		start setsid unshare -Urm sh -c 'mount -t tmpfs none /proc && exec "$@"' \
			sh "$OW" -p "$owner" -g 0 -i 0.1 $options -- server -l log
		SERVER=$(server_pid log)
		lives_on 300 "$SERVER"
		kill -KILL "$owner"
		finish "$PID"
		expect_status 124
		assert_lines log '^TERM from ' 1
	done
}

@test "namespaces: a /proc that hides other users' processes is no proof (88)" {
	privileged 'to have an owner of another user'
	need unshare mount setpriv
	need_mounts
	dir=$(mktemp -d)
	DIRS+=("$dir")
	chmod 755 "$dir"
	cp "$OWNERWRAP_BIN" "$dir/ownerwrap"
	cp "$FIXTURES/server" "$FIXTURES/polling" "$dir"
	start sleep 300
	owner=$PID
	ow=$dir/ownerwrap
	[ "$OW" = "$OWNERWRAP_BIN" ] || ow=$dir/polling
	for options in '' '--poll'; do
		# shellcheck disable=SC2016,SC2086
		OWTEST_BIN=$dir/ownerwrap start setsid unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid=65533 --regid=65533 --clear-groups "$@"' \
			sh "$ow" -i 0.1 -p "$owner" -g 0 $options -- "$dir/server"
		SERVER=$(server_pid "$ERR")
		lives_on 400 "$SERVER" "$PID"
		assert_lines "$ERR" 'TERM from' 0
		kill -TERM "$PID"
		finish "$PID"
		expect_status 0
	done
}
