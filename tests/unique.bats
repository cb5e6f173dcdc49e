#!/usr/bin/env bats
# --unique: one server per owner and name, the newest wins.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -m 700 run
	DIR=$XDG_RUNTIME_DIR/ownerwrap
	THEIRS=
	new_owner
}

teardown() {
	[ -z "$THEIRS" ] || rm -rf "$THEIRS"
	harness_teardown
}

# unique LOG [OPTION...] -- [SERVER OPTION...]: a front in the background that
# wants the name x, of OWNER if no other is given; sets FRONT
unique() {
	local log=$1 owner=(-p "$OWNER")
	shift
	rm -f "$log"
	at_dashes "$@"
	[[ " ${BEFORE[*]} " != *' -p '* ]] || owner=()
	start "$OW" --unique x -v -i 0.1 "${owner[@]}" "${BEFORE[@]}" -- \
		server -l "$log" "${AFTER[@]}"
	FRONT=$PID
}

# up LOG: its server runs; sets SERVER and SUPERVISOR
up() {
	SERVER=$(server_pid "$1") || return 1
	SUPERVISOR=$(ps -o ppid= "$SERVER" | tr -d ' ')
	track "$SERVER" "$SUPERVISOR"
}

# older [OPTION...] -- [SERVER OPTION...]: one that runs, with ./old; sets A,
# A_SERVER, A_SUPERVISOR and A_ERR
older() {
	unique old "$@" || return 1
	A=$FRONT A_ERR=$ERR
	up old || return 1
	A_SERVER=$SERVER A_SUPERVISOR=$SUPERVISOR
}

# asks PID [ERR]: the last front has asked that one to stop
asks() { await_line "${2-$ERR}" ": the older $1 \\(.*\\) is asked to stop\$"; }

# ended PID STATUS
ended() {
	finish "$1" || return 1
	expect_status "$2"
}

# stop FRONT: by TERM; its server ends with 0
stop() {
	kill -TERM "$1"
	ended "$1" 0
}

# nothing_left: no lock file
nothing_left() { assert_equal "$(ls -A "$DIR")" '' 'what is left'; }

# --- the newest wins --------------------------------------------------------

@test "unique: the older server is stopped by its own ladder before the newer starts" {
	older -s INT -k 30 -- -t 300
	unique new --
	b=$FRONT
	asks "$A_SUPERVISOR"
	up new
	# When the newer one came to run nobody of the older tree was there.
	refute_alive "$A_SERVER" "$A_SUPERVISOR"
	assert_lines old '^INT from ' 1
	assert_lines old '^TERM from ' 0
	assert_lines old '^done' 1
	# The older one had asked for 30 s, the newer one for nothing.
	assert_lines "$A_ERR" ': a newer start, [0-9]+ \(.*\), takes its place; stopping server .*\(INT now, KILL 30s later' 1
	ended "$A" 0
	lives_on 200 "$SERVER"
	stop "$b"
	nothing_left
}

@test "unique: the older front hands out its server's status" {
	older -- -e 7
	unique new --
	up new
	ended "$A" 7
	stop "$FRONT"
	older -- -n
	rm new
	unique new --
	up new
	ended "$A" 143
	stop "$FRONT"
}

@test "unique: what the older server left is gone before the newer starts" {
	older -k 0.4 -- -g deaf -g setsid
	deaf=$(child_pid old deaf)
	daemon=$(child_pid old setsid)
	track "$deaf" "$daemon"
	unique new --
	up new
	refute_alive "$A_SERVER" "$deaf"
	assert_alive "$daemon"
	finish "$A"
	stop "$FRONT"
	kill -KILL "$daemon"
}

@test "unique: a deaf older one is killed after its own kill-after" {
	older -k 0.6 -- -d
	begin=$(now_ms)
	unique new -k 50 --
	up new
	[ $(($(now_ms) - begin)) -ge 600 ]
	still_there "$A_ERR" "$A_SERVER" TERM 600
	assert_lines old '^TERM from ' 1
	ended "$A" 137
	stop "$FRONT"
}

@test "unique: three in a row, and a fourth under another name beside them" {
	start "$OW" --unique y -p "$OWNER" -- server -l other
	other=$PID
	track "$(server_pid other)"
	older --
	for i in 1 2 3; do
		unique "new$i" --
		up "new$i"
		finish "$A"
		A=$FRONT
	done
	assert_alive "$other"
	assert_lines other '^TERM' 0
	stop "$A"
	stop "$other"
	nothing_left
}

