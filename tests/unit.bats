#!/usr/bin/env bats
# Single rooms of the program, in C: tests/unit/NAME.c is linked with src/NAME.c,
# and is itself the system that the room sees.

load helper

# unit NAME: its program, which prints each check that failed. A sanitizer lets
# malloc() fail as it does elsewhere, and says so here, not in a report.
unit() {
	local dir=$ROOT/.build/unit
	[ -z "${OWNERWRAP_SANITIZED-}" ] || dir=$dir-asan
	ASAN_OPTIONS=allocator_may_return_null=1 "$dir/$1"
}

@test "unit: values: durations, numbers, signals, lists, words, times" {
	unit values
}

@test "unit: guise: what a command line says of a process" {
	unit guise
}

@test "unit: witness: a signal to the front and its group is one" {
	unit witness
}

@test "unit: each program of tests/unit is run here" {
	local src
	for src in "$ROOT"/tests/unit/*.c; do
		grep -qx "	unit $(basename "$src" .c)" "$BATS_TEST_FILENAME" ||
			fail "$src is not"
	done
}
