/* no_exit: nothing tells of the end of a process that is no child: polling */
#include "os.h"

#if defined(OWNERWRAP_PLATFORM_POSIX) || !(defined(__linux__) || \
    defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || \
    defined(__OpenBSD__) || defined(__DragonFly__))

const char exit_kind[] = "polling";
const bool exit_inherited = true;

int
exit_open(pid_t pid)
{
	(void)pid;
	errno = ENOSYS;
	return -1;
}

bool
exit_fired(int fd, short revents)
{
	(void)fd, (void)revents;
	return false;
}

int
queue_signal(pid_t pid, int signo, union sigval value)
{
	return sigqueue(pid, signo, value);
}

#endif
