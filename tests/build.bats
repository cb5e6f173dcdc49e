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
