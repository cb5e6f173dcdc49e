#!/usr/bin/env bats
# On a terminal everything is as without ownerwrap: keys, job control, hang-up,
# /dev/tty, modes. A case that has a line for it is run without it as well.

load helper
bats_require_minimum_version 1.5.0

# on_pty CMD...: with the script on stdin; $LEAD as in stops.bats: -L (a shell
# waits for the command) or nothing (the command leads the session)
on_pty() {
	cat >script
	# shellcheck disable=SC2086
	run plain pty ${LEAD--L} script "$@"
	expect_status 0
}

# with_and_without SCRIPT CMD...: the same on both sides
with_and_without() {
	printf '%s\n' "$1" >script
	shift
	# shellcheck disable=SC2086
	run plain pty ${LEAD--L} script "$@"
	expect_status 0
	# shellcheck disable=SC2086
	run plain pty ${LEAD--L} script "$OW" "$@"
	expect_status 0
}

# in_shell SHELL: the script on stdin, typed into an interactive shell; the
# commands of the tests are short names there, as lines are echoed.
in_shell() {
	local options=(-i)
	need "$1"
	[ "$1" != bash ] || options=(--norc --noprofile -i)
	cat >script
	TERM=dumb PS1='$ ' ENV='' OW=$OW run plain pty script "$1" "${options[@]}"
	expect_status 0
}

# --- keys --------------------------------------------------------------------------

@test "terminal: cat reads the keyboard, and ^C ends it (47)" {
	local how
	for how in -L ''; do
		LEAD=$how with_and_without $'send hello\\n
			expect ^hello$
			expect ^hello$
			fg cmd
			send \\x03
			wait signal INT' cat
	done
}

@test "terminal: ^D ends the input of cat (47)" {
	with_and_without $'send hello\\n
		expect ^hello$
		expect ^hello$
		send \\x04
		wait exit 0' cat
}

@test "terminal: ^C is one INT, ^\\ one QUIT (34)" {
	local how
	for how in -L ''; do
		rm -f log
		LEAD=$how on_pty "$OW" -v -- server -l log -d -e 4 <<-'END'
			until grep -q ready log
			send \x03
			until grep -q INT log
			nap 100
			send \x1c
			until grep -q QUIT log
			nap 100
			refuse (INT|QUIT) relayed
			run kill -KILL $(sed -n 's/^ready //p' log)
			wait signal KILL
		END
		assert_lines log '^INT from ' 1
		assert_lines log '^QUIT from ' 1
		assert_lines log '^TERM ' 0
	done
}

@test "terminal: each ^C is an INT (34)" {
	on_pty "$OW" -- server -l log -d <<-'END'
		until grep -q ready log
		send \x03
		until test $(grep -c INT log) = 1
		send \x03
		until test $(grep -c INT log) = 2
		nap 100
		run test $(grep -c INT log) = 2
		run kill -KILL $(sed -n 's/^ready //p' log)
		wait signal KILL
	END
}

@test "terminal: a key is no wish to stop, though --kill-after was given (47)" {
	on_pty "$OW" -v -k 0.3 -s INT -- server -l log -d <<-'END'
		until grep -q ready log
		send \x03
		until grep -q INT log
		nap 600
		refuse stopping
		run kill -0 $(sed -n 's/^ready //p' log)
		kill INT -cmd
		expect a signal asks for it; stopping
		wait signal KILL
	END
	# The ^C a moment before counts as told: at most min(kill-after, 5 s).
	assert_lines log '^INT from ' 2
}

@test "terminal: with --kill-after ^C ends a polite server by its own status (47)" {
	on_pty "$OW" -k 0.3 -s INT -- server -l log -t 600 -e 3 <<-'END'
		until grep -q ready log
		send \x03
		wait exit 3
	END
	assert_equal "$(cat log.done)" complete
}