@test "unique: 200 quick restarts leave exactly one server, the last" {
	local fronts=() i
	for ((i = 0; i < 200; i++)); do
		"$OW" --unique x -p "$OWNER" -k 0.5 -i 0.1 sleep 300 \
			2>/dev/null 3>&- &
		fronts+=("$!")
	done
	LAST=$!
	track "${fronts[@]:190}"
	# Its server runs, and of the others nobody does.
	# shellcheck disable=SC2034
	FRONTS=("${fronts[@]:0:199}")
	until_true 'pgrep -P "$(pgrep -P "$LAST" -x ow-supervisor)" -x sleep >/dev/null'
	until_true '! kill -0 "${FRONTS[@]}" 2>/dev/null && ! any_alive "${FRONTS[@]}"'
	lives_on 300 "$LAST"
	assert_equal "$(marked | xargs -r ps -o comm= -p | grep -c '^ow-supervisor$')" 1
	kill "$LAST"
	finish "$LAST"
	expect_status 143
	nothing_left
}

# any_alive PID...
any_alive() {
	local pid
	for pid; do
		alive "$pid" && return 0
	done
	return 1
}

@test "unique: of two that start at the same time the last one stays" {
	local i
	for ((i = 0; i < 12; i++)); do
		"$OW" --unique x -p "$OWNER" -i 0.1 sleep 300 2>/dev/null 3>&- &
		one=$!
		"$OW" --unique x -p "$OWNER" -i 0.1 sleep 300 2>/dev/null 3>&- &
		two=$!
		track "$one" "$two"
		finish "$one"
		until_true "pgrep -P $two -x ow-supervisor >/dev/null"
		lives_on 100 "$two"
		kill "$two"
		finish "$two"
	done
	nothing_left
}

# --- who the owner is -------------------------------------------------------

@test "unique: servers of other owners with the same name are untouched (21)" {
	older --
	mine=$OWNER
	new_owner
	unique other --
	b=$FRONT
	up other
	B_SERVER=$SERVER
	# Both at once are a third owner.
	unique both -p "$mine" -p "$OWNER" --
	c=$FRONT
	up both
	lives_on 300 "$A_SERVER" "$B_SERVER" "$SERVER"
	assert_equal "$(find "$DIR" -type f | wc -l)" 3
	assert_lines old '^TERM' 0
	assert_lines other '^TERM' 0
	stop "$A"
	stop "$b"
	stop "$c"
	nothing_left
}

@test "unique: several owners are a set, in any order, each once" {
	one=$OWNER
	new_owner
	two=$OWNER
	older -p "$one" -p "$two" --
	unique b -p "$two" -p "$one" --
	b=$FRONT
	up b
	ended "$A" 0
	unique c -p "$two" -p "$two" -p "$one:$(start_ticks "$one")" --
	c=$FRONT
	up c
	ended "$b" 0
	stop "$c"
	nothing_left
}

@test "unique: a default owner behind sh -c is the topmost, whichever shell it is" {
	# shellcheck disable=SC2016
	for i in 1 2 3; do
		start sh -c '"$@"; :' - sh -c '"$@"; :' - \
			"$OW" --unique x -v -i 0.1 -- server -l "log$i"
		shell=$PID
		up "log$i"
		if [ "$i" -gt 1 ]; then
			gone "$before" || fail 'the older one is still there'
			finish "$before_shell"
		fi
		before=$SERVER before_shell=$shell
	done
	# Without the shells the owner is the same.
	start "$OW" --unique x -v -i 0.1 -- server -l direct
	front=$PID
	up direct
	finish "$before_shell"
	refute_alive "$before"
	stop "$front"
	nothing_left
}

@test "unique: an owner by name is the same as by pid" {
	start "$OW" --unique x -v -i 0.1 --owner-name bash -- server -l log
	a=$PID
	up log
	first=$SERVER
	unique new -p "$BASHPID" --
	up new
	refute_alive "$first"
	ended "$a" 0
	stop "$FRONT"
	nothing_left
}

