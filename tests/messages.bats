#!/usr/bin/env bats
# What is said, to whom, and in which form.

load helper
bats_require_minimum_version 1.5.0

PLAN_NOW='TERM now, KILL 5s later, 10s if others must be told'
WATCHED='(watched by (pidfd|kqueue)|polled every 0.1s)'
STAMP='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z'

# line ERE [COUNT]: so many lines of $ERR are this one, with the prefix
line() {
	assert_lines "$ERR" "^ownerwrap\\[server\\]: $1\$" "${2-1}"
}

# serve [OPTION...] -- [SERVER OPTION...]: wrap, with an OWNER
serve() {
	new_owner
	wrap --owner-pid "$OWNER" "$@"
}

@test "messages: -v says who owns the server and how that is watched" {
	serve -v --
	line "server $SERVER started; owner $OWNER \\(sleep, up [0-9]+s\\), $WATCHED"
	kill -TERM "$FRONT"
	finish "$FRONT"
	line "TERM relayed; sender $$ \\(bash\\)"
	assert_equal "$(wc -l <"$ERR")" 2
}

@test "messages: each owner is named" {
	new_owner
	first=$OWNER
	serve -v -g 0 -p "$first" --
	line "server $SERVER started; owner ($first|$OWNER) \\(sleep, up [0-9]+s\\), ($first|$OWNER) \\(sleep, up [0-9]+s\\), $WATCHED"
	kill -KILL "$first" "$OWNER"
	finish "$FRONT"
	line "owners ($first|$OWNER) \\(sleep, up [0-9]+s\\), ($first|$OWNER) \\(sleep, up [0-9]+s\\) are gone; stopping server $SERVER \\(TERM now, KILL 5s later, 10s if others must be told\\)"
}

@test "messages: with --any the one that is gone is named" {
	new_owner
	first=$OWNER
	serve --any -g 0 -p "$first" --
	kill -KILL "$first"
	finish "$FRONT"
	line "owner $first \\(sleep, up [0-9]+s\\) is gone, not [0-9]+ \\(sleep, up [0-9]+s\\); stopping server $SERVER \\($PLAN_NOW\\)"
}

@test "messages: a stop for want of an owner tells its plan, and force is told" {
	serve -g 0.1 -k 0.2 -- -d
	kill -KILL "$OWNER"
	finish "$FRONT"
	line "owner $OWNER \\(sleep, up [0-9]+s\\) is gone; stopping server $SERVER \\(TERM in 0.1s, KILL 0.2s later, 0.4s if others must be told\\)"
	still_there "$ERR" "$SERVER" TERM 200
	assert_equal "$(wc -l <"$ERR")" 2
}

@test "messages: a default owner that ends at once was not meant (95)" {
	start owner -x 300 "$OW" -g 0 -- server -l log
	owner=$PID
	server=$(server_pid log)
	finish "$owner"
	await_gone "$server"
	until_true "[ -s $ERR ]"
	line "owner $owner \\(owner, up [0-9]+s\\) ended after 0\\.[0-9]+s; stopping server $server \\($PLAN_NOW\\); to tie it to another process: --owner-pid PID"
}

@test "messages: a default owner that ends within 100 ms has not ended after 0s (95)" {
	for ((i = 0; i < 20; i++)); do
		# shellcheck disable=SC2016
		start sh -c '"$1" -g 0 -- sh -c "kill -KILL $$; exec sleep 300"; :' \
			sh "$OW"
		await_line "$ERR" "owner $PID .*; stopping server [0-9]+ \\($PLAN_NOW\\)"
		assert_lines "$ERR" ' after 0s' 0
		await_gone "$(sed -n 's/.*stopping server \([0-9]*\) .*/\1/p' "$ERR")"
	done
}

@test "messages: a default owner that ends at once, and its server is kept" {
	: >keep
	start owner -x 500 "$OW" -i 0.02 -g 0 --keep-if "test -e $PWD/keep" -- \
		server -l log
	owner=$PID
	await_line "$ERR" 'kept: --keep-if says so'
	rm keep
	await_gone "$(server_pid log)"
	await_line "$ERR" "owner $owner \\(owner, up [0-9]+s\\) is gone, kept no longer; stopping"
}

@test "messages: a killed front is told" {
	serve --
	kill -KILL "$FRONT"
	await_gone "$SERVER"
	line "the front was killed; stopping server $SERVER \\(TERM now, KILL 2s later, 4s if others must be told\\)"
}

