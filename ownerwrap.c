/*
 * ownerwrap - tie a server's life to its owner
 *
 *	ownerwrap --owner-pid 4711 -- some-server --port 8000
 *
 * Three processes, one source:
 *
 *	owner ── front ── supervisor ── server ── ...
 *
 * The front is the pid the host knows: it hands signals in and the exit status
 * out.  The supervisor is the server's parent: it watches the owners and runs
 * the stop ladder.  Each is there because the other may be SIGKILLed.
 *
 *	STARTING ─> RUNNING ─> GRACE ─> ASKED ─> TOLD ─> FORCED ─> OVER
 *	               │  └──────────────^        ^                 ^
 *	               └─> LEFT (server ended, others stay) ────────┘
 *
 * GRACE goes back to RUNNING or LEFT where a second look finds an owner alive.
 *
 * Exit status
 *	the server's	it ended before the ladder began, or the ladder began
 *			for a reason other than a missing owner
 *	124		no owner: nothing was started, or the server was stopped
 *	125		nothing was started, or the supervisor and the status
 *			were lost
 *	126, 127	the command cannot be executed; is not found
 *
 * Invariants
 *	- no signal to a pid that can have been recycled: the server stays
 *	  unreaped until the end, others are checked behind an exit descriptor;
 *	- no process group is changed where the tree can be listed;
 *	- every descriptor of ours is CLOEXEC, none is 0, 1 or 2;
 *	- handlers only write a note, everything else happens in one loop.
 *
 * promise			mechanism			sections  cases
 * nothing is left		subreaper, ladder, stand-in	8, 9	  A, C
 * nothing is killed wrongly	exit descriptors, start ticks	3, 7	  A, B
 * nobody notices		witness rule, notes, null fds	6, 8, 10  D to G
 */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

/* ======================================================================== */
/* 1 includes                                                               */
/* ======================================================================== */

#include <sys/types.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* ======================================================================== */
/* 2 types and constants                                                    */
/* ======================================================================== */

#define VERSION		"0.1.0"

#define GRACE_MS	2000	/* a server's own end after its EOF fits in */
#define KILL_AFTER_MS	5000	/* what hosts give; most handlers take less */
#define INTERVAL_MS	1000	/* one wake-up a second is not noticed */
#define WITNESS_MS	50	/* a copy so old still proves a group signal */
#define HOLD_MS		10	/* a relay waits so long for a later copy */
#define FRESH_MS	50	/* after exec nothing is held back: the group */
				/* signal may have come before the server did */
#define ALONE_MS	50	/* a copy nobody relayed: ask the front */
#define LATE_MS		1000	/* a wake-up so late was a freeze, not a wait */
#define KILLED_MS	2000	/* longest wait once the front was killed: the */
				/* host believes the server dead */
#define HAD_MS		5000	/* a stop signal so recent is not repeated */
#define FORCE_MS	5000	/* SIGKILL that did not work by then will not */
#define FORCE_LOOK_MS	20	/* between two looks: SIGKILL takes a few ms */
#define LOOK_MS		50	/* the same while others end in their own way */
#define RESUME_MS	20	/* CONT crossed the front's stop: repeat it */
#define DROPPED_MS	1000	/* no /proc: the kernel's signal did not come */
#define SHORT_MS	1000	/* a default owner this short was not meant */

#define NO_OWNER	124
#define NOT_STARTED	125
#define NOT_EXECUTABLE	126
#define NOT_FOUND	127
#define BY_SIGNAL	256	/* the status of a death by n: BY_SIGNAL + n */
#define NO_STATUS	(-1)

#define FOREVER		INT64_C(-1)
#define OWNERS_MAX	64
#define CHAIN_MAX	64	/* generations looked up through shells */
#define HELD_MAX	16
#define COPIES_MAX	32
#define NAME_SIZE	16	/* Linux TASK_COMM_LEN; longer names are cut */
#define ARGS_SIZE	4096	/* of a parent's command line: its options */
#define LINE_SIZE	1024	/* of a message; at most PIPE_BUF everywhere it */
				/* matters, so that lines do not mix */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

enum role {
	FRONT,		/* the host's child: signals in, status out */
	SUPERVISOR,	/* the server's parent: owners, ladder */
	STANDIN		/* the front after the supervisor was killed */
};

enum phase {
	STARTING,	/* the server is forked, its exec has not returned */
	RUNNING,	/* the server runs, an owner lives */
	GRACE,		/* no owner; the server may end by itself */
	LEFT,		/* the server has ended, what it left may stay */
	ASKED,		/* ladder, step 1: the server had the stop signal */
	TOLD,		/* ladder, step 2: everybody in scope had it */
	FORCED,		/* ladder, step 3: SIGKILL until nobody is found */
	OVER		/* nothing is left to do */
};

enum reason {
	NONE,
	OWNER_GONE,		/* no owner left, grace is through */
	FRONT_KILLED,		/* the host killed what it thinks the server */
	SERVER_LEFT,		/* the server ended and left processes */
	REQUESTED,		/* the stop signal came, --kill-after given */
	LATE_REQUEST,		/* a signal came after the server had ended */
	SUPERVISOR_ASKED,	/* a signal came to the supervisor alone */
	SUPERVISOR_KILLED	/* the front stands in */
};

enum scope { SCOPE_PROCESS, SCOPE_SESSION, SCOPE_TREE };
enum leftovers { LEFTOVERS_STOP, LEFTOVERS_WAIT, LEFTOVERS_LEAVE };
enum level { VERBOSE, DEFAULT, ORPHANED, REFUSED };

enum note_kind {	/* sender: meaning */
	NOTE_SIGNAL,	/* handler, front: a signal came */
	NOTE_SERVER,	/* server before its exec: pid; with descriptor */
	NOTE_STARTED,	/* supervisor: the exec has succeeded */
	NOTE_LADDER,	/* supervisor: the ladder began for reason .signo */
	NOTE_STOP,	/* supervisor: the server was stopped by .signo */
	NOTE_RESUMED,	/* front: continued after NOTE_STOP */
	NOTE_ASK,	/* supervisor: send me all the signals you had */
	NOTE_ALL,	/* front: that was all */
	NOTE_ORPHAN,	/* front: its parent changed (plain POSIX polling) */
	NOTE_LEAVE,	/* supervisor: status .signo, I stay; front: I go */
	NOTE_ENDED	/* supervisor: status .signo, final */
};

struct note {
	int kind, signo, code;
	pid_t pid;
	uid_t uid;
	union sigval value;
};

struct owner {
	pid_t pid;
	uint64_t ticks;		/* start time in raw ticks, 0 = not known */
	int64_t since_ms;	/* when we opened it */
	int fd;			/* exit descriptor; -1 = polled */
	bool parent;		/* polled by the front's ppid */
	bool pinned;		/* START was given: the ticks must be these */
	bool gone;
	char name[NAME_SIZE];
};

struct proc {			/* one row of the process table */
	pid_t pid, ppid, pgrp, sid;
	uint64_t ticks;
	int threads;
	char state;
	bool told;		/* had the stop signal */
	bool refused;		/* EPERM: not ours to end */
	bool known, in_tree, in_scope;
	struct proc *wrap;	/* the ow-supervisor it is, or hangs below */
	char name[NAME_SIZE];
};

struct table {			/* a snapshot, sorted by pid */
	struct proc *row;
	size_t n, room;
};

enum timer {
	T_PHASE,	/* grace, step: its time is over */
	T_TICK,		/* owners without an exit descriptor */
	T_HELD,		/* a relay has waited for its copy */
	T_ALONE,	/* a copy has waited for its relay */
	T_LOOK,		/* look who is left */
	T_RESUME,	/* the front should have said NOTE_RESUMED */
	T_ASK,		/* the kernel's death signal may have been dropped */
	TIMERS
};

static struct {		/* what was asked for */
	char **command;
	const char *name;		/* basename of the command */
	int64_t grace_ms, kill_after_ms, interval_ms;
	int signal;
	enum scope scope;
	enum leftovers leftovers;
	bool kill_given, any, poll, quiet, verbose;
	int log_fd;
} opt = {
	.grace_ms = GRACE_MS, .kill_after_ms = KILL_AFTER_MS,
	.interval_ms = INTERVAL_MS,
	.signal = SIGTERM, .scope = SCOPE_SESSION, .log_fd = -1
};

static struct {		/* this process */
	enum role role;
	enum phase phase;
	enum reason reason;
	pid_t pid, sid, front, supervisor;
	int null_fd, peer, signals[2], exec_fd;
	int status;		/* the server's, or NO_STATUS */
	int64_t timer[TIMERS], phase_ms, phase_since_ms;
	bool again;		/* this phase had its time a second time */
	bool hurry;		/* the front was killed: KILLED_MS at most */
	bool alone;		/* the front has left us: --leftovers leave */
	bool child;		/* SIGCHLD came */
	bool early;		/* the server ended before the ladder began */
	bool asked;		/* NOTE_ASK is on its way */
	int front_stops;	/* NOTE_STOP sent, NOTE_RESUMED not yet here */
	bool adopts;		/* orphans of the tree come to us */
	bool front_adopts;	/* and if we are killed, to the front */
	bool listed;		/* /proc is usable */
	bool own_group;		/* the server leads a group of its own */
	bool tty, tty_saved;
	bool stderr_taken;	/* stderr is there and not the protocol's */
	bool stderr_shared;	/* the same pipe or socket as 0 or 1 */
	int quiet_looks;	/* looks in a row that found nobody */
	struct termios termios;
} self = { .null_fd = -1, .peer = -1, .signals = { -1, -1 }, .exec_fd = -1,
	.status = NO_STATUS };

static struct {		/* the server */
	pid_t pid;
	int fd;			/* exit descriptor, for a stand-in only */
	int64_t exec_ms;	/* when its exec returned */
	int64_t told_ms;	/* when the stop signal last reached it, or 0 */
	int64_t group_ms;	/* when the group last had the stop signal */
	uint64_t group_ticks;	/* the same in raw ticks */
	int64_t continued_ms;	/* when another than us last continued it */
	int64_t tty_stop_ms;	/* when our group last had a terminal stop */
	bool ended, stopped, killed;
	bool group_told;	/* its own group had the stop signal */
	bool continued;		/* by us: the next word of it is no news */
} server = { .fd = -1 };

extern char **environ;
static struct owner owners[OWNERS_MAX];
static int n_owners;

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* ======================================================================== */
/* 3 platform: the only conditionals                                        */
/* ======================================================================== */
/*
 * Exit descriptors	exit_open, exit_fired, exit_signal
 * Orphans		adopt_orphans, die_with_parent, kernel_told, tree_gone
 * Process table	proc_usable, proc_stat, proc_args, proc_list, proc_age_ms
 * Small calls		pipe_cloexec, pair_cloexec, close_from_to, name_process,
 *			write_nowait, queue_signal, boot_ticks
 *
 * A call that a platform lacks fails with ENOSYS; the callers stay plain.
 */

static int
set_cloexec(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* At most 65,536 numbers are tried: a limit of "infinity" is no reason to. */
static void
close_each(unsigned lo, unsigned hi)
{
	struct rlimit rl = { .rlim_cur = 256 };

	getrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_cur > 65536)
		rl.rlim_cur = 65536;
	for (unsigned fd = lo; fd <= hi && fd < rl.rlim_cur; fd++)
		close((int)fd);
}

#if defined(__linux__) && !defined(OWNERWRAP_PLATFORM_POSIX)

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

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
#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME		7
#endif

#define SIGNALS_END	_NSIG
#define SYSLOG_PATH	"/dev/log"
#define EXIT_KIND	"pidfd"
#define EXIT_INHERITED	true

static int
exit_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);	/* CLOEXEC by itself */
}

static bool
exit_fired(int fd, short revents)
{
	(void)fd;
	return (revents & POLLIN) != 0;
}

static int
exit_signal(int fd, int signo)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
}

