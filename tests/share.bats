#!/usr/bin/env bats
# --share: one server for several owners. Guard, supervisor and server detach,
# so that only the mark in the environment finds them when a test fails.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -m 700 run
	DIR=$XDG_RUNTIME_DIR/ownerwrap
	SOCK=$DIR/t.sock
}

teardown() {
	if [[ ${XDG_RUNTIME_DIR-} == /tmp/owtest.* ]]; then
		rm -rf "$XDG_RUNTIME_DIR"
	fi
	harness_teardown
}

# share [OPTION...] [-- SERVER OPTION...]: a front in the background, with or
# without a command; sets FRONT, and ERR to what it says. BY=(setsid) before
# it: begun by this command.
share() {
	local options=() command=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# = 0 ] || command=("$1" server -l log "${@:2}")
	start "${BY[@]}" "$OW" --share t -v "${options[@]}" "${command[@]}"
	FRONT=$PID
}

# first [OPTION...] -- [SERVER OPTION...]: the front that starts the server, A;
# sets SERVER, SUPERVISOR and GUARD, too. wlog is the log.
first() {
	share --log wlog "$@"
	A=$FRONT
	SERVER=$(server_pid log) || return 1
	attached "$ERR" || return 1
	SUPERVISOR=$(parent_of "$SERVER")
	GUARD=$(parent_of "$SUPERVISOR")
	track "$SERVER" "$SUPERVISOR" "$GUARD"
}

# more [OPTION...] -- [SERVER OPTION...]: one more front, attached; sets FRONT
more() {
	share "$@"
	attached "$ERR"
}

# attached [FILE]: its front has said so
attached() { await_line "${1-$ERR}" "attached to server [0-9]+, shared as $SOCK; owner "; }

parent_of() {
	local fields
	read -r -a fields <<<"$(stat_of "/proc/$1/stat")"
	echo "${fields[1]}"
}

# hold [OPTION...]: another program that holds the server; sets HOLD, and HELD
# to what it prints
hold() {
	start hold "$@" "$SOCK"
	HOLD=$PID
	HELD=$OUT
	await_line "$HELD" '^connected '
}

# front_said ERE: a line of the last front, with a command or without
front_said() { assert_lines "$ERR" "^ownerwrap(\\[server\\])?: $1\$" 1; }

# held N: so many holds were made, with those let go meanwhile
held() { until_true "[ \$(count_lines wlog ' attached\$') = $1 ]"; }

# logged ERE [COUNT]: a line (so many lines) of the log, without its prefix
logged() { assert_lines wlog "Z [0-9]+ ownerwrap\\[[^]]*\\]: $1\$" "${2-1}"; }

# await_end: the server is gone, those who looked after it are too, and so are
# socket and lock
await_end() {
	await_gone "$SERVER" "$SUPERVISOR" "$GUARD" || return 1
	nothing_in "$DIR"
}

nothing_in() {
	local left
	left=$(ls -A "$1") || return 1
	assert_equal "$left" "" "what is left in $1"
}

# ended PID STATUS...: the front has ended, with this status
ended() {
	finish "$1" || return 1
	expect_status "$2"
}

# let_go PID...: by TERM, which is a front's own
let_go() {
	local pid
	for pid; do
		kill "$pid"
		ended "$pid" 143 || return 1
	done
}

# --- one server -------------------------------------------------------------

@test "share: the first front starts the server, later ones attach to it" {
	first --grace 0.1 --
	more --
	b=$FRONT
	more --
	c=$FRONT
	assert_lines log '^ready ' 1
	logged "server $SERVER started; shared as $SOCK"
	logged '[0-9]+ \(.*\) attached' 3
	assert_equal "$(tr '\0' ' ' <"/proc/$SUPERVISOR/cmdline" | xargs)" \
		"ow-supervisor server=$SERVER share=$SOCK"
	let_go "$A" "$b"
	lives_on 300 "$SERVER"
	let_go "$c"
	await_end
	logged '[0-9]+ let go' 3
	logged "nobody holds $SOCK; stopping server $SERVER \(TERM in 0.1s, .*\)"
	assert_lines log '^TERM' 1
}

@test "share: 50 simultaneous starts give one server, and all 50 are attached" {
	fronts=()
	mkfifo go
	for ((i = 0; i < 50; i++)); do
		start sh -c 'read -r _ <go; exec "$@"' - \
			"$OW" --share t -v -g 0.2 -p $$ -- server -l log
		fronts+=("$PID")
	done
	exec 7<>go
	yes "" | head -n 50 >&7
	SERVER=$(server_pid log)
	for ((i = 1; i <= 50; i++)); do
		attached "err.$i"
		assert_lines "err.$i" "attached to" 1
	done
	sleep 0.2		# a second server would be ready by then
	assert_lines log '^ready ' 1
	assert_equal "$(cat err.* | grep -c "attached to server $SERVER,")" 50
	pids=$(marked)		# alone: all that is started here is marked
	assert_equal "$(wc -w <<<"$pids")" 53
	assert_alive "${fronts[@]}"
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	kill "${fronts[@]}"
	for pid in "${fronts[@]}"; do
		ended "$pid" 143
	done
	await_end
}

@test "share: who asks for another command is attached, and told so, with both" {
	first -g 0.1 --
	more -- -i
	said "attached to server $SERVER, which was started as another command: server -l log, not server -l log -i"
	assert_lines log '^ready ' 1
	b=$FRONT
	# At the default level, too; and not under -q.
	start "$OW" --share t true
	await_line "$ERR" .
	assert_lines "$ERR" . 1
	said "attached to server $SERVER, which was started as another command: server -l log, not true"
	let_go "$PID"
	start "$OW" --share t -v -q true
	held 4
	assert_lines "$ERR" . 0
	let_go "$PID" "$A" "$b"
	await_end
}

@test "share: a long or odd command is cut and made harmless in the line" {
	first -g 0.1 --
	start "$OW" --share t "$(printf 'a\nb\033c')" "$(printf %03000d 0)"
	await_line "$ERR" 'another command: server -l log, not a.b.c 0+$'
	assert_lines "$ERR" . 1
	let_go "$PID" "$A"
	await_end
}

@test "share: without a command it attaches only; without a server it is 125" {
	run --separate-stderr "$OW" --share t
	expect_status 125
	expect_said "ownerwrap: $SOCK: no server is shared there"
	nothing_in "$DIR"
	first -g 0.1 --
	start "$OW" --share t -v
	attached
	assert_lines "$ERR" . 1
	kill "$A"
	lives_on 300 "$SERVER" "$PID"
	let_go "$PID"
	await_end
	run --separate-stderr "$OW" --share t
	expect_status 125
}

@test "share: a script holds somebody else's server as long as it runs" {
	first -g 0.1 -- -p
	mkfifo go
	sh -c '"$1" --share t -p $$ & read -r _ <go; exit 0' - "$OW" 3>&- &
	track $!
	held 2
	let_go "$A"
	lives_on 300 "$SERVER"
	echo >go
	await_end
}

