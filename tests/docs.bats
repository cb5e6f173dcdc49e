#!/usr/bin/env bats
# --help, the manual page, the README and the messages in the source say the
# same.  --help is printed from the option table, so it stands for the program.

load helper
bats_require_minimum_version 1.5.0

setup() {
	harness_setup
	man=$ROOT/man/ownerwrap.1
	readme=$ROOT/README.md
	"$OW" --help >help
}

# The manual page with its escapes resolved, one section of it.
man_section() {
	awk -v want="$1" '
		/^\.Sh / { on = substr($0, 5) == want; next }
		on { gsub(/\\-/, "-"); gsub(/\\&/, ""); print }' "$man"
}

readme_section() {
	awk -v want="## $1" '/^## / { on = $0 == want; next } on' "$readme"
}

# "short long argument" of each option, "-" for what is not there.  In --help
# two spaces end the option and begin its text.  A value that may be left out
# is "[VALUE]".
help_options() {
	awk '/^ +-/ {
		sub(/^ +/, ""); sub(/   *.*/, ""); gsub(/,/, "")
		short = long = arg = "-"
		for (i = 1; i <= NF; i++)
			if ($i ~ /^--[a-z]/) {
				long = $i
				if (sub(/\[=.*/, "", long)) arg = "[VALUE]"
			} else if ($i ~ /^-[A-Za-z]$/) short = $i
			else arg = $i
		print short, long, arg
	}' help | sort
}

# The same from OPTIONS, where an option begins at ".It Fl". A value that is one
# of a few words is given by them there: a|b|c.
man_options() {
	man_section OPTIONS | awk '/^\.It Fl/ {
		if (sub(/ Ns Op : Ns Ar /, "[:")) $0 = $0 "]"
		sub(/ Ns Op = Ns Ar .*/, " [VALUE]")
		gsub(/ (Ar|Cm) /, " "); gsub(/ \| /, "|")
		short = long = arg = "-"
		for (i = 3; i <= NF; i++)
			if ($i ~ /^-[a-z]/) long = "-" $i
			else if ($i ~ /^[A-Za-z]$/ && short long arg == "---")
				short = "-" $i
			else if ($i != "," && $i != "Fl") arg = $i
		print short, long, arg
	}' | sort
}

# "-x argument" of each option in SYNOPSIS; those without a short form by their
# long one.
synopsis_options() {
	man_section SYNOPSIS | awk '/^\.Op Fl / && $3 != "-" {
		arg = NF > 3 ? "value" : "-"
		if ($3 ~ /^-/) print "-" $3, arg
		else for (i = 1; i <= length($3); i++) print "-" substr($3, i, 1), arg
	}' | sort
}

# The names of the variables that the options with a value have.
variables() {
	echo OWNERWRAP
	help_options | awk '$3 != "-" {
		name = toupper(substr($2, 3)); gsub(/-/, "_", name)
		print "OWNERWRAP_" name
	}'
}

# The formats of all messages in the source, one a line: comments are dropped,
# strings that follow each other are joined, both branches of a ?: are printed.
formats() {
	awk -v calls="$1" '
	{ text = text $0 "\n" }
	END {
		n = length(text); prev = ""
		for (i = 1; i <= n; i++) {
			c = substr(text, i, 1)
			if (c == "/" && substr(text, i + 1, 1) == "*") {
				i = i + 3 + index(substr(text, i + 2), "*/") - 1
				continue
			}
			if (c == "\x27") {
				i++
				if (substr(text, i, 1) == "\\") i++
				i++
				continue
			}
			if (c == "\"") {
				s = ""
				while ((c = substr(text, ++i, 1)) != "\"") {
					if (c == "\\") { c = substr(text, ++i, 1); if (c == "n") c = ""; }
					s = s c
				}
				if (!call || done) continue
				if (have && joined) str = str s
				else { if (have) print str; str = s }
				have = joined = 1
				continue
			}
			if (c ~ /[A-Za-z_0-9]/) {
				word = ""
				while ((c = substr(text, i, 1)) ~ /[A-Za-z_0-9]/) { word = word c; i++ }
				i--
				if (!call && index(" " calls " ", " " word " ") &&
				    substr(text, i + 1, 1) == "(") {
					call = 1; depth = have = done = joined = 0
				}
				continue
			}
			if (!call) continue
			if (c == "(") depth++
			else if (c == ")" && --depth == 0) { if (have) print str; call = 0 }
			else if (c == "," && depth == 1 && have) done = 1
			if (c !~ /[ \t\n]/) joined = 0
		}
	}' "${SOURCES[@]}"
}