@test "terminal: a changed window size is one WINCH (36)" {
	on_pty "$OW" -- server -l log -e 3 <<-'END'
		until grep -q ready log
		run stty -F $PTY_SLAVE rows 30
		until grep -q WINCH log
		nap 100
		kill TERM cmd
		wait exit 3
	END
	assert_lines log '^WINCH ' 1
}

# --- job control ------------------------------------------------------------------------

job_control() {
	in_shell "$1" <<-'END'
		expect \$ $
		send "$OW" -- cat\n
		nap 250
		send one\n
		expect ^one$
		expect ^one$
		send \x1a
		expect Stopped
		expect \$ $
		send jobs\n
		expect Stopped
		expect \$ $
		send fg\n
		nap 250
		send two\n
		expect ^two$
		expect ^two$
		send \x1a
		expect Stopped
		expect \$ $
		send bg; sleep 0.2; jobs\n
		expect Stopped.*cat
		expect \$ $
		send fg\n
		nap 250
		send three\n
		expect ^three$
		expect ^three$
		send \x03
		expect \$ $
		send echo status=$?\n
		expect ^status=130$
		send exit\n
		wait exit 0
	END
}

@test "terminal: ^Z, jobs, fg, bg, ^C in bash (48)" {
	job_control bash
}

@test "terminal: ^Z, jobs, fg, bg, ^C in dash (48)" {
	job_control dash
}

# The terminal stop of a background read follows so close on the CONT of bg that
# the kernel drops the CONT for whoever has not run by then.
@test "terminal: bg and fg in quick turns leave the job in the foreground (48)" {
	{
		printf '%s\n' 'expect \$ $' 'send "$OW" -- cat\n' 'nap 250'
		for _ in 1 2 3 4 5; do
			printf '%s\n' 'send \x1a' 'expect Stopped' \
				'expect \$ $' 'send bg; sleep 0.1; jobs\n' \
				'expect Stopped.*cat' 'expect \$ $' \
				'send fg\n' 'nap 150' 'send line\n' \
				'expect ^line$' 'expect ^line$'
		done
		printf '%s\n' 'send \x03' 'expect \$ $' 'send exit 0\n' \
			'wait exit 0'
	} >turns
	in_shell dash <turns
}

@test "terminal: a job that was stopped goes on in the background (48)" {
	in_shell bash <<-'END'
		expect \$ $
		send "$OW" -- server -l log -z -e 3\n
		until grep -q ready log
		send \x1a
		expect Stopped
		expect \$ $
		send bg\n
		until grep -q CONT log
		send jobs\n
		expect Running
		send kill %1; wait %1; echo status=$?\n
		expect ^status=3$
		send exit\n
		wait exit 0
	END
	assert_lines log '^CONT ' 1
	assert_lines log '^TERM ' 1
}

@test "terminal: ^Z of a pipeline with ownerwrap last, or first (48, 79)" {
	in_shell bash <<-'END'
		expect \$ $
		send cat | "$OW" -- cat\n
		nap 250
		send one\n
		expect ^one$
		expect ^one$
		send \x1a
		expect Stopped
		expect \$ $
		send fg\n
		nap 250
		send two\n
		expect ^two$
		expect ^two$
		send \x03
		expect \$ $
		send "$OW" -- cat | cat\n
		nap 250
		send \x1a
		expect Stopped
		expect \$ $
		send fg\n
		nap 250
		send three\n
		expect ^three$
		expect ^three$
		send \x04
		expect \$ $
		send exit\n
		wait exit 0
	END
}

@test "terminal: ^Z where ownerwrap leads the session stops nobody, as without it (79)" {
	LEAD='' with_and_without $'send one\\n
		expect ^one$
		expect ^one$
		send \\x1a
		nap 200
		send two\\n
		expect two$
		expect ^two$
		send \\x03
		wait signal INT' cat
}