@test "share: NAME, an absolute and a relative PATH" {
	mkdir d
	start "$OW" --share d/x.sock -v -g 0.1 -- server -l log
	A=$PID
	SERVER=$(server_pid log)
	[ -S d/x.sock ]
	start "$OW" --share "$PWD/d/x.sock" -v
	await_line "$ERR" "attached to server $SERVER, shared as $PWD/d/x.sock"
	b=$PID
	start env -C d "$OW" --share ./x.sock -v
	await_line "$ERR" "attached to server $SERVER, "
	c=$PID
	# The supervisor works in /.
	assert_equal "$(readlink "/proc/$(parent_of "$SERVER")/cwd")" /
	let_go "$A" "$b" "$c"
	await_gone "$SERVER"
	until_true '[ -z "$(ls -A d)" ]'
	[ ! -e run/ownerwrap ]
}

@test "share: names without XDG_RUNTIME_DIR are in a directory of /run/user or /tmp" {
	name=ow-$OWTEST_ID
	dir=/tmp/ownerwrap-$(id -u)
	[ ! -d "/run/user/$(id -u)" ] || dir=/run/user/$(id -u)/ownerwrap
	for env in 'env -u XDG_RUNTIME_DIR' 'env XDG_RUNTIME_DIR=' 'env XDG_RUNTIME_DIR=run'; do
		rm -f log
		# shellcheck disable=SC2086
		start $env "$OW" --share "$name" -g 0 -- server -l log
		SERVER=$(server_pid log)
		[ -S "$dir/$name.sock" ]
		assert_equal "$(stat -c '%a %u' "$dir")" "700 $(id -u)"
		let_go "$PID"
		await_gone "$SERVER"
		until_true "[ ! -e '$dir/$name.sock.lock' ]"
		[ ! -e "$dir/$name.sock" ]
	done
	rmdir "$dir" 2>/dev/null || true
	[ ! -e run/ownerwrap ]
}

@test "share: OWNERWRAP_SHARE, with and without a command" {
	start env OWNERWRAP_SHARE=t "$OW" -g 0.1 -- server -l log
	A=$PID
	SERVER=$(server_pid log)
	[ -S "$SOCK" ]
	start env OWNERWRAP_SHARE=t "$OW" -v
	attached
	b=$PID
	start env OWNERWRAP_SHARE=other "$OW" --share t -v
	attached
	let_go "$A" "$b" "$PID"
	await_gone "$SERVER"
	run env OWNERWRAP_SHARE= "$OW"
	expect_status 125
	expect_match 'no command'
}

# --- what the server gets ---------------------------------------------------

# The dump of what a shared server gets; its own is that of a command started
# by the same shell.
@test "share: the server gets directory, environment, umask, limits of the first front" {
	mkdir -m 755 sub
	(
		cd sub
		umask 031
		ulimit -n 300
		ulimit -Sc 0
		export OWNERWRAP_GRACE=0.1 OWNERWRAP_KILL_AFTER=3 X='a b'
		plain dump -o dumped first
		mv dumped ../plain
		start "$OW" --share t -- dump -o dumped first
		ended "$PID" 0
		mv dumped ../shared
	)
	grep -v '^env OWNERWRAP_\|^fd ' plain >expected
	grep -v '^fd ' shared >got
	# Its own are session and group.
	for word in sid pgid tty ctty "env SHLVL=.*"; do
		sed -Ei "/^$word( |\$)/d" expected got
	done
	diff expected got
	for line in 'umask 031' 'env X=a b' "cwd $PWD/sub" 'limit 7 300 300'; do
		grep -Eq "$line" got || fail "no '$line' in $(cat got)"
	done
	[ "$(grep -c '^env OWNERWRAP_' got)" = 0 ]
}

# stdio FILE FILE FILE: that is all that is in the dump, fds
stdio() {
	local got
	got=$(sed -n 's/^\(fd [0-9]* [^ ]*\) .*/\1/p' fds | xargs)
	assert_equal "$got" "fd 0 $1 fd 1 $2 fd 2 $3"
}

@test "share: the server gets /dev/null and the log as stdio, and nothing above 2" {
	exec 8<"$BATS_TEST_FILENAME" 9>kept
	run --separate-stderr bash -c 'echo in | "$0" --share t --log wlog -g 0.1 -- \
		sh -c "echo out; echo err >&2; cat >in; exec dump -o fds"' "$OW"
	exec 8<&- 9>&-
	expect_status 0
	expect_output ""
	stdio /dev/null "$PWD/wlog" "$PWD/wlog"
	[ ! -s in ]
	assert_lines wlog '^out$' 1
	assert_lines wlog '^err$' 1
	# And /dev/null without a log.
	run "$OW" --share t -- sh -c 'echo out; exec dump -o fds'
	stdio /dev/null /dev/null /dev/null
	[[ $output != *out* ]]
}

@test "share: listeners that the first front was given are not announced to the server" {
	listening='export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=x WATCHDOG_PID=$$; exec "$@" 3<.'
	run -0 sh -c "$listening" - "$OW" --share t -- dump -o dumped
	[ "$(grep -c '^env LISTEN_' dumped)" = 0 ]
	[ "$(grep -c '^env WATCHDOG_PID=[0-9]' dumped)" = 1 ]
}

@test "share: closed standard descriptors of the first front are no trouble" {
	for closed in 0 0,1,2; do
		run -0 plain sock "close=$closed" "$OW" --share t -- dump -o fds
		stdio /dev/null /dev/null /dev/null
	done
}

