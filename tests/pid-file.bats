#!/usr/bin/env bats
# --pid-file: one server per file, the oldest wins. The lock is the truth, the
# number is for people.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -m 700 run
	FILE=$BATS_TEST_TMPDIR/t.pid
	STICKY=
}

teardown() {
	[ -z "$STICKY" ] || rm -rf "$STICKY"
	harness_teardown
}

# serve [OPTION...] -- [SERVER OPTION...]: a server with ./t.pid and an owner
# that can be killed
serve() {
	new_owner
	wrap --pid-file ./t.pid -p "$OWNER" -i 0.1 --log wlog "$@"
}

# next [OPTION...]: a start in the background that wants ./t.pid, too; its
# server is only a file, `started`. Sets NEXT.
next() {
	start "$OW" --pid-file ./t.pid -p $$ -v "$@" touch started
	NEXT=$PID
}

# waits PID: it says that it does
waits() { await_line "$ERR" ": waiting for $1 \\(.*\\), which stops\$"; }

# holds TEXT [FILE]: what is in the pid file, byte by byte
holds() {
	assert_equal "$(od -c "${2-$FILE}")" "$(od -c <<<"$1")" \
		"$(cat "${2-$FILE}"; echo) for '$1'"
}

# comes_to TEXT: ... soon
comes_to() { until_true "[ \"\$(cat t.pid 2>/dev/null)\" = '$1' ]" && holds "$1"; }

# no_file: it is gone, and nothing is left in its place
no_file() {
	assert_equal "$(ls -A -- t.pid* .t.pid* 2>/dev/null)" '' 'what is left'
}

# free: nobody has its lock
free() { flock -n t.pid true || fail 'the lock is held'; }
held() { ! flock -n t.pid true || fail 'the lock is free'; }

# --- the number -------------------------------------------------------------

@test "pid-file: it has the front's number while the server runs, and is removed at the end" {
	serve --
	holds "$FRONT"
	held
	kill -USR1 "$FRONT"
	await_line log '^USR1 '
	lives_on 200 "$SERVER"
	holds "$FRONT"
	# A signal to the number is one to the server.
	kill -TERM "$(cat t.pid)"
	finish "$FRONT"
	expect_status 0
	terms 1
	no_file
}

@test "pid-file: it is there before the server, and gone when the front is, however it ended" {
	ow --pid-file ./t.pid sh -c 'cat t.pid; echo $PPID; exit 3'
	expect_status 3
	expect_match '^[1-9][0-9]*'$'\n'
	no_file
	# shellcheck disable=SC2016
	ow --pid-file ./t.pid sh -c 'kill -KILL $$'
	expect_status 137
	no_file
	ow -127 --pid-file ./t.pid ./nosuch
	expect_status 127
	no_file
	: >text
	ow --pid-file ./t.pid ./text
	expect_status 126
	no_file
	ow --pid-file ./t.pid -p 1:1 touch started
	expect_status 124
	no_file
	serve -g 0 --
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	no_file
}

@test "pid-file: it says that it is stopping, the grace included" {
	serve -g 1 -k 30 -- -d
	holds "$FRONT"
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	terms 0
	await_line log '^TERM '
	holds "$FRONT stopping"
	held
	kill -KILL "$SERVER"
	finish "$FRONT"
	no_file
}

@test "pid-file: the mode is 0644, what the umask leaves of it" {
	umask 0
	serve --
	assert_equal "$(stat -c %a t.pid)" 644
	kill "$FRONT"
	finish "$FRONT"
	umask 077
	serve --
	assert_equal "$(stat -c %a t.pid)" 600
	kill "$FRONT"
	finish "$FRONT"
}

