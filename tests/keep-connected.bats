#!/usr/bin/env bats
# --keep-connected: no owner is left, but somebody outside the tree is connected
# to what the tree listens on.

# VIA, LIMIT are for the helper.
# shellcheck disable=SC2034

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	SOCK=./sock.$OWTEST_ID	# the name that the kernel tells
}

# serve [OPTION...] -- [TALK OPTION...] WHERE...: owned, with `talk serve`; sets
# PORT, that of the first WHERE
serve() {
	at_dashes "$@"
	owned --keep-connected "${BEFORE[@]}" -- \
		"${IN[@]}" talk serve -l log "${AFTER[@]}"
	PORT=$(port 1)
	for pid in $(sed -n 's/^\(child\|daemon\) //p' log); do
		track "$pid"
	done
}

# port N: the N-th that the server listens on
port() { sed -n 's/^port //p' log | sed -n "$1p"; }

# other: the pid of the server's child or daemon
other() { sed -n 's/^\(child\|daemon\) //p' log; }

# client [OPTION...] WHERE: a process outside the tree that connects; sets CLIENT
client() {
	CLIENTS=$((${CLIENTS-0} + 1))
	"${AS[@]}" talk to "$@" >"client.$CLIENTS" 2>&1 </dev/null 3>&- &
	CLIENT=$!
	track "$CLIENT"
	await_line "client.$CLIENTS" '^connected '
}

# accepted [COUNT]: so many have been accepted
accepted() { until_true "[ \$(count_lines log '^accepted ') -ge ${1-1} ]"; }

# await_kept WHY [FILE]
await_kept() { await_line "${2-$ERR}" "no owner left, kept: $1\$"; }

# expect_kept WHERE: the server is kept while CLIENT is connected to it (to a
# port, if it is none else), and then it ends
expect_kept() {
	local where=${1-port $PORT}
	orphan
	await_kept "$CLIENT \(talk\) is connected to $where"
	assert_alive "$S"
	kill -KILL "$CLIENT"
	expect_stopped
	said "no owner left, kept: $CLIENT \(talk\) is connected to $where"
	said "owner $O \(.*\) is gone, kept no longer; stopping server $S \(.*\)"
	assert_lines "$ERR" . 2
}

# expect_not_kept: with --grace 0, by one look
expect_not_kept() {
	orphan
	expect_stopped
	assert_lines "$ERR" kept 0
	said "owner $O \(.*\) is gone; stopping server $S \(TERM now, .*\)"
}

# --- what counts -----------------------------------------------------------

@test "keep-connected: a TCP connection to a loopback listener, v4 and v6 (73)" {
	for where in 4 6; do
		serve -i 0.1 -g 0 -- $where
		client "$where:$PORT"
		accepted
		expect_kept
	done
}

@test "keep-connected: a TCP connection to any address, v4, v6, v4-mapped" {
	for where in 'any4 4' 'any6 6' 'any6 4' 'any6 m' 'any4 m'; do
		serve -i 0.1 -g 0 -- "${where% *}"
		client "${where#* }:$PORT"
		expect_kept
	done
}

@test "keep-connected: one that is not yet accepted, TCP" {
	for where in 4 6; do
		serve -i 0.1 -g 0 -- -a $where
		client "$where:$PORT"
		expect_kept
	done
}

@test "keep-connected: a Unix stream, by path and abstract" {
	for where in "$PWD/${SOCK#./}" "@sock.$OWTEST_ID"; do
		serve -i 0.1 -g 0 -- "$where"
		client "$where"
		accepted
		expect_kept "$where"
	done
}

@test "keep-connected: one that is not yet accepted, Unix" {
	for where in "$SOCK" "@sock.$OWTEST_ID"; do
		serve -i 0.1 -g 0 -- -a "$where"
		client "$where"
		expect_kept "$where"
	done
}

