#!/usr/bin/env bash
# What ownerwrap and others leave behind, or end wrongly: the nine situations
# of columns.bats, for every wrapper that is installed, as a table. To have all:
#
#	apt-get install tini dumb-init catatonit coreutils util-linux bubblewrap
#
# The owner is the parent of the wrapper, since others know no other owner. A
# process that is still there WAIT seconds after the event (5) has been left.
# The status is 1 if that is so with ownerwrap.
set -u
cd "$(dirname "$0")/.." || exit 1
OW=${OWNERWRAP_BIN:-$PWD/ownerwrap}
PATH=$PWD/.build/fixtures:$PATH
WAIT=${WAIT:-5}
for variable in "${!OWNERWRAP@}"; do
	unset "$variable"
done
dir=$(mktemp -d) || exit 1
ids=$dir/ids
: >"$ids"
trap 'clear_away; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM HUP

titles=(
	'owner SIGKILLed: the server ends'
	'owner SIGKILLed: a server deaf to TERM ends'
	'owner SIGKILLed: children in other process groups end'
	'wrapper SIGKILLed: server and child end'
	"the owner's thread that started it ends: nothing else does"
	'server ends: the children that it leaves end'
	'TERM to the wrapper: server and children end'
	'owner SIGKILLed: a child in a session of its own ends'
	"the wrapper's group SIGKILLed: a child in another group ends"
)
columns=(1 2 3 4 5 6 7 8 9)

# marked ID: the processes that carry it in their environment, which zombies
# have none of; whatever wrapper or namespace they are in.
marked() {
	grep -lszxF -e "COMPARE_ID=$1" /proc/[0-9]*/environ | cut -d/ -f3
}

# servers: those of them that are the fixture, the server or a child of it
servers() {
	local pid name
	for pid in $(marked "$id"); do
		read -r name 2>/dev/null <"/proc/$pid/comm" || continue
		[ "$name" != server ] || echo "$pid"
	done
}

# inner PID: its number in its own pid namespace, which is the one it logs
inner() {
	awk '/^NSpid:/ { print $NF }' "/proc/$1/status" 2>/dev/null
}

# outer PID: the other way round
outer() {
	local pid
	for pid in $(servers); do
		[ "$(inner "$pid")" != "$1" ] || echo "$pid"
	done
}

# describe PID: by what the log says of it
describe() {
	local spec
	spec=$(sed -n "s/^child $(inner "$1") .* //p" log)
	case $spec in
	'') echo 'the server' ;;
	setpgid) echo 'a child in a group of its own' ;;
	setsid,pipe) echo 'a child in a session of its own' ;;
	deaf,double) echo "a deaf child's child" ;;
	deaf,setpgid,double) echo "a deaf child's child in a group of its own" ;;
	*) echo "a child ($spec)" ;;
	esac
}

# await SECONDS CONDITION...
await() {
	local end=$((${EPOCHREALTIME//[!0-9]/} + $1 * 1000000))
	until "${@:2}"; do
		[ "${EPOCHREALTIME//[!0-9]/}" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# shellcheck disable=SC2317 # called by await
logged() { grep -Eqs "$1" "$2"; }
# shellcheck disable=SC2317
nobody() { [ -z "$(servers)" ]; }
word_of() { sed -n "s/^$1 \\([0-9]*\\)\$/\\1/p" "$2" 2>/dev/null; }

clear_away() {
	local id pid
	while read -r id; do
		for pid in $(marked "$id"); do
			kill -KILL "$pid" 2>/dev/null
		done
	done <"$ids"
}

# column NUMBER WRAPPER...: prints `ok`, `leaves ...`, `ends ...`, `kills ...`, or
# why it can't be said. Works in a directory of its own, which it is in.
column() {
	local n=$1 server=(server -l "$PWD/log") owner=(owner -l olog) why pid
	local id=$$.$RANDOM.$BASHPID
	shift
	echo "$id" >>"$ids"
	case $n in
	2) server+=(-d) ;;
	3) server+=(-g setpgid -g 'deaf,setpgid,double') ;;
	4) server+=(-g setpgid) ;;
	5) owner+=(-t) ;;
	6 | 7) server+=(-g setpgid -g 'deaf,double') ;;
	8) server+=(-g 'setsid,pipe') ;;
	9)	server+=(-g setpgid)
		set -- setsid "$@" ;;
	esac
	COMPARE_ID=$id "${owner[@]}" "$@" "${server[@]}" </dev/null \
		>out 2>&1 &
	await 10 logged '^ready [0-9]+$' log || { echo 'does not start'; return; }
	case $n in
	[1238]) kill -KILL "$(word_of owner olog)" ;;
	4) kill -KILL "$(word_of cmd olog)" ;;
	5)	if await 2 nobody; then
			echo 'ends the server'
		else
			echo ok
		fi
		return ;;
	6) kill -TERM "$(outer "$(word_of ready log)")" ;;
	7) kill -TERM "$(word_of cmd olog)" ;;
	9) kill -KILL -- "-$(word_of cmd olog)" ;;
	esac
	if await "$WAIT" nobody; then
		if [[ $n = [69] ]] || logged '^TERM ' log; then
			echo ok
		else
			echo 'kills the server, which had no TERM'
		fi
		return
	fi
	for pid in $(servers); do
		why+=${why+, }$(describe "$pid")
	done
	echo "leaves ${why-nobody, but late}"
}

failed=0
found=()
printf '%-37s' ''
printf ' %5s' "${columns[@]}"
echo

# compare NAME WRAPPER...: a line of the table; all columns at once
compare() {
	local name=$1 n verdict
	shift
	printf '%-37s' "$name"
	if ! command -v "$1" >/dev/null; then
		echo ' not installed'
		return
	fi
	for n in "${columns[@]}"; do
		rm -rf "${dir:?}/$n"
		mkdir "$dir/$n"
		(cd "$dir/$n" && column "$n" "$@" >verdict) 2>/dev/null &
	done
	wait
	clear_away
	for n in "${columns[@]}"; do
		verdict=$(cat "$dir/$n/verdict")
		case $verdict in
		ok) printf ' %5s' ok ;;
		leaves*) printf ' %5s' LEFT ;;
		ends*) printf ' %5s' ENDED ;;
		kills*) printf ' %5s' KILL ;;
		*) printf ' %5s' '?' ;;
		esac
		[ "$verdict" = ok ] && continue
		found+=("$name, $n: $verdict")
		[[ $name != ownerwrap* ]] || failed=1
	done
	echo
}

own=(--grace 0 --kill-after 0.5)
compare ownerwrap "$OW" "${own[@]}" --
compare 'ownerwrap --poll' "$OW" --poll --interval 0.1 "${own[@]}" --
compare 'tini -s -p SIGTERM' tini -s -p SIGTERM --
compare dumb-init dumb-init --
compare catatonit catatonit --
compare 'timeout -k 0.5 1000' timeout -k 0.5 1000
compare 'setpriv --pdeathsig TERM' setpriv --pdeathsig TERM --
compare 'setpriv --pdeathsig KILL' setpriv --pdeathsig KILL --
compare 'bwrap --die-with-parent --unshare-pid' bwrap --dev-bind / / \
	--proc /proc --die-with-parent --unshare-pid --

echo
for n in "${columns[@]}"; do
	echo "$n  ${titles[n - 1]}"
done
echo 'LEFT: a process is left; ENDED: one is ended wrongly;'
echo 'KILL: all are ended, but the server by SIGKILL alone'
echo
printf '%s\n' "${found[@]}"
exit $failed
