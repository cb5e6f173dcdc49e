/* darwin: macOS tells of processes by sysctl */
#include "os.h"

#ifdef __APPLE__

#include <sys/sysctl.h>

const char syslog_path[] = "/var/run/syslog";

/* Of one process; the start time stands in for the ticks. */
int
proc_stat(pid_t pid, struct proc *p)
{
	int mib[4] = { CTL_KERN, KERN_PROC, KERN_PROC_PID, pid };
	struct kinfo_proc k;
	size_t len = sizeof(k);

	if (sysctl(mib, 4, &k, &len, NULL, 0) == -1 || len == 0)
		return -1;	/* 0: no such process */
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
ssize_t
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

int64_t
proc_age_ms(uint64_t ticks)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000) - (int64_t)(ticks / 1000);
}

#endif