@test "keep-connected: a client that comes during a look is told by its name" {
	# The tree holds 12,000 descriptors, which takes most of an interval.
	IN=(bash -c '
		for ((i = 20; i < 1000; i++)); do eval "exec $i</dev/null"; done
		for ((i = 0; i < 12; i++)); do sleep 300 & done
		exec "$@"' bash)
	serve -i 0.01 -g 60 -- 4
	orphan
	for ((i = 0; i < 20; i++)); do
		let_pass $((RANDOM % 30))
		client "4:$PORT"
		await_kept "$CLIENT \(talk\) is connected to port $PORT"
		kill -KILL "$CLIENT"
	done
	kill -TERM "$W"
	finish "$W"
	assert_lines "$ERR" ' kept: somebody ' 0
}

@test "keep-connected: any of several listeners" {
	for n in 1 2 3; do
		rm -f "$SOCK"
		serve -i 0.1 -g 0 -- 4 any6 "$SOCK"
		case $n in
		1) client "4:$(port 1)"; where="port $(port 1)" ;;
		2) client "6:$(port 2)"; where="port $(port 2)" ;;
		3) client "$SOCK"; where="$SOCK" ;;
		esac
		expect_kept "$where"
	done
}

@test "keep-connected: to a worker that inherited the listener" {
	serve -i 0.1 -g 0 -- -w 4
	client "4:$PORT"
	accepted
	expect_kept
}

@test "keep-connected: to a daemon of the server, which the stop spares" {
	serve -i 0.1 -g 0 -- -W 4
	client "4:$PORT"
	accepted
	orphan
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	kill -KILL "$CLIENT"
	expect_stopped
	said "left running as daemons: $(other) \(talk\); --scope tree stops them"
	kill -KILL "$(other)"
}

@test "keep-connected: a server that changed its network namespace" {
	privileged
	serve -i 0.1 -g 0 -- -n 4
	client "4:$PORT"
	accepted
	expect_kept
}

@test "keep-connected: a client of another user, seen by an ordinary user" {
	as_nobody
	VIA=("${NOBODY[@]}")
	serve -i 0.1 -g 0 -- 4 "$SOCK"
	client "4:$PORT"
	orphan
	await_kept "somebody is connected to port $PORT"
	first=$CLIENT
	client "$SOCK"
	kill -KILL "$first"
	await_kept "somebody is connected to $SOCK"
	kill -KILL "$CLIENT"
	expect_stopped
}

@test "keep-connected: an ordinary user's own client is named" {
	as_nobody
	VIA=("${NOBODY[@]}") AS=("${NOBODY[@]}")
	serve -i 0.1 -g 0 -- 4
	client "4:$PORT"
	expect_kept
}

@test "keep-connected: a process that can't be looked into counts as connected" {
	if [ "$(id -u)" = 0 ]; then
		as_nobody
	fi
	VIA=("${NOBODY[@]}")
	serve -i 0.1 -g 0 -- -p 4
	orphan
	await_kept "$S \(talk\) can't be looked into"
	lives_on 500 "$S"
	assert_lines "$ERR" . 1
	kill -TERM "$W"
	expect_stopped 143
}

@test "keep-connected: a remote peer, which nobody here holds" {
	privileged 'TCP_REPAIR'
	serve -i 0.1 -g 0 -- 4
	client -v "4:$PORT"
	accepted
	orphan
	await_kept "a remote peer is connected to port $PORT"
	kill -KILL "$CLIENT"		# it has nothing to do with it any more
	lives_on 500 "$S"
	assert_lines "$ERR" . 1
	kill -TERM "$W"
	expect_stopped 143
}

@test "keep-connected: a client that leaves its connection to another is named" {
	serve -i 0.1 -g 0 -- 4
	# shellcheck disable=SC2016
	start bash -c 'exec 4<>"/dev/tcp/127.0.0.1/$0"
		sleep 300 & echo $! >heir; wait' "$PORT"
	CLIENT=$PID
	ERR=$BATS_TEST_TMPDIR/err.$((STARTED - 1))
	until_true '[ -s heir ]'
	track "$(cat heir)"
	# Both have it: the older one is found first.
	orphan
	await_kept "($CLIENT \(bash\)|$(cat heir) \(sleep\)) is connected to port $PORT"
	kill -KILL "$CLIENT"
	lives_on 500 "$S"
	assert_lines "$ERR" . 1
	kill -KILL "$(cat heir)"
	expect_stopped
}

