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
