#!/usr/bin/env bats
# The command line: how it is read, and what a malformed one says.

load helper
bats_require_minimum_version 1.5.0

USAGE='(usage: ownerwrap [options] [--] command [argument ...], or --help)'
W='ownerwrap[touch]:'

@test "options: a value follows after = or as the next word" {
	assert_plan "INT in 3s, KILL 4s later, 8s if others must be told" \
		--grace=3 --kill-after=4 --signal=INT --scope=session
	assert_plan "INT in 3s, KILL 4s later, 8s if others must be told" \
		--grace 3 --kill-after 4 --signal INT --scope session
}

@test "options: short ones take the rest of the word or the next one" {
	assert_plan "INT in 3s, KILL 4s later, 8s if others must be told" \
		-g 3 -k 4 -s INT
	assert_plan "INT in 3s, KILL 4s later, 8s if others must be told" \
		-g3 -k4 -sINT
}

@test "options: short ones without a value stand together, a value may end them" {
	assert_plan "$(plan 'in 3s' 4s 8s)" -qvg3 -qvk 4
	assert_lines "$ERR" '^ownerwrap\[sh\]: server [0-9]+ started; ' 1
}

@test "options: of one given twice the last counts" {
	assert_plan "USR1 in 3s, KILL 4s later" --grace 1 -g 3 -k inf -k 4 \
		-s INT -s USR1 --scope tree --scope process
}

@test "options: the defaults are as documented" {
	assert_plan "$(plan 'in 2s' 5s 10s)"
}

@test "options: a duration is a number with or without a unit" {
	while read -r value grace kill twice; do
		assert_plan "$(plan "in $grace" "$kill" "$twice")" \
			--grace "$value" --kill-after "$value"
	done <<-'END'
		2 2s 2s 4s
		0.25 0.25s 0.25s 0.5s
		500ms 0.5s 0.5s 1s
		3s 3s 3s 6s
		30m 1800s 1800s 3600s
		1h 3600s 3600s 7200s
		1.5h 5400s 5400s 10800s
		0.5ms 0.001s 0.001s 0.002s
		0.0004 0.001s 0.001s 0.002s
		007 7s 7s 14s
	END
}

@test "options: anything else is no duration" {
	for value in '' ' ' ' 1' '1 ' -1 +1 1,5 1e3 0x10 5S 5sec 1d 1h30m nan \
		infinity s ms . 1.s 1..2 99999999999999999999; do
		refused 125 "$W --grace $value: must be $RIGHT_GRACE" --grace "$value"
		refused 125 "$W -k $value: must be $RIGHT_KILL_AFTER" -k "$value"
		refused 125 "$W --interval $value: must be $RIGHT_INTERVAL" \
			"--interval=$value"
	done
	refused 125 "$W -g inf: must be $RIGHT_GRACE" -g inf
	refused 125 "$W -i inf: must be $RIGHT_INTERVAL" -i inf
	refused 125 "$W -k INF: must be $RIGHT_KILL_AFTER" -k INF
}

@test "options: kill-after 0 and interval 0 are errors that say what to write" {
	for value in 0 0s 0.0 0ms 0h; do
		refused 125 "$W --kill-after $value: must be $RIGHT_KILL_AFTER" \
			--kill-after "$value"
		refused 125 "$W -i $value: must be $RIGHT_INTERVAL" "-i$value"
	done
}

@test "options: grace 0 is at once, kill-after inf is never" {
	assert_plan "$(plan now 5s 10s)" --grace 0
	assert_plan "$(plan now 5s 10s)" --grace 0ms
	assert_plan "TERM in 2s, no KILL" -k inf
}

@test "options: no duration is too long" {
	assert_plan "$(plan 'in 7200000000s' 5s 10s)" --grace 2000000h
	ow -g 2000000h -k 2000000h -i 2000000h -- true
	expect_status 0
	expect_output ""
	expect_said ""
}

@test "options: a tiny duration is not at once" {
	assert_plan "$(plan 'in 0.001s' 5s 10s)" -g 0.000000001
}

@test "options: a signal has a name, with or without SIG, or a number" {
	while read -r value name; do
		assert_plan "$name in 2s, KILL 5s later, 10s if others must be told" \
			--signal "$value"
	done <<-END
		TERM TERM
		sigterm TERM
		SigInt INT
		hup HUP
		$(kill -l USR2) USR2
		SIGWINCH WINCH
		40 signal 40
		64 signal 64
	END
	assert_plan "KILL in 2s" -s KILL
	assert_plan "KILL in 2s" -s 9
}

