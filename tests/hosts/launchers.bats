#!/usr/bin/env bats
# Launchers of every day between a host and ownerwrap: SIGKILL of the host ends
# the server, though they live on until then.

load hosts
bats_require_minimum_version 1.5.0

# ended_below COMMAND...: what that begins ends with its host
ended_below() {
	rm -f log wlog
	host owner -z -l host "$@"
	server_pid log >server.pid
	assert_lines wlog "; owner .*, $HOST \\(owner, up [0-9]+s\\), (watched|polled)" 1
	kill -KILL "$HOST"
	await_nobody
	assert_lines log '^TERM from ' 1
}

wrapped=(ownerwrap --log wlog -g 0 -- server -l log)

@test "launchers: make, by a command and by a shell's (103)" {
	need make
	printf '%s\n' one: "	${wrapped[*]}" two: "	:; ${wrapped[*]}; :" >Makefile
	ended_below make one
	ended_below make -s two
	printf '%s\n' all: '	$(MAKE) two' two: "	${wrapped[*]}; :" >Makefile
	ended_below make
}

@test "launchers: npm run and npx (103)" {
	need npm npx
	rm -f node_modules
	mkdir -p node_modules/.bin
	printf '%s\n' '#!/bin/sh' "${wrapped[*]}; :" >node_modules/.bin/wrapped
	chmod +x node_modules/.bin/wrapped
	echo '{"scripts": {"dev": "wrapped"}}' >package.json
	ended_below npm run dev
	ended_below npx wrapped
}

@test "launchers: flock, timeout, script, unshare (103)" {
	need flock timeout script unshare
	ended_below flock lock "${wrapped[@]}"
	ended_below timeout 60 "${wrapped[@]}"
	ended_below script -qec "${wrapped[*]}; :" typescript
	unshare -Urf true 2>/dev/null || skip_or_fail 'needs user namespaces'
	ended_below unshare -Urf "${wrapped[@]}"
}

@test "launchers: sudo, and a shell below it (103)" {
	need sudo
	privileged
	# It has a PATH of its own.
	ended_below sudo -E env "PATH=$PATH" "${wrapped[@]}"
	ended_below sudo -E env "PATH=$PATH" sh -c "${wrapped[*]}; :"
}

@test "launchers: every shell, with a command and with a script (102)" {
	local shell
	printf '%s\n' "${wrapped[*]}" 'sleep 0' >script
	for shell in dash bash zsh fish mksh ksh93 yash tcsh 'busybox sh'; do
		need "${shell% *}"
		# shellcheck disable=SC2086
		ended_below $shell -c "${wrapped[*]}; true"
		# shellcheck disable=SC2086
		ended_below $shell script
	done
}
