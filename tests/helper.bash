# shellcheck shell=bash disable=SC2034
# What all test files share: `load helper` at the top of each.
#
# $OW        the program under test; call it, never anything else
# $ROOT      the project, $FIXTURES the built fixtures (also in PATH), SOURCES
#            the program's
# OWNERWRAP_BIN, OWNERWRAP_TEST_MODE (normal, poll), OWNERWRAP_STRICT=1,
# OWNERWRAP_SANITIZED=1 come from outside; they are shell variables here, no
# longer in the environment, so that a server sees the same with and without.
#
# A test runs in its own empty directory, $BATS_TEST_TMPDIR. A file with a
# setup or teardown of its own calls harness_setup, harness_teardown in it.

ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
FIXTURES=$ROOT/.build/fixtures
SOURCES=("$ROOT/ownerwrap.c" "$ROOT"/src/*.c)	# as the Makefile has them
LIMIT=${OWTEST_LIMIT:-10}	# seconds that anything may take
PIDNS=(unshare -Urpf --mount-proc --kill-child)

setup() { harness_setup; }
teardown() { harness_teardown; }

harness_setup() {
	local - name
	set +T
	OWNERWRAP_BIN=${OWNERWRAP_BIN:-$ROOT/ownerwrap}
	for name in "${!OWNERWRAP@}"; do
		case $name in
		OWNERWRAP_BIN | OWNERWRAP_TEST_MODE | OWNERWRAP_STRICT | \
			OWNERWRAP_SANITIZED) export -n "${name?}" ;;
		*) unset "$name" ;;
		esac
	done
	# Another name, as OWNERWRAP_* does not reach a server: see polling.c.
	export OWTEST_BIN=$OWNERWRAP_BIN
	OW=$OWNERWRAP_BIN
	if [ "${OWNERWRAP_TEST_MODE-}" = poll ]; then
		OW=$FIXTURES/polling
	fi
	# The mark by which leftovers are found, whoever is their parent by now.
	export OWTEST_ID=${BATS_TEST_TMPDIR##*/}.$$.$RANDOM$RANDOM
	PATH=$FIXTURES:$PATH
	# A signal that is trapped is not reported: no `Killed` in the output.
	# shellcheck disable=SC2173
	trap : KILL SEGV
	TRACKED=()
	STARTED=0
	umask 022
	cd "$BATS_TEST_TMPDIR" || return 1
}

harness_teardown() {
	local - entry pid
	set +T
	for entry in "${TRACKED[@]}"; do
		pid=${entry%%:*}
		# The start time says whether it is still the same process.
		if [ "$(start_ticks "$pid")" = "${entry#*:}" ]; then
			kill -KILL "$pid" 2>/dev/null || true
		fi
	done
	no_leftovers
}

# --- processes -------------------------------------------------------------

# track PID...: killed at the end of the test, if still there
track() {
	local pid
	for pid; do
		is_pid "$pid" || return 1
		TRACKED+=("$pid:$(start_ticks "$pid")")
	done
}

# start CMD...: in the background, tracked; sets PID, OUT and ERR (its files).
# A shell has its background commands ignore INT and QUIT: see plain.
start() {
	STARTED=$((STARTED + 1))
	OUT=$BATS_TEST_TMPDIR/out.$STARTED
	ERR=$BATS_TEST_TMPDIR/err.$STARTED
	sig default all unblock all -- "$@" >"$OUT" 2>"$ERR" </dev/null 3>&- &
	PID=$!
	track "$PID"
}

# plain CMD...: with every signal at its default, whatever runs the tests (GNU
# parallel ignores PIPE); `run plain "$OW" ...` where that matters
plain() {
	sig default all unblock all -- "$@"
}

# finish PID: waits until this child of the test has ended; sets status
finish() {
	await_gone "$1" || return 1
	status=0
	wait "$1" || status=$?
}

is_pid() {
	[[ ${1-} =~ ^[1-9][0-9]*$ ]] || fail "not a pid: '${1-}'"
}

# stat_of FILE: what follows the name in a /proc stat file: state, ppid, ...
stat_of() {
	local text=
	# Not by line: the name may hold anything.
	{ IFS= read -r -d '' text <"$1"; } 2>/dev/null || true
	[ -n "$text" ] && printf '%s\n' "${text##*) }"
}