# All of them; the reasons of a stop come from a table of level and text.
messages() {
	formats "say refuse fail no_place" | grep -vxF -e "%s; stopping %s (%s)" -e "%s"
	cat "${SOURCES[@]}" | tr -s "\t\n" "  " | grep -oE "\{ (DEFAULT|VERBOSE), \"[^\"]*\" \}" |
	    sed "s/^[^\"]*\"//; s/\".*/; stopping %s (%s)/"
}

# A format as an extended regular expression.
pattern() {
	sed -e 's/[][\\.*^$+?(){}|]/\\&/g' \
	    -e 's/%%/\n/g' \
	    -e 's/%[-+ #0]*[0-9]*\(\\\.\)\{0,1\}\(\\\*\)\{0,1\}[0-9]*[lhjzt]*[diuxX]/[0-9]+/g' \
	    -e 's/%[-0-9]*\(\\\.\)\{0,1\}\(\\\*\)\{0,1\}[0-9]*[scgf]/.*/g' \
	    -e 's/\n/%/g' -e 's/^/^/' -e 's/$/$/'
}

diagnostics() {
	man_section DIAGNOSTICS | sed -n 's/^\.It "\(.*\)"$/\1/p' | sed 's/""/"/g'
}

@test "docs: --help goes to stdout and fits 30 lines of 80 columns" {
	"$OW" --help >out 2>err
	[ ! -s err ]
	[ "$(wc -l <out)" -le 30 ]
	awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' out
	"$OW" -h >short
	cmp out short
}

@test "docs: OPTIONS of the manual page lists the options of --help" {
	help_options | sed "s/ [[A-Z]*[]A-Z:|[]*$/ value/" >a
	[ "$(wc -l <a)" -ge 14 ]
	man_options | sed "s/ [^ -][^ ]*$/ value/" >b
	diff a b
}

@test "docs: OPTIONS names the values as --help does" {
	help_options >a
	man_options >b
	join -1 2 -2 2 -o 0,1.3,2.3 <(sort -k2,2 a) <(sort -k2,2 b) >both
	[ "$(wc -l <both)" -ge 14 ]
	while read -r option in_help in_man; do
		[ "$in_help" != "$in_man" ] || continue
		# process|session|tree: the help has "process, session or tree"
		words=$(echo "$in_man" | sed "s/|\([^|]*\)\$/ or \1/; s/|/, /g")
		echo "$option: $in_help, $in_man: $words"
		grep -qF -e "$option $in_help " help
		awk -v o="$option" "index(\$0, o \" \")" help | grep -qF -e "$words"
	done <both
}

@test "docs: SYNOPSIS lists the options of --help" {
	help_options | awk '{
		print $1 == "-" ? $2 : $1, $3 == "-" ? "-" : "value" }' | sort >a
	synopsis_options >b
	diff a b
}

@test "docs: manual page and README mention no option that does not exist" {
	help_options | awk '{ print $2 }' | sort -u >known
	# those of other commands that the examples start
	printf '%s\n' --bind --port --stdio --init --sig-proxy --watch-bus --user --arg --embed \
		--rm --pdeathsig --die-with-parent --unshare-pid >>known
	{
		sed '/unknown option/d; s/\\-/-/g; s/Fl -\([a-z]\)/--\1/g' "$man"
		cat "$readme"
	} | grep -oE -e '--[a-z][a-z-]*' | grep -vx -e --name | sort -u >used
	[ "$(wc -l <used)" -ge 10 ]
	run grep -vxF -f known used
	expect_output ""
}

@test "docs: ENVIRONMENT lists a variable for every option with a value" {
	variables | sort >a
	man_section ENVIRONMENT | awk '$1 == ".It" && $2 == "Ev" { print $3 }' |
	    sort >b
	diff a b
}

@test "docs: ENVIRONMENT names the option of each variable" {
	man_section ENVIRONMENT | awk '
		$1 == ".It" { name = $3; next }
		name ~ /_/ { print name, "-" $2 }
		{ name = "" }' >b
	[ "$(wc -l <b)" -ge 8 ]
	while read -r name option; do
		want=OWNERWRAP_$(echo "${option#--}" | tr a-z- A-Z_)
		[ "$name" = "$want" ]
	done <b
}

@test "docs: the README lists the variables, and no others" {
	variables | sort >a
	readme_section Environment | grep -oE 'OWNERWRAP[A-Z_]*' | sort -u >b
	diff a b
}

