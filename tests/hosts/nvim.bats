#!/usr/bin/env bats
# Neovim's client, with bash-language-server.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need nvim jq
	need_module bash-language-server
	cat >greet.sh <<-'E'
		# grüße: says 😀 to $1
		greet() {
			echo "grüße, $1"
		}
		greet you
	E
}

# edit WHAT COMMAND...: Neovim has had its answers
edit() {
	SERVER=$(jq -cn '$ARGS.positional' --args -- "${@:2}")
	rm -f said
	SERVER=$SERVER WHAT=$1 host nvim --clean --headless -n greet.sh \
		-c "luafile $HOSTS/nvim-host.lua"
	until_true 'has_line said "^completions"' || {
		cat "$OUT" "$ERR" home/.*/*/nvim/* >&2
		return 1
	}
}

answered() {
	assert_lines said '^answer .*grüße: says 😀 to \$1' 1
	assert_lines said '^completions [1-9]' 1
}

# same_order: what it said; the order of what has none depends on the run
same_order() {
	sed -n 's/^answer //p' said | jq -S .
	sed '/^answer /d' said | sort
}

# deaf WHAT [OPTION...]: a server that has to be killed
deaf() {
	edit "$1" ownerwrap --log wlog -v "${@:2}" -- node "$HOSTS/lsp-server.js" \
		--stdio deaf
}

@test "nvim: hover and completion answer as without" {
	edit quit bash-language-server start
	finish "$HOST"
	same_order >without
	edit quit ownerwrap -- bash-language-server start
	finish "$HOST"
	expect_status 0
	answered
	same_order | diff without -
	await_nobody
}

@test "nvim: :qa! leaves nothing, through npx" {
	edit quit ownerwrap -- npx -y bash-language-server start
	finish "$HOST"
	expect_status 0
	answered
	await_nobody
}

@test "nvim: :qa! leaves nothing of a deaf server" {
	deaf quit -k 1
	finish "$HOST"
	await_nobody
}

@test "nvim: kill -9 leaves nothing, through npx" {
	edit stay ownerwrap -- npx -y bash-language-server start
	answered
	kill -KILL "$HOST"
	await_nobody
}

@test "nvim: kill -9 leaves nothing of a deaf server" {
	deaf stay -k 1
	kill -KILL "$HOST"
	await_nobody
	assert_lines wlog 'still there .* after TERM: killed$' 1
}

@test "nvim: kill -9, the owner being named by its pid" {
	deaf stay -k 1 --owner-pid MYPID
	assert_lines wlog "started; owner $HOST \\(nvim, " 1
	kill -KILL "$HOST"
	await_nobody
}

@test "nvim: kill -9, the owner being named past a launcher" {
	edit stay sh -c 'ownerwrap -k 1 -n nvim --log wlog -v -- "$@"; exit' - \
		node "$HOSTS/lsp-server.js" --stdio deaf
	assert_lines wlog "started; owner $HOST \\(nvim, " 1
	kill -KILL "$HOST"
	await_nobody
}

@test "nvim: TERM leaves nothing" {
	deaf stay -k 1
	kill -TERM "$HOST"
	await_nobody
}

@test "nvim: the client's own stop ends the server, and Neovim lives on" {
	edit stop ownerwrap -- bash-language-server start
	await_line said '^exit '
	assert_lines said '^exit 0 0$' 1
	await_nobody "$HOST"
	assert_alive "$HOST"
}

@test "nvim: the client's stop by force is a TERM, to which --kill-after gives force" {
	deaf force -k 1
	await_line said '^exit '
	await_nobody "$HOST"
	assert_alive "$HOST"
	assert_lines wlog 'TERM relayed; sender [0-9]+ \(nvim\)' 1
}
