/* find_owner: by descriptor, by name, the parent through launchers */
#pragma once

#include "os.h"

/*
 * The owner behind fd; false if it is none.  Ours are CLOEXEC, so one that is
 * can't have been inherited.  The server gets only 0, of which we keep a copy.
 */
bool own_by_fd(int fd);

/* To be looked for when all are opened; false: there are too many. */
bool owner_name_add(const char *name);

/* One of those names; of NULL: there is one. */
bool has_owner_name(const struct proc *p);

/* All that were named, or the default; refused where they are gone already. */
void open_owners(void);
