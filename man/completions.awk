# Completions for a shell, made from the option table of the program's source.
#
#	awk -v shell=bash -f man/completions.awk ownerwrap.c src/*.c
#	awk -v shell=zsh  ...
#	awk -v shell=fish ...
#
# What a value is follows from the table too: the words that are right, or the
# name that the help gives it.

/ options\[\] = \{/		{ table = 1; next }
/signal_names\[\] = \{/		{ names = 1; next }
/^\};/				{ table = names = 0 }
table				{ text = text $0 "\n" }
names {
	while (match($0, /"[A-Z0-9]+"/)) {
		signals = signals " " substr($0, RSTART + 1, RLENGTH - 2)
		$0 = substr($0, RSTART + RLENGTH)
	}
}

END {
	read_table()
	if (shell == "bash")
		bash()
	else if (shell == "zsh")
		zsh()
	else if (shell == "fish")
		fish()
	else
		fail("-v shell=bash, zsh or fish")
}

function fail(why) {
	print "completions.awk: " why | "cat 1>&2"
	close("cat 1>&2")
	exit 1
}

# The fields of each { ... }; strings that follow each other are one.
function read_table(   i, c, n, field, f) {
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\"")
			while ((c = substr(text, ++i, 1)) != "\"" && c != "") {
				if (c == "\\")
					c = substr(text, ++i, 1)
				field = field c
			}
		else if (c == "{") {
			n = 0
			field = ""
		} else if (c == "," || c == "}") {
			f[++n] = field
			field = ""
			if (c == "}")
				take(f)
		} else if (c !~ /[ \t\n']/)
			field = field c
	}
	if (count == 0 || signals == "")
		fail("no table of options or signals in the source")
}

# letter, name, value, owner, setter, right, help
function take(f) {
	letter[++count] = f[1] == "0" ? "" : f[1]
	name[count] = f[2]
	value[count] = f[3] == "NULL" ? "" : f[3]
	help[count] = f[7]
	optional[count] = sub(/^\[=/, "", value[count]) && \
	    sub(/\]$/, "", value[count])
	kind[count] = optional[count] ? "" : \
	    kind_of(value[count], f[4] == "true", f[6])
}

function kind_of(value, owner, right) {
	if (value == "")
		return ""
	if (right ~ /^[a-z]+(, [a-z]+)* or [a-z]+$/) {
		gsub(/, | or /, " ", right)
		return "words " right
	}
	if (value == "SIGNAL")
		return "words" allowed_signals(right)
	if (value ~ /PATH/ || right ~ /^a path/)
		return "file"
	if (value == "COMMAND")
		return "command"
	if (owner && value ~ /^PID/)
		return "pid"
	if (owner && value == "NAME")
		return "process"
	return "none"
}

# All but those that right takes out: "... (not STOP, CONT)".
function allowed_signals(right,   all, n, i, list) {
	n = split(signals, all, " ")
	gsub(/[(),]/, " ", right)
	right = right " "
	for (i = 1; i <= n; i++)
		if (!index(right, " " all[i] " "))
			list = list " " all[i]
	return list
}

function words_of(kind) {
	return substr(kind, length("words ") + 1)
}

# A value that is the next word, or none: the letters of such options; a value
# that may be left out is only taken after "=", so it is none here.
function letters(with_value,   i, list) {
	for (i = 1; i <= count; i++)
		if ((kind[i] != "") == with_value)
			list = list letter[i]
	return list
}

function long_with_value(separator,   i, list) {
	for (i = 1; i <= count; i++)
		if (kind[i] != "")
			list = list (list == "" ? "" : separator) "--" name[i]
	return list
}

function quoted(s, quote) {
	gsub(/'/, quote, s)
	return "'" s "'"
}

# --- bash ------------------------------------------------------------------

# A word that holds "=" or ":" comes in pieces, which are joined again; only the
# last piece is replaced, so the rest of it is cut off the answers.
function bash(   i, all, k) {
	for (i = 1; i <= count; i++)
		all = all (letter[i] == "" ? "" : " -" letter[i]) " --" name[i]
	print "# bash completion for ownerwrap, made from its option table."
	print ""
	print "_ownerwrap_value() {"
	print "\tlocal cur=$2 prefix=$3"
	print "\tcase $1 in"
	for (i = 1; i <= count; i++) {
		if (kind[i] == "" || kind[i] == "none")
			continue
		k = kind[i]
		print "\t" (letter[i] == "" ? "" : "-" letter[i] "|") "--" \
		    name[i] ")"
		if (k == "file")
			print "\t\tcompopt -o default 2>/dev/null ||\n" \
			    "\t\t\tCOMPREPLY=($(compgen -f -P \"$prefix\" -- \"$cur\")) ;;"
		else if (k == "command")
			print "\t\tCOMPREPLY=($(compgen -c -P \"$prefix\" -- \"$cur\")) ;;"
		else
			print "\t\tCOMPREPLY=($(compgen -W \"" (k == "pid" ? \
			    "$(ps -eo pid= 2>/dev/null)" : k == "process" ? \
			    "$(ps -eo comm= 2>/dev/null)" : words_of(k)) \
			    "\" -P \"$prefix\" -- \"$cur\")) ;;"
	}
	print "\tesac\n}\n"
	print "_ownerwrap_command() {"
	print "\tif declare -F _comp_command_offset >/dev/null; then"
	print "\t\t_comp_command_offset \"$1\""
	print "\telif declare -F _command_offset >/dev/null; then"
	print "\t\t_command_offset \"$1\""
	print "\telif [[ $1 == \"$COMP_CWORD\" && $2 != */* ]]; then"
	print "\t\tCOMPREPLY=($(compgen -c -- \"$2\"))"
	print "\telse"
	print "\t\tcompopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- \"$2\"))"
	print "\tfi\n}\n"
	print "_ownerwrap() {"
	print "\tlocal line=$COMP_LINE words=() at=() lead option= cur piece i n"
	print "\tCOMPREPLY=()"
	print "\tfor ((i = 0; i <= COMP_CWORD; i++)); do"
	print "\t\tlead=${line%%[![:blank:]]*}"
	print "\t\tif ((i > 0)) && [[ -z $lead && -n $line ]]; then"
	print "\t\t\twords[${#words[@]} - 1]+=${COMP_WORDS[i]}"
	print "\t\telse"
	print "\t\t\tat+=(\"$i\")"
	print "\t\t\twords+=(\"${COMP_WORDS[i]}\")"
	print "\t\tfi"
	print "\t\tline=${line#\"$lead\"}"
	print "\t\tline=${line#\"${COMP_WORDS[i]}\"}"
	print "\tdone"
	print "\tn=$((${#words[@]} - 1))"
	print "\tcur=${words[n]}"
	print "\tpiece=${COMP_WORDS[COMP_CWORD]}"
	print "\t[[ $piece != [=:] ]] || piece="
	print "\tfor ((i = 1; i < n; i++)); do"
	print "\t\tif [[ -n $option ]]; then"
	print "\t\t\toption="
	print "\t\t\tcontinue"
	print "\t\tfi"
	print "\t\tcase ${words[i]} in"
	print "\t\t--)"
	print "\t\t\t_ownerwrap_command \"${at[i + 1]}\" \"$cur\""
	print "\t\t\treturn ;;"
	print "\t\t" long_with_value("|") ")"
	print "\t\t\toption=${words[i]} ;;"
	print "\t\t--*) ;;"
	print "\t\t-?*)"
	print "\t\t\t[[ ! ${words[i]} =~ ^-[" letters(0) "]*([" letters(1) "])$ ]] ||"
	print "\t\t\t\toption=-${BASH_REMATCH[1]} ;;"
	print "\t\t*)"
	print "\t\t\t_ownerwrap_command \"${at[i]}\" \"$cur\""
	print "\t\t\treturn ;;"
	print "\t\tesac"
	print "\tdone"
	print "\tif [[ -n $option ]]; then"
	print "\t\t_ownerwrap_value \"$option\" \"$cur\" ''"
	print "\telif [[ $cur == --*=* ]]; then"
	print "\t\t_ownerwrap_value \"${cur%%=*}\" \"${cur#*=}\" \"${cur%%=*}=\""
	print "\telif [[ $cur =~ ^(-[" letters(0) "]*([" letters(1) "]))(.+)$ ]]; then"
	print "\t\t_ownerwrap_value \"-${BASH_REMATCH[2]}\" \"${BASH_REMATCH[3]}\" \"${BASH_REMATCH[1]}\""
	print "\telif [[ $cur == -* ]]; then"
	print "\t\tCOMPREPLY=($(compgen -W '" substr(all, 2) "' -- \"$cur\"))"
	print "\telse"
	print "\t\t_ownerwrap_command \"${at[n]}\" \"$cur\""
	print "\t\treturn"
	print "\tfi"
	print "\tcur=${cur%\"$piece\"}"
	print "\tCOMPREPLY=(\"${COMPREPLY[@]#\"$cur\"}\")"
	print "}\n"
	print "complete -F _ownerwrap ownerwrap"
}

# --- zsh -------------------------------------------------------------------

function zsh(   i, spec, k, message) {
	print "#compdef ownerwrap"
	print "# Made from the option table of ownerwrap."
	print ""
	print "local curcontext=$curcontext context state state_descr line"
	print "typeset -A opt_args"
	print ""
	print "_arguments -C -s -S -A '-*' \\"
	for (i = 1; i <= count; i++) {
		k = kind[i]
		message = value[i]
		gsub(/:/, "\\:", message)
		spec = "[" zsh_text(help[i]) "]"
		if (optional[i])
			spec = spec "::" message ": "
		else if (k != "")
			spec = spec ":" message ":" zsh_action(k)
		spec = (k == "" ? optional[i] ? "=-" : "" : "=") spec
		if (letter[i] != "")
			print "\t" quoted("*-" letter[i] (k == "" ? "" : "+") \
			    (k == "" ? spec : substr(spec, 2)), "'\\''") " \\"
		print "\t" quoted("*--" name[i] spec, "'\\''") " \\"
	}
	print "\t'(-)1:command: _command_names -e' \\"
	print "\t'*::argument:->arguments' && return"
	print "[[ $state == arguments ]] || return"
	print "# A \"--\" that comes first is taken for the command."
	print "[[ $words[1] != -- ]] || { shift words; (( CURRENT-- )) }"
	print "_normal"
}

function zsh_text(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/\]/, "\\]", s)
	return s
}

