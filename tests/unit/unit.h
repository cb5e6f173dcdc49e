/*
 * unit: what the tests of a single room share.  Such a program is linked with
 * its room and with values; what the room calls beside that, it has itself, so
 * that only the test decides what the system says.
 */
#ifndef UNIT_H
#define UNIT_H

#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN	20	/* of the failures; the others are alike */

static int checks, failures;

/* What of, the case: what an expression has to be; a text by CHECK_TEXT. */
#define CHECK(of, got, want)						\
	check(__FILE__, __LINE__, of, #got, (intmax_t)(got), (intmax_t)(want))
#define CHECK_TEXT(of, got, want)					\
	check_text(__FILE__, __LINE__, of, #got, got, want)

static inline void
check(const char *file, int line, const char *of, const char *what,
    intmax_t got, intmax_t want)
{
	checks++;
	if (got == want || failures++ >= SHOWN)
		return;
	printf("%s:%d: '%s': %s is %jd, expected %jd\n", file, line, of, what,
	    got, want);
}

static inline void
check_text(const char *file, int line, const char *of, const char *what,
    const char *got, const char *want)
{
	checks++;
	if (strcmp(got, want) == 0 || failures++ >= SHOWN)
		return;
	printf("%s:%d: '%s': %s is '%s', expected '%s'\n", file, line, of,
	    what, got, want);
}

/* For main() to return. */
static inline int
report(void)
{
	printf("%d checks, %d failed\n", checks, failures);
	return failures != 0;
}

#endif
