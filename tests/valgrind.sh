#!/bin/sh
# The main ways through ownerwrap once each under valgrind: no error, no leak,
# and no descriptor of the host left open in the front or the supervisor.
# Prints TAP. Every process has a report of its own, .build/valgrind/WAY.PID;
# the server's stays empty, since valgrind does not follow an exec.  Leaks are
# looked for here alone: see the Makefile.
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
mkdir -m 700 "$reports/run"
for variable in $(env | sed -n 's/^\(OWNERWRAP[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
XDG_RUNTIME_DIR=$reports/run
export XDG_RUNTIME_DIR

# wrap WAY ARGUMENT...: ownerwrap under valgrind, which gives 99 for an error;
# descriptor 7 is the host's.
wrap() {
	way=$1
	shift
	timeout -k 5 60 \
	valgrind --quiet --leak-check=full --track-fds=yes --trace-children=no \
		--error-exitcode=99 --log-file="$reports/$way.%p" \
		"$OW" "$@" 7<"$0" >"$reports/$way-stdout" 2>"$reports/$way-stderr"
}

# owner NAME: somebody who lives until let_go NAME; his pid is in $owner.
owner() {
	sleep 300 &
	owner=$!
	echo $owner >"$reports/$1-owner"
}

let_go() {
	kill -9 "$(cat "$reports/$1-owner")"
}

# await FILE [WORD]: until it is there, and has the word.
await() {
	tries=0
	until grep -qs -e "${2-}" "$reports/$1"; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || return
		sleep 0.05
	done
}

# The server: says that it runs by writing into the file that is $0, and stays.
stays='echo started >"$0"; exec sleep 300'

# verdict WAY STATUS WANTED PROCESSES TEXT: of a way that has ended. A valgrind
# that has not heard of pidfd_open() and pidfd_send_signal(), syscalls 434 and
# 424, says so; that is no error.
verdict() {
	number=$((number + 1))
	why=
	[ "$2" -eq "$3" ] || why=", status $2, not $3"
	count=$(find "$reports" -name "$1.*" -size +0 | wc -l)
	[ "$count" -eq "$4" ] || why="$why, reports of $count processes, not $4"
	if grep -hE 'Invalid|uninitialised|unaddressable|lost in|WARNING' \
		"$reports/$1".* | grep -v 'unhandled .* syscall: 4[32]4$'; then
		why="$why, errors"
	fi
	# Who ends at once has no need to close it, and a server has it.
	count=$(grep -l "Open file descriptor 7: .*/valgrind.sh" \
		"$reports/$1".* | wc -l)
	[ "$count" -le "$(($4 != 2))" ] ||
		why="$why, the host's descriptor 7 is still open"
	if [ -z "$why" ]; then
		echo "ok $number - valgrind: $5"
	else
		failed=1
		echo "not ok $number - valgrind: $5"
		echo "# ${why#, }"
		sed 's/^/# /' "$reports/$1-stderr" "$reports/$1".*
	fi
}

# Two processes are the front and the supervisor, one is a front that started
# nothing, and the third is the server that could not be executed. A shared
# server has a guard as well, and somebody who ended once that one was there.
wrap normal -- sh -c 'exit 3'
verdict normal $? 3 2 "the server ends by itself"

wrap left -- sh -c 'sleep 300 & exit 4'
verdict left $? 4 2 "the server ends and leaves a child"

owner owner
(await owner-up && let_go owner) &
wrap owner -p "$owner" --grace 0 -- sh -c "$stays" "$reports/owner-up"
verdict owner $? 124 2 "the owner dies"
wait

owner force
(await force-up && let_go force) &
wrap force --poll -i 0.1 -p "$owner" --grace 0 --kill-after 0.2 -- \
	sh -c 'trap "" TERM; echo >"$0"; sleep 300 & wait' "$reports/force-up"
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

# 64 owners: there can't be more; 64 descendants: the first list of them is full.
owners=
n=0
while [ $n -lt 63 ]; do
	owner many$n
	owners="$owners -p $owner"
	n=$((n + 1))
done
(
	await many-up
	while [ $n -gt 0 ]; do
		n=$((n - 1))
		let_go many$n
	done
) &
# shellcheck disable=SC2086 # options
wrap many $owners -p $$ --any --grace 0 --scope tree -- sh -c '
	n=0
	while [ $n -lt 70 ]; do
		setsid sleep 300 &
		n=$((n + 1))
	done
	echo >"$0"
	wait' "$reports/many-up"
verdict many $? 124 2 "one of 64 owners dies, of a tree of 70 processes"
wait

wrap name -n no-such-name -n timeout --log "$reports/name-log" -v -- true
verdict name $? 0 2 "an owner by name, and a log"

await variables-up | (
	export OWNERWRAP_OWNER_FD=0 OWNERWRAP_GRACE=0 OWNERWRAP_SIGNAL=HUP
	export OWNERWRAP_KILL_AFTER=soon OWNERWRAP_SCOPE=nowhere
	export OWNERWRAP_LEFTOVERS=wait OWNERWRAP_INTERVAL=0.1
	export OWNERWRAP_LOG="$reports/variables-log"
	export OWNERWRAP_KEEP_CONNECTED=x OWNERWRAP_KEEP_IF=false
	export OWNERWRAP_MAX_IDLE=300 OWNERWRAP_UNIQUE=variables
	export OWNERWRAP_SWEEP="$reports/{pid}.lock" OWNERWRAP_ORPHANS='('
	wrap variables sh -c "$stays" "$reports/variables-up"
)
verdict variables $? 124 2 "every option as a variable, some of them malformed"

owner keep
(await keep-up && let_go keep && await keep-asked && rm "$reports/keep-up") &
wrap keep -p "$owner" --grace 0.3 -i 0.1 \
	--keep-if "test -e $reports/keep-up && echo >$reports/keep-asked" -- \
	sh -c "$stays" "$reports/keep-up"
verdict keep $? 124 2 "the owner dies, and --keep-if says yes, then no"
wait

# A client, an end of a connection with itself: it is let go when its end is.
owner connected
(
	await connected-log '^port' && let_go connected
	port=$(sed -n 's/^port //p' "$reports/connected-log")
	bash -c "exec 8<>/dev/tcp/127.0.0.1/$port && sleep 1"
) &
wrap connected -p "$owner" --grace 1 -i 0.1 -v --keep-connected -- \
	.build/fixtures/server -l "$reports/connected-log" -p
verdict connected $? 124 2 "the owner dies, and a client goes"
wait

wrap idle --max-idle 0.5 -i 0.1 -- sleep 300
verdict idle $? 124 2 "nothing happens in the server: --max-idle"

# The newer one waits until the older one's server has ended.
owner unique
wrap older -p "$owner" --unique some -- sh -c "$stays" "$reports/older-up" &
await older-up
wrap newer -p "$owner" --unique some -- sh -c 'exit 3'
verdict newer $? 3 2 "--unique: the newer server"
wait $!
verdict older $? 143 2 "--unique: the older server"
let_go unique

: >"$reports/$dead.lock"
: >"$reports/$$.lock"
wrap sweep --sweep "$reports/{pid}.lock" -- test -e "$reports/$dead.lock"
verdict sweep $? 1 2 "--sweep"

# Its parent is gone when this has ended.
sh -c 'sleep 300 & echo $! >"$0"' "$reports/orphan-pid"
wrap orphans --orphans '^sleep 300$'
verdict orphans $? 0 1 "--orphans"
kill -9 "$(cat "$reports/orphan-pid")"

# Who comes first goes first; the server stays for the other one.
owner first
wrap shares --share "$reports/run/socket" -p "$owner" --grace 0 \
	--log "$reports/shares-log" -- sh -c "$stays" "$reports/shares-up" &
first=$!
await shares-up
owner attached
wrap attached --share "$reports/run/socket" -p "$owner" -v &
second=$!
await attached-stderr attached
let_go first
wait $first
status=$?
let_go attached
wait $second
verdict attached $? 124 1 "--share: who attaches"
for report in "$reports/shares."*; do
	while kill -0 "${report##*.}" 2>/dev/null; do sleep 0.05; done
done
verdict shares $status 124 4 "--share: who starts it, guard and supervisor"

echo "1..$number"
exit $failed
