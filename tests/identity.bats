#!/usr/bin/env bats
# Who is the owner: numbers that mean somebody else, shells in between,
# adopters, several owners.

load helper
bats_require_minimum_version 1.5.0

# --- numbers ----------------------------------------------------------------

# What runs in a pid namespace: look CONDITION, every 20 ms as long as needed
look='look() { until eval "$1"; do sleep 0.02; done; }'

@test "identity: a recycled pid is not the owner (15)" {
	need_pidns
	cat >inside <<-END
		$look
		sleep 300 & owner=\$!
		"\$OW" -p \$owner -i 0.1 -g 0 -- server -l log & front=\$!
		look 'grep -qs ready log'
		# Frozen, so that no look falls into the gap.
		supervisor=\$(pgrep -P \$front -x ow-supervisor)
		kill -STOP \$supervisor
		kill -KILL \$owner; wait \$owner
		pidreuse \$owner sleep 99
		kill -CONT \$supervisor
		wait \$front; echo "status \$?"
		echo "canary \$(ps -o stat=,comm= -p \$owner)"
	END
	OW=$OW run timeout -s KILL 40 "${PIDNS[@]}" bash inside
	expect_match 'ok [0-9]+'
	expect_match 'status 124'
	expect_match 'canary S[^ ]* +sleep'
	assert_lines log '^TERM from ' 1
}

@test "identity: a recycled pid with the START of the old owner: not started (15, 16)" {
	need_pidns
	cat >inside <<-'END'
		sleep 300 & owner=$!
		start=$(sed 's/.*) //' /proc/$owner/stat | cut -d' ' -f20)
		sleep 0.05	# so that the next one has other ticks
		kill -KILL $owner; wait $owner
		pidreuse $owner sleep 99
		"$OW" -p $owner:$start -- touch started; echo "status $?"
	END
	OW=$OW run timeout -s KILL 40 "${PIDNS[@]}" bash inside
	expect_match 'ok [0-9]+'
	expect_match 'status 124'
	expect_match 'is not there: not started'
	[ ! -e started ]
}

@test "identity: a pid with another start time is not the owner (16)" {
	new_owner
	ticks=$(start_ticks "$OWNER")
	for wrong in 1 $((ticks - 1)) $((ticks + 1)) 18446744073709551615; do
		run "$OW" --owner-pid "$OWNER:$wrong" -- touch started
		expect_status 124
		expect_match "^ownerwrap\[touch\]: owner $OWNER .*is not there: not started \(ended, or in another pid namespace: --owner-fd\)$"
		assert_equal "${#lines[@]}" 1
		[ ! -e started ]
	done
	# Nothing was done to it either.
	assert_alive "$OWNER"
}

