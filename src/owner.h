/* owner: whose end ends the server, and how that is seen */
#pragma once

#include "os.h"

struct owner {
	const struct kind *kind;
	pid_t pid;		/* 0: who is behind a descriptor is not known */
	pid_t child;		/* by_parent: whose parent it is */
	int number;		/* the descriptor's, as --owner-fd had it */
	short events;		/* what to poll() for */
	uint64_t ticks;		/* start time in raw ticks, 0 = not known */
	int fd;			/* exit descriptor; -1 = polled */
	bool pinned;		/* START was given: the ticks must be these */
	bool gone;
	int64_t gone_ms;	/* when that was seen, or 0 */
	int unread;		/* bytes in FD 0 behind its hang-up */
	int64_t unread_ms;	/* since when they are so many, or 0 */
	char name[NAME_SIZE];	/* the descriptor's kind */
};

/* An owner by pid or name; the default one; behind --owner-fd, and a hold. */
struct kind {
	bool (*gone)(struct owner *);	/* where no exit descriptor tells */
	bool by_fd;
};

extern const struct kind by_parent, by_fd;

/* The first one of NULL, NULL of the last. */
struct owner *next_owner(struct owner *o);

/* Room for one more, and for what poll() needs for all; false: no memory. */
bool more_room(void);
bool owners_full(void);			/* as many as can be named */
struct owner *owner_new(void);		/* NULL: no memory */

/* One more, or the one that is the same; NULL: there are too many. */
struct owner *owner_add(pid_t pid, uint64_t ticks);
void owner_open(struct owner *o);

/* The one in its place, or NULL.  Its descriptor is the caller's. */
struct owner *drop_owner(struct owner *o);

/* In a child that has others, or none. */
void forget_owners(void);
void close_owners(void);

/* kqueue: descriptors are opened here, so the owners are asked once more. */
void rearm_owners(void);

/* Is the first one the parent?  Then the others are those above it. */
bool has_parent(void);
bool stay_with_topmost(void);		/* false: there is no such chain */
void lose_parent(void);
bool parent_has_changed(void);		/* true once */

/* Ask every owner; those with an exit descriptor answer for good. */
void ask_owners(void);
bool owners_gone(void);			/* all; one of a chain, or with --any */
bool is_owner(pid_t pid);

/* Names are for messages and the title: read when the server runs. */
void name_owners(void);

enum owner_list {
	OWNERS_BRIEF,	/* all, for the title: "4711(nvim),4712(x)" */
	OWNERS_ALL, OWNERS_GONE, OWNERS_ALIVE
};

/* How many there are.  "4711 (nvim, up 2h03m), fd 0 (pipe)" */
int list_owners(char *buf, size_t size, enum owner_list which);

/* What tells of the end of each: pidfd, kqueue, poll; NULL: they are asked. */
const char *watched_by(void);

/* Another set of owners is another; of a chain only the topmost counts. */
uint64_t hash_owners(void);

/* Who must be looked at: no exit descriptor, and not gone for good. */
bool is_parent_polled(void);
bool is_one_polled(void);

/* For all owners and five more; filled with the owners' descriptors. */
struct pollfd *room_to_poll(void);
int poll_owners(struct pollfd *to);
