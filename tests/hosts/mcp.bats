#!/usr/bin/env bats
# Clients of the Model Context Protocol, which begin a server for each session.

load hosts
bats_require_minimum_version 1.5.0

EVERYTHING=@modelcontextprotocol/server-everything
FILES=@modelcontextprotocol/server-filesystem

setup() {
	hosts_setup
	need_module @modelcontextprotocol/sdk $EVERYTHING $FILES
}

# client WHAT COMMAND...
client() { host node "$HOSTS/mcp-client.js" "$@"; }

# closed: how long close() took, in ms
closed() { sed -n 's/^closed //p' "$OUT"; }

@test "mcp: a server through npx answers, and close() ends it at the end of its input" {
	client close ownerwrap -- npx -y $EVERYTHING
	finish "$HOST"
	expect_status 0
	assert_lines "$OUT" '^initialized mcp-servers/everything$' 1
	assert_lines "$OUT" '^tools [1-9][0-9]*$' 1
	assert_lines "$OUT" '^called Echo: grüße, ' 1
	[ "$(closed)" -lt 2000 ] || fail "close() took $(closed) ms"
	await_nobody
	assert_lines "$ERR" ownerwrap 0
}

@test "mcp: the SDK has the same answers with and without" {
	client close npx -y $FILES "$BATS_TEST_TMPDIR/home"
	finish "$HOST"
	sed '/^server \|^closed /d' "$OUT" >without
	mv "$ERR" without.err
	client close ownerwrap -- npx -y $FILES "$BATS_TEST_TMPDIR/home"
	finish "$HOST"
	expect_status 0
	sed '/^server \|^closed /d' "$OUT" | diff without -
	diff without.err "$ERR"
	assert_lines without '^called "Allowed directories:' 1
	await_nobody
}

@test "mcp: close() ends a server that does not heed the end of its input by TERM" {
	client close ownerwrap -- node "$HOSTS/mcp-server.js" eof
	finish "$HOST"
	expect_status 0
	assert_lines "$OUT" '^called "eof"$' 1
	# The SDK waits 2 s after each of its steps.
	if [ "$(closed)" -lt 1990 ] || [ "$(closed)" -ge 3990 ]; then
		fail "close() took $(closed) ms"
	fi
	await_nobody
}

@test "mcp: close() leaves nothing of a deaf server, whose front it has to kill" {
	client close ownerwrap -- node "$HOSTS/mcp-server.js" deaf
	finish "$HOST"
	expect_status 0
	[ "$(closed)" -ge 3990 ] || fail "close() took $(closed) ms"
	await_nobody
}

@test "mcp: kill -9 of the client leaves nothing of a server that ignores the end of its input" {
	client stay ownerwrap -k 1 -- node "$HOSTS/mcp-server.js" deaf
	await_line "$OUT" '^done$'
	kill -KILL "$HOST"
	await_nobody
	assert_lines "$ERR" 'owner [0-9]+ \(node, .*; stopping server' 1
	assert_lines "$ERR" 'still there .* after TERM: killed$' 1
}

@test "mcp: kill -9 of the client before a word is said, and the server's port is free" {
	local port
	port=$(some_port)
	PORT=$port client start ownerwrap -- npx -y $EVERYTHING streamableHttp
	until_true "listening $port"
	kill -KILL "$HOST"
	await_nobody
	port_free "$port"
}

@test "mcp: kill -9 of the client while npx still starts the server leaves nothing" {
	client start ownerwrap --log wlog -v -- npx -y $EVERYTHING streamableHttp
	await_line wlog 'server [0-9]+ started'
	kill -KILL "$HOST"
	await_nobody
}

@test "mcp: ten clients at once have ten servers, and nothing of them is left" {
	client many ownerwrap -k 1 -- node "$HOSTS/mcp-server.js" deaf
	await_line "$OUT" '^done$'
	assert_lines "$OUT" '^called "deaf"$' 10
	kill -KILL "$HOST"
	await_nobody
}

@test "mcp: of ten real servers through npx each has its own words, and all end with their client" {
	client many ownerwrap -- npx -y $EVERYTHING
	await_line "$OUT" '^done$'
	for n in 0 1 2 3 4 5 6 7 8 9; do
		assert_lines "$OUT" "^called Echo: hello $n\$" 1
	done
	assert_lines "$OUT" '^ended$' 0
	kill -KILL "$HOST"
	await_nobody
}

@test "mcp: TERM to the client leaves nothing either" {
	client stay ownerwrap -- npx -y $EVERYTHING
	await_line "$OUT" '^done$'
	kill -TERM "$HOST"
	await_nobody
}

@test "mcp: the server's own end is known to the client at once" {
	client stay ownerwrap -- node "$HOSTS/mcp-server.js" eof
	await_line "$OUT" '^done$'
	await_running "mcp-server.js eof"
	kill -KILL "$(below "$(supervisor_of "$(pid_in "$OUT" server)")")"
	await_line "$OUT" '^ended$'
	kill -KILL "$HOST"
	await_nobody
}

@test "mcp: the inspector's command line calls a tool" {
	need_module @modelcontextprotocol/inspector
	run --separate-stderr mcp-inspector --cli ownerwrap -- npx -y $EVERYTHING \
		--method tools/call --tool-name echo --tool-arg message=hi
	expect_status 0
	expect_match '"Echo: hi"'
	await_nobody
}

@test "mcp: the inspector reads a configuration" {
	need_module @modelcontextprotocol/inspector
	# Without --, which the inspector takes for itself.
	jq -n '{mcpServers: {some: {command: "ownerwrap", args: $ARGS.positional}}}' \
		--args npx "$EVERYTHING" >mcp.json
	run --separate-stderr mcp-inspector --cli --config mcp.json --server some \
		--method tools/call --tool-name echo --tool-arg message=hi
	expect_status 0
	expect_match '"Echo: hi"'
	await_nobody
}
