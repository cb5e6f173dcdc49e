#!/usr/bin/env bats
# Whom the ladder stops: the tree, its scopes, those who are spared.

load helper

# end PID...: by the test itself, since ownerwrap spares them
end() { kill -KILL "$@"; await_gone "$@"; }

# descendants PID: leaf first, itself last, as host's tree killers walk
descendants() {
	local child
	for child in $(pgrep -P "$1"); do
		descendants "$child"
	done
	echo "$1"
}

# --- launchers -------------------------------------------------------------

@test "tree: the leaf below two shells is gone, told once (22)" {
	start sleep 300
	O=$PID
	start "$OW" -p "$O" -g 0 -- \
		sh -c 'sh -c "server -l log -t 100; :"; :'
	W=$PID
	leaf=$(server_pid log)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$leaf"
	assert_equal "$(cat log.done)" complete
	terms 1
}

@test "tree: a launcher that dies by TERM takes what it started with it (23)" {
	start "$OW" -- sh -c 'server -l log -t 100; :'
	W=$PID
	leaf=$(server_pid log)
	kill -TERM "$W"
	finish "$W"
	expect_status 143
	refute_alive "$leaf"
	assert_equal "$(cat log.done)" complete
	terms 1
	said "server ended and left 1 process: stopped \(--leftovers wait or leave keeps it\)"
}

@test "tree: a launcher that runs no handler while it waits is no hindrance (23)" {
	# dash runs its trap when the command in the foreground has ended.
	local launcher='trap "exit 3" TERM; server -l log; exit 4'
	start sleep 300
	O=$PID
	start "$OW" -p "$O" -g 0 -k 0.5 -- sh -c "$launcher"
	W=$PID
	leaf=$(server_pid log)
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$leaf"
	terms 1

	rm log
	start "$OW" -k 0.5 -- sh -c "$launcher"
	W=$PID
	leaf=$(server_pid log)
	kill -TERM "$W"
	finish "$W"
	expect_status 3			# it was told, not killed
	refute_alive "$leaf"
	terms 1
}

@test "tree: KILL comes for a child that the server's end orphaned (24)" {
	start sleep 300
	O=$PID
	start "$OW" -p "$O" -g 0 -k 0.5 -- \
		sh -c 'server -l log -D & wait'
	W=$PID
	deaf=$(server_pid log)
	launcher=$(ps -o ppid= -p "$deaf" | tr -d ' ')
	begin=$(now_ms)
	kill -KILL "$O"
	await_gone "$launcher"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$deaf"
}

@test "tree: a relay to a process elsewhere has the time it needs (33)" {
	mkfifo to from
	# Not in the tree, like what a container's client stands for.
	start sh -c 'read -r x <to; sleep 0.7; echo done >remote; echo >from'
	remote=$PID
	start sleep 300
	O=$PID
	start "$OW" -p "$O" -g 0 -k 30 -- sh -c 'trap "echo >to; read x <from
		exit 0" TERM; echo >up; while :; do sleep 0.05; done'
	W=$PID
	until_true '[ -e up ]'
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 700 "$begin"
	expect_status 124
	assert_equal "$(cat remote)" 'done'
	finish "$remote"
	expect_status 0
}

# --- scope -----------------------------------------------------------------

@test "scope session: a daemon is spared and named, what hangs below is not (26)" {
	owned -g 0 -- server -l log -g setsid,pipe -g double,setsid -g double \
		-g setpgid
	daemon=$(child_pid log double,setsid)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$(child_pid log setsid,pipe)" \
		"$(child_pid log double)" "$(child_pid log setpgid)"
	assert_alive "$daemon"
	said "left running as daemons: $daemon \(server\); --scope tree stops them"
	assert_lines log '^\[[0-9]+\] TERM ' 3
	end "$daemon"
}

