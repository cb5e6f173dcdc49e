/*
 * bench: what ownerwrap costs, beside what others cost and what the kernel
 * alone takes, all in one run. The figures that count are ratios.
 *
 * bench [-n COUNT] [-o OWNERWRAP] [-s STATIC-OWNERWRAP] [row ...]
 *	COUNT	runs of the first row (2000); all others are scaled by it
 *
 * `make bench` builds what it needs and starts it. Others are measured where
 * they are installed:
 *
 *	apt-get install tini dumb-init catatonit coreutils util-linux
 *
 * Commands that are compared take turns, in another order each round, so that
 * all of them have the same weather, and none always comes behind the same
 * other, which leaves the caches warm for its kin. Each row prints what it
 * found, and at the end a table says what was to be reached, and a line which
 * rows did not. Nothing is a failure but a row that could not be measured, as
 * the figures are the machine's, too.
 *
 * The server is server.c, and what two processes take with nothing in them is
 * least.c, in the same directory as this program.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "bench.h"

#define ARGS_MAX	32
#define PATH_ROOM	4096
#define INSTANCES_MAX	32
#define LIMIT_MS	30000	/* what has not come by then does not come */
#define SETTLE_MS	5	/* after READY: the wrapper is asleep */
#define IDLE_MS		60000
#define POLLERS		200
#define KILL_AFTER_MS	500	/* of the tree */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

enum wrapper {
	BARE, LEAST, OW_STATIC, OW, TINI_STATIC, TINI, DUMB_INIT, CATATONIT,
	TIMEOUT, SETPRIV, WRAPPERS
};

static struct {
	const char *name;
	const char *start[ARGS_MAX];	/* how it starts a command */
	const char *owned[ARGS_MAX];	/* the same, to end it with its owner */
	bool relays;			/* USR1, to what it has started */
	char path[PATH_ROOM];		/* "": it is not installed */
} wrappers[WRAPPERS] = {
	[BARE] = { .name = "nothing" },
	[LEAST] = { .name = "two processes",	/* least.c */
	    .start = { "--" }, .owned = { "--" } },
	[OW_STATIC] = { .name = "ownerwrap-static", .relays = true,
	    .start = { "--" }, .owned = { "--grace", "0", "--" } },
	[OW] = { .name = "ownerwrap", .relays = true,
	    .start = { "--" }, .owned = { "--grace", "0", "--" } },
	[TINI_STATIC] = { .name = "tini-static", .relays = true,
	    .start = { "-s", "--" }, .owned = { "-s", "-p", "SIGTERM", "--" } },
	[TINI] = { .name = "tini", .relays = true,
	    .start = { "-s", "--" }, .owned = { "-s", "-p", "SIGTERM", "--" } },
	[DUMB_INIT] = { .name = "dumb-init", .relays = true,
	    .start = { "--" } },
	[CATATONIT] = { .name = "catatonit", .relays = true,
	    .start = { "--" } },
	[TIMEOUT] = { .name = "timeout", .start = { "1000" } },
	[SETPRIV] = { .name = "setpriv",
	    .start = { "--pdeathsig", "TERM", "--" },
	    .owned = { "--pdeathsig", "TERM", "--" } }
};

/* In the order of the table at the end. */
enum row {
	START, DYNAMIC, FIRST, OWNER, RELAY, MEMORY, IDLE, POLL, THOUSAND, TREE,
	SIZE, ROWS
};

enum verdict { MISSED, MET, UNKNOWN };

static struct {
	char found[128];
	const char *target;		/* NULL: it was not to be measured */
	enum verdict met;
} results[ROWS];

struct samples {		/* of one command, in ns */
	int64_t *at;
	size_t n;
};

static int runs = 2000;
static char server[PATH_ROOM];
static posix_spawn_file_actions_t stdio;
static int out[2];		/* what the servers say */
static pid_t self;

/* ======================================================================== */
/* help                                                                     */
/* ======================================================================== */

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int
scaled(int n)
{
	int result = (int)((long long)n * runs / 2000);

	return result < 1 ? 1 : result;
}

static void
nap_ms(int64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) == -1 && errno == EINTR)
		;
}

static void
add(struct samples *s, int64_t ns)
{
	s->at = realloc(s->at, (s->n + 1) * sizeof(*s->at));
	if (s->at == NULL)
		die("memory");
	s->at[s->n++] = ns;
}

static int
by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* In microseconds; share 0.5 is the median. */
static double
quantile(struct samples *s, double share)
{
	if (s->n == 0)
		return 0;
	qsort(s->at, s->n, sizeof(*s->at), by_value);
	return (double)s->at[(size_t)(share * (double)(s->n - 1) + 0.5)] / 1e3;
}

static double
median(struct samples *s)
{
	return quantile(s, 0.5);
}

static void __attribute__((format(printf, 4, 5)))
result(enum row row, enum verdict met, const char *target, const char *fmt,
    ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(results[row].found, sizeof(results[row].found), fmt, ap);
	va_end(ap);
	results[row].target = target;
	results[row].met = met;
}

static bool
is_there(enum wrapper w)
{
	return w == BARE || wrappers[w].path[0] != '\0';
}

