#!/usr/bin/env bats
# --keep-if: no owner is left, and a command says whether the server may stay.

# VIA, LIMIT are for the helper.
# shellcheck disable=SC2034

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	KEEP="test -e $BATS_TEST_TMPDIR/keep"	# its directory is /
}

yes() { : >"$BATS_TEST_TMPDIR/keep"; }
no() { rm -f "$BATS_TEST_TMPDIR/keep"; }

# await_kept [FILE]
await_kept() {
	await_line "${1-$ERR}" 'no owner left, kept: --keep-if says so$'
}

# keeps_and_stops [OPTION...]: a server is kept for a yes, stopped for a no
keeps_and_stops() {
	yes
	owned -i 0.1 -g 0.2 "$@" --keep-if "$KEEP" -- server -l log
	orphan
	await_kept
	no
	expect_stopped
	terms 1
}

# --- yes and no ------------------------------------------------------------

@test "keep-if: 0 keeps the server, 1 does not, each change is one line (73)" {
	yes
	owned -i 0.1 -g 0.3 --keep-if "$KEEP" -- server -l log
	orphan
	await_kept
	lives_on 500 "$S"			# asked more than once
	no
	expect_stopped
	terms 1
	said 'no owner left, kept: --keep-if says so'
	said "owner $O \(.*\) is gone, kept no longer; stopping server $S \(TERM in 0\.3s, KILL 5s later, 10s if others must be told\)"
	assert_lines "$ERR" . 2
}

@test "keep-if: every end but 0 is a no, at the first look with --grace 0" {
	for command in false 'exit 255' 'kill -KILL $$' 'kill -HUP $$' \
		no-such-command 'syntax ('; do
		rm -f log
		owned -i 0.1 -g 0 --keep-if "$command" -- server -l log
		orphan
		expect_stopped
		said "owner $O \(.*\) is gone; stopping server $S \(TERM now, KILL 5s later, 10s if others must be told\)"
		assert_lines "$ERR" . 1
		terms 1
	done
}

@test "keep-if: it is not run while an owner lives" {
	owned -i 0.05 -g 0 --keep-if "echo asked >>$PWD/asked; false" \
		-- server -l log
	kill -USR1 "$W"
	await_line log '^USR1 '	# it is at work
	lives_on 500 "$S"
	[ ! -e asked ]
	orphan
	expect_stopped
	assert_equal "$(cat asked)" asked
}

@test "keep-if: two owners, the one that is left is owner enough (73)" {
	new_owner
	owned -p "$OWNER" -i 0.05 -g 0 --keep-if "echo >>$PWD/asked; false" \
		-- server -l log
	orphan
	lives_on 500 "$S"
	[ ! -e asked ]
	kill -KILL "$OWNER"
	expect_stopped
	assert_lines asked '' 1
}

@test "keep-if: a server kept as an ordinary user" {
	as_nobody
	keep=$(mktemp)		# the test's directory is in one of root's
	VIA=("${NOBODY[@]}")
	owned -i 0.1 -g 0.2 --keep-if "test -e $keep" -- server -l log
	orphan
	await_kept
	rm "$keep"
	expect_stopped
	terms 1
}

@test "keep-if: without /proc a server is kept, and stopped" {
	hide_proc
	VIA=("${HIDDEN[@]}")
	keeps_and_stops
}

@test "keep-if: the plain POSIX body keeps a server, and stops it" {
	plain_posix
	keeps_and_stops
}

# --- the command's world ---------------------------------------------------

@test "keep-if: sh -c gets the whole string, quotes and all" {
	owned -i 0.1 -g 0 --keep-if='a="x  y"; test "$a" = '"'x  y'"' && test "$0 $#" = "sh 0" && echo "$a"'" >'$PWD/said'; exit 3" \
		-- server -l log
	orphan
	expect_stopped
	assert_equal "$(cat said)" 'x  y'
}

@test "keep-if: it runs in /, with /dev/null on 0 to 2 and nothing else open" {
	mkfifo fifo
	sleep 300 >fifo 3>&- &
	track $!
	owned --owner-fd 9 --any -i 0.1 -g 0 --log wlog \
		--keep-if "test -e $PWD/done || dump -o $PWD/dumped
			: >$PWD/done" -- server -l log -p \
		8</dev/null 9<fifo
	orphan
	await_kept
	kill -TERM "$W"
	expect_stopped 0
	assert_lines dumped '^cwd /$' 1
	assert_lines dumped '^fd [012] /dev/null ' 3
	assert_lines dumped '^fd ' 3
}

