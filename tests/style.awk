# What every file of the program's C holds: 80 columns, 60 lines a function, one
# statement a line. Each place that does not is a line, and then the status is 1.
#
#	LC_ALL=C awk -f tests/style.awk FILE ...
#
# clang-tidy counts the lines of a function too, but sees only what is compiled
# here, not the bodies of other systems.

function wrong(line, what) {
	printf "%s:%d: %s\n", FILENAME, line, what
	bad = 1
}

# Tabs end at every eighth column. Of a character in UTF-8 its first byte counts.
function columns(line,    n, i, part, sum) {
	gsub(/[\200-\277]/, "", line)
	n = split(line, part, "\t")
	for (i = 1; i < n; i++)
		sum += int(length(part[i]) / 8) * 8 + 8
	return sum + length(part[n])
}

# The line without comments; "" stands for each string and character.
function code(line,    out) {
	for (;;) {
		if (comment) {
			if (!match(line, /\*\//))
				return out
			comment = 0
		} else {
			if (!match(line, /\/[*\/]|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/))
				return out line
			out = out substr(line, 1, RSTART - 1)
			if (substr(line, RSTART, 2) == "//")
				return out
			comment = substr(line, RSTART, 2) == "/*"
			if (!comment)
				out = out "\"\""
		}
		line = substr(line, RSTART + RLENGTH)
	}
}

# Appends the line to text, what is in parentheses left out; false while one is
# open.
function closed(line,    i, c) {
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == ")" && depth > 0)
			depth--
		if (depth == 0)
			text = text c
		if (c == "(")
			depth++
	}
	return depth == 0
}

# Members of a struct are no statements.
function crowded(s) {
	while (gsub(/(struct|union)[ A-Za-z_0-9]*\{[^{}]*\}/, "", s))
		;
	gsub(/[ \t\\}]+$/, "", s)
	if (s ~ /;[ \t]*[^ \t]/)
		return 1
	if (match(s, /(^|[^A-Za-z_0-9])(if|for|while|switch) ?\(\)/) ||
	    match(s, /(^|[^A-Za-z_0-9])else( if \(\))?/))
		return substr(s, RSTART + RLENGTH) !~ /^[ \t]*[{;]?$/
	return 0
}

FNR == 1 {
	comment = depth = body = 0
	text = ""
}

columns($0) > 80 { wrong(FNR, "more than 80 columns") }

!body && /^[A-Za-z_].*\(/ { head = FNR }	# the line with its name
/^\{/ || (head == FNR && /\) *\{$/) { body = 1 }
/^\}/ {
	if (body && FNR - head >= 60)
		wrong(head, "a function of " FNR - head + 1 " lines")
	body = 0
}

{
	plain = code($0)
	gsub(/\(void\)[A-Za-z_0-9]+;/, "", plain)	# the mark of what is not used
	if (plain ~ /^[^ \t]/) {	# whatever #if has made of what is open
		depth = 0
		text = ""
	}
	if (plain !~ /^[ \t]*#/ && closed(plain)) {
		if (crowded(text))
			wrong(FNR, "more than a statement")
		text = ""
	}
}

END { exit bad }
