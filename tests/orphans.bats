#!/usr/bin/env bats
# --orphans: which processes look orphaned. Nothing is ever killed.

load helper
bats_require_minimum_version 1.5.0

# The patterns have the test's directory in them, so that nothing else of this
# machine matches.
setup() {
	harness_setup
	MARK=$BATS_TEST_TMPDIR/m
	# A subreaper that is called as the manager of a user's session is.
	cp "$FIXTURES/owner" systemd
	cp "$FIXTURES/owner" runner
}

# orphan [BY] [PREFIX...]: a server whose parent is gone, adopted by ./systemd
# or another subreaper; its command line has $MARK in it. Sets ORPHAN, MANAGER.
orphan() {
	local by=${1-systemd} log=host.$((STARTED + 1))
	start "./$by" -r -D -l "$log" "${@:2}" server -l "$MARK.$STARTED"
	MANAGER=$PID
	ORPHAN=$(server_pid "$MARK.$((STARTED - 1))") || return 1
	track "$ORPHAN"
	until_true "[ \"\$(ps -o ppid= $ORPHAN | tr -d ' ')\" = $MANAGER ]"
}

# child: a server of a living owner; sets CHILD
child() {
	start owner -l "host.$((STARTED + 1))" server -l "$MARK.$STARTED"
	CHILD=$(server_pid "$MARK.$((STARTED - 1))")
	track "$CHILD"
}

# list [OPTION...]: stdout in output, of those that have $MARK
list() {
	run --separate-stderr "$OW" --orphans "$MARK" "$@"
}

