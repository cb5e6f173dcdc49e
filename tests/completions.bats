#!/usr/bin/env bats
# The completions for bash, zsh and fish, made from the option table of the
# source, and --help, printed from the same table, say the same.  Each shell is
# asked what it would offer for the lines of one list.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	nopoll 'the options are the same'
	"$OW" --help >help
	mkdir bin work
	printf '#!/bin/sh\n' >bin/somecmd
	chmod +x bin/somecmd
	: >work/file1
	PATH=$PWD/bin:$PATH
}

# made SHELL [SOURCE...]: its completions, on stdout
made() {
	local shell=$1
	shift
	[ $# -gt 0 ] || set -- "${SOURCES[@]}"
	awk -v shell="$shell" -f "$ROOT/man/completions.awk" "$@"
}

# Of --help: every spelling of every option; the values of --scope: its words
help_options() {
	awk '/^ +-/ { sub(/^ +/, ""); sub(/  .*/, ""); print }' help |
		grep -oE -e '(^|[ ,])--?[A-Za-z][a-z-]*' | tr -d ' ,' | sort
}

help_words() {
	awk -v option="$1" '$1 == option && $4 ~ /^[a-z]+$/ {
		sub(/^ *[^ ]+ +[^ ]+ +/, ""); sub(/ what.*| \(.*/, "")
		gsub(/, | or /, "\n"); print }' help | sort
}

# The lines, each with the answer wanted: words, - for none, or what --help has.
# In `work` there is one file, file1; somecmd is a command, to whose own
# completion zsh and fish hand on.
lines() {
	[ "$1" = bash ] || cat <<-'END'
		somecmd --some|--some-flag
		-- somecmd --some|--some-flag
		-v -- somecmd fi --some|--some-flag
		--scope tree somecmd --some|--some-flag
	END
	cat <<-'END'
		-|OPTIONS
		-v -|OPTIONS
		--sco|--scope
		--scope |WORDS --scope
		--scope=|WORDS --scope
		--scope tree --leftovers=|WORDS --leftovers
		--leftovers |WORDS --leftovers
		--leftovers w|wait
		--scope=s|session
		-s TE|TERM
		-vs TE|TERM
		-sTE|TERM
		-s STO|-
		--signal=HU|HUP
		--log |file1
		--log=fi|file1
		--share fi|file1
		--sweep fi|file1
		--grace |-
		--keep-if somecm|somecmd
		--keep-if=somecm|somecmd
		somecm|somecmd
		-- somecm|somecmd
		-g 3 somecm|somecmd
		-g3 somecm|somecmd
		-vqg 3 somecm|somecmd
		--grace=3 -- somecm|somecmd
		-p 1:22 -vq somecm|somecmd
		--keep-connected somecm|somecmd
		--keep-connected=80,81 somecm|somecmd
		--log somecmd somecm|somecmd
		somecmd fi|file1
		-- somecmd fi|file1
		-v -- somecmd --log fi|file1
		somecmd --sco|-
		-- somecmd --sco|-
	END
}

# agrees SHELL: it answers each line as wanted
agrees() {
	local line wanted n=0 bad=0
	lines "$1" | sed 's/|.*//; s/^/ownerwrap /' >asked
	"asked_$1" >answers
	while IFS='|' read -r line wanted; do
		n=$((n + 1))
		case $wanted in
		OPTIONS) help_options >wanted ;;
		WORDS*) help_words "${wanted#WORDS }" >wanted ;;
		-) : >wanted ;;
		*) echo "$wanted" >wanted ;;
		esac
		[ "$wanted" = - ] || [ -s wanted ]
		# the words that answer, without what stands before the cursor
		sed -n "s/^$n //p" answers | sed 's/^--[a-z-]*=//; s/^-s\(.\)/\1/' |
			sort -u >answer
		cmp -s answer wanted && continue
		echo "ownerwrap $line: offered $(xargs <answer), not $(xargs <wanted)"
		bad=$((bad + 1))
	done < <(lines "$1")
	[ "$n" -gt 30 ]
	[ "$bad" -eq 0 ]
}

take_bash() {
	made bash >completions
	# shellcheck disable=SC1091
	. ./completions
}

