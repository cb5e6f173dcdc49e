#!/usr/bin/env bats
# The variables OWNERWRAP and OWNERWRAP_*.

load helper
bats_require_minimum_version 1.5.0


# ignored NAME VALUE RIGHT: one line, and the server starts
ignored() {
	run --separate-stderr env "OWNERWRAP_$1=$2" "$OW" -- sh -c 'exit 7'
	assert_equal "$status" 7 "status with $1=$2"
	assert_equal "$output" ""
	assert_equal "$stderr" \
		"ownerwrap[sh]: OWNERWRAP_$1=$2: ignored, must be $3"
}

# A process that has been reaped.
dead_pid() {
	sh -c 'echo $$'
}

@test "environment: each variable with a time, a signal, a scope works" {
	export OWNERWRAP_GRACE=3 OWNERWRAP_KILL_AFTER=4s OWNERWRAP_SIGNAL=usr1
	assert_plan "USR1 in 3s, KILL 4s later, 8s if others must be told"
	export OWNERWRAP_SCOPE=process
	assert_plan "USR1 in 3s, KILL 4s later"
	export OWNERWRAP_KILL_AFTER=inf OWNERWRAP_GRACE=0
	assert_plan "USR1 now, no KILL"
}

@test "environment: an option replaces its variable, and only that" {
	export OWNERWRAP_GRACE=3 OWNERWRAP_KILL_AFTER=4s OWNERWRAP_SIGNAL=USR1
	assert_plan "USR1 in 6s, KILL 4s later, 8s if others must be told" -g 6
	assert_plan "HUP in 3s, KILL 7s later, 14s if others must be told" \
		-k 7 --signal HUP
	export OWNERWRAP_SCOPE=process
	assert_plan "USR1 in 3s, KILL 4s later, 8s if others must be told" \
		--scope session
}

@test "environment: an option replaces a malformed variable without a word" {
	OWNERWRAP_GRACE=x OWNERWRAP_SCOPE=x OWNERWRAP_LOG=/ ow -g 1 \
		--scope tree --log log -- true
	expect_status 0
	expect_said ""
}

@test "environment: OWNERWRAP_INTERVAL is the time between two looks" {
	nopoll "there the option is always given"
	OWNERWRAP_INTERVAL=0.3 ow --poll -v -- true
	expect_said_match ', polled every 0.3s$'
	OWNERWRAP_INTERVAL=0.3 ow --poll -v -i 4 -- true
	expect_said_match ', polled every 4s$'
}

@test "environment: OWNERWRAP_LEFTOVERS says what to do with leftovers" {
	OWNERWRAP_LEFTOVERS="wait" ow -- sh -c 'sleep 0.2 & exit 3'
	expect_status 3
	expect_said "ownerwrap[sh]: server ended and left 1 process: waited for"
	OWNERWRAP_LEFTOVERS="wait" ow --leftovers stop -- \
		sh -c 'sleep 300 & exit 3'
	expect_status 3
	expect_said_match ': stopped '
}

@test "environment: OWNERWRAP_LOG is a log" {
	OWNERWRAP_LOG=log ow -- true
	expect_said ""
	assert_lines log 'ownerwrap\[true\]: server [0-9]+ started; ' 1
	OWNERWRAP_LOG=log ow --log other -- true
	assert_lines log . 1
	assert_lines other . 1
}

@test "environment: OWNERWRAP_OWNER_PID is the owner, instead of the parent" {
	new_owner
	OWNERWRAP_OWNER_PID=$OWNER ow -v -- true
	expect_said_match "; owner $OWNER \\(sleep, up [0-9]+s\\), [pw]"
	OWNERWRAP_OWNER_PID=$OWNER:$(start_ticks "$OWNER") ow -v -- true
	expect_said_match "; owner $OWNER \\(sleep, up [0-9]+s\\), [pw]"
	export OWNERWRAP_OWNER_PID=$OWNER
	start "$OW" -g 0 -- sleep 300
	supervisor_of "$PID" >/dev/null
	unset OWNERWRAP_OWNER_PID
	kill -KILL "$OWNER"
	finish "$PID"
	expect_status 124
}

