#!/usr/bin/env bats
# opencode, an agent, whose servers are named in its configuration.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	local binary
	hosts_setup
	need jq curl
	need_module @modelcontextprotocol/sdk
	for binary in "$MODULES"/opencode-linux-*/bin/opencode; do
		[ ! -x "$binary" ] || "$binary" --version >/dev/null 2>&1 ||
			continue
		OPENCODE=$binary
	done
	[ -x "$OPENCODE" ] || skip_or_fail 'needs opencode'
	export OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
}

# agent_with COMMAND...: its configuration has this server
agent_with() {
	jq -n '{autoupdate: false, mcp: {some: {type: "local", enabled: true,
		command: $ARGS.positional}}}' --args -- "$@" >opencode.json
}

# serving: it serves, and has begun the server
serving() {
	PORT=$(some_port)
	host "$OPENCODE" serve --hostname 127.0.0.1 --port "$PORT"
	await_line "$OUT" 'listening on '
	run curl -sS -m 30 "http://127.0.0.1:$PORT/mcp"
	expect_output '{"some":{"status":"connected"}}'
}

@test "agent: it connects to a server through npx, and leaves nothing at its end" {
	agent_with ownerwrap --log wlog -v -- npx -y @modelcontextprotocol/server-everything
	host "$OPENCODE" mcp list
	finish "$HOST"
	expect_status 0
	assert_lines "$OUT" 'some .*connected' 1
	assert_lines wlog "started; owner $HOST \\(opencode, " 1
	await_nobody
}

@test "agent: it leaves nothing of a deaf server at its end" {
	agent_with ownerwrap -k 1 -- node "$HOSTS/mcp-server.js" deaf
	host "$OPENCODE" mcp list
	finish "$HOST"
	assert_lines "$OUT" 'some .*connected' 1
	await_nobody
}

@test "agent: kill -9 leaves nothing of a deaf server" {
	agent_with ownerwrap -k 1 -- node "$HOSTS/mcp-server.js" deaf
	serving
	kill -KILL "$HOST"
	await_nobody
	assert_lines terms TERM 1
}

@test "agent: TERM leaves nothing of a deaf server" {
	agent_with ownerwrap -k 1 -- node "$HOSTS/mcp-server.js" deaf
	serving
	kill -TERM "$HOST"
	await_nobody
}