# --- what does not ---------------------------------------------------------

@test "keep-connected: nobody is connected, or was only before" {
	serve -i 0.1 -g 0 -- 4 6 any6 "$SOCK" "@sock.$OWTEST_ID"
	expect_not_kept
	rm "$SOCK"
	serve -i 0.1 -g 0 -- 4 "$SOCK"
	client "4:$PORT"
	first=$CLIENT
	client "$SOCK"
	accepted 2
	kill -KILL "$first" "$CLIENT"
	await_gone "$first" "$CLIENT"
	expect_not_kept
}

@test "keep-connected: a server that listens on nothing" {
	owned --keep-connected -i 0.1 -g 0 -- server -l log
	expect_not_kept
}

@test "keep-connected: a connection of a child of the server" {
	for where in '4 4' '6 6' 'any4 4' 'any6 6' 'any6 4' 'any6 m' 'any4 m' \
		"$SOCK 4" "@sock.$OWTEST_ID 4"; do
		for more in '' -a; do
			rm -f "$SOCK"
			# shellcheck disable=SC2086
			serve -i 0.1 -g 0 -- $more -c "${where#* }" "${where% *}"
			expect_not_kept
			refute_alive "$(other)"
		done
	done
}

@test "keep-connected: connections of the tree that come and go during looks" {
	LIMIT=45
	mkfifo never
	# Of the oldest child the descriptors are the first to be listed, of the
	# others there are so many that the sockets come later. Looked at once, one
	# in twenty looks would take a new one for somebody's outside.
	IN=(bash -c '
		(
			until port=$(sed -n "s/^port //p" log) && [ "$port" ]; do
				sleep 0.02
			done 2>/dev/null
			while :; do
				exec 4<>"/dev/tcp/127.0.0.1/$port"
				read -r -t 0.25 <>never
				exec 4>&-
				read -r -t 0.01 <>never
			done
		) &
		for ((i = 20; i < 1000; i++)); do eval "exec $i</dev/null"; done
		for ((i = 0; i < 12; i++)); do sleep 300 & done
		exec "$@"' bash)
	serve -i 0.05 -g 4 -- -r 4
	accepted 3
	orphan
	expect_stopped
}

@test "keep-connected: a connection of a daemon of the server" {
	for where in '4 4' 'any6 m' "$SOCK 4"; do
		rm -f "$SOCK"
		serve -i 0.1 -g 0 -- -d "${where#* }" "${where% *}"
		expect_not_kept
		assert_alive "$(other)"
		kill -KILL "$(other)"
	done
}

@test "keep-connected: a child's connection beside one from outside" {
	serve -i 0.1 -g 0 -- -c 4 4
	client "4:$PORT"
	expect_kept
}

@test "keep-connected: what the tree is connected to elsewhere does not count" {
	start talk serve -l other any6
	await_line other '^ready '
	there=$(sed -n 's/^port //p' other)
	rm -f log
	owned --keep-connected -i 0.1 -g 0 -- \
		sh -c "talk to 4:$there & exec talk serve -l log 4"
	await_line other '^accepted '
	expect_not_kept
}

@test "keep-connected: somebody else's connections do not count" {
	start talk serve -l other 4
	await_line other '^ready '
	client "4:$(sed -n 's/^port //p' other)"
	serve -i 0.1 -g 0 -- 4
	expect_not_kept
}

@test "keep-connected: a peer that has half-closed" {
	for where in 4 6; do
		serve -i 0.1 -g 0 -- $where
		client -h "$where:$PORT"
		accepted
		expect_not_kept
		assert_alive "$CLIENT"
	done
}

@test "keep-connected: TIME_WAIT" {
	serve -i 0.1 -g 0 -- -1 4
	talk to -e "4:$PORT" >/dev/null
	hex=$(printf '0100007F:%04X' "$PORT")
	until_true "grep -q '$hex .* 06 ' /proc/net/tcp"
	expect_not_kept
}

# --- which ports -----------------------------------------------------------

# inherited OPTION [SHELL]: as serve, with two ports, P and Q, and $SOCK, which
# are open before ownerwrap starts, so that OPTION can name $PORT1 and $PORT2;
# SHELL is run before it
inherited() {
	rm -f log ports "$SOCK"
	start sleep 300
	O=$PID
	start talk open 4 4 "$SOCK" -- sh -c "${2-}
		echo \"\$PORT1 \$PORT2\" >ports
		exec \"\$0\" -p $O -i 0.1 -g 0 $1 -- talk serve -l log -i 3" "$OW"
	W=$PID
	S=$(server_pid log)
	track "$S"
	read -r P Q <ports
}

@test "keep-connected: listeners that the server was given count, too" {
	for where in P Q sock; do
		inherited --keep-connected
		case $where in
		sock) client "$SOCK"; where="$SOCK" ;;
		*) client "4:${!where}"; where="port ${!where}" ;;
		esac
		expect_kept "$where"
	done
}

