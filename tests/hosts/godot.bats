#!/usr/bin/env bats
# Godot's editor, whose plugin begins a server.

load hosts
bats_require_minimum_version 1.5.0

setup() {
	hosts_setup
	need godot3-server jq
	mkdir -p project/addons/hosts
	cp "$HOSTS/godot/plugin.gd" project/addons/hosts/
	printf '%s\n' '[plugin]' 'name="hosts"' 'description=""' 'author=""' \
		'version="1"' 'script="plugin.gd"' >project/addons/hosts/plugin.cfg
	printf '%s\n' 'config_version=4' '[application]' 'config/name="hosts"' \
		'[editor_plugins]' 'enabled=PoolStringArray( "hosts" )' \
		>project/project.godot
}

# editor WHAT COMMAND...: Godot's editor has begun the server, whose log is ./log
editor() {
	COMMAND=$(jq -cn '$ARGS.positional' --args -- "${@:2}") WHAT=$1 \
		host godot3-server --editor --path project
	FRONT=$(pid_in project/said front) || {
		cat "$OUT" "$ERR" >&2
		return 1
	}
	track "$FRONT"
	server_pid log
}

@test "godot: kill -9 of the editor leaves nothing, and the port is free" {
	editor stay ownerwrap -- server -l "$PWD/log" -p -g plain
	port=$(pid_in log port)
	kill -KILL "$HOST"
	await_nobody
	port_free "$port"
	terms 1
}

@test "godot: kill -9 of the editor, its pid being named, past a shell" {
	editor stay sh -c 'ownerwrap -k 0.5 -p MYPID -- "$@" & wait; exit' - \
		server -l "$PWD/log" -d -g deaf
	kill -KILL "$HOST"
	await_nobody
}

@test "godot: OS.kill, which kills the front, leaves nothing" {
	editor kill ownerwrap -- server -l "$PWD/log" -p -g plain
	await_line project/said '^killed$'
	await_nobody "$HOST"
	terms 1
}

@test "godot: the editor's end leaves nothing" {
	editor quit ownerwrap -- server -l "$PWD/log" -p -g plain
	finish "$HOST"
	await_nobody
	terms 1
}
