/* files: names and locks that keep other servers away */
#pragma once

#include "values.h"

/*
 * NAME to a file of our own directory, PATH to an absolute one, at most size -
 * 1 bytes: the supervisor works in /.
 */
void find_path(const char *value, const char *suffix, char *path, size_t size);

/* A lock on a file that was removed meanwhile is none. */
bool is_lock(int fd, const char *path);

/*
 * Open a file to be locked: no symlink is followed, nothing is truncated, and
 * no link to another file of this user is taken for it.  -1: there is none.
 */
int open_lock(const char *path, int create);