# In --help the default is in parentheses, last in the line.
@test "docs: the defaults in --help are those of the manual page" {
	help_options | awk '{ print $2 }' >options
	n=0
	while read -r option; do
		default=$(awk -v o="$option" 'index($0, o " ") &&
		    match($0, /\([^()]*\)$/) {
			text = substr($0, RSTART + 1, RLENGTH - 2)
			sub(/^default: /, "", text)
			sub(/; .*/, "", text)
			print text
		}' help)
		[ -n "$default" ] || continue
		n=$((n + 1))
		echo "$option: $default"
		man_section OPTIONS | awk -v o="${option#-}" -v d="$default" '
			/^\.It Fl/ { on = 0; for (i = 3; i <= NF; i++) if ($i == o) on = 1 }
			on && /^\.It Cm/ { value = $3 }
			on && /This is the default/ && value == d { ok = 1 }
			on && /[Tt]he default is/ {
				line = $0; getline more; line = line " " more " "
				gsub(/\.Dv |\.Cm |[.;,()]/, "", line)
				if (index(line, " " d " ")) ok = 1
			}
			END { exit !ok }'
	done <options
	[ "$n" -ge 7 ]
}

@test "docs: EXIT STATUS of manual page and README list the same statuses" {
	man_section "EXIT STATUS" | sed -n 's/^\.It //p' >a
	printf '%s\n' "the server's" 124 125 126 127 | diff - a
	readme_section "Exit status" |
	    awk -F ' *[|] *' '/^[|]/ && $2 != "status" && $2 !~ /^-/ { print $2 }' >b
	diff a b
}

@test "docs: the statuses 124 to 127 are those of the program" {
	true 3>&- &
	wait $! || :
	run "$OW" --owner-pid $! -- true
	[ "$status" -eq 124 ]
	run "$OW" --no-such-option -- true
	[ "$status" -eq 125 ]
	: >plain
	run "$OW" -- ./plain
	[ "$status" -eq 126 ]
	run -127 "$OW" -- ./not-there
	[ "$status" -eq 127 ]
}

@test "docs: every message in the source has its entry in DIAGNOSTICS" {
	diagnostics >entries
	messages | sort -u >all
	[ "$(wc -l <all)" -ge 8 ]
	bad=0
	while IFS= read -r format; do
		regex=$(printf '%s\n' "$format" | pattern)
		grep -qE -e "$regex" entries || { echo "no entry: $format"; bad=1; }
	done <all
	[ "$bad" -eq 0 ]
}

@test "docs: every entry in DIAGNOSTICS is a message of the source" {
	diagnostics >entries
	[ "$(wc -l <entries)" -ge 8 ]
	messages | sort -u | pattern >all
	# a format without a word would match anything: one entry each, no more
	grep "[a-z][a-z]" all >worded
	wordless=$(grep -vc "[a-z][a-z]" all) || true
	run grep -vE -f worded entries
	[ "${#lines[@]}" -le "$wordless" ] || fail "no message: $output"
}

@test "docs: the README has the demo's output, and both commands" {
	grep -q '^    make demo ' "$readme"
	grep -q '^    make check ' "$readme"
	awk '/<!-- demo output -->/ { on = 1; next }
		/<!-- end of demo output -->/ { on = 0 }
		on && /ms/ { n++ }
		END { exit n < 3 }' "$readme"
}

# What README says of the others is what a run of tests/compare.sh has printed; a
# run is not repeated here, but who and what is in it.
@test "docs: the README compares whom, and in what, tests/compare.sh does" {
	local compare=$ROOT/tests/compare.sh
	readme_section "Why not tini, setpriv, bwrap …?" >section
	# The first word after `compare`, which may be quoted.
	sed -n "s/^compare '\([^']*\)' .*/\1/p; s/^compare \([a-z-]*\) .*/\1/p" \
		"$compare" >a
	sed -n 's/^| `\(.*\)` |.*/\1/p' section >b
	[ "$(wc -l <a)" -ge 9 ]
	diff a b
	# shellcheck disable=SC1090
	. <(sed -n '/^titles=(/,/^)/p' "$compare")
	for n in "${!titles[@]}"; do
		echo "$((n + 1)). ${titles[n]}"
	done >a
	grep '^[0-9]\. ' section >b
	diff a b
	# As many verdicts as titles, of its own words; ownerwrap's are all ok.
	awk -F ' *[|] *' -v n="${#titles[@]}" '/^[|] `/ {
		if (NF != n + 3) bad = 1
		for (i = 3; i < NF; i++)
			if ($i !~ /^(ok|LEFT|ENDED|KILL)$/ ||
			    $2 ~ /^`ownerwrap/ && $i != "ok") bad = 1
		if (bad) { print; exit 1 }
	}' section
}

@test "docs: the README has the rows of the benchmark" {
	sed -n 's/^\t\[[A-Z]*\] = { "\([a-z]*\)", [a-z_]* }.*/\1/p' \
		"$ROOT/tests/bench/bench.c" >a
	[ "$(wc -l <a)" -ge 11 ]
	readme_section "How fast, how small" |
		sed -n '/<!-- bench output -->/,/<!-- end of bench output -->/s/^| \([a-z]*\) | .*/\1/p' |
		sed 1d >b
	diff a b
}

@test "docs: the manual page is clean for mandoc" {
	need mandoc
	mandoc -Tlint -W warning "$man"
}
