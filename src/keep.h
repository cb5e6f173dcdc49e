/* keep: no owner left, may the server stay? */
#pragma once

#include "values.h"

/*
 * Keepers are asked every interval while no owner is left.  They are through
 * when all said no at every look of one whole grace, the last at its end.
 */
enum answer {			/* bits; none: T_KEEP comes again */
	FIRST_NO = 1,		/* not kept any more */
	THROUGH = 2,
	ASK = 4			/* nobody is being asked */
};

void begin_asking(void);

/* The grace is over, one way or the other; ours: the child is ours. */
void stop_asking(bool ours);

/* T_KEEP.  After a freeze nobody could have answered: their time once more. */
int keepers_time(void);
int ask_keepers(int (*again)(void));

/* Was it kept until now?  Said once. */
bool was_kept(void);

/* The command's process, which leads its group; 0: it does not run. */
pid_t keeper_pid(void);
bool end_keeper(void);
int reap_keeper(void);

/* A stand-in ends what the supervisor has left: *will has its number. */
void meet_keeper(pid_t pid, volatile pid_t *will);

/* The command and its environment, before the title overwrites both. */
void save_environment(pid_t server, volatile pid_t *will);