@test "scope tree: other sessions are stopped, too, deaf ones killed (26)" {
	owned -g 0 -k 0.5 --scope tree -- server -l log -g setsid \
		-g double,setsid -g double -g setpgid -g deaf,double,setsid
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	for pid in $(sed -n 's/^child \([0-9]*\) .*/\1/p' log) "$S"; do
		refute_alive "$pid"
	done
	assert_lines log '^\[[0-9]+\] TERM ' 5
	assert_lines "$ERR" 'left running' 0
}

@test "scope session: a shared daemon beats on, in scope tree it stops (27)" {
	local scope
	# shellcheck disable=SC2016
	daemon='setsid sh -c '\''echo $$ >daemon; while :; do echo >>beats; sleep 0.05; done'\'' &
		exec server -l log'
	for scope in session tree; do
		rm -f log daemon
		owned -g 0 --scope $scope -- sh -c "$daemon"
		until_true '[ -s daemon ]'
		kill -KILL "$O"
		finish "$W"
		expect_status 124
		refute_alive "$S"
		if [ $scope = tree ]; then
			refute_alive "$(cat daemon)"
			continue
		fi
		: >beats
		until_true '[ $(wc -l <beats) -ge 3 ]'
		said "left running as daemons: $(cat daemon) \(sh\).*; --scope tree stops them"
		end "$(cat daemon)"
	done
}

@test "scope session: a detached browser lives, an attached one does not (28)" {
	start "$OW" -- sh -c 'sleep 299 & setsid -f sleep 298; exec server -l log'
	W=$PID
	S=$(server_pid log)
	until_true 'pgrep -P "$S" -f "^sleep 299$" >/dev/null'
	attached=$(pgrep -P "$S" -f '^sleep 299$')
	sup=$(supervisor_of "$W")
	until_true 'pgrep -P "$sup" -f "^sleep 298$" >/dev/null'
	browser=$(pgrep -P "$sup" -f '^sleep 298$')
	track "$browser"
	kill -TERM "$W"
	finish "$W"
	expect_status 0
	refute_alive "$S" "$attached"
	assert_alive "$browser"
	said "left running as daemons: $browser \(sleep\); --scope tree stops them"
	end "$browser"
}