static void __attribute__((format(printf, 1, 2)))
print_head(const char *title, ...)
{
	va_list ap;

	putchar('\n');
	va_start(ap, title);
	vprintf(title, ap);
	va_end(ap);
	printf("\n  %-20s %10s %10s %10s %7s\n", "microseconds", "median",
	    "p10", "p99", "runs");
}

static void
print_samples(const char *name, struct samples *s)
{
	printf("  %-20s %10.1f %10.1f %10.1f %7zu\n", name, median(s),
	    quantile(s, 0.1), quantile(s, 0.99), s->n);
	fflush(stdout);
}

static void
print_all(struct samples *s)
{
	for (enum wrapper w = 0; w < WRAPPERS; w++)
		if (s[w].n > 0)
			print_samples(wrappers[w].name, &s[w]);
		else if (!is_there(w))
			printf("  %-20s not installed\n", wrappers[w].name);
}

static void
free_samples(struct samples *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(s[i].at);
}

/* ======================================================================== */
/* processes                                                                */
/* ======================================================================== */

struct command {
	const char *argv[2 * ARGS_MAX];
	int argc;
};

static void
add_words(struct command *c, const char *const *words)
{
	while (*words != NULL && c->argc < 2 * ARGS_MAX - 1)
		c->argv[c->argc++] = *words++;
}

#define WORDS(...)	((const char *const []){ __VA_ARGS__, NULL })

static void
add_wrapper(struct command *c, enum wrapper w, const char *const *options)
{
	if (w == BARE)
		return;
	add_words(c, WORDS(wrappers[w].path));
	add_words(c, options);
}

/* posix_spawn() is vfork() and exec: our own size does not count. */
static pid_t
start(struct command *c)
{
	pid_t pid;

	errno = posix_spawn(&pid, c->argv[0], &stdio, NULL,
	    (char *const *)(uintptr_t)c->argv, environ);
	if (errno != 0)
		die(c->argv[0]);
	return pid;
}

static void
reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
}

/* The next word of a server; false if none comes. */
static bool
hear(struct record *r)
{
	struct pollfd p = { .fd = out[0], .events = POLLIN };

	return poll(&p, 1, LIMIT_MS) == 1 &&
	    read(out[0], r, sizeof(*r)) == (ssize_t)sizeof(*r);
}

/* What they have said by now is of no use. */
static void
hear_out(void)
{
	struct pollfd p = { .fd = out[0], .events = POLLIN };
	struct record r;

	while (poll(&p, 1, 0) == 1 && hear(&r))
		;
}

static struct record
expect(enum word word)
{
	struct record r = { .ns = 0 };

	errno = ETIME;
	if (!hear(&r) || r.word != (int32_t)word)
		die("a server did not say what it should");
	return r;
}

static ssize_t
read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd == -1)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

static ssize_t
read_proc(pid_t pid, const char *file, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return read_file(path, buf, size);
}

/* Field n of /proc/PID/stat, by its number in proc_pid_stat(5); 4 = ppid. */
static int64_t
stat_field(pid_t pid, int n)
{
	char buf[1024], *at;

	if (read_proc(pid, "stat", buf, sizeof(buf)) <= 0 ||
	    (at = strrchr(buf, ')')) == NULL)
		return -1;
	for (int i = 2; i < n && at != NULL; i++)
		at = strchr(at + 1, ' ');
	return at == NULL ? -1 : strtoll(at, NULL, 10);
}

static bool
descends(pid_t pid)
{
	int64_t parent = pid;

	for (int i = 0; i < 64 && parent > 1; i++)
		if ((parent = stat_field((pid_t)parent, 4)) == self)
			return true;
	return false;
}

/*
 * All that descend from us and execute program, NULL = whatever it is. We
 * adopt orphans, so that a detached process is one of them.
 */
static size_t
find(const char *program, pid_t *pids, size_t room)
{
	char path[64], exe[PATH_ROOM];
	DIR *dir = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	while (dir != NULL && n < room && (e = readdir(dir)) != NULL) {
		pid_t pid = (pid_t)atoi(e->d_name);
		ssize_t len;

		if (!isdigit((unsigned char)e->d_name[0]) || !descends(pid))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
		len = readlink(path, exe, sizeof(exe) - 1);
		exe[len > 0 ? len : 0] = '\0';
		if (program == NULL || strcmp(exe, program) == 0)
			pids[n++] = pid;
	}
	if (dir != NULL)
		closedir(dir);
	return n;
}

static char idle_dir[32];	/* files of the row, "" = none */

static void
remove_dir(void)
{
	char *argv[] = { (char[]){ "rm" }, (char[]){ "-rf" }, idle_dir, NULL };
	pid_t pid;

	if (idle_dir[0] != '\0' &&
	    posix_spawnp(&pid, "rm", NULL, NULL, argv, environ) == 0)
		reap(pid);
	idle_dir[0] = '\0';
}

