#!/usr/bin/env bats
# --owner-fd: the owner is who holds the other end of a descriptor.

load helper
bats_require_minimum_version 1.5.0

RIGHT_OWNER_FD='0 or an open descriptor above 2: a pipe or FIFO (not read-write, its other end not inherited), a connected stream socket, a terminal, or a pidfd; 64 owners at most'

# hosted [OPTION OF ENDS...] KIND FD [OPTION...]: the fixture server under
# ownerwrap, whose owner is the host at the other end; sets HOST, FRONT, SERVER
hosted() {
	at_end "$@" -- server -l log
	below_host
}

# at_end [OPTION OF ENDS...] KIND FD [OPTION...] -- COMMAND...: the same with
# another command; sets HOST
at_end() {
	local options=() kind fd
	while [[ $1 == -* ]]; do
		options+=("$1")
		if [ "$1" = -d ]; then
			options+=("$2")
			shift
		fi
		shift
	done
	kind=$1 fd=$2
	shift 2
	rm -f log host fifo.*
	start ends -l host "${options[@]}" "$kind" "$fd" \
		"${AS[@]}" "$OW" --owner-fd "$fd" "$@"
	HOST=$PID
	await_line host '^cmd '
}

# hang_up HOW: the host closes its end, or dies
hang_up() {
	kill "-$1" "$HOST"
}

# Everything has ended, after one TERM.
expect_stopped() {
	ended_by_term
	alive "$HOST" || return 0
	await_line host '^exit '
	assert_lines host '^exit 124$' 1
	kill -KILL "$HOST"
}

# ends_with KIND NAME: the server lives until the other end closes, or the host
# dies; the descriptor is called NAME
ends_with() {
	local how
	for how in USR1 KILL; do
		hosted "$1" 9 -g 0
		assert_alive "$SERVER"
		hang_up $how
		expect_stopped
		said "owner fd 9 \\($2\\) is gone; stopping server $SERVER \\(TERM now, KILL 5s later, 10s if others must be told\\)"
	done
}

# holder: prints the pid of the other process that has the other end
holder() {
	sed -n 's/^holder //p' host
}

# --- the kinds ---------------------------------------------------------------

@test "owner-fd: the reading end of a pipe" {
	ends_with read pipe
}

@test "owner-fd: the writing end of a pipe" {
	ends_with write pipe
}

@test "owner-fd: a FIFO, either end" {
	ends_with fifo pipe
	ends_with fifow pipe
}

@test "owner-fd: a Unix stream socket" {
	ends_with unix socket
}

@test "owner-fd: a Unix seqpacket socket" {
	ends_with seq socket
}

@test "owner-fd: a TCP connection" {
	ends_with tcp socket
	[ ! -s /proc/net/if_inet6 ] || ends_with tcp6 socket
}

@test "owner-fd: a terminal" {
	ends_with pty terminal
}

@test "owner-fd: a terminal's master" {
	ends_with ptm terminal
}

@test "owner-fd: the process behind a pidfd" {
	ends_with pidfd pidfd
}

@test "owner-fd: the process behind a pidfd, which is left a zombie (9)" {
	hosted pidfdz 9 -g 0
	child=$(sed -n 's/^child //p' host)
	hang_up USR1
	await_gone "$FRONT" "$SERVER"
	[[ $(ps -o stat= -p "$child") == Z* ]]
	assert_lines log '^TERM from ' 1
}

@test "owner-fd: the process behind a pidfd needs not be a relative" {
	# In a session of its own, and its parent is gone.
	start owner -r owner -D -x 50 -l double setsid sleep 300
	other=$(pid_in double cmd)
	track "$other"
	hosted pidfd 9 -g 0 -p "$other" --any
	kill -KILL "$other"
	expect_stopped
}

@test "owner-fd: a TCP peer that half-closes is gone, a Unix one is not" {
	hosted unix 9 -g 0
	hang_up USR2
	await_line host '^shut$'
	lives_on 300 "$SERVER"
	hang_up USR1
	expect_stopped
	hosted tcp 9 -g 0
	hang_up USR2
	expect_stopped
	assert_lines host '^shut$' 1	# and no more than that
}

