# Which room calls which, by what nm -A -g -P prints of all of them. Each call
# of a room that comes later in the list of floors is a line; so is an extern
# that can be written, and one that no other file uses. Then the status is 1.
#
#	awk -v floors='low other+another high' -v sources='src/low.c ...' \
#		-f tests/floors.awk SYMBOLS SYMBOLS
#
# Rooms with + in between are one floor, in which each may call all. The file is
# read twice: the first time who defines what and what is used.

function room(file) {
	sub(/.*\//, "", file)
	sub(/\.c$/, "", file)
	return file
}

# What a header without a body declares is its own, whoever defines it: opt.
function floor_of(symbol) {
	if ((symbol in floor) && !(symbol in body))
		return floor[symbol]
	return floor[room(home[symbol])]
}

function wrong(what) {
	if (!said[what]++)	# under the other platform body, too
		print what
}

BEGIN {
	n = split(floors, word, " ")
	for (i = 1; i <= n; i++) {
		m = split(word[i], part, "+")
		for (j = 1; j <= m; j++)
			floor[part[j]] = i
	}
	n = split(sources, word, " ")
	for (i = 1; i <= n; i++) {
		body[room(word[i])] = 1
		if (!(room(word[i]) in floor))
			wrong(word[i] " is not in FLOORS")
	}
}

{
	file = $1		# .build/floors/LINUX/src/some.o:
	sub(/.*\/(LINUX|POSIX)\//, "", file)
	sub(/\.o:$/, ".c", file)
}

NR == FNR {
	if ($3 == "U")
		used[$2] = 1
	else
		home[$2] = file
	next
}

$3 == "U" && ($2 in home) && floor_of($2) > floor[room(file)] {
	wrong(file " calls up: " $2 " of " home[$2])
}
$3 ~ /[BCDGS]/ { wrong(file ": " $2 " is extern and can be written") }
$3 != "U" && !($2 in used) && $2 != "main" {
	wrong(file ": " $2 " is used by no other file: static")
}

END {
	for (what in said)
		exit 1
}