function zsh_action(kind) {
	if (kind ~ /^words/)
		return "(" words_of(kind) ")"
	return kind == "file" ? "_files" : kind == "command" ? \
	    " _command_names -e" : kind == "pid" ? "_pids" : \
	    kind == "process" ? "_process_names -a" : " "
}

# --- fish ------------------------------------------------------------------

function fish(   i, line, k) {
	print "# fish completion for ownerwrap, made from its option table."
	print ""
	print "# The command and its arguments so far; fails while options are written."
	print "function __ownerwrap_command"
	print "\tset -l words (commandline -opc)"
	print "\tset -e words[1]"
	print "\twhile set -q words[1]"
	print "\t\tset -l word $words[1]"
	print "\t\tswitch $word"
	print "\t\t\tcase --"
	print "\t\t\t\tset -e words[1]"
	print "\t\t\t\tstring escape -- $words"
	print "\t\t\t\treturn 0"
	print "\t\t\tcase " long_with_value(" ")
	print "\t\t\t\tset -e words[1]"
	print "\t\t\tcase '--*'"
	print "\t\t\tcase '-*'"
	print "\t\t\t\tstring match -qr -- '^-[" letters(0) "]*[" letters(1) "]$' $word"
	print "\t\t\t\tand set -e words[1]"
	print "\t\t\tcase '*'"
	print "\t\t\t\tstring escape -- $words"
	print "\t\t\t\treturn 0"
	print "\t\tend"
	print "\t\tset -q words[1]; and set -e words[1]"
	print "\tend"
	print "\treturn 1"
	print "end\n"
	print "function __ownerwrap_complete_command"
	print "\tset -l words (__ownerwrap_command) (commandline -ct)"
	print "\tstring match -q -- '-*' $words[1]"
	print "\tor complete -C(string join -- ' ' $words)"
	print "end\n"
	print "complete -c ownerwrap -x -a '(__ownerwrap_complete_command)'"
	for (i = 1; i <= count; i++) {
		k = kind[i]
		line = "complete -c ownerwrap -n 'not __ownerwrap_command'"
		if (letter[i] != "")
			line = line " -s " letter[i]
		line = line " -l " name[i]
		if (k == "file")
			line = line " -r -F"
		else if (k != "")
			line = line " -x"
		if (k == "command" || k == "pid" || k == "process" || k ~ /^words/)
			line = line " -a " quoted(fish_values(k), "\\'")
		print line " -d " quoted(help[i], "\\'")
	}
}

function fish_values(kind) {
	if (kind ~ /^words/)
		return words_of(kind)
	return kind == "pid" ? "(__fish_complete_pids)" : kind == "process" ? \
	    "(__fish_complete_proc)" : "(__fish_complete_command)"
}
