#!/usr/bin/env bats
# Programs that live on a terminal. The keys do what they do without ownerwrap:
# each body is run without and with it, W, and the same is expected.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need bash dash pgrep
	unset LESS LESSOPEN TMUX VIMINIT EXINIT
	export TERM=xterm LESSHISTFILE=- FZF_DEFAULT_OPTS=--color=bw SHELL=/bin/sh
	export VI='vim -Nu NONE -i NONE -n'
	ways=('' 'ownerwrap --')
	VIA=()
	KEPT=()
	mkdir dir
	printf '%s\n' apple pear >fruit

	# For the scripts of pty. is STATES NAME: so is that program of the
	# terminal's session; where it is stopped, what its shell waits for too
	script is <<-'E'
		pgrep -s "$PTY_PID" -x -r "$1" "$2" >/dev/null &&
			{ [ "$1" != T ] || ! pgrep -P "$PTY_PID" -r RSD >/dev/null; }
	E
	# server_is STATE: so is the fixture, in whatever session
	script server_is <<-'E'
		ps -o stat= -p "$(sed -n 's/^ready //p' log)" | grep -q "^$1"
	E
	# in_front: the terminal is not the shell's; raw: it makes no signals
	script in_front <<-'E'
		[ "$(ps -o tpgid= -p "$PTY_PID")" -ne "$PTY_PID" ]
	E
	script raw <<-'E'
		stty -F "$PTY_SLAVE" -a | grep -q -e -isig
	E
}

script() {
	{ echo '#!/bin/sh'; cat; } >"bin/$1"
	chmod +x "bin/$1"
}

# on_pty COMMAND...: on a terminal of its own, with VIA in front, does what the
# file orders says, ` ;; ` between two of a line. Besides those of pty there are:
#   shown TEXT NAME   then that program waits for keys
#   stop              ^Z, and the shell is there, with its modes
#   bg NAME           the shell's, and that program stops for the terminal
#   ended STATUS      the program has, and the modes are the shell's
on_pty() {
	{ echo "timeout $LIMIT"; sed "s| ;; |\n|g" orders; } | sed -E '
		s/^shown (.*) (.*)/expect \1\nuntil is S \2/
		s/^stop$/send \\x1a\nexpect Stopped\nexpect prompt>\nsame before/
		s/^bg (.*)/send bg\\n\nexpect prompt>\nuntil is T \1\nsend jobs\\n\
			expect Stopped( \\(tty output\\)|\\(SIGTTOU\\))/
		s/^ended (.*)/expect prompt>\nsend echo st=$?\\n\nexpect st=\1\
			expect prompt>\nsame before/' >script
	rm -f log got
	PS1='prompt> ' W=$W plain "${VIA[@]}" pty script "$@" >screen 2>&1 || {
		echo "# $*, with W='$W'"
		cat -v screen
		return 1
	}
	await_nobody "${KEPT[@]}"
}

# at_prompt: types what stdin has into each shell in turn
at_prompt() {
	{ printf '%s\n' 'expect prompt>' 'termios before'; cat; } >orders
	grep -qx close orders || printf '%s\n' 'send exit\n' 'wait exit 0' >>orders
	for W in "${ways[@]}"; do
		on_pty bash --posix --norc --noprofile --noediting -i
		on_pty dash -i
	done
}

# leading COMMAND...: it leads the session, as below `xterm -e`
leading() {
	cat >orders
	for W in "${ways[@]}"; do
		# shellcheck disable=SC2086
		on_pty $W "$@"
	done
}

# --- jobs of a shell ---------------------------------------------------------

@test "pty: vim draws, has ^C, ^Z, fg, bg and a new size, and ends by its own status" {
	need vim
	at_prompt <<-'E'
		send $W $VI fruit\n ;; shown apple vim
		send \x03 ;; shown Type +:qa vim
		stop ;; send fg\n ;; shown apple vim
		stop ;; bg vim ;; send fg\n ;; shown apple vim
		run stty -F $PTY_SLAVE cols 61
		send :call writefile([&columns], 'got')\r
		until grep -qsx 61 got
		send :3cq\r ;; ended 3
	E
}

