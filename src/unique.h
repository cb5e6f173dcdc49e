/* unique: one server per owner */
#pragma once

#include "values.h"

/* Where the lock is; refused if that can't be. */
void find_unique(void);

/* May we start?  The older one is stopped first. */
bool take_turn(void);

/* In the supervisor, before its server; false: another front has it. */
bool keep_turn(void);

/* Who waits for us to stop, or 0. */
pid_t newest_waiter(void);

/* At the very end: the file goes, unless somebody waits. */
void release_unique(void);
