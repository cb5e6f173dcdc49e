#!/usr/bin/env bats
# Interactive shells at a terminal, and scripts of theirs.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need bash dash
}

# at_prompt: types what stdin has (orders for pty) into each shell in turn; then
# comes `checked`, with what was on the terminal in ./screen
at_prompt() {
	cat >orders
	grep -qx close orders || printf '%s\n' 'send exit\n' wait >>orders
	typed bash --norc --noprofile --noediting -i
	typed dash -i
}

typed() {
	rm -f log
	echo "# $1"
	PS1='prompt> ' pty - "$@" <orders >screen 2>&1 || {
		cat screen
		return 1
	}
	checked || {
		cat screen log
		return 1
	}
	await_nobody "${OWNER-}"
}

@test "shell: ^C reaches the server once, and the shell has its status" {
	checked() { assert_lines log '^INT from ' 1; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- server -l log -e 7\n
		until grep -q ^ready log
		send \x03
		expect prompt>
		send echo st=$?\n
		expect st=7
	E
}

@test "shell: a server that dies of ^C ends a list of commands" {
	checked() { ! grep -q '^second' screen; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- sh -c 'echo $$ >log; exec sleep 300'; echo seco''nd\n
		until ps -o args= -p "$(cat log)" | grep -q ^sleep
		send \x03
		expect prompt>
		send echo st=$?\n
		expect st=130
	E
}

@test "shell: ^Z stops all, fg goes on, ^C ends it" {
	checked() { assert_lines log '^INT from ' 1; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- server -z -l log -e 7\n
		until grep -q ^ready log
		send \x1a
		expect Stopped
		expect prompt>
		until ps -o stat= -p "$(sed -n 's/^ready //p' log)" | grep -q ^T
		send fg\n
		expect ownerwrap
		until ps -o stat= -p "$(sed -n 's/^ready //p' log)" | grep -q ^S
		send \x03
		expect prompt>
		send echo st=$?\n
		expect st=7
	E
}

@test "shell: bg lets a stopped server run, kill %1 ends it, wait has its status" {
	checked() { terms 1; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- server -z -l log -e 7\n
		until grep -q ^ready log
		send \x1a
		expect Stopped
		expect prompt>
		send bg\n
		until ps -o stat= -p "$(sed -n 's/^ready //p' log)" | grep -q ^S
		send kill %1; wait %1; echo st=$?\n
		expect st=7
	E
}

@test "shell: a background server that reads the terminal stops, and reads after fg" {
	checked() { true; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- sh -c 'echo $$ >log; read -r line; echo "got=$line"' &\n
		until ps -o stat= -p "$(cat log)" | grep -q ^T
		send \n
		expect Stopped
		send fg\n
		until ps -o stat= -p "$(cat log)" | grep -q '^S.*+'
		send hello\n
		expect got=hello
	E
}

@test "shell: wait has the status of a background server" {
	checked() { true; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- server -l log -x 200 -e 3 & wait $!; echo st=$?\n
		expect st=3
	E
}

@test "shell: ^C runs a script's trap once the server has ended as it likes" {
	for shell in bash dash; do
		rm -f log
		run pty - "$shell" -c 'trap "echo trapped" INT
			ownerwrap -- server -l log -t 300 -e 7
			echo "st=$?"' <<-'E'
				until grep -q ^ready log
				send \x03
				expect trapped
				run grep -q ^done log
				expect st=7
			E
		expect_status 0
		assert_lines log '^INT from ' 1
		await_nobody
	done
}

@test "shell: in a pipeline all end by ^C, and ^Z and fg work" {
	checked() { assert_lines log '^INT from ' 1; }
	at_prompt <<-'E'
		expect prompt>
		send (echo some; exec sleep 300) | ownerwrap -- server -z -l log | cat\n
		until grep -q ^ready log
		send \x1a
		expect Stopped
		expect prompt>
		send fg\n
		until ps -o stat= -p "$(sed -n 's/^ready //p' log)" | grep -q ^S
		send \x03
		expect prompt>
	E
}

@test "shell: a pipeline's bytes and ends are the same" {
	checked() { true; }
	at_prompt <<-'E'
		expect prompt>
		send printf 'a\\nb\\n' | ownerwrap -- cat | tr ab xy | ownerwrap -- sort -r\n
		expect ^y$
		expect ^x$
		send yes | ownerwrap -- head -n 1; echo st=$?\n
		expect y$
		expect st=0
		send ownerwrap -- yes | head -n 1; echo st=$?\n
		expect st=0
	E
}

@test "shell: kill -9 %1 takes all of a job's group, its server too" {
	checked() { true; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -- server -l log -d &\n
		until grep -q ^ready log
		send kill -9 %1; wait; echo en''ded\n
		expect ended
	E
}

@test "shell: when the terminal hangs up, nothing is left" {
	checked() { true; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -g 0 -k 1 -- server -l log -d -g deaf,setpgid &\n
		until grep -q ^ready log
		close
	E
}

@test "shell: exit ends a background server, whose owner the shell was" {
	checked() { await_line log '^TERM '; }
	at_prompt <<-'E'
		expect prompt>
		send ownerwrap -g 0.2 -- server -l log &\n
		until grep -q ^ready log
	E
}

@test "shell: with nohup and another owner a server outlives shell and terminal" {
	checked() {
		server=$(server_pid log)
		lives_on 300 "$server"
		kill -KILL "$OWNER"
		await_gone "$server"
		new_owner
	}
	new_owner
	export OWNER OWNERWRAP_GRACE=0
	at_prompt <<-'E'
		expect prompt>
		send nohup ownerwrap -p $OWNER -- server -n -l log >/dev/null 2>&1 &\n
		until grep -q ^ready log
		close
	E
}

@test "shell: set -m in a script gives the server a group, which can be killed" {
	# Without a terminal dash has no job control.
	run bash -c 'set -m
		ownerwrap -- server -l log -g plain -e 7 &
		until grep -qs "^ready" log; do sleep 0.05; done
		kill -TERM -$!
		wait $!
		echo "st=$?"' 3>&-
	expect_match 'st=7'
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
	await_nobody
}

@test "shell: without a terminal and in a session of its own, as of ssh, it ends with its host" {
	for shell in bash dash; do
		rm -f log
		# sshd: the shell with -c is its child, and leads the session.
		host "$shell" -c 'setsid "$0" -c "ownerwrap -g 0 -- server -l log; exit" &
			wait' "$shell"
		await_line log '^ready'
		kill -KILL "$HOST"
		await_nobody
		terms 1
	done
}

@test "shell: a script that execs ownerwrap has the owner that it had" {
	for shell in bash dash; do
		rm -f log
		printf '%s\n' "#!/usr/bin/env $shell" 'exec ownerwrap -g 0 -- "$@"' >script
		chmod +x script
		host node "$HOSTS/node-host.js" plain ./script server -l log
		await_line log '^ready'
		kill -KILL "$HOST"
		await_nobody
		terms 1
	done
}

@test "shell: a script's server goes with the script that names itself" {
	mkfifo orders
	for shell in bash dash; do
		rm -f log
		host "$shell" -c 'ownerwrap -g 0 -p $$ -- server -l log &
			read -r never <orders; exit'
		await_line log '^ready'
		kill -KILL "$HOST"
		await_nobody
		terms 1
	done
}