@test "keep-connected: with ports, a connection to one of these counts" {
	for ports in '=$PORT1' '=$PORT1,9' '=9,$PORT2,$PORT1'; do
		inherited "--keep-connected$ports"
		client "4:$P"
		expect_kept "port $P"
	done
}

@test "keep-connected: with ports, others and Unix sockets do not count" {
	for ports in '=$PORT1' '=$PORT1,9' '=9'; do
		inherited "--keep-connected$ports"
		client "4:$Q"
		client "$SOCK"
		accepted 2
		expect_not_kept
	done
}

@test "keep-connected: OWNERWRAP_KEEP_CONNECTED, any and ports" {
	variable='export OWNERWRAP_KEEP_CONNECTED'
	for value in any '$PORT1' '9,$PORT1'; do
		inherited '' "$variable=$value"
		client "4:$P"
		expect_kept "port $P"
	done
	inherited '' "$variable=any"
	client "$SOCK"
	expect_kept "$SOCK"
	inherited '' "$variable=\$PORT1"
	client "4:$Q"
	client "$SOCK"
	accepted 2
	expect_not_kept
	inherited '' "$variable="
	client "$SOCK"
	accepted
	expect_not_kept
}

@test "keep-connected: the option replaces the variable" {
	inherited '--keep-connected=$PORT1' 'export OWNERWRAP_KEEP_CONNECTED=any'
	client "$SOCK"
	accepted
	expect_not_kept
	inherited --keep-connected 'export OWNERWRAP_KEEP_CONNECTED=$PORT1'
	client "4:$Q"
	expect_kept "port $Q"
}

RIGHT='must be any, or at most 64 port numbers with commas'

@test "keep-connected: a malformed list of ports is an error" {
	many=$(seq -s, 1 65)
	for ports in '' 0 x 70000 65536 -1 '80,' ,80 80,,81 80-90 ' 80' '80 ' 80,any \
		ANY 0x50 "$many"; do
		refused 125 "ownerwrap[touch]: --keep-connected $ports: $RIGHT" \
			"--keep-connected=$ports"
	done
	ow "--keep-connected=${many%,65}" touch started
	expect_status 0
	rm started
	ow --keep-connected=1,65535 touch started
	expect_status 0
}

@test "keep-connected: a malformed variable is a line, and no keeper" {
	for ports in 0 x 70000 '80,' ,80; do
		OWNERWRAP_KEEP_CONNECTED=$ports ow touch started
		expect_status 0
		expect_said "ownerwrap[touch]: OWNERWRAP_KEEP_CONNECTED=$ports: ignored, $RIGHT"
		rm started
	done
	export OWNERWRAP_KEEP_CONNECTED=0
	owned -i 0.1 -g 0 -- talk serve -l log 4
	client "4:$(port 1)"
	orphan
	expect_stopped
	assert_lines "$ERR" kept 0
}