@test "share: nobody of the pair keeps what the host gave" {
	mkfifo pipe
	start sh -c 'exec "$@" <pipe 5<pipe' - "$OW" --share t --log wlog -v -g 0.1 -- server -l log
	A=$PID
	exec 7>pipe
	SERVER=$(server_pid log)
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	attached
	for pid in "$A" "$GUARD" "$SUPERVISOR" "$SERVER"; do
		[[ $(readlink "/proc/$pid/fd"/*) != *"$PWD/pipe"* ]] ||
			fail "$pid keeps the pipe"
	done
	exec 7>&-
	# Each a detached session that is not the starter's, below init.
	assert_equal "$(ps -o sid= -p "$SERVER" | xargs)" "$GUARD"
	assert_equal "$(ps -o sid= -p "$SUPERVISOR" | xargs)" "$SUPERVISOR"
	[ "$(parent_of "$GUARD")" != "$A" ]
	let_go "$A"
	await_end
}

# --- what happens to a front -------------------------------------------------

@test "share: SIGKILL to the starter, its group or its session harms nobody" {
	for what in front group session; do
		rm -f log wlog
		BY=(setsid)
		# A second group in that session, whose leader is the first.
		if [ $what = session ]; then
			BY=(setsid bash -c 'set -m; "$@" & echo "$!" >pid; wait' -)
		fi
		first -g 0.1 --
		BY=()
		more --
		b=$FRONT
		case $what in
		front) kill -KILL "$A" ;;
		group) kill -KILL -- "-$A" ;;
		session)
			read -r -a pids <<<"$(ps -o pid= -s "$A" | xargs)"
			[ "${#pids[@]}" -ge 2 ]
			kill -KILL "${pids[@]}"
			;;
		esac
		await_gone "$A"
		held 2
		until_true "[ \$(count_lines wlog ' let go\$') = 1 ]"
		lives_on 300 "$SERVER" "$SUPERVISOR" "$GUARD" "$b"
		assert_lines log '^(TERM|HUP)' 0
		more --
		let_go "$b" "$FRONT"
		await_end
	done
}

@test "share: the end of the starter's terminal harms nobody" {
	cat >script <<-END
		expect attached to server
		until test -e go
		close
		wait signal HUP
	END
	start pty script "$OW" --share t -v -g 0.1 --log wlog -- server -l log
	terminal=$PID
	SERVER=$(server_pid log)
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	more --
	: >go
	ended "$terminal" 0
	until_true "[ \$(count_lines wlog ' let go\$') = 1 ]"
	lives_on 300 "$SERVER" "$FRONT"
	assert_lines log '^HUP' 0
	let_go "$FRONT"
	await_end
}

@test "share: TERM, INT, HUP and QUIT end that front by that signal, and it alone" {
	first -g 0.1 --
	for name in TERM INT HUP QUIT; do
		more --
		before=$(count_lines wlog ' let go$')
		kill -s "$name" "$FRONT"
		ended "$FRONT" $((128 + $(kill -l "$name")))
		until_true "[ \$(count_lines wlog ' let go\$') = $((before + 1)) ]"
	done
	# The starter as well.
	more --
	kill -INT "$A"
	ended "$A" 130
	lives_on 200 "$SERVER" "$FRONT"
	assert_lines log '^(TERM|INT|HUP|QUIT)' 0
	[ ! -e core ]
	let_go "$FRONT"
	await_end
}

@test "share: a signal that was ignored at the start is ignored by the front" {
	first -g 0.1 --
	start sig ignore HUP,INT -- "$OW" --share t -v
	attached
	kill -HUP "$PID"
	kill -INT "$PID"
	lives_on 200 "$PID"
	let_go "$PID" "$A"
	await_end
}

@test "share: ^C, ^Z and CONT act on the front alone" {
	first -g 0.1 -- -z
	running='! ps -o stat= -p $PTY_PID | grep -q ^T'
	cat >script <<-END
		expect attached to server
		send \x1a
		wait stopped TSTP
		run ps -o stat= -p $SERVER | grep -q ^S
		resume
		until $running
		kill TTIN cmd
		wait stopped TTIN
		kill CONT cmd
		until $running
		kill TTOU cmd
		wait stopped TTOU
		resume
		until $running
		send \x03
		wait signal INT
	END
	run plain pty -L script "$OW" --share t -v
	expect_status 0
	assert_lines log '^(INT|TSTP|TTIN|TTOU|CONT)' 0
	assert_alive "$SERVER" "$A"
	let_go "$A"
	await_end
}

# The kernel does it: one who raised it could flush a CONT that had just come.
@test "share: the front does not stop itself" {
	first -g 0.1 --
	BY=(late kill go)
	more --
	kill -TSTP "$FRONT"
	until_true "ps -o stat= -p $FRONT | grep -q ^T"
	kill -CONT "$FRONT"
	until_true "! ps -o stat= -p $FRONT | grep -q ^T"
	: >go
	let_go "$A" "$FRONT"
	await_end
}

@test "share: a stopped front goes on holding" {
	first -g 0.1 --
	more --
	kill -STOP "$FRONT"
	let_go "$A"
	lives_on 400 "$SERVER"
	kill -CONT "$FRONT"
	kill "$FRONT"
	ended "$FRONT" 143
	await_end
}

@test "share: other signals to a front do nothing" {
	first -g 0.1 --
	for name in USR1 USR2 WINCH URG ALRM PIPE IO CHLD CONT SEGV ABRT 34 64; do
		kill -s "$name" "$A"
	done
	lives_on 200 "$A" "$SERVER"
	assert_lines log '^[A-Z]' 0
	let_go "$A"
	await_end
}

@test "share: --any in a front means its own owners" {
	first -g 0.1 --any --
	more --
	kill -KILL "$FRONT"
	await_gone "$FRONT"
	lives_on 300 "$SERVER" "$A"
	new_owner
	one=$OWNER
	new_owner
	start "$OW" --share t -v --any -p "$one" -p "$OWNER"
	attached
	kill -KILL "$one"
	ended "$PID" 124
	front_said "owner $one \(sleep, up .*\) is gone; letting go of $SOCK"
	let_go "$A"
	await_end
}

# --- owners -----------------------------------------------------------------

# unaffected: the others, and the server
unaffected() { lives_on 200 "$SERVER" "$A"; }

@test "share: each front watches its own owners, named by pid" {
	first -g 0.1 --
	new_owner
	share -p "$OWNER"
	attached
	kill -KILL "$OWNER"
	ended "$FRONT" 124
	front_said "owner $OWNER \(sleep, up .*\) is gone; letting go of $SOCK"
	unaffected
	# Two: both must be gone.
	new_owner
	one=$OWNER
	new_owner
	share -p "$one" -p "$OWNER"
	attached
	kill -KILL "$one"
	lives_on 300 "$FRONT"
	kill -KILL "$OWNER"
	ended "$FRONT" 124
	front_said "owners $one \(.*\), $OWNER \(.*\) are gone; letting go of $SOCK"
	unaffected
	let_go "$A"
	await_end
}

@test "share: the default owner of a front is its parent, through sh -c" {
	first -g 0.1 --
	start owner -l host -x 500 "$OW" --share t -v
	attached
	front=$(sed -n 's/^cmd //p' host)
	track "$front"
	await_gone "$front"
	front_said "owner [0-9]+ \(owner, up .*\) is gone; letting go of $SOCK"
	start owner -l host -x 500 sh -c "'$OW' --share t -v; :"
	await_line "$ERR" 'letting go of'
	unaffected
	let_go "$A"
	await_end
}

@test "share: an owner by name" {
	first -g 0.1 --
	ln -s "$FIXTURES/owner" editor
	start ./editor -l host -x 500 "$OW" --share t -v -n nosuch -n editor
	attached
	front=$(sed -n 's/^cmd //p' host)
	track "$front"
	await_gone "$front"
	front_said "owner [0-9]+ \(editor, up .*\) is gone; letting go of $SOCK"
	unaffected
	let_go "$A"
	await_end
}

@test "share: an owner by descriptor, 0 too, and even with data in it" {
	first -g 0.1 --
	for fd in 7 0; do
		for kind in read unix pidfd; do
			[ "$kind.$fd" != pidfd.0 ] || continue
			rm -f host
			data=(-d 60)
			[ $kind != pidfd ] || data=()
			start ends -l host "${data[@]}" "$kind" "$fd" "$OW" --share t -v --owner-fd "$fd"
			attached
			kill -USR1 "$PID"
			await_line host '^exit 124$'
			front_said "owner fd $fd.* is gone; letting go of $SOCK"
			kill -KILL "$PID"
		done
	done
	unaffected
	let_go "$A"
	await_end
}

@test "share: a front without an owner starts and attaches nothing" {
	new_owner
	kill -KILL "$OWNER"
	await_gone "$OWNER"
	run --separate-stderr "$OW" --share t -p "$OWNER" touch started
	expect_status 124
	[ ! -e started ]
	[ ! -e "$SOCK" ]
	first -g 0.1 --
	run --separate-stderr "$OW" --share t -p "$OWNER"
	expect_status 124
	held 1
	let_go "$A"
	await_end
}

# --- grace ------------------------------------------------------------------

@test "share: the grace is 10 s by default, and a hold within it cancels the stop" {
	first --
	let_go "$A"
	await_line wlog "nobody holds $SOCK; stopping server $SERVER \(TERM in 10s, KILL 5s later, 10s if others must be told\)\$"
	more --
	lives_on 100 "$SERVER"
	let_go "$FRONT"
	until_true "[ \$(count_lines wlog 'nobody holds') = 2 ]"
	hold
	logged '[0-9]+ \(hold\) attached'
	kill -KILL "$HOLD"
	until_true "[ \$(count_lines wlog 'nobody holds') = 3 ]"
	assert_lines log '^TERM' 0
	kill "$SERVER"
	await_end
}

@test "share: the stop comes when the whole grace is over, counted anew each time" {
	first -g 4 --
	let_go "$A"
	await_line wlog 'nobody holds'
	sleep 0.5
	more --
	sleep 3.6		# the first grace would be over
	assert_alive "$SERVER"
	before=$(now_ms)
	let_go "$FRONT"
	await_gone "$SERVER"
	taken 4000 "$before"
	await_end
}

@test "share: --grace 0 stops at once" {
	first -g 0 --
	let_go "$A"
	await_end
	logged "nobody holds $SOCK; stopping server $SERVER \(TERM now, .*\)"
}

@test "share: the settings are those of the first front" {
	first -g 0.1 -k 0.3 -s USR1 -- -d
	more -g 30 -k 30 -s INT --
	let_go "$A" "$FRONT"
	await_end
	assert_lines log '^USR1' 1
	assert_lines log '^INT' 0
}

# --- the end ----------------------------------------------------------------

@test "share: the server's own end reaches every front: its status" {
	first -- -e 7
	more --
	b=$FRONT
	share
	attached
	hold
	kill "$SERVER"
	ended "$A" 7
	ended "$b" 7
	ended "$FRONT" 7
	ended "$HOLD" 0
	assert_lines "$HELD" '^got exit 7$' 1
	await_end
	assert_lines "err.$STARTED" . 0
}

@test "share: TERM to the supervisor stops the server, whoever holds it" {
	first -k 5 -- -e 6 -g setpgid
	more --
	kill -TERM "$SUPERVISOR"
	ended "$A" 6
	ended "$FRONT" 6
	assert_lines log '^TERM from ' 1
	await_end
}

@test "share: the server's own end reaches every front: the signal" {
	for name in KILL SEGV USR1; do
		rm -f log wlog
		first -- -n
		more --
		hold
		kill -s "$name" "$SERVER"
		n=$(kill -l "$name")
		ended "$A" $((128 + n))
		ended "$FRONT" $((128 + n))
		ended "$HOLD" 0
		assert_lines "$HELD" "^got signal $n\$" 1
		await_end
	done
}

@test "share: who holds during a stop by --max-idle gets 124" {
	first --max-idle 8 -i 0.1 -- -e 3
	more --
	hold
	ended "$A" 124
	ended "$FRONT" 124
	ended "$HOLD" 0
	assert_lines "$HELD" '^got exit 124$' 1
	await_end
}

@test "share: a command that can't be executed: 126, 127 and the usual line" {
	: >plain
	for case in '127 nosuch "nosuch: not found in PATH="' '126 ./plain "./plain: can.t be executed: "'; do
		eval "set -- $case"
		run -"$1" --separate-stderr "$OW" --share t "$2"
		expect_said_match "^ownerwrap\\[${2##*/}\\]: $3"
		[ "${#stderr_lines[@]}" = 1 ]
		until_true "[ -z \"\$(ls -A '$DIR')\" ]"
	done
}

@test "share: a server that ends within 2 s: once more, not for stdio servers" {
	run --separate-stderr "$OW" --share t sh -c 'read -r _; exit 4'
	expect_status 4
	expect_said_match '^ownerwrap\[sh\]: the shared server ended after [0-9.]+s \(status 4\): what it says goes to --log; --share is not for stdio servers$'
	run --separate-stderr "$OW" --share t sleep 2.1
	expect_status 0
	expect_said ""
	run --separate-stderr "$OW" --share t sh -c 'kill -s USR1 $$'
	expect_said_match '^ownerwrap\[sh\]: the shared server ended after [0-9.]+s \(USR1\): what it says goes to --log$'
}

@test "share: a server that ends at once ends its front with its status, always" {
	for i in {1..40}; do
		run "$OW" --share t -q -- sh -c 'exit 5'
		expect_status 5
	done
	until_true "[ -z \"\$(ls -A '$DIR')\" ]"
}

# --- other programs ---------------------------------------------------------

@test "share: any program holds by connecting, and is told what the manual says" {
	first -g 0.1 -- -e 3
	hold
	await_line "$HELD" .
	line=$(sed -n 's/^got //p' "$HELD")
	assert_equal "$line" "server $SERVER server -l log -e 3"
	let_go "$A"
	lives_on 400 "$SERVER"
	assert_lines "$HELD" '^got ' 1
	kill -KILL "$HOLD"
	await_end
	logged "$HOLD \(hold\) attached"
	logged "$HOLD let go"
}

@test "share: who has connected but says and reads nothing holds; one that half closed, too" {
	first -g 0.1 --
	for how in -d -s; do
		hold $how
		more --
		let_go "$A" "$FRONT"
		lives_on 300 "$SERVER"
		more --
		A=$FRONT
		kill -KILL "$HOLD"
		await_gone "$HOLD"
	done
	assert_lines wlog 'nobody holds' 0
	let_go "$FRONT"
	await_end
}

@test "share: a hold is its connection, whoever has inherited it" {
	first -g 0.1 -i 0.1 --
	hold -i
	await_line "$HELD" '^child '
	heir=$(sed -n 's/^child //p' "$HELD")
	track "$heir"
	await_gone "$HOLD"
	let_go "$A"
	lives_on 500 "$SERVER" "$heir"
	kill -KILL "$heir"
	await_end
	assert_lines wlog "$HOLD let go\$" 1
}

@test "share: a hold of a server that is stopped is told how it ended" {
	first -g 0.1 -- -e 9
	hold
	kill -KILL "$GUARD"
	await_end
	ended "$HOLD" 0
	assert_lines "$HELD" '^got exit 9$' 1
	ended "$A" 9
}

# --- either of the pair -----------------------------------------------------

@test "share: the guard is SIGKILLed: the supervisor stops the server, fronts get its status" {
	first -g 30 -k 0.3 -- -d -g deaf
	more --
	kill -KILL "$GUARD"
	ended "$A" 137
	ended "$FRONT" 137
	await_end
	refute_alive "$(child_pid log deaf)"
	logged "the front was killed; stopping server $SERVER \(TERM now, .*\)"
	assert_lines log '^TERM' 1
}

@test "share: the supervisor is SIGKILLed: the guard stops the server, fronts end with 125" {
	first -g 30 -k 0.3 -- -d -g deaf
	more --
	kill -KILL "$SUPERVISOR"
	ended "$A" 125
	ended "$FRONT" 125
	front_said "the supervisor of $SOCK is gone, without a status"
	await_end
	refute_alive "$(child_pid log deaf)"
	logged "the supervisor was killed; stopping server $SERVER \(TERM now, .*\)"
	assert_lines log '^TERM' 1
}

@test "share: a stop signal to the guard goes to the server, which ends for all" {
	first -g 30 -- -e 6
	more --
	kill "$GUARD"
	ended "$A" 6
	ended "$FRONT" 6
	await_end
	assert_lines log '^TERM' 1
}

# --- stopping and starting --------------------------------------------------

# stopping [OPTION...]: a deaf server is being stopped; it takes -k seconds,
# or till it is killed
stopping() {
	first -g 0 "$@" -- -d
	let_go "$A"
	await_line log '^TERM'
	mv log old
}

@test "share: who comes while the old server is being stopped waits, then starts anew" {
	stopping -k 4
	old=$SERVER
	share -g 0.1 --
	A=$FRONT
	share -g 0.1 --
	lives_on 200 "$A" "$FRONT" "$old"
	[ ! -e log ]
	SERVER=$(server_pid log)
	refute_alive "$old"
	attached
	attached "err.$((STARTED - 1))"
	assert_lines log '^ready' 1
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	let_go "$A" "$FRONT"
	await_end
}

@test "share: who waits for the old server's end watches its owners, and its signals" {
	stopping -k 60
	new_owner
	share -p "$OWNER" --
	sleep 0.2
	kill -KILL "$OWNER"
	ended "$FRONT" 124
	front_said "owner $OWNER \(.*\) is gone; letting go of $SOCK"
	for name in TERM INT HUP QUIT; do
		share --
		sleep 0.1
		kill -s $name "$FRONT"
		ended "$FRONT" $((128 + $(kill -l $name)))
	done
	share
	lives_on 200 "$FRONT"
	assert_alive "$SERVER"
	kill -KILL "$SERVER"
	ended "$FRONT" 125
	front_said "$SOCK: no server is shared there"
	[ ! -e log ]
	await_end
}

@test "share: the old server's lock is kept until its leftovers are gone" {
	first -g 0 -k 4 -- -g deaf
	child=$(child_pid log deaf)
	let_go "$A"
	await_gone "$SERVER"
	old=("$SUPERVISOR" "$GUARD")
	rm log
	share -g 0.1 --
	lives_on 200 "$child"
	[ ! -e log ]
	SERVER=$(server_pid log)
	refute_alive "$child"
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	[ "$SUPERVISOR" != "${old[0]}" ]
	let_go "$FRONT"
	await_end
}

@test "share: a hold that comes with the last one's end is not lost" {
	first -g 0 --
	b=$A
	for i in {1..15}; do
		share --
		kill "$b"
		attached
		finish "$b"
		b=$FRONT
	done
	# Each is attached to a server that lives.
	let_go "$b"
	until_true "[ -z \"\$(ls -A '$DIR')\" ]"
	for pid in $(sed -n 's/^ready //p' log); do
		refute_alive "$pid"
	done
}

@test "share: what a starter that died half-way left is repaired by the next" {
	mkdir -m 700 "$DIR"
	for stale in "t.sock" "t.sock.lock" "t.sock t.sock.lock"; do
		rm -f log wlog
		for file in $stale; do
			case $file in
			*.lock) (umask 077 && : >"$DIR/$file") ;;
			*) talk_once "$DIR/$file" ;;
			esac
		done
		run "$OW" --share t
		expect_status 125
		first -g 0 --
		let_go "$A"
		await_end
	done
}

