#!/usr/bin/env bats
# --sweep: files of processes that are gone, unlinked before all else.

load helper
bats_require_minimum_version 1.5.0

# dead_pids N: sets DEAD, numbers of processes that are gone. The numbers that
# were used last come again last.
dead_pids() {
	local n
	DEAD=()
	for ((n = 0; n < $1; n++)); do
		true &
		DEAD+=("$!")
	done
	wait "${DEAD[@]}"
}

# live_pids N: sets LIVE
live_pids() {
	local n
	LIVE=()
	for ((n = 0; n < $1; n++)); do
		new_owner
		LIVE+=("$OWNER")
	done
}

# files DIRECTORY: eight of the dead, three of the living, in a directory
files() {
	local pid
	mkdir -p "$1"
	dead_pids 8
	live_pids 3
	for pid in "${DEAD[@]}" "${LIVE[@]}"; do
		echo "$pid" >"$1/srv-$pid.json"
	done
}

# kept DIRECTORY: what is in it are the three of the living
kept() {
	assert_equal "$(ls -A "$1")" "$(printf 'srv-%d.json\n' "${LIVE[@]}" |
		sort)" "what is in $1"
}

@test "sweep: of 8 stale files and 3 live ones exactly the 8 are gone" {
	files run
	ow --sweep 'run/srv-{pid}.json' sh -c 'ls run >seen; exit 3'
	expect_status 3
	expect_said 'ownerwrap[sh]: swept 8 files: run/srv-{pid}.json'
	kept run
	# It was first of all.
	assert_equal "$(cat seen)" "$(ls run)"
}

@test "sweep: also when the start is then refused" {
	files run
	ow --sweep 'run/srv-{pid}.json' -p "${DEAD[0]}" touch started
	expect_status 124
	kept run

	files run2
	: >sock
	ow --sweep 'run2/srv-{pid}.json' --share ./sock touch started
	expect_status 125
	expect_said_match 'swept 8 files'
	kept run2

	files run3
	ow -127 --sweep 'run3/srv-{pid}.json' ./nosuch
	expect_status 127
	kept run3

	files run4
	ow --sweep 'run4/srv-{pid}.json' --owner-name nosuchname touch started
	expect_status 124
	kept run4
	[ ! -e started ]
}

@test "sweep: -v names each, -q says nothing" {
	dead_pids 2
	touch "a.${DEAD[0]}" "a.${DEAD[1]}"
	ow -v --sweep 'a.{pid}' -p 1:1 true
	expect_status 124
	for pid in "${DEAD[@]}"; do
		expect_said_match "swept a.$pid of $pid, which is gone"
	done
	expect_said_match 'swept 2 files: a\.\{pid\}'
	touch "a.${DEAD[0]}"
	ow -q --sweep 'a.{pid}' true
	expect_status 0
	expect_said ''
	[ ! -e "a.${DEAD[0]}" ]
	touch "a.${DEAD[0]}"
	ow --sweep 'a.{pid}' true
	expect_said 'ownerwrap[true]: swept 1 file: a.{pid}'
	ow --sweep 'a.{pid}' true
	expect_said ''
}

@test "sweep: several patterns, a relative and an absolute one, and a variable" {
	dead_pids 3
	mkdir d
	touch "d/${DEAD[0]}" "x${DEAD[1]}y" "d/z.${DEAD[2]}"
	ow --sweep "$PWD/d/{pid}" --sweep 'x{pid}y' true
	expect_status 0
	assert_equal "$(ls -A d)" "z.${DEAD[2]}"
	[ ! -e "x${DEAD[1]}y" ]
	OWNERWRAP_SWEEP='d/z.{pid}' ow true
	assert_equal "$(ls -A d)" ''
}

