#!/bin/sh
# The main job with a real server, as a timeline: a launcher (sh -c) starts a
# web server under ownerwrap, somebody is killed, and the port is free again
# and nobody is left. A step that is not as said ends the demo with status 1.
# shellcheck disable=SC2046,SC2086 # a list of pids is a list of words
set -u
cd "$(dirname "$0")/.." || exit 1
OW=${OWNERWRAP_BIN:-$PWD/ownerwrap}
fixtures=$PWD/.build/fixtures
dir=$(mktemp -d) || exit 1
owner=
family=
trap 'finish' EXIT
trap 'exit 1' INT TERM HUP

finish() {
	[ -z "$owner$family" ] || kill -9 $owner $family 2>/dev/null
	rm -rf "$dir"
}

# Milliseconds, where date has them.
now() {
	case $(date +%3N) in
	*[!0-9]*) echo "$(date +%s)000" ;;
	*) date +%s%3N ;;
	esac
}

step() {
	printf '%7d ms  %s\n' $(($(now) - begun)) "$*"
}

fail() {
	step "NOT AS SAID: $*"
	sed 's/^/            /' "$dir/stderr"
	exit 1
}

# "pid parent state" of every process.
processes() {
	if command -v ps >/dev/null; then
		ps -A -o pid= -o ppid= -o stat=
		return
	fi
	for stat in /proc/[0-9]*/stat; do
		read -r line 2>/dev/null <"$stat" || continue
		set -- ${line##*) }
		echo "${line%% *} $2 $1"
	done
}

children_of() {
	processes | while read -r pid parent state; do
		case $state in Z*) continue ;; esac
		[ "$parent" -ne "$1" ] || echo "$pid"
	done
}

descendants_of() {
	for child in $(children_of "$1"); do
		echo "$child"
		(descendants_of "$child")
	done
}

# Those of the pids given that live; a zombie does not.
alive() {
	processes | while read -r pid parent state; do
		case $state in Z*) continue ;; esac
		for wanted; do [ "$pid" -ne "$wanted" ] || echo "$pid"; done
	done
}

# eventually SECONDS COMMAND...
eventually() {
	limit=$(($(now) + $1 * 1000))
	shift
	until "$@"; do
		[ "$(now)" -lt "$limit" ] || return 1
		sleep 0.02
	done
}

port_known() {
	port=$(sed -n 's/.*port \([0-9][0-9]*\).*/\1/p' "$dir/stdout" \
		"$dir/stderr" | head -n 1)
	[ -n "$port" ]
}

fetch() {
	if command -v curl >/dev/null; then
		curl -fs --noproxy '*' "http://127.0.0.1:$port/"
	elif command -v wget >/dev/null; then
		wget -q --no-proxy -O - "http://127.0.0.1:$port/"
	else
		"$fixtures/net" get "$port"
	fi
}

answers() {
	fetch >"$dir/page" 2>/dev/null && [ -s "$dir/page" ]
}

family_gone() {
	[ -z "$(alive $family)" ]
}

# The owner is a process of its own that starts the launcher and waits.
begin() {
	begun=$(now)
	: >"$dir/stdout"
	: >"$dir/stderr"
	rm -f "$dir/launcher" "$dir/status"
	(
		cd "$dir" || exit 1
		sh -c 'echo $$ >launcher; "$@"; echo $? >status' \
			launcher "$OW" -v -- "$@" >stdout 2>stderr
		:
	) &
	owner=$!
	eventually 10 port_known || fail "no server"
	eventually 10 answers || fail "the page can't be fetched"
	launcher=$(cat "$dir/launcher")
	front=$(children_of "$launcher")
	family=$(descendants_of "$launcher")
	step "the launcher $launcher of owner $owner ran: ownerwrap -v -- $*"
	step "port $port answers; below the launcher are:" $family
}

# ended STATUS SECONDS: the launcher has seen this status, nobody is left.
ended() {
	eventually "$2" family_gone || fail "left:" $(alive $family)
	family=
	step "nobody is left"
	"$fixtures/net" bind -r "$port" || fail "the port is still in use"
	step "port $port is free"
	eventually 10 test -s "$dir/status" || fail "the launcher still waits"
	status=$(cat "$dir/status")
	[ "$status" -eq "$1" ] || fail "status $status instead of $1"
	step "the launcher was told status $status"
	sed -n 's/^ownerwrap\[/            &/p' "$dir/stderr"
	kill -9 $owner 2>/dev/null
	wait $owner 2>/dev/null
	owner=
}

if python3 -c 'import http.server' 2>/dev/null; then
	echo '<p>It works.</p>' >"$dir/index.html"
	export PYTHONUNBUFFERED=1
	set -- python3 -m http.server --bind 127.0.0.1 0
else
	set -- "$fixtures/server" -n -p
fi

echo "1. The owner is killed"
begin "$@"
sleep 1 # one that ends at once is told apart: was it meant to be the owner?
kill -9 $owner
step "KILL to the owner $owner"
ended 124 20

echo "2. ownerwrap itself is killed"
begin "$@"
kill -9 "$front"
step "KILL to ownerwrap $front"
ended 137 10

echo "3. ownerwrap is told to stop"
begin "$@"
kill "$front"
step "TERM to ownerwrap $front"
ended 143 10