@test "keep-connected: a value needs =, else it is the command" {
	ow --keep-connected touch started
	expect_status 0
	expect_said ''
	[ -e started ]
	PATH=/usr/bin:/bin ow -127 --keep-connected 9500 touch other
	expect_said_match '9500: not found'
	[ ! -e other ]
}

# --- where it can't work ---------------------------------------------------

WHY="can't work here: the sockets of processes can't be listed: --keep-if can ask by a command"

@test "keep-connected: with --scope process it is an error" {
	why="can't work here: with --scope process the server's tree is not known"
	refused 125 "ownerwrap[touch]: --keep-connected: $why" \
		--keep-connected --scope process
	refused 125 "ownerwrap[touch]: --keep-connected: $why" \
		--scope process --keep-connected=80
	export OWNERWRAP_KEEP_CONNECTED=80
	ow --scope process touch started
	expect_status 0
	expect_said "ownerwrap[touch]: OWNERWRAP_KEEP_CONNECTED=80: ignored, $why"
}

@test "keep-connected: the plain POSIX body says to use --keep-if" {
	plain_posix
	refused 125 "ownerwrap[touch]: --keep-connected: $WHY" --keep-connected
	OWNERWRAP_KEEP_CONNECTED=any ow touch started
	expect_status 0
	expect_said "ownerwrap[touch]: OWNERWRAP_KEEP_CONNECTED=any: ignored, $WHY"
}

@test "keep-connected: without /proc it says to use --keep-if" {
	nosan 'the sanitizer misses /proc, and says so'
	hide_proc
	run --separate-stderr "${HIDDEN[@]}" "$OW" -p $$ --keep-connected \
		touch started
	expect_status 125
	expect_said "ownerwrap[touch]: --keep-connected: $WHY"
	[ ! -e started ]
}

@test "keep-connected: with another pid namespace's /proc, too" {
	need unshare
	ns=(unshare -pf --kill-child)
	[ "$(id -u)" = 0 ] || ns=(unshare -Urpf --kill-child)
	"${ns[@]}" true 2>/dev/null || skip_or_fail 'needs pid namespaces'
	run --separate-stderr "${ns[@]}" sh -c '"$@"; exit $?' - "$OW" \
		--keep-connected touch started
	expect_status 125
	expect_said "ownerwrap[touch]: --keep-connected: $WHY"
	[ ! -e started ]
}

@test "keep-connected: where sockets can't be listed, it says so" {
	case $(uname -m) in
	x86_64) call=41 ;;
	aarch64) call=198 ;;
	*) skip 'the number of socket()' ;;
	esac
	run --separate-stderr deny EPERM "$call" -- "$OW" --keep-connected \
		touch started
	expect_status 125
	expect_said "ownerwrap[touch]: --keep-connected: $WHY"
	[ ! -e started ]
}

@test "keep-connected: while an owner lives it costs no wake-up" {
	nopoll 'it wakes up to look for the owner'
	serve -i 0.05 -- 4
	client "4:$PORT"
	accepted
	its_supervisor
	asleep "$W" "$SUP"
	before=$(switches "$W" "$SUP")
	let_pass 1500
	assert_equal "$(switches "$W" "$SUP")" "$before"
	kill -TERM "$W"
	expect_stopped 143
}

# --- network namespaces ----------------------------------------------------

# in_netns: the server will be in a network namespace of its own
in_netns() {
	privileged 'network namespaces'
	need unshare nsenter
	IN=(unshare -n)
}

@test "keep-connected: a connection in another network namespace is not seen" {
	in_netns
	for where in 4 "@sock.$OWTEST_ID"; do
		serve -i 0.1 -g 0 -- -u "$where"
		AS=(nsenter -t "$S" -n)
		case $where in
		@*) client "$where" ;;
		*) client "$where:$PORT" ;;
		esac
		accepted
		expect_not_kept
		kill -KILL "$CLIENT"
	done
}