@test "scope: --help says that tree takes detached ones, too (28)" {
	run "$OW" --help
	expect_status 0
	[[ ${output#*--scope} =~ ^[^$'\n']*tree[^$'\n']*(daemon|detached|session) ]]
}

@test "scope process: the server alone is stopped" {
	owned -g 0 -k 0.4 --scope process -- server -l log -d -g plain -g double
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 400 "$begin"
	expect_status 124
	refute_alive "$S"
	assert_lines log '^\[[0-9]+\] TERM ' 0
	said "owner $O \(sleep, up [0-9]+s\) is gone; stopping server $S \(TERM now, KILL 0\.4s later\)"
	assert_lines "$ERR" 'left' 0
	assert_alive "$(child_pid log plain)" "$(child_pid log double)"
	end "$(child_pid log plain)" "$(child_pid log double)"
}

@test "scope process: what the server leaves is not looked at" {
	start "$OW" --scope process -- server -l log -x 300 -e 7 -g plain
	W=$PID
	child=$(child_pid log plain)
	finish "$W"
	expect_status 7
	assert_alive "$child"
	assert_equal "$(cat "$ERR")" ""
	end "$child"
}

@test "scope: a daemon that ends by itself is not waited for" {
	owned -g 0 -k 30 -- server -l log -g setsid -g slow=300
	daemon=$(child_pid log setsid)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	# Two looks in a row found nobody in scope, with the daemon our child.
	refute_alive "$(child_pid log slow=300)"
	assert_alive "$daemon"
	end "$daemon"
}

@test "scope: a daemon that is left when the server ends is named, too" {
	start "$OW" -- server -l log -x 300 -e 7 -g setsid
	W=$PID
	daemon=$(child_pid log setsid)
	finish "$W"
	expect_status 7
	assert_alive "$daemon"
	said "left running as daemons: $daemon \(server\); --scope tree stops them"
	assert_lines "$ERR" 'stopped' 0
	end "$daemon"
}

@test "scope: what another user runs is refused and named" {
	as_nobody
	cp "$FIXTURES/server" idserver
	chmod 4755 idserver
	start "${NOBODY[@]}" sleep 300
	O=$PID
	start "${NOBODY[@]}" "$OW" -p "$O" -g 0 -k 0.3 -- \
		./idserver -l log -g uid=12345,stop -g plain
	W=$PID
	S=$(server_pid log)
	other=$(child_pid log uid=12345,stop)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$(child_pid log plain)"
	assert_alive "$other"
	said "left running, not ours to end: $other \(idserver\)"
	# TERM was refused, so there was no CONT either (42): in one session
	# the kernel would let that through.
	[[ $(ps -o stat= -p "$other") == T* ]]
	assert_lines log "^\[$other\] (TERM|CONT)" 0
	end "$other"
}

@test "scope: a server in a session of its own is stopped, with that session (84)" {
	owned -g 0 -- setsid server -l log -g plain -g setpgid -g double,setsid
	assert_equal "$(ps -o sid= -p "$S" | tr -d ' ')" "$S"
	daemon=$(child_pid log double,setsid)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$(child_pid log plain)" "$(child_pid log setpgid)"
	assert_alive "$daemon"
	said "left running as daemons: $daemon \(server\); --scope tree stops them"
	end "$daemon"
}

@test "scope: a server may call setsid() and setpgid() itself (84)" {
	owned -g 0 -- server -l log -s
	assert_lines log '^setsid ok$' 1
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S"
	terms 1

	rm log
	owned -g 0 -- server -l log -G
	assert_lines log '^setpgid ok$' 1
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S"
	terms 1
}

@test "scope: in a group of its own that is empty the server alone is stopped (25)" {
	hide_proc
	# Without /proc and terminal the server leads a group; it leaves it.
	start setsid "${HIDDEN[@]}" "$OW" -k 0.4 -- server -l log -d -J
	W=$PID
	S=$(server_pid log)
	assert_lines log '^join ok$' 1
	assert_equal "$(ps -o pgid= -p "$S")" "$(ps -o pgid= -p "$W")"
	begin=$(now_ms)
	kill -TERM "$W"
	finish "$W"
	taken 400 "$begin"
	expect_status 137
	refute_alive "$S"
	terms 1
	said "group $S is not there: server alone is stopped"
}

@test "scope: in a group of its own the server's group is stopped (25)" {
	hide_proc
	start setsid "${HIDDEN[@]}" "$OW" -k 0.4 -- \
		server -l log -g plain -g deaf
	W=$PID
	S=$(server_pid log)
	assert_equal "$(ps -o pgid= -p "$S" | tr -d ' ')" "$S"
	begin=$(now_ms)
	kill -TERM "$W"
	finish "$W"
	taken 400 "$begin"
	expect_status 0
	refute_alive "$S" "$(child_pid log plain)" "$(child_pid log deaf)"
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 2
	assert_lines "$ERR" 'group' 0
}

# --- attached: sessions of those whose parents live (98) --------------------

# spared PID...: they live on, and are named, by what they run
spared() {
	local list
	assert_alive "$@"
	list=$(ps -o pid=,comm= -p "$(IFS=, && echo "$*")" | sort -n |
		sed 's/^ *//; s/ \(.*\)/ \\(\1\\)/' | paste -sd, | sed 's/,/, /g')
	said "left running as daemons: $list; --scope tree stops them"
}

@test "attached: who has a pipe or a socket and living parents is gone (98)" {
	# The second server leads a session within another one.
	echo 'setsid sh -c "setsid -w server -l two & wait" | cat &
		exec server -l log -g setsid,pipe -g setsid,socket \
			-g deaf,setsid,pipe' >host
	owned -g 0 -k 0.5 -- sh host
	two=$(server_pid two)
	[ "$(ps -o sid= -p "$two" | tr -d ' ')" = "$two" ]
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$two" "$(child_pid log setsid,pipe)" \
		"$(child_pid log setsid,socket)" \
		"$(child_pid log deaf,setsid,pipe)"
	assert_lines two '^TERM ' 1
	assert_lines log '^\[[0-9]+\] TERM ' 3
	assert_lines "$ERR" 'left running' 0
}

@test "attached: a terminal is as good as a pipe, nohup in it is spared (98)" {
	echo 'server -l shell & nohup setsid server -l nohup &
		exec server -l job' >jobs.sh
	echo "expect never" >orders
	owned -g 0 -- sh -c 'pty orders sh jobs.sh >/dev/null & exec server -l log'
	local name pids=()
	for name in shell job; do
		pids+=("$(server_pid $name)")
	done
	nohup=$(server_pid nohup)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "${pids[@]}"
	spared "$nohup"
	end "$nohup"
}

@test "attached: a daemon, a browser and what runs under nohup are not (98)" {
	local scope pids
	for scope in session tree; do
		# Its 0 to 2 are /dev/null and files, as with `open`.
		owned -g 0 --scope $scope -- server -l log \
			-g double,setsid,pipe -g setsid -g setsid,pipe,nohup
		pids=("$(child_pid log double,setsid,pipe)"
			"$(child_pid log setsid)"
			"$(child_pid log setsid,pipe,nohup)")
		kill -KILL "$O"
		finish "$W"
		expect_status 124
		if [ $scope = tree ]; then
			refute_alive "${pids[@]}"
			continue
		fi
		spared "${pids[@]}"
		assert_lines log '^\[[0-9]+\] TERM ' 0
		end "${pids[@]}"
	done
}

@test "attached: what Python talks to is, the browser that it opened is not (98)" {
	need python3
	mkdir bin
	export PATH=$PWD/bin:$PATH BROWSER=firefox DISPLAY=:99
	cat >open.py <<-'END'
		import subprocess, threading, webbrowser
		def in_thread(what, *args, **named):
		    threading.Thread(target=what, args=args, kwargs=named).start()
		in_thread(webbrowser.get("firefox").open, "x")	# for 5 s
		in_thread(subprocess.run, ["server", "-l", "driven"],
		    stdin=subprocess.PIPE, start_new_session=True)
		subprocess.run(["server", "-l", "log"])
	END
	cat >bin/firefox <<-'END'
		#!/bin/sh
		exec server -l browser
	END
	chmod +x bin/firefox
	owned -g 0 -- python3 open.py
	browser=$(server_pid browser)
	driven=$(server_pid driven)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$driven"
	spared "$browser"
	end "$browser"
}

@test "attached: not when we ignore HUP, too, is nohup a reason (98)" {
	start sleep 300
	O=$PID
	start nohup "$OW" -p "$O" -g 0 -- server -l log -g setsid,pipe,nohup
	W=$PID
	S=$(server_pid log)
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$(child_pid log setsid,pipe,nohup)"
}

@test "attached: as for the owner's end, so for a relay after which S ends (98)" {
	local signal
	for signal in TERM INT HUP QUIT; do
		owned -- server -l log -g setsid,pipe
		kill "-$signal" "$W"
		finish "$W"
		expect_status 0
		refute_alive "$S" "$(child_pid log setsid,pipe)"
		assert_lines "$ERR" 'left running' 0
	done
}

@test "attached: once means for good, without a stop nobody is (98)" {
	local relayed
	for relayed in '' HUP; do
		owned -- server -l log -d -g setsid,pipe
		child=$(child_pid log setsid,pipe)
		[ -z "$relayed" ] || {
			kill -HUP "$W"
			await_line log '^HUP '
			lives_on 100 "$S" "$child"
		}
		kill -KILL "$S"
		finish "$W"
		expect_status 137
		if [ -n "$relayed" ]; then
			refute_alive "$child"
			assert_lines log "^\[$child\] TERM " 1
		else
			spared "$child"
			end "$child"
		fi
	done
}

@test "attached: the group's TERM marks nobody, only the session tells (98)" {
	start setsid "$OW" -p $$ -- server -l log -g setsid,pipe -g plain
	W=$PID
	S=$(server_pid log)
	child=$(child_pid log setsid,pipe)
	kill -TERM -- "-$W"
	finish "$W"
	expect_status 0
	refute_alive "$S" "$(child_pid log plain)"
	spared "$child"
	end "$child"
}

@test "attached: a front that is killed finds those of a living server (98)" {
	owned --log wlog -- server -l log -t 100 -g setsid,pipe
	child=$(child_pid log setsid,pipe)
	kill -KILL "$W"
	await_gone "$S" "$child"
	assert_alive "$O"
	assert_lines wlog 'left running' 0
}

@test "attached: who comes while the server is stopped is found, too (98)" {
	cat >server.sh <<-'END'
		trap 'setsid server -l late | cat &' TERM
		while :; do sleep 0.05; done
	END
	owned -g 0 -k 0.5 -- sh -c 'server -l log & . ./server.sh'
	W=$PID
	kill -KILL "$O"
	late=$(server_pid late)
	finish "$W"
	expect_status 124
	refute_alive "$late"
	assert_lines late '^TERM ' 1
}

@test "attached: KILL as the stop signal finds them first (98)" {
	owned -g 0 -s KILL -- server -l log -g setsid,pipe
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$(child_pid log setsid,pipe)"
}

@test "attached: of another ownerwrap its server is, what it adopted is not (98)" {
	cat >inner <<-END
		exec setsid "$OW" -p $$ -- server -l inner -s -g double,setsid,pipe \
			-g setsid,pipe 2>inner.err
	END
	owned -g 0 -- sh -c 'sh inner | cat & exec server -l log'
	inner=$(server_pid inner)
	daemon=$(child_pid inner double,setsid,pipe)
	until_true '[ "$(ps -o comm= -p "$(ps -o ppid= -p '"$daemon"' | tr -d " ")")" = ow-supervisor ]'
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$inner" "$(child_pid inner setsid,pipe)"
	assert_alive "$daemon"
	assert_lines inner '^TERM ' 1
	said "left running as daemons: $daemon \\(server\\); --scope tree stops them"
	end "$daemon"
}

# --- the end means: nobody is left -----------------------------------------

@test "end: the port that workers shared is free when ownerwrap is gone (31)" {
	owned -g 0 -- server -l log -P -g slow=100 -g slow=900
	port=$(sed -n 's/^port //p' log)
	run net bind "$port"
	expect_status 1
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	run net bind "$port"
	expect_status 0
}

@test "end: a thread whose main thread ended is alive, and killed (91)" {
	begin=$(now_ms)
	start "$OW" -k 2 -- server -l log -x 1500 -e 7 -g deaf,threads
	W=$PID
	child=$(child_pid log deaf,threads)
	[[ $(ps -o stat= -p "$child") == Z* ]]
	assert_alive "$child"
	await_line log "^\[$child\] TERM "
	finish "$W"
	taken 3500 "$begin"
	expect_status 7
	refute_alive "$child"
}

@test "end: zombies behind the unreaped server are reaped, KILL is on time (91)" {
	# The deaf one makes 500 orphans, which end while the server is a zombie.
	cat >deaf <<-'END'
		trap "" TERM
		echo $$ >up
		until [ -e go ]; do sleep 0.02; done
		i=0
		while [ $i -lt 500 ]; do
			(: &)
			i=$((i + 1))
		done
		: >made
		exec sleep 300
	END
	# shellcheck disable=SC2034	# the helpers' own
	LIMIT=90
	begin=$(now_ms)
	start "$OW" -k 30 -- sh -c 'sh deaf & until [ -s up ]; do sleep 0.02; done; exit 7'
	W=$PID
	sup=$(supervisor_of "$W")
	await_line "$ERR" 'server ended and left [12] process'
	: >go
	until_true '[ -e made ]'
	until_true "[ \$(ps --ppid $sup -o stat= | grep -c ^Z) -le 1 ]"
	deaf=$(cat up)
	assert_alive "$deaf"		# so the zombies were not waited for
	read -r -a fields <<<"$(stat_of "/proc/$sup/stat")"
	used=$(((fields[11] + fields[12]) * 10)) since=$(($(now_ms) - begin))
	finish "$W"
	taken 30000 "$begin"
	expect_status 7
	refute_alive "$deaf"
	[ $((used * 2)) -lt "$since" ] || fail "$used of $since ms were used"
}

@test "end: what was killed is reaped, also where pid 1 does not (119)" {
	need_pidns
	cat >inside <<-'END'
		i=0
		while [ $i -lt 10 ]; do
			for trap in - '""'; do
				"$OW" -k 0.1 -- sh -c "trap $trap TERM
					sleep 60 & sleep 60 & echo >up; wait" &
				until [ -e up ]; do sleep 0.01; done
				rm up
				kill $!
				wait $!
			done
			i=$((i + 1))
		done
		ps -eo stat=,ppid=,comm= | grep ^Z >zombies
		echo >looked
	END
	export OW
	start "${PIDNS[@]}" owner -z sh inside
	LIMIT=40 until_true '[ -e looked ]'	# 20 stops of 0.1 s or more
	assert_equal "$(cat zombies)" ''
	kill -KILL "$PID"
}

@test "end: an owner that adopts orphans gets none that has ended (119)" {
	start owner -r -l host "$OW" -k 0.1 -- server -l log -x 300 -g plain \
		-g deaf -g double,deaf
	finish "$PID"
	expect_status 0
	assert_lines host '^exit 0$' 1
	assert_lines host '^adopted' 0
}

# --- recycled pids ---------------------------------------------------------

@test "recycled: a number that was told TERM is not killed under its next owner (19)" {
	need_pidns
	cat >inside <<-'END'
		sleep 300 & o=$!
		"$OW" -p $o -g 0 -k 1 -- server -l log -d -g plain 2>err & w=$!
		until grep -q '^ready' log 2>/dev/null; do sleep 0.02; done
		g=$(sed -n 's/^child \([0-9]*\) .*/\1/p' log)
		kill -KILL $o
		# Told at kill-after, it ends; the deaf server has 1 s more.
		until grep -q "^CHLD from $g" log; do sleep 0.02; done
		pidreuse $g sleep 299
		grep -q '^ready' log && kill -0 $g || exit 3
		wait $w; echo "status $?"
		sleep 0.1
		tr '\0' ' ' </proc/$g/cmdline; echo
		kill -KILL $g
	END
	export OW
	start "${PIDNS[@]}" sh inside
	finish "$PID"
	expect_status 0
	assert_lines "$OUT" '^ok [0-9]+$' 1
	assert_lines "$OUT" '^status 124$' 1
	assert_lines "$OUT" '^sleep 299 $' 1
	assert_lines err 'still there [2-9](\.[0-9]*)?s after TERM' 1
}

@test "recycled: the server's number is not handed out while ownerwrap lives (19)" {
	need_pidns
	cat >inside <<-'END'
		"$OW" -k 2.3 -- server -l log -x 200 -e 7 -g deaf 2>err & w=$!
		until grep -q '^ready' log 2>/dev/null; do sleep 0.02; done
		s=$(sed -n 's/^ready //p' log)
		until grep -q 'left 1 process' err; do sleep 0.02; done
		timeout 0.5 pidreuse $s sleep 299 && echo 'handed out'
		kill -0 $w && echo 'here'
		wait $w; echo "status $?"
		sleep 0		# the first one may have made $s the next number
		pidreuse $s sleep 299 && kill -KILL $s
	END
	export OW
	start "${PIDNS[@]}" sh inside
	finish "$PID"
	expect_status 0
	assert_equal "$(sed 's/ok .*/ok/' "$OUT")" $'here\nstatus 7\nok'
}

# --- ownerwrap under ownerwrap, and other tree killers ---------------------

@test "nested: the server below two ownerwraps gets one TERM (94)" {
	start sleep 300
	O=$PID
	# shellcheck disable=SC2016
	start "$OW" -p "$O" -g 0 -k 9 -- \
		sh -c '"$0" -- server -l log -t 100 -g plain; :' "$OW"
	W=$PID
	S=$(server_pid log)
	sup=$(ps -o ppid= -p "$S" | tr -d ' ')
	inner=$(ps -o ppid= -p "$sup" | tr -d ' ')
	[ "$inner" != "$W" ]
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$sup" "$inner"
	assert_equal "$(cat log.done)" complete
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
}

@test "nested: without a shell between, and with a deaf server (94)" {
	start sleep 300
	O=$PID
	start "$OW" -p "$O" -g 0 -k 0.5 -- "$OW" -k 30 -- server -l log -d
	W=$PID
	S=$(server_pid log)
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$S"
	# KILL to the inner supervisor has the kernel send another one.
	[ "$(count_lines log '^TERM ')" -le 2 ]
}

@test "nested: of a detached ownerwrap its server is named, and no more" {
	export OW
	owned -g 0 -- sh -c 'setsid -f "$OW" -p "$1" -- server -l inner -g plain
		exec server -l log' - "$$"
	inner=$(server_pid inner)
	child=$(child_pid inner plain)
	front=$(ps -o sid= -p "$inner" | tr -d ' ')
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	assert_alive "$front" "$child"
	spared "$inner"
	kill -TERM "$front"
	await_gone "$front" "$inner" "$child"
}

@test "nested: a supervisor that its front has left is told itself (94)" {
	start sleep 300
	O=$PID
	# shellcheck disable=SC2016
	start "$OW" -p "$O" -g 0 -k 9 -- sh -c '"$0" -p "$1" --leftovers leave -- \
		server -l log -x 200 -g slow=100,log=child
		echo $? >left; exec server -l outer' "$OW" "$$"
	W=$PID
	server_pid outer
	assert_equal "$(cat left)" 0
	child=$(child_pid child 'slow=100,log=child')
	sup=$(ps -o ppid= -p "$child" | tr -d ' ')
	assert_equal "$(ps -o comm= -p "$sup")" ow-supervisor
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$child" "$sup"
	assert_equal "$(cat child.done)" complete
	assert_lines child '^\[[0-9]+\] TERM ' 1
}

@test "host: a KILL of each process, leaf first, leaves nothing (96)" {
	owned -- server -l log -d -g deaf -g setpgid,deaf
	mapfile -t all < <(descendants "$W")
	[ "${#all[@]}" -ge 5 ]
	sig send KILL "${all[@]}" >/dev/null || true
	await_gone "${all[@]}"
}

@test "host: a TERM to each process of the walk is one for the server (96)" {
	owned -- server -l log -t 100 -g plain
	mapfile -t all < <(descendants "$W" | tac)
	sig send TERM "${all[@]}" >/dev/null
	finish "$W"
	expect_status 0
	refute_alive "${all[@]}"
	assert_equal "$(cat log.done)" complete
	terms 1
}

@test "host: with --scope process a daemon is not below us (96)" {
	owned --scope process -- server -l log -g double,setsid
	daemon=$(child_pid log double,setsid)
	mapfile -t all < <(descendants "$W")
	[[ " ${all[*]} " != *" $daemon "* ]]
	sig send KILL "${all[@]}" >/dev/null || true
	await_gone "${all[@]}"
	assert_alive "$daemon"
	end "$daemon"
}
