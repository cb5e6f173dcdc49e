#!/usr/bin/env bats
# The ways to build and to install.  Everything happens in a copy, so that the
# tree in use stays as it is.

load helper

setup() {
	harness_setup
	nopoll 'what is built is the same'
	nosan 'what is built is another program'
	cp -R "$ROOT"/{Makefile,ownerwrap.c,src,man} .
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	unset CC CPPFLAGS CFLAGS LDFLAGS LDLIBS PREFIX BINDIR MANDIR DESTDIR
	unset BASHCOMPDIR ZSHCOMPDIR FISHCOMPDIR AWK
	unset INSTALL MODE TESTS BATSFLAGS
}

# A program that make takes for up to date.
stand_in() {
	echo "not a program" >ownerwrap
}

# A PATH with every command there is but the ones named.
path_without() {
	local dir
	mkdir bin
	for dir in /usr/bin /bin /usr/local/bin; do
		ln -sf "$dir"/* bin/ || :
	done
	(cd bin && rm -f "$@")
	PATH=$PWD/bin
}

# That ./PROGRAM hands an exit status and an argument on.
works() {
	run "./$1" -- sh -c 'echo "<$1>"; exit 7' sh 'a  b'
	expect_status 7
	expect_output "<a  b>"
}

one_line_build() {
	need "$1"
	run "$1" -O2 -o ownerwrap ownerwrap.c src/*.c
	expect_status 0
	expect_output ""
	works ownerwrap
}

@test "build: one line with gcc" {
	one_line_build gcc
}

@test "build: one line with clang" {
	one_line_build clang
}

@test "build: one line with musl-gcc" {
	one_line_build musl-gcc
}

@test "build: not a warning from gcc or clang, for either platform body" {
	local cc body
	for cc in gcc clang; do
		need $cc
		for body in LINUX POSIX; do
			run $cc -std=c11 -Wall -Wextra -Wpedantic -Wshadow \
				-Wconversion -Wswitch -Werror \
				-DOWNERWRAP_PLATFORM_$body -fsyntax-only \
				ownerwrap.c src/*.c
			expect_status 0
			expect_output ""
		done
	done
}

@test "build: the same source gives the same bytes, whenever and wherever" {
	mkdir other
	cp -R Makefile ownerwrap.c src man other
	make -s CFLAGS=-O0
	make -s -C other CFLAGS=-O0
	cmp ownerwrap other/ownerwrap
	run grep -rE '__(DATE|TIME|TIMESTAMP)__' ownerwrap.c src
	expect_status 1
}

@test "build: CC, CPPFLAGS, CFLAGS and LDFLAGS are honoured" {
	run make -n CC=some-cc CPPFLAGS=-DSOME CFLAGS=-Osome LDFLAGS=-Wl,some
	expect_status 0
	expect_output "some-cc -DSOME -Osome -Wl,some -Wl,-z,now,-z,noseparate-code -o ownerwrap $(echo ownerwrap.c src/*.c) "
	# Whose linker does not know these.
	printf '#!/bin/sh\necho Darwin\n' >./uname
	chmod +x ./uname
	PATH=$PWD:$PATH run make -n CC=some-cc CFLAGS=-Osome
	expect_output "some-cc  -Osome   -o ownerwrap $(echo ownerwrap.c src/*.c) "
	CC=other-cc CFLAGS=-Oother run make -n
	expect_status 0
	[[ $output == "other-cc "*" -Oother "* ]]
	run make -n
	expect_status 0
	[[ $output == *" -O2 "* ]]
}

@test "build: BSD make reads the Makefile too" {
	need bmake
	run bmake CFLAGS=-O0
	expect_status 0
	works ownerwrap
	stand_in
	run bmake install "DESTDIR=$PWD/dest" PREFIX=/usr
	expect_status 0
	[ -x dest/usr/bin/ownerwrap ]
}

@test "static: musl-gcc, where it is installed, makes a program without libraries" {
	need musl-gcc
	run make static CFLAGS=-O0
	expect_status 0
	[[ $output == *musl-gcc* ]]
	run readelf -l ownerwrap-static
	[[ $output == *LOAD* && $output != *INTERP* ]]
	works ownerwrap-static
	# Its execvp() leaves a script without #! alone, as the manual says.
	echo true >script
	chmod +x script
	run ./ownerwrap-static ./script
	expect_status 126
}

@test "static: without symbols it has 200 KiB at most" {
	need musl-gcc strip
	[ "$(uname -m)" = x86_64 ] || skip "measured on x86_64"
	make -s static
	strip ownerwrap-static
	[ "$(wc -c <ownerwrap-static)" -le 204800 ]
}

@test "static: cc does it where there is no musl-gcc" {
	path_without musl-gcc
	run make static CFLAGS=-O0
	expect_status 0
	[[ $output == *"cc "* && $output != *musl* ]]
	run readelf -l ownerwrap-static
	[[ $output == *LOAD* && $output != *INTERP* ]]
	works ownerwrap-static
}

@test "install: DESTDIR and PREFIX; uninstall takes away what came" {
	stand_in
	make -s install "DESTDIR=$PWD/dest" PREFIX=/opt/some
	run find dest ! -type d
	expect_status 0
	[ "$(LC_ALL=C sort <<<"$output")" = "dest/opt/some/bin/ownerwrap
dest/opt/some/share/bash-completion/completions/ownerwrap
dest/opt/some/share/fish/vendor_completions.d/ownerwrap.fish
dest/opt/some/share/man/man1/ownerwrap.1
dest/opt/some/share/zsh/site-functions/_ownerwrap" ]
	cmp ownerwrap dest/opt/some/bin/ownerwrap
	cmp man/ownerwrap.1 dest/opt/some/share/man/man1/ownerwrap.1
	run find dest ! -type d -perm 755
	expect_output dest/opt/some/bin/ownerwrap
	run find dest ! -type d -perm 644
	[ "${#lines[@]}" -eq 4 ]
	make -s uninstall "DESTDIR=$PWD/dest" PREFIX=/opt/some
	run find dest ! -type d
	expect_status 0
	expect_output ""
}

@test "install: /usr/local without PREFIX, BINDIR and MANDIR before it" {
	stand_in
	make -s install "DESTDIR=$PWD/dest"
	[ -e dest/usr/local/bin/ownerwrap ]
	[ -e dest/usr/local/share/man/man1/ownerwrap.1 ]
	dirs=(BINDIR=/b MANDIR=/m BASHCOMPDIR=/c ZSHCOMPDIR=/z FISHCOMPDIR=/f)
	make -s install "DESTDIR=$PWD/other" "${dirs[@]}"
	[ -e other/b/ownerwrap ]
	[ -e other/m/man1/ownerwrap.1 ]
	[ -s other/c/ownerwrap ]
	[ -s other/z/_ownerwrap ]
	[ -s other/f/ownerwrap.fish ]
	make -s uninstall "DESTDIR=$PWD/other" "${dirs[@]}"
	run find other ! -type d
	expect_status 0
	expect_output ""
}

@test "install: without completions that could be made it fails" {
	stand_in
	run make -s install "DESTDIR=$PWD/dest" AWK=false
	expect_status 2
}

@test "install: INSTALL is honoured, nothing is stripped" {
	stand_in
	run make -n install INSTALL=some-install
	expect_status 0
	[ "$(grep -c '^some-install ' <<<"$output")" -eq 3 ]
	run make -n install
	expect_status 0
	[[ $output != *strip* && $output != *" -s "* ]]
	make -s -B all CFLAGS=-O0
	run nm ownerwrap
	expect_status 0
	[[ $output == *" main"* ]]
}

@test "clean: takes away what was built, and nothing else" {
	mkdir -p .build/fixtures
	touch .build/fixtures/some ownerwrap ownerwrap-static
	make -s clean
	[ "$(ls -A)" = "Makefile
man
ownerwrap.c
src" ]
}

@test "make check: without bats one line says how to get it" {
	path_without bats
	run make -s check
	expect_status 2
	[ "$(grep -vc '^make' <<<"$output")" -eq 1 ]
	[[ $output == *apt*brew*npm* ]]
}

@test "make check: files, mode and program are handed on; only those are built" {
	mkdir -p bin tests/fixtures
	cp "$ROOT/tests/fixtures/fixture.h" "$ROOT/tests/fixtures/polling.c" \
		tests/fixtures
	cat >bin/bats <<-'END'
		#!/bin/sh
		echo "bats $* $OWNERWRAP_BIN $OWNERWRAP_TEST_MODE"
	END
	chmod +x bin/bats
	PATH=$PWD/bin:$PATH
	run make -s check TESTS='a.bats b.bats' MODE=poll CFLAGS=-O0 \
		OWNERWRAP_BIN=/usr/bin/ownerwrap
	expect_status 0
	[[ $output == "bats"*" a.bats b.bats /usr/bin/ownerwrap poll" ]]
	[ ! -e ownerwrap ]
	[ -x .build/fixtures/polling ]
	unset OWNERWRAP_BIN OWNERWRAP_TEST_MODE
	echo '# larger' >tests/b.bats
	: >tests/a.bats
	: >tests/helper.bash
	run make -s check CFLAGS=-O0
	expect_status 0
	[[ $output == "bats"*" tests/b.bats tests/a.bats  normal" ]]
	[ -x ownerwrap ]
}

# style COMMAND: what lint-style says of src/some.c, which COMMAND prints, without
# its name; the rest of the program is left out.
style() {
	rm -rf src
	mkdir -p src tests
	cp "$ROOT/tests/style.awk" tests
	: >ownerwrap.c
	: >src/some.h
	"$@" >src/some.c
	run make -s lint-style
	output=$(sed -n 's/^src\/some\.c://p' <<<"$output")
}

# function_of LINES: a function of so many, its name's and its braces' included
function_of() {
	printf 'static int\nsome(int a,\n    int b)\n{\n'
	yes '	a++;' | head -n $(($1 - 4))
	printf '}\n'
}

table_of() {
	printf 'static int some[] = {\n'
	yes '	1,' | head -n "$1"
	printf '};\n'
}

@test "lint: 80 columns; tabs are eight, a character in UTF-8 is one" {
	style printf '%s\n' "/* $(printf '─%.0s' {1..74}) */" \
		"	$(printf 'a%.0s' {1..64})	" "$(printf 'a%.0s' {1..80})"
	expect_status 0
	style printf '%s\n' "/* $(printf '─%.0s' {1..75}) */" \
		"	$(printf 'a%.0s' {1..64})	a" "$(printf 'a%.0s' {1..81})"
	expect_status 2
	expect_output "1: more than 80 columns
2: more than 80 columns
3: more than 80 columns"
	run make -s lint-style AWK=false
	expect_status 2
}

