# shellcheck shell=bash disable=SC2034
# What the tests with real hosts share: `load hosts` at the top of each file.
# A host finds the program as `ownerwrap` in PATH, and the commands of npm's
# packages (install.sh, package.json); neither npm nor a host asks a registry,
# or reads the user's configuration.

load ../helper

HOSTS=$BATS_TEST_DIRNAME
MODULES=$ROOT/.build/hosts/node_modules
LIMIT=${OWTEST_LIMIT:-30}	# these programs take seconds to start

setup() { hosts_setup; }

hosts_setup() {
	harness_setup || return 1
	mkdir -p bin home run
	chmod 700 run
	ln -s "$(realpath "$OW")" bin/ownerwrap
	ln -s "$MODULES" node_modules
	PATH=$BATS_TEST_TMPDIR/bin:$MODULES/.bin:$PATH
	export HOME=$BATS_TEST_TMPDIR/home XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	export npm_config_offline=true npm_config_update_notifier=false
	export NODE_PATH=$MODULES
	unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
	unset NODE_OPTIONS ENV BASH_ENV
}

# need_module NAME...
need_module() {
	local name
	need node npm
	for name; do
		[ -e "$MODULES/$name/package.json" ] ||
			skip_or_fail "needs $name: sh tests/hosts/install.sh"
	done
}

# need_python [MODULE...]: the system's, for whose packages install.sh cares;
# sets PYTHON
need_python() {
	local module
	PYTHON=/usr/bin/python3
	[ -x "$PYTHON" ] || skip_or_fail "needs $PYTHON"
	for module; do
		"$PYTHON" -c "import $module" 2>/dev/null ||
			skip_or_fail "needs python3-$module"
	done
}

# host CMD...: starts it; sets HOST, and OUT and ERR, its files
host() {
	start "$@"
	HOST=$PID
}

# await_nobody: no process of this test is left, but for these
await_nobody() {
	local pid keep=
	for pid; do
		keep+=" $pid "
	done
	KEEP=$keep
	until_true 'nobody_but_kept' 'the end of all' && return 0
	for pid in $(marked); do
		ps -o pid=,ppid=,stat=,args= -p "$pid" >&2 || true
	done
	return 1
}

nobody_but_kept() {
	local pid
	for pid in $(marked); do
		[[ $KEEP == *" $pid "* ]] || return 1
	done
}

# running ERE: a process of this test has such a command line
running() {
	local pid
	for pid in $(marked); do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -Eq -e "$1" &&
			return 0
	done
	return 1
}

await_running() {
	WANTED=$1
	until_true 'running "$WANTED"' "a process like $1"
}

# some_port: prints one that is free now, for a server that can't choose itself
some_port() {
	server -l port.log -p -x 0
	pid_in port.log port
	rm port.log
}

# listening PORT; port_free PORT: waits until nobody listens
listening() { (exec 8<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

port_free() {
	PORT=$1
	until_true '! listening "$PORT"' "port $1 free"
}