@test "environment: OWNERWRAP_OWNER_PID of a dead process means what it says" {
	dead=$(dead_pid)
	OWNERWRAP_OWNER_PID=$dead ow -- touch started
	expect_status 124
	expect_said "ownerwrap[touch]: owner $dead is not there: not started (ended, or in another pid namespace: --owner-fd)"
	[ ! -e started ]
	# Alive, but not the process that was meant.
	OWNERWRAP_OWNER_PID=$$:1 ow -- touch started
	expect_status 124
	[ ! -e started ]
}

@test "environment: an owner option replaces all owner variables" {
	OWNERWRAP_OWNER_PID=$(dead_pid) ow -p $$ -v -- true
	expect_status 0
	expect_said_match "; owner $$ \\([^,]*, up [0-9hms]+\\), [pw]"
	OWNERWRAP_OWNER_PID=nobody ow -p $$ -- true
	expect_status 0
	expect_said ""
}

@test "environment: a malformed value is one line, and the server starts (20)" {
	ignored GRACE soon "$RIGHT_GRACE"
	ignored GRACE -1 "$RIGHT_GRACE"
	ignored GRACE ' ' "$RIGHT_GRACE"
	ignored KILL_AFTER 0 "$RIGHT_KILL_AFTER"
	ignored KILL_AFTER never "$RIGHT_KILL_AFTER"
	ignored SIGNAL STOP "$RIGHT_SIGNAL"
	ignored SIGNAL 0 "$RIGHT_SIGNAL"
	ignored SCOPE all "$RIGHT_SCOPE"
	ignored LEFTOVERS keep "$RIGHT_LEFTOVERS"
	ignored LOG none/log "$RIGHT_LOG"
	ignored SHARE dir/ 'a name, or the path of a socket'
	ignored UNIQUE a/b 'a name without a slash'
	ignored SWEEP 'x.{pid}{pid}' 'a path with {pid} once, in its last part; 64 at most'
	ignored ORPHANS '(' 'an extended regular expression'
	for value in 0 -1 -5 ' 7' 7x 99999999999 nvim; do
		ignored OWNER_PID "$value" "$RIGHT_OWNER_PID"
	done
}

# no_place NAME VALUE WHY: 125 with one line, by variable as by option
no_place() {
	run --separate-stderr env "OWNERWRAP_$1=$2" "$OW" -- touch started
	expect_status 125
	expect_said_match "^ownerwrap\\[touch\\]: $3\$"
	assert_equal "${#stderr_lines[@]}" 1 lines
	run --separate-stderr "$OW" "--${1,,}" "$2" -- touch started
	expect_status 125
	expect_said_match "^ownerwrap\\[touch\\]: $3\$"
	[ ! -e started ]
}

@test "environment: a place that can't be used is 125, by variable as by option (54)" {
	local open='.*: must be a directory of this user.s or root.s that nobody else can write to'
	mkdir dir public
	chmod 777 public
	echo precious >file
	no_place SHARE none/x "directory $PWD/none: No such file or directory"
	no_place SHARE public/s "$open"
	no_place SHARE ./file '.*/file: is there, and no socket of this user'
	no_place SHARE "$(printf '%0100d' 0)" '0*: too long: 102 bytes at most, with its directory'
	no_place SHARE "$(printf %05000d 0)" '0*: too long: 102 bytes at most, with its directory'
	mkdir s.lock
	no_place SHARE ./s 'lock .*/s\.lock: Is a directory'
	no_place UNIQUE "$(printf '%0240d' 0)" '.*: File name too long'
	assert_equal "$(cat file)" precious
	[ "$(id -u)" != 0 ] || return 0
	chmod 500 dir
	no_place SHARE dir/x '.*/dir/x.*: Permission denied'
}