@test "keep-if: it leads a group of its own" {
	owned -i 0.1 -g 0 \
		--keep-if "ps -o pid=,pgid= -p \$\$ >$PWD/ids; false" \
		-- server -l log
	orphan
	expect_stopped
	read -r pid pgid <ids
	assert_equal "$pgid" "$pid"
}

@test "keep-if: the server's environment, and the server's pid" {
	export OWNERWRAP_SERVER_PID=1 OWNERWRAP_KILL_AFTER=3 OWNERWRAP_X=y
	export KEPT="a b"
	owned -i 0.1 -g 0 --keep-if "env >$PWD/asked.env; false" -- \
		sh -c 'env >server.env; exec server -l log'
	orphan
	expect_stopped
	assert_lines asked.env "^OWNERWRAP_SERVER_PID=$S\$" 1
	assert_lines asked.env '^OWNERWRAP_' 1
	assert_lines asked.env '^KEPT=a b$' 1
	# What every shell sets by itself is not the program's doing.
	ours='^(OWNERWRAP_SERVER_PID|PWD|OLDPWD|SHLVL|_)='
	assert_equal "$(grep -vE "$ours" asked.env | sort)" \
		"$(grep -vE "$ours" server.env | sort)"
}

@test "keep-if: LISTEN_PID and WATCHDOG_PID name the server" {
	VIA=(net listen3 sh -c 'WATCHDOG_PID=$$ exec "$@"' -)
	owned -i 0.1 -g 0 --keep-if "env >$PWD/asked.env; false" -- server -l log
	orphan
	expect_stopped
	assert_lines asked.env "^LISTEN_PID=$S\$" 1
	assert_lines asked.env "^WATCHDOG_PID=$S\$" 1
}

# Without signals 32 and 33: they are the C library's, and ignored in a parallel
# run.
signal_sets() {
	local name set
	while read -r name set _; do
		case $name in
		SigBlk: | SigIgn: | SigCgt:)
			printf '%s %x\n' "$name" $((0x$set & ~0x180000000)) ;;
		esac
	done <"$1"
}

@test "keep-if: the server's signal mask and dispositions" {
	VIA=(sig block USR1,TERM,CHLD,RT40 ignore HUP,PIPE,INT --)
	owned -i 0.1 -g 0 -s KILL --keep-if "test -e $PWD/asked || exec sig show >$PWD/asked" -- \
		server -n -l log
	orphan
	await_line "$ERR" 'kept: --keep-if says so'
	assert_equal "$(signal_sets asked)" "$(signal_sets "/proc/$S/status")"
	kill -KILL "$S"
	await_gone "$W"
}

@test "keep-if: what it says on stderr goes to the log under -v, only there" {
	owned -v --log wlog -i 0.1 -g 0 --keep-if 'echo to 1; echo to 2 >&2; false' \
		-- server -l log
	orphan
	expect_stopped
	assert_lines wlog '^to 2$' 1
	assert_lines wlog 'to 1' 0
	assert_lines "$ERR" '^to ' 0
	assert_lines "$OUT" . 0
	rm log wlog
	owned --log wlog -i 0.1 -g 0 --keep-if 'echo to 2 >&2; false' -- server -l log
	orphan
	expect_stopped
	assert_lines wlog '^to 2$' 0
	assert_lines "$ERR" '^to ' 0
}

# --- while it runs ---------------------------------------------------------

@test "keep-if: a signal is relayed while it runs" {
	owned -i 0.1 -g 0 --keep-if "echo \$\$ >>$PWD/asking; exec sleep 300" \
		-- server -l log
	orphan
	asking=$(pid_in asking)
	track "$asking"
	kill -USR1 "$W"
	await_line log '^USR1 '
	assert_alive "$asking"
	kill -TERM "$W"
	expect_stopped 0
	refute_alive "$asking"
}

@test "keep-if: the server's end does not wait for it, and ends it (73)" {
	owned -i 0.1 -g 0 --keep-if "echo \$\$ >>$PWD/asking; exec sleep 300" \
		-- server -l log
	orphan
	asking=$(pid_in asking)
	track "$asking"
	begin=$(now_ms)
	kill -KILL "$S"
	expect_stopped 137
	within 10000 "$begin"
	refute_alive "$asking"
	assert_lines "$ERR" . 0
}