@test "terminal: the death of an owner ends a stopped job (48)" {
	new_owner
	in_shell bash <<-END
		expect \\\$ \$
		send "\$OW" -p $OWNER -g 0 -- server -l log -z -t 50\n
		until grep -q ready log
		send \x1a
		expect Stopped
		expect \\\$ \$
		run kill -KILL $OWNER
		until grep -q done log
		until ! kill -0 \$(sed -n 's/^ready //p' log)
		send wait %1; echo status=\$?\n
		expect ^status=124\$
		send exit\n
		wait exit 0
	END
	assert_equal "$(cat log.done)" complete
	assert_lines log '^TERM ' 1
	assert_lines log '^CONT ' 1
	[ "$(grep -n TERM log | cut -d: -f1)" -lt \
		"$(grep -n CONT log | cut -d: -f1)" ]
}

# --- /dev/tty, TOSTOP, ^S -------------------------------------------------------------------

@test "terminal: /dev/tty can be read with stdin a pipe (79)" {
	with_and_without $'expect go
		send line\\n
		expect ^got=line$
		wait exit 0' \
		sh -c 'echo x | sh -c "echo go; read l </dev/tty; echo got=\$l"'
	on_pty sh -c 'echo x | "$1" -- sh -c "echo go; read l </dev/tty; echo got=\$l"' \
		- "$OW" <<-'END'
		expect go
		send line\n
		expect ^got=line$
		wait exit 0
	END
}

@test "terminal: stty works on /dev/tty with stdin a pipe (79)" {
	on_pty sh -c 'echo x | "$1" -- stty -F /dev/tty -echo' - "$OW" <<-'END'
		wait exit 0
	END
	on_pty sh -c 'echo x | "$1" -- sh -c "stty -a </dev/tty"' - "$OW" <<-'END'
		expect rows 24
		wait exit 0
	END
}

@test "terminal: TOSTOP stops no message and nobody of ours (79, 45)" {
	new_owner
	in_shell bash <<-END
		expect \\\$ \$
		send stty tostop\n
		expect \\\$ \$
		send "\$OW" -v -p $OWNER -g 0 -k 0.3 -- server -l log -d &\n
		until grep -q ready log
		run kill -KILL $OWNER
		send wait %1; echo status=\$?\n
		expect ^status=124\$
		send exit\n
		wait exit 0
	END
	assert_lines log '^TERM ' 1
}

@test "terminal: with TOSTOP a log on the terminal stops no background job (79, 45)" {
	in_shell bash <<-'END'
		expect \$ $
		send stty tostop\n
		expect \$ $
		send "$OW" --log /dev/tty -- server -l log -e 6 &\n
		expect \]: server [0-9]+ started;
		until grep -q ready log
		send echo pid=$!\n
		expect ^pid=[0-9]+$
		nap 500
		send jobs\n
		expect Running
		refuse Stopped
		send kill -USR1 $!\n
		until grep -q USR1 log
		expect USR1 relayed
		run cat $(pgrep -s "$PTY_PID" "^ow" | sed "s|.*|/proc/&/stat|") >stat
		send kill %1; wait %1; echo status=$?\n
		expect ^status=6$
		send exit\n
		wait exit 0
	END
	assert_lines log '^(TSTP|TTIN|TTOU|CONT) ' 0
	[ "$(awk '{ n += $14 + $15 } END { print n }' stat)" -le 20 ]
}

@test "terminal: ^S holds up no message and nobody of ours (45)" {
	new_owner
	on_pty "$OW" -v -p "$OWNER" -g 0 -k 0.3 -- server -l log -d <<-END
		until grep -q ready log
		send \x13
		nap 100
		kill USR1 cmd
		until grep -q USR1 log
		run kill -KILL $OWNER
		wait exit 124
	END
	assert_lines log '^TERM ' 1
}

# --- hang-up ----------------------------------------------------------------------------------