@test "unique: with --owner-fd the object behind it is the owner" {
	mkfifo one two
	sleep 300 3>&- >one &
	writer=$!
	track "$writer"
	exec 7<one
	sleep 300 3>&- >two &
	track "$!"
	exec 8<two
	start "$OW" --unique x -v -i 0.1 --owner-fd 7 -- server -l a
	a=$PID
	up a
	A_SERVER=$SERVER
	start "$OW" --unique x -v -i 0.1 --owner-fd 8 -- server -l b
	b=$PID
	up b
	lives_on 200 "$A_SERVER" "$SERVER"
	start "$OW" --unique x -v -i 0.1 --owner-fd 7 -- server -l c
	c=$PID
	exec 7<&- 8<&-
	up c
	ended "$a" 0
	assert_alive "$b"
	assert_lines b '^TERM' 0
	lives_on 500 "$SERVER"
	kill -KILL "$writer"
	ended "$c" 124
	stop "$b"
	nothing_left
}

@test "unique: a recycled number is another owner (15)" {
	need_pidns
	# shellcheck disable=SC2016
	cat >script <<-'END'
	sleep 300 & old=$!
	"$OW" --unique x -p "$old" -g 60 -i 0.1 server -l a & a=$!
	until grep -q ^ready a 2>/dev/null; do sleep 0.02; done
	kill -KILL $old
	wait $old
	pidreuse $old sleep 300 >ok
	"$OW" --unique x -p "$old" -i 0.1 server -l b & b=$!
	until grep -q ^ready b 2>/dev/null; do sleep 0.02; done
	kill -0 $a && echo both
	ls run/ownerwrap | wc -l
	END
	export OW
	run --separate-stderr in_pidns sh script
	expect_output $'both\n2'
}

# --- refused ----------------------------------------------------------------

@test "unique: a newcomer from within the older one's tree is 125 and a line" {
	older -- -g plain
	# shellcheck disable=SC2016
	start "$OW" --unique z -p "$OWNER" -v -- sh -c \
		'"$@"; echo $? >status; exec sleep 300' - \
		"$OW" --unique z -p "$OWNER" touch started
	outer=$PID
	await_line status '^125$'
	supervisor=$(supervisor_of "$outer")
	assert_lines "$ERR" "^ownerwrap\[touch\]: .*/z\.[0-9a-f]+\.lock: held by $supervisor \(ow-supervisor\), below which this one was started\$" 1
	lives_on 200 "$outer"
	# A daemon of the server, too: it is a child of the supervisor's by now.
	# shellcheck disable=SC2016
	start "$OW" --unique w -p "$OWNER" --leftovers wait -- sh -c \
		'setsid -f sh -c "sleep 0.3; \"\$@\"; echo \$? >status2" - "$@"; exec sleep 300' - \
		"$OW" --unique w -p "$OWNER" touch started
	daemon=$PID
	await_line status2 '^125$'
	[ ! -e started ]
	kill "$outer" "$daemon"
	finish "$outer"
	finish "$daemon"
	stop "$A"
}

@test "unique: below another owner's server it is no trouble" {
	other=$OWNER
	new_owner
	# shellcheck disable=SC2016
	start "$OW" --unique x -p "$other" -- sh -c '"$@"; echo $? >status' - \
		"$OW" --unique x -p "$OWNER" sh -c 'exit 3'
	finish "$PID"
	assert_equal "$(cat status)" 3
	nothing_left
}

@test "unique: it can't be used with --share, and needs a name without a slash" {
	refused 125 "ownerwrap[touch]: --unique: can't work here: with --share there is one server for all owners" \
		--unique x --share y
	for value in '' a/b ./a /; do
		refused 125 "ownerwrap[touch]: --unique $value: must be a name without a slash" \
			--unique "$value"
	done
	OWNERWRAP_UNIQUE=a/b ow true
	expect_status 0
	expect_said "ownerwrap[true]: OWNERWRAP_UNIQUE=a/b: ignored, must be a name without a slash"
	OWNERWRAP_UNIQUE=x ow sh -c 'ls "$XDG_RUNTIME_DIR/ownerwrap"; env'
	expect_status 0
	expect_match '^x\.[0-9a-f]{16}\.lock'$'\n'
	[[ $output != *OWNERWRAP_UNIQUE* ]]
	nothing_left
	OWNERWRAP=off ow --unique x sh -c 'ls "$XDG_RUNTIME_DIR/ownerwrap"'
	expect_output ''
}

@test "unique: links are not followed" {
	ow --unique x -p "$OWNER" sh -c 'ls "$XDG_RUNTIME_DIR/ownerwrap"'
	name=$output
	: >precious
	ln -s "$PWD/precious" "$DIR/$name"
	ow --unique x -p "$OWNER" touch started
	expect_status 125
	rm "$DIR/$name"
	ln precious "$DIR/$name"
	ow --unique x -p "$OWNER" touch started
	expect_status 125
	rm "$DIR/$name"
	mkfifo "$DIR/$name"
	ow --unique x -p "$OWNER" touch started
	expect_status 125
	[ ! -e started ]
}