# Words as readline makes them: "=" and ":" are words of their own.
asked_bash() {
	made bash >completions
	cat >ask <<-'END'
		. ../completions
		while IFS= read -r COMP_LINE; do
			n=$((n + 1)) rest=$COMP_LINE COMP_POINT=${#COMP_LINE} COMP_WORDS=()
			while [[ $rest =~ ^[[:blank:]]*([=:]|[^=:[:blank:]]+) ]]; do
				COMP_WORDS+=("${BASH_REMATCH[1]}")
				rest=${rest#"${BASH_REMATCH[0]}"}
			done
			[[ $COMP_LINE != *' ' ]] || COMP_WORDS+=('')
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			COMPREPLY=(unset)
			_ownerwrap
			for word in "${COMPREPLY[@]}"; do
				echo "$n $word"
			done
		done <../asked
	END
	(cd work && bash --norc ../ask)
}

asked_fish() {
	made fish >completions
	cat >ask <<-'END'
		source ../completions
		complete -c somecmd -l some-flag
		while read -l line
			set n (math $n + 1)
			for word in (complete -C $line)
				echo $n (string split \t -- $word)[1]
			end
		end <../asked
	END
	mkdir home
	(cd work && HOME=$PWD/../home fish --no-config ../ask)
}

# An interactive zsh in a terminal: each match that is added is written down.
asked_zsh() {
	mkdir functions
	made zsh >functions/_ownerwrap
	cat >rc <<-'END'
		PS1=
		fpath=(../functions $fpath)
		autoload -U compinit
		compinit -u -D
		_somecmd() { _arguments --some-flag '*: :_files' }
		compdef _somecmd somecmd
		compadd() {
			local -a matches
			if ((argv[(I)-[OAD]*] == 0)); then
				builtin compadd -O matches "$@"
				((${#matches})) && print -rl -- $n\ $^matches >>../matches
			fi
			builtin compadd "$@"
		}
		capture() {
			local n=$(<../number)
			_main_complete
			: >../done
		}
		bindkey -e
		zle -C capture menu-complete capture
		bindkey '^T' capture
		: >../done
	END
	cat >ask <<-'END'
		zmodload zsh/zpty
		await() {
			local output
			repeat 1000; do
				zpty -rt z output
				[[ ! -e ../done ]] || { rm ../done; return }
				sleep 0.02
			done
			print -r "no answer: $output"
			exit 1
		}
		zpty z zsh -f -i
		zpty -w z '. ../rc'
		await
		while IFS= read -r line; do
			print $((++n)) >../number
			zpty -w -n z $line$'\x14'
			await
			zpty -w -n z $'\x15'
		done <../asked
		zpty -d z
		cat ../matches
	END
	(cd work && zsh -f ../ask)
}

@test "completions: bash offers what --help says, and commands behind it" {
	agrees bash
}

@test "completions: bash hands on to what bash-completion knows of the command" {
	take_bash
	for name in _command_offset _comp_command_offset; do
		eval "$name() { COMPREPLY=(\"$name \$1\"); }"
		COMP_LINE='ownerwrap -p 1:2 -- somecmd --a=' COMP_CWORD=8
		COMP_WORDS=(ownerwrap -p 1 : 2 -- somecmd --a '=')
		_ownerwrap
		assert_equal "${COMPREPLY[*]}" "$name 6"
	done
}

@test "completions: zsh offers what --help says, and commands behind it" {
	need zsh
	agrees zsh
}

@test "completions: fish offers what --help says, and commands behind it" {
	need fish
	agrees fish
}

@test "completions: each shell takes them without a word" {
	made bash >c
	bash -n c
	for shell in zsh fish; do
		made $shell >c
		need $shell
		run $shell -n c
		expect_status 0
		expect_output ""
	done
}

@test "completions: every signal that is offered can be given" {
	take_bash
	COMP_LINE='ownerwrap -s ' COMP_WORDS=(ownerwrap -s '') COMP_CWORD=2
	_ownerwrap
	[ "${#COMPREPLY[@]}" -ge 15 ]
	for signal in "${COMPREPLY[@]}"; do
		run "$OW" --signal "$signal" --grace never -- true
		[[ $output == *--grace* ]] || fail "$signal: $output"
	done
}

@test "completions: processes are offered as owners" {
	take_bash
	new_owner
	for words in "--owner-pid $OWNER" '--owner-name sleep'; do
		COMP_LINE="ownerwrap $words" COMP_CWORD=2
		COMP_WORDS=(ownerwrap "${words% *}" "${words#* }")
		_ownerwrap
		[[ " ${COMPREPLY[*]} " == *" ${words#* } "* ]]
	done
}

@test "completions: an option that comes to the table comes to each shell" {
	sed 's|^static const struct option options\[\] = {$|&\n\t{ 0, "new-one", "WHAT", false, set_new,\n\t    "this or that",\n\t    "it'\''s n" "ew", NOWHERE },|' \
		"${SOURCES[@]}" >new.c
	grep -q new-one new.c
	made bash new.c >c
	grep -q -e "'--new-one -p " c
	grep -q '"this that"' c
	made zsh new.c >c
	grep -qF -e "'*--new-one=[it'\\''s new]:WHAT:(this that)'" c
	made fish new.c >c
	grep -qF -e "-l new-one -x -a 'this that' -d 'it\\'s new'" c
}

@test "completions: every awk that is here makes the same" {
	for shell in bash zsh fish; do
		made $shell >wanted
		[ "$(wc -l <wanted)" -gt 20 ]
		for awk in gawk 'gawk --posix' mawk original-awk 'busybox awk'; do
			$awk 'BEGIN { exit 0 }' 2>/dev/null || continue
			# shellcheck disable=SC2086
			$awk -v shell=$shell -f "$ROOT/man/completions.awk" \
				"${SOURCES[@]}" | cmp - wanted
		done
	done
}

@test "completions: a source without the table, and another shell, are errors" {
	run made bash /dev/null
	expect_status 1
	run made csh
	expect_status 1
	expect_output 'completions.awk: -v shell=bash, zsh or fish'
}