static int
adopt_orphans(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

static int
die_with_parent(int signo)
{
	return prctl(PR_SET_PDEATHSIG, (unsigned long)signo, 0L, 0L, 0L);
}

/* Read a small file of /proc; the length, or -1.  The text ends in NUL. */
static ssize_t
proc_read(pid_t pid, const char *file, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	errno = EIO;		/* where an empty file is no error */
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

/* readlink(/proc/self) must be us: another namespace's /proc shows others. */
static bool
proc_usable(void)
{
	char buf[16];
	ssize_t n = readlink("/proc/self", buf, sizeof(buf) - 1);

	if (n <= 0)
		return false;
	buf[n] = '\0';
	return strtol(buf, NULL, 10) == getpid();
}

/*
 * proc_pid_stat(5): the name is in parentheses and may hold some, so split
 * after the last one.  ESRCH: no such process.  EIO: not understood.
 */
static int
proc_stat(pid_t pid, struct proc *p)
{
	char buf[512], *name, *end;
	size_t len;

	if (!self.listed) {
		errno = ENOSYS;
		return -1;
	}
	if (proc_read(pid, "stat", buf, sizeof(buf)) <= 0) {
		if (errno == ENOENT)
			errno = ESRCH;
		return -1;
	}
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	name = strchr(buf, '(');
	end = strrchr(buf, ')');
	if (name == NULL || end == NULL || sscanf(end + 1, " %c %d %d %d"
	    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d"
	    " %*s %" SCNu64, &p->state, &p->ppid, &p->pgrp, &p->sid,
	    &p->threads, &p->ticks) != 6) {
		errno = EIO;
		return -1;
	}
	len = (size_t)(end - ++name);
	memcpy(p->name, name, len < NAME_SIZE ? len : NAME_SIZE - 1);
	return 0;
}

static ssize_t
proc_args(pid_t pid, char *buf, size_t size)
{
	return self.listed ? proc_read(pid, "cmdline", buf, size) : -1;
}

/* A new row at the end of t, NULL and errno if there is no memory. */
static struct proc *
table_add(struct table *t)
{
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		struct proc *row = realloc(t->row, room * sizeof(*row));

		if (row == NULL)
			return NULL;
		t->row = row;
		t->room = room;
	}
	memset(&t->row[t->n], 0, sizeof(t->row[0]));
	return &t->row[t->n++];
}

/* All processes; those that go meanwhile are skipped. */
static int
proc_list(struct table *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int error;

	t->n = 0;
	if (dir == NULL)
		return -1;
	while (errno = 0, (e = readdir(dir)) != NULL) {
		struct proc p, *row;

		if (!isdigit((unsigned char)e->d_name[0]) ||
		    proc_stat((pid_t)strtol(e->d_name, NULL, 10), &p) == -1)
			continue;
		if ((row = table_add(t)) == NULL)
			break;
		*row = p;
	}
	error = errno;		/* 0 = the end */
	closedir(dir);
	errno = error;
	return error == 0 ? 0 : -1;
}

static uint64_t
boot_ticks(void)
{
	struct timespec ts;
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * hz +
	    (uint64_t)ts.tv_nsec * hz / 1000000000u;
}

static int64_t
proc_age_ms(uint64_t ticks)
{
	uint64_t now = boot_ticks();

	return ticks == 0 || now < ticks ? 0 :
	    (int64_t)((now - ticks) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Do two /proc/PID/status agree in the line that key, "\nUid:", begins? */
static bool
same_line(const char *a, const char *b, const char *key)
{
	const char *x = strstr(a, key), *y = strstr(b, key);

	return x != NULL && y != NULL &&
	    strncmp(x, y, 1 + strcspn(x + 1, "\n")) == 0;
}

/*
 * Did the death signal reach pid when its parent was killed?  The kernel drops
 * it when ids or capabilities change or a set-id file is executed (prctl(2),
 * PR_SET_PDEATHSIG).  1 yes, 0 no, -1 cannot be told.
 */
static int
kernel_told(pid_t pid)
{
	char mine[4096], its[4096], path[64];
	struct stat st;

	if (!self.listed ||
	    proc_read(getpid(), "status", mine, sizeof(mine)) <= 0 ||
	    proc_read(pid, "status", its, sizeof(its)) <= 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &st) == -1 || (st.st_mode & (S_ISUID | S_ISGID)) != 0)
		return 0;
	return same_line(mine, its, "\nUid:") &&
	    same_line(mine, its, "\nGid:") && same_line(mine, its, "\nCapPrm:");
}

/*
 * Without WEXITED a zombie is no child to wait for, unless a thread of it
 * lives (wait_consider_task() in the kernel): ECHILD means that nobody lives
 * below us, the unreaped server counted out.  No look at /proc is needed.
 */
static bool
tree_gone(void)
{
	siginfo_t si;

	return waitid(self.own_group ? P_PGID : P_ALL, (id_t)server.pid, &si,
	    WSTOPPED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
}

static int
pipe_cloexec(int fd[2], int flags)
{
	return pipe2(fd, O_CLOEXEC | flags);
}

static int
pair_cloexec(int fd[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd);
}

static void
close_from_to(unsigned lo, unsigned hi)
{
	if (syscall(SYS_close_range, lo, hi, 0) == -1)	/* before Linux 5.9 */
		close_each(lo, hi);
}

static void
name_process(const char *name)
{
	prctl(PR_SET_NAME, name, 0L, 0L, 0L);
}

/* core(5): a core_pattern that is a pipe does not ask RLIMIT_CORE. */
static void
never_dump(void)
{
	prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}

/* EOPNOTSUPP, ENOSYS: this kind of file or kernel has no such write. */
static ssize_t
write_nowait(int fd, const char *buf, size_t len)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf,
	    .iov_len = len };

	return (ssize_t)syscall(SYS_pwritev2, fd, &iov, 1L, -1L, -1L,
	    RWF_NOWAIT);
}

static int
queue_signal(pid_t pid, int signo, union sigval value)
{
	return sigqueue(pid, signo, value);
}

#else	/* not Linux, or its plain POSIX twin for the tests */

#ifdef __APPLE__
#define SYSLOG_PATH	"/var/run/syslog"
#else
#define SYSLOG_PATH	"/dev/log"
#endif
#ifdef NSIG
#define SIGNALS_END	NSIG
#else
#define SIGNALS_END	32
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL	0	/* our own EPIPE is sorted out by its sender */
#endif

static bool proc_usable(void) { return false; }
static uint64_t boot_ticks(void) { return 0; }
static int kernel_told(pid_t pid) { (void)pid; return -1; }

static int
not_here(void)
{
	errno = ENOSYS;
	return -1;
}

static int proc_list(struct table *t) { t->n = 0; return not_here(); }
static int adopt_orphans(void) { return not_here(); }
static int die_with_parent(int signo) { (void)signo; return not_here(); }

static int
exit_signal(int fd, int signo)
{
	(void)fd;
	(void)signo;
	return not_here();
}

/*
 * Only the group tells who is left, and a zombie leader would answer for it:
 * here the server is reaped before its group is asked.
 */
static bool
tree_gone(void)
{
	siginfo_t si;

	if (!server.ended)
		return false;
	waitid(P_PID, (id_t)server.pid, &si, WEXITED | WNOHANG);
	return !self.own_group || kill(-server.pid, 0) == -1;
}

static int
pipe_cloexec(int fd[2], int flags)
{
	if (pipe(fd) == -1)
		return -1;
	for (int i = 0; i < 2; i++)
		if (set_cloexec(fd[i]) == -1 ||
		    (flags && fcntl(fd[i], F_SETFL, flags) == -1))
			return -1;
	return 0;
}

static int
pair_cloexec(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == -1)
		return -1;
	return set_cloexec(fd[0]) == -1 ? -1 : set_cloexec(fd[1]);
}

static void
close_from_to(unsigned lo, unsigned hi)
{
	close_each(lo, hi);
}

static void name_process(const char *name) { (void)name; }
static void never_dump(void) { }

static ssize_t
write_nowait(int fd, const char *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return not_here();
}

#ifdef __APPLE__

#include <sys/sysctl.h>

/* Of one process; the start time stands in for the ticks. */
static int
proc_stat(pid_t pid, struct proc *p)
{
	int mib[4] = { CTL_KERN, KERN_PROC, KERN_PROC_PID, pid };
	struct kinfo_proc k;
	size_t len = sizeof(k);

	if (sysctl(mib, 4, &k, &len, NULL, 0) == -1)
		return -1;
	if (len == 0) {
		errno = ESRCH;
		return -1;
	}
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->ppid = k.kp_eproc.e_ppid;
	p->pgrp = k.kp_eproc.e_pgid;
	p->sid = getsid(pid);
	p->state = k.kp_proc.p_stat == SZOMB ? 'Z' : 'S';
	p->ticks = (uint64_t)k.kp_proc.p_starttime.tv_sec * 1000000u +
	    (uint64_t)k.kp_proc.p_starttime.tv_usec;
	snprintf(p->name, NAME_SIZE, "%.*s", NAME_SIZE - 1, k.kp_proc.p_comm);
	return 0;
}

/* KERN_PROCARGS2: argc, the path, NULs, then the arguments. */
static ssize_t
proc_args(pid_t pid, char *buf, size_t size)
{
	int mib[3] = { CTL_KERN, KERN_PROCARGS2, pid };
	size_t len = size - 1, at = sizeof(int);

	if (sysctl(mib, 3, buf, &len, NULL, 0) == -1 || len <= at)
		return -1;
	while (at < len && buf[at] != '\0')
		at++;
	while (at < len && buf[at] == '\0')
		at++;
	memmove(buf, buf + at, len - at);
	buf[len - at] = '\0';
	return (ssize_t)(len - at);
}

static int64_t
proc_age_ms(uint64_t ticks)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000) - (int64_t)(ticks / 1000);
}
#else
static int
proc_stat(pid_t pid, struct proc *p)
{
	(void)pid;
	(void)p;
	return not_here();
}

static ssize_t
proc_args(pid_t pid, char *buf, size_t size)
{
	(void)pid;
	(void)buf;
	(void)size;
	return not_here();
}

static int64_t proc_age_ms(uint64_t ticks) { (void)ticks; return 0; }
#endif

#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || \
    defined(__OpenBSD__) || defined(__DragonFly__)

#include <sys/event.h>

#define EXIT_KIND	"kqueue"
#define EXIT_INHERITED	false	/* kqueue(2): not inherited by fork */

static int
exit_open(pid_t pid)
{
	struct kevent ev;
	int fd = kqueue();

	if (fd == -1)
		return -1;
	set_cloexec(fd);
	EV_SET(&ev, (uintptr_t)pid, EVFILT_PROC, EV_ADD | EV_ONESHOT,
	    NOTE_EXIT, 0, NULL);
	if (kevent(fd, &ev, 1, NULL, 0, NULL) == -1) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static bool
exit_fired(int fd, short revents)
{
	struct timespec none = { 0, 0 };
	struct kevent ev;

	return revents != 0 && kevent(fd, NULL, 0, &ev, 1, &none) > 0;
}

static int
queue_signal(pid_t pid, int signo, union sigval value)
{
	(void)value;
	return kill(pid, signo);
}

#else	/* plain POSIX */

#define EXIT_KIND	"polling"
#define EXIT_INHERITED	true

static int exit_open(pid_t pid) { (void)pid; return not_here(); }

static bool
exit_fired(int fd, short revents)
{
	(void)fd;
	(void)revents;
	return false;
}

static int
queue_signal(pid_t pid, int signo, union sigval value)
{
	return sigqueue(pid, signo, value);
}

#endif	/* kqueue or plain POSIX */
#endif	/* Linux or not */

/* ======================================================================== */
/* 4 messages                                                               */
/* ======================================================================== */
/*
 * To stderr, never blocking, never fatal; to the log; where nobody may be left
 * to read them, to the system log.
 */

/*
 * Write without waiting, although O_NONBLOCK belongs to the host: ask the
 * kernel not to wait; where it cannot be asked (terminals, files), write only
 * what poll() says there is room for.  TTOU is blocked so that TOSTOP does not
 * stop our group (termios(3)); PIPE and XFSZ, which the write itself raises, so
 * that a dead reader or a full quota kills nobody: they are taken away again.
 */
static bool
write_line(int fd, const char *line, size_t len)
{
	static const int raised[] = { SIGPIPE, SIGXFSZ };
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	sigset_t set, old, pending;
	ssize_t n;
	int signo;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &old);
	n = write_nowait(fd, line, len);
	if (n == -1 && errno != EAGAIN && errno != EPIPE &&
	    poll(&p, 1, 0) == 1 && (p.revents & POLLOUT))
		n = write(fd, line, len);
	for (size_t i = 0; n == -1 && i < COUNT(raised); i++)
		if (!sigismember(&old, raised[i]) &&
		    sigpending(&pending) == 0 &&
		    sigismember(&pending, raised[i])) {
			sigemptyset(&set);
			sigaddset(&set, raised[i]);
			sigwait(&set, &signo);
		}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return n == (ssize_t)len;
}

static void
write_log(const char *line)
{
	char entry[LINE_SIZE + 64], when[32];
	struct timespec ts;
	struct tm tm;
	int n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	n = snprintf(entry, sizeof(entry), "%s.%03ldZ %d %s", when,
	    ts.tv_nsec / 1000000, (int)getpid(), line);
	write_line(opt.log_fd, entry, (size_t)n);
}

/* One datagram to the system log (syslog(3)'s socket), priority user.notice. */
static void
write_syslog(const char *text)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char entry[LINE_SIZE + 64];
	int n, fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd == -1)
		return;
	set_cloexec(fd);
	strcpy(un.sun_path, SYSLOG_PATH);
	n = snprintf(entry, sizeof(entry), "<13>ownerwrap[%d]: %s",
	    (int)getpid(), text);
	sendto(fd, entry, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL,
	    (struct sockaddr *)&un, sizeof(un));
	close(fd);
}

