#!/usr/bin/env bats
# Hosts made with Node, among them VS Code's language client.

load hosts
bats_require_minimum_version 1.5.0

# node_host WHAT COMMAND...
node_host() {
	need_module tree-kill
	host node "$HOSTS/node-host.js" "$@"
}

# vscode TRANSPORT WORD...: the client, with its server
vscode() {
	need_module vscode-languageclient vscode-languageserver
	mkfifo orders
	exec 9<>orders
	VSCODE=("$HOSTS/lsp-server.js" "${@:2}")
	host sh -c 'exec "$@" <orders 9>&-' - \
		node "$HOSTS/vscode-host.js" "$1" ownerwrap -- node "${VSCODE[@]}"
	await_line "$OUT" '^ready$' || { cat "$ERR" >&2; return 1; }
	assert_lines "$OUT" '^answer grüße .* from [0-9]+$' 1
}

@test "node: kill -9 of a host that spawned with detached: true leaves nothing" {
	node_host detached ownerwrap -- server -l log -g plain -p
	await_line "$OUT" '^ready$'
	port=$(pid_in log port)
	kill -KILL "$HOST"
	await_nobody
	port_free "$port"
	terms 1
}

@test "node: process.kill(-pid, TERM) reaches each of the group once" {
	node_host group=SIGTERM ownerwrap -- server -l log -e 5 -g plain
	await_line "$OUT" '^end '
	assert_lines "$OUT" '^end 5 $' 1
	await_nobody
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
}

@test "node: process.kill(-pid, KILL) leaves nothing of a deaf server" {
	node_host group=SIGKILL ownerwrap -- server -l log -d -g deaf
	await_line "$OUT" '^end '
	assert_lines "$OUT" '^end  SIGKILL$' 1
	await_nobody
}

@test "node: tree-kill with TERM reaches each once, and the status is the server's" {
	node_host tree=SIGTERM ownerwrap -- server -l log -e 5 -t 300 -g slow=100
	await_line "$OUT" '^end '
	assert_lines "$OUT" '^end 5 $' 1
	await_nobody
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
	assert_lines log '^done$' 1
}

@test "node: tree-kill with KILL leaves nothing" {
	node_host tree=SIGKILL ownerwrap -- server -l log -d -g deaf -g deaf,setpgid
	await_line "$OUT" '^end '
	assert_lines "$OUT" '^end  SIGKILL$' 1
	await_nobody
}

@test "node: an aborted signal stops the server and its child" {
	node_host abort ownerwrap -- server -l log -e 5 -g plain
	await_line "$OUT" '^end '
	assert_lines "$OUT" '^end 5 $' 1
	await_nobody
	terms 1
}

@test "node: messages, a socket and the end of an IPC channel go both ways" {
	node_host ipc ownerwrap -- node "$HOSTS/ipc-server.js"
	await_line "$OUT" '^end '
	assert_lines "$OUT" '^got 10 "grüße ' 1
	assert_lines "$OUT" '^got 1048578 "xxx' 1
	assert_lines "$OUT" '^socket taken$' 1
	# It ended by itself: by the end of the channel, which nobody else holds.
	assert_lines "$OUT" '^disconnect$' 1
	assert_lines "$OUT" '^end 3 $' 1
	await_nobody
}

@test "node: kill -9 of a host with an IPC channel ends the channel at once" {
	node_host ipc-stay ownerwrap -g 5 --log wlog -- node "$HOSTS/ipc-server.js"
	await_line "$OUT" '^talked$'
	kill -KILL "$HOST"
	await_nobody
	assert_lines "$OUT" '^disconnect$' 1
	logged '.*still there.*' 0
}

@test "vscode: a client with runtime: ownerwrap has its answer by IPC, and stop() leaves nothing" {
	vscode ipc
	echo stop >&9
	await_line "$OUT" '^stopped '
	await_nobody "$HOST"
}

@test "vscode: the same by stdio" {
	vscode stdio
	echo stop >&9
	await_line "$OUT" '^stopped '
	await_nobody "$HOST"
}

@test "vscode: the same by a named pipe" {
	vscode pipe
	echo stop >&9
	await_line "$OUT" '^stopped '
	await_nobody "$HOST"
}

@test "vscode: a deaf server and its child fall to the client's kill -9, leaves first" {
	vscode ipc deaf
	await_running '^sleep 300'
	echo stop >&9
	await_line "$OUT" '^stopped '
	await_nobody "$HOST"
}

@test "vscode: kill -9 of the extension host leaves nothing of a deaf server" {
	OWNERWRAP_KILL_AFTER=1 vscode ipc deaf
	kill -KILL "$HOST"
	await_nobody
}