# talk_once SOCKET: one is left there that nobody listens on
talk_once() {
	start talk serve -l talk "$1"
	until_true "[ -S '$1' ]"
	kill -KILL "$PID"
	await_gone "$PID"
}

@test "share: both of the pair SIGKILLed: the next start repairs it" {
	first -g 0 --
	kill -STOP "$GUARD"
	kill -KILL "$SUPERVISOR"
	kill -KILL "$GUARD"
	ended "$A" 125
	await_gone "$SERVER"	# the kernel's death signal
	[ -S "$SOCK" ]
	rm log wlog
	first -g 0 --
	let_go "$A"
	await_end
}

@test "share: two never run at once: 500 races of starts, stops and kills" {
	mkdir -m 700 "$DIR"
	run races -n 500 "$SOCK" "$OW"
	expect_status 0
}

# --- security ---------------------------------------------------------------

@test "share: socket and lock are 0600, the directory is 0700, whatever the umask" {
	umask 0
	first -g 0 --
	assert_equal "$(stat -c '%a %n' "$DIR" "$SOCK" "$SOCK.lock" | xargs)" \
		"700 $DIR 600 $SOCK 600 $SOCK.lock"
	let_go "$A"
	await_end
	umask 0777
	run "$OW" --share t -q true
	umask 022
	expect_status 0
	assert_equal "$(stat -c %a "$DIR")" 700
}

