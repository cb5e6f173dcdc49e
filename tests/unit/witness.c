/*
 * The witness rule: what came to the front and to its group is one signal
 */
#include "unit.h"

#include "channel.h"
#include "record.h"
#include "say.h"
#include "timer.h"
#include "witness.h"

#include <sys/socket.h>
#include <sys/wait.h>

static int64_t clock_ms = 100000;
static int64_t held_until = FOREVER;	/* T_HELD */
static bool silent;			/* the witness does not answer */
static bool stranger_of_tree;		/* who sends is of the tree */
static int mouth = -1;			/* the witness's end */
static struct note hers[64];		/* she has had, and not told yet */
static int n_hers;

int64_t now_ms(void) { return clock_ms; }
int survive(int fd) { return fd; }
int64_t due(enum timer t) { return t == T_HELD ? held_until : FOREVER; }
bool is_of_tree(const struct family *f, pid_t pid)
{
	return (void)f, pid != 7 && stranger_of_tree;
}

void
set_due(enum timer t, int64_t when_ms)
{
	if (t == T_HELD)
		held_until = when_ms;
}

void
set_timer(enum timer t, int64_t ms)
{
	set_due(t, ms == FOREVER ? FOREVER : clock_ms + ms);
}

void say(enum level level, const char *fmt, ...) { (void)level, (void)fmt; }

int
pair_cloexec(int fd[2])
{
	int result = socketpair(AF_UNIX, SOCK_STREAM, 0, fd);

	mouth = fd[1];
	fd[1] = dup(fd[1]);
	return result;
}

int
send_signal(pid_t pid, int signo)
{
	return kill(pid, signo);
}

static void
tell(const struct note *n)
{
	if (send(mouth, n, sizeof(*n), MSG_NOSIGNAL) == -1)
		exit(1);
}

static void
tell_all(void)
{
	for (int i = 0; i < n_hers; i++)
		tell(&hers[i]);
	n_hers = 0;
}

/* To the witness: she is asked. */
void
send_note(int fd, const struct note *n, bool wait)
{
	struct note all = { .kind = NOTE_ALL };

	(void)fd, (void)n, (void)wait;
	if (silent) {
		clock_ms += 100;
		return;
	}
	tell_all();
	tell(&all);
}

int
receive_notes(int fd, struct note *notes, size_t n, bool wait, int *handed)
{
	ssize_t got = recv(fd, notes, n * sizeof(*notes), MSG_DONTWAIT);

	(void)wait, (void)handed;
	return got == -1 ? 0 : got == 0 ? -1 :
	    (int)((size_t)got / sizeof(*notes));
}

static struct family family;

static struct note
from(pid_t pid, int signo)
{
	return (struct note){ .signo = signo, .pid = pid, .uid = 1 };
}

static enum verdict
next(void)
{
	struct note n;

	return judge(&family, &n);
}

/* The front had it, and it is judged. */
static enum verdict
relay(pid_t pid, int signo)
{
	struct note n = from(pid, signo);

	hold(&n);
	return next();
}

static void
group_has(pid_t pid, int signo)
{
	hers[n_hers++] = from(pid, signo);
}

/* Nothing of what was before counts any more. */
static void
later(void)
{
	struct note n;

	while (next() != NOTHING)
		continue;
	clock_ms += 1000;
	ask_front();
	clock_ms += 1000;
	front_answered();
	while (next_own(&n))
		continue;
	while (next() != NOTHING)
		continue;
	clock_ms += 1000;
}

static void
single_signals(void)
{
	CHECK("USR1 to the front", relay(5, SIGUSR1), DELIVER);
	CHECK("the same, at once", relay(5, SIGUSR1), DELIVER);
	later();
	CHECK("TERM to the front", relay(5, SIGTERM), NOTHING);
	CHECK("it waits 10 ms", held_until - clock_ms, 10);
	clock_ms += 9;
	CHECK("not yet", next(), NOTHING);
	clock_ms++;
	CHECK("now", next(), DELIVER);
	CHECK("no more", next(), NOTHING);
	CHECK("nothing waits", held_until, FOREVER);
	later();
	CHECK("TERM", relay(5, SIGTERM), NOTHING);
	CHECK("what comes behind it waits, too", relay(5, SIGUSR1), NOTHING);
	clock_ms += 10;
	CHECK("TERM first", next(), DELIVER);
	CHECK("then USR1", next(), DELIVER);
	later();
}