@test "terminal: hang-up of a session leader's terminal is one HUP for the server (78)" {
	LEAD='' on_pty "$OW" -- server -l log -d -t 50 <<-'END'
		until grep -q ready log
		close
		until grep -q HUP log
		run sleep 0.15
		run test $(grep -c HUP log) = 1
		run test $(grep -c TERM log) = 0
		run kill -KILL $(sed -n 's/^ready //p' log)
		wait signal KILL
	END
}

@test "terminal: hang-up ends everything as without ownerwrap (78)" {
	LEAD='' with_and_without $'nap 150\nclose\nwait signal HUP' sleep 300
	LEAD='' on_pty "$OW" -- server -l log -t 100 -e 6 <<-'END'
		until grep -q ready log
		close
		wait exit 6
	END
	assert_equal "$(cat log.done)" complete
	assert_lines log '^HUP ' 1
}

# It is a race against cat, which a busy machine may lose; through witness and
# supervisor it is never won.
@test "terminal: hang-up reaches the server before the end of its input (117)" {
	printf '%s\n' 'nap 200' close wait >script
	for _ in {1..12}; do
		run plain pty script "$OW" -q -- cat
		[[ $output != *'pty: signal HUP'* ]] || return 0
	done
	fail "never, last: $output"
}

@test "terminal: hang-up of a shell's terminal ends its job (78)" {
	cat >script <<-'END'
		expect \$ $
		send "$OW" -- server -l log -t 50\n
		until grep -q ready log
		close
		until grep -q done log
	END
	OW=$OW TERM=dumb PS1='$ ' run plain pty script bash --norc --noprofile -i
	await_gone "$(server_pid log)"
	assert_equal "$(cat log.done)" complete
}

# --- modes ----------------------------------------------------------------------------------------

@test "terminal: modes are put back after force, and nobody stops (50)" {
	local how
	for how in -L ''; do
		new_owner
		rm -f log
		LEAD=$how on_pty "$OW" -p "$OWNER" -g 0 -k 0.3 -- \
			server -l log -T -D <<-END
			until grep -q ready log
			run ! stty -F \$PTY_SLAVE -a | grep -q ' icanon'
			fg cmd
			run kill -KILL $OWNER
			wait exit 124
			same initial
		END
	done
}

@test "terminal: modes are put back after the stop signal (105)" {
	new_owner
	on_pty "$OW" -g 0 -p "$OWNER" -- \
		sh -c 'stty raw -echo; echo now; exec sleep 99' <<-END
		expect now
		run kill -KILL $OWNER
		wait exit 124
		same initial
	END
	new_owner
	on_pty "$OW" -k 5 -- \
		sh -c 'stty raw -echo; echo now; exec sleep 99' <<-'END'
		expect now
		kill TERM cmd
		wait signal TERM
		same initial
	END
}

@test "terminal: modes that a server leaves when it ends by itself stay (50)" {
	new_owner
	on_pty "$OW" -p "$OWNER" -g 0 -- server -l log -T <<-END
		until grep -q ready log
		termios raw
		run kill -KILL $OWNER
		wait exit 124
		same raw
	END
}

@test "terminal: modes are not touched from the background (50)" {
	new_owner
	on_pty "$OW" -p "$OWNER" -g 0 -k 0.3 -- server -l log -T -D -z <<-END
		until grep -q ready log
		kill STOP cmd
		wait stopped STOP
		fg other
		run stty -F \$PTY_SLAVE sane -echo rows 20
		termios mine
		run kill -KILL $OWNER
		wait exit 124
		same mine
	END
}

@test "terminal: the foreground group is the same after force (50)" {
	new_owner
	in_shell bash <<-END
		expect \\\$ \$
		send "\$OW" -p $OWNER -g 0 -k 0.3 -- server -l log -T -D\n
		until grep -q ready log
		fg other
		run kill -KILL $OWNER
		expect \\\$ \$
		fg cmd
		send echo status=\$?\n
		expect ^status=124\$
		send exit\n
		wait exit 0
	END
}