# no_share MESSAGE SHARE: nothing is started, one line
no_share() {
	run --separate-stderr timeout "$LIMIT" "$OW" --share "$2" touch started
	assert_equal "$status" 125 "status for $2"
	assert_equal "$stderr" "ownerwrap[touch]: $1" "line for $2"
	[ ! -e started ]
}

SAFE="must be a directory of this user's or root's that nobody else can write to"

@test "share: a directory that others can write to is refused" {
	mkdir d
	for mode in 777 1777 775 757 720; do
		chmod $mode d
		no_share "$PWD/d: $SAFE" "$PWD/d/x.sock"
		no_share "$PWD/d: $SAFE" d/x.sock
		nothing_in d
	done
	no_share "/tmp: $SAFE" "/tmp/x-$OWTEST_ID.sock"
	# It may be reached by a link.
	mkdir -m 700 other
	ln -s other link
	run -0 "$OW" --share link/x.sock -q true
}

@test "share: a directory of another user is refused, one of root's is not" {
	as_nobody
	mkdir -m 755 theirs roots
	chown 64999 theirs
	no_share "$PWD/theirs: $SAFE" theirs/x.sock
	nothing_in theirs
	run "${NOBODY[@]}" "$OW" --share roots/x.sock true
	expect_status 125
	expect_match 'Permission denied'	# which comes later
}

@test "share: a directory that is not there, or no directory" {
	no_share "directory $PWD/nosuch: No such file or directory" nosuch/x.sock
	: >file
	no_share "$PWD/file: $SAFE" file/x.sock
}

