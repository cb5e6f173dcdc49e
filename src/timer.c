/* timer: one moment each */
#include "timer.h"

#include "os.h"

static int64_t timers[TIMERS];

void
stop_timers(void)
{
	for (int i = 0; i < TIMERS; i++)
		timers[i] = FOREVER;
}

void
set_timer(enum timer t, int64_t ms)
{
	timers[t] = ms == FOREVER ? FOREVER : now_ms() + ms;
}

void set_due(enum timer t, int64_t when_ms) { timers[t] = when_ms; }
int64_t due(enum timer t) { return timers[t]; }
bool is_late(enum timer t) { return now_ms() - timers[t] > LATE_MS; }