# listed [PID...]: exactly these, sorted by pid, and the status that fits
listed() {
	local pids
	assert_equal "$stderr" '' stderr
	pids=$(sed -n '2,$s/^ *\([0-9]*\) .*/\1/p' <<<"$output" | xargs)
	assert_equal "$pids" "$(printf '%s\n' "$@" | sort -n | xargs)" \
		"listed (output: $output)"
	expect_status $(($# == 0))
	[ $# != 0 ] || assert_equal "$output" ''
}

# --- the list ---------------------------------------------------------------

@test "orphans: an orphan below a user's manager is listed, a child of a living owner is not (7)" {
	child
	orphan
	list
	listed "$ORPHAN"
	assert_alive "$ORPHAN" "$CHILD"
	# Its owner ends: now it is one as well, if ./systemd gets it.
	kill -KILL "$ORPHAN"
	await_gone "$ORPHAN"
	list
	listed
}

@test "orphans: the columns are PID PPID AGE COMMAND, as said" {
	orphan
	list
	assert_equal "$(head -n 1 <<<"$output")" \
		'    PID    PPID     AGE COMMAND'
	[[ $(sed -n 2p <<<"$output") =~ ^\ *$ORPHAN\ +$MANAGER\ +[0-9]+s\ server\ -l\ $MARK\.[0-9]+$ ]] ||
		fail "output: $output"
	assert_equal "$(wc -l <<<"$output")" 2
}

@test "orphans: several are listed, each once, by pid" {
	orphan
	one=$ORPHAN
	orphan
	two=$ORPHAN
	orphan
	list
	listed "$one" "$two" "$ORPHAN"
	# What an orphan itself has started has a living parent.
	kill -KILL "$one" "$two"
	await_gone "$one" "$two"
	start ./systemd -r -D sh -c "server -l $MARK.below; :"
	below=$(server_pid "$MARK.below")
	sh=$(ps -o ppid= "$below" | tr -d ' ')
	track "$below" "$sh"
	list
	listed "$ORPHAN" "$sh"
}

@test "orphans: a child of process 1 is one (6)" {
	need_pidns
	# shellcheck disable=SC2016
	run --separate-stderr in_pidns sh -c '
		(server -l "$2.a" & echo $! >pid)
		until grep -q ^ready "$2.a" 2>/dev/null; do sleep 0.02; done
		sh -c "server -l $2.b & sleep 10" & parent=$!
		until grep -q ^ready "$2.b" 2>/dev/null; do sleep 0.02; done
		"$1" --orphans "server -l $2\.[ab]\$"
		kill $parent' - "$OW" "$MARK"
	assert_equal "$(sed -n '2,$s/^ *\([0-9]*\) .*/\1/p' <<<"$output")" "$(cat pid)"
	expect_match " 1 +[0-9]+s "
}

@test "orphans: another subreaper is nobody's manager" {
	orphan runner
	list
	listed
}

@test "orphans: the pattern is an extended regular expression over all words" {
	orphan
	n=${MARK##*/bats-run-}
	for pattern in "^server -l $MARK\.[0-9]\$" "(nobody|server) -l .*$n" \
		"$n\.[0-9]{1,2}\$" "serve(r){1} -l $MARK"; do
		run --separate-stderr "$OW" --orphans "$pattern"
		listed "$ORPHAN"
	done
	for pattern in "^-l $MARK" "SERVER -l $MARK" "server  -l $MARK" "$MARK\.[0-9]x"; do
		run --separate-stderr "$OW" --orphans "$pattern"
		listed
	done
	run --separate-stderr "$OW" --orphans nothing --orphans "$MARK"
	listed "$ORPHAN"
}

@test "orphans: odd command lines are one harmless line each" {
	cp "$FIXTURES/server" "$BATS_TEST_TMPDIR/"$'sp ace\n\e[31m'
	start ./systemd -r -D ./$'sp ace\n\e[31m' -l "$MARK.1"
	one=$(server_pid "$MARK.1")
	track "$one"
	long=$(head -c 20000 /dev/zero | tr '\0' x)
	start ./systemd -r -D sh -c "exec 2>/dev/null; server -l $MARK.2; : $long"
	two=$(server_pid "$MARK.2")
	track "$two"
	two=$(ps -o ppid= "$two" | tr -d ' ')
	track "$two"
	list
	listed "$one" "$two"
	assert_equal "$(wc -l <<<"$output")" 3
	[[ $output != *[$'\e\r\a']* ]]
	expect_match 'sp ace..\[31m -l '
}

@test "orphans: zombies and what has no command line are none" {
	orphan
	zombie=$ORPHAN
	start ./systemd -r -z -D -l zhost sh -c ": $MARK"
	list
	listed "$zombie"
	run --separate-stderr "$OW" --orphans '^$'
	listed
	run --separate-stderr "$OW" --orphans kthreadd
	assert_equal "$stderr" ''
}

@test "orphans: with --owner-name, who has no ancestor of these names" {
	cp "$FIXTURES/owner" editor
	cp "$FIXTURES/owner" other
	start ./editor -l ehost sh -c "server -l $MARK.e; :"
	e=$(server_pid "$MARK.e")
	e_sh=$(ps -o ppid= "$e" | tr -d ' ')
	start ./other -l ohost server -l "$MARK.o"
	o=$(server_pid "$MARK.o")
	track "$e" "$e_sh" "$o"
	# No matter who adopted it.
	orphan runner
	both=("$ORPHAN" "$o" "$(pid_in ohost owner)" "$MANAGER")
	list --owner-name editor
	pids=$(sed -n '2,$s/^ *\([0-9]*\) .*/\1/p' <<<"$output")
	for pid in "$ORPHAN" "$o"; do
		grep -qx "$pid" <<<"$pids" || fail "$pid is not listed: $output"
	done
	for pid in "$e" "$e_sh"; do
		! grep -qx "$pid" <<<"$pids" || fail "$pid is listed: $output"
	done
	run --separate-stderr "$OW" --orphans "^server -l $MARK" -n editor -n other
	listed "$ORPHAN"
	run --separate-stderr "$OW" --orphans "^server -l $MARK" -n nobody -n other
	listed "$ORPHAN" "$e"
	OWNERWRAP_OWNER_NAME=editor run --separate-stderr "$OW" --orphans "^server -l $MARK"
	listed "$ORPHAN" "$o"
	track "${both[@]}"
}

@test "orphans: who is below an ownerwrap is none, whoever was killed" {
	touch "$MARK.keep"
	start ./systemd -r -D -l host "$OW" -p $$ --keep-if "test -e $MARK.keep" \
		-g 0.2 -i 0.1 -- server -l "$MARK.log" -g double
	server=$(server_pid "$MARK.log")
	double=$(child_pid "$MARK.log" double)
	supervisor=$(ps -o ppid= "$server" | tr -d ' ')
	front=$(ps -o ppid= "$supervisor" | tr -d ' ')
	track "$server" "$supervisor" "$front" "$double"
	# The front's command line matches as well; its parent is the manager.
	assert_equal "$(ps -o ppid= "$front" | tr -d ' ')" "$PID"
	list
	listed
	kill -KILL "$front"
	await_gone "$front"
	until_true "[ \"\$(ps -o ppid= $supervisor | tr -d ' ')\" = $PID ]"
	list
	listed
	rm "$MARK.keep"
	await_gone "$server" "$supervisor"
}

@test "orphans: guard, supervisor, server and fronts of a shared one are none" {
	start ./systemd -r -D -l host "$OW" --share "$MARK.sock" -p $$ -g 0.1 -- \
		server -l "$MARK.log"
	server=$(server_pid "$MARK.log")
	supervisor=$(ps -o ppid= "$server" | tr -d ' ')
	guard=$(ps -o ppid= "$supervisor" | tr -d ' ')
	track "$server" "$supervisor" "$guard"
	front=$(pgrep -P "$PID" -f -- "--share $MARK.sock" | grep -vx "$guard")
	track "$front"
	list
	listed
	# Not the fixture, whose command line matches as well.
	run --separate-stderr "$OW" --orphans "^[^.].*$MARK" -n nobody
	listed
	kill "$front"
	await_gone "$server" "$supervisor" "$guard"
}

@test "orphans: a front by any other name is none" {
	cp "$OWNERWRAP_BIN" tied
	start ./systemd -r -D ./tied -p $$ -- server -l "$MARK.log"
	server=$(server_pid "$MARK.log")
	supervisor=$(ps -o ppid= "$server" | tr -d " ")
	front=$(ps -o ppid= "$supervisor" | tr -d " ")
	track "$server" "$supervisor" "$front"
	assert_equal "$(ps -o ppid= "$front" | tr -d " ")" "$PID"
	list
	listed
}

@test "orphans: it never lists itself and its ancestors" {
	# A script that was orphaned, by whose words nobody is excused.
	cat >script <<-END
	"\$1" --orphans "$MARK|script" >"\$2.list" 2>&1
	echo \$? >"\$2.status"
	END
	start ./systemd -r -D -l host sh script "$OW" "$MARK"
	await_line "$MARK.status" '^1$'
	assert_equal "$(cat "$MARK.list")" ''
	# With a command, too: the supervisor looks.
	cat >script2 <<-END
	"\$1" -v --orphans "$MARK|script2|server=" true >"\$2.list2" 2>&1
	echo \$? >"\$2.status2"
	END
	start ./systemd -r -D -l host sh script2 "$OW" "$MARK"
	await_line "$MARK.status2" '^0$'
	assert_lines "$MARK.list2" 'looks orphaned' 0
}

@test "orphans: session leaders of a service are none" {
	privileged "to cover a file of /proc"
	need_mounts
	orphan systemd setsid
	leader=$ORPHAN
	orphan
	other=$ORPHAN
	list
	listed "$leader" "$other"
	in_group() {
		printf '%s\n' "$1" >cgroup
		run --separate-stderr unshare -m sh -ec '
			for pid in "$2" "$3"; do
				mount --bind "$1" /proc/$pid/cgroup
			done
			shift 3
			exec "$@"' - "$PWD/cgroup" "$leader" "$other" \
			"$OW" --orphans "$MARK"
	}
	in_group '0::/system.slice/some.service'
	listed "$other"
	in_group $'1:name=systemd:/system.slice/some.service\n0::/'
	listed "$other"
	in_group '0::/user.slice/user-1000.slice/session-3.scope'
	listed "$leader" "$other"
	in_group '0::/user.slice/user-1000.slice/user@1000.service/app.slice/some.scope'
	listed "$leader" "$other"
	in_group '0::/some.services'
	listed "$leader" "$other"
}

@test "orphans: an ordinary user is shown only its own" {
	as_nobody
	orphan
	mine=$ORPHAN
	theirs=$(mktemp -d /tmp/owtest.XXXXXX)
	chown 65534:65534 "$theirs"
	start ./systemd -r -D "${NOBODY[@]}" server -l "$theirs/m"
	nobodys=$(server_pid "$theirs/m")
	track "$nobodys"
	run --separate-stderr "${NOBODY[@]}" "$OW" --orphans "$MARK|$theirs"
	rm -r "$theirs"
	listed "$nobodys"
	run --separate-stderr "$OW" --orphans "$MARK|$theirs"
	listed "$mine" "$nobodys"
}

@test "orphans: 0 if some were found, 1 if none, 125 on an error" {
	list
	listed
	orphan
	list -q
	listed "$ORPHAN"
	list -v
	listed "$ORPHAN"
	[ -c /dev/full ] || skip_or_fail "needs /dev/full"
	status=0
	"$OW" --orphans "$MARK" >/dev/full 2>err || status=$?
	expect_status 125
	assert_equal "$(cat err)" "ownerwrap: --orphans: No space left on device"
	for pattern in '' '(' '[' 'a{2' '*(' ; do
		run --separate-stderr "$OW" --orphans "$pattern"
		expect_status 125
		expect_said_match "^ownerwrap: --orphans .*: must be an extended regular expression\$"
		assert_equal "$output" ''
	done
	refused 125 "ownerwrap[touch]: --orphans (: must be an extended regular expression" \
		--orphans '('
}

@test "orphans: a reader that is satisfied early is no trouble" {
	orphan
	one=$ORPHAN
	orphan
	list=$("$OW" --orphans "$MARK" | head -n 1)
	assert_equal "$list" '    PID    PPID     AGE COMMAND'
	assert_alive "$one" "$ORPHAN"
}

@test "orphans: the manual's way of feeding a reviewed list to kill" {
	child
	orphan
	"$OW" --orphans "$MARK" >list
	awk 'NR > 1 { print $1 }' list | xargs kill
	await_gone "$ORPHAN"
	assert_alive "$CHILD"
}

# --- with a command ---------------------------------------------------------

@test "orphans: with a command a line for each, once, after the start" {
	child
	orphan
	one=$ORPHAN
	orphan
	start "$OW" --orphans "$MARK" -v -i 0.1 -- sh -c 'sleep 0.5; exit 3'
	finish "$PID"
	expect_status 3
	said "looks orphaned: $one server -l $MARK\.[0-9]+, up [0-9]+s; if sure: kill $one"
	said "looks orphaned: $ORPHAN server -l $MARK\.[0-9]+, up [0-9]+s; if sure: kill $ORPHAN"
	said 'looks orphaned: .*' 2
	assert_equal "$(sed -n '1s/.*: server [0-9]* \(started\);.*/\1/p' "$ERR")" started
	assert_equal "$(cat "$OUT")" ''
	assert_alive "$one" "$ORPHAN" "$CHILD"
}

@test "orphans: with a command a --owner-name is looked for, too" {
	sleep 4321.5 3>&- &
	track "$!"
	ow -n bash --orphans 'sleep 4321\.5' -- true
	expect_status 0
	expect_said ''
	ow -p "$$" --orphans 'sleep 4321\.5' -- true
	expect_said ''
}

@test "orphans: with a command: default level, not with -q, the log has it, nothing if there are none" {
	ow --orphans "$MARK" sh -c 'sleep 0.2; exit 3'
	expect_status 3
	expect_said ''
	orphan
	ow --orphans "$MARK" sh -c 'sleep 0.2; exit 3'
	expect_status 3
	expect_said_match '^ownerwrap\[sh\]: looks orphaned: [^'$'\n'']*$'
	ow -q --log wlog --orphans "$MARK" sh -c 'sleep 0.2; exit 3'
	expect_status 3
	expect_said ''
	assert_lines wlog ' ownerwrap\[sh\]: looks orphaned: ' 1
	OWNERWRAP_ORPHANS=$MARK ow sh -c 'sleep 0.2; echo "${OWNERWRAP_ORPHANS-none}"'
	expect_said_match 'looks orphaned: '
	expect_output none
	OWNERWRAP=off ow --orphans "$MARK" sh -c 'sleep 0.2; exit 3'
	expect_status 3
	expect_said ''
	assert_alive "$ORPHAN"
}

@test "orphans: a start that is refused looks for none" {
	orphan
	ow --orphans "$MARK" -p 1:1 touch started
	expect_status 124
	assert_equal "$(wc -l <<<"$stderr")" 1
	ow -127 --orphans "$MARK" ./nosuch
	assert_equal "$(wc -l <<<"$stderr")" 1
}

# --- where processes can't be listed ----------------------------------------

@test "orphans: without /proc it can't work: 125, as a variable a line" {
	nosan 'the sanitizer misses /proc, and says so'
	hide_proc
	run --separate-stderr "${HIDDEN[@]}" "$OW" --orphans x
	expect_status 125
	expect_said "ownerwrap: --orphans: can't work here: processes can't be listed"
	OWNERWRAP_ORPHANS=x run --separate-stderr "${HIDDEN[@]}" "$OW" sh -c 'exit 3'
	expect_status 3
	expect_said_match "OWNERWRAP_ORPHANS=x: ignored, can't work here: processes can't be listed"
}

@test "orphans: plain POSIX: 125 and a line" {
	plain_posix
	ow --orphans x
	expect_status 125
	expect_said "ownerwrap: --orphans: can't work here: processes can't be listed"
}