@test "sweep: the name must be the pattern with the decimal number, and no more" {
	local names=()
	dead_pids 1
	pid=${DEAD[0]}
	mkdir d
	names=("a$pid.pid.bak" "ba$pid.pid" "a0$pid.pid" "a+$pid.pid" "a-$pid.pid"
		"a $pid.pid" "a${pid}x.pid" "a.pid" "a0.pid" "a1.pid" "a00.pid"
		"a0x1f.pid" "a99999999999.pid" "a4294967297.pid"
		"a18446744073709551617.pid" "A$pid.pid" "a{pid}.pid" "a$pid.pi"
		"a$pid" "a$pid.pid"$'\n')
	for name in "${names[@]}"; do
		touch "d/$name"
	done
	touch "d/a$pid.pid"
	ow --sweep 'd/a{pid}.pid' true
	expect_said 'ownerwrap[true]: swept 1 file: d/a{pid}.pid'
	[ ! -e "d/a$pid.pid" ]
	for name in "${names[@]}"; do
		[ -e "d/$name" ] || fail "swept $name"
	done
}

@test "sweep: pattern characters of a shell or a regular expression are only that" {
	dead_pids 1
	pid=${DEAD[0]}
	touch "a*[b]?.$pid.%s" "axb.$pid.%s"
	ow --sweep 'a*[b]?.{pid}.%s' true
	expect_said 'ownerwrap[true]: swept 1 file: a*[b]?.{pid}.%s'
	[ -e "axb.$pid.%s" ]
	[ ! -e "a*[b]?.$pid.%s" ]
}

@test "sweep: only regular files, and no link is followed" {
	dead_pids 5
	mkdir d
	touch target
	ln -s ../target "d/${DEAD[0]}"
	mkdir "d/${DEAD[1]}"
	mkfifo "d/${DEAD[2]}"
	ln -s nowhere "d/${DEAD[3]}"
	ow --sweep 'd/{pid}' true
	expect_status 0
	expect_said ''
	assert_equal "$(ls -A d)" "$(printf '%s\n' "${DEAD[@]:0:4}" | sort)"
	[ -e target ]
	# Of a hard link only this name goes.
	ln target "d/${DEAD[4]}"
	ow --sweep 'd/{pid}' true
	[ ! -e "d/${DEAD[4]}" ]
	[ -e target ]
}

@test "sweep: a process of another user, a zombie, pid 1 and itself are alive" {
	live_pids 1
	mkdir d
	start owner -z -l host sh -c 'exit 0'
	zombie=$(pid_in host cmd)
	until_true "[[ \$(ps -o stat= -p $zombie) == Z* ]]"
	touch "d/$zombie" "d/1" "d/${LIVE[0]}" "d/$$"
	# shellcheck disable=SC2016
	run --separate-stderr sh -c 'touch d/$$; exec "$@"' - \
		"$OW" --sweep 'd/{pid}' sh -c 'ls d | wc -l'
	expect_status 0
	expect_said ''
	expect_output 5
	as_nobody
	chmod 777 d
	dead_pids 1
	"${NOBODY[@]}" touch "d/${DEAD[0]}"
	rm "d/$zombie" "d/${LIVE[0]}"
	"${NOBODY[@]}" touch "d/$zombie" "d/${LIVE[0]}"
	run --separate-stderr "${NOBODY[@]}" "$OW" --sweep 'd/{pid}' true
	expect_said 'ownerwrap[true]: swept 1 file: d/{pid}'
	[ -e "d/${LIVE[0]}" ]
	[ -e "d/$zombie" ]
}

@test "sweep: the number of a living process's thread is nobody's (104)" {
	start owner -m 30000
	until_true "[[ \$(ps -o stat= -p $PID) == Z* ]]"
	mkdir run
	for thread in "/proc/$PID/task"/*; do
		: >"run/srv-${thread##*/}"
	done
	ow --sweep 'run/srv-{pid}' true
	expect_status 0
	assert_equal "$(ls run)" "srv-$PID"
}

@test "sweep: files of another user stay, for root, too" {
	dead_pids 2
	as_nobody
	mkdir d
	chmod 777 d
	touch "d/${DEAD[0]}"
	"${NOBODY[@]}" touch "d/${DEAD[1]}"
	run --separate-stderr "${NOBODY[@]}" "$OW" --sweep 'd/{pid}' true
	expect_said 'ownerwrap[true]: swept 1 file: d/{pid}'
	assert_equal "$(ls d)" "${DEAD[0]}"
	"${NOBODY[@]}" touch "d/${DEAD[1]}"
	ow --sweep 'd/{pid}' true
	assert_equal "$(ls d)" "${DEAD[1]}"
}

