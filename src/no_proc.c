/* no_proc: systems whose processes can't be looked up, as far as we know */
#include "os.h"

#if defined(OWNERWRAP_PLATFORM_POSIX) || \
    !(defined(__linux__) || defined(__APPLE__))

const char syslog_path[] = "/dev/log";

int
proc_stat(pid_t pid, struct proc *p)
{
	(void)pid, (void)p;
	return -1;
}

ssize_t
proc_args(pid_t pid, char *buf, size_t size)
{
	(void)pid, (void)buf, (void)size;
	return -1;
}

int64_t
proc_age_ms(uint64_t ticks)
{
	(void)ticks;
	return 0;
}

#endif
