/* record: every signal of ours */
#include "record.h"

#include "opt.h"
#include "os.h"

static pid_t groups[2];		/* the server's, and that of --keep-if */

void
group_made(pid_t group)
{
	groups[groups[0] != 0] = group;
}

void
group_gone(pid_t group)
{
	groups[groups[0] != group] = 0;
}

static bool
may_signal(pid_t pid)
{
	return pid > 1 ? pid != getpid() :
	    pid < -1 && (pid == -groups[0] || pid == -groups[1]);
}

int
send_signal(pid_t pid, int signo)
{
	errno = EINVAL;
	return may_signal(pid) ? kill(pid, signo) : -1;
}

int
signal_behind(int fd, pid_t pid, int signo)
{
	if (fd != -1 && exit_signal(fd, signo) == 0)
		return 0;
	return fd != -1 && errno == ESRCH ? -1 : send_signal(pid, signo);
}

bool
still_counts(int64_t when_ms)
{
	return when_ms != 0 &&
	    now_ms() - when_ms < shorter(opt->kill_after_ms, HAD_MS);
}
