#!/usr/bin/env bats
# --owner-name: the owner is the nearest ancestor with this name. And shells
# with -c in between: the default owner is who started them.

load helper
bats_require_minimum_version 1.5.0

RIGHT_OWNER_NAME='the name of an ancestor, where processes can be listed; 64 at most'

# named NAME...: programs ./NAME, each the fixture `owner`; so the kernel, too,
# calls the process NAME
named() {
	local name
	for name; do
		[ -e "$name" ] || ln -s -- "$FIXTURES/owner" "$name"
	done
}

# under COMMAND...: ./my-editor starts it, and logs to ./host; sets EDITOR
under() {
	named my-editor
	rm -f host log
	start ./my-editor -l host "$@"
	EDITOR=$PID
}

# found NAME OPTION...: under ./my-editor, it counts as NAME; the server ends
found() {
	under "${@:2}" "$OW" -n "$1" -g 0 -- server -l log
	below_host
	kill -KILL "$EDITOR"
	ended_by_term
}

# --- who it is -----------------------------------------------------------------

@test "owner-name: the parent" {
	under "$OW" -v --owner-name my-editor -g 0 -- server -l log
	below_host
	said "server $SERVER started; owner $EDITOR \\(my-editor, up [0-9]+s\\), (watched by pidfd|polled every 0\\.1s)"
	lives_on 150 "$SERVER"
	kill -KILL "$EDITOR"
	ended_by_term
	said "owner $EDITOR \\(my-editor, up [0-9]+s\\) is gone; stopping server $SERVER \\(TERM now, KILL 5s later, 10s if others must be told\\)"
}

@test "owner-name: the nearest of several so called" {
	named my-editor agent
	start ./my-editor -z -l outer ./my-editor -z -l middle ./agent -z -l host \
		"$OW" -n my-editor -g 0 -- server -l log
	below_host
	kill -KILL "$(pid_in outer owner)" "$(pid_in host owner)"
	lives_on 250 "$SERVER"
	kill -KILL "$(pid_in middle owner)"
	ended_by_term
}

@test "owner-name: past shells, npx, a script; only its death counts (4, 70)" {
	named my-editor npx node
	cat >launch <<-'END'
		./node -z -l host "$OW" -n my-editor -g 0 -- server -l log
		exec sleep 300
	END
	# -z: who lives on when the one below has ended
	OW=$OW start ./my-editor -z -l outer sh -c './npx -z -l l.npx sh launch; exec sleep 300'
	EDITOR=$PID
	below_host
	track "$(pid_in l.npx cmd)"
	kill -KILL "$(pid_in l.npx owner)" "$(pid_in host owner)" "$(pid_in outer cmd)"
	lives_on 250 "$SERVER"
	assert_lines log '^TERM' 0
	kill -KILL "$EDITOR"
	ended_by_term
}

@test "owner-name: my-editor, sh, sh, ownerwrap: both shells live on" {
	export OW
	under sh -c '
		sh -c '\''
			"$OW" -n my-editor -g 0 -- server -l log & echo $! >front
			wait; exec sleep 300'\'' &
		echo $$ $! >shells
		wait; exec sleep 300'
	SERVER=$(server_pid log)
	FRONT=$(cat front)
	read -r -a shells <<<"$(cat shells)"
	track "$FRONT" "$SERVER" "${shells[@]}"
	assert_equal "$(ps -o ppid= -p "$FRONT" | tr -d ' ')" "${shells[1]}"
	lives_on 150 "$SERVER"
	kill -KILL "$EDITOR"
	ended_by_term
	assert_alive "${shells[@]}"
}

@test "owner-name: a launcher that lives on with the pipe hides nothing (4)" {
	mkfifo in
	export OW
	under sh -c '
		exec 8<>in
		"$OW" -n my-editor -g 0 -- server -l log -E <in & echo $! >front
		wait; exec sleep 300'
	SERVER=$(server_pid log)
	FRONT=$(cat front)
	launcher=$(pid_in host cmd)
	track "$FRONT" "$SERVER" "$launcher"
	kill -KILL "$EDITOR"
	ended_by_term
	assert_lines log '^eof$' 0
	assert_alive "$launcher"
}

