/* orphans: servers that others have left */
#pragma once

#include "values.h"

/* How many there are, each a message or a line of a list; -1: nobody knows. */
int find_orphans(pid_t front, bool list);

/* --orphans without a command; the statuses are those of grep. */
int list_orphans(void);
