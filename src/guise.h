/* guise: what a command line says of a process */
#pragma once

#include "os.h"

#define ARGS_SIZE	4096	/* of a parent's command line: its options */

/*
 * The kernel's name, of which it has 15 bytes, the basename of argv[0] or of a
 * title's first word, or that of the script that an interpreter runs.
 */
bool is_called(const struct proc *p, const char *name);

enum link {
	STAYS,		/* an owner like any other */
	READS,		/* the same, a shell that reads commands */
	WAITS,		/* a launcher */
	COMMAND		/* a shell with -c */
};

/* What pid is, between a server and its owner. */
enum link link_of(pid_t pid);
