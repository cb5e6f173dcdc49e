/* witness: which signals came to the front, and which to its group */
#pragma once

#include "tree.h"

/*
 * A signal to the host's group reaches front, witness and server each, one to
 * the front only that.  The witness tells of its copies: a relay that has one
 * is dropped.  The kernel has signalled the whole group before kill() returns,
 * so that the witness, if asked when a relay comes, has the copy by then.
 */

/* 0 in the child, with its end of the channel; -1 in the supervisor. */
pid_t fork_witness(int *end);
pid_t witness_pid(void);		/* 0: there is none */
int witness_fd(void);

/* Not of the tree any more; false if there was none. */
bool end_witness(void);
void read_witness(void);

/* The group had n, as the witness says. */
void on_copy(const struct note *n);

/* The front had n; it is to be judged, too: how many are, 0: no memory. */
void heard(const struct note *n);
size_t hold(const struct note *n);

enum verdict { NOTHING, HAD, DELIVER };

/*
 * The next one held.  Who walks a tree may tell the witness later: what ends a
 * server waits for that, till T_HELD, and all that comes behind it, too.
 */
enum verdict judge(const struct family *f, struct note *n);

/*
 * n reached the supervisor alone.  At T_ALONE the front is asked, which first
 * sends all the signals it has had: copies do not age until it answers, since
 * it may be stopped, or get no CPU time.  Then older copies have no relay, and
 * those of ours that neither it nor the group had are next.
 */
void hold_own(const struct note *n);
void ask_front(void);
void front_answered(void);
bool next_own(struct note *n);

/* So close together it is one event. */
bool is_recent(int64_t when_ms);
bool had_tty_stop(void);