/* Names are other people's bytes: no line break, no escape sequence. */
static void
make_harmless(char *text, int n)
{
	for (int i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = '?';
}

static void vsay(enum level level, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
static void say(enum level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void refuse(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

static void
vsay(enum level level, const char *fmt, va_list ap)
{
	char line[LINE_SIZE];
	bool wanted = level == VERBOSE ? opt.verbose :
	    level == REFUSED || !opt.quiet;
	bool taken = self.stderr_taken;
	int head, n;

	if (!wanted && opt.log_fd == -1 && level == VERBOSE)
		return;
	head = opt.name == NULL ? snprintf(line, sizeof(line), "ownerwrap: ") :
	    snprintf(line, sizeof(line), "ownerwrap[%.64s]: ", opt.name);
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, ap);
	n = head + (n < LINE_SIZE - head - 1 ? n : LINE_SIZE - head - 2);
	make_harmless(line, n);
	line[n] = '\n';
	line[n + 1] = '\0';
	if (opt.log_fd != -1)
		write_log(line);
	if (wanted)
		taken = taken &&
		    write_line(STDERR_FILENO, line, (size_t)n + 1);
	line[n] = '\0';
	if (opt.log_fd == -1 &&
	    (level == ORPHANED || (level != VERBOSE && !taken)))
		write_syslog(line);
}

static void
say(enum level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(level, fmt, ap);
	va_end(ap);
}

/* Nothing is started: one line and a status of our own. */
static void
refuse(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(REFUSED, fmt, ap);
	va_end(ap);
	exit(status);
}

/* 2s, 0.25s */
static const char *
seconds(int64_t ms, char buf[32])
{
	snprintf(buf, 32, "%.10gs", (double)ms / 1000);
	return buf;
}

/* up 45s, up 31m, up 2h03m */
static const char *
age(int64_t ms, char buf[32])
{
	int64_t s = ms / 1000;

	if (s < 60)
		snprintf(buf, 32, "up %" PRId64 "s", s);
	else if (s < 3600)
		snprintf(buf, 32, "up %" PRId64 "m", s / 60);
	else
		snprintf(buf, 32, "up %" PRId64 "h%02" PRId64 "m", s / 3600,
		    s / 60 % 60);
	return buf;
}

/* A refused start: said while stderr is still ours.  Returns the status. */
static int
say_exec_error(int error)
{
	const char *path = getenv("PATH"), *command = opt.command[0];

	if (error == ENOENT && strchr(command, '/') == NULL)
		say(REFUSED, "%s: not found in PATH=%s", command,
		    path == NULL ? "" : path);
	else if (error == ENOENT)
		say(REFUSED, "%s: not found, or its interpreter is not",
		    command);
	else
		say(REFUSED, "%s: can't be executed: %s", command,
		    strerror(error));
	return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

/* 4711 (nvim), or 4711 if its name is not known. */
static const char *
label(pid_t pid, const char *name, char buf[64])
{
	if (name[0] == '\0')
		snprintf(buf, 64, "%d", (int)pid);
	else
		snprintf(buf, 64, "%d (%s)", (int)pid, name);
	return buf;
}

static const char *
label_of(pid_t pid, char buf[64])
{
	struct proc p;

	return label(pid, proc_stat(pid, &p) == 0 ? p.name : "", buf);
}

/* ======================================================================== */
/* 5 values: durations, signals, pids                                       */
/* ======================================================================== */

/* Milliseconds; a part of one counts as one, so that 0 is always meant. */
static bool
parse_duration(const char *s, int64_t *ms)
{
	static const struct { const char *name; int64_t ms; } units[] = {
		{ "", 1000 }, { "s", 1000 }, { "ms", 1 },
		{ "m", 60000 }, { "h", 3600000 }
	};
	int64_t whole = 0, part = 0, scale = 1, rest = 0;
	const char *at = s;

	while (isdigit((unsigned char)*at) && whole < INT32_MAX)
		whole = whole * 10 + (*at++ - '0');
	if (at == s || isdigit((unsigned char)*at))
		return false;
	if (*at == '.') {
		if (!isdigit((unsigned char)*++at))
			return false;
		for (; isdigit((unsigned char)*at); at++)
			if (scale < 1000000) {
				part = part * 10 + (*at - '0');
				scale *= 10;
			} else
				rest |= *at != '0';
	}
	for (size_t i = 0; i < COUNT(units); i++)
		if (strcmp(at, units[i].name) == 0) {
			*ms = whole * units[i].ms +
			    (part * units[i].ms + rest + scale - 1) / scale;
			return true;
		}
	return false;
}

static const struct { const char *name; int signo; } signal_names[] = {
	{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT },
	{ "ILL", SIGILL }, { "TRAP", SIGTRAP }, { "ABRT", SIGABRT },
	{ "BUS", SIGBUS }, { "FPE", SIGFPE }, { "KILL", SIGKILL },
	{ "USR1", SIGUSR1 }, { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM },
	{ "CHLD", SIGCHLD }, { "CONT", SIGCONT }, { "STOP", SIGSTOP },
	{ "TSTP", SIGTSTP }, { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU },
	{ "URG", SIGURG }, { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
	{ "VTALRM", SIGVTALRM }, { "PROF", SIGPROF }, { "WINCH", SIGWINCH },
	{ "IO", SIGIO }, { "SYS", SIGSYS }
};

static const char *
signal_name(int signo, char buf[16])
{
	for (size_t i = 0; i < COUNT(signal_names); i++)
		if (signal_names[i].signo == signo)
			return signal_names[i].name;
	snprintf(buf, 16, "signal %d", signo);
	return buf;
}

/* A decimal number in lo..hi and nothing else: no sign, no space. */
static bool
parse_number(const char *s, size_t len, uint64_t lo, uint64_t hi,
    uint64_t *value)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned)(s[i] - '0');

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return len > 0 && v >= lo && v <= hi;
}

static bool
parse_signal(const char *s, int *signo)
{
	uint64_t v;

	if (parse_number(s, strlen(s), 1, SIGNALS_END - 1, &v)) {
		*signo = (int)v;
		return true;
	}
	if (strncasecmp(s, "SIG", 3) == 0)
		s += 3;
	for (size_t i = 0; i < COUNT(signal_names); i++)
		if (strcasecmp(s, signal_names[i].name) == 0) {
			*signo = signal_names[i].signo;
			return true;
		}
	return false;
}

/* ======================================================================== */
/* 6 signals and notes                                                      */
/* ======================================================================== */

static sigset_t inherited_mask;
static bool inherited_ignored[SIGNALS_END];

/* Sent by a process, rather than by the kernel (a key, a fault, a timer)? */
static bool
from_process(const struct note *n)
{
	return n->code == SI_USER || n->code == SI_QUEUE || n->code < 0;
}

/* TERM, INT, HUP, QUIT: what ends a server, so worth the wait for a copy. */
static bool
is_ending(int signo)
{
	return signo == SIGTERM || signo == SIGINT || signo == SIGHUP ||
	    signo == SIGQUIT;
}

static bool
is_terminal_stop(int signo)
{
	return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/*
 * For stop_likewise(): did we run again?  A terminal stop that is caught tells
 * as much as CONT, which it flushes when it comes right after (signal(7)).
 */
static volatile sig_atomic_t continued;

/* Writes a note and no more; a real fault of ours takes its usual course. */
static void
on_any_signal(int signo, siginfo_t *si, void *context)
{
	struct note n = { .kind = NOTE_SIGNAL, .signo = signo,
	    .code = si->si_code };
	int saved = errno;

	(void)context;
	if (from_process(&n)) {
		n.pid = si->si_pid;
		n.uid = si->si_uid;
		n.value = si->si_value;
	} else if (signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE ||
	    signo == SIGILL) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	continued |= signo == SIGCONT || is_terminal_stop(signo);
	if (write(self.signals[1], &n, sizeof(n)) == -1) {
		/* a pipe full of unread signals: this one is lost */
	}
	errno = saved;
}

/*
 * Block everything, remember what the server must get back, catch everything.
 * From here to each process's own loop nothing is lost: it stays pending.
 */
static void
catch_signals(void)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART }, old;

	sigfillset(&sa.sa_mask);
	sigprocmask(SIG_SETMASK, &sa.sa_mask, &inherited_mask);
	sa.sa_sigaction = on_any_signal;
	for (int signo = 1; signo < SIGNALS_END; signo++)
		if (sigaction(signo, &sa, &old) == 0)
			inherited_ignored[signo] = old.sa_handler == SIG_IGN;
}

static void
unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the server, before its exec.  Async-signal-safe. */
static void
restore_signals(void)
{
	struct sigaction sa = { .sa_flags = 0 };

	sigemptyset(&sa.sa_mask);
	for (int signo = 1; signo < SIGNALS_END; signo++) {
		sa.sa_handler = inherited_ignored[signo] ? SIG_IGN : SIG_DFL;
		sigaction(signo, &sa, NULL);
	}
	sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

/*
 * To the other of front and supervisor.  The front waits for room, for a burst
 * of real-time signals; the supervisor never does, and says so little that it
 * fits.  A peer that is gone shows as end of file.
 */
static void
send_note(const struct note *n)
{
	struct pollfd p = { .fd = self.peer, .events = POLLOUT };

	while (self.peer != -1 && send(self.peer, n, sizeof(*n),
	    MSG_DONTWAIT | MSG_NOSIGNAL) == -1 &&
	    (errno == EAGAIN || errno == EINTR) && self.role == FRONT)
		poll(&p, 1, -1);
}

static void
tell_peer(enum note_kind kind, int signo)
{
	struct note n = { .kind = (int)kind, .signo = signo };

	send_note(&n);
}

/* The server's first words, with an exit descriptor if fd is one. */
static void
introduce_server(int fd)
{
	struct note n = { .kind = NOTE_SERVER, .pid = getpid() };
	struct iovec iov = { .iov_base = &n, .iov_len = sizeof(n) };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd != -1) {
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	}
	sendmsg(self.peer, &msg, MSG_NOSIGNAL);
}

/*
 * Notes from the peer: their number, 0 = none now, -1 = the peer is gone.  Each
 * was sent as one piece and the buffer holds whole ones, so none is torn.
 */
static int
receive_notes(struct note *notes, size_t n, int flags)
{
	struct iovec iov = { .iov_base = notes, .iov_len = n * sizeof(*notes) };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = control.room, .msg_controllen = sizeof(control) };
	struct cmsghdr *head;
	ssize_t got = recvmsg(self.peer, &msg, flags);

	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -1;
	head = CMSG_FIRSTHDR(&msg);
	if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
		memcpy(&server.fd, CMSG_DATA(head), sizeof(int));
		set_cloexec(server.fd);
	}
	return (int)((size_t)got / sizeof(*notes));
}

/* ======================================================================== */
/* 7 owners                                                                 */
/* ======================================================================== */

static bool
is_dead(const struct proc *p)
{
	return (p->state == 'Z' || p->state == 'X') && p->threads <= 1;
}

static bool
fd_fired(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && exit_fired(fd, p.revents);
}

/*
 * By the process table, without an exit descriptor.  Only ESRCH, another start
 * time and a zombie without a living thread are proof; anything else is doubt,
 * and doubt is alive.  (proc(5), hidepid: a file that is not there proves
 * nothing, so kill(2) is asked as well.)
 */
static bool
gone_by_number(struct owner *o)
{
	struct proc p;

	if (proc_stat(o->pid, &p) == -1)
		return (errno == ESRCH || errno == ENOSYS) &&
		    kill(o->pid, 0) == -1 && errno == ESRCH;
	if (o->ticks == 0) {
		o->ticks = p.ticks;
		memcpy(o->name, p.name, NAME_SIZE);
	}
	return p.ticks != o->ticks || is_dead(&p);
}

/* The host's child sees its parent change; never "is it 1". */
static bool
parent_changed(const struct owner *o)
{
	struct proc p;

	if (self.role == FRONT)
		return getppid() != o->pid;
	return proc_stat(self.front, &p) == 0 && p.ppid != o->pid;
}

static bool
owner_gone(struct owner *o)
{
	if (o->gone && (o->fd != -1 || (o->parent && !self.listed)))
		return true;	/* an exit descriptor's word is final */
	if (o->fd != -1)
		return fd_fired(o->fd);
	return o->parent ? parent_changed(o) : gone_by_number(o);
}

/* ENOSYS, EPERM (seccomp), EMFILE: polled instead.  Only ESRCH is "gone". */
static void
owner_open(struct owner *o)
{
	o->fd = -1;
	o->since_ms = now_ms();
	if (!opt.poll && EXIT_INHERITED &&
	    (o->fd = exit_open(o->pid)) == -1 && errno == ESRCH)
		o->gone = true;
	else if (o->fd != -1 && !o->pinned)
		o->gone = fd_fired(o->fd);
	else	/* identity first: read behind the open descriptor */
		o->gone = gone_by_number(o) ||
		    (o->fd != -1 && fd_fired(o->fd));
}

/* One more, or the one that is the same; NULL: there are too many. */
static struct owner *
owner_add(pid_t pid, uint64_t ticks)
{
	struct owner *o;
	int i;

	for (i = 0; i < n_owners; i++)
		if (owners[i].pid == pid && (owners[i].ticks == ticks ||
		    owners[i].ticks == 0 || ticks == 0))
			break;
	if (i == OWNERS_MAX)
		return NULL;
	o = &owners[i];
	if (i == n_owners) {
		n_owners++;
		o->pid = pid;
		o->fd = -1;
	}
	if (o->ticks == 0) {
		o->ticks = ticks;
		o->pinned = ticks != 0;
	}
	return o;
}

/* Does cluster, a shell's option word, take the next word as its value? */
static bool
takes_value(const char *word)
{
	return strcmp(word, "--rcfile") == 0 ||
	    strcmp(word, "--init-file") == 0 ||
	    (word[1] != '-' && word[strlen(word) - 1] == 'o') ||
	    (word[1] != '-' && word[strlen(word) - 1] == 'O');
}

/* sh -c, bash -lc, busybox sh -ec ...: -c only among the shell's options. */
static bool
is_shell_command(pid_t pid)
{
	static const char *const shells[] = { "sh", "dash", "bash", "ash",
	    "ksh", "zsh" };
	char args[ARGS_SIZE];
	ssize_t n = proc_args(pid, args, sizeof(args));
	const char *end = args + n, *word = args, *base;
	bool shell = false, skip = false;

	if (n <= 0)
		return false;
	for (int tries = 0; tries < 2 && !shell && word < end; tries++) {
		base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
		base += *base == '-';
		for (size_t i = 0; i < COUNT(shells); i++)
			shell |= strcmp(base, shells[i]) == 0;
		if (!shell && strcmp(base, "busybox") != 0)
			return false;
		word += strlen(word) + 1;
	}
	for (; shell && word < end; word += strlen(word) + 1) {
		if (skip) {
			skip = false;
			continue;
		}
		if ((*word != '-' && *word != '+') || word[1] == '\0' ||
		    strcmp(word, "--") == 0)
			return false;
		if (word[0] == '-' && word[1] != '-' && strchr(word, 'c'))
			return true;
		skip = takes_value(word);
	}
	return false;
}

/*
 * Was child given to parent by the kernel after its real one had died?  One
 * that does not lead its session was born in its parent's.
 */
static bool
was_adopted(pid_t child, pid_t parent)
{
	pid_t own = getsid(child), other = getsid(parent);

	return own != -1 && other != -1 && own != child && own != other;
}

static void
refuse_adopter(pid_t pid)
{
	char who[64];

	refuse(NO_OWNER, "the owner is gone, %s adopted what it left: "
	    "not started (name an owner: --owner-pid PID)",
	    label_of(pid, who));
}

/*
 * The parent, and through shells that only hold a command (what editors, npm
 * and make put in between, and what lives on when they die) their parents: as
 * soon as any of the chain is gone.  Each is opened first and its child's
 * parent asked again then, so that a number recycled in between is noticed.
 */
static void
default_owner(void)
{
	pid_t child = self.pid, parent = getppid(), again;

	for (int i = 0; i < CHAIN_MAX && parent != 0; i++) {
		struct proc p;
		struct owner *o = owner_add(parent, 0);

		if (was_adopted(child, parent))
			refuse_adopter(parent);
		if (o == NULL)
			return;
		o->parent = i == 0;
		owner_open(o);
		again = i == 0 ? getppid() :
		    proc_stat(child, &p) == 0 ? p.ppid : parent;
		if (again != parent || o->gone)
			refuse_adopter(again);
		if (!is_shell_command(parent) || proc_stat(parent, &p) == -1)
			return;
		opt.any = true;
		child = parent;
		parent = p.ppid;
	}
}

