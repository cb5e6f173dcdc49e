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
	local field
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
		assert_lines "err.$i" . 1
	done
	sleep 0.2		# a second server would be ready by then
	assert_lines log '^ready ' 1
	assert_equal "$(cat err.* | grep -c "attached to server $SERVER,")" 50
	pids=($(marked))
	assert_equal "${#pids[@]}" 53
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

@test "share: the same words in other arguments are another command" {
	start "$OW" --share t -v -g 0.1 -- server -l log -e 3
	A=$PID
	server_pid log
	start "$OW" --share t -v -- server -l 'log -e' 3
	await_line "$ERR" 'another command: server -l log -e 3, not server -l log -e 3$'
	let_go "$PID" "$A"
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

@test "share: names without XDG_RUNTIME_DIR are in a directory of /tmp" {
	name=ow-$OWTEST_ID
	dir=/tmp/ownerwrap-$(id -u)
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
	for word in sid pgid tty "env SHLVL=.*"; do
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

@test "share: closed standard descriptors of the first front are no trouble" {
	for closed in 0 0,1,2; do
		run -0 sock "close=$closed" "$OW" --share t -- dump -o fds
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
	assert_equal "$(ps -o sid= -p "$SUPERVISOR" | xargs)" "$GUARD"
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
			pids=($(ps -o pid= -s "$A"))
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
		run test "$(ps -o stat= -p $SERVER | cut -c 1)" = S
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
	first -g 0.6 --
	let_go "$A"
	await_line wlog 'nobody holds'
	sleep 0.3
	more --
	sleep 0.4		# the first grace would be over
	assert_alive "$SERVER"
	before=$(now_ms)
	let_go "$FRONT"
	await_gone "$SERVER"
	taken 600 "$before"
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
	nosan 'what it does is activity'
	first --max-idle 0.5 -i 0.1 -- -e 3
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
	[[ $stderr =~ ^'ownerwrap[sh]: the shared server ended after '0(\.[0-9]+)?'s: --share is not for stdio servers'$ ]]
	run --separate-stderr "$OW" --share t sleep 2.1
	expect_status 0
	expect_said ""
}

@test "share: a server that ends at once ends its front with its status, always" {
	for i in {1..40}; do
		run "$OW" --share t -q -- sh -c 'exit 5'
		expect_status 5
	done
	until_true "[ -z \"\$(ls -A '$DIR')\" ]"
}
