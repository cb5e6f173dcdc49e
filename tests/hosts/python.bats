#!/usr/bin/env bats
# Hosts made with Python, and uvicorn as the server.

load hosts
bats_require_minimum_version 1.5.0

# python_host WHAT COMMAND...
python_host() {
	need_python
	host "$PYTHON" "$HOSTS/python-host.py" "$@"
}

# uvicorn OPTION...: begun by a host, with two workers, which have come up
uvicorn() {
	need_python uvicorn
	PORT=$(some_port)
	python_host session ownerwrap "$@" -- "$PYTHON" -m uvicorn --workers 2 \
		--timeout-keep-alive 60 --app-dir "$HOSTS" --port "$PORT" app:app
	FRONT=$(pid_in "$OUT" front)
	track "$FRONT"
	until_true '[ "$(count_lines log "^ready ")" = 2 ]' 'two workers'
}

# hello PATH: a request, whose connection stays open as descriptor 7
hello() {
	local line
	exec 7<>"/dev/tcp/127.0.0.1/$PORT"
	printf 'GET %s HTTP/1.1\r\nHost: x\r\n\r\n' "$1" >&7
	while IFS= read -r -t 10 -u 7 line; do
		[ "$line" != hello ] || return 0
	done
	fail "no answer from port $PORT"
}

# shut_down: both workers have put everything in order, and the port is free
shut_down() {
	local files=(done.*)
	assert_equal "${#files[@]}" 2 "${files[*]}"
	assert_equal "$(tail -qn 1 "${files[@]}" | xargs)" 'whole whole'
	[ -z "$(compgen -G 'pid.*')$(compgen -G 'tmp.*')" ] || fail "$(ls)"
	can_listen
}

# can_listen: TIME_WAIT forbids more than this
can_listen() {
	! listening "$PORT"
	"$PYTHON" -c 'if True:
		import socket, sys
		s = socket.socket()
		s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
		s.bind(("127.0.0.1", int(sys.argv[1])))
		s.listen()' "$PORT"
}

@test "python: kill -9 of a host that used start_new_session leaves nothing" {
	python_host session ownerwrap -- server -l log -g plain
	await_line "$OUT" '^ready$'
	kill -KILL "$HOST"
	await_nobody
	terms 1
}

@test "python: killpg with TERM reaches each of the group once" {
	python_host killpg=TERM ownerwrap -- server -l log -e 5 -g plain
	finish "$HOST"
	assert_lines "$OUT" '^end 5$' 1
	await_nobody
	terms 1
	assert_lines log '^\[[0-9]+\] TERM ' 1
}

@test "python: killpg with KILL leaves nothing" {
	python_host killpg=KILL ownerwrap -- server -l log -d -g deaf
	finish "$HOST"
	assert_lines "$OUT" '^end -9$' 1
	await_nobody
}

@test "python: a cancelled task of asyncio terminates the server" {
	python_host cancel ownerwrap -- server -l log -e 5 -g plain
	finish "$HOST"
	assert_lines "$OUT" '^end 5$' 1
	assert_lines "$OUT" '^cancelled$' 1
	await_nobody
	terms 1
}

@test "python: the end of the host of an asyncio subprocess leaves nothing" {
	python_host loop ownerwrap -- server -l log -g plain
	finish "$HOST"
	expect_status 0
	await_nobody
	terms 1
}

@test "python: a timeout of subprocess.run leaves nothing of a deaf server" {
	python_host timeout ownerwrap -- server -l log -d -g deaf
	finish "$HOST"
	assert_lines "$OUT" '^end$' 1
	await_nobody
}

@test "python: nothing happens to a server whose thread has ended, till its process does" {
	python_host thread ownerwrap -g 0 -- server -l log
	await_line "$OUT" '^ready$'
	server=$(server_pid log)
	lives_on 1000 "$server"
	terms 0
	kill -KILL "$HOST"
	await_nobody
	terms 1
}

@test "python: of a forked worker and its parent, the worker is the owner" {
	python_host fork ownerwrap -- server -l log
	await_line "$OUT" '^ready$'
	kill -KILL "$(pgrep -P "$HOST")"
	until_true 'gone "$(server_pid log)"'
	await_nobody
}

@test "uvicorn: the owner is killed, and two workers shut down as they like" {
	uvicorn
	hello /
	kill -KILL "$HOST"
	await_nobody
	shut_down
}

@test "uvicorn: TERM to the front lets two workers shut down as they like" {
	uvicorn
	hello /
	kill -TERM "$FRONT"
	await_nobody
	shut_down
	assert_lines "$OUT" '^end 0$' 1
}

@test "uvicorn: KILL of the front lets two workers shut down as they like" {
	uvicorn
	hello /
	kill -KILL "$FRONT"
	await_nobody
	shut_down
}

@test "uvicorn: an answer that is on its way is still given" {
	uvicorn -g 0
	exec 7<>"/dev/tcp/127.0.0.1/$PORT"
	printf 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n' >&7
	let_pass 300
	kill -KILL "$HOST"
	until_true 'IFS= read -r -t 10 -u 7 line && [ "$line" = hello ]'
	await_nobody
	shut_down
}

@test "uvicorn: a second client keeps it with --keep-connected, until it goes" {
	uvicorn --keep-connected --grace 1
	hello /
	kill -KILL "$HOST"
	await_line "$ERR" 'no owner left, kept: '
	lives_on 2500 "$FRONT"
	hello /
	exec 7>&-
	await_nobody
	shut_down
}