static bool
orphaned(void)
{
	int gone = 0;

	for (int i = 0; i < n_owners; i++)
		gone += owners[i].gone;
	return n_owners > 0 && (opt.any ? gone > 0 : gone == n_owners);
}

/* Names are for messages and the title: read once the server runs. */
static void
name_owners(void)
{
	struct proc p;

	for (int i = 0; i < n_owners; i++)
		if (owners[i].name[0] == '\0' &&
		    proc_stat(owners[i].pid, &p) == 0) {
			if (owners[i].ticks == 0)
				owners[i].ticks = p.ticks;
			if (owners[i].ticks == p.ticks)
				memcpy(owners[i].name, p.name, NAME_SIZE);
		}
}

enum owner_list {
	OWNER_SHORT,	/* 4711(nvim),4712(x): all, for the title */
	OWNER_AGED,	/* 4711 (nvim, up 2h03m), 4712 (x, up 3s): all */
	OWNER_GONE_ONES	/* 4711 (nvim), 4712 (x): those gone */
};

static void
list_owners(char *buf, size_t size, enum owner_list style)
{
	size_t at = 0;

	buf[0] = '\0';
	for (int i = 0; i < n_owners && at < size; i++) {
		struct owner *o = &owners[i];
		char who[64], up[32];

		if (style == OWNER_GONE_ONES && !o->gone)
			continue;
		label(o->pid, o->name, who);
		if (style == OWNER_AGED && o->ticks != 0)
			snprintf(who, sizeof(who), "%d (%s, %s)", (int)o->pid,
			    o->name, age(proc_age_ms(o->ticks), up));
		else if (style == OWNER_SHORT)
			snprintf(who, sizeof(who), "%d(%s)", (int)o->pid,
			    o->name);
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
		    at == 0 ? "" : style == OWNER_SHORT ? "," : ", ", who);
	}
}

/* ======================================================================== */
/* 8 server: start, signal, reap, scope                                     */
/* ======================================================================== */

static void
set_timer(enum timer t, int64_t ms)
{
	self.timer[t] = ms == FOREVER ? FOREVER : now_ms() + ms;
}

/*
 * Every signal of ours by number.  A group only if it is the one we had the
 * server make; never everybody, ourselves, or the host's group.
 */
static bool
may_signal(pid_t pid)
{
	return pid > 1 ? pid != self.pid :
	    self.own_group && pid == -server.pid && pid < -1 &&
	    pid != -getpgrp();
}

static int
send_signal(pid_t pid, int signo)
{
	errno = EINVAL;
	return may_signal(pid) ? kill(pid, signo) : -1;
}

/* The stand-in is the server's parent only if orphans come to it. */
static bool
is_parent(void)
{
	return self.role == SUPERVISOR || self.adopts;
}

/*
 * The server is our child until we reap it, so its number is its own.  Not
 * its parent, the stand-in has an exit descriptor or does nothing.
 */
static int
signal_server(int signo)
{
	errno = ESRCH;
	if (server.pid == 0 || server.ended)
		return -1;
	if (!is_parent())
		return server.fd == -1 ? -1 : exit_signal(server.fd, signo);
	return send_signal(server.pid, signo);
}

/* Now, rather than when we last heard.  A tracer's t may be either. */
static bool
is_stopped(pid_t pid, bool as_heard)
{
	struct proc p;

	if (proc_stat(pid, &p) == -1 || p.state == 't')
		return as_heard;
	return p.state == 'T';
}

static int64_t
shorter(int64_t a, int64_t b)
{
	return a == FOREVER || (b != FOREVER && b < a) ? b : a;
}

/* Did the stop signal of that time count, or is it too long ago? */
static bool
still_counts(int64_t when_ms)
{
	return when_ms != 0 &&
	    now_ms() - when_ms < shorter(opt.kill_after_ms, HAD_MS);
}

static struct table now_table, last_table;

static int
by_pid(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct proc *
find(const struct table *t, pid_t pid)
{
	struct proc key = { .pid = pid };

	return t->n == 0 ? NULL :
	    bsearch(&key, t->row, t->n, sizeof(key), by_pid);
}

/*
 * Who descends from us, and below which other ow-supervisor?  Each chain is
 * walked up to a row already known and then marked, so the whole is linear but
 * for the searches.  A torn snapshot may hold a circle: the bound ends it.
 */
static void
mark_tree(struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct proc *p = &t->row[i], *top, *wrap = NULL;
		size_t steps = 0;
		bool inside;

		for (top = p; top != NULL && top->pid != self.pid &&
		    !top->known && steps++ < t->n; top = find(t, top->ppid))
			if (strcmp(top->name, "ow-supervisor") == 0)
				wrap = top;
		inside = top != NULL &&
		    (top->pid == self.pid || top->in_tree);
		if (top != NULL && top->wrap != NULL)
			wrap = top->wrap;
		for (top = p; top != NULL && top->pid != self.pid &&
		    !top->known; top = find(t, top->ppid)) {
			top->known = true;
			top->in_tree = inside;
			top->wrap = wrap;
			if (top == wrap)
				wrap = NULL;
		}
	}
}

static bool
in_scope(const struct proc *p)
{
	return opt.scope == SCOPE_TREE || p->sid == self.sid ||
	    p->sid == server.pid;
}

/* What hangs below another ownerwrap is told through that one's front. */
static bool
told_by_another(const struct proc *p)
{
	const struct proc *front = p->wrap == NULL ? NULL :
	    find(&now_table, p->wrap->ppid);

	return p->wrap != NULL && (p != p->wrap || (front != NULL &&
	    front->in_scope && !is_dead(front)));
}

static int
signal_behind(int fd, pid_t pid, int signo)
{
	if (fd != -1 && exit_signal(fd, signo) == 0)
		return 0;
	return fd != -1 && errno == ESRCH ? -1 : send_signal(pid, signo);
}

/*
 * The stop signal, then CONT so that a stopped one can act on it; or SIGKILL.
 * The pid is from a snapshot: it is the same process only if its start time is
 * still the same behind the exit descriptor.
 */
static bool
tell(struct proc *p, int signo)
{
	struct proc again;
	bool done = false;
	int fd = exit_open(p->pid);

	if (proc_stat(p->pid, &again) == 0 && again.ticks == p->ticks) {
		done = signal_behind(fd, p->pid, signo) == 0;
		p->refused = !done && errno == EPERM;
		if (done && signo != SIGKILL)
			signal_behind(fd, p->pid, SIGCONT);
	}
	if (fd != -1)
		close(fd);
	p->told = true;
	return done;
}

/* Is there more than the server that we can see and may end? */
static bool
sees_tree(void)
{
	return opt.scope != SCOPE_PROCESS && (self.listed || self.own_group) &&
	    is_parent();
}

/* No list of the tree: the server's own group is all that can be reached. */
static int
look_at_group(int signo, int *told)
{
	if (signo == SIGKILL || (signo != 0 && !server.group_told)) {
		server.group_told = true;
		*told = send_signal(-server.pid, signo) == 0;
		if (*told)
			send_signal(-server.pid, SIGCONT);
		else if (errno == ESRCH) {
			say(DEFAULT, "group %d is not there: "
			    "server alone is stopped", (int)server.pid);
			self.own_group = false;
		}
	}
	return !tree_gone();
}

/* What an earlier look or a signal to the group has done to p. */
static void
remember(struct proc *p)
{
	struct proc *last = find(&last_table, p->pid);

	if (last != NULL && last->ticks == p->ticks) {
		p->told = last->told;
		p->refused = last->refused;
	}
	if (still_counts(server.group_ms) && p->pgrp == getpgrp() &&
	    p->ticks <= server.group_ticks)
		p->told = true;
}

/*
 * Look who lives in scope, the server aside, and send signo to those who have
 * not had it (SIGKILL to all; 0 to nobody).  Zombies that came to us are
 * reaped here by their pids: behind the unreaped server waitid() shows none.
 * Returns how many live; told counts those told now.  One that forks and exits
 * all the time may be missed by every look, and a look may fail: the kernel
 * knows that somebody lives.
 */
static int
look(int signo, int *told)
{
	struct table swap = last_table;
	siginfo_t si;
	int living = 0, spared = 0;
	static bool said;
	bool failed;

	*told = 0;
	if (!sees_tree())
		return 0;
	if (!self.listed)
		return look_at_group(signo, told);
	last_table = now_table;
	now_table = swap;
	failed = proc_list(&now_table) == -1;
	if (failed && !said)
		say(DEFAULT, "/proc can't be read: %s", strerror(errno));
	said |= failed;
	qsort(now_table.row, now_table.n, sizeof(*now_table.row), by_pid);
	mark_tree(&now_table);
	for (size_t i = 0; i < now_table.n; i++)
		now_table.row[i].in_scope = now_table.row[i].in_tree &&
		    in_scope(&now_table.row[i]);
	for (size_t i = 0; i < now_table.n; i++) {
		struct proc *p = &now_table.row[i];

		if (!p->in_tree || p->pid == server.pid)
			continue;
		if (is_dead(p) && p->ppid == self.pid)
			waitid(P_PID, (id_t)p->pid, &si, WEXITED | WNOHANG);
		remember(p);
		if (is_dead(p))
			continue;
		spared += !p->in_scope || p->refused;
		if (!p->in_scope || p->refused)
			continue;
		if (signo == SIGKILL || (signo != 0 && !p->told &&
		    !told_by_another(p)))
			*told += tell(p, signo);
		living += !p->refused;
	}
	if (living == 0 && (spared == 0 || failed) && server.ended &&
	    !tree_gone())
		living = 1;
	return living;
}

static bool
nobody_left(void)
{
	return server.ended && (!sees_tree() || tree_gone());
}

/*
 * When to look again while leftovers stay.  Our children's ends are signalled;
 * those of others only matter where a spared parent hides them.
 */
static void
look_again_later(void)
{
	self.timer[T_LOOK] = FOREVER;
	for (size_t i = 0; i < now_table.n; i++)
		if (now_table.row[i].in_tree && !now_table.row[i].in_scope)
			set_timer(T_LOOK, opt.interval_ms);
}

/* "4720 (chrome), 4721 (x)" of the last look; false if there is none. */
static bool
list_rows(bool (*wanted)(const struct proc *), char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < now_table.n && at < size; i++) {
		const struct proc *p = &now_table.row[i];
		char who[64];

		if (p->in_tree && p->pid != server.pid && !is_dead(p) &&
		    wanted(p))
			at += (size_t)snprintf(buf + at, size - at, "%s%s",
			    at ? ", " : "", label(p->pid, p->name, who));
	}
	return at > 0;
}

static bool is_spared(const struct proc *p) { return !p->in_scope; }
static bool is_refused(const struct proc *p) { return p->refused; }

static bool
is_stuck(const struct proc *p)
{
	return p->in_scope && !p->refused;
}

static void
name_who_is_left(void)
{
	char list[LINE_SIZE / 2], who[64];
	struct proc p;
	int told;

	if (!server.ended && server.pid != 0)
		say(DEFAULT, "%s can't be ended, state %c",
		    label_of(server.pid, who),
		    proc_stat(server.pid, &p) == 0 ? p.state : '?');
	if (!self.listed || nobody_left())
		return;
	if (look(0, &told) > 0 && !list_rows(is_stuck, list, sizeof(list)))
		say(DEFAULT,
		    "can't be ended: one that is another at each look");
	if (list_rows(is_stuck, list, sizeof(list)))
		say(DEFAULT, "can't be ended: %s", list);
	if (list_rows(is_spared, list, sizeof(list)))
		say(DEFAULT, "left running in their own session: %s; "
		    "--scope tree stops them", list);
	if (list_rows(is_refused, list, sizeof(list)))
		say(DEFAULT, "left running, not ours to end: %s", list);
}

/* 124 only for a server that the ladder ended for want of an owner. */
static int
final_status(void)
{
	if (self.reason == OWNER_GONE && !self.early)
		return NO_OWNER;
	return self.status == NO_STATUS ? NOT_STARTED : self.status;
}

/*
 * Put the terminal back as it was before a server that could not do it itself.
 * Not from the background: the terminal is another job's then.
 */
static void
restore_terminal(void)
{
	sigset_t set, old;
	int fd;

	if (!self.tty_saved || !server.killed ||
	    (fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC |
	    O_NONBLOCK)) == -1)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &old);
	if (tcgetpgrp(fd) == getpgrp())
		tcsetattr(fd, TCSANOW, &self.termios);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd);
}

/* LISTEN_PID, WATCHDOG_PID: named us, must name the server. */
static char listen_pid[32] = "LISTEN_PID=", watchdog_pid[32] = "WATCHDOG_PID=";
static bool names_listener, names_watchdog;