@test "pid-file: NAME, an absolute and a relative PATH, a variable" {
	mkdir dir
	for value in name "$PWD/dir/a.pid" dir/r.pid; do
		case $value in
		name) path=run/ownerwrap/name.pid ;;
		*) path=$value ;;
		esac
		new_owner
		wrap --pid-file "$value" -p "$OWNER" --
		holds "$FRONT" "$path"
		kill "$FRONT"
		finish "$FRONT"
		[ ! -e "$path" ]
	done
	assert_equal "$(stat -c %a run/ownerwrap)" 700
	assert_equal "$(find dir run/ownerwrap -type f)" ''
	# Wherever the server goes, and whether or not the supervisor works in /.
	cd dir
	OWNERWRAP_PID_FILE=./here setsid "$OW" sh -c \
		'cat here >seen; cd /; echo "${OWNERWRAP_PID_FILE-none}" >>"$0"' \
		"$PWD/seen"
	assert_equal "$(sed -n 2p seen)" none
	assert_equal "$(ls -A)" seen
}

@test "pid-file: a malformed value, and one that can't be" {
	for value in '' dir/; do
		run --separate-stderr "$OW" --pid-file "$value" touch started
		expect_status 125
		expect_said_match "--pid-file $value: must be "
	done
	refused 125 "ownerwrap[touch]: lock $PWD/no/t.pid: No such file or directory" \
		--pid-file no/t.pid
}

@test "pid-file: OWNERWRAP=off makes none" {
	OWNERWRAP=off ow --pid-file ./t.pid ls
	expect_status 0
	[[ $output != *t.pid* ]]
}

# --- who has it -------------------------------------------------------------

@test "pid-file: while it is held a second start is 125, names the holder, and changes nothing" {
	serve --
	before=$(stat -c '%i %s %a %.Y %.Z' t.pid)
	for options in '' -q -v; do
		# shellcheck disable=SC2086
		ow $options --pid-file ./t.pid touch started
		expect_status 125
		[[ $stderr =~ ^ownerwrap\[touch\]:\ .*/t.pid:\ held\ by\ $FRONT\ \(.*\):\ not\ started$ ]] ||
			fail "stderr: $stderr"
	done
	[ ! -e started ]
	holds "$FRONT"
	assert_equal "$(stat -c '%i %s %a %.Y %.Z' t.pid)" "$before"
	lives_on 200 "$SERVER"
	kill "$FRONT"
	finish "$FRONT"
	next
	finish "$NEXT"
	expect_status 0
	[ -e started ]
}

@test "pid-file: what is no pid file is refused, and not touched" {
	local text
	head -c 100000 /dev/zero | tr '\0' 9 >big
	for text in text -5 $'1\n2\n3' '4711 stopped' '4711 stopping now' \
		"$(cat big)" $'\x80\xff\e[31m'; do
		printf %s "$text" >t.pid
		ow --pid-file ./t.pid touch started
		expect_status 125
		expect_said "ownerwrap[touch]: $PWD/t.pid: is there, and no pid file"
		printf %s "$text" | cmp - t.pid
	done
	printf '4711\0' >t.pid
	ow --pid-file ./t.pid touch started
	expect_status 125
	[ ! -e started ]
}

@test "pid-file: a file whose lock is free is taken over, whatever its number" {
	local text
	for text in 99999999999999999999999 '' 1 0 "$$" $'4711\n' "$$ stopping" \
		$'4711 stopping\n'; do
		printf %s "$text" >t.pid
		ow --pid-file ./t.pid sh -c 'cat t.pid; echo .'
		expect_status 0
		expect_said ''
		expect_match '^[1-9][0-9]*'$'\n''\.$'
		no_file
	done
	# One that somebody was killed over.
	serve --
	kill -STOP "$SUPERVISOR"	# or it could be quicker
	kill -KILL "$FRONT" "$SUPERVISOR" "$SERVER"
	finish "$FRONT"
	await_gone "$SUPERVISOR" "$SERVER"
	[ -s t.pid ]
	next
	finish "$NEXT"
	expect_status 0
	no_file
}