@test "pty: less reads a pipe and the keys, has ^C, ^Z, fg and bg" {
	need less
	at_prompt <<-'E'
		send cat fruit | $W less\n ;; shown END less
		stop ;; send fg\n ;; shown END less
		stop ;; bg less ;; send fg\n ;; shown END less
		send /pea\r ;; shown pea less
		send q ;; ended 0
		send $W less +F fruit\n ;; shown Waiting.for.data less
		send \x03 ;; shown END less
		stop ;; send fg\n ;; shown END less
		send q ;; ended 0
	E
}

@test "pty: fzf reads a pipe and the keys, has ^C, ^Z and fg" {
	need fzf
	at_prompt <<-'E'
		send cat fruit | $W fzf >got\n ;; shown 2/2 fzf
		stop ;; send fg\n ;; expect 2/2
		send app ;; expect 1/2
		send \r ;; ended 0
		run grep -qx apple got
		send $W fzf <fruit\n ;; expect 2/2
		send \x03 ;; ended 130
	E
}

# sudoers DEFAULT: from now on VIA makes a world with this setting
sudoers() {
	privileged
	need sudo
	need_mounts
	printf '%s\n' "Defaults !env_reset, $1" 'root ALL = (ALL) ALL' >"sudoers$1"
	chmod 440 "sudoers$1"
	VIA=(unshare -m sh -c 'mount --bind "$0" /etc/sudoers && exec "$@"' "sudoers$1")
}

# below_sudo CONDITION: when keys may be typed to what it runs
below_sudo() {
	at_prompt <<-E
		send \$W sudo -n server -l log -z -e 7\n
		until grep -qs ^ready log && $1
		stop ;; until server_is T ;; send fg\n ;; until server_is S && $1
		stop ;; until server_is T
		send bg\n ;; expect prompt> ;; until server_is S
		send jobs\n ;; expect Running ;; expect prompt>
		send fg\n ;; until in_front
		send \x03 ;; ended 7
		run test \$(grep -c ^INT log) = 1
		send \$W sudo -n sh -c 'echo beg''un; exec cat'\n
		expect begun ;; until $1
		send hello\n ;; expect ^hello$ ;; expect ^hello$
		send \x03 ;; ended 130
	E
}

@test "pty: sudo that gives its command a terminal has ^C, ^Z, fg and bg" {
	sudoers use_pty
	below_sudo raw
}

@test "pty: sudo that gives its command no terminal has ^C, ^Z, fg and bg" {
	sudoers '!use_pty'
	below_sudo in_front
}

@test "pty: when the terminal hangs up, no program is left, whether stopped or not" {
	need vim less fzf
	local line stop
	for line in 'vim -nu NONE fruit' 'less fruit' 'fzf <fruit'; do
		for stop in '' stop; do
			printf '%s\n' "send \$W $line\\n" "shown apple ${line%% *}" \
				$stop close | at_prompt
		done
	done
}

@test "pty: when the terminal hangs up, nothing is left of sudo" {
	for setting in use_pty '!use_pty'; do
		sudoers "$setting"
		at_prompt <<-'E'
			send $W sudo -n server -l log\n ;; until grep -qs ^ready log
			close
		E
	done
}

# --- leaders of a session ----------------------------------------------------

@test "pty: vim and less that lead a session go on after ^Z and end by their own keys" {
	need vim less
	# shellcheck disable=SC2086
	leading $VI fruit <<-'E'
		shown apple vim
		send \x1a ;; shown apple vim
		send \x03 ;; shown Type +:qa vim
		send :3cq\r ;; wait exit 3
	E
	leading less fruit <<-'E'
		shown END less
		send \x1a ;; shown END less
		send /pea\r ;; shown pea less
		send q ;; wait exit 0
	E
}

@test "pty: a shell that leads its session has job control" {
	leading bash --posix --norc --noprofile --noediting -i <<-'E'
		expect prompt>
		termios before
		send echo beg''un; cat\n ;; shown begun cat
		stop ;; send fg\n ;; until in_front && is S cat
		send hello\n ;; expect ^hello$ ;; expect ^hello$
		send \x03 ;; ended 130
		send exit 5\n ;; wait exit 5
	E
}