/* Async-signal-safe: between fork and exec. */
static void
write_pid(char *variable)
{
	char digits[16], *to = strchr(variable, '=') + 1;
	int n = 0;

	for (pid_t pid = getpid(); pid > 0; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	while (n > 0)
		*to++ = digits[--n];
	*to = '\0';
}

/* Where argv and what follows it lie; the front's stay as they were. */
static char *title_start;
static size_t argv_room, title_room;

static void
find_title_room(int argc, char **argv)
{
	char *end = argv[0] + strlen(argv[0]) + 1;

	for (int i = 1; i < argc; i++)
		if (argv[i] == end)
			end += strlen(end) + 1;
	argv_room = (size_t)(end - argv[0]);
	for (int i = 0; environ[i] != NULL; i++)
		if (environ[i] == end)
			end += strlen(end) + 1;
	title_start = argv[0];
	title_room = (size_t)(end - argv[0]);
}

/*
 * The supervisor's command line, cut to the room there is.  It overwrites argv
 * and environ: nothing of ours reads them afterwards.  proc_pid_cmdline(5): an
 * overwritten last byte of argv makes the kernel read on into the environment.
 */
static void
set_title(const char *owner)
{
	static char *none[] = { NULL };
	char title[512];
	int n = snprintf(title, sizeof(title), "ow-supervisor server=%d%s%s",
	    (int)server.pid, owner[0] == '\0' ? "" : " owner=", owner);
	size_t len = (size_t)n < sizeof(title) ? (size_t)n : sizeof(title) - 1;

	environ = none;
	if (len >= title_room)
		len = title_room - 1;
	make_harmless(title, (int)len);
	memset(title_start, 0, argv_room);
	memcpy(title_start, title, len);
	title_start[len] = '\0';
}

static void become_server(int errno_fd, pid_t parent)
    __attribute__((noreturn));

/*
 * In the server.  The death signal is armed before the parent is asked for:
 * a supervisor that died earlier has another number now, one that dies later
 * fires it.  The front knows the pid before the exec, whoever dies first.
 */
static void
become_server(int errno_fd, pid_t parent)
{
	int error, fd = -1;

	die_with_parent(opt.signal);
	if (getppid() != parent)
		_exit(NOT_STARTED);
	if (self.own_group)
		setpgid(0, 0);
	if (!self.front_adopts)
		fd = exit_open(getpid());
	introduce_server(fd);
	if (names_listener)
		write_pid(listen_pid);
	if (names_watchdog)
		write_pid(watchdog_pid);
	restore_signals();
	execvp(opt.command[0], opt.command);
	error = errno;
	if (write(errno_fd, &error, sizeof(error)) == -1)
		_exit(NOT_STARTED);
	_exit(NOT_FOUND);
}

/*
 * Exactly the descriptors named, and 0 to 2, stay open: the host's pipes,
 * locks and sockets are the server's alone.
 */
static void
drop_inherited(void)
{
	int keep[5 + OWNERS_MAX], n = 0;
	unsigned from = 3;

	keep[n++] = self.peer;
	keep[n++] = self.signals[0];
	keep[n++] = self.signals[1];
	keep[n++] = self.exec_fd;
	keep[n++] = opt.log_fd;
	for (int i = 0; self.role == SUPERVISOR && i < n_owners; i++)
		keep[n++] = owners[i].fd;
	dup2(self.null_fd, STDIN_FILENO);
	dup2(self.null_fd, STDOUT_FILENO);
	for (;;) {	/* the next one to keep, lowest first */
		unsigned next = UINT_MAX;

		for (int i = 0; i < n; i++)
			if (keep[i] >= (int)from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > from)
			close_from_to(from, next == UINT_MAX ? next : next - 1);
		if (next == UINT_MAX)
			break;
		from = next + 1;
	}
	if (!self.tty && chdir("/") == -1)
		say(VERBOSE, "chdir to /: %s", strerror(errno));
}

/* The protocol's own pipe or socket on 2: it is the server's from now on. */
static void
leave_stderr(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	self.stderr_taken = false;
	if (fd != -1)
		dup2(fd, STDERR_FILENO);
	else
		close(STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* ======================================================================== */
/* 9 phases                                                                 */
/* ======================================================================== */

static void enter(enum phase next);
static void deliver(const struct note *n);

static bool
in_ladder(void)
{
	return self.phase >= ASKED;
}

/* How long a step waits: kill-after, less once the front was killed. */
static int64_t
step_ms(enum phase step)
{
	if (!self.hurry)
		return opt.kill_after_ms;
	if (opt.kill_after_ms == FOREVER)
		return step == ASKED ? KILLED_MS : FOREVER;
	return shorter(opt.kill_after_ms, KILLED_MS);
}

static void
set_phase_timer(int64_t ms)
{
	self.phase_ms = ms;
	self.again = false;
	set_timer(T_PHASE, ms);
}

/* "TERM in 2s, KILL 5s later, 10s if others must be told" */
static void
plan(int64_t wait_ms, char *buf, size_t size)
{
	char name[16], a[32], b[32], c[32];
	int64_t kill = self.hurry ? step_ms(TOLD) : opt.kill_after_ms;
	int n = snprintf(buf, size, "%s %s%s", signal_name(opt.signal, name),
	    wait_ms > 0 ? "in " : "now",
	    wait_ms > 0 ? seconds(wait_ms, a) : "");

	if (opt.signal == SIGKILL || (size_t)n >= size)
		return;
	if (kill == FOREVER)
		snprintf(buf + n, size - (size_t)n, ", no KILL");
	else if (opt.scope == SCOPE_PROCESS)
		snprintf(buf + n, size - (size_t)n, ", KILL %s later",
		    seconds(kill, b));
	else
		snprintf(buf + n, size - (size_t)n,
		    ", KILL %s later, %s if others must be told",
		    seconds(kill, b), seconds(2 * kill, c));
}

static const char *
server_label(char buf[32])
{
	if (server.ended)
		return "what the server left";
	snprintf(buf, 32, "server %d", (int)server.pid);
	return buf;
}

static void
say_orphaned(void)
{
	char list[LINE_SIZE / 2], what[128], how_long[32], who[32];
	int64_t lived = now_ms() - owners[0].since_ms;
	int gone = 0;

	for (int i = 0; i < n_owners; i++)
		gone += owners[i].gone;
	list_owners(list, sizeof(list), OWNER_GONE_ONES);
	plan(opt.grace_ms, what, sizeof(what));
	if (owners[0].parent && lived < SHORT_MS)
		say(ORPHANED, "owner %s ended after %s; stopping %s (%s); "
		    "to tie it to another process: --owner-pid PID",
		    list, seconds(lived < 100 ? lived : lived - lived % 100,
		    how_long),
		    server_label(who), what);
	else
		say(ORPHANED, "owner%s %s %s gone; stopping %s (%s)",
		    gone > 1 ? "s" : "", list, gone > 1 ? "are" : "is",
		    server_label(who), what);
}

/* Why the ladder begins; a missing owner was said before the grace. */
static void
say_reason(void)
{
	static const struct { enum level level; const char *why; } reasons[] = {
		[FRONT_KILLED] = { DEFAULT, "the front was killed" },
		[REQUESTED] = { VERBOSE, "a signal asks for it" },
		[LATE_REQUEST] = { VERBOSE, "a signal asks for it" },
		[SUPERVISOR_ASKED] = { DEFAULT,
		    "a signal came to the supervisor alone" },
		[SUPERVISOR_KILLED] = { DEFAULT, "the supervisor was killed" }
	};
	char what[128], who[32];

	plan(0, what, sizeof(what));
	if (reasons[self.reason].why != NULL)
		say(reasons[self.reason].level, "%s; stopping %s (%s)",
		    reasons[self.reason].why, server_label(who), what);
	if (opt.scope != SCOPE_PROCESS && !self.listed && !self.own_group)
		say(DEFAULT, "no usable /proc: server alone is stopped");
}

/* The one way into the ladder.  The first reason stays the reason. */
static void
begin(enum reason reason)
{
	struct note n = { .kind = NOTE_LADDER, .signo = (int)reason,
	    .code = server.ended };

	if (reason == FRONT_KILLED) {
		self.hurry = true;
		if (in_ladder() && step_ms(self.phase) != FOREVER)
			self.timer[T_PHASE] = shorter(self.timer[T_PHASE],
			    now_ms() + step_ms(self.phase));
	}
	if (in_ladder())
		return;
	if (self.reason == NONE) {	/* a stand-in may have been told one */
		self.reason = reason;
		self.early = server.ended;
	}
	if (self.role == SUPERVISOR)
		send_note(&n);
	say_reason();
	enter(opt.signal == SIGKILL ? FORCED : ASKED);
}

/* Step 1.  What the server has had a moment ago is not said twice. */
static void
ask_server(void)
{
	int64_t since = 0;	/* it was told */

	if (still_counts(server.told_ms))
		since = now_ms() - server.told_ms;
	else if (signal_server(opt.signal) == 0)
		server.told_ms = now_ms();
	else if (errno != ESRCH)
		say(DEFAULT, "server %d can't be signalled: %s",
		    (int)server.pid, strerror(errno));
	if (server.told_ms != 0)
		signal_server(SIGCONT);
	set_phase_timer(step_ms(ASKED));
	if (self.timer[T_PHASE] != FOREVER)
		self.timer[T_PHASE] -= since < self.phase_ms ? since :
		    self.phase_ms;
}

/* Step 2.  A lone deaf server has nobody beside it to wait for. */
static void
tell_others(void)
{
	int told, living = look(opt.signal, &told);

	if (server.ended && living == 0 && nobody_left())
		enter(OVER);
	else if (!server.ended && told == 0 && step_ms(TOLD) != FOREVER)
		enter(FORCED);
	else {
		set_phase_timer(step_ms(TOLD));
		set_timer(T_LOOK, living > 0 ? LOOK_MS : 0);
	}
}

/* Step 3. */
static void
force(void)
{
	char name[16], after[32];

	server.killed = signal_server(SIGKILL) == 0;
	if (server.killed && server.told_ms != 0)
		say(DEFAULT, "server %d still there %s after %s: killed",
		    (int)server.pid, seconds(now_ms() - server.told_ms, after),
		    signal_name(opt.signal, name));
	set_phase_timer(FORCE_MS);
	set_timer(T_LOOK, 0);
}

/* The only place that changes the phase. */
static void
enter(enum phase next)
{
	self.phase = next;
	self.phase_since_ms = now_ms();
	self.quiet_looks = 0;
	self.timer[T_PHASE] = FOREVER;
	self.timer[T_LOOK] = FOREVER;
	switch (next) {
	case STARTING:
	case RUNNING:
		break;
	case GRACE:
		say_orphaned();
		set_phase_timer(opt.grace_ms);
		break;
	case LEFT:
		look_again_later();
		break;
	case ASKED:
		if (server.ended)
			enter(TOLD);
		else
			ask_server();
		break;
	case TOLD:
		tell_others();
		break;
	case FORCED:
		force();
		break;
	case OVER:
		name_who_is_left();
		restore_terminal();
		break;
	}
}

/* The front takes the status and goes; we stay with what is left. */
static void
leave_front(void)
{
	char list[256];

	self.alone = true;
	tell_peer(NOTE_LEAVE, self.status);
	if (n_owners > 0 && owners[0].parent) {	/* of a chain the topmost */
		for (; n_owners > 1; n_owners--) {
			if (owners[0].fd != -1)
				close(owners[0].fd);
			memmove(&owners[0], &owners[1],
			    (size_t)(n_owners - 1) * sizeof(owners[0]));
		}
		owners[0].parent = false;
		list_owners(list, sizeof(list), OWNER_SHORT);
		set_title(list);
	}
	leave_stderr();
}

/* The server has ended before any ladder: what of the others? */
static void
server_ended_itself(void)
{
	int told, living;

	if (nobody_left()) {
		enter(OVER);
		return;
	}
	living = look(0, &told);
	if (living == 0 && (living = look(0, &told)) == 0) {
		enter(OVER);
		return;
	}
	if (opt.leftovers == LEFTOVERS_STOP) {
		say(DEFAULT, "server ended and left %d process%s: stopped "
		    "(--leftovers wait or leave keeps %s)", living,
		    living > 1 ? "es" : "", living > 1 ? "them" : "it");
		begin(SERVER_LEFT);
		return;
	}
	say(DEFAULT, "server ended and left %d process%s: %s", living,
	    living > 1 ? "es" : "", opt.leftovers == LEFTOVERS_WAIT ?
	    "waited for" : "left until the owner goes");
	if (opt.leftovers == LEFTOVERS_LEAVE)
		leave_front();
	if (self.phase != GRACE)
		enter(LEFT);
	else
		look_again_later();
}

/* Somebody ended: is there anything left to wait for? */
static void
on_child(void)
{
	if (!server.ended || self.phase == OVER)
		return;
	if (nobody_left())
		enter(OVER);
	else if (self.phase == ASKED)
		enter(TOLD);
	else if (self.timer[T_LOOK] == FOREVER ||
	    self.timer[T_LOOK] > now_ms() + LOOK_MS)
		set_timer(T_LOOK, LOOK_MS);
}

/* T_LOOK.  Spared daemons are children too: two looks that find nobody. */
static void
on_look(void)
{
	int signo = self.phase == FORCED ? SIGKILL :
	    self.phase == TOLD ? opt.signal : 0;
	int told, living;

	if (self.phase == FORCED)
		signal_server(SIGKILL);
	living = look(signo, &told);
	if (!server.ended || living > 0) {
		self.quiet_looks = 0;
		look_again_later();
		if (self.phase == FORCED)
			set_timer(T_LOOK, FORCE_LOOK_MS);
		else if (in_ladder())	/* rarer, the longer it takes */
			set_timer(T_LOOK, LOOK_MS +
			    (now_ms() - self.phase_since_ms) / 8);
	} else if (++self.quiet_looks >= 2 || nobody_left())
		enter(OVER);
	else
		set_timer(T_LOOK, 0);
}

/* Ask every owner; those with an exit descriptor answer for good. */
static void
on_owners(void)
{
	for (int i = 0; i < n_owners; i++)
		owners[i].gone = owner_gone(&owners[i]);
	if (orphaned() && (self.phase == RUNNING || self.phase == STARTING ||
	    self.phase == LEFT)) {
		if (self.phase == STARTING)
			name_owners();
		enter(GRACE);
		if (server.ended)
			look_again_later();
	}
}

/*
 * T_PHASE.  A wake-up that is late by more than a freeze allows (suspend,
 * SIGSTOP) found the server frozen as well: it gets its time again, once.
 */
static void
on_phase_end(void)
{
	if (now_ms() - self.timer[T_PHASE] > LATE_MS && !self.again) {
		set_phase_timer(self.phase_ms);
		self.again = true;
		return;
	}
	self.timer[T_PHASE] = FOREVER;
	switch (self.phase) {
	case GRACE:
		on_owners();
		if (orphaned())
			begin(OWNER_GONE);
		else
			enter(server.ended ? LEFT : RUNNING);
		break;
	case ASKED:
		enter(TOLD);
		break;
	case TOLD:
		enter(FORCED);
		break;
	case FORCED:
		enter(OVER);
		break;
	default:	/* no time of its own */
		break;
	}
}

/* --- signals in the supervisor: the witness rule ------------------------- */
/*
 * A signal to the group reaches front, supervisor and server each.  The
 * supervisor's own copy is the proof: a relay that has one is dropped, a copy
 * that gets no relay came to the supervisor alone.
 */

struct seen {
	struct note note;
	int64_t at_ms;
	bool pending;		/* not yet matched with its other half */
	bool delivered;		/* relay: waited long enough for a copy */
	bool frozen;		/* copy: the front was stopped, it can't age */
	bool alone;		/* copy: asks for a stop if nobody relays it */
};

static struct seen held[HELD_MAX], copies[COPIES_MAX];

static bool
same_signal(const struct note *a, const struct note *b)
{
	return a->signo == b->signo && a->pid == b->pid && a->uid == b->uid;
}

static struct seen *
take(struct seen *list, int n, const struct note *like, int64_t oldest_ms)
{
	for (int i = 0; i < n; i++)
		if (list[i].pending && same_signal(&list[i].note, like) &&
		    (list[i].frozen || list[i].at_ms >= oldest_ms)) {
			list[i].pending = false;
			return &list[i];
		}
	return NULL;
}

static struct seen *
keep(struct seen *list, int n, const struct note *note)
{
	struct seen *oldest = &list[0];

	for (int i = 0; i < n; i++) {
		if (!list[i].pending) {
			oldest = &list[i];
			break;
		}
		if (list[i].at_ms < oldest->at_ms)
			oldest = &list[i];
	}
	*oldest = (struct seen){ .note = *note, .at_ms = now_ms(),
	    .pending = true };
	return oldest;
}

/* The server or a descendant of it?  Known strangers first: they are cheap. */
static bool
is_of_tree(pid_t pid)
{
	struct proc p;

	if (pid == 0)
		return false;
	for (int i = 0; i < n_owners; i++)
		if (owners[i].pid == pid)
			return false;
	for (int i = 0; i < CHAIN_MAX && pid > 1; i++) {
		if (pid == server.pid || pid == self.pid)
			return true;	/* ourselves: our EPIPE, our CONT */
		if (pid == self.front || proc_stat(pid, &p) == -1)
			return false;
		pid = p.ppid;
	}
	return false;
}

static bool
is_fresh(void)
{
	return server.exec_ms == 0 || now_ms() - server.exec_ms < FRESH_MS;
}

/* The stop signal asked for by a process, and kill-after was given. */
static void
on_had(const struct note *n)
{
	if (server.ended) {
		if (is_ending(n->signo))
			begin(LATE_REQUEST);
		return;
	}
	if (n->signo != opt.signal)
		return;
	server.told_ms = now_ms();
	if (from_process(n) && opt.kill_given &&
	    opt.kill_after_ms != FOREVER)
		begin(REQUESTED);
}

/* The server had n with its group. */
static void
had_with_group(const struct note *n)
{
	if (n->signo == opt.signal) {
		server.group_ms = now_ms();
		server.group_ticks = boot_ticks();
	}
	on_had(n);
}

/* The server stopped or went on: the front does the same, the host sees it. */
static void
on_server_stop(int signo)
{
	if (signo == 0 || server.stopped) {	/* twice: in between it ran */
		if (!server.continued)
			server.continued_ms = now_ms();
		server.continued = false;
	}
	server.stopped = signo != 0;
	if (server.stopped && !in_ladder()) {
		self.front_stops += self.peer != -1;
		tell_peer(NOTE_STOP, signo);
	} else if (self.front_stops > 0) {
		send_signal(self.front, SIGCONT);
		set_timer(T_RESUME, RESUME_MS);
	}
}

static void
reap_stops(void)
{
	siginfo_t si = { .si_pid = 0 };

	while (!server.ended && waitid(P_PID, (id_t)server.pid, &si,
	    WSTOPPED | WCONTINUED | WNOHANG) == 0 && si.si_pid != 0) {
		on_server_stop(si.si_code == CLD_CONTINUED ? 0 : si.si_status);
		si.si_pid = 0;
	}
}

static bool
witnessed(int64_t when_ms)
{
	return when_ms != 0 && now_ms() - when_ms <= WITNESS_MS;
}

/*
 * Does the server need a CONT that reached the front?  Not if the group had it
 * and the server has even stopped once more since, on its way to read from the
 * terminal in the background: that stop flushed our own copy of the CONT.
 */
static bool
needs_cont(void)
{
	if (self.role == SUPERVISOR)
		reap_stops();
	return is_stopped(server.pid, server.stopped) &&
	    !(witnessed(server.continued_ms) &&
	    witnessed(server.tty_stop_ms));
}

/* Hand n to the server; on_had() is what that means for the ladder. */
static void
deliver(const struct note *n)
{
	char name[16], who[64];
	int result;

	if (n->signo == SIGCONT) {
		if (!needs_cont())
			return;
		server.continued = true;
	}
	if (in_ladder() && n->signo == opt.signal && server.told_ms != 0)
		return;
	if (!server.ended) {
		result = n->code == SI_QUEUE && is_parent() &&
		    may_signal(server.pid) ?
		    queue_signal(server.pid, n->signo, n->value) :
		    signal_server(n->signo);
		if (result == -1 && errno != ESRCH)
			say(DEFAULT, "%s can't be relayed: %s",
			    signal_name(n->signo, name), strerror(errno));
		else if (opt.verbose || opt.log_fd != -1)
			say(VERBOSE, "%s relayed; sender %s",
			    signal_name(n->signo, name),
			    label_of(n->pid, who));
	}
	on_had(n);
}

/* From the front: n reached it. */
static void
on_relay(const struct note *n)
{
	bool in_group = getpgid(server.pid) == getpgrp();
	struct seen *relay, *copy = take(copies, COPIES_MAX, n,
	    now_ms() - WITNESS_MS);

	for (int i = 0; i < COPIES_MAX; i++)
		if (copies[i].frozen) {		/* the front runs again */
			copies[i].frozen = false;
			copies[i].at_ms = now_ms();
		}
	if (is_of_tree(n->pid))
		return;
	if (copy != NULL && in_group && !is_fresh()) {
		had_with_group(n);
		return;
	}
	if (copy == NULL && is_ending(n->signo)) {
		relay = keep(held, HELD_MAX, n);
		if (in_group && !is_fresh()) {
			if (self.timer[T_HELD] == FOREVER)
				set_timer(T_HELD, HOLD_MS);
			return;
		}
		relay->delivered = true;
	}
	deliver(n);
}

/* T_HELD: no copy came, so the signal was for the front. */
static void
on_held_end(void)
{
	int64_t now = now_ms();

	self.timer[T_HELD] = FOREVER;
	for (int i = 0; i < HELD_MAX; i++) {
		if (!held[i].pending || held[i].delivered)
			continue;
		if (now - held[i].at_ms < HOLD_MS) {
			self.timer[T_HELD] = shorter(self.timer[T_HELD],
			    held[i].at_ms + HOLD_MS);
			continue;
		}
		held[i].delivered = true;
		deliver(&held[i].note);
	}
}

/* Our own copy of a signal. */
static void
on_copy(const struct note *n)
{
	struct seen *copy, *relay = take(held, HELD_MAX, n,
	    now_ms() - WITNESS_MS);

	if (n->pid == self.pid)
		return;		/* our own EPIPE */
	if (is_terminal_stop(n->signo))
		server.tty_stop_ms = now_ms();
	if (relay != NULL) {	/* late, if delivered: no wish of its own */
		if (!relay->delivered)
			had_with_group(n);
		return;
	}
	copy = keep(copies, COPIES_MAX, n);
	copy->frozen = self.front_stops > 0 || is_stopped(self.front, false);
	copy->alone = is_ending(n->signo) && !is_of_tree(n->pid);
	if (copy->alone)
		set_timer(T_ALONE, ALONE_MS);
}

/* Copies that nobody has relayed: the age of the oldest, or -1. */
static int64_t
lone_copy_ms(void)
{
	int64_t oldest = -1;

	for (int i = 0; i < COPIES_MAX; i++)
		if (copies[i].pending && copies[i].alone &&
		    now_ms() - copies[i].at_ms > oldest)
			oldest = now_ms() - copies[i].at_ms;
	return oldest;
}

/* The front has sent all it had; a copy still alone was for us alone. */
static void
on_answer(void)
{
	self.asked = false;
	if (lone_copy_ms() >= ALONE_MS) {
		for (int i = 0; i < COPIES_MAX; i++)
			copies[i].pending = false;
		begin(SUPERVISOR_ASKED);
	} else if (lone_copy_ms() >= 0)
		set_timer(T_ALONE, ALONE_MS);
}

/* T_ALONE: ask the front, which first sends all the signals it has had. */
static void
on_alone(void)
{
	self.timer[T_ALONE] = FOREVER;
	if (self.peer == -1)
		on_answer();
	else if (!self.asked && lone_copy_ms() >= 0) {
		self.asked = true;
		tell_peer(NOTE_ASK, 0);
	}
}

/* --- the supervisor's other events --------------------------------------- */

static void
say_started(void)
{
	char list[LINE_SIZE / 2], every[32];
	bool polled = false;

	if (!opt.verbose && opt.log_fd == -1)
		return;
	for (int i = 0; i < n_owners; i++)
		polled |= owners[i].fd == -1;
	list_owners(list, sizeof(list), OWNER_AGED);
	if (n_owners == 0)
		say(VERBOSE, "server %d started; no owner is watched",
		    (int)server.pid);
	else if (polled)
		say(VERBOSE, "server %d started; owner %s, polled every %s",
		    (int)server.pid, list, seconds(opt.interval_ms, every));
	else
		say(VERBOSE, "server %d started; owner %s, watched by %s",
		    (int)server.pid, list, EXIT_KIND);
}

static void
on_started(void)
{
	char list[256];

	server.exec_ms = now_ms();
	tell_peer(NOTE_STARTED, 0);
	if (self.stderr_shared)
		leave_stderr();
	name_owners();
	say_started();
	list_owners(list, sizeof(list), OWNER_SHORT);
	set_title(list);
	if (self.phase == STARTING)
		enter(RUNNING);
}

static void
on_exec_failed(int error)
{
	siginfo_t si;

	self.status = say_exec_error(error);
	waitid(P_PID, (id_t)server.pid, &si, WEXITED | WNOWAIT);
	server.ended = true;	/* it was at its _exit() */
	enter(OVER);
}

/* The exec pipe: an errno, or its end because the exec closed it. */
static void
on_exec(void)
{
	int error;
	ssize_t n = read(self.exec_fd, &error, sizeof(error));

	if (n == -1)		/* not yet, or read already */
		return;
	close(self.exec_fd);
	self.exec_fd = -1;
	if (n == (ssize_t)sizeof(error))
		on_exec_failed(error);
	else
		on_started();
}

/* T_RESUME: our CONT came before the front's stop.  Again. */
static void
on_resume(void)
{
	self.timer[T_RESUME] = FOREVER;
	if (self.front_stops > 0 && !server.stopped)
		on_server_stop(0);
}

static void
on_server_end(const siginfo_t *si)
{
	server.ended = true;
	self.status = si->si_code == CLD_EXITED ? si->si_status & 0xff :
	    BY_SIGNAL + si->si_status;
	if (self.exec_fd != -1)
		on_exec();	/* its last word comes before its end */
	if (!in_ladder())
		server_ended_itself();
}

/*
 * Whoever ended.  WNOWAIT, so that the server stays and keeps its pid; others
 * are reaped by pid.  Behind the ended server look() reaps.
 */
static void
reap(void)
{
	siginfo_t si;

	self.child = false;
	while (!server.ended) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == -1 ||
		    si.si_pid == 0)
			break;
		if (si.si_pid == server.pid)
			on_server_end(&si);
		else
			waitid(P_PID, (id_t)si.si_pid, &si, WEXITED | WNOHANG);
	}
	reap_stops();
	on_child();
}

/* --- the front ----------------------------------------------------------- */

/*
 * Stop as the server did, so that the host's shell sees it; unless the server
 * runs again by now: a note waits while we are stopped.  In an orphaned group
 * the kernel discards terminal stops (setpgid(2)): we ran on, SIGSTOP stops.
 */
static void
stop_likewise(int signo)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old;

	continued = !is_stopped(server.pid, true);
	if (!continued && signo != SIGSTOP) {
		sigaction(signo, &dfl, &old);
		raise(signo);
		sigaction(signo, &old, NULL);
	}
	if (!continued)
		raise(SIGSTOP);
	tell_peer(NOTE_RESUMED, 0);
}

