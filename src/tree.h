/* tree: all that is below us, who of it is in scope, and telling it */
#pragma once

#include "os.h"

struct family {			/* who is who */
	pid_t server;
	bool ended;		/* it has, and is not reaped */
	pid_t sid, group;	/* the host's, in which the server is */
	int64_t group_ms;	/* when that group last had the stop signal */
	pid_t witness, keeper;	/* ours, not of the tree */
	pid_t front;
	bool own_group;		/* the server leads one of its own */
	bool is_parent;		/* orphans of the tree come to us */
	bool in_ladder;
};

/* A new snapshot, beside the last one.  One that fails is said once. */
int snapshot(const struct family *f, bool stopping);
const struct list *tree_rows(void);	/* the last one, sorted */

/* A stop begins: who is attached is found before the server can be gone. */
void note_attached(const struct family *f);

/*
 * Look who lives in scope, the server aside, and send signo to those who have
 * not had it (SIGKILL to all; 0 to nobody).  Zombies that came to us are
 * reaped here by their pids: behind the unreaped server waitid() shows none.
 * Returns how many live; told counts those told now.  One that forks and exits
 * all the time may be missed by every look, and a look may fail: the kernel
 * knows that somebody lives.
 */
int look(const struct family *f, int signo, int *told);

bool nobody_left(const struct family *f);
bool has_spared(void);			/* in the last snapshot */
void name_who_is_left(const struct family *f);

/* The server or a descendant of it?  Known strangers first: they are cheap. */
bool is_of_tree(const struct family *f, pid_t pid);