# named [NAME=VALUE]: starts that want the NAME x, by option and variable, as root
# of a user namespace whose /run and /tmp are ./run and ./tmp; ./run/bin has the
# program, ./seen the directories of their files, ./said what they say
named() {
	local option words inside='mount --bind run /run && mount --bind tmp /tmp &&
		exec "$@"' seen='find /run /tmp -name "x.*" | sed "s|/[^/]*\$||" |
		sort -u >>seen'
	rm -f seen said
	for option in share unique; do
		for words in "OWNERWRAP_${option^^}=x /run/bin/ow" \
			"/run/bin/ow --$option x"; do
			# shellcheck disable=SC2086
			unshare -Urm sh -c "$inside" - env -u XDG_RUNTIME_DIR \
				OWTEST_BIN=/run/bin/ownerwrap "$@" $words -- \
				sh -c "$seen" 2>>said && status=0 ||
				status=$?
			echo "$status" >>seen
		done
	done
}

# are DIRECTORY [NAME=VALUE]: those of all four
are() {
	named "${@:2}"
	assert_equal "$(uniq seen | tr '\n' ' ')" \
		"$1 0 $1 0 $1 0 $1 0 " "${2-}"
	assert_equal "$(grep -v ': the shared server ended after ' said)" ''
}

@test "environment: a NAME goes to the first place that can be used (106)" {
	need unshare mount
	unshare -Urm true 2>/dev/null || skip_or_fail 'needs user and mount namespaces'
	mkdir -p run/user run/bin tmp dir
	cp "$OWTEST_BIN" run/bin/ownerwrap	# elsewhere they may be hidden
	cp "$OW" run/bin/ow
	mkdir -m 700 run/mine run/user/0 run/link run/file run/open
	mkdir -m 777 run/open/ownerwrap run/all
	chmod 777 run/open/ownerwrap run/all
	chmod 1777 tmp
	ln -s "$PWD/dir" run/link/ownerwrap
	: >run/file/ownerwrap
	are /run/user/0/ownerwrap
	are /run/mine/ownerwrap XDG_RUNTIME_DIR=/run/mine
	for path in '' run/mine /run/user/4242 /run/all /run/link /run/file \
		/run/open; do
		are /run/user/0/ownerwrap XDG_RUNTIME_DIR="$path"
	done
	if [ "$(id -u)" = 0 ]; then
		mkdir -m 777 run/user/4242
		chown 4242 run/user/4242
		are /run/user/0/ownerwrap XDG_RUNTIME_DIR=/run/user/4242
	fi
	assert_equal "$(find dir run/all tmp -name 'x.*' -o -name 'ownerwrap*')" ''
	assert_equal "$(stat -c %a run/user/0/ownerwrap)" 700
	rm -r run/user/0
	are /tmp/ownerwrap-0 XDG_RUNTIME_DIR=/run/user/4242
	assert_equal "$(stat -c %a tmp/ownerwrap-0)" 700
	# None is left.
	chmod 777 tmp/ownerwrap-0
	named
	assert_equal "$(uniq seen)" 125
	assert_equal "$(sort -u said)" "ownerwrap[sh]: /tmp/ownerwrap-0: must be a directory of this user's or root's that nobody else can write to"
	assert_lines said . 4
}

@test "environment: a malformed interval is one line as well" {
	nopoll "there the option is always given"
	ignored INTERVAL 0 "$RIGHT_INTERVAL"
	ignored INTERVAL often "$RIGHT_INTERVAL"
}

@test "environment: ownerwrap's own pid as owner is malformed" {
	OWNERWRAP_GRACE='' run --separate-stderr sh -c 'echo $$; OWNERWRAP_OWNER_PID=$$ exec "$0" -v true' "$OW"
	expect_status 0
	assert_equal "${stderr_lines[0]}" \
		"ownerwrap[true]: OWNERWRAP_OWNER_PID=${lines[0]}: ignored, must be $RIGHT_OWNER_PID"
	[[ ${stderr_lines[1]} == *"; owner "* ]]
}

@test "environment: a malformed value is the default, never at once" {
	export OWNERWRAP_GRACE=0x0 OWNERWRAP_KILL_AFTER=0 OWNERWRAP_SIGNAL=STOP
	assert_plan "$(plan 'in 2s' 5s 10s)"
	assert_lines "$ERR" ': ignored, must be ' 3
}