@test "keep-connected: ... nor a client there of a path here" {
	in_netns
	AS=("${IN[@]}") IN=()
	serve -i 0.1 -g 0 -- "$SOCK"
	client "$SOCK"
	accepted
	expect_not_kept
	kill -KILL "$CLIENT"
}

@test "keep-connected: ... also where it is another server's of the same path" {
	in_netns
	AS=("${IN[@]}") IN=()
	serve -i 0.1 -g 0 -- "$SOCK"
	mkdir elsewhere
	cd elsewhere || return 1
	start_other "$SOCK"
	client "$SOCK"
	await_line other '^accepted '
	cd .. || return 1
	expect_not_kept
	kill -KILL "$CLIENT"
}

@test "keep-connected: another network namespace, nobody from outside" {
	in_netns
	serve -i 0.1 -g 0 -- -u 4 6 "$SOCK" "@sock.$OWTEST_ID"
	expect_not_kept
	for where in '4 4' '6 6' 'any6 m' 'any6 4'; do
		serve -i 0.1 -g 0 -- -u -c "${where#* }" "${where% *}"
		expect_not_kept
	done
	serve -i 0.1 -g 0 -- -u 4
	AS=(nsenter -t "$S" -n)
	client -h "4:$PORT"
	accepted
	expect_not_kept
}

@test "keep-connected: the same port in two network namespaces is two" {
	in_netns
	taken=1
	# Outside the same port may be taken.
	for ((i = 0; i < 5 && taken; i++)); do
		if [ "$i" != 0 ]; then
			kill -KILL "$S"
			await_gone "$W"
		fi
		serve -i 0.1 -g 0 -- -u 4
		rm -f other
		start_other "4:$PORT" && taken=0
	done
	assert_equal "$taken" 0 'taken ports'
	client "4:$PORT"
	await_line other '^accepted '
	expect_not_kept
}

# start_other WHERE: a server that has nothing to do with ours; its log: other
start_other() {
	talk serve -l other "$1" 2>other.err 3>&- &
	track $!
	until_true "has_line other '^ready ' || gone $!"
	has_line other '^ready '
}

@test "keep-connected: ownerwrap itself in another network namespace" {
	in_netns
	VIA=("${IN[@]}") IN=()
	serve -i 0.1 -g 0 -- -u 4
	AS=(nsenter -t "$S" -n)
	client "4:$PORT"
	expect_kept
}

# --- the grace -------------------------------------------------------------

@test "keep-connected: the default grace is 10 s (73)" {
	assert_plan "$(plan 'in 10s' 5s 10s)" --keep-connected
	assert_plan "$(plan 'in 3s' 5s 10s)" --keep-connected -g 3
	OWNERWRAP_KEEP_CONNECTED=80 assert_plan "$(plan 'in 10s' 5s 10s)"
	# Malformed, it is no keeper.
	OWNERWRAP_KEEP_CONNECTED=x assert_plan "$(plan 'in 2s' 5s 10s)"
}

@test "keep-connected: a client that comes back within the grace keeps it (73)" {
	serve -i 0.1 -g 2 -- 4
	client "4:$PORT"
	orphan
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	kill -KILL "$CLIENT"
	await_line "$ERR" 'kept no longer; stopping server'
	let_pass 1200
	client "4:$PORT"
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	lives_on 1000 "$S"			# the first grace would be over
	begin=$(now_ms)
	kill -KILL "$CLIENT"
	expect_stopped
	taken 2000 "$begin"
	said "owner $O \(.*\) is gone, kept no longer; stopping server $S \(TERM in 2s, .*\)" 2
	assert_lines "$ERR" . 4
}

@test "keep-connected: A is killed, B stays, reloads for 6 s, and goes (73)" {
	LIMIT=40
	serve -- 4			# all of the defaults
	client "4:$PORT"
	orphan
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	kill -KILL "$CLIENT"
	lives_on 6000 "$S"
	client "4:$PORT"
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	begin=$(now_ms)
	kill -KILL "$CLIENT"
	expect_stopped
	taken 10000 "$begin"
	within 16000 "$begin"		# 11 s, and what a slow machine needs
}