@test "pid-file: a lock of another program is respected, and so is its file" {
	exec 7>t.pid
	flock 7
	# It may be one of us that has not written its number yet.
	next -g 0 -k 0.1 7>&-
	lives_on 500 "$NEXT"
	kill "$NEXT"
	finish "$NEXT"
	expect_status 143
	printf 'mine, do not touch\n4711' >&7
	cp t.pid before
	next -g 0 -k 0.1 7>&-
	lives_on 300 "$NEXT"
	kill "$NEXT"
	finish "$NEXT"
	expect_status 143
	echo 4711 >t.pid
	ow --pid-file ./t.pid touch started
	expect_status 125
	expect_said_match '/t.pid: held by 4711( \(.*\))?: not started$'
	holds 4711
	# One that says it stops, and ends: its file is ours.
	echo '4711 stopping' >t.pid
	next 7>&-
	lives_on 200 "$NEXT"
	[ ! -e started ]
	exec 7>&-
	finish "$NEXT"
	expect_status 0
	[ -e started ]
	no_file
}

@test "pid-file: a symbolic link is not followed" {
	echo precious >target
	ln -s target t.pid
	refused 125 "ownerwrap[touch]: lock $PWD/t.pid: Too many levels of symbolic links" \
		--pid-file "$FILE"
	holds precious target
	[ -L t.pid ]
	ln -sf nosuch t.pid
	refused 125 "ownerwrap[touch]: lock $PWD/t.pid: Too many levels of symbolic links" \
		--pid-file "$FILE"
	[ ! -e nosuch ]
	# One on the way is the user's own.
	mkdir dir
	ln -s dir link
	ow --pid-file link/t.pid ls dir
	expect_status 0
	expect_output t.pid
}

@test "pid-file: a second link, a FIFO, a device, a socket and a directory are refused" {
	echo precious >target
	ln target t.pid
	refused 125 "ownerwrap[touch]: $FILE: is there, and no file of this user's alone" \
		--pid-file "$FILE"
	holds precious target
	rm t.pid
	mkfifo t.pid
	refused 125 "ownerwrap[touch]: $FILE: is there, and no file of this user's alone" \
		--pid-file "$FILE"
	[ -p t.pid ]
	rm t.pid
	mkdir t.pid
	refused 125 "ownerwrap[touch]: lock $FILE: Is a directory" \
		--pid-file "$FILE"
	run --separate-stderr "$OW" --pid-file /dev/null touch started
	expect_status 125
	[ -c /dev/null ]
	[ ! -e started ]
}

@test "pid-file: another user's file is refused, one that is not writable too" {
	as_nobody
	# Nobody else may search the directory that bats made.
	STICKY=$(mktemp -d /tmp/owtest.XXXXXX)
	chmod 755 "$STICKY"
	cd "$STICKY"
	mkdir sticky
	chmod 1777 sticky
	echo 4711 >sticky/t.pid
	chmod 666 sticky/t.pid
	run --separate-stderr "${NOBODY[@]}" "$OW" --pid-file sticky/t.pid touch started
	expect_status 125
	expect_said_match 'sticky/t.pid: '
	holds 4711 sticky/t.pid
	chmod 600 sticky/t.pid
	run --separate-stderr "${NOBODY[@]}" "$OW" --pid-file sticky/t.pid touch started
	expect_status 125
	expect_said_match 'sticky/t.pid: Permission denied$'
	# For root, too.
	"${NOBODY[@]}" touch sticky/other
	run --separate-stderr "$OW" --pid-file sticky/other touch started
	expect_status 125
	expect_said_match 'sticky/other: '
	[ -e sticky/other ]
	# Its own, which it made unwritable.
	"${NOBODY[@]}" sh -c 'echo 1 >sticky/own; chmod 444 sticky/own'
	run --separate-stderr "${NOBODY[@]}" "$OW" --pid-file sticky/own touch started
	expect_status 125
	expect_said_match 'sticky/own: Permission denied$'
	# And all is well where it is allowed.
	run --separate-stderr "${NOBODY[@]}" "$OW" --pid-file sticky/new cat sticky/new
	expect_status 0
	expect_match '^[0-9]+$'
	[ ! -e sticky/new ]
	[ ! -e started ]
}

