#!/usr/bin/env bats
# npm's scripts, with a development server.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need_module vite
	PORT=$(some_port)
	# vite keeps a cache beside its package.
	rm node_modules
	mkdir node_modules
	ln -s "$MODULES/.bin" "$MODULES"/* node_modules/
	jq -n --arg vite "vite --host 127.0.0.1 --strictPort --port $PORT" '{scripts: {
		dev: $vite, wrapped: ("ownerwrap -- " + $vite),
		named: ("ownerwrap -p ${EDITOR_PID:-$PPID} -- " + $vite),
		outer: "npm run middle", middle: "npx -y \($vite)"}}' >package.json
	echo '<h1>hello</h1>' >index.html
}

# dev COMMAND...: a host that has the server begun by it; waits for its page
dev() {
	: >log
	host node "$HOSTS/node-host.js" plain "$@"
	until_true 'page' "a page from port $PORT"
	FRONT=$(pid_in "$OUT" front)
	track "$FRONT"
}

# page: what the server gives for /
page() {
	local line
	{
		exec 8<>"/dev/tcp/127.0.0.1/$PORT" &&
			printf '%s\r\n' 'GET / HTTP/1.1' 'Host: 127.0.0.1' \
				'Connection: close' '' >&8
	} 2>/dev/null || return 1
	while IFS= read -r -t 10 -u 8 line; do
		[[ $line != *'<h1>hello</h1>'* ]] || break
	done
	exec 8>&-
	[[ $line == *'<h1>hello</h1>'* ]]
}

nothing_left() {
	await_nobody "$@"
	port_free "$PORT"
}

@test "npm: kill -9 of the host ends npm run dev, its shell and vite" {
	dev ownerwrap -- npm run dev
	kill -KILL "$HOST"
	nothing_left
}

@test "npm: kill -9 of the host ends a server below four launchers" {
	dev ownerwrap -- npm run outer
	await_running 'npm run middle'
	kill -KILL "$HOST"
	nothing_left
}

@test "npm: TERM to the front ends the whole chain" {
	dev ownerwrap -- npm run outer
	kill -TERM "$FRONT"
	await_line "$OUT" '^end '
	nothing_left
}

@test "npm: kill -9 of the front ends the whole chain" {
	dev ownerwrap -- npm run outer
	kill -KILL "$FRONT"
	await_line "$OUT" '^end  SIGKILL$'
	nothing_left
}

@test "npm: in a script of npm, npm and its host are owners, past the shell (103)" {
	local npm
	dev npm run wrapped
	kill -KILL "$HOST"
	nothing_left
	dev npm run wrapped
	npm=$FRONT
	kill -KILL "$npm"
	nothing_left "$HOST"
}

@test "npm: in a script of npm, a named owner is the one that counts" {
	new_owner
	EDITOR_PID=$OWNER dev npm run named
	kill -KILL "$OWNER"
	await_line "$OUT" '^end '
	nothing_left
	assert_lines "$OUT" '^end 124 $' 1
}

@test "npm: in a script that names an owner, npm is it where there is none" {
	unset EDITOR_PID
	OWNERWRAP_LOG=$PWD/wlog dev npm run named
	assert_lines wlog 'started; owner [0-9]+ \(npm ' 1
	kill -KILL "$FRONT"
	nothing_left
}

@test "npm: ^C at the terminal ends the server and gives the prompt back" {
	cat >script <<-'E'
		timeout 30
		expect ready in
		send \x03
		wait
	E
	run pty -L script ownerwrap -- npm run dev
	expect_status 0
	# npm dies of it, and so does ownerwrap.
	expect_match 'pty: signal INT'
	nothing_left
}