@test "owner-name: pid 1 may be so called (6)" {
	need_pidns
	named my-editor
	start "${PIDNS[@]}" ./my-editor -l host sh -c '
		"$0" -v -n my-editor -g 0 -- server -l log -x 400 -e 3; exit $?' "$OW"
	finish "$PID"
	expect_status 3
	assert_lines log '^TERM' 0
	assert_lines "$ERR" '; owner 1 \(my-editor, up [0-9]+s\), ' 1
}

@test "owner-name: where a subreaper adopts (7)" {
	named my-editor
	start owner -r -l reaper ./my-editor -l host sh -c '
		"$0" -n my-editor -g 1.5 -- server -l log; exit $?' "$OW"
	reaper=$PID
	SERVER=$(server_pid log)
	shell=$(pid_in host cmd)
	track "$SERVER" "$shell"
	kill -KILL "$(pid_in host owner)"
	until_true "[ \"\$(ps -o ppid= -p $shell | tr -d ' ')\" = $reaper ]"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1
	finish "$reaper"
	assert_lines reaper "^adopted $shell ended 124$" 1
}

@test "owner-name: one that was gone before is not found (86)" {
	named my-editor
	start owner -r -l reaper ./my-editor -s -x 0 -a 150 "$OW" -n my-editor -- touch started
	finish "$PID"
	assert_lines reaper '^adopted [0-9]+ ended 124$' 1
	assert_lines "$ERR" "^ownerwrap\\[touch\\]: no ancestor is called my-editor: not started \\(the parent is $PID \\(owner\\)\\)\$" 1
	[ ! -e started ]
}

@test "owner-name: window, agent, host: who is named counts (70)" {
	named window agent helper
	start ./window -z -l l.window ./agent -z -l l.agent ./helper -z -l host \
		"$OW" -n agent -g 0 -- server -l log
	below_host
	for name in l.window host; do
		kill -KILL "$(pid_in $name owner)"
	done
	lives_on 250 "$SERVER"
	kill -KILL "$(pid_in l.agent owner)"
	ended_by_term
}

@test "owner-name: the spawner dies, the one named lives (72)" {
	named my-editor
	start ./my-editor -z -l editor sock pipes sh -c 'echo $PPID >spawner
		exec "$0" -n my-editor -g 0 -- server -l log' "$OW"
	EDITOR=$PID
	SERVER=$(server_pid log)
	FRONT=$(pid_in "$OUT" pid)
	track "$FRONT" "$SERVER"
	kill -KILL "$(cat spawner)"
	await_gone "$(cat spawner)"
	lives_on 300 "$SERVER" "$FRONT"
	assert_lines log '^(TERM|HUP|PIPE|INT)' 0
	kill -KILL "$EDITOR"
	ended_by_term
}

@test "owner-name: sh -c 'ownerwrap -n ... &' does not end with its shell (95)" {
	export OW
	under sh -c 'sh -c '\''"$OW" -n my-editor -g 0 -- server -l log & echo $! >front
		sleep 0.2; echo $$ >shell'\''; exec sleep 300'
	SERVER=$(server_pid log)
	FRONT=$(cat front)
	track "$FRONT" "$SERVER"
	await_line shell .
	await_gone "$(cat shell)"
	track "$(pid_in host cmd)"
	lives_on 250 "$SERVER"
	kill -KILL "$EDITOR"
	ended_by_term
	assert_lines "$ERR" 'to tie it to another' 0
}

@test "owner-name: another user's process" {
	as_nobody
	under "${NOBODY[@]}" "$OW" -n my-editor -g 0 -- server -l log
	below_host
	assert_equal "$(ps -o uid= -p "$SERVER" | tr -d ' ')" 65534
	kill -KILL "$EDITOR"
	ended_by_term
	start "${NOBODY[@]}" ./my-editor -l host2 "$OW" -n my-editor -g 0 -- server -l log2
	SERVER=$(server_pid log2)
	kill -KILL "$PID"
	await_gone "$SERVER" "$(pid_in host2 cmd)"
}

