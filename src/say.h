/* say: messages */
#pragma once

#include "values.h"

#define LINE_SIZE	1024	/* of a message; at most PIPE_BUF where it */
				/* matters, so that lines do not mix */

#define NO_OWNER	124
#define NOT_STARTED	125
#define NOT_EXECUTABLE	126
#define NOT_FOUND	127
#define BY_SIGNAL	256	/* the status of a death by n: BY_SIGNAL + n */

enum level { VERBOSE, DEFAULT, ORPHANED, REFUSED };

/* One line. */
void say(enum level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Nothing is started: one line and a status of our own. */
void refuse(int status, const char *fmt, ...)
    __attribute__((__noreturn__, format(printf, 2, 3)));

/* Names are other people's bytes: no line break, no escape sequence. */
void make_harmless(char *text, int n);

/* stderr is fd from now on, where nobody reads: what was there is not ours. */
void leave_stderr(int fd);

/* For messages: less than a millisecond is one, since "after 0s" is not so. */
int64_t passed_ms(int64_t since_ms);

/* 4711 (nvim), or 4711 if its name is not known. */
const char *label(pid_t pid, const char *name, char buf[64]);
const char *label_of(pid_t pid, char buf[64]);