@test "owner-fd: a stopped host is alive (13)" {
	hosted read 9 -g 0
	kill -STOP "$HOST"
	lives_on 400 "$SERVER"
	hang_up KILL
	expect_stopped
}

@test "owner-fd: it is the other end that counts, not the parent (72)" {
	mkfifo in
	exec 8<>in
	start sock pipes sh -c '
		exec "$0" --owner-fd 9 -g 0 -- server -l log 9<in 8<&-' "$OW"
	FRONT=$(pid_in "$OUT" pid)
	track "$FRONT"
	SERVER=$(server_pid log)
	kill -KILL "$PID"
	await_gone "$PID"
	lives_on 400 "$SERVER" "$FRONT"
	exec 8>&-
	ended_by_term
}

@test "owner-fd: the same for an ordinary user" {
	as_nobody
	AS=("${NOBODY[@]}")
	for kind in read unix pty pidfd; do
		hosted $kind 9 -g 0
		assert_equal "$(ps -o uid= -p "$SERVER" | tr -d ' ')" 65534
		hang_up USR1
		expect_stopped
	done
}

@test "owner-fd: polled, it is looked at every interval" {
	for kind in read pty tcp pidfd; do
		hosted $kind 9 --poll -v -i 0.2 -g 0
		said "server $SERVER started; owner fd 9 \\([a-z]+\\), polled every 0\\.2s"
		lives_on 250 "$SERVER"
		hang_up USR1
		expect_stopped
	done
}

@test "owner-fd: polled, it is not looked at between the intervals" {
	hosted read 9 --poll -i 1h -g 0	# intervals end at multiples of it
	hang_up USR1
	lives_on 500 "$SERVER"
	kill -TERM "$FRONT"
	await_gone "$FRONT"
}

@test "owner-fd: it costs no wake-up while the other end is there (75)" {
	nopoll 'polling wakes up'
	for kind in read tcp pty; do
		hosted -d 100 $kind 9 -g 0
		supervisor=$(supervisor_of "$FRONT")
		asleep "$supervisor"
		before=$(switches "$supervisor")
		let_pass 500
		assert_equal "$(switches "$supervisor")" "$before" "switches, $kind"
		hang_up KILL
		await_gone "$FRONT"
	done
}

# --- what is in it -------------------------------------------------------------

@test "owner-fd: what is in it neither ends nor keeps the server" {
	for kind in read write unix seq tcp pty; do
		hosted -d 100 $kind 9 -g 0
		begin=$(now_ms)
		hang_up USR1
		expect_stopped
		within 9000 "$begin"	# what is in descriptor 0 has 10 s
	done
}

@test "owner-fd: what comes while the server runs neither ends nor keeps it" {
	mkfifo in
	exec 8<>in
	start sh -c 'exec "$0" --owner-fd 9 -g 0 -- server -l log 9<in 8<&-' "$OW"
	FRONT=$PID
	SERVER=$(server_pid log)
	echo hello >&8
	lives_on 300 "$SERVER"
	begin=$(now_ms)
	exec 8>&-
	finish "$FRONT"
	expect_status 124
	refute_alive "$SERVER"
	within 9000 "$begin"
}

@test "owner-fd: it is never read" {
	hosted -d 5000 fifo 9 -g 0
	exec 8<fifo.9
	lives_on 250 "$SERVER"
	hang_up USR1
	expect_stopped
	cat <&8 >content
	exec 8<&-
	[ "$(wc -c <content)" -ge 5000 ]
	assert_equal "$(head -n 1 content)" 'line 1'
	assert_equal "$(tail -n 1 content)" "line $(wc -l <content)"
}