@test "owner-name: one that becomes another program is the same (13)" {
	# The name is looked at once; and the start's line has it.
	export OW
	start bash -c 'exec -a my-editor bash -c "
		\"\$OW\" -n my-editor -g 0 -- server -l log & echo \$! >front
		until [ -e go ]; do sleep 0.02; done; exec sleep 300"'
	SERVER=$(server_pid log)
	FRONT=$(cat front)
	track "$FRONT" "$SERVER"
	touch go
	await_program "$PID" sleep
	lives_on 250 "$SERVER"
	kill -KILL "$PID"
	ended_by_term
}

# --- what counts as its name ----------------------------------------------------

@test "owner-name: the kernel's name, cut at 15 bytes" {
	named a-language-server-of-mine
	for name in a-language-serv a-language-server-of-mine \
		a-language-server-of-yours a-language-servant; do
		rm -f host log
		start bash -c 'exec -a other ./a-language-server-of-mine "$@"' - \
			-l host "$OW" -n "$name" -g 0 -- server -l log
		below_host
		kill -KILL "$PID"
		ended_by_term
	done
	for name in a-language-ser a-language anguage-serv A-LANGUAGE-SERV \
		a-language-sers a-language-SERVER; do
		rm -f host
		start bash -c 'exec -a other ./a-language-server-of-mine "$@"' - \
			-l host "$OW" -n "$name" -- touch started
		not_started 124
	done
}

@test "owner-name: a name of exactly 15 bytes, of 14, of 16" {
	for name in exactly-15-byte exactly-14-byt exactly-16-bytes; do
		named "$name"
		rm -f host log
		start "./$name" -l host "$OW" -n "$name" -g 0 -- server -l log
		below_host
		kill -KILL "$PID"
		ended_by_term
	done
}

@test "owner-name: the basename of argv[0]" {
	named plain
	for name in fancy-editor a-fancy-editor-with-a-long-name; do
		rm -f host log
		start bash -c "exec -a /opt/fancy/$name ./plain \"\$@\"" - \
			-l host "$OW" -n $name -g 0 -- server -l log
		below_host
		kill -KILL "$PID"
		ended_by_term
	done
	for name in fancy-edito fancy-editors /opt/fancy/fancy-editor fancy fancy/fancy-editor; do
		rm -f host
		start bash -c 'exec -a /opt/fancy/fancy-editor ./plain "$@"' - \
			-l host "$OW" -n $name -- touch started
		not_started 124
	done
	# Without a slash, and the kernel's name is still there.
	for name in fancy plain; do
		rm -f host log
		start bash -c 'exec -a fancy ./plain "$@"' - \
			-l host "$OW" -n $name -g 0 -- server -l log
		below_host
		kill -KILL "$PID"
		ended_by_term
	done
}

@test "owner-name: a name may hold whatever a name can" {
	for name in 'my editor' '(sd-pam) x' ') S 1 1' $'a\nb' '-v' 'naïve'; do
		named "$name"
		rm -f host log
		start "./$name" -l host "$OW" "--owner-name=$name" -g 0 -- server -l log
		below_host
		kill -KILL "$PID"
		ended_by_term
		rm "./$name"
	done
}

@test "owner-name: other arguments of an ancestor are not its name" {
	named plain
	rm -f host
	GUISE="$OW"$'\n-n\nmy-editor\n--\ntouch\nstarted' \
		start guise my-editor /usr/bin/my-editor
	await_line "$ERR" 'no ancestor is called my-editor'
	[ ! -e started ]
}

@test "owner-name: ownerwrap itself, the server, a stranger do not count" {
	ln -s "$OWNERWRAP_BIN" unique-ow
	[ "$OW" != "$OWNERWRAP_BIN" ] || OW=$PWD/unique-ow
	export OWTEST_BIN=$PWD/unique-ow
	named my-editor
	start ./my-editor
	for name in unique-ow touch my-editor ow-supervisor; do
		ow -n $name -- touch started
		expect_status 124
		expect_said_match "^ownerwrap\[touch\]: no ancestor is called $name: not started \(the parent is "
		[ ! -e started ]
	done
}