@test "environment: a malformed owner leaves the default owner" {
	OWNERWRAP_OWNER_PID=0 ow -v -- true
	assert_equal "${#stderr_lines[@]}" 2
	expect_said_match "; owner [0-9]+ \\(bash, "
}

@test "environment: what is malformed is said, when there is a log, in it too" {
	OWNERWRAP_GRACE=soon OWNERWRAP_LOG=log ow -- true
	expect_said_match 'OWNERWRAP_GRACE=soon: ignored'
	assert_lines log 'OWNERWRAP_GRACE=soon: ignored, ' 1
	OWNERWRAP_GRACE=soon ow -q --log other -- true
	expect_said ""
	assert_lines other 'OWNERWRAP_GRACE=soon: ignored, ' 1
}

@test "environment: an empty variable is not set" {
	export OWNERWRAP='' OWNERWRAP_GRACE='' OWNERWRAP_KILL_AFTER='' \
		OWNERWRAP_SIGNAL='' OWNERWRAP_SCOPE='' OWNERWRAP_LEFTOVERS='' \
		OWNERWRAP_INTERVAL='' OWNERWRAP_LOG='' OWNERWRAP_OWNER_PID=''
	ow -- sh -c 'exit 3'
	expect_status 3
	expect_said ""
	assert_plan "$(plan 'in 2s' 5s 10s)"
}

@test "environment: what has no value has no variable, unknown ones are ignored, named under -v" {
	export OWNERWRAP_QUIET=1 OWNERWRAP_VERBOSE=1 OWNERWRAP_ANY=x \
		OWNERWRAP_HELP=1 OWNERWRAP_FROBNICATE=x OWNERWRAP_=x \
		OWNERWRAP_PID_FILE=./dir/ \
		OWNERWRAP_grace=x OWNERWRAP_OWNER_PID_=x
	ow -- sh -c 'exit 3'
	expect_status 3
	expect_said ""
	ow -v -- true
	for name in FROBNICATE '' grace OWNER_PID_ ANY; do
		expect_said_match "OWNERWRAP_$name: unknown, ignored"
	done
}

@test "environment: ownerwrap's variables are not the server's (63)" {
	export OWNERWRAP_GRACE=1 OWNERWRAP_SIGNAL='' OWNERWRAP_FROBNICATE=x \
		OWNERWRAP_=x OWNERWRAP=yes OWNERWRAPPED=x ownerwrap_grace=1 \
		XOWNERWRAP_X=1
	ow -- env
	expect_status 0
	refute_match $'(^|\n)OWNERWRAP_'
	expect_match $'(^|\n)OWNERWRAP=yes(\n|$)'
	expect_match $'(^|\n)OWNERWRAPPED=x(\n|$)'
	expect_match $'(^|\n)ownerwrap_grace=1(\n|$)'
	expect_match $'(^|\n)XOWNERWRAP_X=1(\n|$)'
}

refute_match() {
	[[ ! $output =~ $1 ]] || fail "output '$output' matches $1"
}

@test "environment: all else reaches the server in its order (63)" {
	export OWNERWRAP_GRACE=1 OWNERWRAP_ZZZ=x ODD=$'a\nb=c' EMPTY=
	env -u OWNERWRAP_GRACE -u OWNERWRAP_ZZZ env -0 >direct
	"$OW" -- env -0 >wrapped
	diff <(tr '\0\n' '\n~' <direct | grep -v '^_=') \
		<(tr '\0\n' '\n~' <wrapped | grep -v '^_=')
	env -i "$OWNERWRAP_BIN" -- /usr/bin/env >none
	[ ! -s none ]
}

@test "environment: OWNERWRAP=off runs the command in place of ownerwrap" {
	for word in off 0 no false OFF No FaLsE; do
		OWNERWRAP=$word run sh -c 'echo $$; exec "$0" -v -g 1 -p 1 -- sh -c "echo \$\$; exit 3"' "$OW"
		assert_equal "$status" 3 "status with $word"
		assert_equal "${#lines[@]}" 2 "lines with $word"
		assert_equal "${lines[0]}" "${lines[1]}" "pids with $word"
	done
	OWNERWRAP=off ow sh -c 'kill -USR1 $$'
	expect_status $((128 + $(kill -l USR1)))
}

