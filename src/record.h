/* record: every signal of ours */
#pragma once

#include "values.h"

/*
 * By number.  A group only if it is one we made; never everybody, ourselves,
 * the host's group: EINVAL.
 */
int send_signal(pid_t pid, int signo);

/* Those that may be signalled, by -group. */
void group_made(pid_t group);
void group_gone(pid_t group);

/* By its exit descriptor, if that is one. */
int signal_behind(int fd, pid_t pid, int signo);

#define HAD_MS		5000	/* a stop signal so recent is not repeated */

/* Did the stop signal of that time count, or is it too long ago? */
bool still_counts(int64_t when_ms);
