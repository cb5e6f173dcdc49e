/* sockets: who is connected to the tree */
#pragma once

#include "os.h"

/* Asked once, at the start. */
bool sockets_usable(void);
bool bound_usable(void);

/*
 * Is somebody outside the tree t connected to these ports, or to anything the
 * tree listens on?  why tells who: the last answer, "" if there is none, stays
 * as it is while that one stays.  Who is new is looked at twice, by again(): it
 * may be newer than the lists, which then lack that the tree holds its other
 * end, or its holder, or have that one by the name of the shell it was forked
 * from.
 */
bool is_connected(const struct list *t, int (*again)(void), char *why,
    size_t size);

/* A connection out of the tree or into it, or a UDP socket; -1: in doubt. */
int has_open_ends(const struct list *t);
