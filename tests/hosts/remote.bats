#!/usr/bin/env bats
# Servers whose host is on the other side of ssh, and make.

load hosts
bats_require_minimum_version 1.5.0

# remote: a connection of its own to this machine, as REMOTE, a prefix for
# commands; SSHD is the daemon
remote() {
	need ssh ssh-keygen /usr/sbin/sshd
	privileged 'to run sshd'
	mkdir -p /run/sshd
	PORT=$(some_port)
	ssh-keygen -q -t ed25519 -N '' -f host
	ssh-keygen -q -t ed25519 -N '' -f key
	# The environment has the mark of this test.
	printf '%s\n' "Port $PORT" 'ListenAddress 127.0.0.1' "HostKey $PWD/host" \
		"AuthorizedKeysFile $PWD/key.pub" 'StrictModes no' 'UsePAM no' \
		'PermitRootLogin yes' 'PidFile none' \
		"SetEnv OWTEST_ID=$OWTEST_ID PATH=$PATH NODE_PATH=$NODE_PATH" >config
	start /usr/sbin/sshd -D -e -f config
	SSHD=$PID
	until_true 'listening "$PORT"'
	REMOTE=(ssh -T -F none -p "$PORT" -i "$PWD/key"
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null
		-o LogLevel=ERROR 127.0.0.1)
}

@test "ssh: a stdio server answers, and kill -9 of the client leaves nothing" {
	remote
	need_module @modelcontextprotocol/sdk
	host node "$HOSTS/mcp-client.js" stay "${REMOTE[@]}" \
		ownerwrap -k 1 --owner-fd 0 -- node "$HOSTS/mcp-server.js" deaf
	await_line "$OUT" '^done$' || { cat "$ERR" >&2; return 1; }
	assert_lines "$OUT" '^called "deaf"$' 1
	kill -KILL "$HOST"
	await_nobody "$SSHD"
}

# ssh_alone WORD...: ssh has begun the server with ownerwrap and these words
ssh_alone() {
	remote
	mkfifo fifo
	host sh -c 'exec 9<>fifo; exec "$@" <&9 9>&-' - "${REMOTE[@]}" \
		ownerwrap -g 0.2 "$@" -- server -l "$PWD/log" -g plain
	server_pid log
}

@test "ssh: kill -9 of ssh ends a server whose owner is its standard input" {
	ssh_alone --owner-fd 0
	kill -KILL "$HOST"
	await_nobody "$SSHD"
	terms 1
}

@test "ssh: without an option the owner is the process of sshd for the connection" {
	ssh_alone -v
	await_line "$ERR" 'started; owner .* \(sshd, '
	kill -KILL "$HOST"
	await_nobody "$SSHD"
	terms 1
}

@test "make: kill -9 of make ends the server of a rule, past its shell" {
	printf 'dev:\n\townerwrap -g 0.2 -- server -l log; true\n' >Makefile
	host make dev
	server_pid log
	kill -KILL "$HOST"
	await_nobody
	terms 1
}