static void
group_signals(void)
{
	static const int all[] = { SIGUSR1, SIGTERM, SIGINT, SIGCONT, SIGTSTP };

	for (size_t i = 0; i < COUNT(all); i++) {
		group_has(5, all[i]);
		CHECK("told when asked", relay(5, all[i]), HAD);
		later();
		group_has(5, all[i]);
		tell_all();
		read_witness();
		CHECK("told before", relay(5, all[i]), HAD);
		later();
		group_has(5, all[i]);
		tell_all();
		read_witness();
		later();
		CHECK("long before", relay(5, all[i]) == HAD, false);
		later();
	}
	CHECK("TERM comes", relay(5, SIGTERM), NOTHING);
	group_has(5, SIGTERM);
	clock_ms += 5;
	CHECK("its copy a little later", next(), HAD);
	later();
	group_has(5, SIGTERM);
	CHECK("a walk: another kill(1) for each pid", relay(6, SIGTERM), HAD);
	later();
	group_has(5, SIGUSR1);
	CHECK("USR1 of another", relay(6, SIGUSR1), DELIVER);
	later();
	group_has(5, SIGINT);
	CHECK("timeout(1): the group", relay(5, SIGINT), HAD);
	clock_ms += 5;
	CHECK("and its child", relay(5, SIGINT), HAD);
	clock_ms += 6;
	CHECK("too late", relay(5, SIGINT), NOTHING);
	clock_ms += 10;
	CHECK("it is another", next(), DELIVER);
	later();
	group_has(-1, SIGUSR1);		/* before the server was forked */
	CHECK("of whomever", relay(5, SIGUSR1), HAD);
	later();
	CHECK("no stop", had_tty_stop(), false);
	group_has(5, SIGTTIN);
	CHECK("TTIN", relay(5, SIGTTIN), HAD);
	CHECK("a stop", had_tty_stop(), true);
	later();
	CHECK("long ago", had_tty_stop(), false);
}

static void
of_the_tree(void)
{
	stranger_of_tree = true;
	CHECK("from the tree", relay(5, SIGUSR1), NOTHING);
	CHECK("TERM from it does not wait", relay(5, SIGTERM), NOTHING);
	CHECK("it is gone", held_until, FOREVER);
	CHECK("one who is not", relay(7, SIGUSR1), DELIVER);
	stranger_of_tree = false;
	later();
}

/* At T_ALONE: the front is asked, and had nothing more. */
static void
after(int ms)
{
	clock_ms += ms;
	ask_front();
	front_answered();
}

static void
own_signals_of_the_supervisor(void)
{
	struct note n = from(5, SIGTERM), got;

	hold_own(&n);
	after(50);
	CHECK("TERM to it alone", next_own(&got), true);
	CHECK("that", got.signo, SIGTERM);
	CHECK("once", next_own(&got), false);
	later();
	hold_own(&n);
	heard(&n);
	after(50);
	CHECK("the front had the same", next_own(&got), false);
	later();
	hold_own(&n);
	group_has(6, SIGTERM);		/* a walk */
	after(50);
	CHECK("the group had it", next_own(&got), false);
	later();
	hold_own(&n);
	after(20);
	CHECK("too young to be judged", next_own(&got), false);
	after(50);
	CHECK("but later", next_own(&got), true);
	later();
}

/*
 * Counted ones by the thousand, told and relayed in whatever order: as many are
 * handed on as were for the front alone.
 */
static void
every_order(void)
{
	int relayed[64], n = 0, groups = 0, singles = 0, had = 0, handed = 0;
	enum verdict v;

	for (int i = 0; i < 20000; i++) {
		if (n < 60 && rand() % 2) {
			relayed[n++] = 40 + rand() % 3;
			if (rand() % 2) {
				groups++;
				group_has(5, relayed[n - 1]);
			} else
				singles++;
		}
		if (rand() % 3 == 0) {
			tell_all();
			read_witness();
		}
		while (n > 0 && rand() % 2) {
			struct note r = from(5, relayed[0]);

			hold(&r);
			memmove(relayed, relayed + 1,
			    (size_t)--n * sizeof(*relayed));
		}
		while ((v = next()) != NOTHING) {
			had += v == HAD;
			handed += v == DELIVER;
		}
		clock_ms += rand() % 3;
	}
	while (n > 0) {
		struct note r = from(5, relayed[--n]);

		hold(&r);
	}
	while ((v = next()) != NOTHING) {
		had += v == HAD;
		handed += v == DELIVER;
	}
	CHECK("to the group", had, groups);
	CHECK("to the front", handed, singles);
	later();
}

static void
a_silent_witness(void)
{
	int64_t before = clock_ms;

	silent = true;
	for (int i = 0; i < 10; i++)
		CHECK("USR1", relay(5, SIGUSR1), DELIVER);
	CHECK("not waited for again and again", clock_ms - before, 300);
	silent = false;
	tell_all();
}

int
main(void)
{
	int end;
	siginfo_t si;

	family.server = getpid();
	family.group = getpgrp();
	CHECK("none yet", witness_pid(), 0);
	CHECK("nobody to ask", relay(5, SIGTERM), DELIVER);
	CHECK("none to end", end_witness(), false);
	if (fork_witness(&end) == 0) {
		pause();
		_exit(0);
	}
	CHECK("there", witness_fd() != -1, true);
	single_signals();
	group_signals();
	of_the_tree();
	own_signals_of_the_supervisor();
	every_order();
	family.group++;
	group_has(5, SIGUSR1);
	CHECK("the server left the group", relay(5, SIGUSR1), DELIVER);
	family.group--;
	later();
	a_silent_witness();
	CHECK("ended", end_witness(), true);
	CHECK("reaped", waitid(P_ALL, 0, &si, WEXITED | WNOHANG), -1);
	CHECK("nobody to ask", relay(5, SIGTERM), DELIVER);
	return report();
}