@test "messages: a killed supervisor is told" {
	serve --
	kill -KILL "$(supervisor_of "$FRONT")"
	finish "$FRONT"
	expect_status 0
	line "the supervisor was killed; stopping server $SERVER \\($PLAN_NOW\\)"
}

@test "messages: a stop that was asked for is told under -v only" {
	serve -v -k 5 --
	kill -TERM "$FRONT"
	finish "$FRONT"
	line "a signal asks for it; stopping server $SERVER \\($PLAN_NOW\\)"
	rm log
	serve -k 5 --
	kill -TERM "$FRONT"
	finish "$FRONT"
	[ ! -s "$ERR" ]
}

@test "messages: who is spared is named" {
	serve -g 0 -- -g setsid
	spared=$(child_pid log setsid)
	track "$spared"
	kill -KILL "$OWNER"
	finish "$FRONT"
	line "left running as daemons: $spared \\(server\\); --scope tree stops them"
	kill -KILL "$spared"
}

@test "messages: who belongs to another user is named" {
	as_nobody
	need setpriv
	chmod 1777 .
	cp "$(command -v sleep)" ./stranger
	cp "$(command -v setpriv)" ./become
	chmod u+s become
	new_owner
	start "${NOBODY[@]}" "$OW" -g 0 -p "$OWNER" -- \
		sh -c './become --reuid 0 --clear-groups ./stranger 300 & echo $! >pid; wait'
	until_true '[ "$(pgrep -x stranger -P "$(pgrep -P "$(supervisor_of "$PID")" -x sh)")" = "$(cat pid)" ]'
	track "$(cat pid)"
	kill -KILL "$OWNER"
	finish "$PID"
	assert_lines "$ERR" "^ownerwrap\\[sh\\]: left running, not ours to end: $(cat pid) \\(stranger\\)\$" 1
	kill -KILL "$(cat pid)"
}

@test "messages: a signal that can't be relayed is told" {
	as_nobody
	need setpriv
	cp "$(command -v setpriv)" ./become
	chmod u+s become
	start "${NOBODY[@]}" "$OW" -- ./become --reuid 0 --clear-groups server -l log -x 500
	server_pid log >/dev/null
	kill -USR1 "$PID"
	finish "$PID"
	expect_status 0
	assert_equal "$(cat "$ERR")" "ownerwrap[become]: USR1 can't be relayed: Operation not permitted"
}

@test "messages: -q keeps all of that off stderr" {
	serve -q -g 0 -k 0.2 -- -d -g setsid
	spared=$(child_pid log setsid)
	track "$spared"
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	[ ! -s "$ERR" ]
	kill -KILL "$spared"
	OWNERWRAP_GRACE=x ow -q -- sh -c 'sleep 300 & exit 3'
	expect_status 3
	expect_said ""
}

@test "messages: -q leaves the line of a refused start, 124 to 127" {
	ow -q -p $$:1 -- true
	expect_status 124
	assert_equal "${#stderr_lines[@]}" 1
	ow -q -g x -- true
	expect_status 125
	assert_equal "${#stderr_lines[@]}" 1
	mkdir dir
	ow -q -- ./dir
	expect_status 126
	assert_equal "${#stderr_lines[@]}" 1
	ow -127 -q -- ./missing
	assert_equal "${#stderr_lines[@]}" 1
	ow -q
	expect_status 125
	assert_equal "${#stderr_lines[@]}" 1
}

@test "messages: of -q and -v the last wins" {
	for options in '-q -v' '-qv' '--quiet --verbose' '-v -q -v' '-vqv'; do
		# shellcheck disable=SC2086
		ow $options -- true
		expect_said_match ' started; '
	done
	for options in '-v -q' '-vq' '--verbose --quiet' '-q -v -q'; do
		# shellcheck disable=SC2086
		OWNERWRAP_GRACE=x ow $options -- true
		expect_said ""
	done
}

@test "messages: the name is the last part of the command, cut to 64" {
	mkdir -p a/b
	long=$(head -c 100 /dev/zero | tr '\0' n)
	ln -s "$(type -P true)" a/b/tool
	printf '#!/bin/sh\n' >"a/$long"
	chmod +x "a/$long"
	ow -v -- a/b/tool
	expect_said_match '^ownerwrap\[tool\]: server '
	ow -v -- "a/$long"
	expect_said_match "^ownerwrap\\[n{63,64}\\]: server "
	ow -126 -- /
	expect_said_match '^ownerwrap\['
	ow -127 -- a/none/
	expect_said_match '^ownerwrap\[[^]]*\]: a/none/: not found'
}

