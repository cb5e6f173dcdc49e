#!/usr/bin/env bats
# What ownerwrap.c has of its own in place of libc's does the same: tests/parts.c
# has the source in it, and compares the two.

load helper

# parts ARGUMENT...: says nothing where nothing differs
parts() {
	need cc
	cc -std=c11 -D_GNU_SOURCE -O1 -o parts "$ROOT/tests/parts.c"
	run ./parts "$@"
	expect_output ""
	expect_status 0
}

@test "parts: a text is made as snprintf makes it" {
	parts formats 2000 1
}

@test "parts: no text needs what only snprintf can" {
	# Of continued texts each line has its own quotes.
	run awk '
		/^#|^ \*|^\/\*/ { next }
		{
			line = $0
			while (match(line, /"([^"\\]|\\.)*"/)) {
				text = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				gsub(/%(-|0)?[0-9]*(\.([0-9]+|\*))?(s|c|j?[dx])/, "", text)
				if (index(text, "%") && text != "\"%\"")
					print FILENAME ":" FNR ": " $0
			}
		}' "$ROOT/ownerwrap.c"
	expect_output ""
}

@test "parts: a pattern is read, and matches, as libc's extended regular expression" {
	parts patterns 20000 1
}