@test "owner-name: an ownerwrap above counts, by its name" {
	# As two of them, one configured by the editor, one by the project.
	# The supervisor takes its name when the server has begun.
	start owner -l host "$OW" -g 0 -- sh -c '
		until [ "$(cat /proc/$PPID/comm)" = ow-supervisor ]; do sleep 0.02; done
		exec "$0" -n ow-supervisor -g 0 -- server -l log' "$OW"
	below_host
	kill -KILL "$PID"
	ended_by_term
}

@test "owner-name: the 64th ancestor is seen, the 65th is not" {
	local chain=()
	named my-editor
	for ((i = 0; i < 62; i++)); do
		chain+=(owner)
	done
	start ./my-editor "${chain[@]}" owner -l host "$OW" -n my-editor -g 0 -- server -l log
	below_host
	kill -KILL "$PID"
	ended_by_term
	rm host
	start ./my-editor "${chain[@]}" owner owner -l host "$OW" -n my-editor -- touch started
	not_started 124
	assert_lines "$ERR" 'no ancestor is called my-editor' 1
}

# --- behind an interpreter ------------------------------------------------------

# behind NAME WORD...: a process of this argv starts ownerwrap, and is NAME
behind() {
	N=$((${N-0} + 1))
	GUISE="$OW"$'\n-n\n'"$1"$'\n-g\n0\n--\n'"$FIXTURES/server"$'\n-l\nlog.'$N \
		start bash -c 'exec -a "$1" guise "${@:2}"' - "${@:2}"
	HOSTS+=("$PID")
	GUISES+=("$*")
}

@test "owner-name: the script of an interpreter is its name (108)" {
	behind codex node /opt/bin/codex
	behind codex /usr/bin/nodejs --inspect -r ./x --import y /opt/bin/codex -e x
	behind aider python3.11 -W ignore -u bin/aider
	behind jupyterlab python3 -m jupyterlab
	behind solargraph ruby3.1 -I lib -W0 /usr/bin/solargraph stdio
	behind ack perl -MStrict -w ack
	behind agent.ts bun run ./agent.ts
	behind agent.ts deno run --allow-net agent.ts
	behind start.sh bash -e ./start.sh
	behind npm 'npm run dev'
	behind npm 'npm exec @scope/server'
	behind xonsh python3 /usr/bin/xonsh -i
	for ((i = 1; i <= N; i++)); do
		SERVERS+=("$(server_pid log.$i)") || fail "${GUISES[i - 1]}: $(cat err.$i)"
	done
	kill -KILL "${HOSTS[@]}"
	await_gone "${SERVERS[@]}"
}

@test "owner-name: other words of an interpreter's are not its name (108)" {
	behind codex node app.js codex
	behind codex node -e codex
	behind codex node -r codex app.js
	behind codex python3 -c codex
	behind codex node /opt/codex/app.js
	behind codex node codex.js
	behind codex vim codex
	behind codex bash -c codex
	behind codex bash -s codex
	behind dev 'npm run dev'
	for ((i = 1; i <= N; i++)); do
		await_line err.$i 'no ancestor is called' || fail "${GUISES[i - 1]}"
		[ ! -e log.$i ] || fail "${GUISES[i - 1]}"
	done
}