@test "options: signals that only stop or continue are errors, like none at all" {
	for value in STOP sigstop SIGCONT Tstp "$(kill -l STOP)" \
		"$(kill -l CONT)" "$(kill -l TSTP)" '' 0 -1 +15 65 1000 TERMX \
		SIGSIGTERM SIG SIG15 'TERM ' ' TERM' 15x 15,2; do
		refused 125 "$W --signal $value: must be $RIGHT_SIGNAL" \
			--signal "$value"
	done
}

@test "options: scope and leftovers know three words each" {
	for value in '' Session proc processes all 0; do
		refused 125 "$W --scope $value: must be $RIGHT_SCOPE" \
			--scope "$value"
		refused 125 "$W --leftovers $value: must be $RIGHT_LEFTOVERS" \
			"--leftovers=$value"
	done
	for value in process session tree; do
		ow --scope $value -- true
		expect_status 0
	done
	for value in stop wait leave; do
		ow --leftovers $value -- true
		expect_status 0
	done
	expect_output ""
	expect_said ""
}

@test "options: an owner that is no pid is an error, and signals nobody (20)" {
	new_owner	# the canary: in our group and session
	for value in 0 -1 -5 +1 '' ' 7' '7 ' 7x 0x7 99999999999 4294967297 \
		18446744073709551617 : 1: :1 1:x 1:0 1:-1 '1: 1' 1:1:1; do
		refused 125 "$W --owner-pid $value: must be $RIGHT_OWNER_PID" \
			--owner-pid "$value"
		refused 125 "$W -p $value: must be $RIGHT_OWNER_PID" "-p" "$value"
	done
	assert_alive "$OWNER"
}

@test "options: ownerwrap does not own itself (20)" {
	run --separate-stderr sh -c 'echo $$; exec "$0" -p $$ touch started' "$OW"
	expect_status 125
	assert_equal "$stderr" "$W -p $output: must be $RIGHT_OWNER_PID"
	[ ! -e started ]
}