@test "identity: a pid with its own start time is the owner (16)" {
	new_owner
	wrap --owner-pid "$OWNER:$(start_ticks "$OWNER")" -g 0 --
	lives_on 300 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "identity: a wrong start time beside another owner (16)" {
	new_owner
	wrap -p "$$:1" -p "$OWNER" -g 0 --
	lives_on 300 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
	run "$OW" --any -p "$PPID:1" -p $$ -- touch started
	expect_status 124
	[ ! -e started ]
}

@test "identity: the boot time may change while start ticks are compared (17)" {
	need unshare mount
	unshare -Urm true 2>/dev/null || skip_or_fail 'needs user and mount namespaces'
	new_owner
	cat >inside <<-'END'
		cat /proc/stat >stat
		mount --bind stat /proc/stat
		exec "$OW" -p "$1" --poll -i 0.05 -g 0 -- server -l log
	END
	OW=$OW start unshare -Urm sh inside "$OWNER:$(start_ticks "$OWNER")"
	FRONT=$PID
	SERVER=$(server_pid log)
	before=$(sed -n 's/^btime //p' "/proc/$FRONT/root/proc/stat")
	# In place: the bound file must stay this one.
	sed 's/^btime .*/btime 1000000000/' stat >stat.new
	cat stat.new >stat
	[ "$before" -gt 1000000000 ]
	lives_on 400 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "identity: what /proc says strangely of an owner is no proof (17)" {
	need unshare mount nsenter
	unshare -Urm true 2>/dev/null || skip_or_fail 'needs user and mount namespaces'
	new_owner
	start unshare -Urm sh -c 'exec "$0" -p "$1" --poll -i 0.05 -g 0 -- server -l log' "$OW" "$OWNER:$(start_ticks "$OWNER")"
	FRONT=$PID
	SERVER=$(server_pid log)
	for text in '' odd "$OWNER (sleep) S" "$OWNER (sleep" "$OWNER (sleep) S 1 2 x"; do
		printf %s "$text" >odd
		nsenter -t "$FRONT" -U -m -w --preserve-credentials \
			mount --bind "$PWD/odd" "/proc/$OWNER/stat"
		lives_on 200 "$SERVER"
		nsenter -t "$FRONT" -U -m --preserve-credentials \
			umount "/proc/$OWNER/stat"
	done
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "identity: a name with a parenthesis is no other process (17)" {
	cp "$(command -v sleep)" 'a) Z 1 (b'
	start './a) Z 1 (b' 300
	OWNER=$PID
	await_program "$OWNER" 'a) Z 1 (b'
	wrap -v -p "$OWNER:$(start_ticks "$OWNER")" --poll -i 0.05 -g 0 --
	assert_lines "$ERR" "; owner $OWNER \\(a\\) Z 1 \\(b, up " 1
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "identity: SIGKILL does not reach who got the pid of a child (19)" {
	need_pidns
	cat >inside <<-END
		$look
		sleep 300 & owner=\$!
		"\$OW" -p \$owner -g 0 -k 1.2 -- server -l log -d -g log=child 2>err & front=\$!
		look 'grep -qs ready log'
		child=\$(sed -n 's/^child \\([0-9]*\\) .*/\\1/p' child)
		kill -KILL \$owner
		look 'grep -qs "^\\[.*\\] TERM" child'
		pidreuse \$child setsid sleep 99
		grep -q "still there" err && echo "too late"
		kill -0 \$(sed -n 's/^ready //p' log) || echo "too late"
		wait \$front; echo "status \$?"; cat err
		echo "canary \$(ps -o stat=,comm= -p \$child)"
	END
	OW=$OW run timeout -s KILL 40 "${PIDNS[@]}" bash inside
	expect_match 'ok [0-9]+'
	expect_match 'status 124'
	expect_match 'still there [2-9](\.[0-9]+)?s after TERM: killed'
	expect_match 'canary S[^ ]* +sleep'
	[[ $output != *"too late"* ]]
}

@test "identity: the server's pid is nobody else's while ownerwrap lives (19)" {
	need_pidns
	cat >inside <<-END
		$look
		"\$OW" -p 1 --leftovers wait -- server -l log -x 200 -e 3 -g log=child & front=\$!
		look 'grep -qs ready log'
		server=\$(sed -n 's/^ready //p' log)
		child=\$(sed -n 's/^child \\([0-9]*\\) .*/\\1/p' child)
		look '[ "\$(ps -o stat= -p \$server | cut -c1)" = Z ]'
		timeout 0.5 pidreuse \$server sleep 99; echo "reuse \$?"
		kill -KILL \$child
		wait \$front; echo "status \$?"
		sleep 0		# the first one may have made it the next number
		pidreuse \$server sleep 99
	END
	OW=$OW run timeout -s KILL 40 "${PIDNS[@]}" bash inside
	expect_match 'reuse 124'
	expect_match 'status 3'
	expect_match 'ok [0-9]+$'
}

@test "identity: a number that is no pid is an error, and nobody is signalled (20)" {
	cat >inside <<-'END'
		sleep 300 & canary=$!
		for value in 0 -1 -5 '' ' 7' '7 ' 7x 0x7 +7 1e3 99999999999 2147483648 \
			18446744073709551617 : 1: 1:0 1:x 1:-1 :1 1:2:3 \
			1:18446744073709551616; do
			"$OW" --owner-pid "$value" -- touch started
			echo "$value = $?"
			"$OW" --owner-pid="$value" -- touch started 2>/dev/null ||
				echo "again = $?"
		done
		sh -c 'exec "$OW" -p $$ -- touch started'; echo "own = $?"
		kill -0 $canary && kill $canary && echo 'canary lives'
	END
	OW=$OW start setsid sh inside
	finish "$PID"
	expect_status 0
	assert_lines "$OUT" ' = 125$' 43
	assert_lines "$OUT" ' = ' 43
	assert_lines "$OUT" '^canary lives$' 1
	assert_lines "$ERR" "^ownerwrap\\[touch\\]: (--owner-pid|-p) .*: must be another process's pid, 1 or more, or PID:START with its start time in ticks; 64 owners at most\$" 22
	assert_equal "$(wc -l <"$ERR" | tr -d ' ')" 22
	[ ! -e started ]
}

@test "identity: a pid that no process can have is one that is not there (20)" {
	run "$OW" -p 2147483647 -- touch started
	expect_status 124
	expect_match 'owner 2147483647 is not there: not started'
	[ ! -e started ]
}

@test "identity: the same server twice, and only the orphaned one ends (21)" {
	local owner=() front=() server=() port
	for i in 1 2; do
		new_owner
		owner[i]=$OWNER
		start "$OW" -p "$OWNER" -g 0 -- server -p -f 1
		front[i]=$PID
		server[i]=$(server_pid "$ERR")
		port=$(sed -n 's/^port //p' "$ERR")
	done
	start net hold "$port"
	client=$PID
	await_line "$OUT" '^connected$'
	assert_equal "$(tr '\0' ' ' <"/proc/${server[1]}/cmdline")" "server -p -f 1 "
	kill -KILL "${owner[1]}"
	finish "${front[1]}"
	expect_status 124
	refute_alive "${server[1]}"
	lives_on 200 "${server[2]}" "${front[2]}" "$client" "$(pgrep -P "${server[2]}")"
	kill -KILL "${owner[2]}"
	finish "${front[2]}"
	expect_status 124
}

# --- several owners ----------------------------------------------------------

@test "identity: the server lives until its last owner ends, in any order (73)" {
	for order in 'A B' 'B A'; do
		new_owner; A=$OWNER
		new_owner; B=$OWNER
		wrap -p "$A" -p "$B" -g 0 --
		first=${order% *} last=${order#* }
		kill -KILL "${!first}"
		lives_on 300 "$SERVER"
		assert_lines log '^TERM' 0
		kill -KILL "${!last}"
		ended_by_term 124
		assert_lines "$ERR" "^ownerwrap\\[server\\]: owners $A \\(sleep, up [0-9]+s\\), $B \\(sleep, up [0-9]+s\\) are gone; stopping server $SERVER \\(TERM now" 1
	done
}

@test "identity: both owners end at once (73)" {
	new_owner; A=$OWNER
	new_owner; B=$OWNER
	wrap -p "$A" -p "$B" -g 0 --
	kill -KILL "$A" "$B"
	ended_by_term 124
}

@test "identity: with --any the first owner that ends is enough (73)" {
	for name in A B; do
		new_owner; A=$OWNER
		new_owner; B=$OWNER
		wrap --any -p "$A" -p "$B" -g 0 --
		lives_on 200 "$SERVER"
		kill -KILL "${!name}"
		ended_by_term 124
		assert_lines "$ERR" "owner ${!name} \\(sleep, up [0-9]+s\\) is gone, not [0-9]+ \\(sleep, up [0-9]+s\\); stopping" 1
	done
}

@test "identity: the same owner twice is one (73)" {
	new_owner
	wrap -v -p "$OWNER" -p "$OWNER" -p "$OWNER:$(start_ticks "$OWNER")" -g 0 --
	assert_lines "$ERR" "; owner $OWNER \\(sleep, up [0-9]+s\\), (watched|polled)" 1
	kill -KILL "$OWNER"
	ended_by_term 124
	assert_lines "$ERR" "owner $OWNER \\(sleep, up [0-9]+s\\) is gone; stopping" 1
}

@test "identity: one owner of several may be gone at the start (73)" {
	start true
	finish "$PID"
	dead=$PID
	new_owner
	wrap -p "$dead" -p "$OWNER" -g 0 --
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
	run "$OW" --any -p "$dead" -p $$ -- touch started
	expect_status 124
	expect_match "owner $dead is not there: not started"
	start true
	finish "$PID"
	run "$OW" -p "$dead" -p "$PID" -- touch started
	expect_status 124
	[ ! -e started ]
}

@test "identity: 64 owners are possible, 65 are an error (73)" {
	local many=()
	for ((i = 0; i < 63; i++)); do
		many+=(-p $((2147483647 - i)))	# nobody's, so gone
	done
	new_owner
	wrap "${many[@]}" -p "$OWNER" -g 0 --
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
	run "$OW" "${many[@]}" -p $$ -p $PPID -- touch started
	expect_status 125
	assert_equal "${#lines[@]}" 1
	expect_match '64 owners at most$'
	[ ! -e started ]
}

@test "identity: 64 living owners, each watched (73)" {
	local many=() pids=()
	for ((i = 0; i < 64; i++)); do
		sleep 300 3>&- &
		pids+=($!)
		many+=(-p $!)
	done
	wrap -v "${many[@]}" -g 0 --
	kill -KILL "${pids[@]:0:63}"
	lives_on 300 "$SERVER"
	kill -KILL "${pids[63]}"
	ended_by_term 124
}

# a_thread: sets OWNER and, one that is not its first, THREAD
a_thread() {
	start owner -m 30000
	OWNER=$PID
	until_true "[[ \$(ps -o stat= -p $OWNER) == Z* ]]"
	for THREAD in "/proc/$OWNER/task"/*; do
		THREAD=${THREAD##*/}
		[ "$THREAD" = "$OWNER" ] || break
	done
}

@test "identity: a thread's number is no process's: refused, and named (104)" {
	a_thread
	for value in "$THREAD" "$THREAD:$(start_ticks "$THREAD")"; do
		run "$OW" -p $$ -p "$value" -- touch started
		expect_status 125
		expect_output "ownerwrap[touch]: --owner-pid: can't work here: $THREAD is a thread of $OWNER (owner)"
		[ ! -e started ]
	done
	wrap -p "$OWNER" -g 0 --
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
}

@test "identity: a thread's number in a variable is one line (104)" {
	a_thread
	OWNERWRAP_OWNER_PID=$THREAD start owner -l host "$OW" -g 0 -- server -l log
	below_host
	assert_lines "$ERR" "^ownerwrap\\[server\\]: OWNERWRAP_OWNER_PID=$THREAD: ignored, can't work here: $THREAD is a thread of $OWNER \\(owner\\)\$" 1
	kill -KILL "$OWNER"
	lives_on 200 "$SERVER"
	kill -KILL "$PID"
	ended_by_term
	a_thread
	# Another variable that names an owner stays.
	OWNERWRAP_OWNER_PID=$THREAD OWNERWRAP_OWNER_NAME=bash wrap -v --
	assert_lines "$ERR" 'is a thread of ' 1
	assert_lines "$ERR" '; owner [0-9]+ \(bash, ' 1
}

# --- options and variables ---------------------------------------------------

@test "identity: the variable names an owner, an option replaces it" {
	new_owner
	OWNERWRAP_OWNER_PID=$OWNER wrap -g 0 --
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term 124
	OWNERWRAP_OWNER_PID=$OWNER run "$OW" -- touch started
	expect_status 124
	expect_match "owner $OWNER is not there: not started"
	[ ! -e started ]
	OWNERWRAP_OWNER_PID=$OWNER run "$OW" -p $$ -- touch started
	expect_status 0
	expect_output ""
	[ -e started ]
}

@test "identity: a malformed variable is one line, and the parent the owner" {
	for value in 0 -1 x "1 "; do
		OWNERWRAP_OWNER_PID=$value run "$OW" -- true
		expect_status 0
		expect_output "ownerwrap[true]: OWNERWRAP_OWNER_PID=$value: ignored, must be another process's pid, 1 or more, or PID:START with its start time in ticks; 64 owners at most"
	done
	OWNERWRAP_OWNER_PID='' run "$OW" -- true
	expect_status 0
	expect_output ""
	export OWNERWRAP_OWNER_PID=x
	start owner -l host "$OW" -g 0 -- server -l log
	unset OWNERWRAP_OWNER_PID
	SERVER=$(server_pid log)
	kill -KILL "$PID"
	await_gone "$(pid_in host cmd)" "$SERVER"
	assert_lines log '^TERM from ' 1
}

# --- the default owner --------------------------------------------------------

# under COMMAND...: a host starts it, $LOG is what the server should log to;
# each test may have several, which are looked at together
under() {
	N=$((${N-0} + 1))
	LOG=log.$N OW=$OW HOME=$PWD start owner -l host.$N "$@"
	HOSTS+=("$PID")
}

# kill_hosts: waits for all servers; sets SERVERS, COMMANDS (of the hosts)
kill_hosts() {
	SERVERS=() COMMANDS=()
	for ((i = 1; i <= N; i++)); do
		SERVERS+=("$(server_pid log.$i)") || fail "$i: $(cat err.$i)"
		COMMANDS+=("$(pid_in host.$i cmd)")
	done
	assert_alive "${HOSTS[@]}" "${SERVERS[@]}" "${COMMANDS[@]}"
	kill -KILL "${HOSTS[@]}"
	await_gone "${HOSTS[@]}"
}

# Each server has ended, and had one TERM.
all_stopped() {
	await_gone "${SERVERS[@]}"
	for ((i = 1; i <= N; i++)); do
		assert_lines log.$i '^TERM from ' 1
	done
}

# A path, since a login shell has its own PATH.
wrapped() {
	printf '"$OW" -g 0 -- %q -l "$LOG"' "$FIXTURES/server"
}

# looked_through SHELL OPTION...: what the shell is told with -c follows
looked_through() {
	under "$@" "$(wrapped) || :; exec sleep 300"
}

# The hosts' deaths count, while the shells live on.
expect_looked_through() {
	kill_hosts
	all_stopped
	for shell in "${COMMANDS[@]}"; do
		await_program "$shell" sleep
		kill -KILL "$shell"
	done
	await_gone "${COMMANDS[@]}"
}

# Only the shells' own deaths count.
expect_taken_literally() {
	kill_hosts
	lives_on 400 "${SERVERS[@]}"
	kill -KILL "${COMMANDS[@]}"
	all_stopped
}

@test "identity: without options the parent is the owner" {
	under sh -c "exec $(wrapped)"
	kill_hosts
	all_stopped
	await_gone "${COMMANDS[@]}"
}

@test "identity: a shell with -c is looked through, as sh and dash spell it" {
	looked_through sh -c
	looked_through "$(command -v sh)" -c
	looked_through sh -ec
	looked_through sh -e -c
	looked_through sh -o nounset -c
	looked_through sh +e -c
	! command -v dash >/dev/null || looked_through dash -c
	expect_looked_through
}

@test "identity: a shell with -c is looked through, as bash spells it" {
	need bash
	looked_through bash -c
	looked_through bash -lc
	looked_through bash --norc -c
	looked_through bash --noprofile --norc -ec
	looked_through bash -o pipefail -c
	looked_through bash --rcfile /dev/null -c
	looked_through bash -O extglob -c
	looked_through bash -euo pipefail -c
	looked_through bash -c --
	expect_looked_through
}

@test "identity: other shells with -c are looked through where they are (102)" {
	for shell in ash ksh ksh93 mksh yash zsh tcsh fish; do
		! command -v $shell >/dev/null || looked_through $shell -c
	done
	! command -v busybox >/dev/null || looked_through busybox sh -c
	# A login shell, as su and sshd start it.
	looked_through bash -c 'exec -a -sh sh -c "$0"'
	# By the name that it has elsewhere.
	looked_through bash -c 'exec -a /bin/ash sh -c "$0"'
	expect_looked_through
}

# scripts: some that run the server and go on
scripts() {
	echo "$(wrapped) || :" >script
	cp script ./-c
	(echo '#!/bin/sh' && cat script) >executable
	chmod +x executable
	for file in script -c executable; do
		echo 'exec sleep 300' >>"./$file"
	done
}

@test "identity: a shell that runs a script is looked through (103)" {
	scripts
	under sh script
	under sh -e script
	under sh script -c
	under sh -o errexit script -c
	under sh -- -c
	under ./executable -c
	under bash --norc script -c
	expect_looked_through
}

@test "identity: a shell that reads its commands is an owner like any other" {
	scripts
	under sh -c 'exec sh -s -- -c <script'
	under bash -c 'exec bash -s script <script'
	expect_taken_literally
}

@test "identity: an explicit owner is taken literally, a launcher too (103)" {
	ln -s "$FIXTURES/owner" sudo
	under ./sudo -z sh -c 'exec "$OW" -p $PPID -g 0 -- server -l "$LOG"'
	expect_taken_literally
}

@test "identity: launchers are looked through, by their names (103)" {
	local name
	for name in npm npx pnpm pnpx yarn bunx corepack uv uvx pipx make sudo doas \
		su timeout flock time script unshare bwrap dbus-run-session; do
		ln -s "$FIXTURES/owner" $name
		under ./$name -z sh -c "exec $(wrapped)"
	done
	kill_hosts
	all_stopped
	assert_alive "${COMMANDS[@]}"
	kill -KILL "${COMMANDS[@]}"
}

@test "identity: what is no shell is not looked through, -c or not" {
	under bash -c 'exec -a not-a-shell bash -c "$0"' "$(wrapped); :"
	under bash -c 'exec -a wish bash -c "$0"' "$(wrapped); :"
	expect_taken_literally
}

# shell_chain: host, outer sh -c, inner sh -c, ownerwrap
shell_chain() {
	rm -f host log outer inner
	export OW
	start owner -l host sh -c 'echo $$ >outer; sh -c "$0"; exec sleep 300' \
		'echo $$ >inner; "$OW" -v -g 0 -- server -l log; exec sleep 300'
	HOST=$PID
	SERVER=$(server_pid log)
}

@test "identity: in a chain of shells each one counts, and the host" {
	for name in host outer inner; do
		shell_chain
		assert_lines "$ERR" "server $SERVER started; owner $(cat inner) \\(sh, up [0-9]+s\\), $(cat outer) \\(sh, up [0-9]+s\\), $HOST \\(owner, up [0-9]+s\\), (watched by pidfd|polled every)" 1
		sed -i 's/^owner //;q' host
		kill -KILL "$(cat $name)"
		await_gone "$SERVER"
		assert_lines log '^TERM from ' 1
		cat host outer inner | while read -r pid; do
			kill -KILL "$pid" 2>/dev/null || true
		done
	done
}

@test "identity: the host of the host does not count" {
	rm -f host log
	start owner -z -l outer owner -z -l host "$OW" -g 0 -- server -l log
	OUTER=$PID
	SERVER=$(server_pid log)
	kill -KILL "$OUTER"
	lives_on 300 "$SERVER"
	kill -KILL "$(pid_in host owner)"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1
}

@test "identity: an explicit owner is taken literally, a shell too" {
	under sh -c '"$OW" -p $$ -g 0 -- server -l "$LOG"; :'
	expect_taken_literally
}

# --- adopters -----------------------------------------------------------------

# A host in a session that it does not lead ends before ownerwrap begins.
adopted_line='^ownerwrap\[touch\]: the owner is gone, [0-9]+ \([^)]*\) adopted what it left: not started \(name an owner: --owner-pid PID\)$'

@test "identity: who is adopted before its first line is not started (86)" {
	start owner -s -x 0 -a 100 "$OW" -- touch started
	await_line "$ERR" "$adopted_line"
	no_leftovers
	[ ! -e started ]
}

@test "identity: the same for a double fork (86)" {
	start owner -s -D -a 100 -l host "$OW" -- touch started
	await_line "$ERR" "$adopted_line"
	kill -KILL "$(pid_in host owner)"
	finish "$PID"
	[ ! -e started ]
}

@test "identity: the same under a subreaper, with status 124 (86)" {
	for options in '' '-D'; do
		rm -f reaper
		# shellcheck disable=SC2086
		start owner -r -l reaper owner -s $options -x 0 -a 100 "$OW" -- touch started
		finish "$PID"
		await_line "$ERR" "$adopted_line"
		assert_lines "$ERR" "the owner is gone, $PID \\(owner\\) adopted" 1
		assert_lines reaper '^adopted [0-9]+ ended 124$' 1
		[ ! -e started ]
	done
}

@test "identity: the same below an sh -c that lives on (86)" {
	start owner -r -l reaper owner -s -x 0 -a 100 sh -c '"$0" -- touch started; echo $? >status' "$OW"
	reaper=$PID
	await_line status '^124$'
	assert_lines "$ERR" "the owner is gone, $reaper \\(owner\\) adopted" 1
	finish "$reaper"
	[ ! -e started ]
}

@test "identity: an explicit owner makes an adopter harmless (86, 72)" {
	new_owner
	start owner -r -l reaper owner -s -x 0 -a 100 "$OW" -p "$OWNER" -g 0 -- server -l log
	SERVER=$(server_pid log)
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	finish "$PID"
	assert_lines log '^TERM from ' 1
	assert_lines reaper '^adopted [0-9]+ ended 124$' 1
}

@test "identity: an adopter of the same session, or of a leader, can't be told (86)" {
	# It is the owner then: nothing tells it from a parent.
	start owner -r -l reaper owner -x 0 -a 100 "$OW" -g 0 -- server -l log
	SERVER=$(server_pid log)
	lives_on 200 "$SERVER"
	kill -KILL "$PID"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1

	rm -f log
	start owner -r owner -s -x 0 -a 100 setsid "$OW" -g 0 -- server -l log
	SERVER=$(server_pid log)
	kill -KILL "$PID"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1
}

# --- short-lived owners ---------------------------------------------------------

@test "identity: sh -c 'ownerwrap &' ends with its shell and says why (95)" {
	export OW
	start sh -c '"$OW" -g 0.2 -- server -l log & echo $! >front; sleep 0.7'
	shell=$PID
	SERVER=$(server_pid log)
	FRONT=$(cat front)
	await_gone "$shell" "$SERVER" "$FRONT"
	assert_lines log '^TERM from ' 1
	assert_lines "$ERR" "^ownerwrap\\[server\\]: owner $shell \\(sh, up [0-9]+s\\) ended after 0\\.[0-9]+s; stopping server $SERVER \\(TERM in 0\\.2s, .*\\); to tie it to another process: --owner-pid PID\$" 1
}

@test "identity: an owner that lived for longer than 1 s gets no such hint (95)" {
	export OW
	start sh -c '"$OW" -g 0 -- server -l log & echo $! >front; sleep 1.5'
	shell=$PID
	SERVER=$(server_pid log)
	await_gone "$shell" "$SERVER" "$(cat front)"
	assert_lines "$ERR" "owner $shell \\(sh, up [0-9]+s\\) is gone(, not .*)?; stopping server $SERVER \\(TERM now" 1
	assert_lines "$ERR" 'to tie it to another' 0
}

@test "identity: the lines at start and stop show a wrong pid (71)" {
	export OW
	start sh -c '"$OW" -v --owner-pid $$ -g 0 -- server -l log & echo $! >front; sleep 0.7'
	shell=$PID
	SERVER=$(server_pid log)
	await_gone "$shell" "$SERVER" "$(cat front)"
	assert_lines "$ERR" "server $SERVER started; owner $shell \\(sh, up 0s\\), (watched by pidfd|polled every 0\\.1s)\$" 1
	assert_lines "$ERR" "owner $shell \\(sh, up [0-9]+s\\) is gone(, not [0-9]+ \\(.*, up [0-9]+s\\))?; stopping server $SERVER \\(TERM now" 1
	assert_lines log '^TERM from ' 1

	# The same with the process that was meant.
	new_owner
	rm log
	start sh -c '"$OW" -v --owner-pid "$0" -g 0 -- server -l log & echo $! >front; sleep 0.2' "$OWNER"
	shell=$PID
	SERVER=$(server_pid log)
	await_gone "$shell"
	lives_on 200 "$SERVER"
	kill -KILL "$OWNER"
	await_gone "$SERVER" "$(cat front)"
	assert_lines log '^TERM from ' 1
}
