#!/usr/bin/env bats
# Emacs' client eglot, with bash-language-server. Emacs begins a session for each
# of its processes, and kills them by their group.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need emacs emacsclient jq
	need_module bash-language-server
	cat >greet.sh <<-'E'
		# grüße: says 😀 to $1
		greet() {
			echo "grüße, $1"
		}
		greet you
	E
}

# edit WHAT COMMAND...: Emacs has had its answer
edit() {
	server_is "${@:2}"
	SERVER=$SERVER WHAT=$1 host emacs -Q --batch -l "$HOSTS/emacs-host.el"
	answered
}

server_is() {
	SERVER=$(jq -cn '$ARGS.positional' --args -- "$@")
	rm -f said
}

answered() {
	until_true 'has_line said "^ready"' || {
		cat "$OUT" "$ERR" >&2
		return 1
	}
	assert_lines said '^answer .*grüße: says ' 1
}

# deaf WHAT [OPTION...]: a server that has to be killed
deaf() {
	edit "$1" ownerwrap --log wlog -v "${@:2}" -- node "$HOSTS/lsp-server.js" \
		--stdio deaf
}

@test "emacs: a hover is answered as without, and kill-emacs leaves nothing" {
	edit quit bash-language-server start
	finish "$HOST"
	mv said without
	edit quit ownerwrap -- npx -y bash-language-server start
	finish "$HOST"
	expect_status 0
	diff without said
	await_nobody
}

@test "emacs: kill -9 leaves nothing, through npx" {
	edit stay ownerwrap -- npx -y bash-language-server start
	kill -KILL "$HOST"
	await_nobody
}

@test "emacs: kill -9 leaves nothing of a deaf server" {
	deaf stay -k 1
	kill -KILL "$HOST"
	await_nobody
	assert_lines wlog "; stopping server " 1
}

@test "emacs: kill -9, the owner being named by its pid" {
	deaf stay -k 1 --owner-pid MYPID
	assert_lines wlog "started; owner $HOST \\(emacs, " 1
	kill -KILL "$HOST"
	await_nobody
}

@test "emacs: kill-emacs leaves nothing of a deaf server" {
	deaf quit -k 1
	finish "$HOST"
	await_nobody
}

@test "emacs: delete-process, which is KILL to the group, leaves nothing of a deaf server" {
	deaf delete
	await_line said '^exit '
	assert_lines said '^exit signal 9$' 1
	await_nobody "$HOST"
}

@test "emacs: eglot-shutdown leaves nothing, through npx" {
	edit shutdown ownerwrap -- npx -y bash-language-server start
	await_line said '^exit '
	await_nobody "$HOST"
}

@test "emacs: a server is its daemon's, not the frame's that began it" {
	server_is ownerwrap -k 1 --log wlog -v -- node "$HOSTS/lsp-server.js" \
		--stdio deaf
	SERVER=$SERVER WHAT=stay emacs -Q --daemon=some >daemon 2>&1 3>&-
	DAEMON=$(emacsclient -s some --eval '(emacs-pid)')
	track "$DAEMON"
	emacsclient -s some --eval "(load \"$HOSTS/emacs-host.el\")"
	answered
	assert_lines wlog "started; owner $DAEMON \\(emacs, " 1
	lives_on 500 "$(pgrep -f -P "$DAEMON" ownerwrap)"
	kill -KILL "$DAEMON"
	await_nobody
}