@test "environment: any other word is not off" {
	for word in on 1 yes true offf of 00 ' off'; do
		OWNERWRAP=$word run sh -c 'echo $$; exec "$0" -- sh -c "echo \$\$"' "$OW"
		expect_status 0
		[ "${lines[0]}" != "${lines[1]}" ] || fail "off by $word"
	done
}

@test "environment: OWNERWRAP=off leaves the environment as it is" {
	export OWNERWRAP=off OWNERWRAP_GRACE=bad OWNERWRAP_FOO=x \
		LISTEN_PID=1 WATCHDOG_PID=1
	env -0 >direct
	"$OW" -- env -0 >wrapped 2>said
	diff <(tr '\0\n' '\n~' <direct | grep -v '^_=') \
		<(tr '\0\n' '\n~' <wrapped | grep -v '^_=')
	grep -zqx OWNERWRAP_GRACE=bad wrapped
	assert_equal "$(grep -v ': the shared server ended after ' said)" ''
}

@test "environment: OWNERWRAP=off leaves everything as it is" {
	export OWNERWRAP=off
	exec 7</dev/null
	dump -o dump a '' $'b\nc' 0</dev/null >/dev/null
	mv dump direct
	"$OW" -v -- dump -o dump a '' $'b\nc' 0</dev/null >/dev/null
	diff direct dump
	sock close=0,2 dump -o dump a
	mv dump direct
	sock close=0,2 "$OW" -- dump -o dump a
	diff direct dump
}

@test "environment: under OWNERWRAP=off no value is looked at" {
	OWNERWRAP=off OWNERWRAP_SCOPE=x ow --grace x -k 0 -sSTOP \
		--interval= -p "$(dead_pid)" --scope x --leftovers x \
		--log log -- echo here
	expect_status 0
	expect_output here
	expect_said ""
	[ ! -e log ]
}

@test "environment: under OWNERWRAP=off an unknown option is still an error" {
	OWNERWRAP=off ow --frobnicate touch started
	expect_status 125
	expect_said_match '^ownerwrap: unknown option --frobnicate '
	OWNERWRAP=off ow -vx touch started
	expect_status 125
	OWNERWRAP=off ow --poll=1 touch started
	expect_status 125
	OWNERWRAP=off ow --grace
	expect_status 125
	[ ! -e started ]
}

@test "environment: OWNERWRAP=off without a command has no effect" {
	OWNERWRAP=off ow -v
	expect_status 125
	expect_said_match '^ownerwrap: no command '
	OWNERWRAP=off ow --version
	expect_status 0
	expect_match '^ownerwrap [0-9.]+$'
	OWNERWRAP=off ow --grace x
	expect_status 125
	expect_said_match '^ownerwrap: --grace x: must be '
}

@test "environment: under OWNERWRAP=off what can't run has its usual status (54)" {
	mkdir dir
	: >file
	OWNERWRAP=off PATH=/usr/bin:/bin ow -127 -- nothing-like-this
	expect_said "ownerwrap[nothing-like-this]: nothing-like-this: not found in PATH=/usr/bin:/bin"
	OWNERWRAP=off ow -- ./dir
	expect_status 126
	expect_said "ownerwrap[dir]: ./dir: can't be executed: Permission denied"
	OWNERWRAP=off ow -- ./file
	expect_status 126
}

@test "environment: OWNERWRAP_KILL_AFTER bounds a stop that is asked for" {
	export OWNERWRAP_KILL_AFTER=0.2
	start "$OW" -- server -l log -d
	unset OWNERWRAP_KILL_AFTER
	server_pid log >/dev/null
	kill -TERM "$PID"
	finish "$PID"
	expect_status 137
	assert_lines log '^TERM ' 1
}

@test "environment: -q silences a malformed OWNERWRAP_LOG, too" {
	OWNERWRAP_LOG=/nowhere/log ow -q -- true
	expect_status 0
	expect_said ""
}
