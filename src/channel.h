/* channel: notes between front, supervisor and witness */
#pragma once

#include "os.h"

enum note_kind {	/* sender: meaning */
	NOTE_SIGNAL = 0,	/* front, witness: a signal came (os.h) */
	NOTE_HUNG_UP,	/* front: this one came, and the server has it */
	NOTE_SERVER,	/* server before its exec: its exit descriptor */
	NOTE_STARTED,	/* supervisor: stderr is the server's alone now; */
			/* to the witness: the server has its pid */
	NOTE_STOP,	/* supervisor: the server was stopped by .signo */
	NOTE_RESUMED,	/* front: continued after NOTE_STOP */
	NOTE_ASK,	/* supervisor: send me all the signals you had */
	NOTE_ALL,	/* front, witness: that was all */
	NOTE_ORPHAN,	/* front: its parent changed (plain POSIX polling) */
	NOTE_LEAVE	/* supervisor: status .signo, I stay; front: I go */
};

/*
 * Front and witness wait for room, for a burst of real-time signals; the
 * supervisor never does, and says so little that it fits.  A peer that is gone
 * shows as end of file.
 */
void send_note(int fd, const struct note *n, bool wait);

/* NOTE_SERVER: an exit descriptor of the server, from itself, for the front. */
void hand_over(int to, int fd);

/*
 * Notes from a peer: their number, 0 = none now, -1 = the peer is gone.  Each
 * was sent as one piece and the buffer holds whole ones, so none is torn.
 */
int receive_notes(int fd, struct note *notes, size_t n, bool wait,
    int *handed);