@test "lint: 60 lines a function, as many as it takes for a table" {
	style function_of 60
	expect_status 0
	style function_of 61
	expect_status 2
	expect_output "2: a function of 61 lines"
	style table_of 100
	expect_status 0
}

@test "lint: one statement a line" {
	local line
	while IFS= read -r line; do
		style printf '\t%b\n' "$line"
		expect_status 0 || fail "$line"
	done <<-'END'
		for (i = 0; i < n; i++)
		for (i = 0;\n	    i < n; i++) {
		} while (a());
		while (a())\n		;
		} else if (a(")")) {
		say("a; b"); /* it's; so */ // c; d
		a = ';';
		/* a; b;\n	c; d */
		struct { int a; struct { int b, c; } d; } e;
		static int f(int g) { (void)g; return 0; }
		#if (A) && (B)
		#define A(b)	do { \\\n		b; \\\n	} while (0)
	END
	while IFS= read -r line; do
		style printf '\t%b\n' "$line"
		expect_status 2 || fail "$line"
		expect_match '^[12]: more than a statement$'
	done <<-'END'
		a(); b();
		a(";",\n	    1); b();
		a(); /* c */ b++;
		if (a) b();
		if (a &&\n	    c) b();
		for (i = 0; i < n; i++) a();
		while (a("(")) b();
		} else b();
		if (a) { b(); }
		static int f(int g) { (void)g; h(); return 0; }
	END
}