@test "sweep: a missing directory and what is gone meanwhile are no errors" {
	ow --sweep 'nosuch/{pid}' --sweep 'nor/this/{pid}.x' sh -c 'exit 3'
	expect_status 3
	expect_said ''
	dead_pids 400
	mkdir d
	for pid in "${DEAD[@]}"; do
		: >"d/$pid"
	done
	# Two at the same time: all go, each once.
	"$OW" --sweep 'd/{pid}' true 2>one 3>&- &
	one=$!
	"$OW" --sweep 'd/{pid}' true 2>two || fail "status $?"
	finish "$one"
	expect_status 0
	assert_equal "$(ls d)" ''
	assert_equal "$(cat one two | sed -n 's/.*swept \([0-9]*\) .*/\1/p' |
		awk '{ n += $0 } END { print n }')" 400
}

@test "sweep: a directory that can't be read is a line and no reason not to start" {
	: >file
	ow --sweep 'file/{pid}' sh -c 'exit 3'
	expect_status 3
	expect_said 'ownerwrap[sh]: --sweep file/{pid}: Not a directory'
	as_nobody
	mkdir -m 700 secret
	run --separate-stderr "${NOBODY[@]}" "$OW" --sweep 'secret/{pid}' sh -c 'exit 3'
	expect_status 3
	expect_said 'ownerwrap[sh]: --sweep secret/{pid}: Permission denied'
	# One that can be read but not written to: the files stay.
	dead_pids 1
	mkdir locked
	touch "locked/${DEAD[0]}"
	run --separate-stderr "${NOBODY[@]}" "$OW" --sweep 'locked/{pid}' true
	expect_status 0
	[ -e "locked/${DEAD[0]}" ]
}

@test "sweep: {pid} stands once, in the last part of the path" {
	right="a path with {pid} once, in its last part; 64 at most"
	for value in '' a 'd/' '{pid}/a' '{pid}/{pid}' '{pid}{pid}' 'a{pid}b{pid}' \
		'{PID}' '{pid' 'pid}' '{pid}/' '{ pid }'; do
		run --separate-stderr "$OW" --sweep "$value" touch started
		expect_status 125
		expect_said "ownerwrap[touch]: --sweep $value: must be $right"
		[ ! -e started ]
	done
	OWNERWRAP_SWEEP='{pid}/a' ow true
	expect_status 0
	expect_said "ownerwrap[true]: OWNERWRAP_SWEEP={pid}/a: ignored, must be $right"
}

@test "sweep: a pattern longer than a path can be is a line, and sweeps nowhere else" {
	dead_pids 1
	mkdir -p d/e
	touch "d/${DEAD[0]}" "d/e/${DEAD[0]}"
	dots=$(head -c 5000 /dev/zero | sed 's|..|./|g' | tr '\0' /)
	ow --sweep "d/${dots}e/{pid}" true
	expect_status 0
	expect_said_match '^ownerwrap.true.: --sweep d/\./[^ ]*$'
	[ -e "d/${DEAD[0]}" ]
	[ -e "d/e/${DEAD[0]}" ]
}

@test "sweep: OWNERWRAP=off sweeps nothing" {
	dead_pids 1
	touch "a.${DEAD[0]}"
	OWNERWRAP=off ow --sweep 'a.{pid}' true
	expect_status 0
	[ -e "a.${DEAD[0]}" ]
}

@test "sweep: the numbers are those of its own pid namespace" {
	need_pidns
	live_pids 1
	mkdir d
	touch d/1 "d/${LIVE[0]}"
	run --separate-stderr in_pidns "$OW" --sweep "d/{pid}" sh -c "ls d"
	expect_status 0
	expect_output 1
}

@test "sweep: plain POSIX" {
	plain_posix
	files run
	ow --sweep 'run/srv-{pid}.json' sh -c 'exit 3'
	expect_status 3
	expect_said 'ownerwrap[sh]: swept 8 files: run/srv-{pid}.json'
	kept run
}
