/* stops: ^Z, both ways */
#include "stops.h"

#include "os.h"

static const int job[] = { SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU };
static struct sigaction job_were[COUNT(job)];
static sigset_t mask_was;

void
raise_plainly(int signo)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old;
	sigset_t set, mask;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigaction(signo, &dfl, &old);
	kill(getpid(), signo);	/* musl's raise() holds signals back */
	change_mask(SIG_UNBLOCK, &set, &mask);
	change_mask(SIG_SETMASK, &mask, NULL);
	sigaction(signo, &old, NULL);
}

void
act_at_once(const struct sigaction *sa)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(job); i++) {
		sigaction(job[i], NULL, &job_were[i]);
		if (sa->sa_handler != SIG_DFL || !was_ignored(job[i]))
			sigaction(job[i], sa, NULL);
		sigaddset(&set, job[i]);
	}
	change_mask(SIG_UNBLOCK, &set, &mask_was);
}

void
act_as_before(void)
{
	change_mask(SIG_SETMASK, &mask_was, NULL);
	for (size_t i = 0; i < COUNT(job); i++)
		sigaction(job[i], &job_were[i], NULL);
}