@test "owner-fd: another process that has the other end keeps the server (6)" {
	for kind in read fifo unix tcp pty; do
		hosted -h $kind 9 -g 0
		hang_up USR1
		await_line host '^closed$'
		assert_alive "$SERVER"
		hang_up KILL
		await_gone "$HOST"
		lives_on 250 "$SERVER"
		assert_lines log '^TERM' 0
		kill -USR1 "$(holder)"
		expect_stopped
	done
}

# --- descriptor 0 ----------------------------------------------------------------

@test "owner-fd: 0 is the server's stdin as before" {
	for kind in read fifo unix tcp pty; do
		at_end -d 60 $kind 0 -- sh -c 'read -r a; read -r b; echo "$a, $b"; exit 3'
		await_line host '^exit 3$'
		assert_equal "$(cat "$OUT")" 'line 1, line 2'
		assert_equal "$(cat "$ERR")" ''
		kill -KILL "$HOST"
	done
}

@test "owner-fd: 0 that hangs up with nothing in it" {
	for kind in read fifo unix tcp pty pidfd; do
		hosted $kind 0 -g 0
		lives_on 150 "$SERVER"
		begin=$(now_ms)
		hang_up USR1
		expect_stopped
		within 9000 "$begin"
	done
}

@test "owner-fd: 0: what the owner wrote before it left is read first" {
	# A line takes 0.1 s; messages and lines go to one file, in their order.
	for kind in read unix tcp; do
		start ends -l host -d 60 $kind 0 sh -c 'exec "$0" --owner-fd 0 -g 30 -- sh -c "
			while read -r line; do sleep 0.1; echo \"\$line\"; done
			echo eof; exit 4" >both 2>&1' "$OW"
		HOST=$PID
		await_line host '^cmd '
		hang_up USR1
		await_line host '^exit 4$'
		assert_lines both '^line ' 9
		assert_lines both '^eof$' 1
		# The last line is taken out of it before it is answered.
		before=$(sed '/is gone/,$d' both)
		[ "$(grep -c '^line ' <<<"$before")" -ge 8 ]
		kill -KILL "$HOST"
		rm host
	done
}

@test "owner-fd: 0: the grace begins when all is read" {
	start ends -l host -d 60 read 0 "$OW" --owner-fd 0 -g 0.6 -- sh -c '
		trap "echo TERM >>log; exit" TERM
		sleep 0.5; cat >content; echo read >>log
		while :; do sleep 0.02; done'
	HOST=$PID
	await_line host '^cmd '
	hang_up USR1
	await_line log '^read$'
	begin=$(now_ms)
	await_line log '^TERM$'
	# `cat` had it a little before; so much is sure.
	taken 300 "$begin"
	await_line host '^exit 124$'
	assert_lines content '^line ' 9
	said 'owner fd 0 \(pipe\) is gone; stopping server [0-9]+ \(TERM in 0.6s, KILL 5s later, 10s if others must be told\)'
}

@test "owner-fd: 0: a host that is gone at the start, but left requests" {
	run --separate-stderr bash -c 'printf "one\ntwo\n" | "$0" --owner-fd 0 -g 30 -- sh -c "
		sleep 0.5; cat; exit 5"' "$OW"
	expect_status 5
	expect_output $'one\ntwo'
	rm -f started
	run --separate-stderr bash -c ': | (sleep 0.1; "$0" --owner-fd 0 -- touch started)' "$OW"
	expect_status 124
	expect_said 'ownerwrap[touch]: owner fd 0 (pipe) is not there: not started'
	[ ! -e started ]
}

@test "owner-fd: 0: a server that never reads is stopped after 10 s" {
	# shellcheck disable=SC2034	# the helpers' own
	LIMIT=25
	hosted -d 100 read 0 -g 0
	supervisor=$(supervisor_of "$FRONT")
	begin=$(now_ms)
	hang_up USR1
	lives_on 1000 "$SERVER"
	# The hang-up with something behind it does not spin.
	[ "$(cpu_ticks "$supervisor")" -le 20 ]
	expect_stopped
	taken 10000 "$begin"
	said "owner fd 0 \\(pipe\\) is gone; stopping server $SERVER \\(TERM now, .*\\)"
}

