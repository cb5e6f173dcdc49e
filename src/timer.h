/* timer: one moment each, on the clock of now_ms() */
#pragma once

#include "values.h"

enum timer {
	T_PHASE,	/* grace, step: its time is over */
	T_TICK,		/* owners without an exit descriptor */
	T_HELD,		/* a relay has waited for its copy */
	T_ALONE,	/* a copy has waited for its relay */
	T_LOOK,		/* look who is left */
	T_RESUME,	/* the front should have said NOTE_RESUMED */
	T_ASK,		/* the kernel's death signal may have been dropped */
	T_KEEP,		/* ask the keepers, or: --keep-if hangs */
	T_TRY,		/* try again to start, to attach, or to accept */
	T_IDLE,		/* look whether something happens in the server */
	TIMERS
};

/* In ms from now; FOREVER stops it. */
void set_timer(enum timer t, int64_t ms);
void set_due(enum timer t, int64_t when_ms);
void stop_timers(void);

/* When, or FOREVER. */
int64_t due(enum timer t);

#define LATE_MS		1000	/* a wake-up so late was a freeze, not a wait */

/* By more than a freeze allows: nothing that was waited for could run. */
bool is_late(enum timer t);
