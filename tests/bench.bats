#!/usr/bin/env bats
# The benchmark itself works, with numbers so small that they say nothing: what
# it measures passes or fails nowhere.

load helper

# A ratio of so few runs may be anything.
RATIO='-?([0-9.]+|inf|nan)'
BOTH="$RATIO \\[$RATIO\\]"		# [that of least.c]

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/.." .build/bench/bench \
		.build/bench/server .build/bench/least >/dev/null
}

setup() {
	harness_setup
	nopoll 'the benchmark polls where it means to'
	nosan 'the plain program is what is measured'
	bench=$ROOT/.build/bench/bench
}

# measure ROW...: in a few runs; the table at the end is in ./table, the lines
# below it in ./verdict. A copy stands for the static program. PEERS is where
# others are installed.
measure() {
	cp "$OW" ownerwrap-static
	PATH=${PEERS-$PATH} "$bench" -n 6 -o "$OW" -s ./ownerwrap-static "$@" \
		>all 2>err || { cat all err >&2; return 1; }
	assert_equal "$(cat err)" ""
	sed '1,/^row  /d; /^$/,$d' all >table
	sed '1,/^row  /d' all | sed '1,/^$/d' >verdict
}

# assert_row NAME ERE: it has been measured, and met or not; where a peer is not
# installed, there is nothing to compare with
assert_row() {
	assert_lines table "^$1 " 1
	assert_lines table "^$1 +($2 .* (yes|NO)|.* is not installed .* -)\$" 1
}

@test "bench: start, end and signals are measured, beside whatever is installed" {
	measure start dynamic first owner relay
	assert_row start "-?[0-9]+ us added, $BOTH tini-static, $RATIO execs"
	assert_row dynamic "-?[0-9]+ us added, $RATIO timeout"
	assert_row first "[0-9]+ us, $BOTH tini-static, $RATIO execs"
	assert_row owner "[0-9]+ us, $RATIO PR_SET_PDEATHSIG"
	assert_row relay "[0-9.]+ us, $RATIO tini"
	assert_lines table . 5
}

@test "bench: memory, idleness, polling and size are measured" {
	measure memory idle poll size
	assert_row memory '[1-9][0-9]* KiB, [1-9][0-9]* KiB private'
	assert_row idle '[0-9]+ switches, [0-9]+ ns, ([0-9]+) of [0-9]+ options'
	assert_lines all 'refused' 0
	assert_row poll '[0-9.]+ % \[[0-9.]+ %\], no fork'
	assert_row size '[1-9][0-9]+ bytes, (not )?stripped'
	assert_lines table . 4
}

@test "bench: many servers and a tree of many processes are measured" {
	measure thousand tree
	assert_row thousand "last handler $BOTH, gone $BOTH loops"
	assert_row tree "$RATIO s, twice the tree $RATIO"
	assert_lines table . 2
}

@test "bench: without others it says so, and measures the rest" {
	PEERS=$FIXTURES
	measure start relay owner
	assert_lines table '^start +tini-static is not installed' 1
	assert_lines table '^relay +tini is not installed' 1
	assert_row owner "[0-9]+ us, $RATIO PR_SET_PDEATHSIG"
}

@test "bench: at the end it tells the rows that are not met, or not known" {
	PEERS=$FIXTURES
	measure start dynamic
	assert_equal "$(cat verdict)" "no row is missed
not known: start dynamic"
	# One byte too many; not a program, but for its size it need not be one.
	truncate -s 204801 huge
	PATH=$PEERS "$bench" -n 6 -o "$OW" -s ./huge size >all
	assert_equal "$(tail -n 1 all)" "not met: size"
}

@test "bench: a row that is not there is refused" {
	run "$bench" start nothing
	expect_status 2
	expect_match '^usage: bench '
	run "$bench" -n none
	expect_status 2
}
