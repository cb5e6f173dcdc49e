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

@test "parts: a pattern is read, and matches, as libc's extended regular expression" {
	parts patterns 20000 1
}
