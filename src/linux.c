/* linux: pidfds, a subreaper, a signalfd, /proc */
#include "os.h"

#if defined(__linux__) && !defined(OWNERWRAP_PLATFORM_POSIX)

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* Newer than some headers. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal	424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open		434
#endif
#ifndef SYS_close_range
#define SYS_close_range		436
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT		0x00000008
#endif

const int signals_end = _NSIG;
const char syslog_path[] = "/dev/log";
const char exit_kind[] = "pidfd";
const bool exit_inherited = true;
const short peer_closed = POLLRDHUP;
const int no_sigpipe = MSG_NOSIGNAL;

/* CLOEXEC by itself. */
int exit_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

bool
exit_fired(int fd, short revents)
{
	(void)fd;
	return (revents & POLLIN) != 0;
}

int
exit_signal(int fd, int signo)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
}

/*
 * pidfd_send_signal(2): EBADF for other files, EINVAL from a namespace inside;
 * a directory of /proc passes as well.
 */
bool
is_exit_fd(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode) &&
	    (exit_signal(fd, 0) == 0 || errno == EPERM || errno == ESRCH ||
	    errno == EINVAL);
}

int adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1L); }

int
die_with_parent(int signo)
{
	return prctl(PR_SET_PDEATHSIG, (unsigned long)signo, 0L, 0L, 0L);
}

/* readlink(/proc/self) must be us: another namespace's /proc shows others. */
bool
proc_usable(void)
{
	char buf[16] = "";

	return readlink("/proc/self", buf, sizeof(buf) - 1) > 0 &&
	    atoi(buf) == getpid();
}

/*
 * Without WEXITED a zombie is no child to wait for, unless a thread of it
 * lives (wait_consider_task() in the kernel): ECHILD means that nobody lives
 * below us, the unreaped server counted out.  No look at /proc is needed.
 */
bool
tree_gone(pid_t server, bool ended, bool own_group)
{
	siginfo_t si;

	(void)ended;
	return waitid(own_group ? P_PGID : P_ALL, (id_t)server, &si,
	    WSTOPPED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

void
close_from_to(unsigned lo, unsigned hi)
{
	if (syscall(SYS_close_range, lo, hi, 0) == -1)	/* before Linux 5.9 */
		close_each(lo, hi);
}

/* Who connected fd. */
int
peer_of(int fd, pid_t *pid, uid_t *uid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1)
		return -1;
	*pid = cred.pid;
	*uid = cred.uid;
	return 0;
}

void name_process(const char *name) { prctl(PR_SET_NAME, name); }

/* core(5): a core_pattern that is a pipe does not ask RLIMIT_CORE. */
void never_dump(void) { prctl(PR_SET_DUMPABLE, 0L); }

/* EOPNOTSUPP, ENOSYS: this kind of file or kernel has no such write. */
ssize_t
write_nowait(int fd, const char *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };

	return (ssize_t)syscall(SYS_pwritev2, fd, &iov, 1L, -1L, -1L,
	    RWF_NOWAIT);
}

/*
 * All signals stay blocked for good and are read from a signalfd, which gives
 * whoever reads it its own: front and supervisor share this one.  A blocked
 * signal is queued even where it is ignored (sig_ignored() in the kernel), so
 * no disposition changes but CHLD's, which would reap by itself (wait(2)).
 */
static int signals = -1;
static sigset_t inherited_mask;
static bool child_ignored;

/* The C library keeps some signals for itself, musl SIGRTMIN of glibc's too. */
int
change_mask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, _NSIG / 8);
}

int
open_signals(void)
{
	sigset_t all;

	memset(&all, 0xff, sizeof(all));
	signals = (int)syscall(SYS_signalfd4, -1, &all,
	    _NSIG / 8, SFD_CLOEXEC | SFD_NONBLOCK);
	return survive(signals) == -1 ? -1 : 0;
}

void
catch_signals(void)
{
	sigset_t all;

	memset(&all, 0xff, sizeof(all));
	change_mask(SIG_SETMASK, &all, &inherited_mask);
	child_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

/* Everybody who has it reads his own from it. */
int own_signals(void) { return survive(signals) == -1 ? -1 : 0; }
void hold_signals(void) { }
void release_signals(void) { }
int signals_fd(void) { return signals; }

size_t
read_signals(struct note *notes, size_t room)
{
	struct signalfd_siginfo si[8];
	ssize_t got = read(signals, si,
	    (room < COUNT(si) ? room : COUNT(si)) * sizeof(si[0]));
	size_t n = got > 0 ? (size_t)got / sizeof(si[0]) : 0;

	for (size_t i = 0; i < n; i++) {
		notes[i] = (struct note){ .signo = (int)si[i].ssi_signo,
		    .code = si[i].ssi_code };
		if (!from_process(&notes[i]))
			continue;
		notes[i].pid = (pid_t)si[i].ssi_pid;
		notes[i].uid = si[i].ssi_uid;
		notes[i].value.sival_ptr = (void *)(uintptr_t)si[i].ssi_ptr;
	}
	return n;
}

/* In a child, before its exec. */
void
restore_signals(void)
{
	if (child_ignored)
		signal(SIGCHLD, SIG_IGN);
	change_mask(SIG_SETMASK, &inherited_mask, NULL);
}

bool
was_ignored(int signo)
{
	struct sigaction sa;

	return sigaction(signo, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN;
}

int
queue_signal(pid_t pid, int signo, union sigval value)
{
	return sigqueue(pid, signo, value);
}

/*
 * proc_pid_stat(5): the name is in parentheses and may hold some, so split
 * after the last one.
 */
int
proc_stat(pid_t pid, struct proc *p)
{
	char buf[512], *name, *end;
	uint64_t user, system;

	if (proc_read(pid, "stat", buf, sizeof(buf)) <= 0)
		return -1;
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	name = strchr(buf, '(');
	end = strrchr(buf, ')');
	if (name == NULL || end == NULL || sscanf(end + 1, " %c %d %d %d %*d "
	    "%*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %*d %*d "
	    "%*d %*d %d %*d %" SCNu64, &p->state, &p->ppid, &p->pgrp, &p->sid,
	    &user, &system, &p->threads, &p->ticks) != 8 ||
	    p->ticks == 0)
		return -1;
	p->cpu = user + system;
	snprintf(p->name, NAME_SIZE, "%.*s", (int)(end - name - 1), name + 1);
	return 0;
}

ssize_t
proc_args(pid_t pid, char *buf, size_t size)
{
	return proc_read(pid, "cmdline", buf, size);
}

int64_t
proc_age_ms(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec ts;
	int64_t ms;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	ms = ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000 -
	    (int64_t)(ticks * 1000 / hz);
	return ticks == 0 || ms < 0 ? 0 : ms;
}

#endif
