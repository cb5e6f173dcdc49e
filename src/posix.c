/* posix: systems other than Linux, and its plain POSIX twin for the tests */
#include "os.h"

#if !defined(__linux__) || defined(OWNERWRAP_PLATFORM_POSIX)

#include <sys/wait.h>

const int signals_end = NSIG;
const short peer_closed = 0;	/* nothing tells that the peer has closed */
const int no_sigpipe = 0;	/* our own EPIPE is sorted out by its sender */

static int
not_here(void)
{
	errno = ENOSYS;
	return -1;
}

int
socket_rows(enum rows rows, see_fn *see)
{
	(void)rows, (void)see;
	return not_here();
}

ssize_t
write_nowait(int fd, const char *buf, size_t len)
{
	(void)fd, (void)buf, (void)len;
	return not_here();
}

bool proc_usable(void) { return false; }
void name_process(const char *name) { (void)name; }
void never_dump(void) { }
int adopt_orphans(void) { return not_here(); }
int die_with_parent(int signo) { (void)signo; return not_here(); }
bool is_exit_fd(int fd) { (void)fd; return false; }
int exit_signal(int fd, int n) { (void)fd, (void)n; return not_here(); }
void close_from_to(unsigned lo, unsigned hi) { close_each(lo, hi); }

/* The directory keeps other users out; the process is not known. */
int
peer_of(int fd, pid_t *pid, uid_t *uid)
{
	(void)fd;
	*pid = 0;
	*uid = geteuid();
	return 0;
}

/*
 * Only the group tells who is left, and a zombie leader would answer for it:
 * here the server is reaped before its group is asked.
 */
bool
tree_gone(pid_t server, bool ended, bool own_group)
{
	siginfo_t si;

	if (!ended)
		return false;
	waitid(P_PID, (id_t)server, &si, WEXITED | WNOHANG);
	return !own_group || kill(-server, 0) == -1;
}

/*
 * Caught signals: handlers write notes into a pipe, of which each process has
 * its own.  Until that stands they are held.
 */
static int signals[2] = { -1, -1 };	/* to read them; for handlers */
static sigset_t inherited_mask;
static bool inherited_ignored[NSIG];
static bool is_child;		/* about to exec: signals do what they did */

/* The signal for which the pipe had no room; signo is 0 if there is none. */
static struct note late_signal;

int
change_mask(int how, const sigset_t *set, sigset_t *old)
{
	return sigprocmask(how, set, old);
}

int
open_signals(void)
{
	int result = pipe_nowait(signals);

	survive(signals[0]);
	survive(signals[1]);
	return result;
}

/* Writes a note and no more; a real fault of ours takes its usual course. */
static void
on_any_signal(int signo, siginfo_t *si, void *context)
{
	struct note n = note_of(si);
	int saved = errno;

	if (is_child) {
		signal(signo, SIG_DFL);
		raise(signo);	/* once this returns */
		return;
	}
	if (!from_process(&n) && (signo == SIGSEGV || signo == SIGBUS ||
	    signo == SIGFPE || signo == SIGILL)) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	if (write(signals[1], &n, sizeof(n)) == -1) {
		/* Full: the loop takes this one, the others stay pending. */
		late_signal = n;
		for (int i = 1; i < NSIG; i++)
			sigaddset(&((ucontext_t *)context)->uc_sigmask, i);
	}
	errno = saved;
}

void
catch_signals(void)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART }, old;

	sigfillset(&sa.sa_mask);
	change_mask(SIG_SETMASK, &sa.sa_mask, &inherited_mask);
	sa.sa_sigaction = on_any_signal;
	for (int signo = 1; signo < NSIG; signo++)
		if (sigaction(signo, &sa, &old) == 0)
			inherited_ignored[signo] = old.sa_handler == SIG_IGN;
}

static void
change_all(int how)
{
	sigset_t all;

	sigfillset(&all);
	change_mask(how, &all, NULL);
}

void hold_signals(void) { change_all(SIG_BLOCK); }
void release_signals(void) { change_all(SIG_UNBLOCK); }
int signals_fd(void) { return signals[0]; }

int
own_signals(void)
{
	close(signals[0]);
	close(signals[1]);
	return open_signals();
}

size_t
read_signals(struct note *notes, size_t room)
{
	ssize_t n = read(signals[0], notes, room * sizeof(*notes));

	if (n <= 0 && late_signal.signo != 0) {
		notes[0] = late_signal;
		late_signal.signo = 0;
		release_signals();
		return 1;
	}
	return n > 0 ? (size_t)n / sizeof(*notes) : 0;
}

/*
 * In a child, before its exec.  What we catch is at its default from the exec
 * on (execve(2)); until then is_child makes it so.
 */
void
restore_signals(void)
{
	for (int signo = 1; signo < NSIG; signo++)
		if (inherited_ignored[signo])
			signal(signo, SIG_IGN);
	is_child = true;
	change_mask(SIG_SETMASK, &inherited_mask, NULL);
}

bool was_ignored(int signo) { return inherited_ignored[signo]; }

#endif