@test "messages: bytes that a terminal would obey are made harmless" {
	name=$'evil\e[31m\n\r\t\x7f'
	printf '#!/bin/sh\nexit 5\n' >"$name"
	chmod +x "$name"
	ow -v -- ./"$name"
	expect_status 5
	assert_equal "${#stderr_lines[@]}" 1
	expect_said_match '^ownerwrap\[evil\?\[31m\?\?\?\?\]: server '
	ow -127 -- ./"missing$name"
	expect_said "ownerwrap[missingevil?[31m????]: ./missingevil?[31m????: not found, or its interpreter is not"
	ow --grace "$name" -- true
	expect_said_match '^ownerwrap\[true\]: --grace evil\?\[31m\?\?\?\?: must be '
	OWNERWRAP_GRACE=$name ow -- true
	expect_said_match '^ownerwrap\[true\]: OWNERWRAP_GRACE=evil\?\[31m\?\?\?\?: ignored, '
	ow $'--\e[31m' true
	expect_said_match '^ownerwrap: unknown option --\?\[31m \('
	# Names of processes are other people's bytes, too.
	cp "$(command -v sleep)" $'own\n\eer'
	owner=./$'own\n\eer'
	"$owner" 300 3>&- &
	owner=$!
	track "$owner"
	until_true "grep -q ^own /proc/$owner/comm"
	ow -v -p "$owner" -- true
	expect_said_match "; owner $owner \\(own\\?\\?er, up [0-9]+s\\), "
	assert_equal "${#stderr_lines[@]}" 1
}

@test "messages: a long one is cut, and is still one line" {
	PATH=/bin:/usr/bin:$(head -c 5000 /dev/zero | tr '\0' x) ow -127 -- nothing-here
	assert_equal "${#stderr_lines[@]}" 1
	[ "${#stderr}" -lt 4096 ]
	expect_said_match '^ownerwrap\[nothing-here\]: nothing-here: not found in PATH='
	"$OW" --grace "$(head -c 5000 /dev/zero | tr '\0' x)" true 2>err || true
	assert_equal "$(wc -l <err)" 1
	"$OW" --log log --grace "$(head -c 5000 /dev/zero | tr '\0' x)" true 2>err || true
	assert_equal "$(wc -l <log)" 1
}

@test "messages: percent signs are only that" {
	ow --grace '%s%n%d' true
	expect_said "ownerwrap[true]: --grace %s%n%d: must be $RIGHT_GRACE"
	PATH=/usr/bin:/bin ow -127 -- '%s%s%n'
	expect_said "ownerwrap[%s%s%n]: %s%s%n: not found in PATH=/usr/bin:/bin"
}

@test "log: each message is a line with time and pid, appended" {
	echo before >out.log
	TZ=Asia/Tokyo ow --log out.log -- sh -c 'kill -USR2 $PPID; sleep 0.1; exit 3'
	expect_status 3
	expect_said ""
	assert_equal "$(head -n 1 out.log)" before
	assert_lines out.log "^$STAMP [0-9]+ ownerwrap\\[sh\\]: server [0-9]+ started; owner .*, $WATCHED\$" 1
	# UTC, now: minutes may have passed, but not nine hours.
	then=$(sed -n '2s/ .*//p' out.log)
	age=$(($(date +%s) - $(date -d "$then" +%s)))
	[ "$age" -ge -1 ]
	[ "$age" -lt 600 ]
	ow --log out.log -- sh -c 'exit 3'
	assert_equal "$(head -n 1 out.log)" before
	assert_lines out.log ' started; ' 2
}

@test "log: the pid is of the process that says it" {
	serve --log out.log -k 5 --
	supervisor=$(supervisor_of "$FRONT")
	assert_lines out.log "^$STAMP $supervisor ownerwrap\\[server\\]: server $SERVER started; " 1
	kill -KILL "$supervisor"
	finish "$FRONT"
	assert_lines out.log "^$STAMP $FRONT ownerwrap\\[server\\]: the supervisor was killed; " 1
}

@test "log: it gets everything as under -v, also with -q" {
	for options in -q -v ''; do
		rm -f log out.log
		# shellcheck disable=SC2086
		OWNERWRAP_SIGNAL=x serve $options --log out.log -g 0 -k 0.2 -- -d
		kill -USR1 "$FRONT"
		await_line log '^USR1 '
		kill -KILL "$OWNER"
		finish "$FRONT"
		assert_equal "$(sed -E 's/^[^ ]+ [0-9]+ ownerwrap\[server\]: //; s/[0-9]+/N/g' out.log)" \
			"$(sed -E 's/[0-9]+/N/g' <<-END
			OWNERWRAP_SIGNAL=x: ignored, must be $RIGHT_SIGNAL
			$(sed -n 's/.*\(server [0-9]* started; .*\)/\1/p' out.log)
			USR1 relayed; sender 1 (bash)
			owner 1 (sleep, up Ns) is gone; stopping server 1 (TERM now, KILL 0.2s later, 0.4s if others must be told)
			$(sed -n 's/.*\(server [0-9]* still there .*\)/\1/p' out.log)
			END
			)"
		[[ $options != -q ]] || [ ! -s "$ERR" ]
	done
}

