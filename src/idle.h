/* idle: does nothing happen in the tree? */
#pragma once

#include "values.h"

bool idle_usable(void);			/* asked once, at the start */

/*
 * Called every interval; the first look has nothing to compare with.  What was
 * open at the last look was so until now.
 */
bool is_idle(const struct list *t);