static void finish(int status) __attribute__((noreturn));

/*
 * End as the server did: the same code, or death by the same signal, without a
 * second core.  Where the signal does not kill: what a shell would report.
 */
static void
finish(int status)
{
	struct rlimit none = { 0, 0 };
	int signo = status - BY_SIGNAL;
	sigset_t set;

	if (status < BY_SIGNAL)
		exit(status);
	setrlimit(RLIMIT_CORE, &none);
	never_dump();
	signal(signo, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signo);
	exit(128 + signo);
}

/* Everything the handlers wrote, before anything a peer wrote. */
static void
drain_signals(void (*on_signal)(const struct note *))
{
	struct note notes[16];
	ssize_t n;

	while ((n = read(self.signals[0], notes, sizeof(notes))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(notes[0]); i++)
			if (notes[i].signo == SIGCHLD)
				self.child = true;	/* forged: harmless */
			else
				on_signal(&notes[i]);
}

static void
front_signal(const struct note *n)
{
	if (n->pid != self.pid)		/* our own EPIPE */
		send_note(n);
}

static void
front_note(const struct note *n)
{
	switch (n->kind) {
	case NOTE_SERVER:
		server.pid = n->pid;
		break;
	case NOTE_STARTED:
		if (self.stderr_shared)
			leave_stderr();
		break;
	case NOTE_LADDER:
		self.reason = (enum reason)n->signo;
		self.early = n->code != 0;
		break;
	case NOTE_STOP:
		stop_likewise(n->signo);
		break;
	case NOTE_ASK:
		drain_signals(front_signal);
		tell_peer(NOTE_ALL, 0);
		break;
	case NOTE_LEAVE:
		tell_peer(NOTE_LEAVE, 0);
		finish(n->signo);
	case NOTE_ENDED:
		while (waitpid(self.supervisor, NULL, 0) == -1 &&
		    errno == EINTR)
			continue;
		finish(n->signo);
	default:	/* not for this side */
		break;
	}
}

/*
 * The supervisor was killed.  The kernel gave us its children and gave the
 * server the stop signal; the same ladder goes on from step 1.
 */
static void
stand_in(void)
{
	struct note notes[8];
	int n;

	/* all that was said; for the pid the child, too, has its say first */
	do {
		n = receive_notes(notes, COUNT(notes),
		    server.pid == 0 ? 0 : MSG_DONTWAIT);
		for (int i = 0; i < n; i++)
			front_note(&notes[i]);
	} while (n > 0 || (n == 0 && server.pid == 0));
	close(self.peer);
	self.peer = -1;
	if (server.pid == 0)
		refuse(NOT_STARTED, "the supervisor was killed before the "
		    "server was started");
	self.role = STANDIN;
	if (!self.adopts && server.fd == -1) {
		say(DEFAULT, "the supervisor %d was killed; server %d can't "
		    "be reached from here", (int)self.supervisor,
		    (int)server.pid);
		finish(final_status());
	}
	n = kernel_told(server.pid);
	if (n != 0)
		server.told_ms = now_ms();
	begin(SUPERVISOR_KILLED);
	if (n == -1)
		set_timer(T_ASK, DROPPED_MS);
	self.child = true;
}

/* No witness any more: what reaches us goes on. */
static void
standin_signal(const struct note *n)
{
	if (!is_of_tree(n->pid))
		deliver(n);
}

/* T_ASK: nobody can tell whether the kernel's signal came; it is still here. */
static void
on_dropped(void)
{
	self.timer[T_ASK] = FOREVER;
	signal_server(opt.signal);
	signal_server(SIGCONT);
}

static void
supervisor_note(const struct note *n)
{
	switch (n->kind) {
	case NOTE_SIGNAL:
		on_relay(n);
		break;
	case NOTE_RESUMED:
		self.front_stops--;
		break;
	case NOTE_ALL:
		on_answer();
		break;
	case NOTE_ORPHAN:
		owners[0].gone = true;
		on_owners();
		break;
	default:	/* not for this side */
		break;
	}
}

/* ======================================================================== */
/* 10 the loop                                                              */
/* ======================================================================== */
/*
 * One for all roles.  What differs is in this table; the order is always:
 * signals, peer, the server, owners, time.  So a real exit status is read
 * before the owner's death of the same moment.
 */
static const struct {
	void (*on_signal)(const struct note *);
	void (*on_note)(const struct note *);
} roles[] = {
	[FRONT] = { front_signal, front_note },
	[SUPERVISOR] = { on_copy, supervisor_note },
	[STANDIN] = { standin_signal, front_note }
};

static void
on_peer(void)
{
	struct note notes[8];
	int n = receive_notes(notes, COUNT(notes), MSG_DONTWAIT);

	for (int i = 0; i < n; i++)
		roles[self.role].on_note(&notes[i]);
	if (n != -1)
		return;
	close(self.peer);
	self.peer = -1;
	self.front_stops = 0;
	if (self.role == SUPERVISOR && !self.alone) {
		begin(FRONT_KILLED);
		leave_stderr();		/* its reader waits for the end of it */
	} else if (self.role == FRONT)
		self.child = true;	/* its end comes next, or came */
}

/* Somebody's child ended: in the front only the supervisor's end matters. */
static void
on_end(void)
{
	siginfo_t si = { .si_pid = 0 };

	self.child = false;
	if (self.role != FRONT) {
		if (is_parent())
			reap();
		return;
	}
	while (self.pid == 1 && waitid(P_ALL, 0, &si, WEXITED | WNOHANG |
	    WNOWAIT) == 0 && si.si_pid != 0 && si.si_pid != self.supervisor) {
		waitid(P_PID, (id_t)si.si_pid, &si, WEXITED | WNOHANG);
		si.si_pid = 0;	/* a container's orphans are its init's */
	}
	si.si_pid = 0;
	if (waitid(P_PID, (id_t)self.supervisor, &si, WEXITED | WNOHANG) == 0 &&
	    si.si_pid != 0)
		stand_in();
}

/* The exec pipe, or the stand-in's exit descriptor of the server. */
static void
on_server_fd(short revents)
{
	if (self.role != STANDIN)
		on_exec();
	else if (exit_fired(server.fd, revents)) {
		server.ended = true;
		on_child();
	}
}

/* Who must be looked at: no exit descriptor, and not gone for good. */
static bool
has_polled_owner(void)
{
	if (self.role == FRONT)
		return !self.listed && n_owners > 0 && owners[0].parent &&
		    !owners[0].gone && owners[0].fd == -1 &&
		    (opt.poll || EXIT_INHERITED);
	for (int i = 0; i < n_owners; i++)
		if (owners[i].fd == -1 && !owners[i].gone &&
		    (self.listed || !owners[i].parent))
			return true;
	return false;
}

/* T_TICK */
static void
on_tick(void)
{
	self.timer[T_TICK] = FOREVER;
	if (self.role == SUPERVISOR)
		on_owners();
	else if (parent_changed(&owners[0])) {
		owners[0].gone = true;		/* said once */
		tell_peer(NOTE_ORPHAN, 0);
	}
}

static void (*const on_timer[TIMERS])(void) = {
	[T_PHASE] = on_phase_end, [T_TICK] = on_tick, [T_HELD] = on_held_end,
	[T_ALONE] = on_alone, [T_LOOK] = on_look, [T_RESUME] = on_resume,
	[T_ASK] = on_dropped
};

static int
next_timeout(void)
{
	int64_t next = FOREVER, left;

	if (self.child)
		return 0;
	if (self.timer[T_TICK] == FOREVER && !in_ladder() && has_polled_owner())
		set_timer(T_TICK, opt.interval_ms);
	for (int i = 0; i < TIMERS; i++)
		next = shorter(next, self.timer[i]);
	if (next == FOREVER)
		return -1;
	left = next - now_ms();
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static void
run_timers(void)
{
	for (int i = 0; i < TIMERS && self.phase != OVER; i++)
		if (self.timer[i] != FOREVER && self.timer[i] <= now_ms())
			on_timer[i]();
}

static void
loop(void)
{
	struct pollfd table[3 + OWNERS_MAX];

	while (self.phase != OVER) {
		bool watch = self.role == SUPERVISOR && !in_ladder();
		bool fired = false;
		int n = 3;

		table[0].fd = self.signals[0];
		table[1].fd = self.peer;
		table[2].fd = self.role == STANDIN ? server.fd : self.exec_fd;
		for (int i = 0; watch && i < n_owners; i++)
			if (!owners[i].gone && owners[i].fd != -1)
				table[n++].fd = owners[i].fd;
		for (int i = 0; i < n; i++) {
			table[i].events = POLLIN;
			table[i].revents = 0;
		}
		if (poll(table, (nfds_t)n, next_timeout()) == -1 &&
		    errno != EINTR) {	/* no memory: look by ourselves */
			poll(NULL, 0, LOOK_MS);
			table[1].revents = POLLIN;
			fired = watch;
		}
		drain_signals(roles[self.role].on_signal);
		if (table[1].revents != 0)
			on_peer();
		if (table[2].revents != 0)
			on_server_fd(table[2].revents);
		if (self.child)
			on_end();
		for (int i = 3; i < n; i++)
			fired |= table[i].revents != 0;
		if (fired)
			on_owners();
		run_timers();
	}
}

/* ======================================================================== */
/* 11 options                                                               */
/* ======================================================================== */

static bool
set_owner_pid(const char *value)
{
	const char *colon = strchr(value, ':');
	size_t len = colon == NULL ? strlen(value) : (size_t)(colon - value);
	uint64_t pid, ticks = 0;

	if (!parse_number(value, len, 1, INT_MAX, &pid) ||
	    (pid_t)pid == self.pid || (colon != NULL &&
	    !parse_number(colon + 1, strlen(colon + 1), 1, UINT64_MAX,
	    &ticks)))
		return false;
	return owner_add((pid_t)pid, ticks) != NULL;
}

static bool
set_any(const char *value)
{
	(void)value;
	return opt.any = true;
}

static bool
set_grace(const char *value)
{
	return parse_duration(value, &opt.grace_ms);
}

static bool
set_kill_after(const char *value)
{
	int64_t ms = FOREVER;

	if (strcmp(value, "inf") != 0 &&
	    (!parse_duration(value, &ms) || ms == 0))
		return false;
	opt.kill_after_ms = ms;
	return opt.kill_given = true;
}

static bool
set_signal(const char *value)
{
	int signo;

	if (!parse_signal(value, &signo) || signo == SIGSTOP ||
	    signo == SIGCONT || is_terminal_stop(signo))
		return false;
	opt.signal = signo;
	return true;
}

/* The place of value in a list of words, or -1. */
static int
word_index(const char *value, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(value, words[i]) == 0)
			return (int)i;
	return -1;
}

static bool
set_scope(const char *value)
{
	static const char *const words[] = {
		[SCOPE_PROCESS] = "process", [SCOPE_SESSION] = "session",
		[SCOPE_TREE] = "tree" };
	int i = word_index(value, words, COUNT(words));

	if (i != -1)
		opt.scope = (enum scope)i;
	return i != -1;
}

static bool
set_leftovers(const char *value)
{
	static const char *const words[] = {
		[LEFTOVERS_STOP] = "stop", [LEFTOVERS_WAIT] = "wait",
		[LEFTOVERS_LEAVE] = "leave" };
	int i = word_index(value, words, COUNT(words));

	if (i != -1)
		opt.leftovers = (enum leftovers)i;
	return i != -1;
}

static bool
set_interval(const char *value)
{
	int64_t ms;

	if (!parse_duration(value, &ms) || ms == 0)
		return false;
	opt.interval_ms = ms;
	return true;
}

static bool
set_poll(const char *value)
{
	(void)value;
	return opt.poll = true;
}

/* O_NONBLOCK: a FIFO without a reader is an error now, no hang later. */
static bool
set_log(const char *value)
{
	int fd = open(value, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NOCTTY | O_NONBLOCK, 0666);

	if (fd == -1)
		return false;
	if (opt.log_fd != -1)
		close(opt.log_fd);
	opt.log_fd = fd;
	return true;
}

static bool
set_quiet(const char *value)
{
	(void)value;
	opt.verbose = false;
	return opt.quiet = true;
}

static bool
set_verbose(const char *value)
{
	(void)value;
	opt.quiet = false;
	return opt.verbose = true;
}

static bool show_help(const char *value);

static bool
show_version(const char *value)
{
	(void)value;
	puts("ownerwrap " VERSION);
	exit(0);
}

/* The one table: getopt, --help, environment, and the tests of the docs. */
static struct option {
	char letter;
	const char *name, *value;	/* value: its name in the help */
	bool owner;			/* replaces every other owner variable */
	bool (*set)(const char *);
	const char *right;		/* what a malformed value should be */
	const char *help;
	const char *from_env;		/* OWNERWRAP_NAME's value, or NULL */
	bool given;
} options[] = {
	{ 'p', "owner-pid", "PID[:START]", true, set_owner_pid,
	    "another process's pid, 1 or more, or PID:START with its start "
	    "time in ticks; 64 owners at most",
	    "owner by pid; repeatable (default: the parent)", NULL, false },
	{ 0, "any", NULL, false, set_any, NULL,
	    "orphaned when any owner is gone (when all are)", NULL,
	    false },
	{ 'g', "grace", "SECONDS", false, set_grace,
	    "a duration: 2, 0.25, 500ms, 3s, 30m, 1h; 0 = at once",
	    "from the owner's death to the stop signal (2)", NULL, false },
	{ 'k', "kill-after", "SECONDS", false, set_kill_after,
	    "a duration: 5, 0.25, 500ms, 3s, 30m, 1h, or inf = never; to force "
	    "at once write --signal KILL",
	    "from the stop signal to SIGKILL; inf = never (5)", NULL, false },
	{ 's', "signal", "SIGNAL", false, set_signal,
	    "a signal's name or number that ends a process (not STOP, CONT, "
	    "TSTP, TTIN, TTOU)",
	    "the stop signal (TERM)", NULL, false },
	{ 0, "scope", "SCOPE", false, set_scope,
	    "process, session or tree",
	    "process, session or tree: daemons, too (session)", NULL,
	    false },
	{ 0, "leftovers", "WHAT", false, set_leftovers,
	    "stop, wait or leave",
	    "stop, wait or leave what it leaves (stop)", NULL,
	    false },
	{ 'i', "interval", "SECONDS", false, set_interval,
	    "a duration of 1ms or more: 1, 0.25, 500ms, 3s, 30m, 1h",
	    "how often to look without notification (1)", NULL,
	    false },
	{ 0, "poll", NULL, false, set_poll, NULL,
	    "no kernel notification: look every interval", NULL, false },
	{ 0, "log", "PATH", false, set_log,
	    "a file that can be opened for writing",
	    "append every message, as under -v, to PATH", NULL, false },
	{ 'q', "quiet", NULL, false, set_quiet, NULL,
	    "only a refused start is said on stderr", NULL, false },
	{ 'v', "verbose", NULL, false, set_verbose, NULL,
	    "say who owns the server, and each relay", NULL, false },
	{ 'h', "help", NULL, false, show_help, NULL,
	    "show this", NULL, false },
	{ 'V', "version", NULL, false, show_version, NULL,
	    "show the version", NULL, false }
};

static bool
show_help(const char *value)
{
	(void)value;
	printf("usage: ownerwrap [options] [--] command [argument ...]\n"
	    "Run command as a server whose life is tied to its owner's.\n\n");
	for (size_t i = 0; i < COUNT(options); i++) {
		const struct option *o = &options[i];
		char both[40];

		snprintf(both, sizeof(both), "--%s%s%s", o->name,
		    o->value ? " " : "", o->value ? o->value : "");
		printf("  %c%c%c %-24s %s\n", o->letter ? '-' : ' ',
		    o->letter ? o->letter : ' ', o->letter ? ',' : ' ', both,
		    o->help);
	}
	printf("\nDurations: 2, 0.25, 500ms, 3s, 30m, 1h.  An option with a value "
	    "can be given as\nOWNERWRAP_NAME; OWNERWRAP=off runs the command "
	    "alone.  Exit status: the\nserver's; 124 no owner; 125 not started; "
	    "126 can't be executed; 127 not found.\n");
	exit(0);
}

static const char usage[] =
    "usage: ownerwrap [options] [--] command [argument ...], or --help";

static struct option *
option_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (strlen(options[i].name) == len &&
		    strncmp(options[i].name, name, len) == 0)
			return &options[i];
	return NULL;
}