# How each ends is a race between the signal and what it reads.
@test "pty: when the terminal of a leader hangs up, nothing is left" {
	need vim less fzf
	local command
	for command in "$VI fruit" 'less fruit' fzf 'bash --norc -i' 'dash -i'; do
		# shellcheck disable=SC2086
		printf '%s\n' "until is S ${command%% *}" close | leading $command
	done
}

# --- panes of tmux -----------------------------------------------------------

# t WORD...: tmux with a server of this test's own
t() { tmux -S "$PWD/sock" -f /dev/null "$@" 3>&-; }

keys() { t send-keys -t one "$@"; }

# pane COMMAND...: in session `one`, till it shows apples; another one keeps the
# server of tmux, if it is not there yet: both are KEPT
pane() {
	t has-session -t other 2>/dev/null || {
		t new-session -d -s other sleep 300
		t set -g remain-on-exit on
		await_running '^sleep'
		mapfile -t KEPT < <(marked)
	}
	# shellcheck disable=SC2086
	t new-session -d -s one -x 80 -y 24 -c "$PWD/dir" $W "$@"
	on_screen apple
}

on_screen() { until_true "t capture-pane -p -t one | grep -q -e '$1'"; }

# of_pane FORMAT VALUE. tmux loses the SIGCHLD that comes while it writes utmp,
# and makes up for it at the next.
of_pane() {
	until_true "t run-shell true
		[ \"\$(t display-message -p -t one '#{$1}')\" = '$2' ]"
}

# gone_from_tmux COMMAND: by this one; nothing of the pane is left
gone_from_tmux() {
	t "$1" -t one
	await_nobody "${KEPT[@]}"
}

@test "pty: vim in tmux has its path, ^Z, a new size, attach and its own status" {
	need tmux vim
	for W in "${ways[@]}"; do
		# shellcheck disable=SC2086
		pane $VI ../fruit
		of_pane pane_current_path "$PWD/dir"
		[ -z "$W" ] || of_pane pane_current_command ownerwrap
		keys C-z ':call writefile(["on"], "got")' Enter
		await_line dir/got '^on$'
		t resize-window -t one -x 61
		keys ':call writefile([&columns], "got")' Enter
		await_line dir/got '^61$'
		kept=("${KEPT[@]}")
		mapfile -t KEPT < <(marked)
		for word in one two; do
			printf '%s\n' 'expect apple' "send ggO$word\\x1b:w\\r" \
				"until grep -qx $word fruit" 'send \x02d' \
				'expect detached' 'wait exit 0' >orders
			on_pty tmux -S sock attach -t one
		done
		KEPT=("${kept[@]}")
		keys ':3cq' Enter
		of_pane pane_dead_status 3
		gone_from_tmux kill-session
		printf '%s\n' apple pear >fruit
	done
	t kill-server
}

@test "pty: fzf in tmux, which continues what stops, goes on after ^Z" {
	need tmux fzf
	export FZF_DEFAULT_COMMAND='cat ../fruit'
	for W in "${ways[@]}"; do
		pane env fzf	# a lone word would be for a shell
		on_screen 2/2
		keys C-z app
		on_screen 1/2
		keys Enter
		of_pane pane_dead_status 0
		gone_from_tmux kill-session
	done
	t kill-server
}

@test "pty: tmux has the path of a shell that goes elsewhere, and its status" {
	need tmux
	for W in "${ways[@]}"; do
		pane sh -c 'echo apple; exec bash --norc --noprofile -i'
		keys "cd $HOME" Enter
		of_pane pane_current_path "$HOME"
		keys 'exit 5' Enter
		of_pane pane_dead_status 5
		gone_from_tmux kill-session
	done
	t kill-server
}

@test "pty: a killed pane, session or server of tmux leaves nothing" {
	need tmux vim less
	local command
	for W in "${ways[@]}"; do
		for command in "$VI ../fruit" 'less ../fruit'; do
			# shellcheck disable=SC2086
			pane $command
			gone_from_tmux kill-pane
			# shellcheck disable=SC2086
			pane $command
			gone_from_tmux kill-session
			# shellcheck disable=SC2086
			pane $command
			t kill-server
			await_nobody
		done
	done
}
