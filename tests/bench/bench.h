/* What the benchmark and the server it starts share: the word between them. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum word {
	BEGUN = 1,	/* first instruction of main */
	READY,		/* the handlers stand; a tree: all of it is there */
	TERMED,		/* first instruction of TERM's handler */
	USED		/* ... of USR1's */
};

/* Written at once to standard output, a pipe. */
struct record {
	int64_t ns;	/* CLOCK_MONOTONIC */
	int32_t pid;
	int32_t word;
};

static inline int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#endif
