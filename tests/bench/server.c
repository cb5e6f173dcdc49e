/*
 * server: what the benchmark starts, and every process in it but the wrapper.
 * Linked statically, so that little is measured beside the wrapper.
 *
 * server true		ends at once
 * server clock		says when it began, and ends
 * server wait		says READY, and when TERM or USR1 comes; TERM ends it
 * server death		the same; the kernel sends it TERM when its parent ends
 * server pause		waits to be killed
 * server tick		wakes up at every whole second of the clock, as all do
 * server owner N CMD	starts CMD N times, and waits to be killed
 * server tree N	has N descendants: half of them forked twice, so
 *			nobody's children, a tenth deaf to TERM; says READY;
 *			TERM ends it
 *
 * What nobody has ended goes when the benchmark does, or by an alarm.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "bench.h"

#define LIFE_S	1200	/* longer than any benchmark */
#define FAMILY	10	/* a process of the tree, and those that it forks */

extern char **environ;

static void
say(enum word word)
{
	struct record r = { now_ns(), getpid(), (int32_t)word };

	if (write(STDOUT_FILENO, &r, sizeof(r)) == -1)
		_exit(1);	/* nobody measures any more */
}

static void
on_signal(int signo)
{
	say(signo == SIGTERM ? TERMED : USED);
	if (signo == SIGTERM)
		_exit(0);
}

/* Until the benchmark has ended, whose end of the pipe is closed then. */
static _Noreturn void
rest(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	alarm(LIFE_S);
	while (poll(&p, 1, -1) == -1)	/* a signal came */
		;
	_exit(0);
}

static _Noreturn void
tick(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	while (poll(&p, 1, (int)(1000 - now_ns() / 1000000 % 1000)) == 0)
		;
	_exit(0);
}

static _Noreturn void
wait_for_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigemptyset(&act.sa_mask);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	say(READY);
	rest();
}

static _Noreturn void
own(int n, char **command)
{
	pid_t pid;

	for (int i = 0; i < n; i++)
		if (posix_spawn(&pid, command[0], NULL, NULL, command,
		    environ) != 0)
			exit(1);
	rest();
}

/* fork(), of one that is deaf or nobody's child; 0 in that one. */
static pid_t
breed(bool deaf, bool twice)
{
	void (*before)(int) = signal(SIGTERM, deaf ? SIG_IGN : SIG_DFL);
	pid_t pid = fork();

	if (pid == 0 && twice && (pid = fork()) != 0)
		_exit(pid == -1);
	if (pid == -1)
		exit(1);
	if (pid == 0)
		return 0;
	if (twice)
		waitpid(pid, NULL, 0);
	signal(SIGTERM, before);
	return pid;
}

/* In families; each has its deaf member at another place. */
static _Noreturn void
grow(int n)
{
	int ready[2];
	char c;

	if (pipe2(ready, O_CLOEXEC) == -1)
		exit(1);
	for (int i = 0; i < n; i += FAMILY) {
		int deaf = i / FAMILY % FAMILY;

		if (breed(deaf == 0, false) != 0)
			continue;
		for (int j = 1; j < FAMILY && i + j < n; j++)
			if (breed(deaf == j, j % 2 != 0) == 0)
				break;
		close(ready[1]);
		rest();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) == 0)		/* nobody holds it any more */
		say(READY);
	rest();
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "true") == 0)
		return 0;
	if (strcmp(what, "clock") == 0) {
		say(BEGUN);
		return 0;
	}
	if (strcmp(what, "death") == 0)
		prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0L, 0L, 0L);
	if (strcmp(what, "death") == 0 || strcmp(what, "wait") == 0)
		wait_for_signals();
	if (strcmp(what, "pause") == 0)
		rest();
	if (strcmp(what, "tick") == 0)
		tick();
	if (strcmp(what, "owner") == 0 && argc > 3)
		own(atoi(argv[2]), argv + 3);
	if (strcmp(what, "tree") == 0 && argc > 2)
		grow(atoi(argv[2]));
	return 2;
}
