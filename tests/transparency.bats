#!/usr/bin/env bats
# Nobody notices: the server behaves as if ownerwrap were not there.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	export OWTEST_OW=$OW
	# Both with the same parent and the same descriptors.
	cat >both <<-'END'
		dump -o dump "$@" && mv dump direct &&
			"$OWTEST_OW" -- dump -o dump "$@" && mv dump wrapped
	END
}

# same [ARG...]: a dump is the same with and without; leaves ./wrapped
same() {
	sh ./both "$@" && assert_same
}

assert_same() {
	diff direct wrapped
}

# has ERE COUNT: so many lines of ./wrapped match
has() {
	assert_equal "$(count_lines wrapped "$1")" "$2" "lines like $1"
}

# A terminal of its own; pty's script is stdin.
on_pty() {
	run pty - "$@"
	expect_status 0
}

@test "transparency: arguments arrive as they are (63)" {
	same '' ' ' 'a b' $'new\nline' -x --grace '--' '-' "'" '"' \\ '$x' '*' \
		$'\x01\x7f\xff\xfe' '=' 'OWNERWRAP=off' 'ü'
	has '^argv [0-9]+ ' 20
	has '^argv 18 4f574e4552' 1
	same
}

@test "transparency: the environment arrives as it is (63)" {
	export ODD=$'\xff\n=x' EMPTY='' LD_LIBRARY_PATH='' PWD=/nonsense
	same
	has '^env EMPTY=$' 1
	env -i PATH="$PATH" OWTEST_OW="$OWTEST_OW" OWTEST_BIN="$OWTEST_BIN" \
		OWTEST_ID="$OWTEST_ID" sh ./both
	assert_same
}

@test "transparency: directory, umask, priority, limits arrive as they are (63)" {
	mkdir 'odd dir'
	mv both 'odd dir'
	cd 'odd dir'
	umask 0137
	limits nofile=77 core=0 stack=1000000 cpu=100 fsize=1000000 -- \
		nice -n 7 sh ./both
	assert_same
	has '^nice 7$' 1
	has '^umask 137$' 1
	has '^limit 7 77 77$' 1
}

@test "transparency: a directory that is gone or unreadable is still its directory (63)" {
	mkdir gone
	cd gone
	rmdir ../gone
	run "$OW" -- readlink /proc/self/cwd
	expect_match ' \(deleted\)$'
}

@test "transparency: scheduling and kernel attributes arrive as they are (63)" {
	echo 500 >/proc/self/oom_score_adj
	need taskset chrt
	chrt -b 0 taskset -c 0 sh ./both
	assert_same
	has '^oom_score_adj 500$' 1
	has '^scheduler 3$' 1
	has '^status Cpus_allowed:.*1$' 1
}

@test "transparency: masks and dispositions arrive as they are (38, 63)" {
	for how in 'block TERM,CHLD,40' 'block all' 'ignore HUP,PIPE,CHLD,40' \
		'ignore all' 'ignore CHLD,40 block USR1'; do
		# shellcheck disable=SC2086
		sig default all $how -- dump -o dump
		mv dump direct
		# shellcheck disable=SC2086
		sig default all $how -- "$OW" -- dump -o dump
		mv dump wrapped
		assert_same
	done
	# 32 and 33 are the C library's; GNU parallel ignores them
	has '^status SigIgn:.*0000008[01][08]0010000$' 1
	has '^status SigBlk:.*0000000000000200$' 1
}

@test "transparency: group and session are those of the host (63)" {
	setsid -w sh ./both
	assert_same
	sid=$(sed -n 's/^sid //p' wrapped)
	[ "$sid" != "$(ps -o sid= -p $$ | tr -d ' ')" ]
	# In a group that ownerwrap itself leads, the server is in that one.
	start setsid "$OW" -- dump -o wrapped
	finish "$PID"
	has "^pgid $PID\$" 1
	has "^sid $PID\$" 1
}

@test "transparency: with other ids and without privileges (63)" {
	as_nobody
	chmod 644 both
	"${NOBODY[@]}" sh ./both
	assert_same
	has '^status Uid:.*65534' 1
}

@test "transparency: stdio are the same objects: null, file, pipe, socket (59)" {
	sh ./both </dev/null >/dev/null 2>/dev/null
	assert_same
	has '^fd [012] /dev/null ' 3
	echo in >in
	sh ./both <in >out 2>>err
	assert_same
	has '^fd 0 .*/in flags ' 1
	run sock pipes sh ./both
	expect_status 0
	assert_same
	has '^fd [012] pipe:' 3
	run sock one sh ./both
	expect_status 0
	assert_same
	has '^fd [012] socket:' 3
	run sock pipe12 sh ./both
	expect_status 0
	assert_same
}

