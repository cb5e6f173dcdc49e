/*
 * values: lists, words, numbers, durations, signals; and the headers that most
 * files need.  Every file includes this one first.
 */
#pragma once

#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include <sys/stat.h>
#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

extern char **environ;	/* environ(7) */

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct list {			/* elements of one size; grows, never shrinks */
	void *at;
	size_t n, room;
};

/* A new element of zeros at the end of l, NULL and errno if no memory. */
void *list_add(struct list *l, size_t size);

/* One more word in a list that may be cut. */
void add_word(char *list, size_t size, const char *separator, const char *word);

/* Is word one of list's, which blanks part, but for a suffix of these? */
bool is_listed(const char *list, const char *word, size_t len,
    const char *suffix);

/* A plain hash, of x as well: multiply and fold. */
uint64_t mix(uint64_t hash, uint64_t x);

const char *base_name(const char *path);

/* A decimal number in lo..hi and nothing else: no sign, no space. */
bool parse_number(const char *s, size_t len, uint64_t lo, uint64_t hi,
    uint64_t *value);

/* Times are in milliseconds, of a clock that only goes forward. */
#define FOREVER		INT64_C(-1)

int64_t shorter(int64_t a, int64_t b);

/* A part of a millisecond counts as one, so that 0 is always meant. */
bool parse_duration(const char *s, int64_t *ms);

/* 2s, 0.25s */
const char *seconds(int64_t ms, char buf[32]);

/* up 45s, up 31m, up 2h03m */
const char *age(int64_t ms, char buf[32]);

/* TERM, or "signal 99" in buf. */
const char *signal_name(int signo, char buf[16]);

/* TERM, SIGTERM, sigterm, or a number below end. */
bool parse_signal(const char *s, int end, int *signo);

bool is_terminal_stop(int signo);

/* TERM, INT, HUP, QUIT: what ends a server, so worth the wait for a copy. */
bool is_ending(int signo);