static struct option *
option_by_letter(char letter)
{
	for (size_t i = 0; letter != '\0' && i < COUNT(options); i++)
		if (options[i].letter == letter)
			return &options[i];
	return NULL;
}

/*
 * The options are read three times: where is the command; which messages go
 * where; then the rest, whose messages may already need both.
 */
enum pass { FIND, MESSAGES, REST };

static bool
is_for(const struct option *o, enum pass pass)
{
	bool early = o->set == set_log || o->set == set_quiet ||
	    o->set == set_verbose;

	return pass != FIND && (pass == MESSAGES) == early;
}

static void
apply_option(struct option *o, const char *spelling, const char *value,
    enum pass pass)
{
	if (o->value != NULL && value == NULL)
		refuse(NOT_STARTED, "%s: needs a value: %s", spelling,
		    o->right);
	if (!is_for(o, pass))
		return;
	o->given = true;
	if (!o->set(value))
		refuse(NOT_STARTED, "%s %s: must be %s", spelling, value,
		    o->right);
}

/* -v, -vp4711, -vp 4711; returns how many words it took. */
static int
parse_cluster(char **argv, enum pass pass)
{
	for (const char *at = argv[0] + 1; *at != '\0'; at++) {
		struct option *o = option_by_letter(*at);
		char spelling[3] = { '-', *at, '\0' };

		if (o == NULL)
			refuse(NOT_STARTED, "unknown option %s (%s)", spelling,
			    usage);
		if (o->value == NULL) {
			apply_option(o, spelling, NULL, pass);
			continue;
		}
		apply_option(o, spelling, at[1] ? at + 1 : argv[1], pass);
		return at[1] ? 1 : 2;
	}
	return 1;
}