@test "options: owners can be repeated, with and without a start time" {
	new_owner
	ow -v -p "$OWNER" \
		--owner-pid="$$:$(start_ticks $$)" "-p$OWNER" -- true
	expect_status 0
	[[ $stderr =~ \;\ owner\ $OWNER\ \(sleep,\ up\ [0-9]+s\),\ $$\ \([^()]*\), ]]
	[ "$(grep -o "$OWNER (" <<<"$stderr" | wc -l)" = 1 ]
}

@test "options: a log that cannot be opened is an error" {
	mkfifo fifo
	mkdir dir
	for value in '' none/log dir fifo; do
		refused 125 "$W --log $value: must be $RIGHT_LOG" \
			--log "$value"
	done
	[ ! -e none ]
}

@test "options: a long one must be written in full" {
	for word in --frobnicate --grac --kill --owner-pi --int --verb --hel \
		--Grace --grace-- --gracee --quiet0; do
		refused 125 "ownerwrap: unknown option $word $USAGE" $word 1
	done
	refused 125 "ownerwrap: unknown option --grac $USAGE" --grac=1
	refused 125 "ownerwrap: unknown option -- $USAGE" --=1
}

@test "options: an unknown letter is an error, also among known ones" {
	refused 125 "ownerwrap: unknown option -x $USAGE" -x
	refused 125 "ownerwrap: unknown option -x $USAGE" -qvx
	refused 125 "ownerwrap: unknown option -G $USAGE" -G 1
	refused 125 "ownerwrap: unknown option -= $USAGE" -v=1
}

@test "options: one that takes no value says so" {
	for name in any poll quiet verbose help version; do
		refused 125 "ownerwrap: --$name: takes no value" --$name=1
		refused 125 "ownerwrap: --$name: takes no value" --$name=
	done
}

@test "options: one at the end of the line lacks its value" {
	check() {
		ow -q "$1"
		expect_status 125
		expect_output ""
		assert_equal "$stderr" "ownerwrap: $1: needs a value: $2"
	}
	check -p "$RIGHT_OWNER_PID"
	check --owner-pid "$RIGHT_OWNER_PID"
	check -g "$RIGHT_GRACE"
	check --grace "$RIGHT_GRACE"
	check -k "$RIGHT_KILL_AFTER"
	check --kill-after "$RIGHT_KILL_AFTER"
	check -s "$RIGHT_SIGNAL"
	check --signal "$RIGHT_SIGNAL"
	check -i "$RIGHT_INTERVAL"
	check --interval "$RIGHT_INTERVAL"
	check --scope "$RIGHT_SCOPE"
	check --leftovers "$RIGHT_LEFTOVERS"
	check --log "$RIGHT_LOG"
}

@test "options: the word after one with a value is its value, whatever it is" {
	refused 125 "$W --grace --: must be $RIGHT_GRACE" --grace --
	refused 125 "$W -g -v: must be $RIGHT_GRACE" -g -v
	refused 125 "$W -p v: must be $RIGHT_OWNER_PID" -pv
}

@test "options: of two malformed ones the first is said, in one line" {
	refused 125 "$W --grace soon: must be $RIGHT_GRACE" --grace soon --scope all
	refused 125 "$W --grace ?[31m?: must be $RIGHT_GRACE" --grace $'\e[31m\n'
}

@test "options: a refused line is also said when quiet" {
	refused 125 "$W -g x: must be $RIGHT_GRACE" -q -g x
	refused 125 "ownerwrap: unknown option -x $USAGE" -q -x
}

@test "options: the first operand ends them" {
	ow echo -v --version -- --grace x
	expect_status 0
	expect_output "-v --version -- --grace x"
}

@test "options: -- ends them" {
	ow -- echo -- -v
	expect_output "-- -v"
	PATH=$PWD:$PATH
	printf '#!/bin/sh\necho "ran $*"\n' >./--help
	chmod +x ./--help
	ow -- --help -x
	expect_output "ran -x"
}

@test "options: a lone - is an operand" {
	PATH=/usr/bin:/bin ow -127 - x
	expect_status 127
	assert_equal "$stderr" "ownerwrap[-]: -: not found in PATH=/usr/bin:/bin"
}

@test "options: without a command there is an error" {
	for words in '' -- -v '--grace 1 --' '--any --poll -q'; do
		# shellcheck disable=SC2086
		ow $words
		expect_status 125
		expect_output ""
		assert_equal "$stderr" "ownerwrap: no command $USAGE"
	done
}

@test "options: an empty command is not found" {
	ow -127 -- ''
	expect_status 127
	assert_equal "$stderr" "ownerwrap[]: : not found in PATH=$PATH"
}

@test "options: help and version go to stdout and start nothing" {
	for word in -h --help -qh; do
		ow $word touch started
		expect_status 0
		assert_equal "$stderr" ""
		[[ $output == "usage: ownerwrap [options] [--] command "* ]]
		[ "${#lines[@]}" -le 30 ]
		for line in "${lines[@]}"; do [ ${#line} -le 80 ]; done
	done
	for word in -V --version -vV; do
		ow $word touch started
		expect_status 0
		assert_equal "$stderr" ""
		[[ $output =~ ^ownerwrap\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	done
	[ ! -e started ]
}

@test "options: help names each option" {
	ow --help
	for word in -p --owner-pid --any -g --grace -k --kill-after -s --signal \
		--scope --leftovers -i --interval --poll --log -q --quiet -v \
		--verbose -h --help -V --version; do
		grep -Eq -e "^ .*${word}[ ,]" <<<"$output" || fail "no $word"
	done
}

@test "options: interval is how often it looks while polling" {
	ow --poll -i 0.3 -v -- true
	expect_status 0
	[[ $stderr == *", polled every 0.3s" ]]
	ow --poll --interval=2m -v -- true
	[[ $stderr == *", polled every 120s" ]]
}

@test "options: poll asks the kernel for nothing" {
	nopoll "this is about the default"
	ow -v -- true
	[[ $stderr == *", watched by "* ]]
	ow -v --poll -- true
	[[ $stderr == *", polled every 1s" ]]
}

@test "options: 64 KiB of stack are enough" {
	nosan "which takes more of it"
	export XDG_RUNTIME_DIR=$PWD
	local option
	for option in --max-idle=1h --keep-connected --keep-if=true --unique=u \
		'--sweep=./x.{pid}' --orphans=nobody; do
		run sh -c 'ulimit -s 64; exec "$@"' - "$OW" "$option" -g 0 -- \
			sh -c 'exit 3'
		expect_status 3
	done
}