@test "log: a refused start is in it, and on stderr" {
	run -127 --separate-stderr "$OW" --log out.log -- ./missing
	assert_lines out.log "^$STAMP [0-9]+ ownerwrap\\[missing\\]: ./missing: not found, or its interpreter is not\$" 1
	expect_said "ownerwrap[missing]: ./missing: not found, or its interpreter is not"
	ow --log out.log -g x -- true
	expect_status 125
	assert_lines out.log ": --grace x: must be |: -g x: must be " 1
	ow -g x --log out.log -- true
	assert_lines out.log ": -g x: must be " 2
	ow --log out.log -p $$:1 -- true
	expect_status 124
	assert_lines out.log ": owner $$ .*is not there: not started " 1
}

@test "log: it is written when stderr is dead, full, or the protocol's" {
	for kind in deadpipe fullpipe pipe12 one; do
		new_owner
		rm -f log out.log
		start sock $kind "$OW" --log out.log -g 0 -k 0.2 -p "$OWNER" -- \
			server -l log -d
		server_pid log >/dev/null
		kill -KILL "$OWNER"
		finish "$PID"
		assert_lines out.log 'started; |is gone; |still there ' 3
	done
}

@test "log: a relative path is meant from where ownerwrap was started" {
	mkdir dir
	(cd dir && exec setsid "$OW" --log rel.log -- sh -c 'cd ..; exit 0')
	assert_lines dir/rel.log ' started; ' 1
}

@test "log: a FIFO gets the messages, and one that is not read harms nobody" {
	mkfifo fifo
	sleep 300 <>fifo 3>&- &	# keeps it open, for the first open to succeed
	holder=$!
	track "$holder"
	exec 8<fifo
	serve --log fifo -g 0 -k 0.2 --
	read -r line <&8
	[[ $line == *" started; "* ]]
	# No reader any more: EPIPE for us, and PIPE for nobody.
	exec 8<&-
	kill -KILL "$holder"
	await_gone "$holder"
	kill -USR1 "$FRONT"
	await_line log '^USR1 '
	kill -TERM "$FRONT"
	finish "$FRONT"
	expect_status 0
	assert_lines log '^PIPE ' 0
}

@test "log: a FIFO that nobody reads does not become the server's PIPE (90)" {
	mkfifo fifo
	sleep 300 <>fifo 3>&- &
	holder=$!
	track "$holder"
	serve --log fifo -k 0.3 -- -d
	kill -KILL "$holder"
	await_gone "$holder"
	kill -KILL "$(supervisor_of "$FRONT")"
	finish "$FRONT"
	assert_lines log '^TERM ' 1
	assert_lines log '^PIPE ' 0
}

@test "log: a full FIFO stops nothing" {
	mkfifo fifo
	sleep 300 <>fifo 3>&- &
	holder=$!
	track "$holder"
	sh -c 'head -c 65536 /dev/zero >fifo'
	serve --log fifo -g 0 --
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	kill -KILL "$holder"
}

@test "log: a full disk stops nothing" {
	[ -c /dev/full ] || skip_or_fail "needs /dev/full"
	serve --log /dev/full -g 0 --
	kill -KILL "$OWNER"
	finish "$FRONT"
	expect_status 124
	ow --log /dev/full -- sh -c 'exit 3'
	expect_status 3
}

@test "messages: a file at its size limit kills nobody (45)" {
	local where
	for where in '' '--log out.log'; do
		status=0
		# shellcheck disable=SC2086
		plain limits fsize=0 -- "$OW" $where -p $$:1 -- touch started \
			2>>said || status=$?
		expect_status 124
		[ ! -e started ]
		# shellcheck disable=SC2086
		plain limits fsize=0 -- "$OW" -v $where -- sh -c 'exit 3' \
			2>>said || status=$?
		expect_status 3
	done
	# stderr is a pipe, to which the limit does not apply.
	run plain limits fsize=0 -- "$OW" --log out.log -p $$:1 -- touch started
	expect_status 124
	expect_match ': owner .* is not there: not started '
	[ ! -s said ]
	[ ! -s out.log ]
}