@test "owner-fd: 0: a server that ends meanwhile keeps its status" {
	at_end -d 100 read 0 -g 0 -- sh -c 'sleep 0.7; exit 6'
	hang_up USR1
	await_line host '^exit 6$'
	assert_equal "$(cat "$ERR")" ''
}

# --- who has it --------------------------------------------------------------------

# pipes_of PID: the descriptors of it that are the host's pipe, a line each
pipes_of() {
	local link
	for link in "/proc/$1/fd"/*; do
		[ "$(readlink "$link")" != "$WHAT" ] || echo "${link##*/}"
	done
}

# the_pipe: sets WHAT, the host's
the_pipe() {
	WHAT=$(readlink "/proc/$HOST/fd"/* | grep '^pipe:' | sort | uniq)
	WHAT=$(grep -vxF -f <(readlink "/proc/$$/fd"/*) <<<"$WHAT")
	[[ $WHAT =~ ^pipe:\[[0-9]+\]$ ]]
}

@test "owner-fd: another than 0 is not passed on, nor left in the front" {
	hosted read 9
	the_pipe
	supervisor=$(supervisor_of "$FRONT")
	assert_equal "$(pipes_of "$SERVER")" '' 'the server has'
	assert_equal "$(pipes_of "$FRONT")" '' 'the front has'
	assert_equal "$(pipes_of "$supervisor" | wc -l)" 1 'the supervisor has'
	# So the host hears of the end: nobody else holds it.
	kill -TERM "$FRONT"
	await_line host '^exit '
}

@test "owner-fd: 0 is passed on, and the supervisor has one duplicate" {
	hosted read 0
	the_pipe
	supervisor=$(supervisor_of "$FRONT")
	assert_equal "$(pipes_of "$SERVER")" 0 'the server has'
	assert_equal "$(pipes_of "$FRONT")" '' 'the front has'
	assert_equal "$(pipes_of "$supervisor" | wc -l)" 1 'the supervisor has'
	assert_equal "$(readlink "/proc/$supervisor/fd/0")" /dev/null
}

@test "owner-fd: with 0, and only there, no EPIPE while the server lives" {
	start sock pipes "$OW" --owner-fd 0 -- server -l log -1
	SERVER=$(server_pid log)
	track "$SERVER"
	await_line "$OUT" '^stdout eof'
	lives_on 300 "$SERVER"
	assert_lines "$OUT" '^stdin epipe' 0
	kill -TERM "$SERVER"
	finish "$PID"
	assert_lines "$OUT" '^stdin epipe' 1

	rm log
	mkfifo in
	exec 8<>in
	start sock pipes sh -c '
		exec "$0" --owner-fd 9 -- server -l log -1 9<in' "$OW" 8<&-
	SERVER=$(server_pid log)
	track "$SERVER"
	await_line "$OUT" '^stdin epipe'
	assert_alive "$SERVER"
	exec 8>&-
	finish "$PID"
}

@test "owner-fd: twice the same is one" {
	hosted read 9 --owner-fd 9 --owner-fd=9 -v -g 0
	said "server $SERVER started; owner fd 9 \\(pipe\\), (watched by poll|polled every 0\\.1s)"
	hang_up USR1
	expect_stopped
	said "owner fd 9 \\(pipe\\) is gone; stopping server $SERVER .*"
}

@test "owner-fd: two of one pipe are two names for one owner" {
	start ends -l host read 9 sh -c '
		exec "$0" --owner-fd 9 --owner-fd 8 -g 0 -- server -l log 8<&9' "$OW"
	HOST=$PID
	below_host
	hang_up USR1
	expect_stopped
	said "owners fd 9 \\(pipe\\), fd 8 \\(pipe\\) are gone; stopping server $SERVER .*"
}

# --- what is an error ---------------------------------------------------------------

# no_owner VALUE: 125, and the line
no_owner() {
	refused 125 "ownerwrap[touch]: --owner-fd $1: must be $RIGHT_OWNER_FD" \
		--owner-fd "$1" --
}

# no_end KIND...: none of these is an owner's: 125, and the line
no_end() {
	local kind
	for kind; do
		at_end "$kind" 9 -- touch started
		not_started 125
		assert_equal "$(cat "$ERR")" "ownerwrap[touch]: --owner-fd 9: must be $RIGHT_OWNER_FD" "$kind"
	done
}

@test "owner-fd: what is not open, a number that is none: 125" {
	exec 9<&-
	for value in 9 777 1 2 -1 +9 ' 9' '9 ' 9x 0x9 9.0 '' x 4294967305 \
		99999999999999999999; do
		no_owner "$value"
	done
	no_owner 0 <&-
	run "$OW" --owner-fd
	expect_status 125
	expect_match "^ownerwrap: --owner-fd: needs a value: "
}

@test "owner-fd: a file, /dev/null, a directory: 125" {
	echo hello >file
	no_owner 9 9<file
	no_owner 9 9<>file
	no_owner 9 9</dev/null
	no_owner 9 9<.
	no_owner 0 <file
	no_owner 0 </dev/null
}

@test "owner-fd: sockets that are not connected, or of datagrams: 125" {
	no_end listen free udp dgram
}

@test "owner-fd: a FIFO opened for both, a pipe of which both ends came: 125" {
	no_end rdwr both both2
	at_end both 0 -- touch started
	not_started 125
}

@test "owner-fd: what only looks like a pidfd: 125" {
	no_end proc event
}

@test "owner-fd: nobody at the other end at the start: 124" {
	for kind in read write fifo unix seq tcp pty ptm pidfd pidfdz; do
		at_end -x $kind 9 -- touch started
		not_started 124
		assert_equal "$(sed -E 's/\([a-z]+\)/(KIND)/' "$ERR")" \
			'ownerwrap[touch]: owner fd 9 (KIND) is not there: not started'
		kill -KILL "$HOST"
	done
	at_end -x pty 0 -- touch started
	await_line host '^exit 124$'
}

@test "owner-fd: what is left in it at the start does not help, but in 0" {
	for kind in read unix tcp; do
		at_end -d 100 -x $kind 9 -- touch started
		not_started 124
	done
	at_end -d 100 -x read 0 -- touch started
	await_line host '^exit 0$'
	[ -e started ]
}

@test "owner-fd: a TCP connection that is reset" {
	# What was not read at the other end makes a reset of its close.
	start ends -l host tcp 9 sh -c '
		echo unread >&9
		exec "$0" --owner-fd 9 -g 0 -- server -l log' "$OW"
	HOST=$PID
	below_host
	hang_up USR1
	expect_stopped
}

# --- the variable ------------------------------------------------------------------

@test "owner-fd: the variable names one" {
	export OWNERWRAP_OWNER_FD=9
	start ends -l host read 9 "$OW" -g 0 -- sh -c '
		echo "${OWNERWRAP_OWNER_FD-unset}" >variable
		[ ! -e /proc/self/fd/9 ] || echo passed on >>variable
		exec server -l log'
	unset OWNERWRAP_OWNER_FD
	HOST=$PID
	below_host
	assert_equal "$(cat variable)" unset
	hang_up USR1
	expect_stopped
	said "owner fd 9 \\(pipe\\) is gone; stopping server $SERVER .*"
}

@test "owner-fd: an option replaces the variable" {
	new_owner
	export OWNERWRAP_OWNER_FD=9
	start ends -l host read 9 "$OW" -v -g 0 -p "$OWNER" -- server -l log
	unset OWNERWRAP_OWNER_FD
	HOST=$PID
	below_host
	said "server $SERVER started; owner $OWNER \\(sleep, up [0-9]+s\\), .*"
	hang_up USR1
	lives_on 250 "$SERVER"
	[ -e "/proc/$SERVER/fd/9" ]	# is not looked at, so not taken away
	kill -KILL "$OWNER"
	expect_stopped
}

@test "owner-fd: a variable that names none is one line, and the parent the owner" {
	exec 9<&-
	for value in 9 1 2 x -1 ' 9' 99999999999999999999; do
		OWNERWRAP_OWNER_FD=$value ow -- true
		expect_status 0
		expect_said "ownerwrap[true]: OWNERWRAP_OWNER_FD=$value: ignored, must be $RIGHT_OWNER_FD"
	done
	OWNERWRAP_OWNER_FD='' ow -- true
	expect_status 0
	expect_said ''

	# One that is no owner's descriptor stays the server's.
	echo hello >file
	export OWNERWRAP_OWNER_FD=9
	start owner -l host sh -c '
		exec "$0" -g 0 -- sh -c "cat <&9 >content; exec server -l log" 9<file' "$OW"
	unset OWNERWRAP_OWNER_FD
	HOST=$PID
	below_host
	assert_equal "$(cat content)" hello
	assert_lines "$ERR" '^ownerwrap\[sh\]: OWNERWRAP_OWNER_FD=9: ignored, must be 0 or an open ' 1
	kill -KILL "$HOST"
	ended_by_term
}

# --- where no pid is known -------------------------------------------------------

@test "owner-fd: 0 works as pid 1 of a pid namespace, with ppid 0 (87, 64)" {
	need_pidns
	for how in USR1 KILL; do
		rm -f log host
		start ends -l host read 0 "${PIDNS[@]}" "$OW" -v --owner-fd 0 -g 0 -- server -l log
		HOST=$PID
		FRONT=$(pid_in host cmd)
		track "$FRONT"
		await_line log '^ready '
		lives_on 200 "$FRONT"
		assert_lines "$ERR" 'unwatched|not visible' 0
		hang_up $how
		await_gone "$FRONT"
		assert_lines log '^TERM from ' 1
		assert_lines "$ERR" 'owner fd 0 \(pipe\) is gone; stopping' 1
		[ $how = KILL ] || await_line host '^exit 124$'
		kill -KILL "$HOST" 2>/dev/null || true
	done
}

@test "owner-fd: 0 works where only the parent is out of sight (87)" {
	need_pidns
	need nsenter
	start "${PIDNS[@]}" sleep 300
	until_true "[ -n \"\$(pgrep -P $PID -x sleep)\" ]"
	space=$(pgrep -P "$PID" -x sleep)
	enter=(nsenter -t "$space" -p -m -r)
	[ "$(id -u)" = 0 ] || enter=(nsenter -t "$space" -U --preserve-credentials -p -m -r)
	start ends -l host unix 0 "${enter[@]}" "$OW" --owner-fd 0 -g 0 -- server -l "$PWD/log"
	HOST=$PID
	await_line log '^ready '
	FRONT=$(pid_in host cmd)
	lives_on 200 "$FRONT"
	assert_lines "$ERR" 'unwatched' 0
	hang_up USR1
	await_line host '^exit 124$'
	assert_lines log '^TERM from ' 1
}

@test "owner-fd: a pidfd works across pid namespaces (64)" {
	need_pidns
	start ends -l host pidfd 9 "${PIDNS[@]}" "$OW" --owner-fd 9 -g 0 -- server -l log
	HOST=$PID
	await_line log '^ready '
	FRONT=$(pid_in host cmd)
	lives_on 200 "$FRONT"
	hang_up USR1
	await_line host '^exit 124$'
	assert_lines log '^TERM from ' 1
}

@test "owner-fd: it works without /proc" {
	hide_proc
	AS=("${HIDDEN[@]}")
	at_end read 9 -g 0 -- server -l log
	below_host
	lives_on 200 "$SERVER"
	hang_up USR1
	expect_stopped
}

@test "owner-fd: it works in the plain POSIX build" {
	plain_posix
	for kind in read fifo unix pty; do
		hosted $kind 9 -i 0.1 -g 0
		lives_on 200 "$SERVER"
		hang_up USR1
		expect_stopped
	done
	for kind in tcp pidfd; do	# nothing there tells of their end
		at_end $kind 9 -- touch started
		not_started 125
	done
}