# --- waiting for one that stops ---------------------------------------------

@test "pid-file: one that is in its grace is waited for, then the new server starts" {
	serve -g 0.7 --
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	next
	waits "$FRONT"
	finish "$NEXT"
	expect_status 0
	gone "$SERVER"
	[ -e started ]
	no_file
	finish "$FRONT"
	expect_status 124
}

@test "pid-file: one that is in its ladder is waited for, deaf or slow" {
	for server in '-d -k 0.5' '-t 500'; do
		# shellcheck disable=SC2086
		case $server in
		-d*) serve -g 0 -k 0.5 -- -d ;;
		*) serve -g 0 -k 20 -- -t 500 ;;
		esac
		rm -f started
		kill -KILL "$OWNER"
		await_line log '^TERM '
		holds "$FRONT stopping"
		next
		waits "$FRONT"
		[ ! -e started ]
		finish "$NEXT"
		expect_status 0
		refute_alive "$SERVER"
		[ -e started ]
		finish "$FRONT"
	done
}

@test "pid-file: what an ended server left is waited for before the next starts" {
	serve -g 0 -k 0.5 -- -g deaf
	child=$(child_pid log deaf)
	kill -TERM "$SERVER"
	until_true "gone $SERVER"
	comes_to "$FRONT stopping"
	next
	finish "$NEXT"
	expect_status 0
	refute_alive "$child"
	finish "$FRONT"
}

@test "pid-file: who waits watches its owners" {
	serve -g 0 -k 30 -- -d
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	new_owner
	start "$OW" --pid-file ./t.pid -p "$OWNER" -v -g 0 -i 0.1 touch started
	waits "$FRONT"
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
	said "owner $OWNER \(sleep, .*\) is gone: not started"
	[ ! -e started ]
	holds "$FRONT stopping"
	kill -KILL "$SERVER"
	finish "$FRONT"
	no_file
}

@test "pid-file: who waits ends by TERM, INT, HUP and QUIT, and leaves nothing" {
	serve -g 0 -k 30 -- -d
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	ulimit -c 0
	for signal in TERM:143 INT:130 HUP:129 QUIT:131 KILL:137; do
		next
		waits "$FRONT"
		kill "-${signal%:*}" "$NEXT"
		finish "$NEXT"
		expect_status "${signal#*:}"
	done
	[ ! -e started ]
	holds "$FRONT stopping"
	kill -KILL "$SERVER"
	finish "$FRONT"
	no_file
}

@test "pid-file: who waits does so no longer than its own stop could take" {
	serve -g 0 -k 60 -- -d
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	begin=$(now_ms)
	next -g 100ms -k 100ms
	waits "$FRONT"
	finish "$NEXT"
	took=$(($(now_ms) - begin))
	expect_status 125
	said ".*/t.pid: held by $FRONT \(.*\), which does not end: not started"
	[ "$took" -ge 5300 ] || fail "only $took ms"
	[ ! -e started ]
	holds "$FRONT stopping"
	kill -KILL "$SERVER"
	finish "$FRONT"
}

@test "pid-file: with --kill-after inf it waits as long as it takes" {
	serve -g 0 -k inf -- -d
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	next -g 0 -k inf
	waits "$FRONT"
	lives_on 1000 "$NEXT" "$SERVER"
	kill -KILL "$SERVER"
	finish "$NEXT"
	expect_status 0
	finish "$FRONT"
}

@test "pid-file: two that wait: one gets it, the other is told 125" {
	serve -g 0 -k 30 -- -d
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	start "$OW" --pid-file ./t.pid -p $$ -v -- sh -c 'echo up >>up; exec sleep 300'
	a=$PID err_a=$ERR
	waits "$FRONT"
	start "$OW" --pid-file ./t.pid -p $$ -v -- sh -c 'echo up >>up; exec sleep 300'
	b=$PID
	waits "$FRONT"
	kill -KILL "$SERVER"
	until_true "gone $a || gone $b"
	if gone "$a"; then
		loser=$a winner=$b ERR=$err_a
	else
		loser=$b winner=$a
	fi
	finish "$loser"
	expect_status 125
	said ".*/t.pid: held by $winner \(.*\): not started"
	await_line up up
	assert_lines up up 1
	holds "$winner"
	kill "$winner"
	finish "$winner"
	finish "$FRONT"
	no_file
}