@test "keep-connected: either keeper is enough" {
	serve -i 0.1 -g 0 --keep-if "test -e $PWD/keep" -- 4
	client "4:$PORT"
	: >keep
	orphan
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	kill -KILL "$CLIENT"
	await_kept '--keep-if says so'
	assert_alive "$S"
	client "4:$PORT"
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	rm keep
	lives_on 300 "$S"
	kill -KILL "$CLIENT"
	expect_stopped
	said "owner $O \(.*\) is gone, kept no longer; stopping server $S \(.*\)"
	assert_lines "$ERR" . 4
}

# --- the front goes, the server goes ---------------------------------------

@test "keep-connected: A's SIGKILL of its front leaves B its server (73)" {
	for owner in alive gone; do
		rm -f wlog
		serve --log wlog -i 0.1 -g 0.5 -- 4
		its_supervisor
		client "4:$PORT"
		[ $owner = alive ] || orphan
		kill -KILL "$W"
		await_kept "$CLIENT \(talk\) is connected to port $PORT" wlog
		lives_on 600 "$S" "$SUP"
		begin=$(now_ms)
		kill -KILL "$CLIENT"
		await_gone "$SUP"
		taken 500 "$begin"
		refute_alive "$S"
		logged '.*, kept no longer; stopping server .* \(TERM in 0\.5s, KILL 5s later, 10s if others must be told\)'
	done
}

@test "keep-connected: the front killed and nobody connected: the ladder" {
	serve --log wlog -i 0.1 -g 0.3 -- 4
	its_supervisor
	begin=$(now_ms)
	kill -KILL "$W"
	await_gone "$SUP"
	taken 300 "$begin"
	refute_alive "$S"
	assert_alive "$O"
	logged "the front was killed; stopping server $S \(TERM in 0\.3s, .*\)"
}

@test "keep-connected: a kept server that ends is the end (73)" {
	serve -i 0.1 -g 60 -- 4
	client "4:$PORT"
	orphan
	await_kept '.*'
	kill -TERM "$S"
	expect_stopped 143
	assert_lines "$ERR" . 1
}

@test "keep-connected: --leftovers wait: a worker that is used is kept" {
	serve -i 0.1 -g 0 --leftovers wait -- -w 4
	worker=$(other)
	client "4:$PORT"
	kill -KILL "$S"
	await_line "$ERR" 'server ended and left 1 process: waited for'
	orphan
	await_kept "$CLIENT \(talk\) is connected to port $PORT"
	assert_alive "$worker" "$W"
	kill -KILL "$CLIENT"
	expect_stopped 137
	refute_alive "$worker"
}

@test "keep-connected: --leftovers leave: a worker that is used is kept" {
	serve --log wlog -i 0.1 -g 0 --leftovers leave -- -w 4
	worker=$(other)
	its_supervisor
	client "4:$PORT"
	kill -KILL "$S"
	expect_stopped 137
	orphan
	await_kept "$CLIENT \(talk\) is connected to port $PORT" wlog
	assert_alive "$worker" "$SUP"
	kill -KILL "$CLIENT"
	await_gone "$SUP" "$worker"
}

# --- the message -----------------------------------------------------------

@test "keep-connected: one line a change: who comes later is named later" {
	serve -i 0.1 -g 0.3 -- 4
	client "4:$PORT"
	first=$CLIENT
	orphan
	await_kept "$first \(talk\) is connected to port $PORT"
	client "4:$PORT"
	second=$CLIENT
	accepted 2
	lives_on 500 "$S"
	assert_lines "$ERR" . 1
	kill -KILL "$first"
	await_kept "$second \(talk\) is connected to port $PORT"
	assert_lines "$ERR" . 2
	kill -KILL "$second"
	expect_stopped
	assert_lines "$ERR" . 3
}

@test "keep-connected: the same port at another address is another server's" {
	serve -g 0.2 -i 0.1 -- 4
	start_other "6:$PORT"
	client "6:$PORT"
	orphan
	expect_stopped
	assert_lines "$ERR" 'kept' 0
}