@test "unique: what somebody writes into the lock file means nothing" {
	canary=$OWNER
	older --
	echo "$canary" >"$(echo "$DIR"/x.*)"
	unique new --
	up new
	ended "$A" 0
	assert_alive "$canary"
	stop "$FRONT"
	# A file that was left: its lock is free.
	ow --unique x -p "$OWNER" sh -c 'ls "$XDG_RUNTIME_DIR/ownerwrap"'
	echo "$canary" >"$DIR/$output"
	ow --unique x -p "$OWNER" sh -c 'exit 3'
	expect_status 3
	assert_alive "$canary"
	nothing_left
}

@test "unique: the server does not get the descriptor, the file has mode 0600" {
	umask 0
	# shellcheck disable=SC2016
	ow --unique x -p "$OWNER" sh -c 'readlink /proc/$$/fd/*
		stat -c %a "$XDG_RUNTIME_DIR/ownerwrap"/*'
	expect_match $'\n600$'
	[[ $output != *.lock* ]]
}

# --- odd moments ------------------------------------------------------------

@test "unique: the older one's front was SIGKILLed, a keeper keeps its server" {
	older --keep-if true -g 0.2 --
	kill -KILL "$A"
	lives_on 400 "$A_SERVER"
	unique new --
	asks "$A_SUPERVISOR"
	up new
	refute_alive "$A_SERVER" "$A_SUPERVISOR"
	assert_lines old '^TERM from ' 1
	stop "$FRONT"
	nothing_left
}

@test "unique: the older one's supervisor was SIGKILLed: its front is waited for" {
	older -k 0.7 -- -d
	kill -KILL "$A_SUPERVISOR"
	unique new --
	up new
	refute_alive "$A_SERVER"
	finish "$A"
	stop "$FRONT"
	nothing_left
}

@test "unique: the older one is in its ladder already: it is waited for, and asked for no more" {
	older -g 0 -k 0.7 -- -d
	kill -TERM "$A"
	await_line old '^TERM '
	unique new --
	up new
	refute_alive "$A_SERVER"
	assert_lines old '^TERM from ' 1
	finish "$A"
	stop "$FRONT"
}

@test "unique: the older one is in its grace: it is not waited for in vain" {
	both=$OWNER
	older -g 60 --
	kill -KILL "$OWNER"
	await_line "$A_ERR" ' is gone; stopping server '
	# A start for the same owner is none any more.
	unique new --
	ended "$FRONT" 124
	assert_lines "$ERR" "owner $both is not there: not started " 1
	kill -TERM "$A_SUPERVISOR"
	finish "$A"
}

@test "unique: the older one's supervisor is stopped: who waits goes on when it does" {
	older -k 30 --
	kill -STOP "$A_SUPERVISOR"
	unique new -g 0 --
	b=$FRONT
	asks "$A_SUPERVISOR"
	lives_on 500 "$A_SERVER" "$b"
	[ ! -e new ]
	kill -CONT "$A_SUPERVISOR"
	up new
	ended "$A" 0
	assert_lines old '^TERM from ' 1
	stop "$b"
}

@test "unique: the older one is a stopped job: it is stopped all the same" {
	older -k 30 --
	kill -STOP "$A_SERVER"
	await_stopped "$A"
	unique new --
	b=$FRONT
	up new
	refute_alive "$A_SERVER"
	assert_lines old "^TERM from " 1
	ended "$A" 0
	stop "$b"
}

@test "unique: who waits watches its owners and its signals" {
	older -k 60 -- -d
	unique new -g 0 --
	asks "$A_SUPERVISOR"
	kill -HUP "$FRONT"
	ended "$FRONT" 129
	unique new -g 0 --
	asks "$A_SUPERVISOR"
	# Both lose their owner.
	kill -KILL "$OWNER"
	ended "$FRONT" 124
	assert_lines "$ERR" "owner $OWNER \(sleep, .*\) is gone: not started\$" 1
	[ ! -e new ]
	await_line old '^TERM from '
	assert_lines old '^TERM from ' 1
	kill -KILL "$A_SERVER"
	finish "$A"
	nothing_left
}

@test "unique: one that waits is ended by a still newer one" {
	older -k 60 -- -d
	unique second --
	b=$FRONT
	asks "$A_SUPERVISOR"
	let_pass 30
	unique third --
	c=$FRONT
	asks "$b"
	ended "$b" 143
	[ ! -e second ]
	asks "$A_SUPERVISOR"
	kill -KILL "$A_SERVER"
	up third
	finish "$A"
	stop "$c"
	nothing_left
}

@test "unique: one that waits and ignores TERM is no trouble" {
	older -k 60 -- -d
	start sig ignore TERM -- "$OW" --unique x -v -i 0.1 -k 0.3 -p "$OWNER" -- \
		server -l second -n
	b=$PID
	asks "$A_SUPERVISOR"
	let_pass 30
	unique third --
	c=$FRONT
	asks "$b"
	lives_on 300 "$b" "$c"
	kill -KILL "$A_SERVER"
	finish "$A"
	up third
	await_gone "$b"
	stop "$c"
	nothing_left
}

@test "unique: one that waits is SIGKILLed" {
	older -k 60 -- -d
	unique second --
	asks "$A_SUPERVISOR"
	kill -KILL "$FRONT"
	ended "$FRONT" 137
	let_pass 30
	unique third --
	asks "$A_SUPERVISOR"
	kill -KILL "$A_SERVER"
	up third
	finish "$A"
	stop "$FRONT"
	nothing_left
}

@test "unique: somebody removed the lock file: no newer one can know of the older" {
	older --
	rm "$DIR"/x.*
	unique new --
	up new
	assert_alive "$A_SERVER"
	stop "$A"
	# The end of the older one leaves the newer one its lock.
	unique third --
	c=$FRONT
	b_server=$SERVER
	up third
	refute_alive "$b_server"
	stop "$c"
	nothing_left
}

@test "unique: front or supervisor SIGKILLed in the first milliseconds: the next one starts (30)" {
	for ((try = 0; try < 24; try++)); do
		"$OW" --unique x -p "$OWNER" -k 0.2 server -l log 2>/dev/null 3>&- &
		pid=$!
		track "$pid"
		let_pass $((try / 3))
		if ((try % 3)); then
			kill -KILL "$pid" 2>/dev/null || true
		else
			kill -KILL "$(pgrep -P "$pid" -x ow-supervisor || echo "$pid")" \
				2>/dev/null || true
		fi
		ow --unique x -p "$OWNER" -k 0.2 sh -c 'exit 3'
		expect_status 3
		await_gone "$pid"
	done
	nothing_left
}

@test "unique: a command that can't be executed has stopped the older one all the same" {
	older --
	ow -127 --unique x -p "$OWNER" ./nosuch
	expect_status 127
	ended "$A" 0
	nothing_left
}

@test "unique: an owner by descriptor is watched as without it" {
	mkfifo fifo
	sleep 300 3>&- >fifo &
	writer=$!
	track "$writer"
	exec 7<fifo
	start "$OW" --unique x --poll -i 0.1 -g 0.1 --owner-fd 7 -- server -l log
	front=$PID
	exec 7<&-
	up log
	lives_on 700 "$SERVER" "$front"
	kill -KILL "$writer"
	ended "$front" 124
	nothing_left
}

@test "unique: as an ordinary user" {
	as_nobody
	chmod 777 run
	rm -rf run
	THEIRS=$(mktemp -d /tmp/owtest.XXXXXX)
	chown 65534:65534 "$THEIRS"
	XDG_RUNTIME_DIR=$THEIRS
	for i in 1 2; do
		start "${NOBODY[@]}" "$OW" --unique x -v -i 0.1 -p $$ -- server -l "log$i"
		fronts[i]=$PID
		up "log$i"
	done
	ended "${fronts[1]}" 0
	# Root's of the same name and owner is another's.
	XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/mine
	mkdir -m 700 mine
	ow --unique x -p $$ true
	expect_status 0
	assert_alive "$SERVER"
	stop "${fronts[2]}"
}

@test "unique: plain POSIX" {
	plain_posix
	older -k 0.5 -- -d
	unique new --
	up new
	refute_alive "$A_SERVER"
	finish "$A"
	# The order, and an owner by another number.
	mine=$OWNER
	new_owner
	unique other --
	b=$FRONT
	b_server=$SERVER
	up other
	assert_alive "$b_server"
	stop "$b"
	OWNER=$mine
	kill -TERM "$(ps -o ppid= "$(ps -o ppid= "$b_server" | tr -d ' ')" | tr -d ' ')"
	await_gone "$b_server"
}
