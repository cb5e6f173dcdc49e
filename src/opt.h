/* opt: what was asked for; written by the options once, then read only */
#pragma once

#include "values.h"

#include <regex.h>

#define OWNERS_MAX	64	/* that can be named */
#define PORTS_MAX	64
#define SWEEPS_MAX	64

enum scope { SCOPE_SESSION, SCOPE_PROCESS, SCOPE_TREE };
enum leftovers { LEFTOVERS_STOP, LEFTOVERS_WAIT, LEFTOVERS_LEAVE };

struct opt {
	/* what was asked for */
	char **command;
	const char *name;		/* basename of the command */
	int64_t grace_ms, kill_after_ms, interval_ms, max_idle_ms;
	uint16_t ports[PORTS_MAX];	/* --keep-connected: only these */
	int n_ports;			/* 0 = all */
	int signal;
	int scope, leftovers;		/* an enum scope, an enum leftovers */
	const char *keep_if, *share, *unique;
	const char *sweeps[SWEEPS_MAX];
	int n_sweeps;
	bool find_orphans;
	regex_t orphans;
	bool keep_connected, kill_given;
	bool any, poll, quiet, verbose;
	int log_fd;
};

extern const struct opt *const opt;