@test "share: what is at PATH and no socket of ours is an error, never removed" {
	mkdir -m 700 "$DIR" sub
	talk_once "$PWD/stale"
	for kind in file directory fifo link socketlink dangling; do
		case $kind in
		file) echo text >"$SOCK" ;;
		directory) mkdir "$SOCK" ;;
		fifo) mkfifo "$SOCK" ;;
		link) ln -s "$BATS_TEST_FILENAME" "$SOCK" ;;
		socketlink) ln -s "$PWD/stale" "$SOCK" ;;
		dangling) ln -s "$PWD/sub/made" "$SOCK" ;;
		esac
		before=$(stat -c '%i %F %s' "$SOCK")
		no_share "$SOCK: is there, and no socket of this user" t
		run --separate-stderr "$OW" --share t
		expect_status 125
		assert_equal "$(stat -c '%i %F %s' "$SOCK")" "$before"
		rm -r "$SOCK"
	done
	nothing_in sub
	[ -S stale ]
}

@test "share: beside PATH, too: a link is not followed" {
	mkdir -m 700 "$DIR" sub
	ln -s "$PWD/sub/made" "$SOCK.lock"
	no_share "lock $SOCK.lock: Too many levels of symbolic links" t
	nothing_in sub
}

@test "share: another user's socket is an error, never removed" {
	as_nobody
	mkdir -m 700 "$DIR"
	talk_once "$SOCK"
	chown 64999 "$SOCK"
	no_share "$SOCK: is there, and no socket of this user" t
	[ -S "$SOCK" ]
}

# Root's directory lets them in, who have no right to be there.
@test "share: another user holds nothing, even where the modes let it in" {
	as_nobody
	first -g 0.1 --
	chmod 711 run "$DIR"
	SOCK=run/ownerwrap/t.sock hold -u 65534
	assert_lines "$HELD" '^error EACCES$' 1
	chmod 777 "$SOCK"
	SOCK=run/ownerwrap/t.sock hold -u 65534
	await_line "$HELD" '^closed'
	assert_lines "$HELD" '^got' 0
	ended "$HOLD" 0
	assert_lines wlog ' attached$' 1
	let_go "$A"
	await_end
}

@test "share: another user's server is not attached to" {
	as_nobody
	chmod 711 run
	mkdir -m 711 "$DIR"
	# Bound by us, and listened on by them, who got the descriptor.
	start "${NOBODY[@]}" talk serve -l talk ./theirs
	until_true "[ -S theirs ]"
	chown 0 theirs
	chmod 777 theirs
	mv theirs "$SOCK"
	no_share "socket $SOCK: Operation not permitted" t
	[ -S "$SOCK" ]
}