/* Whatever is left of what we started, after an error. */
static void
clear_away(void)
{
	pid_t pids[64];
	size_t n;

	remove_dir();
	for (int i = 0; i < 1000 && (n = find(NULL, pids, COUNT(pids))) > 0;
	    i++) {
		while (n-- > 0)
			kill(pids[n], SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void
reap_all(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* ======================================================================== */
/* start, dynamic, first: from nothing to a server                          */
/* ======================================================================== */

static void
shuffle(enum wrapper turns[WRAPPERS])
{
	for (int i = WRAPPERS - 1; i > 0; i--) {
		int j = rand() % (i + 1);
		enum wrapper w = turns[i];

		turns[i] = turns[j];
		turns[j] = w;
	}
}

/* One run of each installed wrapper with this server, in turns, per round. */
static void
take_turns(const char *what, int64_t (*measure)(struct command *),
    struct samples *s)
{
	struct command c[WRAPPERS] = { { .argc = 0 } };
	enum wrapper turns[WRAPPERS];

	for (enum wrapper w = 0; w < WRAPPERS; w++) {
		turns[w] = w;
		add_wrapper(&c[w], w, wrappers[w].start);
		add_words(&c[w], WORDS(server, what));
	}
	for (int i = -3; i < runs; i++) {	/* a few to warm up */
		shuffle(turns);
		for (int j = 0; j < WRAPPERS; j++) {
			enum wrapper w = turns[j];
			int64_t ns;

			if (!is_there(w))
				continue;
			ns = measure(&c[w]);
			if (i >= 0)
				add(&s[w], ns);
		}
	}
}

static int64_t
start_to_end(struct command *c)
{
	int64_t begin = now_ns();

	reap(start(c));
	return now_ns() - begin;
}

static int64_t
start_to_first(struct command *c)
{
	int64_t begin = now_ns();
	pid_t pid = start(c);
	struct record r = expect(BEGUN);

	reap(pid);
	return r.ns - begin;
}

/* Both rows come from one run. */
static struct samples ends[WRAPPERS];

static double
added(enum wrapper w)
{
	return median(&ends[w]) - median(&ends[BARE]);
}

static void
measure_ends(void)
{
	if (ends[BARE].n > 0)
		return;
	take_turns("true", start_to_end, ends);
	print_head("start and end of a static server that does nothing, under");
	print_all(ends);
}

static void
row_start(void)
{
	static const char target[] = "<= 1.05 tini-static";
	double own, peer, exec;

	measure_ends();
	own = added(OW_STATIC);
	peer = added(TINI_STATIC);
	exec = median(&ends[BARE]);
	if (!is_there(TINI_STATIC))
		result(START, UNKNOWN, target, "tini-static is not installed");
	else
		result(START, own <= 1.05 * peer, target,
		    "%.0f us added, %.2f [%.2f] tini-static, %.2f execs", own,
		    own / peer, added(LEAST) / peer, own / exec);
}

static void
row_dynamic(void)
{
	static const char target[] = "<= 1.15 timeout";
	double own, peer;

	measure_ends();
	own = added(OW);
	peer = added(TIMEOUT);
	if (!is_there(TIMEOUT))
		result(DYNAMIC, UNKNOWN, target, "timeout is not installed");
	else
		result(DYNAMIC, own <= 1.15 * peer, target,
		    "%.0f us added, %.2f timeout", own, own / peer);
}

static void
row_first(void)
{
	static const char target[] = "<= 1.0 tini-static";
	struct samples s[WRAPPERS] = { { .n = 0 } };
	double own, peer;

	take_turns("clock", start_to_first, s);
	print_head("from the start to the server's first instruction, under");
	print_all(s);
	own = median(&s[OW_STATIC]);
	peer = median(&s[TINI_STATIC]);
	if (!is_there(TINI_STATIC))
		result(FIRST, UNKNOWN, target, "tini-static is not installed");
	else
		result(FIRST, own <= peer, target,
		    "%.0f us, %.2f [%.2f] tini-static, %.2f execs", own,
		    own / peer, median(&s[LEAST]) / peer,
		    own / median(&s[BARE]));
	free_samples(s, WRAPPERS);
}

/* ======================================================================== */
/* owner, relay: from a signal to the server's handler                      */
/* ======================================================================== */

/* The owner, which is the parent, is killed. */
static int64_t
owner_to_handler(struct command *c)
{
	pid_t owner = start(c);
	int64_t begin;
	struct record r;

	expect(READY);
	nap_ms(SETTLE_MS);
	begin = now_ns();
	kill(owner, SIGKILL);
	r = expect(TERMED);
	reap_all();
	return r.ns - begin;
}

static void
row_owner(void)
{
	struct samples s[WRAPPERS] = { { .n = 0 } };
	struct command c[WRAPPERS] = { { .argc = 0 } };
	double ratio;

	for (enum wrapper w = 0; w < WRAPPERS; w++) {
		add_words(&c[w], WORDS(server, "owner", "1"));
		add_wrapper(&c[w], w, wrappers[w].owned);
		add_words(&c[w], WORDS(server, w == BARE ? "death" : "wait"));
	}
	for (int i = 0; i < scaled(500); i++)
		for (int j = 0; j < WRAPPERS; j++) {
			enum wrapper w = (enum wrapper)((i + j) % WRAPPERS);

			if (is_there(w) &&
			    (w == BARE || wrappers[w].owned[0] != NULL))
				add(&s[w], owner_to_handler(&c[w]));
		}
	print_head("from the owner's SIGKILL to the server's TERM handler, "
	    "under\n  (nothing: the kernel's PR_SET_PDEATHSIG)");
	print_all(s);
	ratio = median(&s[OW_STATIC]) / median(&s[BARE]);
	result(OWNER, ratio <= 2.5, "<= 2.5 PR_SET_PDEATHSIG",
	    "%.0f us, %.2f PR_SET_PDEATHSIG", median(&s[OW_STATIC]), ratio);
	free_samples(s, WRAPPERS);
}

static void
row_relay(void)
{
	static const char target[] = "<= 4 tini";
	struct samples s[WRAPPERS] = { { .n = 0 } };
	pid_t pid[WRAPPERS] = { 0 };
	double own;

	for (enum wrapper w = 0; w < WRAPPERS; w++) {
		struct command c = { .argc = 0 };

		if (!is_there(w) || (w != BARE && !wrappers[w].relays))
			continue;
		add_wrapper(&c, w, wrappers[w].start);
		add_words(&c, WORDS(server, "wait"));
		pid[w] = start(&c);
		expect(READY);
	}
	nap_ms(200);		/* after which nothing of the start is left */
	for (int i = 0; i < runs; i++)
		for (int j = 0; j < WRAPPERS; j++) {
			enum wrapper w = (enum wrapper)((i + j) % WRAPPERS);
			int64_t begin = now_ns();

			if (pid[w] == 0)
				continue;
			kill(pid[w], SIGUSR1);
			add(&s[w], expect(USED).ns - begin);
			nap_ms(0);
		}
	for (enum wrapper w = 0; w < WRAPPERS; w++)
		if (pid[w] != 0) {
			kill(pid[w], SIGTERM);
			expect(TERMED);
			reap(pid[w]);
		}
	print_head("from USR1, sent to the process started, to the server's "
	    "handler, under");
	print_all(s);
	own = median(&s[OW_STATIC]);
	if (!is_there(TINI))
		result(RELAY, UNKNOWN, target, "tini is not installed");
	else
		result(RELAY, own <= 4 * median(&s[TINI]), target,
		    "%.1f us, %.2f tini", own, own / median(&s[TINI]));
	free_samples(s, WRAPPERS);
}

/* ======================================================================== */
/* memory, size                                                             */
/* ======================================================================== */

/* The sum of a line of smaps_rollup of all, in KiB; -1 if it can't be read. */
static long
memory(const pid_t *pids, size_t n, const char *key)
{
	char buf[4096];
	long sum = 0;

	for (size_t i = 0; i < n; i++) {
		const char *at;

		if (read_proc(pids[i], "smaps_rollup", buf, sizeof(buf)) <= 0 ||
		    (at = strstr(buf, key)) == NULL)
			return -1;
		sum += strtol(at + strlen(key), NULL, 10);
	}
	return sum;
}

static long
private_memory(const pid_t *pids, size_t n)
{
	long clean = memory(pids, n, "\nPrivate_Clean:");
	long dirty = memory(pids, n, "\nPrivate_Dirty:");

	return clean == -1 || dirty == -1 ? -1 : clean + dirty;
}

static void
row_memory(void)
{
	static const char target[] = "<= 400 KiB, <= 150 KiB private";
	long own = -1, own_private = -1;

	printf("\nmemory of all processes of a wrapper of one server\n"
	    "  %-20s %10s %10s %10s\n", "KiB", "Pss", "private", "processes");
	for (enum wrapper w = LEAST + 1; w < WRAPPERS; w++) {
		struct command c = { .argc = 0 };
		pid_t pids[16], pid;
		size_t n;
		long pss, private;

		if (!is_there(w))
			continue;
		add_wrapper(&c, w, wrappers[w].start);
		add_words(&c, WORDS(server, "wait"));
		pid = start(&c);
		expect(READY);
		nap_ms(200);
		n = find(wrappers[w].path, pids, COUNT(pids));
		pss = memory(pids, n, "\nPss:");
		private = private_memory(pids, n);
		printf("  %-20s %10ld %10ld %10zu\n", wrappers[w].name, pss,
		    private, n);
		if (w == OW_STATIC) {
			own = pss;
			own_private = private;
		}
		kill(pid, SIGTERM);
		expect(TERMED);
		reap(pid);
	}
	if (own == -1 || own_private == -1)
		result(MEMORY, UNKNOWN, target, "no /proc/PID/smaps_rollup");
	else
		result(MEMORY, own <= 400 && own_private <= 150, target,
		    "%ld KiB, %ld KiB private", own, own_private);
}

static void
row_size(void)
{
	char copy[] = "/tmp/bench.XXXXXX";
	struct command c = { .argc = 0 };
	const char *how = "stripped";
	struct stat st;
	int status = -1, fd = mkstemp(copy);
	pid_t pid;

	if (fd == -1)
		die(copy);
	close(fd);
	add_words(&c, WORDS("strip", "-o", copy, wrappers[OW_STATIC].path));
	if (posix_spawnp(&pid, "strip", &stdio, NULL,
	    (char *const *)(uintptr_t)c.argv, environ) == 0)
		waitpid(pid, &status, 0);
	if (status != 0)
		how = "not stripped";
	if (stat(status == 0 ? copy : wrappers[OW_STATIC].path, &st) == -1)
		die(wrappers[OW_STATIC].path);
	unlink(copy);
	printf("\nsize of ownerwrap-static: %jd bytes, %s\n",
	    (intmax_t)st.st_size, how);
	result(SIZE, st.st_size <= 200 * 1024, "<= 204800 bytes",
	    "%jd bytes, %s", (intmax_t)st.st_size, how);
}

/* ======================================================================== */
/* idle, poll: both wait for the same minute                                */
/* ======================================================================== */

struct effort {
	int64_t switches;	/* context switches */
	int64_t cpu_ns;
	int64_t children;	/* page faults of those that were reaped */
	size_t processes;
};

static struct effort
effort_of(const pid_t *pids, size_t n)
{
	struct effort e = { .processes = n };
	char buf[4096];

	for (size_t i = 0; i < n; i++) {
		const char *at = buf;

		if (read_proc(pids[i], "schedstat", buf, sizeof(buf)) > 0)
			e.cpu_ns += strtoll(buf, NULL, 10);
		else
			e.cpu_ns += (stat_field(pids[i], 14) +
			    stat_field(pids[i], 15)) * (1000000000 /
			    sysconf(_SC_CLK_TCK));
		e.children += stat_field(pids[i], 11);
		if (read_proc(pids[i], "status", buf, sizeof(buf)) <= 0)
			continue;
		while ((at = strstr(at, "ctxt_switches:")) != NULL)
			e.switches += strtoll(at += 14, NULL, 10);
	}
	return e;
}

static struct effort
effort_of_all(const char *program)
{
	static pid_t pids[4096];

	return effort_of(pids, find(program, pids, COUNT(pids)));
}

/*
 * Instances with every option that needs no waking up while an owner lives;
 * %d is a directory of our own, %p our pid.
 */
static const char *const idle_options[] = {
	"", "--any --owner-pid %p", "--owner-name bench", "--owner-fd 0",
	"--grace 0.1", "--kill-after 0.1", "--signal INT", "--scope process",
	"--scope tree", "--leftovers wait", "--leftovers leave",
	"--interval 0.01", "--keep-connected", "--keep-if true",
	"--share bench --grace 0", "--unique bench",
	"--sweep %d/*.{pid}", "--orphans nobody",
	"--log %d/log", "--quiet", "--verbose"
};

struct instance {
	pid_t pid;
	int in;			/* the other end of its standard input */
};

/* One of them, by its words; its standard input is a pipe. */
static struct instance
start_idle(const char *options, const char *dir)
{
	posix_spawn_file_actions_t actions;
	struct command c = { .argc = 0 };
	struct instance one;
	char words[512] = "", own[16];
	int in[2];

	snprintf(own, sizeof(own), "%d", (int)self);
	for (const char *at = options; *at != '\0'; at++) {
		size_t n = strlen(words);

		if (*at == '%')
			at++;
		if (at > options && at[-1] == '%')
			snprintf(words + n, sizeof(words) - n, "%s",
			    *at == 'd' ? dir : own);
		else
			snprintf(words + n, sizeof(words) - n, "%c", *at);
	}
	add_words(&c, WORDS(wrappers[OW].path));
	for (char *rest = words, *word; (word = strtok_r(rest, " ", &rest)); )
		add_words(&c, WORDS(word));
	add_words(&c, WORDS("--", server, "wait"));
	if (pipe2(in, O_CLOEXEC) == -1)
		die("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawn(&one.pid, c.argv[0], &actions, NULL,
	    (char *const *)(uintptr_t)c.argv, environ);
	if (errno != 0)
		die(c.argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	one.in = in[1];
	return one;
}

static struct {
	bool wanted;
	struct instance at[INSTANCES_MAX];
	size_t refused;
	struct effort before;
} idle;

static struct {
	bool wanted;
	pid_t at[POLLERS], tick[POLLERS];
	int n;
	struct effort before, tick_before;
	int64_t begin;
} polled;

/*
 * The pollers are the static program, those that are idle the other one, to be
 * told from each other.  As many processes that only wake up every second show
 * what the kernel takes for that alone.
 */
static void
begin_poll(void)
{
	struct command c = { .argc = 0 }, tick = { .argc = 0 };
	int gap = 1000 / (2 * POLLERS);		/* all over the second */

	polled.n = scaled(POLLERS) < POLLERS ? scaled(POLLERS) : POLLERS;
	add_words(&c, WORDS(wrappers[OW_STATIC].path, "--poll", "--", server,
	    "wait"));
	add_words(&tick, WORDS(server, "tick"));
	for (int i = 0; i < polled.n; i++) {
		polled.at[i] = start(&c);
		expect(READY);
		nap_ms(gap);
		polled.tick[i] = start(&tick);
		nap_ms(gap);
	}
}

static void
begin_idle(void)
{
	strcpy(idle_dir, "/tmp/bench.XXXXXX");
	if (mkdtemp(idle_dir) == NULL)
		die(idle_dir);
	setenv("XDG_RUNTIME_DIR", idle_dir, 1);
	for (size_t i = 0; i < COUNT(idle_options); i++)
		idle.at[i] = start_idle(idle_options[i], idle_dir);
}

static void
say_refused(void)
{
	for (size_t i = 0; i < COUNT(idle_options); i++)
		if (waitpid(idle.at[i].pid, NULL, WNOHANG) ==
		    idle.at[i].pid) {
			printf("  refused: %s\n", idle_options[i]);
			idle.at[i].pid = 0;
			idle.refused++;
		}
}

static double
percent(struct effort before, struct effort now, double elapsed)
{
	return (double)(now.cpu_ns - before.cpu_ns) / elapsed * 100;
}

static void
end_poll(void)
{
	struct effort e = effort_of_all(wrappers[OW_STATIC].path);
	struct effort tick = effort_of(polled.tick, (size_t)polled.n);
	double elapsed = (double)(now_ns() - polled.begin);
	double cpu = percent(polled.before, e, elapsed);
	double least = percent(polled.tick_before, tick, elapsed);
	double looks = (double)(e.switches - polled.before.switches) / elapsed *
	    1e9 / polled.n;
	bool forked = e.children != polled.before.children ||
	    e.processes != polled.before.processes;

	printf("\n--poll, %d servers, %zu processes, %.1f s: %.3f %% of a "
	    "core, %.2f switches\n  a server and second, forks: %s; only to "
	    "wake up so often takes %.3f %%\n", polled.n, e.processes,
	    elapsed / 1e9, cpu, looks, forked ? "SOME" : "none", least);
	result(POLL, cpu <= 0.6 && !forked, "<= 0.6 % of a core, no fork",
	    "%.3f %% [%.3f %%], %s", cpu, least,
	    forked ? "forks" : "no fork");
	for (int i = 0; i < polled.n; i++) {
		kill(polled.at[i], SIGTERM);
		kill(polled.tick[i], SIGTERM);
	}
	for (int i = 0; i < polled.n; i++) {
		expect(TERMED);
		reap(polled.at[i]);
		reap(polled.tick[i]);
	}
}

/* A process that was not switched to and used no time has made no call. */
static void
end_idle(void)
{
	struct effort e = effort_of_all(wrappers[OW].path);
	int64_t switches = e.switches - idle.before.switches;
	int64_t cpu = e.cpu_ns - idle.before.cpu_ns;

	printf("\nidle, %zu options, %zu processes, %d s: %" PRId64
	    " switches, %" PRId64 " ns of CPU\n", COUNT(idle_options) -
	    idle.refused, e.processes, scaled(IDLE_MS) / 1000, switches, cpu);
	result(IDLE, switches == 0 && cpu == 0 && idle.refused == 0 &&
	    e.processes == idle.before.processes, "0 switches, so 0 calls",
	    "%" PRId64 " switches, %" PRId64 " ns, %zu of %zu options",
	    switches, cpu, COUNT(idle_options) - idle.refused,
	    COUNT(idle_options));
	for (size_t i = 0; i < COUNT(idle_options); i++) {
		close(idle.at[i].in);
		if (idle.at[i].pid != 0)
			kill(idle.at[i].pid, SIGTERM);
	}
	for (size_t i = 0; i < COUNT(idle_options); i++)
		if (idle.at[i].pid != 0)
			reap(idle.at[i].pid);
	reap_all();
	hear_out();
	remove_dir();
}

static void want_idle(void) { idle.wanted = true; }
static void want_poll(void) { polled.wanted = true; }

static void
wait_for_both(void)
{
	if (!idle.wanted && !polled.wanted)
		return;
	if (polled.wanted)
		begin_poll();
	if (idle.wanted)
		begin_idle();
	nap_ms(scaled(2000) + 300);	/* their start is over */
	if (idle.wanted)
		say_refused();
	hear_out();
	if (polled.wanted) {
		polled.before = effort_of_all(wrappers[OW_STATIC].path);
		polled.tick_before = effort_of(polled.tick, (size_t)polled.n);
		polled.begin = now_ns();
	}
	if (idle.wanted)
		idle.before = effort_of_all(wrappers[OW].path);
	nap_ms(scaled(IDLE_MS));
	if (polled.wanted)
		end_poll();
	if (idle.wanted)
		end_idle();
}

/* ======================================================================== */
/* thousand, tree: many processes                                           */
/* ======================================================================== */

struct ending {
	struct samples last;	/* until the last handler ran */
	struct samples gone;	/* until all are gone, the wrappers too */
};

static void
note_ending(struct ending *e, int n, int64_t begin)
{
	int64_t end, last = 0;

	reap_all();		/* a front ends after all that it started */
	end = now_ns();
	for (int i = 0; i < n; i++) {
		struct record r = expect(TERMED);

		last = r.ns > last ? r.ns : last;
	}
	add(&e->last, last - begin);
	add(&e->gone, end - begin);
}

/* As fast as they can be ended: by one loop of their parent. */
static void
end_bare(struct ending *e, int n)
{
	struct command c = { .argc = 0 };
	pid_t *pids = calloc((size_t)n, sizeof(*pids));
	int64_t begin;

	if (pids == NULL)
		die("memory");
	add_words(&c, WORDS(server, "wait"));
	for (int i = 0; i < n; i++)
		pids[i] = start(&c);
	for (int i = 0; i < n; i++)
		expect(READY);
	nap_ms(300);
	begin = now_ns();
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGTERM);
	note_ending(e, n, begin);
	free(pids);
}

static void
end_owned(struct ending *e, enum wrapper w, int n)
{
	struct command c = { .argc = 0 };
	char number[16];
	int64_t begin;
	pid_t owner;

	snprintf(number, sizeof(number), "%d", n);
	add_words(&c, WORDS(server, "owner", number));
	add_wrapper(&c, w, wrappers[w].owned);
	add_words(&c, WORDS(server, "wait"));
	owner = start(&c);
	for (int i = 0; i < n; i++)
		expect(READY);
	nap_ms(300);
	begin = now_ns();
	kill(owner, SIGKILL);
	note_ending(e, n, begin);
}

static void
row_thousand(void)
{
	static const enum wrapper who[] = { LEAST, OW_STATIC };
	struct ending bare = { .last.n = 0 }, owned[2] = { { .last.n = 0 } };
	double last[2], gone[2];
	int n = scaled(1000);

	for (int i = 0; i < scaled(9); i++) {
		end_bare(&bare, n);
		for (size_t k = 0; k < COUNT(who); k++)
			end_owned(&owned[k], who[k], n);
	}
	print_head("%d servers: their owner is killed, or there is only a loop "
	    "of kill():\n  the last handler, and all gone", n);
	print_samples("loop: last", &bare.last);
	print_samples("loop: gone", &bare.gone);
	for (size_t k = 0; k < COUNT(who); k++) {
		char name[64];

		snprintf(name, sizeof(name), "%s: last", wrappers[who[k]].name);
		print_samples(name, &owned[k].last);
		snprintf(name, sizeof(name), "%s: gone", wrappers[who[k]].name);
		print_samples(name, &owned[k].gone);
		last[k] = median(&owned[k].last) / median(&bare.last);
		gone[k] = median(&owned[k].gone) / median(&bare.gone);
		free_samples(&owned[k].last, 1);
		free_samples(&owned[k].gone, 1);
	}
	result(THOUSAND, last[1] <= 6 && gone[1] <= 6,
	    "<= 6 and <= 6 loops of kill()",
	    "last handler %.2f [%.2f], gone %.2f [%.2f] loops",
	    last[1], last[0], gone[1], gone[0]);
	free_samples(&bare.last, 1);
	free_samples(&bare.gone, 1);
}

/* A tree whose owner is killed: the time until all of it is gone. */
static int64_t
end_tree(int n)
{
	struct command c = { .argc = 0 };
	struct command own = { .argc = 0 };
	char pid[16], size[16];
	pid_t owner, front;
	int64_t begin;

	add_words(&own, WORDS(server, "pause"));
	owner = start(&own);
	snprintf(pid, sizeof(pid), "%d", (int)owner);
	snprintf(size, sizeof(size), "%d", n);
	add_words(&c, WORDS(wrappers[OW_STATIC].path, "--grace", "0",
	    "--kill-after", "500ms", "--owner-pid", pid, "--", server, "tree",
	    size));
	front = start(&c);
	expect(READY);
	nap_ms(100);
	begin = now_ns();
	kill(owner, SIGKILL);
	reap(front);
	begin = now_ns() - begin;
	reap_all();
	return begin - KILL_AFTER_MS * INT64_C(1000000);
}

static void
row_tree(void)
{
	struct samples one = { .n = 0 }, two = { .n = 0 };
	int n = scaled(2000);

	for (int i = 0; i < scaled(5); i++) {
		add(&one, end_tree(n));
		add(&two, end_tree(2 * n));
	}
	print_head("trees of %d and %d descendants: from the owner's SIGKILL "
	    "until all are\n  gone, beyond kill-after", n, 2 * n);
	print_samples("tree", &one);
	print_samples("twice the tree", &two);
	result(TREE, median(&one) <= 0.3e6 &&
	    median(&two) <= 2.3 * median(&one),
	    "<= 0.3 s, twice the tree <= 2.3", "%.3f s, twice the tree %.2f",
	    median(&one) / 1e6, median(&two) / median(&one));
	free_samples(&one, 1);
	free_samples(&two, 1);
}

/* ======================================================================== */
/* main                                                                     */
/* ======================================================================== */

static const struct {
	const char *name;
	void (*measure)(void);
} rows[ROWS] = {
	[START] = { "start", row_start },
	[DYNAMIC] = { "dynamic", row_dynamic },
	[FIRST] = { "first", row_first },
	[OWNER] = { "owner", row_owner },
	[RELAY] = { "relay", row_relay },
	[MEMORY] = { "memory", row_memory },
	[IDLE] = { "idle", want_idle },		/* both wait for the same */
	[POLL] = { "poll", want_poll },		/* minute, at the end */
	[THOUSAND] = { "thousand", row_thousand },
	[TREE] = { "tree", row_tree },
	[SIZE] = { "size", row_size }
};

static void
find_in_path(enum wrapper w)
{
	const char *at = getenv("PATH");
	char path[PATH_ROOM];

	for (; at != NULL && *at != '\0'; at += *at == ':') {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at,
		    wrappers[w].name);
		if (access(path, X_OK) == 0 &&
		    realpath(path, wrappers[w].path) != NULL)
			return;
		at += len;
	}
	wrappers[w].path[0] = '\0';
}

/* No variable of ours changes what is measured. */
static void
clean_environment(void)
{
	char name[256];

	for (char **e = environ; *e != NULL; ) {
		snprintf(name, sizeof(name), "%.*s",
		    (int)strcspn(*e, "="), *e);
		if (strncmp(name, "OWNERWRAP", 9) == 0 && unsetenv(name) == 0)
			e = environ;
		else
			e++;
	}
}

static void
prepare(const char *dynamic, const char *fixed)
{
	ssize_t n = readlink("/proc/self/exe", server, sizeof(server) - 8);

	if (n == -1)
		die("/proc/self/exe");
	server[n] = '\0';
	strcpy(strrchr(server, '/') + 1, "least");
	strcpy(wrappers[LEAST].path, server);
	strcpy(strrchr(server, '/') + 1, "server");
	if (realpath(dynamic, wrappers[OW].path) == NULL)
		die(dynamic);
	if (realpath(fixed, wrappers[OW_STATIC].path) == NULL)
		die(fixed);
	for (enum wrapper w = TINI_STATIC; w < WRAPPERS; w++)
		find_in_path(w);
	clean_environment();
	if (pipe2(out, O_CLOEXEC) == -1)
		die("pipe");
	fcntl(out[1], F_SETPIPE_SZ, 1 << 20);	/* all of them talk at once */
	posix_spawn_file_actions_init(&stdio);
	posix_spawn_file_actions_addopen(&stdio, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&stdio, out[1], 1);
	posix_spawn_file_actions_addopen(&stdio, 2, "/dev/null", O_WRONLY, 0);
	self = getpid();
	prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
	atexit(clear_away);
}

static void
print_machine(void)
{
	char cpu[8192], date[32], *name = NULL;
	time_t now = time(NULL);
	struct utsname u;

	strftime(date, sizeof(date), "%Y-%m-%d", localtime(&now));
	uname(&u);
	if (read_file("/proc/cpuinfo", cpu, sizeof(cpu)) > 0 &&
	    (name = strstr(cpu, "model name")) != NULL)
		name = strchr(name, ':');
	printf("%s, %s %s %s, %ld processors (%.*s), %d runs\n", date,
	    u.sysname, u.release, u.machine, sysconf(_SC_NPROCESSORS_ONLN),
	    name == NULL ? 1 : (int)strcspn(name + 2, "\n"),
	    name == NULL ? "?" : name + 2, runs);
}

static _Noreturn void
misuse(void)
{
	fprintf(stderr, "usage: bench [-n COUNT] [-o OWNERWRAP] "
	    "[-s STATIC-OWNERWRAP] [row ...]\nrows:");
	for (size_t i = 0; i < ROWS; i++)
		fprintf(stderr, " %s", rows[i].name);
	fputc('\n', stderr);
	exit(2);
}

static bool
is_chosen(const char *name, char **chosen)
{
	if (*chosen == NULL)
		return true;
	while (*chosen != NULL && strcmp(*chosen, name) != 0)
		chosen++;
	return *chosen != NULL;
}

static void
check_chosen(char **chosen)
{
	for (; *chosen != NULL; chosen++) {
		size_t i = 0;

		while (i < ROWS && strcmp(rows[i].name, *chosen) != 0)
			i++;
		if (i == ROWS)
			misuse();
	}
}

static void
print_table(void)
{
	static const char *const verdicts[] = {
		[MISSED] = "NO", [MET] = "yes", [UNKNOWN] = "-"
	};

	printf("\n[]: two processes with nothing in them (least.c); of poll: "
	    "what only\n  waking up as often takes\n");
	printf("\n%-9s %-48s %-31s %s\n", "row", "found", "to be reached",
	    "met");
	for (size_t i = 0; i < ROWS; i++)
		if (results[i].target != NULL)
			printf("%-9s %-48s %-31s %s\n", rows[i].name,
			    results[i].found, results[i].target,
			    verdicts[results[i].met]);
}

/* The rows with this verdict, in a line, if there are any. */
static bool
print_rows(const char *title, enum verdict met)
{
	bool any = false;

	for (size_t i = 0; i < ROWS; i++) {
		if (results[i].target == NULL || results[i].met != met)
			continue;
		printf("%s %s", any ? "" : title, rows[i].name);
		any = true;
	}
	if (any)
		putchar('\n');
	return any;
}

int
main(int argc, char **argv)
{
	const char *dynamic = "./ownerwrap", *fixed = "./ownerwrap-static";
	int c;

	while ((c = getopt(argc, argv, "n:o:s:")) != -1)
		switch (c) {
		case 'n': runs = atoi(optarg); break;
		case 'o': dynamic = optarg; break;
		case 's': fixed = optarg; break;
		default: misuse();
		}
	if (runs < 1)
		misuse();
	check_chosen(argv + optind);
	prepare(dynamic, fixed);
	print_machine();
	for (size_t i = 0; i < ROWS; i++)
		if (is_chosen(rows[i].name, argv + optind))
			rows[i].measure();
	wait_for_both();
	print_table();
	putchar('\n');
	if (!print_rows("not met:", MISSED))
		puts("no row is missed");
	print_rows("not known:", UNKNOWN);
	return 0;
}