@test "pid-file: a server that is kept after all is not stopping" {
	touch keep
	serve -g 0.5 --keep-if "test -e $PWD/keep" --
	kill -KILL "$OWNER"
	await_line wlog 'no owner left, kept: '
	holds "$FRONT"
	ow --pid-file ./t.pid touch started
	expect_status 125
	rm keep
	comes_to "$FRONT stopping"
	touch keep
	comes_to "$FRONT"
	lives_on 200 "$SERVER"
	rm keep
	finish "$FRONT"
	no_file
}

# --- at the end -------------------------------------------------------------

@test "pid-file: it is removed only if it is still this one" {
	serve --
	rm t.pid
	echo theirs >t.pid
	kill "$FRONT"
	finish "$FRONT"
	holds theirs
	rm t.pid
	# The same file with another number.
	serve --
	echo 4711 >t.pid
	kill -KILL "$SERVER"
	finish "$FRONT"
	holds 4711
	rm t.pid
	# Another is not hindered by one that lost its file.
	serve --
	rm t.pid
	first=$FRONT
	serve --
	holds "$FRONT"
	kill "$first"
	finish "$first"
	holds "$FRONT"
	lives_on 100 "$SERVER"
	kill "$FRONT"
	finish "$FRONT"
	no_file
}

@test "pid-file: a directory made unwritable, a removed one: no harm at the end" {
	mkdir d
	wrap --pid-file d/t.pid -p $$ --
	rm -r d
	kill "$FRONT"
	finish "$FRONT"
	expect_status 0
	[ ! -e d ]
}

# --- front and supervisor killed --------------------------------------------

@test "pid-file: the front is SIGKILLed: the supervisor's number, stopping, then no file" {
	serve -k 30 -- -d
	kill -KILL "$FRONT"
	comes_to "$SUPERVISOR stopping"
	held
	next
	waits "$SUPERVISOR"
	kill -KILL "$SERVER"
	finish "$NEXT"
	expect_status 0
	no_file
}

@test "pid-file: the front of a kept server is SIGKILLed: the number is the supervisor's" {
	touch keep
	serve -g 0.2 -k 30 --keep-if "test -e $PWD/keep" --
	kill -KILL "$FRONT"
	comes_to "$SUPERVISOR"
	lives_on 300 "$SERVER"
	holds "$SUPERVISOR"
	ow --pid-file ./t.pid touch started
	expect_status 125
	expect_said_match "held by $SUPERVISOR \(ow-supervisor\): not started"
	rm keep
	await_gone "$SERVER" "$SUPERVISOR"
	no_file
}

@test "pid-file: the supervisor is SIGKILLed: the front's number, stopping, then no file" {
	serve -k 30 -- -d
	kill -KILL "$SUPERVISOR"
	comes_to "$FRONT stopping"
	held
	next
	waits "$FRONT"
	kill -KILL "$SERVER"
	finish "$NEXT"
	expect_status 0
	finish "$FRONT"
	no_file
}