@test "keep-if: it is not of the tree: not named, not counted, not stopped" {
	for scope in session tree; do
		rm -f log asking
		owned -i 0.1 -g 0 --scope $scope --keep-if \
			"trap 'echo TERM >>$PWD/trapped' TERM; echo \$\$ >>$PWD/asking; sleep 300 & wait" \
			-- server -l log -e 5
		orphan
		asking=$(pid_in asking)
		track "$asking"
		kill -TERM "$W"
		expect_stopped 5
		refute_alive "$asking"
		assert_lines "$ERR" . 0
		[ ! -e trapped ]
	done
	no_leftovers
}

@test "keep-if: a ladder for another reason ends it" {
	owned -i 0.1 -g 0 -k 0.3 --keep-if \
		"echo \$\$ >>$PWD/asking; exec sleep 300" -- server -l log -d
	orphan
	asking=$(pid_in asking)
	track "$asking"
	kill -TERM "$W"
	expect_stopped 137
	refute_alive "$asking"
	terms 1
}

@test "keep-if: what it leaves in its group is killed" {
	owned -i 0.1 -g 3 --keep-if "
		trap '' HUP TERM
		sleep 300 & echo \$! >>$PWD/one
		exit 1" -- server -l log
	orphan
	one=$(pid_in one)
	track "$one"
	await_gone "$one"
	assert_alive "$S"		# in the grace
	expect_stopped
	assert_lines "$ERR" . 1
}

@test "keep-if: what it leaves in its group is killed when it says yes, too" {
	owned -i 0.1 -g 0 --keep-if "sleep 300 & echo \$! >>$PWD/one; exit 0" \
		-- server -l log
	orphan
	await_kept
	one=$(pid_in one)
	track "$one"
	await_gone "$one"
	assert_alive "$S"
	kill -TERM "$W"
	expect_stopped 0
	assert_lines "$ERR" . 1
}

@test "keep-if: SIGKILL of the supervisor leaves nothing of it" {
	owned -i 0.1 -g 0 --keep-if "echo \$\$ >>$PWD/asking; exec sleep 300" \
		-- server -l log
	orphan
	asking=$(pid_in asking)
	track "$asking"
	kill -KILL "$(supervisor_of "$W")"
	await_gone "$W"
	await_gone "$asking" "$S"
}

@test "keep-if: SIGKILL of the supervisor leaves nothing of its group" {
	owned -i 0.1 -g 0 --keep-if "sleep 300 & echo \$! >>$PWD/child; wait" \
		-- server -l log
	orphan
	child=$(pid_in child)
	track "$child"
	kill -KILL "$(supervisor_of "$W")"
	await_gone "$W"
	await_gone "$child" "$S"
}

@test "keep-if: one that hangs is ended after 10 s and does not keep" {
	LIMIT=60
	owned -i 0.1 -g 5 --keep-if "echo \$\$ >>$PWD/asking; exec sleep 300" \
		-- server -l log
	begin=$(now_ms)
	orphan
	await_line "$ERR" 'takes longer than 10s: ended, counts as no'
	taken 10000 "$begin"
	await_gone "$(sed -n 1p asking)"
	assert_alive "$S"
	expect_stopped
	taken 20000 "$begin"
	said '--keep-if takes longer than 10s: ended, counts as no' 2
	said "owner $O \(.*\) is gone; stopping server $S \(TERM in 5s, .*\)"
	mapfile -t asking <asking
	assert_equal "${#asking[@]}" 2
	refute_alive "${asking[@]}"
}

# --- the grace -------------------------------------------------------------

@test "keep-if: the grace is 10 s with a keeper, unless it is given (73)" {
	assert_plan "$(plan 'in 10s' 5s 10s)" --keep-if false
	assert_plan "$(plan 'in 2s' 5s 10s)" --keep-if false --grace 2
	OWNERWRAP_KEEP_IF=false assert_plan "$(plan 'in 10s' 5s 10s)"
	OWNERWRAP_GRACE=3 assert_plan "$(plan 'in 3s' 5s 10s)" --keep-if false
	assert_plan "$(plan 'in 2s' 5s 10s)"
}

@test "keep-if: through when all has been no for one whole grace (73)" {
	owned -i 0.1 -g 1 --keep-if "$KEEP" -- server -l log
	orphan
	await_line "$ERR" 'is gone; stopping server'
	yes
	await_kept
	begin=$(now_ms)
	no
	expect_stopped
	taken 1000 "$begin"		# anew
	terms 1
	said "owner $O \(.*\) is gone; stopping server $S \(TERM in 1s, .*\)"
	said "owner $O \(.*\) is gone, kept no longer; stopping server $S \(TERM in 1s, .*\)"
	said 'no owner left, kept: --keep-if says so'
	assert_lines "$ERR" . 3
}