@test "owner-name: a real script, by its first line (108)" {
	local line
	mkdir bin
	for line in '#!/usr/bin/env python3' '#!/usr/bin/python3 -u' \
		'#!/usr/bin/env -S python3 -u'; do
		rm -f log
		printf '%s\n' "$line" 'import subprocess, sys' \
			'subprocess.call(sys.argv[1:])' >bin/an-agent-with-a-long-name
		chmod +x bin/*
		start bin/an-agent-with-a-long-name "$OW" \
			-n an-agent-with-a-long-name -v -g 0 -- server -l log
		SERVER=$(server_pid log)
		assert_lines "$ERR" "; owner $PID " 1
		kill -KILL "$PID"
		await_gone "$SERVER"
	done
}

# --- none -----------------------------------------------------------------------

@test "owner-name: none: 124, and the parent" {
	named my-editor npx
	start ./my-editor -l editor ./npx -l host "$OW" -n emacs -- touch started
	not_started 124
	assert_lines "$ERR" "^ownerwrap\\[touch\\]: no ancestor is called emacs: not started \\(the parent is $(pid_in host owner) \\(npx\\)\\)\$" 1
	assert_lines "$ERR" . 1
}

@test "owner-name: none of several: 124, and each name" {
	named my-editor
	start ./my-editor -l host "$OW" -n emacs -n nvim --any -n code -- touch started
	not_started 124
	assert_lines "$ERR" "^ownerwrap\\[touch\\]: no ancestor is called emacs or nvim or code: not started \\(the parent is $PID \\(my-editor\\)\\)\$" 1
	assert_lines "$ERR" . 1
}

@test "owner-name: the chain ends where the pid namespace does (64)" {
	need_pidns
	named my-editor inside
	start ./my-editor "${PIDNS[@]}" ./inside "$OW" -n my-editor -- touch started
	finish "$PID"
	expect_status 124
	assert_equal "$(cat "$ERR")" 'ownerwrap[touch]: no ancestor is called my-editor: not started (the parent is 1 (inside))'
	[ ! -e started ]
}

@test "owner-name: with ppid 0 there is nobody to be named (87)" {
	need_pidns
	run --separate-stderr in_pidns "$OW" -n my-editor -- touch started
	expect_status 124
	expect_output ''
	expect_said_match '^ownerwrap\[touch\]: no ancestor is called my-editor: not started'
	[ ! -e started ]
}

@test "owner-name: -q keeps the line of a start that is refused" {
	ow -q -n no-such-editor -- touch started
	expect_status 124
	assert_equal "${#stderr_lines[@]}" 1
	[ ! -e started ]
}

# --- several ----------------------------------------------------------------------

@test "owner-name: those not found are skipped, with a line under -v" {
	under "$OW" -v -n emacs -n my-editor -n code -g 0 -- server -l log
	below_host
	said 'no ancestor is called emacs: skipped'
	said 'no ancestor is called code: skipped'
	said 'no ancestor is called .*' 2
	said "server $SERVER started; owner $EDITOR \\(my-editor, up [0-9]+s\\), .*"
	kill -KILL "$EDITOR"
	ended_by_term

	under "$OW" -n emacs -n my-editor -g 0 -- server -l log
	below_host
	assert_equal "$(cat "$ERR")" ''
	kill -KILL "$EDITOR"
	ended_by_term
}

@test "owner-name: those not found count for nothing with --any, too" {
	under "$OW" --any -n emacs -n my-editor -g 0 -- server -l log
	below_host
	lives_on 150 "$SERVER"
	kill -KILL "$EDITOR"
	ended_by_term
}

@test "owner-name: two that are found: the last one counts, with --any the first" {
	named my-editor agent
	for any in '' --any; do
		rm -f log host
		# shellcheck disable=SC2086
		start ./my-editor -z ./agent -z -l host \
			"$OW" $any -n my-editor -n agent -g 0 -- server -l log
		below_host
		kill -KILL "$PID"
		if [ -z "$any" ]; then
			lives_on 250 "$SERVER"
			kill -KILL "$(pid_in host owner)"
		fi
		ended_by_term
		kill -KILL "$(pid_in host owner)" 2>/dev/null || :
	done
}

@test "owner-name: the same name twice, two names of one: one owner" {
	named my-editor
	start bash -c 'exec -a editor2 ./my-editor "$@"' - -l host \
		"$OW" -v -n my-editor -n my-editor -n editor2 -g 0 -- server -l log
	below_host
	said "server $SERVER started; owner $PID \\(my-editor, up [0-9]+s\\), (watched by pidfd|polled every 0\\.1s)"
	held_once "$PID"
	kill -KILL "$PID"
	ended_by_term
}

@test "owner-name: 64 names are possible, 65 are an error" {
	local many=()
	for ((i = 0; i < 63; i++)); do
		many+=(-n "nobody-$i")
	done
	under "$OW" "${many[@]}" -n my-editor -g 0 -- server -l log
	below_host
	kill -KILL "$EDITOR"
	ended_by_term
	refused 125 "ownerwrap[touch]: -n b: must be $RIGHT_OWNER_NAME" \
		"${many[@]}" -n a -n b --
}

# --- options and variables ---------------------------------------------------------

@test "owner-name: an empty one is an error, one without a value too" {
	refused 125 "ownerwrap[touch]: --owner-name : must be $RIGHT_OWNER_NAME" \
		--owner-name '' --
	refused 125 "ownerwrap[touch]: --owner-name : must be $RIGHT_OWNER_NAME" \
		--owner-name= --
	run "$OW" -n
	expect_status 125
}

@test "owner-name: the variable, of one value" {
	export OWNERWRAP_OWNER_NAME=my-editor
	under "$OW" -g 0 -- sh -c 'echo "${OWNERWRAP_OWNER_NAME-unset}" >variable; exec server -l log'
	unset OWNERWRAP_OWNER_NAME
	below_host
	assert_equal "$(cat variable)" unset
	kill -KILL "$EDITOR"
	ended_by_term
	OWNERWRAP_OWNER_NAME='' ow -- true
	expect_status 0
	expect_said ''
	OWNERWRAP_OWNER_NAME='my-editor emacs' ow -- touch started
	expect_status 124
	expect_said_match 'no ancestor is called my-editor emacs: not started'
	[ ! -e started ]
}

@test "owner-name: the variables of a name and a pid name two owners" {
	new_owner
	export OWNERWRAP_OWNER_NAME=my-editor OWNERWRAP_OWNER_PID=$OWNER
	under "$OW" -g 0 -- server -l log
	unset OWNERWRAP_OWNER_NAME OWNERWRAP_OWNER_PID
	below_host
	kill -KILL "$EDITOR"
	lives_on 250 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term
}

@test "owner-name: an option replaces all variables that name owners" {
	new_owner
	exec 9<&-
	export OWNERWRAP_OWNER_PID=$OWNER OWNERWRAP_OWNER_FD=9 OWNERWRAP_OWNER_NAME=emacs
	under "$OW" -v -n my-editor -g 0 -- server -l log
	below_host
	said "server $SERVER started; owner $EDITOR \\(my-editor, up [0-9]+s\\), .*"
	assert_lines "$ERR" 'OWNERWRAP_|skipped' 0
	kill -KILL "$EDITOR"
	ended_by_term
	under "$OW" -v -p "$OWNER" -g 0 -- server -l log
	unset OWNERWRAP_OWNER_NAME OWNERWRAP_OWNER_PID OWNERWRAP_OWNER_FD
	below_host
	assert_lines "$ERR" 'emacs|skipped|OWNERWRAP_' 0
	kill -KILL "$EDITOR"
	lives_on 250 "$SERVER"
	kill -KILL "$OWNER"
	ended_by_term
}

@test "owner-name: where processes can't be listed: 125, a variable is one line" {
	nosan 'the sanitizer misses /proc, and says so'
	hide_proc
	run --separate-stderr "${HIDDEN[@]}" "$OW" -n my-editor -- touch started
	expect_status 125
	expect_said "ownerwrap[touch]: -n my-editor: must be $RIGHT_OWNER_NAME"
	[ ! -e started ]
	OWNERWRAP_OWNER_NAME=my-editor run --separate-stderr "${HIDDEN[@]}" "$OW" -- true
	expect_status 0
	expect_said "ownerwrap[true]: OWNERWRAP_OWNER_NAME=my-editor: ignored, must be $RIGHT_OWNER_NAME"
}

@test "owner-name: the plain POSIX build: 125, a variable is one line" {
	plain_posix
	refused 125 "ownerwrap[touch]: -n my-editor: must be $RIGHT_OWNER_NAME" \
		-n my-editor --
	OWNERWRAP_OWNER_NAME=my-editor ow -- true
	expect_status 0
	expect_said "ownerwrap[true]: OWNERWRAP_OWNER_NAME=my-editor: ignored, must be $RIGHT_OWNER_NAME"
}

# --- sh -c in every spelling ----------------------------------------------------------

# guise ARGV...: a host starts a process of this argv, which starts ownerwrap
# and lives on
guise() {
	N=$((${N-0} + 1))
	GUISE="$OW"$'\n-g\n0\n--\n'"$FIXTURES/server"$'\n-l\nlog.'$N \
		start owner -l host.$N bash -c 'exec -a "$1" guise "${@:2}"' - "$@"
	HOSTS+=("$PID")
	GUISES+=("$*")
}

# kill_hosts: waits for all servers, kills all hosts; sets SERVERS, SHELLS
kill_hosts() {
	SERVERS=() SHELLS=()
	for ((i = 1; i <= N; i++)); do
		SERVERS+=("$(server_pid log.$i)") || fail "${GUISES[i - 1]}"
		SHELLS+=("$(pid_in host.$i cmd)")
	done
	track "${SHELLS[@]}"
	kill -KILL "${HOSTS[@]}"
}

expect_looked_through() {
	kill_hosts
	for ((i = 0; i < N; i++)); do
		await_gone "${SERVERS[i]}" || fail "not looked through: ${GUISES[i]}"
		assert_alive "${SHELLS[i]}"
	done
}

expect_taken_literally() {
	kill_hosts
	let_pass 250
	for ((i = 0; i < N; i++)); do
		alive "${SERVERS[i]}" || fail "looked through: ${GUISES[i]}"
	done
	kill -KILL "${SHELLS[@]}"
	await_gone "${SERVERS[@]}"
}

@test "owner-name: by default sh -c is looked through: every shell" {
	for shell in sh dash bash ash ksh zsh -zsh /bin/ksh /usr/local/bin/ash -bash; do
		guise $shell -c 'a command'
	done
	expect_looked_through
}

@test "owner-name: by default sh -c is looked through: busybox" {
	guise busybox sh -c 'a command'
	guise busybox ash -c 'a command'
	guise /bin/busybox sh -ec 'a command'
	guise /bin/busybox ash -e -c 'a command'
	expect_looked_through
}

@test "owner-name: by default sh -c is looked through: every spelling" {
	guise sh -lc 'a command'
	guise sh -ce 'a command'
	guise sh -exc 'a command' name argument
	guise sh -e -u -c 'a command'
	guise dash -ec 'a command'
	guise bash --norc -c 'a command'
	guise bash --login --noprofile -c 'a command'
	guise bash --rcfile -c -c 'a command'
	guise bash --init-file x -c 'a command'
	guise bash -o pipefail -c 'a command'
	guise bash -eo pipefail -c 'a command'
	guise bash +o posix -c 'a command'
	expect_looked_through
}

@test "owner-name: by default sh -c is looked through: ksh and zsh spell it" {
	guise ksh -lc 'a command'
	guise ksh -o pipefail -c 'a command'
	guise zsh -fc 'a command'
	guise zsh -o extendedglob -c 'a command'
	guise zsh -lic 'a command'
	guise bash +x -c 'a command'
	guise bash +O extglob -c 'a command'
	guise bash -c -e 'a command'
	expect_looked_through
}

@test "owner-name: by default shells are looked through: what they are called (102)" {
	local shell
	for shell in ksh93 bash-static bash-5.2 rbash zsh-5.9 mksh yash osh \
		tcsh csh rc rzsh; do
		guise $shell -c 'a command'
	done
	guise csh -fc 'a command'
	guise fish -c 'a command'
	guise fish -C 'an init command' -c 'a command'
	guise fish --no-config --command='a command'
	expect_looked_through
}

@test "owner-name: by default shells are looked through: what -c is called (102)" {
	guise fish --features x -ic 'a command'
	guise nu --config x --commands 'a command'
	guise nu -c 'a command'
	guise elvish -norc -c 'a command'
	guise elvish -rc x -c 'a command'
	guise xonsh -c 'a command'
	guise python3.11 /usr/bin/xonsh --no-rc -c 'a command'
	guise pwsh -NoProfile -ExecutionPolicy Bypass -Command 'a command'
	guise pwsh -nop -c 'a command'
	guise yash --cmd-line 'a command'
	expect_looked_through
}

@test "owner-name: by default a shell with a script is looked through (103)" {
	guise sh start.sh
	guise sh start.sh -c 'an argument'
	guise sh -e start.sh -s
	guise bash --norc start.sh -c x
	guise bash --rcfile start.sh script -c
	guise bash -o errexit script -i
	guise sh - -c x
	guise busybox sh start.sh -c
	guise fish -C echo start.fish
	guise pwsh -ExecutionPolicy Bypass -File start.ps1
	guise python3 /usr/bin/xonsh start.xsh
	expect_looked_through
}

@test "owner-name: a shell that reads its commands is taken literally" {
	guise sh -s -- -c x
	guise sh -s script
	guise bash -i script
	guise bash -l
	guise bash --rcfile x
	guise bash --
	guise sh
	guise -zsh
	guise fish -C 'an init command'
	guise nu -e 'an init command'
	guise elvish -norc
	guise pwsh -NoLogo -Interactive
	guise python3 /usr/bin/xonsh
	expect_taken_literally
}

@test "owner-name: what is only like a shell is taken literally" {
	guise busybox
	guise busybox -c 'a command'
	guise busybox httpd -c file
	guise node -c 'a command'
	guise python3 -c 'a command'
	guise fish.sh -c 'a command'
	guise /opt/sh/editor -c x
	guise sh-editor -c x
	guise wish -c x
	guise tclsh script
	guise '' -c x
	expect_taken_literally
}

@test "owner-name: launchers are looked through: titles, interpreters (103)" {
	guise 'npm run dev'
	guise 'npm exec @scope/server'
	guise node /usr/bin/npm run dev
	guise /usr/bin/node --no-warnings -r ./x /usr/bin/pnpm dev
	guise python3.11 -I /usr/bin/pipx run server
	guise python3 -m pipx run server
	guise go run ./server
	guise busybox timeout 5 server
	guise dbus-run-session -- server
	guise sudo -u me server
	expect_looked_through
}

@test "owner-name: what is only like a launcher is taken literally (103)" {
	guise python3 make.py
	guise make.py
	guise node npm.js
	guise node app.js npm
	guise 'my npm'
	guise go build run
	guise go
	guise node -e npm
	guise remake
	guise timeouts 5
	guise env make
	expect_taken_literally
}

@test "owner-name: two shells in a row, each its own spelling" {
	cat >inner <<-'END'
		export GUISE=$OW$'\n-g\n0\n--\nserver\n-l\nlog'
		echo $$ >zsh
		exec -a zsh guise -fc 'a command'
	END
	OW=$OW GUISE=$'bash\ninner' start owner -l host \
		bash -c 'exec -a busybox guise ash -c "a command"'
	SERVER=$(server_pid log)
	track "$(pid_in host cmd)" "$(cat zsh)"
	kill -KILL "$PID"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1
}

@test "owner-name: an option that names a shell takes it literally" {
	# -n sh is the shell, though it was started with -c.
	export OW
	under sh -c '"$OW" -n sh -g 0 -- server -l log; exec sleep 300'
	SERVER=$(server_pid log)
	shell=$(pid_in host cmd)
	track "$SERVER" "$shell"
	kill -KILL "$EDITOR"
	lives_on 250 "$SERVER"
	kill -KILL "$shell"
	await_gone "$SERVER"
	assert_lines log '^TERM from ' 1
}
