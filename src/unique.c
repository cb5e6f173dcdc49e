/* unique: one server per owner */
#include "unique.h"

#include "files.h"
#include "opt.h"
#include "os.h"
#include "owner.h"
#include "record.h"
#include "say.h"

/*
 * The locks are on bytes, since the kernel tells who has one (fcntl(2),
 * F_GETLK).  A front has the first, its supervisor the second, and the newest
 * of those who wait the third.  Who has the first two may start: a front lets
 * go of the second for its supervisor, which has it before there is a server.
 */
enum { FRONT_BYTE, SUPERVISOR_BYTE, NEWEST_BYTE };

#define ASK_AGAIN_MS	1000	/* a request to stop can be lost among others */

static char unique_path[PATH_MAX];

static struct {		/* --unique */
	int fd;			/* one only: any close() ends the locks */
	bool newest;
	pid_t asked;		/* to end */
	int64_t asked_ms;
} unique = { .fd = -1 };

void
find_unique(void)
{
	char lock[32];

	snprintf(lock, sizeof(lock), ".%016jx.lock",
	    (uintmax_t)hash_owners());
	find_path(opt->unique, lock, unique_path, sizeof(unique_path));
}

static bool
lock_bytes(int type, int from, int n)
{
	struct flock l = { .l_type = (short)type, .l_whence = SEEK_SET,
	    .l_start = from, .l_len = n };

	if (fcntl(unique.fd, F_SETLK, &l) == 0)
		return true;
	if (errno != EAGAIN && errno != EACCES)
		refuse(NOT_STARTED, "lock %s: %s", unique_path,
		    strerror(errno));
	return false;
}

/* 0: nobody. */
static pid_t
locker_of(int byte)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
	    .l_start = byte, .l_len = 1 };

	return fcntl(unique.fd, F_GETLK, &l) == -1 || l.l_type == F_UNLCK ? 0 :
	    l.l_pid > 0 ? l.l_pid : -1;
}

/* Has the front that pid is, or that its parent is, begun after us? */
static bool
is_newer(pid_t pid, int byte)
{
	struct proc us, it;

	if (proc_stat(getpid(), &us) == -1 || proc_stat(pid, &it) == -1 ||
	    (byte == SUPERVISOR_BYTE && !step_up(&it)))
		return false;
	return it.ticks == us.ticks ? it.pid > us.pid : it.ticks > us.ticks;
}

/*
 * TERM to a supervisor alone is a request to stop (by the kernel's word it is
 * the one); one who waits ends by it.  Asked again, should it be lost among
 * others.
 */
static void
ask_older(int byte)
{
	pid_t pid = locker_of(byte);
	char who[64];
	int fd;

	if (pid == 0 || (pid == unique.asked &&
	    now_ms() - unique.asked_ms < ASK_AGAIN_MS))
		return;
	if (pid == -1)
		refuse(NOT_STARTED, "%s: held by a process that is not visible "
		    "from here", unique_path);
	label_of(pid, who);	/* once told it may be gone */
	if (is_above_us(pid))
		refuse(NOT_STARTED, "%s: held by %s, below which this one was "
		    "started", unique_path, who);
	if (is_newer(pid, byte))
		refuse(NOT_STARTED, "%s: %s is newer", unique_path, who);
	fd = exit_open(pid);
	if (locker_of(byte) == pid && signal_behind(fd, pid, SIGTERM) == 0) {
		if (pid != unique.asked)
			say(VERBOSE, "the older %s is asked to stop", who);
		unique.asked = pid;
		unique.asked_ms = now_ms();
	}
	if (fd != -1)
		close(fd);
}

bool
take_turn(void)
{
	if (unique.fd == -1)
		unique.fd = survive(open_lock(unique_path, O_CREAT));
	if (!unique.newest)
		unique.newest = lock_bytes(F_WRLCK, NEWEST_BYTE, 1);
	if (!unique.newest || !lock_bytes(F_WRLCK, FRONT_BYTE, 2)) {
		ask_older(unique.newest ? SUPERVISOR_BYTE : NEWEST_BYTE);
		return false;
	}
	if (is_lock(unique.fd, unique_path))
		return lock_bytes(F_UNLCK, SUPERVISOR_BYTE, 2);
	close(unique.fd);
	unique.fd = -1;
	return unique.newest = false;
}

bool
keep_turn(void)
{
	return unique.fd == -1 || lock_bytes(F_WRLCK, SUPERVISOR_BYTE, 1);
}

pid_t
newest_waiter(void)
{
	return unique.fd == -1 ? 0 : locker_of(NEWEST_BYTE);
}

void
release_unique(void)
{
	if (unique.fd != -1 && is_lock(unique.fd, unique_path) &&
	    locker_of(NEWEST_BYTE) == 0)
		unlink(unique_path);
}