# start_ticks PID: its start time in boot ticks; nothing if it is not there
start_ticks() {
	local fields
	read -r -a fields <<<"$(stat_of "/proc/$1/stat")"
	printf '%s\n' "${fields[19]-}"
}

# alive PID: it exists, and some thread of it is no zombie
alive() {
	local file text
	is_pid "${1-}" || return 2
	for file in "/proc/$1/task"/[0-9]*/stat; do
		text=
		{ IFS= read -r -d '' text <"$file"; } 2>/dev/null || true
		case ${text##*) } in [ZX]* | '') ;; *) return 0 ;; esac
	done
	return 1
}

gone() {
	is_pid "${1-}" || return 2
	! alive "$1"
}

refute_alive() {
	local pid
	for pid; do
		gone "$pid" && continue
		fail "still alive: $(ps -o pid=,args= -p "$pid")"
		return 1
	done
}

assert_alive() {
	local pid
	for pid; do
		alive "$pid" && continue
		fail "not alive: $pid"
		return 1
	done
}

# lives_on MS PID...: still there after so long, all the time
lives_on() {
	local - end=$((${EPOCHREALTIME//[!0-9]/} + $1 * 1000))
	set +T		# as in until_true
	shift
	while [ "${EPOCHREALTIME//[!0-9]/}" -lt "$end" ]; do
		assert_alive "$@" || return 1
		nap
	done
}

# supervisor_of FRONT: prints the pid of its supervisor, waits for it to come
supervisor_of() {
	is_pid "${1-}" || return 1
	until_true "pgrep -P $1 -x ow-supervisor >/dev/null" || return 1
	pgrep -P "$1" -x ow-supervisor
}

# witness_of SUPERVISOR: prints the pid of its witness
witness_of() {
	is_pid "${1-}" || return 1
	until_true "pgrep -P $1 -x ow-witness >/dev/null" || return 1
	pgrep -P "$1" -x ow-witness
}

# pid_in FILE [WORD]: waits for the line `WORD PID`, or one with only a pid, and
# prints that
pid_in() {
	await_line "$1" "^${2+$2 }[0-9]+\$" || return 1
	sed -n "s/^${2+$2 }\\([0-9]*\\)\$/\\1/p" "$1" | head -n 1
}

# server_pid LOG: waits for the fixture server's `ready`, prints its pid
server_pid() {
	await_line "$1" '^ready [0-9]+$' || return 1
	sed -n 's/^ready //p' "$1" | tail -n 1
}

# child_pid LOG SPEC: prints the pid of the server's first child with SPEC
child_pid() {
	await_line "$1" "^child [0-9]+ .* $2\$" || return 1
	sed -n "s/^child \\([0-9]*\\) .* $2\$/\\1/p" "$1" | head -n 1
}

# cpu_ticks PID...: user and system time of all, in 1/100 s
cpu_ticks() {
	local pid fields sum=0
	for pid; do
		read -r -a fields <<<"$(stat_of "/proc/$pid/stat")"
		sum=$((sum + fields[11] + fields[12]))
	done
	echo "$sum"
}

# switches PID...: how often each has gone to sleep, on one line
switches() {
	local pid counts=()
	for pid; do
		is_pid "$pid" || return 1
		counts+=("$(sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' \
			"/proc/$pid/status")")
	done
	echo "${counts[*]}"
}

# asleep PID...: waits until their start is over, by not waking up for 0.3 s
asleep() {
	local before=''
	ASLEEP=("$@")
	until_true '[ "$(switches "${ASLEEP[@]}")" = "$before" ] || {
		before=$(switches "${ASLEEP[@]}"); let_pass 300; false; }'
}

# held_once PID: where the kernel notifies, the supervisor of FRONT has one
# pidfd of it
held_once() {
	local supervisor
	[ "${OWNERWRAP_TEST_MODE-}" != poll ] || return 0
	supervisor=$(supervisor_of "$FRONT") || return 1
	assert_equal "$(grep -lsx "Pid:	$1" "/proc/$supervisor/fdinfo"/* | wc -l)" \
		1 pidfds
}

# no_leftovers: fails if a process of this test is still there, after giving
# what is on its way out the time for it; kills it. Zombies have no
# environment, but the living threads of a dead main thread have.
no_leftovers() {
	local pid left
	# shellcheck disable=SC2016
	until_true '[ -z "$(marked)" ]' 2>/dev/null && return 0
	left=$(marked)
	echo "left behind by this test:" >&2
	for pid in $left; do
		ps -o pid=,ppid=,stat=,args= -p "$pid" >&2 || true
		kill -KILL "$pid" 2>/dev/null || true
	done
	return 1
}

# The pids of all processes that carry the mark of this test. A subshell: the
# tools in here must not carry it.
marked() (
	export -n OWTEST_ID
	grep -lszxF -e "OWTEST_ID=$OWTEST_ID" /proc/[0-9]*/task/[0-9]*/environ |
		cut -d/ -f3 | sort -un
)

# at_dashes [WORD...] [-- [WORD...]]: BEFORE and AFTER the `--`
at_dashes() {
	BEFORE=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		BEFORE+=("$1")
		shift
	done
	AFTER=("${@:2}")
}

# wrap [OPTION...] -- [SERVER OPTION...]: ownerwrap with the fixture server, in
# the background; sets FRONT, SUPERVISOR, SERVER; the server's log is ./log.
# VIA=(setsid) before it: begun by this command, which execs.
wrap() {
	local child
	at_dashes "$@"
	rm -f log
	start "${VIA[@]}" "$OW" "${BEFORE[@]}" -- server -l log "${AFTER[@]}"
	FRONT=$PID
	SERVER=$(server_pid log) || return 1
	SUPERVISOR=$(supervisor_of "$FRONT") || return 1
	track "$SUPERVISOR" "$SERVER"
	for child in $(sed -n "s/^child \\([0-9]*\\) .*/\\1/p" log); do
		track "$child"
	done
}

# below_host: ownerwrap and its server, ./log, begun by a fixture that logs to
# ./host; sets FRONT, SERVER
below_host() {
	FRONT=$(pid_in host cmd) || return 1
	track "$FRONT"
	SERVER=$(server_pid log) || { cat "$ERR" >&2; return 1; }
	track "$SERVER"
}

# not_started STATUS: `touch started` below a fixture that logs to ./host was not
# run, and ownerwrap ended so
not_started() {
	await_line host '^exit ' || return 1
	assert_lines host "^exit $1\$" 1 || return 1
	[ ! -e started ] || fail 'it was started'
}

# ended_by_term [STATUS]: SERVER has ended after one TERM, and FRONT; with this
# status, if one is given: then FRONT is a child of the test
ended_by_term() {
	await_gone "$FRONT" || return 1
	refute_alive "$SERVER" || return 1
	assert_lines log '^TERM from ' 1 || return 1
	[ $# = 0 ] || { finish "$FRONT" && expect_status "$1"; }
}

# await_program PID NAME: it is no longer the shell that it was forked from
await_program() {
	until_true "[ \"\$(<'/proc/$1/comm')\" = '$2' ]"
}

# new_owner: a process to be named as an owner; sets OWNER
new_owner() {
	sleep 300 3>&- &
	OWNER=$!
	track "$OWNER"
	await_program "$OWNER" sleep
}

# settle: nothing held back is on its way any more. What was sent to the front
# before has been relayed by now, or never will be, however slow everything is:
# after the first round the supervisor has it; of the next ones the first comes
# when the times of the witness rule are over (10, 50 ms), the second after the
# timers of that turn.
settle() {
	round_trip || return 1
	let_pass 100
	round_trip && round_trip
}

# round_trip: a signal goes to the front, and comes to the server
round_trip() {
	SETTLED=$((${SETTLED-0} + 1))
	sig send -q "$SETTLED" 60 "$FRONT" >/dev/null
	await_line log "^RT60 from .* value $SETTLED\$"
}

# --- waiting ---------------------------------------------------------------

# until_true 'CONDITION' [MESSAGE]: looks every 20 ms
until_true() {
	local -
	set +T		# bats traces each command, which costs more than it
	look_until "$@"
}

look_until() {
	local end=$((SECONDS + LIMIT + 1))
	until eval "$1"; do
		if [ "$SECONDS" -ge "$end" ]; then
			fail "not within $LIMIT s: ${2-$1}"
			return 1
		fi
		nap
	done
}

nap() { let_pass 20; }

# let_pass MS: only time passes, in which something must not happen, or without
# which it would not be what is tested. For all else wait by what can be seen.
# Without a process for it: nobody ever writes into this FIFO.
let_pass() {
	local seconds
	printf -v seconds %d.%03d $(($1 / 1000)) $(($1 % 1000))
	[ -p "$BATS_RUN_TMPDIR/never" ] ||
		mkfifo "$BATS_RUN_TMPDIR/never" 2>/dev/null || true
	read -r -t "$seconds" <>"$BATS_RUN_TMPDIR/never" || true
}

# freeze MS PID...: stops them for so long; then sets `begin`, as now_ms, and
# continues them, the last one first
freeze() {
	local i
	kill -STOP "${@:2}"
	let_pass "$1"
	begin=$(now_ms)
	for ((i = $#; i > 1; i--)); do
		kill -CONT "${!i}"
	done
}

# await_stopped PID: by a signal
await_stopped() {
	is_pid "$1" || return 1
	until_true "[[ \$(ps -o stat= -p $1) == T* ]]"
}

await_gone() {
	local pid
	for pid; do
		is_pid "$pid" || return 1
		until_true "gone $pid" \
			"end of $pid, $(ps -o stat=,args= -p "$pid")" || return 1
	done
}

# await_line FILE ERE; count_lines FILE ERE
await_line() {
	until_true "has_line $(printf '%q %q' "$1" "$2")" "$2 in $1" && return 0
	sed "s|^|$1: |" "$1" | tail -n 100 >&2 || true
	return 1
}

# has_line FILE ERE: as grep, but without a process
has_line() {
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		[[ $line =~ $2 ]] && return 0
	done 2>/dev/null <"$1"
	return 1
}

count_lines() {
	grep -Ecs -e "$2" "$1" || true
}

now_ms() {
	local us=${EPOCHREALTIME//[!0-9]/}
	echo $((us / 1000))
}

# below SUPERVISOR: the server's pid, the witness aside
below() {
	local pid
	for pid in $(pgrep -P "$1"); do
		[ "$(cat "/proc/$pid/comm")" = ow-witness ] || echo "$pid"
	done
}

# --- what is said ----------------------------------------------------------

fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# assert_equal ACTUAL EXPECTED [WHAT]
assert_equal() {
	[ "$1" = "$2" ] && return 0
	fail "${3-value}: '$1', expected '$2'"
}

# assert_lines FILE ERE COUNT: so many lines of FILE match
assert_lines() {
	local n
	n=$(count_lines "$1" "$2")
	[ "$n" = "$3" ] && return 0
	sed "s|^|$1: |" "$1" | tail -n 100 >&2 || true
	fail "$n lines match $2, expected $3"
}

# terms COUNT: so many TERM lines of the server itself in ./log
terms() { assert_lines log '^TERM ' "$1"; }

# logged ERE [COUNT]: a line (so many lines) of wlog. The supervisor lets go of
# stderr when its front is gone: `--log wlog` has it all.
logged() {
	assert_lines wlog "Z [0-9]+ ownerwrap\\[(server|talk)\\]: $1\$" "${2-1}"
}

# After `run` or `finish`.
expect_status() {
	assert_equal "$status" "$1" "status (output: ${output-})"
}

# After `run`: the whole output, or a part of it.
expect_output() {
	assert_equal "$output" "$1" output
}

expect_match() {
	[[ $output =~ $1 ]] || fail "output '$output' does not match $1"
}

# --- what a test needs -----------------------------------------------------

# In CI as root, OWNERWRAP_STRICT=1, nothing may be skipped.
skip_or_fail() {
	if [ "${OWNERWRAP_STRICT-}" = 1 ]; then
		fail "would be skipped: $1"
	else
		skip "$1"
	fi
}

# privileged [REASON]
privileged() {
	[ "$(id -u)" = 0 ] || skip_or_fail "needs root${1:+: $1}"
}

# need CMD...
need() {
	local command
	for command; do
		command -v "$command" >/dev/null ||
			skip_or_fail "needs $command"
	done
}

# nosan REASON: not for a sanitized or otherwise instrumented program
nosan() {
	[ "${OWNERWRAP_SANITIZED-}" != 1 ] || skip "sanitized: $1"
}

# nopoll REASON: only where the kernel notifies
nopoll() {
	[ "${OWNERWRAP_TEST_MODE-}" != poll ] || skip "polling: $1"
}

# plain_posix: OW is the plain POSIX program, polling as it must
plain_posix() {
	nopoll 'it polls in any case'
	OW=$ROOT/.build/ownerwrap-posix
	[ -x "$OW" ] || make -s -C "$ROOT" .build/ownerwrap-posix
}

# need_pidns, then: "${PIDNS[@]}" CMD, with start or run, or in_pidns CMD
need_pidns() {
	need unshare
	"${PIDNS[@]}" true 2>/dev/null && return 0
	# As root also where user namespaces are not allowed.
	PIDNS=(unshare -pf --mount-proc --kill-child)
	"${PIDNS[@]}" true 2>/dev/null || skip_or_fail "needs pid namespaces"
}

in_pidns() {
	need_pidns
	"${PIDNS[@]}" "$@"
}

# --- a server with its owner -----------------------------------------------

# owned [OPTION...] -- server -l log ...: starts an owner, O, and, told to watch
# it, the program, W (its stderr: $ERR); waits for the server, S. VIA as for
# wrap.
owned() {
	start sleep 300
	O=$PID
	await_program "$O" sleep
	rm -f log
	start "${VIA[@]}" "$OW" --owner-pid "$O" "$@"
	W=$PID
	S=$(server_pid log)
	track "$S"
}

# its_supervisor: sets SUP, that of W, which may outlive it
its_supervisor() {
	SUP=$(supervisor_of "$W") || return 1
	track "$SUP"
}

# orphan: W's owner goes
orphan() { kill -KILL "$O"; }

# expect_stopped [STATUS]: W ends so, and the server has ended
expect_stopped() {
	finish "$W"
	expect_status "${1-124}"
	refute_alive "$S"
}

# taken MS BEGIN: fails unless MS milliseconds have passed since BEGIN, which
# is what now_ms said then
taken() {
	local took=$(($(now_ms) - $2))
	[ "$took" -ge "$1" ] || fail "took $took ms, expected at least $1"
}

# within MS BEGIN: fails if more than that have passed; MS must be a time that
# the program would wait for otherwise, not a measure of its speed
within() {
	local took=$(($(now_ms) - $2))
	[ "$took" -lt "$1" ] || fail "took $took ms, expected less than $1"
}

# still_there FILE PID SIGNAL LEAST [MOST]: the server PID was killed so many
# milliseconds after SIGNAL, by the one line of FILE that says so. MOST only
# where something else would come then: the machine may be slow.
still_there() {
	local n='[0-9]+(\.[0-9]+)?' ms
	assert_lines "$1" "server $2 still there ${n}s after $3: killed\$" 1 ||
		return 1
	ms=$(sed -nE "s/.*still there ($n)s after $3: killed\$/\1/p" "$1" |
		awk '{ printf "%d", $1 * 1000 + 0.5 }')
	if [ "$ms" -lt "$4" ] || [ "$ms" -ge "${5-100000}" ]; then
		fail "killed after $ms ms, expected $4 to ${5-any}"
	fi
}

# said ERE [COUNT]: a line (so many lines) of W's stderr, without its prefix
said() {
	assert_lines "$ERR" "^ownerwrap\\[[^]]*\\]: $1\$" "${2-1}"
}

# as_nobody: NOBODY, a prefix for commands, runs them as an ordinary user,
# to whom the test's directory is opened
as_nobody() {
	privileged "to become another user"
	need setpriv
	chmod 1777 .
	NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	reachable "${NOBODY[@]}"
}

# reachable SETPRIV...: a checkout under /root is nobody else's
reachable() {
	"$@" test -x "$OW" -a -x "$FIXTURES/server" -a -w . ||
		skip_or_fail "needs a checkout that others can enter"
}

# need_mounts: not in a chroot, whose root is no mount point, say. Called by
# the test itself: a skip inside of `run` would end only that.
need_mounts() {
	local ns=(unshare -m)
	need unshare
	[ "$(id -u)" = 0 ] || ns=(unshare -Urm)
	"${ns[@]}" true 2>/dev/null || skip_or_fail "needs mount namespaces"
}

# hide_proc: HIDDEN, a prefix for commands, gives them a world without /proc
hide_proc() {
	need unshare
	HIDDEN=(unshare -m)
	[ "$(id -u)" = 0 ] || HIDDEN=(unshare -Urm)
	HIDDEN+=(sh -c 'mount -t tmpfs none /proc && exec "$@"' -)
	"${HIDDEN[@]}" true 2>/dev/null ||
		skip_or_fail "needs mount namespaces"
}

# --- what the options and variables do --------------------------------------

# What a malformed value should have been: options and variables say the same.
RIGHT_GRACE='a duration: 2, 0.25, 500ms, 3s, 30m, 1h; 0 = at once'
RIGHT_KILL_AFTER='a duration: 5, 0.25, 500ms, 3s, 30m, 1h, or inf = never; to force at once write --signal KILL'
RIGHT_INTERVAL='a duration of 1ms or more: 1, 0.25, 500ms, 3s, 30m, 1h'
RIGHT_SIGNAL="a signal's name or number that ends a process (not STOP, CONT, TSTP, TTIN, TTOU)"
RIGHT_OWNER_PID="another process's pid, 1 or more, or PID:START with its start time in ticks; 64 owners at most"
RIGHT_SCOPE='session, process or tree'
RIGHT_LEFTOVERS='stop, wait or leave'
RIGHT_LOG='a file that can be opened for writing'

# ow [-127] ARG...: runs it; stdout is in output, stderr in stderr. With a plain `run`
# both are one pipe, on which nothing is said once the server runs.
ow() {
	local expected=()
	if [[ $1 =~ ^-[0-9]+$ ]]; then
		expected=("$1")
		shift
	fi
	run "${expected[@]}" --separate-stderr "$OW" "$@"
}

# After `ow`.
expect_said() {
	assert_equal "$stderr" "$1" stderr
}

expect_said_match() {
	[[ $stderr =~ $1 ]] || fail "stderr '$stderr' does not match $1"
}

# refused STATUS MESSAGE OPTION... -- : nothing is started, and the message is
# the one line on stderr; `touch started` is the command
refused() {
	local wanted=$1 message=$2
	shift 2
	run --separate-stderr "$OW" "$@" touch started
	assert_equal "$status" "$wanted" "status of $*"
	assert_equal "$output" "" "stdout of $*"
	assert_equal "$stderr" "$message" "stderr of $*"
	[ ! -e started ] || fail "started with $*"
}

# plan_of OPTION...: lets the server kill its owner, and sets PLAN to what the
# message says will come: `TERM in 2s, KILL 5s later, ...`
plan_of() {
	local server
	new_owner
	start "$OW" --owner-pid "$OWNER" "$@" -- \
		sh -c 'kill -KILL "$0"; exec sleep 300' "$OWNER"
	await_line "$ERR" '; stopping server [0-9]+ \(.*\)$' || return 1
	PLAN=$(sed -n 's/.*; stopping server [0-9]* (\(.*\))$/\1/p' "$ERR")
	server=$(sed -n 's/.*; stopping server \([0-9]*\) .*/\1/p' "$ERR")
	track "$server"
	kill -KILL "$server" 2>/dev/null || true
	finish "$PID"
}

# assert_plan PLAN OPTION...
assert_plan() {
	local wanted=$1
	shift
	plan_of "$@" && assert_equal "$PLAN" "$wanted" "plan with $*"
}

# plan GRACE KILL TWICE: the plan with these times, the stop signal being TERM
plan() {
	echo "TERM $1, KILL $2 later, $3 if others must be told"
}

# in_devlog [-n] FILE CMD...: with a /dev of its own, in which the fixture
# `syslog` is the system log
in_devlog() {
	local ns=(unshare -m)
	[ "$(id -u)" = 0 ] || ns=(unshare -Urm)
	mkdir -p dev
	"${ns[@]}" sh -ec '
		mount -t tmpfs none dev
		for d in null zero tty urandom; do
			: >dev/$d
			mount --bind /dev/$d dev/$d
		done
		ln -s /proc/self/fd dev/fd
		mount --rbind dev /dev
		exec syslog "$@"' - "$@"
}