@test "transparency: stdio is the same terminal (59)" {
	on_pty sh ./both <<<'wait exit 0'
	assert_same
	has '^isatty [012] 1$' 3
	has '^ctty yes ' 1
}

@test "transparency: a terminal on one of 0, 1 and 2 only (59)" {
	for redirection in '</dev/null' '>/dev/null' '2>/dev/null' \
		'</dev/null >out' '</dev/null 2>err' '| cat' '2>&1 | cat'; do
		on_pty sh -c "sh ./both $redirection" <<<'wait exit 0'
		if [[ $redirection != *cat ]]; then assert_same; fi
		assert_equal "$(grep ^isatty direct)" "$(grep ^isatty wrapped)"
		assert_equal "$(grep ^ctty direct)" "$(grep ^ctty wrapped)"
	done
}

@test "transparency: other descriptors keep number, object and flags (56, 63)" {
	echo text >file
	mkfifo fifo
	exec 5<file 7<>fifo 8>>log 30<.
	same
	for fd in 5 7 8 30; do has "^fd $fd " 1; done
	exec 5<&- 7<&- 8<&- 30<&-
}

@test "transparency: no flag and no position of a shared description changes (63)" {
	mkfifo in both.fifo err
	exec 7<>in 8<>err 6>>out
	flags() {
		grep -h ^flags: "/proc/$$/fdinfo/"{6,7,8}
	}
	before=$(flags)
	sig default all -- "$OW" -v -- server -l log <&7 >&6 2>&8 3>&- &
	front=$!
	track "$front"
	server=$(server_pid log)
	kill -USR1 "$front"
	await_line log '^USR1 '
	during=$(flags)
	kill -TERM "$front"
	finish "$front"
	expect_status 0
	assert_equal "$during" "$before" "flags during"
	assert_equal "$(flags)" "$before" "flags after"
	# Only the messages went that way.
	timeout 0.2 cat <&8 >said || true
	assert_lines said ' relayed; sender ' 2
	exec 6>&- 7>&- 8>&-
}

@test "transparency: messages go on where stderr's file stands (63)" {
	{
		echo before >&2
		"$OW" -v -- sh -c 'sleep 0.2; echo server >&2; kill -USR1 $PPID'
		echo after >&2
	} 2>file
	assert_equal "$(sed -n '1p' file)" before
	assert_equal "$(sed -n '3p' file)" server
	assert_equal "$(tail -n 1 file)" after
	assert_equal "$(wc -l <file)" 4
	assert_lines file '^ownerwrap\[sh\]: server [0-9]+ started; ' 1
	sh -c 'echo whole; exec "$0" --grace x true' "$OW" >file 2>&1 || true
	assert_equal "$(head -n 1 file)" whole
	assert_equal "$(wc -l <file)" 2
}

@test "transparency: a megabyte goes through unchanged, and nothing else (61)" {
	head -c 1048576 /dev/urandom >in
	for options in '' -v -q '--log log' '-v --poll'; do
		# shellcheck disable=SC2086
		"$OW" $options -- cat <in >out 2>err
		cmp in out
		# shellcheck disable=SC2002,SC2086
		cat in | "$OW" $options -- cat 2>err | cat >out
		cmp in out
		[[ $options == -v* ]] || [ ! -s err ]
	done
}

@test "transparency: nothing of a failure goes to stdout (61)" {
	new_owner
	mkfifo fifo
	for options in '--frobnicate' '--grace x' '-p 0' '--log fifo' '-v -p 1:1'; do
		# shellcheck disable=SC2086
		ow $options -- true
		[ "$status" = 125 ] || [ "$status" = 124 ]
		expect_output ""
		[ -n "$stderr" ]
	done
	ow -127 -- ./missing
	expect_output ""
	start "$OW" -v -g 0 -k 0.2 -p "$OWNER" -- server -l log -d -g deaf,setsid
	server_pid log >/dev/null
	kill -USR1 "$PID"
	await_line log '^USR1 '
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
	[ ! -s "$OUT" ]
	[ -s "$ERR" ]
	kill -KILL "$(child_pid log deaf,setsid)"
}

@test "transparency: by default nothing is said (61)" {
	ow -- true
	expect_said ""
	ow --owner-pid $$ --any -g 1 -k 1 -s INT --scope tree --leftovers wait -- \
		sh -c 'kill -USR2 $PPID; sleep 0.1; exit 3'
	expect_status 3
	expect_output ""
	expect_said ""
	start "$OW" -- server -l log
	server_pid log >/dev/null
	kill -TERM "$PID"
	finish "$PID"
	expect_status 0
	[ ! -s "$ERR" ]
	[ ! -s "$OUT" ]
}