@test "log: the server does not get its descriptor" {
	"$OW" --log out.log -- sh -c 'readlink /proc/$$/fd/*; :' >links
	grep -q . links
	assert_lines links out.log 0
}

# --- the system log ----------------------------------------------------------

@test "system log: a stop for want of an owner is in it, -v or -q or neither" {
	need_mounts
	for options in -v -q ''; do
		new_owner
		rm -f sys
		# shellcheck disable=SC2086
		run --separate-stderr in_devlog sys "$OW" $options -g 0 -k 0.2 -p "$OWNER" -- \
			sh -c 'trap "" TERM; kill -KILL "$0"; while :; do sleep 0.1; done' "$OWNER"
		expect_status 124
		assert_lines sys "^<13>ownerwrap\\[[0-9]+\\]: ownerwrap\\[sh\\]: owner $OWNER( \\(sleep, up [0-9]+s\\))? is gone; stopping server [0-9]+ \\(.*\\)\$" 1
		assert_lines sys 'still there|started' 0
	done
}

@test "system log: with a log it gets nothing" {
	need_mounts
	new_owner
	run --separate-stderr in_devlog sys "$OW" --log out.log -g 0 -p "$OWNER" -- \
		sh -c 'kill -KILL "$0"; exec sleep 300' "$OWNER"
	expect_status 124
	[ ! -s sys ]
	assert_lines out.log 'is gone; stopping' 1
}

@test "system log: what stderr took is not in it" {
	need_mounts
	run --separate-stderr in_devlog sys "$OW" -- sh -c 'sleep 300 & exit 3'
	expect_status 3
	expect_said_match 'left 1 process'
	[ ! -s sys ]
	run -127 --separate-stderr in_devlog sys "$OW" -- ./missing
	expect_said_match 'not found'
	run --separate-stderr in_devlog sys "$OW" -q -- sh -c 'sleep 300 & exit 3'
	expect_said ""
	[ ! -s sys ]
}

@test "system log: what stderr does not take is in it, but not what is for -v" {
	need_mounts
	for kind in deadpipe fullpipe; do
		rm -f sys
		run in_devlog sys sock $kind "$OW" -v -- sh -c 'sleep 300 & exit 3'
		expect_status 3
		assert_lines sys '^<13>ownerwrap\[[0-9]+\]: ownerwrap\[sh\]: server ended and left 1 process: stopped ' 1
		assert_equal "$(wc -l <sys)" 1
	done
}

@test "system log: with a closed or unwritable stderr it is the place for messages" {
	need_mounts
	run in_devlog sys sock close=2 "$OW" -- sh -c 'sleep 300 & exit 3'
	expect_status 3
	assert_lines sys 'ownerwrap\[sh\]: server ended and left 1 process' 1
	run in_devlog other sh -c 'exec "$0" --grace x true 2</dev/null' "$OW"
	expect_status 125
	assert_lines other 'ownerwrap\[true\]: --grace x: must be ' 1
	run in_devlog third sock pipe12 "$OW" -- sh -c 'sleep 300 & exit 3'
	expect_status 3
	assert_lines third 'ownerwrap\[sh\]: server ended and left 1 process' 1
}

@test "system log: a full one holds nothing up" {
	need_mounts
	new_owner
	in_devlog -n sys "$OW" -g 0 -p "$OWNER" -- \
		sh -c 'kill -KILL "$0"; exec sleep 300' "$OWNER" 2>err 3>&- &
	track $!
	finish $!
	expect_status 124
	assert_lines err 'is gone; stopping' 1
}

@test "system log: without one nothing is missing" {
	need_mounts
	new_owner
	ow -g 0 -p "$OWNER" -- sh -c 'kill -KILL "$0"; exec sleep 300' "$OWNER"
	expect_status 124
	run sock close=2 "$OW" -- sh -c 'sleep 300 & exit 3'
	expect_status 3
}

@test "messages: names in UTF-8 stay, control characters and other bytes do not" {
	for pair in $'caf\xc3\xa9=caf\xc3\xa9' $'a\nb=a?b' $'a\x1b[31m=a?[31m' \
		$'a\x9b31m=a?31m' $'a\xc2\x9b31m=a??31m' $'\xff\xc3=??' \
		$'\xe2\x82\xac\xf0\x9f\x98\x80=\xe2\x82\xac\xf0\x9f\x98\x80'; do
		run -127 --separate-stderr "$OW" -- "./${pair%=*}"
		expect_said "ownerwrap[${pair#*=}]: ./${pair#*=}: not found, or its interpreter is not"
	done
}