/* --name, --name=value, --name value; returns how many words it took. */
static int
parse_long(char **argv, enum pass pass)
{
	const char *name = argv[0] + 2;
	size_t len = strcspn(name, "=");
	struct option *o = option_by_name(name, len);
	char spelling[32];

	if (o == NULL)
		refuse(NOT_STARTED, "unknown option --%.*s (%s)", (int)len,
		    name, usage);
	snprintf(spelling, sizeof(spelling), "--%s", o->name);
	if (o->value == NULL && name[len] == '=')
		refuse(NOT_STARTED, "%s: takes no value", spelling);
	if (o->value == NULL || name[len] == '=') {
		apply_option(o, spelling, o->value == NULL ? NULL :
		    name + len + 1, pass);
		return 1;
	}
	apply_option(o, spelling, argv[1], pass);
	return 2;
}

/* Up to the first operand: the command, NULL if there is none. */
static char **
parse_options(char **argv, enum pass pass)
{
	while (*argv != NULL && (*argv)[0] == '-' && (*argv)[1] != '\0') {
		if (strcmp(*argv, "--") == 0)
			return argv[1] == NULL ? NULL : argv + 1;
		argv += (*argv)[1] == '-' ? parse_long(argv, pass) :
		    parse_cluster(argv, pass);
	}
	return *argv == NULL ? NULL : argv;
}

static bool
is_off(const char *value)
{
	static const char *const words[] = { "off", "0", "no", "false" };

	for (size_t i = 0; value != NULL && i < COUNT(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/* OWNERWRAP_KILL_AFTER=... to kill-after's entry. */
static void
take_variable(const char *variable)
{
	char name[32];
	const char *value = strchr(variable, '=');
	size_t len = value == NULL ? 0 : (size_t)(value - variable);
	struct option *o;

	if (len == 0 || len >= sizeof(name))
		return;
	for (size_t i = 0; i < len; i++)
		name[i] = variable[i] == '_' ? '-' :
		    isupper((unsigned char)variable[i]) ?
		    (char)tolower((unsigned char)variable[i]) : '?';
	o = option_by_name(name, len);
	if (o != NULL && o->value != NULL && value[1] != '\0')
		o->from_env = value + 1;
}

/* One pass: our variables out, LISTEN_PID and WATCHDOG_PID to the server. */
static void
read_environment(void)
{
	char **to = environ, listen[32], watchdog[32];
	bool listening = false;

	snprintf(listen, sizeof(listen), "LISTEN_PID=%d", (int)self.pid);
	snprintf(watchdog, sizeof(watchdog), "WATCHDOG_PID=%d", (int)self.pid);
	for (char **from = environ; *from != NULL; from++)
		listening |= strcmp(*from, listen) == 0;
	for (char **from = environ; *from != NULL; from++) {
		if (strncmp(*from, "OWNERWRAP_", 10) == 0) {
			take_variable(*from + 10);
			continue;
		}
		if (listening && strncmp(*from, "LISTEN_PIDFDID=", 15) == 0)
			continue;
		*to = *from;
		if (listening && strcmp(*from, listen) == 0) {
			names_listener = true;
			*to = listen_pid;
		} else if (strcmp(*from, watchdog) == 0) {
			names_watchdog = true;
			*to = watchdog_pid;
		}
		to++;
	}
	*to = NULL;
}

/* What no option has said; a malformed variable is a line and the default. */
static void
apply_environment(enum pass pass)
{
	bool owner_given = false;

	for (size_t i = 0; i < COUNT(options); i++)
		owner_given |= options[i].owner && options[i].given;
	for (size_t i = 0; i < COUNT(options); i++) {
		struct option *o = &options[i];

		if (o->from_env == NULL || o->given || !is_for(o, pass) ||
		    (o->owner && owner_given) || o->set(o->from_env))
			continue;
		char name[32];
		size_t n = strlen(o->name);

		for (size_t j = 0; j <= n; j++)
			name[j] = o->name[j] == '-' ? '_' :
			    (char)toupper((unsigned char)o->name[j]);
		say(DEFAULT, "OWNERWRAP_%s=%s: ignored, must be %s", name,
		    o->from_env, o->right);
	}
}

/* OWNERWRAP=off: as if ownerwrap were not there. */
static void
run_alone(void)
{
	execvp(opt.command[0], opt.command);
	exit(say_exec_error(errno));
}

/* ======================================================================== */
/* 12 main                                                                  */
/* ======================================================================== */

static void
parse(char **argv)
{
	static char name[64];
	const char *slash;

	opt.command = parse_options(argv + 1, FIND);
	if (opt.command != NULL) {	/* a copy: the title overwrites argv */
		slash = strrchr(opt.command[0], '/');
		snprintf(name, sizeof(name), "%s",
		    slash == NULL ? opt.command[0] : slash + 1);
		opt.name = name;
		if (is_off(getenv("OWNERWRAP")))
			run_alone();
	}
	read_environment();
	for (enum pass pass = MESSAGES; pass <= REST; pass++) {
		parse_options(argv + 1, pass);
		apply_environment(pass);
	}
	if (opt.command == NULL)
		refuse(NOT_STARTED, "no command (%s)", usage);
}

/*
 * Fill 0 to 2 where they are closed, so that nothing of ours lands there; the
 * exec closes them again.  Done before any other descriptor is opened.
 */
static void
reserve_descriptors(void)
{
	self.stderr_taken = true;
	do {
		self.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (self.null_fd == -1 && errno != EMFILE && errno != ENFILE)
			self.null_fd = open("/", O_RDONLY | O_CLOEXEC);
		if (self.null_fd == STDERR_FILENO)
			self.stderr_taken = false;
	} while (self.null_fd != -1 && self.null_fd <= STDERR_FILENO);
	if (self.null_fd == -1)
		refuse(NOT_STARTED, "5 free descriptors are needed: %s",
		    strerror(errno));
}

/* Is fd 2 the pipe or socket of 0 or 1, so the protocol's? */
static bool
shares_stderr(void)
{
	struct stat two, other;

	if (fstat(STDERR_FILENO, &two) == -1 ||
	    (!S_ISFIFO(two.st_mode) && !S_ISSOCK(two.st_mode)))
		return false;
	for (int fd = 0; fd < STDERR_FILENO; fd++)
		if (fstat(fd, &other) == 0 && other.st_dev == two.st_dev &&
		    other.st_ino == two.st_ino)
			return true;
	return false;
}

/* What must be known of the world before anything is forked. */
static void
look_around(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	self.listed = proc_usable();
	self.stderr_shared = shares_stderr();
	self.tty = fd != -1;
	if (fd != -1) {
		self.tty_saved = tcgetattr(fd, &self.termios) == 0;
		close(fd);
	}
	self.own_group = !self.listed && !self.tty &&
	    opt.scope != SCOPE_PROCESS;
}

static void
refuse_missing_owners(void)
{
	char list[LINE_SIZE / 2];

	list_owners(list, sizeof(list), OWNER_GONE_ONES);
	refuse(NO_OWNER, "owner %s is not there: not started "
	    "(ended, or in another pid namespace)", list);
}

static void
open_owners(void)
{
	if (n_owners == 0 && getppid() == 0)
		say(self.pid == 1 ? VERBOSE : DEFAULT, "the parent is not "
		    "visible from here (another pid namespace): "
		    "the server runs unwatched");
	else if (n_owners == 0)
		default_owner();
	else
		for (int i = 0; i < n_owners; i++)
			owner_open(&owners[i]);
	if (orphaned())
		refuse_missing_owners();
}

/*
 * Self-pipe and socketpair.  Where owners took the last descriptors they are
 * polled instead.
 */
static void
open_channels(int pair[2])
{
	for (int tries = 0; ; tries++) {
		if (pipe_cloexec(self.signals, O_NONBLOCK) == 0) {
			if (pair_cloexec(pair) == 0)
				return;
			close(self.signals[0]);
			close(self.signals[1]);
		}
		if (tries > 0 || (errno != EMFILE && errno != ENFILE))
			refuse(NOT_STARTED, "5 free descriptors are needed: "
			    "%s", strerror(errno));
		for (int i = 0; i < n_owners; i++)
			if (owners[i].fd != -1) {
				close(owners[i].fd);
				owners[i].fd = -1;
				owners[i].gone = owner_gone(&owners[i]);
			}
	}
}

/* kqueue: descriptors are opened here, so the owners are asked once more. */
static void
rearm_owners(void)
{
	for (int i = 0; !EXIT_INHERITED && !opt.poll && i < n_owners; i++) {
		owners[i].fd = exit_open(owners[i].pid);
		owners[i].gone |= owners[i].fd == -1 ? errno == ESRCH :
		    gone_by_number(&owners[i]);
	}
}

static void supervise(void) __attribute__((noreturn));

/* The last words: the status, the server's pid given back, CONT. */
static void
conclude(void)
{
	siginfo_t si;

	tell_peer(NOTE_ENDED, final_status());
	if (server.pid != 0)	/* D state: it is not waited for */
		waitid(P_PID, (id_t)server.pid, &si,
		    WEXITED | (server.ended ? 0 : WNOHANG));
	if (self.peer != -1 && getppid() == self.front)
		send_signal(self.front, SIGCONT);
}

/* The supervisor's life.  All signals are blocked until its own pipe stands. */
static void
supervise(void)
{
	int fd[2];

	self.role = SUPERVISOR;
	self.pid = self.supervisor = getpid();
	self.adopts = opt.scope != SCOPE_PROCESS && adopt_orphans() == 0;
	close(self.signals[0]);
	close(self.signals[1]);
	rearm_owners();
	if (pipe_cloexec(fd, O_NONBLOCK) == -1 ||
	    (server.pid = fork()) == -1) {
		say(REFUSED, "the server can't be forked: %s", strerror(errno));
		server.pid = 0;
		self.status = NOT_STARTED;
		conclude();
		exit(0);
	}
	if (server.pid == 0)
		become_server(fd[1], self.pid);
	close(fd[1]);
	self.exec_fd = fd[0];
	if (pipe_cloexec(self.signals, O_NONBLOCK) == -1) {
		say(REFUSED, "no descriptors: %s", strerror(errno));
		send_signal(server.pid, SIGKILL);	/* ENFILE */
		exit(NOT_STARTED);
	}
	drop_inherited();
	name_process("ow-supervisor");
	self.phase = STARTING;
	unblock_signals();
	loop();
	conclude();
	exit(0);
}

/* May the front adopt, too?  Not if an exec'd shell left it children. */
static bool
may_adopt(void)
{
	siginfo_t si;

	return opt.scope != SCOPE_PROCESS && waitid(P_ALL, 0, &si,
	    WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == -1 &&
	    errno == ECHILD && adopt_orphans() == 0;
}

static void
start_supervisor(int pair[2])
{
	self.front = self.pid;
	self.adopts = self.front_adopts = may_adopt();
	self.supervisor = fork();
	if (self.supervisor == -1)
		refuse(NOT_STARTED, "the supervisor can't be forked: %s",
		    strerror(errno));
	self.peer = pair[self.supervisor == 0];
	close(pair[self.supervisor != 0]);
	if (self.supervisor == 0)
		supervise();
	self.phase = RUNNING;
	drop_inherited();
	unblock_signals();
}

int
main(int argc, char **argv)
{
	int pair[2];

	for (int i = 0; i < TIMERS; i++)
		self.timer[i] = FOREVER;
	self.pid = getpid();
	self.sid = getsid(0);
	find_title_room(argc, argv);
	reserve_descriptors();
	parse(argv);
	look_around();
	open_owners();
	open_channels(pair);
	catch_signals();
	start_supervisor(pair);
	loop();
	conclude();
	finish(final_status());
}
