/* sweep: files that name a process that is gone */
#pragma once

#include "values.h"

/* A path with {pid} once, in its last part? */
bool is_pattern(const char *pattern);

/* Unlinks those whose {pid} is no process, and says so. */
void sweep_one(const char *pattern);