# floors FILE LINE ...: what lint-floors says of a program of these files, a line
# of C each; its floors are low, os and other (one floor), high, ownerwrap
floors() {
	rm -rf src
	mkdir -p src tests
	cp "$ROOT/tests/floors.awk" tests
	: >ownerwrap.c
	while [ $# -gt 0 ]; do
		printf '%s\n' "$2" >>"$1"
		shift 2
	done
	run make -s lint-floors FLOORS='opt low os+other high ownerwrap'
	output=$(sed '/^make/d' <<<"$output")
}

# What the files below have for each other; a main() that calls these.
LOW='int low(void) { return 1; }'
OS='int os(void) { return 1; }'
HIGH='int high(void) { return 1; }'
calls() {
	printf 'int %s(void);\n' "$@"
	printf 'int main(void) { return %s 0; }\n' "$(printf '%s() + ' "$@")"
}

# by NAME FUNCTION: a function of this name that calls the other
by() {
	echo "int $2(void); int $1(void) { return $2(); }"
}

@test "lint: a room calls only those below" {
	floors src/low.c "$LOW" src/os.c "$OS" src/high.c "$(by high low)" \
		ownerwrap.c "$(calls low os high)"
	expect_status 0
	expect_output ""
	floors src/low.c "$(by low high)" src/high.c "$(by high top)" \
		ownerwrap.c "$(calls low)" ownerwrap.c 'int top(void) { return 1; }'
	expect_status 2
	expect_output "src/high.c calls up: top of ownerwrap.c
src/low.c calls up: high of src/high.c"
	# By its address, or a constant of it: no less.
	floors src/low.c 'extern const int high; const int *low(void) { return &high; }' \
		src/high.c 'const int high = 1;' \
		ownerwrap.c "$(calls low)"
	expect_status 2
	expect_output "src/low.c calls up: high of src/high.c"
}

@test "lint: the bodies of the platform call each other, and nothing above" {
	floors src/os.c "$(by os other)" src/os.c 'int os2(void) { return 1; }' \
		src/other.c "$(by other os2)" ownerwrap.c "$(calls os)"
	expect_status 0
	floors src/os.c "$(by os high)" src/high.c "$HIGH" ownerwrap.c "$(calls os)"
	expect_status 2
	expect_output "src/os.c calls up: high of src/high.c"
	# A call under either body counts.
	for body in LINUX POSIX; do
		floors src/os.c "#ifdef OWNERWRAP_PLATFORM_$body" \
			src/os.c "$(by os high)" src/os.c '#else' src/os.c "$OS" \
			src/os.c '#endif' src/high.c "$HIGH" ownerwrap.c "$(calls os)"
		expect_status 2
		expect_output "src/os.c calls up: high of src/high.c"
	done
}

@test "lint: what a header without a body declares is for all above it" {
	floors src/low.c 'extern const int opt; int low(void) { return opt; }' \
		ownerwrap.c "$(calls low)" ownerwrap.c 'const int opt = 1;'
	expect_status 0
	floors src/low.c 'extern const int opt; int low(void) { return opt; }' \
		src/opt.c 'int two(void) { return 2; }' \
		ownerwrap.c "$(calls low two)" ownerwrap.c 'const int opt = 1;'
	expect_status 2
	expect_output "src/low.c calls up: opt of ownerwrap.c"
}

@test "lint: every source has its floor" {
	floors src/some.c 'int some(void) { return 1; }' ownerwrap.c "$(calls some)"
	expect_status 2
	expect_output "src/some.c is not in FLOORS"
	# Nor is one that is empty here, but is another system's body.
	floors src/some.c '' ownerwrap.c 'int main(void) { return 0; }'
	expect_status 2
	expect_output "src/some.c is not in FLOORS"
}

@test "lint: nothing that another file can write" {
	local row
	for row in 'int some;' 'int some = 1;' 'const char *some = "";'; do
		floors src/low.c "$row" \
			ownerwrap.c 'extern int some; int main(void) { return some; }'
		expect_status 2 || fail "$row"
		expect_output "src/low.c: some is extern and can be written"
	done
	# As compilers before GCC 10 have it.
	CPPFLAGS=-fcommon floors src/low.c 'int some;' \
		ownerwrap.c 'extern int some; int main(void) { return some; }'
	expect_status 2
	expect_output "src/low.c: some is extern and can be written"
	for row in 'const int some = 1;' 'char *const some[] = { "" };' \
		'int some(void) { static int n; return n++; }'; do
		floors src/low.c "$row" \
			ownerwrap.c 'extern int some; int main(void) { return some; }'
		expect_status 0 || fail "$row"
	done
}

@test "lint: what no other file uses is static" {
	floors src/low.c "$LOW" src/low.c 'const int some = 1;' \
		src/high.c "$(by high low)" ownerwrap.c 'int main(void) { return 0; }'
	expect_status 2
	expect_output "src/high.c: high is used by no other file: static
src/low.c: some is used by no other file: static"
	# Under one body used, under the other only there.
	for body in LINUX POSIX; do
		floors src/low.c "$LOW" src/os.c "#ifdef OWNERWRAP_PLATFORM_$body" \
			src/os.c "$(by os low)" src/os.c '#else' src/os.c "$OS" \
			src/os.c '#endif' ownerwrap.c "$(calls os)"
		expect_status 0
	done
}

@test "lint: floors fail with a source that does not compile, and without nm" {
	floors src/low.c 'int low(' ownerwrap.c 'int main(void) { return 0; }'
	expect_status 2
	[[ $output != *nm:* ]]
	floors src/low.c "$LOW" ownerwrap.c "$(calls low)"
	expect_status 0
	path_without nm
	run make -s lint-floors FLOORS='low ownerwrap'
	expect_status 2
}
