#!/usr/bin/env bats
# Lines that people copy from the README.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need jq
	need_module @modelcontextprotocol/sdk
}

client() { host node "$HOSTS/mcp-client.js" "$@"; }

# without_ownerwrap: a PATH in which it can't be found, wherever it is installed
without_ownerwrap() {
	local name
	mkdir only
	for name in sh env node npm npx; do
		ln -s "$(command -v "$name")" only/
	done
	echo "$BATS_TEST_TMPDIR/only"
}

# put_in_front FILE: the line
put_in_front() {
	ow=$(command -v ownerwrap) && jq --arg ow "$ow" '(.mcpServers // .servers)[] |=
		if .command and (.command | split("/") | last) != "ownerwrap" then
			.args = [.command] + .args | .command = $ow else . end' \
		"$1" >"$1.new" && mv "$1.new" "$1"
}

@test "line: where ownerwrap is missing, the launch line begins the server alone" {
	need_module @modelcontextprotocol/server-filesystem
	client close env PATH="$(without_ownerwrap)" sh -c \
		'exec $(command -v ownerwrap) npx -y @modelcontextprotocol/server-filesystem .'
	finish "$HOST"
	expect_status 0
	assert_lines "$OUT" '^called ' 1
	await_nobody
}

@test "line: where ownerwrap is there, the launch line ties the server to the client" {
	client stay sh -c \
		'exec $(command -v ownerwrap) node "$0/mcp-server.js" eof' "$HOSTS"
	await_line "$OUT" '^done$'
	assert_lines "$OUT" '^called "eof"$' 1
	kill -KILL "$HOST"
	await_nobody
	assert_lines "$ERR" '; stopping server ' 1
}

@test "line: jq puts ownerwrap in front of all commands, once, and of nothing else" {
	ow=$BATS_TEST_TMPDIR/bin/ownerwrap
	cat >mcp.json <<-'E'
		{"mcpServers": {
			"npx": {"command": "npx", "args": ["-y", "some", "a b"], "env": {"A": "1"}},
			"bare": {"type": "stdio", "command": "/opt/some server"},
			"done": {"command": "ownerwrap", "args": ["uvx", "x"]},
			"there": {"command": "/opt/bin/ownerwrap", "args": ["uvx", "x"]},
			"http": {"type": "http", "url": "https://example.com/mcp"}},
		 "other": {"command": "kept"}}
	E
	cat >wanted.json <<-E
		{"mcpServers": {
			"npx": {"command": "$ow", "args": ["npx", "-y", "some", "a b"],
				"env": {"A": "1"}},
			"bare": {"type": "stdio", "command": "$ow", "args": ["/opt/some server"]},
			"done": {"command": "ownerwrap", "args": ["uvx", "x"]},
			"there": {"command": "/opt/bin/ownerwrap", "args": ["uvx", "x"]},
			"http": {"type": "http", "url": "https://example.com/mcp"}},
		 "other": {"command": "kept"}}
	E
	for time in first second; do
		echo "$time"
		put_in_front mcp.json
		diff <(jq -S . wanted.json) <(jq -S . mcp.json)
	done
}

@test "line: jq does the same in VS Code's mcp.json" {
	echo '{"inputs": [], "servers": {"some": {"command": "uvx", "args": ["x"]}}}' \
		>mcp.json
	put_in_front mcp.json
	assert_equal "$(jq -c .servers.some.args mcp.json)" '["uvx","x"]'
	assert_equal "$(jq -c .inputs mcp.json)" '[]'
}

@test "line: jq leaves the file as it is where ownerwrap is missing" {
	echo '{"servers": {"some": {"command": "uvx", "args": ["x"]}}}' >mcp.json
	cp mcp.json before
	path=$PATH
	PATH=$(without_ownerwrap)
	status=0
	put_in_front mcp.json || status=$?
	PATH=$path
	[ "$status" != 0 ]
	cmp before mcp.json
}

@test "line: what jq has written begins a server" {
	jq -n --arg file "$HOSTS/mcp-server.js" \
		'{mcpServers: {some: {command: "node", args: [$file, "eof"]}}}' >mcp.json
	put_in_front mcp.json
	mapfile -t command < <(jq -r '.mcpServers.some | .command, .args[]' mcp.json)
	client stay "${command[@]}"
	await_line "$OUT" '^done$'
	kill -KILL "$HOST"
	await_nobody
	assert_lines "$ERR" '; stopping server ' 1
}

@test "line: a container's ENTRYPOINT with --owner-fd 0 ends when its client does" {
	need_pidns
	client stay "${PIDNS[@]}" ownerwrap --owner-fd 0 -k 1 -- \
		node "$HOSTS/mcp-server.js" deaf
	await_line "$OUT" '^done$' || { cat "$ERR" >&2; return 1; }
	kill -KILL "$HOST"
	await_nobody
	assert_lines "$ERR" 'owner fd 0.* is gone; stopping server ' 1
}

@test "line: the same below tini" {
	need tini
	need_pidns
	client stay "${PIDNS[@]}" tini -- ownerwrap --owner-fd 0 -k 1 -- \
		node "$HOSTS/mcp-server.js" deaf
	await_line "$OUT" '^done$' || { cat "$ERR" >&2; return 1; }
	kill -KILL "$HOST"
	await_nobody
}

@test "line: a client's close() ends what is behind --owner-fd 0" {
	need_pidns
	client close "${PIDNS[@]}" ownerwrap --owner-fd 0 -g 0 -- \
		node "$HOSTS/mcp-server.js" eof
	finish "$HOST"
	expect_status 0
	await_nobody
}