@test "keep-if: the last look is at the end of the grace, however rare looks are" {
	nopoll 'a rare look would find the owner late'
	owned -i 60 -g 0.8 --keep-if "echo >>$PWD/asked; $KEEP" -- server -l log
	begin=$(now_ms)
	orphan
	await_line "$ERR" 'is gone; stopping server'
	yes
	await_kept
	taken 800 "$begin"
	assert_lines asked '' 2
	assert_alive "$S"
	kill -TERM "$W"
	expect_stopped 0
}

@test "keep-if: a server that ends by itself in the grace is not signalled" {
	owned -i 0.1 -g 60 --keep-if false -- server -l log -x 2500 -e 4
	orphan
	await_line "$ERR" 'is gone; stopping server'
	expect_stopped 4
	terms 0
}

@test "keep-if: a freeze is no grace: keepers get their time again" {
	nopoll 'a rare look would find the owner late'
	owned -i 60 -g 1.5 --keep-if "echo >>$PWD/asked; $KEEP" -- server -l log
	its_supervisor
	orphan
	await_line "$ERR" 'is gone; stopping server'
	freeze 2800 "$SUP"		# the end of the grace, and LATE_MS more
	expect_stopped
	taken 1400 "$begin"
	terms 1
}

# --- nobody's front, nobody's server ---------------------------------------

@test "keep-if: SIGKILL of the front leaves a kept server, owner alive (73)" {
	yes
	owned --log wlog -i 0.1 -g 0.3 -k 3 --keep-if "$KEEP" -- server -l log -d
	its_supervisor
	kill -KILL "$W"
	await_kept wlog
	lives_on 500 "$S" "$SUP" "$O"
	terms 0
	no
	begin=$(now_ms)
	await_line log '^TERM '
	taken 300 "$begin"
	await_gone "$SUP"
	taken 3300 "$begin"		# kill-after, not the 2 s of a haste
	refute_alive "$S"
	terms 1
	logged 'no owner left, kept: --keep-if says so'
	logged "the front was killed, kept no longer; stopping server $S \(TERM in 0\.3s, KILL 3s later, 6s if others must be told\)"
	logged "server $S still there .* after TERM: killed"
	assert_lines "$ERR" . 0
}

@test "keep-if: SIGKILL of the front leaves a kept server, owner gone (73)" {
	yes
	owned --log wlog -i 0.1 -g 0.3 --keep-if "$KEEP" -- server -l log
	its_supervisor
	orphan
	await_kept
	kill -KILL "$W"
	lives_on 500 "$S" "$SUP"
	terms 0
	no
	await_gone "$SUP"
	refute_alive "$S"
	terms 1
	logged 'no owner left, kept: --keep-if says so'
	logged '.*, kept no longer; stopping server .*'
}

@test "keep-if: the front killed, a no: the grace as given, then the ladder" {
	owned --log wlog -i 0.1 -g 0.7 -k 3 --keep-if false -- server -l log
	its_supervisor
	begin=$(now_ms)
	kill -KILL "$W"
	await_gone "$SUP"
	taken 700 "$begin"
	refute_alive "$S"
	assert_alive "$O"
	terms 1
	logged "the front was killed; stopping server $S \(TERM in 0\.7s, KILL 3s later, 6s if others must be told\)"
}

@test "keep-if: the front killed, stderr's reader gets EOF at once" {
	yes
	mkfifo stderr
	cat stderr >"read" 3>&- &
	reader=$!
	track "$reader"
	VIA=(sh -c 'exec "$@" 2>stderr' -)
	owned --log wlog -i 0.1 -g 0.2 --keep-if "$KEEP" -- server -l log -2
	its_supervisor
	assert_alive "$reader"
	kill -KILL "$W"
	await_gone "$reader"
	await_kept wlog
	assert_alive "$S" "$SUP"
	no
	await_gone "$SUP"
	refute_alive "$S"
	assert_lines read . 0
}

@test "keep-if: a supervisor without its front: TERM to it stops the server" {
	yes
	owned --log wlog -i 0.1 -g 60 --keep-if "$KEEP" -- server -l log
	its_supervisor
	kill -KILL "$W"
	await_kept wlog
	kill -TERM "$SUP"
	await_gone "$SUP"
	refute_alive "$S"
	terms 1
}

@test "keep-if: a supervisor without its front ends with its server" {
	yes
	owned --log wlog -i 0.1 -g 60 --keep-if "$KEEP" -- server -l log
	its_supervisor
	kill -KILL "$W"
	await_kept wlog
	kill -KILL "$S"
	await_gone "$SUP"
}