@test "pid-file: front or supervisor SIGKILLed in the first milliseconds: the next start finds its way (30)" {
	for ((i = 0; i < 30; i++)); do
		sig default all unblock all -- "$OW" --pid-file ./t.pid -p $$ -k 0.2 -- \
			server -l log 2>/dev/null 3>&- &
		pid=$!
		track "$pid"
		let_pass $((i / 3))
		if ((i % 3)); then
			kill -KILL "$pid" 2>/dev/null || true
		else
			supervisor=$(pgrep -P "$pid" -x ow-supervisor) || supervisor=$pid
			kill -KILL "$supervisor" 2>/dev/null || true
		fi
		rm -f started
		start "$OW" --pid-file ./t.pid -p $$ -k 0.2 touch started
		finish "$PID"
		# As long as the front of a supervisor without a server is there.
		if [ "$status" = 125 ]; then
			await_gone "$pid"
			start "$OW" --pid-file ./t.pid -p $$ -k 0.2 touch started
			finish "$PID"
		fi
		expect_status 0
		[ -e started ]
		await_gone "$pid"
	done
	no_file
}

# --- the server -------------------------------------------------------------

@test "pid-file: the server does not get its descriptor, nor the lock" {
	"$OW" --pid-file ./t.pid sh -c 'readlink /proc/$$/fd/*; :' >links
	assert_lines links "t\\.pid" 0
	assert_lines links "/links\$" 1
	# What the server leaves in a session of its own does not have it either.
	serve -- -g setsid
	daemon=$(child_pid log setsid)
	kill "$FRONT"
	finish "$FRONT"
	assert_alive "$daemon"
	next
	finish "$NEXT"
	expect_status 0
	kill -KILL "$daemon"
}

@test "pid-file: --keep-if does not get its descriptor" {
	serve -g 0 --keep-if "readlink /proc/self/fd/* >$PWD/links; false" --
	kill -KILL "$OWNER"
	finish "$FRONT"
	[ -s links ]
	assert_lines links 't\.pid' 0
}

@test "pid-file: the front is SIGKILLed while --keep-if takes its time: the number is the supervisor's at once" {
	serve -g 0.2 --keep-if "sleep 2; test -e $PWD/keep" --
	kill -KILL "$FRONT"
	until_true "[ \"\$(cut -d\" \" -f1 t.pid)\" = $SUPERVISOR ]"
	# Before the first answer.
	assert_lines wlog 'no owner left, kept: |; stopping server' 0
	await_gone "$SERVER" "$SUPERVISOR"
	no_file
}

@test "pid-file: a lock that can't be had for another reason is said, and nothing is started" {
	# 73 is flock() on x86_64, 32 elsewhere.
	case $(uname -m) in
	x86_64) call=73 ;;
	aarch64 | riscv64) call=32 ;;
	*) skip_or_fail "needs the number of flock()" ;;
	esac
	echo 4711 >t.pid
	run --separate-stderr deny ENOSYS "$call" -- "$OW" --pid-file "$FILE" touch started
	expect_status 125
	expect_said "ownerwrap[touch]: lock $FILE: Function not implemented"
	holds 4711
	[ ! -e started ]
}

@test "pid-file: one whose number could not be written is removed as well" {
	run --separate-stderr limits fsize=0 -- "$OW" --pid-file ./t.pid -- \
		sh -c '[ -e t.pid ] && [ ! -s t.pid ] && exit 3'
	expect_status 3		# what it says is refused as well
	no_file
}

@test "pid-file: a malformed variable is ignored, as the line says" {
	OWNERWRAP_PID_FILE=dir/ ow sh -c 'exit 3'
	expect_status 3
	expect_said_match "^ownerwrap\[sh\]: OWNERWRAP_PID_FILE=dir/: ignored, must be [^"$'\n'"]*\$"
}

@test "pid-file: an owner by descriptor is watched as without it" {
	mkfifo fifo
	sleep 300 3>&- >fifo &
	OWNER=$!
	track "$OWNER"
	exec 7<fifo
	start "$OW" --pid-file ./t.pid --poll -i 0.1 -g 0.1 --owner-fd 7 -- server -l log
	FRONT=$PID
	exec 7<&-
	SERVER=$(server_pid log)
	track "$SERVER"
	lives_on 700 "$SERVER" "$FRONT"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	no_file
}