@test "share: a path too long for a socket is refused with the limit" {
	mkdir -m 700 "$PWD/d"
	fill=$(printf %0102d 0)
	room=$((102 - ${#PWD} - 3))
	no_share "d/${fill::room + 1}: too long: 102 bytes at most, with its directory" \
		"d/${fill::room + 1}"
	run -0 "$OW" --share "d/${fill::room}" -q true
	run -125 "$OW" --share "$(printf %05000d 0)" true
	expect_match 'too long: 102 bytes at most, with its directory$'
	until_true '[ -z "$(ls -A d)" ]'
}

@test "share: another program that listens at PATH is refused, and nothing is removed" {
	mkdir -m 700 "$DIR"
	fronts=() errs=()
	for manner in silent mute half closes floods lines; do
		start impostor $manner "$DIR/$manner.sock"
		await_line "$OUT" '^ready$'
	done
	before=$(stat -c '%i %n' "$DIR"/*)
	for manner in silent mute half closes floods lines; do
		for command in touch ''; do
			start "$OW" --share $manner $command ${command:+started}
			fronts+=("$PID") errs+=("$ERR")
		done
	done
	let_pass 500
	for i in "${!fronts[@]}"; do
		ticks=$(cpu_ticks "${fronts[i]}" 2>/dev/null)
		[ "$ticks" -lt 15 ] || fail "${fronts[i]} has spun: $ticks ticks"
	done
	for i in "${!fronts[@]}"; do
		ended "${fronts[i]}" 125
		assert_lines "${errs[i]}" . 1
		assert_lines "${errs[i]}" \
			"^ownerwrap(\\[touch\\])?: $DIR/[a-z]+.sock: another program listens there\$" 1
	done
	[ ! -e started ]
	assert_equal "$(stat -c '%i %n' "$DIR"/*)" "$before"
}

# --- many, and odd ones -----------------------------------------------------

# idle PID...: uses no more than a little CPU in half a second
idle() {
	local before
	before=$(cpu_ticks "$@")
	sleep 0.5
	[ $(($(cpu_ticks "$@") - before)) -le 5 ] ||
		fail "used $(($(cpu_ticks "$@") - before)) ticks"
}

@test "share: 2,000 connections" {
	[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 5000 ] ||
		skip_or_fail 'needs 5000 descriptors'
	first -g 0.1 --
	hold -n 2000
	assert_lines "$HELD" '^connected 2000$' 1
	until_true "[ \$(count_lines '$HELD' '^got ') = 2000 ]"
	[ "${OWNERWRAP_TEST_MODE-}" = poll ] || idle "$SUPERVISOR" "$GUARD"
	more --
	let_go "$FRONT" "$A"
	lives_on 200 "$SERVER"
	kill -KILL "$HOLD"
	await_end
	assert_lines log '^TERM' 1
}

@test "share: connections that flood bytes, and that come and go" {
	first -g 0.1 --
	hold -f -n 20
	await_line "$HELD" '^wrote'
	idle "$SUPERVISOR" "$GUARD" "$HOLD"
	kill -KILL "$HOLD"
	hold -c 3000
	lives_on 100 "$SERVER" "$A"
	kill -KILL "$HOLD"
	until_true "[ \$(ls /proc/$SUPERVISOR/fd | wc -l) -lt 20 ]"
	let_go "$A"
	await_end
}

@test "share: a full backlog: who comes waits, and is attached" {
	LIMIT=$((LIMIT * 6))	# thousands come before it
	first -g 0.1 --
	kill -STOP "$SUPERVISOR"
	hold -b -n 5000
	[ "$(sed -n 's/^connected //p' "$HELD")" -lt 5000 ] ||
		skip_or_fail 'the backlog is never full'
	share -p $$
	b=$FRONT
	new_owner
	share -p "$OWNER"
	idle "$b" "$FRONT"
	kill -KILL "$OWNER"	# its owners are watched meanwhile
	ended "$FRONT" 124
	kill -CONT "$SUPERVISOR"
	attached "err.$((STARTED - 1))"
	kill -KILL "$HOLD"
	let_go "$A" "$b"
	await_end
}

@test "share: no descriptors left: nobody is harmed, nobody spins, and it heals" {
	BY=(limits nofile=110 --)
	first -g 0.1 -i 0.2 --
	BY=()
	grep -Eq '^Max open files +110 +110 ' "/proc/$SERVER/limits"
	hold -n 200
	b=$HOLD
	more_held=$(count_lines wlog ' attached$')
	[ "$more_held" -lt 150 ]
	idle "$SUPERVISOR" "$GUARD"
	lives_on 100 "$SERVER" "$A"
	share -p $$
	lives_on 100 "$FRONT"
	kill -KILL "$b"
	attached
	let_go "$A"
	lives_on 300 "$SERVER"
	let_go "$FRONT"
	await_end
}

@test "share: no descriptors left: what the server has left is ended all the same" {
	BY=(limits nofile=110 --)
	first -g 0.1 -k 1 -- -g deaf
	BY=()
	child=$(child_pid log deaf)
	hold -n 200
	idle "$SUPERVISOR" "$GUARD"
	kill -KILL "$SERVER"
	ended "$A" 137
	refute_alive "$child"
	await_end
}

@test "share: the supervisor takes what the limits allow, the server has the starter's" {
	start sh -c 'ulimit -Sn 110; exec "$@"' - "$OW" --share t -v -g 0.1 -- server -l log
	A=$PID
	SERVER=$(server_pid log)
	attached
	assert_equal "$(awk '/^Max open files/ { print $4 }' "/proc/$SERVER/limits")" 110
	hold -n 200
	until_true "[ \$(count_lines '$HELD' '^got ') = 200 ]"
	kill -KILL "$HOLD"
	let_go "$A"
	await_gone "$SERVER"
}

@test "share: --keep-if has the starter's limit of descriptors, too" {
	BY=(sh -c 'ulimit -Sn 110; exec "$@"' -)
	first -g 0.1 -i 0.1 --keep-if "ulimit -Sn >>'$PWD/soft'; false" --
	# Otherwise it would be that without any care.
	[ "$(awk '/^Max open files/ { print $4 }' "/proc/$SUPERVISOR/limits")" != 110 ]
	let_go "$A"
	await_end
	assert_equal "$(sort -u soft)" 110
}

# --- cost -------------------------------------------------------------------

# switches PID...: how often they have waited
switches() {
	local pid
	for pid; do
		sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$pid/status"
	done | xargs
}

@test "share: nobody wakes up while there is nothing to do" {
	nopoll 'it looks every interval'
	first -i 0.1 --
	new_owner
	more -i 0.1 -p "$OWNER" --
	hold
	sleep 0.3
	before=$(switches "$GUARD" "$SUPERVISOR" "$A" "$FRONT" "$HOLD")
	[ "$(wc -w <<<"$before")" = 5 ]
	sleep 1
	assert_equal "$(switches "$GUARD" "$SUPERVISOR" "$A" "$FRONT" "$HOLD")" "$before"
	kill "$SERVER"
	await_end
}

# --- with other options -----------------------------------------------------

@test "share: --leftovers leave can't be used, wait works" {
	run --separate-stderr "$OW" --share t --leftovers leave touch started
	expect_status 125
	expect_said "ownerwrap[touch]: --leftovers: can't work here: with --share the server's end is the end of all"
	[ ! -e started ]
	first -g 0.1 --leftovers wait -- -x 1000 -g exit=4000 -e 8
	child=$(child_pid log exit=4000)
	await_gone "$SERVER"
	assert_alive "$child" "$A"
	ended "$A" 8
	refute_alive "$child"
	await_end
}

@test "share: --keep-if keeps a server that nobody holds" {
	: >keep
	first -g 0.2 -i 0.1 --keep-if "test -e '$PWD/keep'" --
	let_go "$A"
	await_line wlog 'no owner left, kept: '
	lives_on 500 "$SERVER"
	more --
	lives_on 100 "$SERVER"
	let_go "$FRONT"
	lives_on 400 "$SERVER"
	rm keep
	await_end
	await_line wlog "nobody holds $SOCK, kept no longer; stopping server $SERVER \(.*\)\$"
}

@test "share: --keep-connected keeps a server that nobody holds" {
	first -g 0.2 -i 0.1 --keep-connected -- -p
	await_line log '^port '
	start talk to "$(sed -n 's/^port /4:/p' log)"
	client=$PID
	await_line "$OUT" '^connected'
	let_go "$A"
	await_line wlog "no owner left, kept: $client \(talk\) is connected to port"
	lives_on 500 "$SERVER"
	kill -KILL "$client"
	await_end
}

@test "share: --scope process" {
	first -g 0.1 --scope process -- -g normal
	child=$(child_pid log normal)
	let_go "$A"
	await_end
	assert_alive "$child"
	kill -KILL "$child"
}

@test "share: below another ownerwrap it is spared as a session of its own" {
	new_owner
	start "$OW" -p "$OWNER" -g 0 -- sh -c '"$@" & wait' - \
		"$OW" --share t -v -g 0.2 --log wlog -- server -l log
	outer=$PID said=$ERR
	SERVER=$(server_pid log)
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	attached "$said"
	more
	kill -KILL "$OWNER"
	ended "$outer" 124
	assert_lines "$said" 'left running as daemons: ' 1
	until_true "[ \$(count_lines wlog ' let go\$') = 1 ]"
	lives_on 200 "$SERVER" "$FRONT"
	assert_lines log '^TERM' 0
	let_go "$FRONT"
	await_end
}

@test "share: OWNERWRAP=off starts the command, and shares nothing" {
	OWNERWRAP=off run -0 "$OW" --share t touch started
	[ -e started ]
	[ ! -e run/ownerwrap ]
}

# --- at odd moments ----------------------------------------------------------

# late_in CALL [SKIP]: BY=(...) for a program whose CALLs wait for the file go
late_in() {
	rm -f go go.*
	BY=(late -s "${2-0}" "$1" go)
}

# in_call [PID]: that one, or somebody, waits in the call
in_call() { until_true "ls go.${1-*} >/dev/null 2>&1"; }

@test "share: a lock on a file that was removed meanwhile is none" {
	late_in flock
	share -g 0.1 --
	b=$FRONT said=$ERR
	in_call "$b"		# it has opened the lock file
	rm "$SOCK.lock"		# as those do who end
	BY=()
	first -g 0.1 --
	: >go
	await_line "$said" "attached to server $SERVER, "
	let_go "$b"
	lives_on 200 "$SERVER"
	let_go "$A"
	await_end
}

@test "share: where files can't be locked it is an error" {
	case $(uname -m) in x86_64) flock=73 ;; *) flock=32 ;; esac
	run --separate-stderr timeout "$LIMIT" deny EPERM $flock -- \
		"$OW" --share t touch started
	expect_status 125
	expect_said "ownerwrap[touch]: lock $SOCK.lock: Operation not permitted"
	[ ! -e started ]
}

@test "share: a server that runs before its supervisor has seen the first hold" {
	late_in chdir
	share --log wlog -g 0.1 --
	A=$FRONT
	SERVER=$(server_pid log)
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	in_call "$SUPERVISOR"
	: >go
	attached
	assert_lines "$ERR" 'another command' 0
	hold
	await_line "$HELD" "^got server $SERVER server -l log\$"
	kill -KILL "$HOLD"
	let_go "$A"
	await_end
}

@test "share: a server that has ended by then, and left a process: its status" {
	late_in chdir
	share -k 0.5 --log wlog -- -x 300 -e 3 -g normal
	child=$(child_pid log normal)
	SERVER=$(server_pid log)
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	in_call "$SUPERVISOR"
	await_gone "$SERVER"
	: >go
	ended "$FRONT" 3
	refute_alive "$child"
	await_end
}

@test "share: a server that can't be executed, and others are there already" {
	skip=1		# its own
	[ "${OWNERWRAP_TEST_MODE-}" != poll ] || skip=2
	late_in execve $skip
	start "${BY[@]}" "$OW" --share t --log wlog ./nosuch
	A=$PID said=$ERR
	BY=()
	in_call
	start "$OW" --share t
	b=$PID others=$ERR
	start "$OW" --share t -q touch started
	# Connected, and accepted while the exec is under way.
	until_true "[ \$(grep -c ' 03  *[1-9][0-9]* $SOCK' /proc/net/unix) = 3 ]"
	: >go
	ended "$A" 127
	assert_lines "$said" '^ownerwrap\[nosuch\]: ./nosuch: not found' 1
	ended "$b" 125
	assert_lines "$others" . 1
	assert_lines "$others" "^ownerwrap: $SOCK: the server can't be executed: " 1
	# One that brings a command of its own tries that.
	ended "$PID" 0
	[ -e started ]
	until_true "[ -z \"\$(ls -A '$DIR')\" ]"
}

@test "share: who connects when the door is being closed starts anew" {
	late_in unlink 1	# the first is of what was stale
	first -g 0.1 --
	let_go "$A"
	in_call "$SUPERVISOR"
	before=$SERVER
	mv log log.old
	BY=()
	share --
	until_true "[ \$(grep -c ' 0[23]  *[0-9]* $SOCK' /proc/net/unix) = 1 ]"
	: >go
	attached
	SERVER=$(server_pid log)
	refute_alive "$before"
	assert_alive "$SERVER"
	let_go "$FRONT"
	await_gone "$SERVER"
	until_true "[ -z \"\$(ls -A '$DIR')\" ]"
}

@test "share: an owner that must be polled is no reason to drop the starter's hold" {
	BY=(deny EPERM pidfd_open --)
	first -i 0.1 -g 0.1 --
	lives_on 400 "$A" "$SERVER"
	assert_lines wlog 'nobody holds' 0
	let_go "$A"
	await_end
}

@test "share: the supervisor of a stopped server is SIGKILLed: the guard stops it" {
	first -g 30 -k 0.5 --
	kill -STOP "$SERVER"
	await_stopped "$SERVER"
	lives_on 100 "$GUARD"
	[[ $(ps -o stat= -p "$GUARD") != T* ]]
	kill -KILL "$SUPERVISOR"
	ended "$A" 125
	await_end
}

@test "share: a file that was put in the socket's place meanwhile stays" {
	first -g 0 --
	rm "$SOCK"
	echo text >"$SOCK"
	before=$(stat -c '%i %F %s' "$SOCK")
	let_go "$A"
	await_gone "$SERVER" "$SUPERVISOR" "$GUARD"
	assert_equal "$(ls -A "$DIR")" t.sock
	assert_equal "$(stat -c '%i %F %s' "$SOCK")" "$before"
}

@test "share: a start that is refused leaves nothing" {
	mkdir -m 700 "$DIR"
	run --separate-stderr deny EAGAIN fork -- "$OW" --share t touch started
	expect_status 125
	expect_said "ownerwrap[touch]: the guard can't be forked: Resource temporarily unavailable"
	nothing_in "$DIR"
}

@test "share: without /dev/null nobody of the pair keeps what the host gave, either" {
	need_mounts
	ns=(unshare -m)
	[ "$(id -u)" = 0 ] || ns=(unshare -Urm)
	mkfifo pipe
	run -0 "${ns[@]}" sh -c 'mount -t tmpfs none /dev && exec "$@" 0<>pipe 1<>pipe' - \
		"$OW" --share t -- dump -o fds
	[ "$(grep -c '^fd ' fds)" = 3 ]
	[ "$(grep -c "$PWD/pipe" fds)" = 0 ] || fail "$(cat fds)"
}

# --- altogether -------------------------------------------------------------

# The starter's group is killed, then the second gets TERM, then the third's
# owner dies.
demonstration() {
	BY=(setsid "${AS[@]}")
	first -g 1 -- -p
	BY=("${AS[@]}")
	await_line log '^port '
	port=$(sed -n 's/^port //p' log)
	more --
	b=$FRONT
	start "${AS[@]}" sleep 300
	owner=$PID
	more -p "$owner" --
	c=$FRONT
	kill -KILL -- "-$A"
	until_true "[ \$(count_lines wlog ' let go\$') = 1 ]"
	answers
	let_go "$b"
	until_true "[ \$(count_lines wlog ' let go\$') = 2 ]"
	answers
	kill -KILL "$owner"
	died=$(now_ms)
	answers
	ended "$c" 124
	answers
	await_end
	taken 1000 "$died"
	if answers 2>/dev/null; then
		fail 'it still answers'
	fi
	assert_lines log '^ready' 1
	assert_lines log '^TERM' 1
}

answers() { (exec 6<>"/dev/tcp/127.0.0.1/$port"); }

@test "share: three owners end one after the other, the server after the last" {
	demonstration
}

@test "share: three owners of an ordinary user" {
	as_nobody
	AS=("${NOBODY[@]}")
	# The directory of the tests can be entered by root only.
	XDG_RUNTIME_DIR=$(mktemp -d /tmp/owtest.XXXXXX)
	chown 65534 "$XDG_RUNTIME_DIR"
	DIR=$XDG_RUNTIME_DIR/ownerwrap SOCK=$XDG_RUNTIME_DIR/ownerwrap/t.sock
	demonstration
}

@test "share: plain POSIX: attach, let go, stop" {
	nopoll 'it polls in any case'
	OW=$ROOT/.build/ownerwrap-posix
	[ -x "$OW" ] || skip_or_fail 'needs the plain POSIX build'
	start "$OW" --share t -v -g 0.1 -i 0.1 --log wlog -- server -l log
	A=$PID
	SERVER=$(server_pid log)
	attached
	SUPERVISOR=$(parent_of "$SERVER") GUARD=$(parent_of "$(parent_of "$SERVER")")
	share
	attached
	kill -KILL "$A"
	lives_on 300 "$SERVER"
	let_go "$FRONT"
	await_end
}

@test "share: a server that can't be forked is said, with 125" {
	as_nobody
	uid=$((61000 + RANDOM % 3000))	# whose processes are all ours
	XDG_RUNTIME_DIR=$(mktemp -d /tmp/owtest.XXXXXX)
	chown "$uid" "$XDG_RUNTIME_DIR"
	for limit in 2 3; do		# so many processes
		run --separate-stderr setpriv --reuid "$uid" --regid 65534 \
			--clear-groups prlimit --nproc="$limit" \
			"$OW" --share t touch "$XDG_RUNTIME_DIR/made"
		expect_status 125
		case $limit in
		2) expect_said "ownerwrap[touch]: the guard can't be forked: Resource temporarily unavailable" ;;
		3) expect_said_match "(the server can't be forked|the supervisor of .* is gone, without a status)$" ;;
		esac
		[ ! -e "$XDG_RUNTIME_DIR/made" ]
		until_true '[ -z "$(ls -A "$XDG_RUNTIME_DIR/ownerwrap")" ]'
	done
}