@test "transparency: nothing is read from stdin (14)" {
	printf 'one\ntwo\n' >in
	exec 8<in
	"$OW" -- true <&8
	assert_equal "$(cat <&8)" $'one\ntwo'
	exec 8<&-
	mkfifo fifo
	exec 8<>fifo
	echo line >&8
	start_on_8() { "$OW" -- sh -c 'sleep 0.3; read -r line; echo "$line" >got' <&8; }
	start_on_8
	assert_equal "$(cat got)" line
	exec 8<&-
}

@test "transparency: LISTEN_PID that named ownerwrap names the server (62)" {
	run net listen3 "$OW" -- sh -c \
		'echo $$ $LISTEN_PID $LISTEN_FDS; readlink /proc/$$/fd/3'
	expect_status 0
	read -r pid listen fds <<<"${lines[0]}"
	assert_equal "$listen" "$pid"
	assert_equal "$fds" 1
	[[ ${lines[1]} == socket:* ]]
}

@test "transparency: WATCHDOG_PID that named ownerwrap names the server (62)" {
	run sh -c 'export WATCHDOG_PID=$$ WATCHDOG_USEC=5; exec "$0" -- sh -c "
		echo \$\$ \$WATCHDOG_PID \$WATCHDOG_USEC \${LISTEN_PID-unset}"' "$OW"
	read -r pid watchdog usec listen <<<"$output"
	assert_equal "$watchdog $usec $listen" "$pid 5 unset"
}

@test "transparency: LISTEN_PIDFDID goes where LISTEN_PID changes (62)" {
	run sh -c 'export LISTEN_PIDFDID=77 LISTEN_FDS=0 LISTEN_PID=$$
		exec "$0" -- sh -c "echo \$\$ \$LISTEN_PID \${LISTEN_PIDFDID-unset}"' "$OW"
	read -r pid listen id <<<"$output"
	assert_equal "$listen $id" "$pid unset"
}

@test "transparency: pids that name others are left alone (62)" {
	export LISTEN_PID=$$ LISTEN_PIDFDID=77 WATCHDOG_PID=1
	run "$OW" -- sh -c 'echo $LISTEN_PID $LISTEN_PIDFDID $WATCHDOG_PID'
	expect_output "$$ 77 1"
	same
	export LISTEN_PID='' LISTEN_PIDFDID='' WATCHDOG_PID=x
	same
	run sh -c 'LISTEN_PID=0$$ exec "$0" -- sh -c "echo \$LISTEN_PID"; echo $$' "$OW"
	expect_match '^0[0-9]+$'
}

@test "transparency: many variables and a long PATH are no trouble (63)" {
	for ((i = 0; i < 500; i++)); do export "MANY_$i=$i"; done
	PATH=$PATH:$(head -c 20000 /dev/zero | tr '\0' x)
	same
	has '^env MANY_' 500
}

@test "transparency: without a terminal neither process keeps the directory (63)" {
	start setsid "$OW" -- server -l log
	server=$(server_pid log)
	supervisor=$(supervisor_of "$PID")
	assert_equal "$(readlink "/proc/$PID/cwd")" /
	assert_equal "$(readlink "/proc/$supervisor/cwd")" /
	assert_equal "$(readlink "/proc/$server/cwd")" "$(pwd -P)"
}

@test "transparency: with a terminal the front keeps the directory (63)" {
	cat >script <<-'END'
		until grep -q ^ready log
		run readlink /proc/$PTY_PID/cwd >front
		run readlink /proc/$(pgrep -P $PTY_PID)/cwd >supervisor
		kill TERM cmd
		wait exit 0
	END
	run pty script "$OW" -- server -l log
	expect_status 0
	assert_equal "$(cat front)" "$(pwd -P)"
	assert_equal "$(cat supervisor)" /
}

@test "transparency: the front keeps its name and arguments (63)" {
	start "$OW" -v -g 3 -- sh -c 'exec sleep 300' 'odd arg' ''
	await_line "$ERR" started
	wanted="-v -g 3 -- sh -c exec sleep 300 odd arg  "
	until_true '[ -n "$(pgrep -P '"$PID"' -x ow-supervisor)" ]'
	[[ $(tr '\0' ' ' <"/proc/$PID/cmdline") == *" $wanted" ]]
	assert_equal "$(cat "/proc/$PID/comm")" "$(basename "$OWNERWRAP_BIN" | cut -c1-15)"
}

@test "transparency: the command is found before the environment is cleaned (63)" {
	mkdir bin
	printf '#!/bin/sh\necho "found ${OWNERWRAP_GRACE-none}"\n' >bin/tool
	chmod +x bin/tool
	OWNERWRAP_GRACE=1 PATH=$PWD/bin:$PATH run "$OW" tool
	expect_output "found none"
}
