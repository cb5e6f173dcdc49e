#!/bin/sh
# The main ways through ownerwrap once each under valgrind: no error, no leak,
# and no descriptor of the host left open in the front or the supervisor.
# Prints TAP. Every process has a report of its own, .build/valgrind/WAY.PID;
# the server's stays empty, since valgrind does not follow an exec.
set -u
cd "$(dirname "$0")/.." || exit 1
OW=${OWNERWRAP_BIN:-$PWD/ownerwrap}
reports=$PWD/.build/valgrind
number=0
failed=0

if ! command -v valgrind >/dev/null; then
	echo "1..0 # SKIP valgrind is not installed"
	[ -z "${OWNERWRAP_STRICT:-}" ]
	exit
fi
rm -rf "$reports"
mkdir -p "$reports"

# wrap WAY ARGUMENT...: ownerwrap under valgrind, which gives 99 for an error;
# descriptor 7 is the host's.
wrap() {
	way=$1
	shift
	timeout -k 5 60 \
	valgrind --quiet --leak-check=full --track-fds=yes --trace-children=no \
		--error-exitcode=99 --log-file="$reports/$way.%p" \
		"$OW" "$@" 7<"$0" 2>"$reports/$way-stderr"
}

# verdict WAY STATUS WANTED PROCESSES TEXT: of a way that has ended. A valgrind
# that has not heard of pidfd_open(), syscall 434, says so; that is no error.
verdict() {
	number=$((number + 1))
	why=
	[ "$2" -eq "$3" ] || why="status $2, not $3"
	count=$(find "$reports" -name "$1.*" -size +0 | wc -l)
	[ "$count" -eq "$4" ] || why="$why, reports of $count processes, not $4"
	if grep -hE 'Invalid|uninitialised|unaddressable|lost in|WARNING' \
		"$reports/$1".* | grep -v 'unhandled .* syscall: 434$'; then
		why="$why, errors"
	fi
	if [ "$4" -eq 2 ] && grep 'Open file descriptor 7:' "$reports/$1".*
	then
		why="$why, the host's descriptor 7 is still open"
	fi
	if [ -z "$why" ]; then
		echo "ok $number - valgrind: $5"
	else
		failed=1
		echo "not ok $number - valgrind: $5"
		echo "# $why"
		sed 's/^/# /' "$reports/$1-stderr" "$reports/$1".*
	fi
}

# Two processes are the front and the supervisor, one is a front that started
# nothing, and the third is the server that could not be executed.
wrap normal -- sh -c 'exit 3'
verdict normal $? 3 2 "the server ends by itself"

wrap left -- sh -c 'sleep 300 & exit 4'
verdict left $? 4 2 "the server ends and leaves a child"

sleep 300 &
owner=$!
(
	until [ -e "$reports/started" ]; do sleep 0.05; done
	kill -9 $owner
) &
wrap owner -p "$owner" --grace 0 -- \
	sh -c 'echo >"$1"; exec sleep 300' sh "$reports/started"
verdict owner $? 124 2 "the owner dies"
wait

sleep 300 &
owner=$!
(
	until [ -e "$reports/deaf" ]; do sleep 0.05; done
	kill -9 $owner
) &
wrap force --poll -i 0.1 -p "$owner" --grace 0 --kill-after 0.2 -- \
	sh -c 'trap "" TERM; echo >"$1"; sleep 300 & wait' sh "$reports/deaf"
verdict force $? 124 2 "the owner of a deaf server dies, polling"
wait

# The number of a process that has ended and was reaped.
dead=$(sh -c 'echo $$')
wrap refused -p "$dead" -- true
verdict refused $? 124 1 "the owner is not there at the start"

wrap option --grace soon -- true
verdict option $? 125 1 "a malformed option"

wrap missing -- "$reports/no-such-command"
verdict missing $? 127 3 "the command is not found"

echo "1..$number"
exit $failed
