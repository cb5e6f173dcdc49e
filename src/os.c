/* os: what every system does alike */
#include "os.h"

#include <sys/socket.h>

bool
from_process(const struct note *n)
{
	return n->code == SI_USER || n->code == SI_QUEUE || n->code < 0;
}

struct note
note_of(const siginfo_t *si)
{
	struct note n = { .signo = si->si_signo, .code = si->si_code };

	if (from_process(&n)) {
		n.pid = si->si_pid;
		n.uid = si->si_uid;
		n.value = si->si_value;
	}
	return n;
}

int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

int set_cloexec(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC); }

/*
 * Closed ones need not be taken out: no inherited one ever gets their number.
 */
static struct list survivors;

int
survive(int fd)
{
	int *kept = list_add(&survivors, sizeof(*kept));

	if (kept != NULL)
		*kept = fd;
	return fd;
}

void survive_none(void) { survivors.n = 0; }

int
pipe_nowait(int fd[2])
{
	if (pipe(fd) == -1)
		return -1;
	for (int i = 0; i < 2; i++)
		if (set_cloexec(fd[i]) == -1 ||
		    fcntl(fd[i], F_SETFL, O_NONBLOCK) == -1)
			return -1;
	return 0;
}

int
pair_cloexec(int fd[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == -1 ||
	    set_cloexec(fd[0]) == -1 ? -1 : set_cloexec(fd[1]);
}

void
close_each(unsigned lo, unsigned hi)
{
	long max = sysconf(_SC_OPEN_MAX);

	if (max == -1 || max > 65536)
		max = 65536;
	for (unsigned fd = lo; fd <= hi && fd < (unsigned)max; fd++)
		close((int)fd);
}

void
close_others(void)
{
	const int *fd = survivors.at;
	unsigned from = 3;

	for (;;) {	/* the next one to keep, lowest first */
		unsigned next = UINT_MAX;

		for (size_t i = 0; i < survivors.n; i++)
			if (fd[i] >= (int)from && (unsigned)fd[i] < next)
				next = (unsigned)fd[i];
		if (next > from)
			close_from_to(from, next == UINT_MAX ? next : next - 1);
		if (next == UINT_MAX)
			break;
		from = next + 1;
	}
}