@test "pid-file: what leaves its front behind goes by the supervisor's number" {
	new_owner
	start "$OW" --pid-file ./t.pid -p "$OWNER" -i 0.1 -g 0 --leftovers leave -- \
		server -l log -e 7 -g plain
	FRONT=$PID
	SERVER=$(server_pid log)
	SUPERVISOR=$(supervisor_of "$FRONT")
	track "$SERVER" "$SUPERVISOR" "$(child_pid log plain)"
	holds "$FRONT"
	kill -TERM "$SERVER"
	finish "$FRONT"
	expect_status 7
	comes_to "$SUPERVISOR"
	ow --pid-file ./t.pid touch started
	expect_status 125
	kill -KILL "$OWNER"
	await_gone "$SUPERVISOR"
	no_file
}

@test "pid-file: with --share it belongs to the pair" {
	share() {
		start "$OW" --share t --pid-file ./t.pid -v -g 0.2 -k 30 "$@" -- \
			server -l log
		await_line "$ERR" 'attached to server '
	}
	share
	a=$PID
	SERVER=$(server_pid log)
	SUPERVISOR=$(ps -o ppid= "$SERVER" | tr -d ' ')
	guard=$(ps -o ppid= "$SUPERVISOR" | tr -d ' ')
	track "$SERVER" "$SUPERVISOR" "$guard"
	holds "$guard"
	share
	b=$PID
	holds "$guard"
	# Another shared server can't have it.
	ow --share other --pid-file ./t.pid touch started
	expect_status 125
	expect_said_match "held by $guard "
	assert_equal "$(cd run/ownerwrap && echo *)" 't.sock t.sock.lock'
	kill "$a"
	finish "$a"
	lives_on 100 "$SERVER"
	holds "$guard"
	kill -KILL "$b"
	await_gone "$SERVER" "$SUPERVISOR" "$guard"
	no_file
	[ ! -e started ]
}

@test "pid-file: a shared server's that is stopping is waited for" {
	start "$OW" --share t --pid-file ./t.pid -v -g 0 -k 1 -- server -l log -d
	a=$PID
	SERVER=$(server_pid log)
	SUPERVISOR=$(ps -o ppid= "$SERVER" | tr -d ' ')
	guard=$(ps -o ppid= "$SUPERVISOR" | tr -d ' ')
	track "$SERVER" "$SUPERVISOR" "$guard"
	kill "$a"
	comes_to "$guard stopping"
	start "$OW" --share other --pid-file ./t.pid -g 0 -v touch started
	finish "$PID"
	expect_status 0
	refute_alive "$SERVER"
	[ -e started ]
	no_file
}

# --- races ------------------------------------------------------------------

@test "pid-file: two starts never run together: 500 races of starts, stops and kills" {
	run pidraces -n 500 "$FILE" "$OW"
	echo "$output"
	expect_status 0
}

@test "pid-file: plain POSIX: held, taken over, waited for, removed" {
	plain_posix
	echo 4711 >t.pid
	new_owner
	start "$OW" --pid-file ./t.pid -p "$OWNER" -i 0.1 -g 0 -k 0.5 -- \
		server -l log -d
	FRONT=$PID
	track "$(server_pid log)"
	holds "$FRONT"
	ow --pid-file ./t.pid touch started
	expect_status 125
	expect_said_match "held by $FRONT"
	kill -KILL "$OWNER"
	comes_to "$FRONT stopping"
	next
	finish "$NEXT"
	expect_status 0
	[ -e started ]
	no_file
	finish "$FRONT"
	expect_status 124
}

@test "pid-file: a lock on a file that was removed meanwhile is none, and no refusal" {
	echo 4711 >t.pid
	rm -f go go.*
	start late flock go "$OW" --pid-file ./t.pid -p $$ sh -c 'cp t.pid seen'
	NEXT=$PID
	until_true 'ls go.* >/dev/null 2>&1'	# it has opened the file
	rm t.pid				# as those do who end
	: >go
	finish "$NEXT"
	expect_status 0
	assert_equal "$(cat "$ERR")" ''
	[ -s seen ]
	no_file
}