@test "keep-if: SIGKILL of the front during the ladder is no reprieve" {
	owned -i 0.1 -g 0 -k 60 --keep-if "$KEEP" -- server -l log -d
	its_supervisor
	orphan
	await_line log '^TERM '
	yes
	kill -KILL "$W"
	await_gone "$SUP"		# 2 s, not a minute, not for ever
	refute_alive "$S"
}

# --- the server ends while it is kept --------------------------------------

@test "keep-if: a kept server's end is ownerwrap's (73)" {
	yes
	owned -i 0.1 -g 0 --keep-if "$KEEP" -- server -l log -e 9
	orphan
	await_kept
	kill -TERM "$W"
	expect_stopped 9
	terms 1
	assert_lines "$ERR" . 1
}

@test "keep-if: what a kept server leaves is stopped, with its status" {
	yes
	owned -i 0.1 -g 0 --keep-if "$KEEP" -- server -l log -e 9 -g plain
	child=$(child_pid log plain)
	orphan
	await_kept
	kill -TERM "$S"
	expect_stopped 9
	refute_alive "$child"
	said 'server ended and left 1 process: stopped \(--leftovers wait or leave keeps it\)'
}

@test "keep-if: --leftovers wait: the rest is kept, then stopped" {
	yes
	owned -i 0.1 -g 0 --leftovers wait --keep-if "$KEEP" -- \
		server -l log -e 9 -g plain
	child=$(child_pid log plain)
	orphan
	await_kept
	kill -TERM "$S"
	await_line "$ERR" 'server ended and left 1 process: waited for'
	lives_on 300 "$child" "$W"
	no
	expect_stopped 9
	refute_alive "$child"
	said "owner $O \(.*\) is gone, kept no longer; stopping what the server left \(TERM now, .*\)"
}

@test "keep-if: --leftovers leave: the front goes, the rest is kept, stopped" {
	for first in server owner; do
		rm -f wlog
		yes
		owned --log wlog -i 0.1 -g 0 --leftovers leave --keep-if "$KEEP" -- \
			server -l log -e 9 -g plain
		child=$(child_pid log plain)
		its_supervisor
		track "$child"
		if [ $first = owner ]; then
			orphan
			await_kept
		fi
		kill -TERM "$S"
		expect_stopped 9
		if [ $first = server ]; then
			orphan
			await_kept wlog
			logged 'server ended and left 1 process: left until the owner goes'
		fi
		lives_on 300 "$child" "$SUP"
		no
		await_gone "$SUP"
		refute_alive "$child"
	done
}

# --- options ---------------------------------------------------------------

@test "keep-if: an empty command, and none at all, are errors" {
	right='must be a command for sh -c'
	refused 125 "ownerwrap[touch]: --keep-if : $right" --keep-if ''
	refused 125 "ownerwrap[touch]: --keep-if : $right" --keep-if=
	ow --keep-if
	expect_status 125
	expect_said_match '--keep-if: needs a value'
}

@test "keep-if: OWNERWRAP_KEEP_IF, replaced by the option" {
	yes
	export OWNERWRAP_KEEP_IF="$KEEP"
	owned -i 0.1 -g 0.2 -- server -l log
	orphan
	await_kept
	no
	expect_stopped
	rm log
	export OWNERWRAP_KEEP_IF=true
	owned -i 0.1 -g 0 --keep-if false -- server -l log
	orphan
	expect_stopped
	assert_lines "$ERR" kept 0
	rm log
	export OWNERWRAP_KEEP_IF=
	owned -i 0.1 -g 0 -- server -l log
	orphan
	expect_stopped
	assert_lines "$ERR" . 1
}

@test "keep-if: of two given the last one is asked" {
	owned -i 0.1 -g 0 --keep-if true --keep-if false -- server -l log
	orphan
	expect_stopped
	assert_lines "$ERR" kept 0
}

@test "keep-if: it works with --scope process" {
	keeps_and_stops --scope process
}

# What is said of each look must not take the room of the last word.
@test "keep-if: a front that was stopped all the time gets the status" {
	owned -i 0.01 -g 0 --keep-if "echo >>$PWD/asked" -- server -l log -e 7
	kill -STOP "$W"
	orphan
	until_true '[ -e asked ] && [ "$(wc -l <asked)" -gt 160 ]'
	kill -TERM "$S"
	expect_stopped 7	# the supervisor's last act is CONT to the front
	assert_lines "$ERR" 'killed' 0
}
