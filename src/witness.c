/* witness: its process, and the rule */
#include "witness.h"

#include "channel.h"
#include "os.h"
#include "record.h"
#include "say.h"
#include "timer.h"
#include "tree.h"

#include <sys/wait.h>

#define WITNESS_MS	50	/* what came so close together is one event */
#define HOLD_MS		10	/* a relay waits so long for the witness */
#define ANSWER_MS	50	/* a witness answers in 30 on a busy machine */
#define ASKS_MAX	3	/* of a witness that does not answer */
#define AGAIN_MS	5	/* the same signal so soon is the same one */
#define ALONE_MS	50	/* a copy nobody relayed: ask the front */

struct seen {
	struct note note;
	int64_t at_ms;
};

static struct {		/* the supervisor's child in the host's group */
	pid_t pid;
	int fd;			/* to it, or -1 */
	int asked;		/* NOTE_ASKs without a NOTE_ALL */
} witness = { .fd = -1 };

static struct list held;	/* relays, until they are judged, in order */
static struct list copies;	/* which no relay has used yet */
static struct list own;		/* signals to the supervisor */
static int64_t asked_ms;	/* NOTE_ASK is on its way since then; or 0 */
static int64_t tty_stop_ms;	/* when the group last had a terminal stop */

/* By number: what front or witness last had, and what was last dropped. */
static struct seen last_came[32], last_dropped[32];

pid_t witness_pid(void) { return witness.pid; }
int witness_fd(void) { return witness.fd; }

bool
is_recent(int64_t when_ms)
{
	return when_ms != 0 && now_ms() - when_ms <= WITNESS_MS;
}

bool had_tty_stop(void) { return is_recent(tty_stop_ms); }

static struct seen *
seen(const struct list *l, size_t i)
{
	return (struct seen *)l->at + i;
}

static void
forget(struct list *l, size_t i)
{
	memmove(seen(l, i), seen(l, i + 1), (--l->n - i) * sizeof(struct seen));
}

static bool
keep(struct list *l, const struct note *n)
{
	struct seen *s = list_add(l, sizeof(*s));

	if (s != NULL)
		*s = (struct seen){ .note = *n, .at_ms = now_ms() };
	return s != NULL;
}

static bool is_counted(int signo) { return signo >= (int)COUNT(last_came); }

/*
 * By the same sender?  A walker of the tree may run one kill(1) for each pid,
 * and of what came before the server was forked the sender may not be known.
 */
static bool
same_signal(const struct note *a, const struct note *b)
{
	return a->signo == b->signo && (a->pid == -1 || (a->uid == b->uid &&
	    (a->pid == b->pid || is_ending(a->signo))));
}

/* Was n there, in this table by number, at that time or since? */
static bool
was_seen(const struct seen *table, const struct note *n, int64_t since_ms)
{
	return !is_counted(n->signo) && table[n->signo].at_ms != 0 &&
	    table[n->signo].at_ms >= since_ms &&
	    same_signal(&table[n->signo].note, n);
}

static void
see(struct seen *table, const struct note *n)
{
	if (!is_counted(n->signo))
		table[n->signo] = (struct seen){ .note = *n,
		    .at_ms = now_ms() };
}

void heard(const struct note *n) { see(last_came, n); }

/* A relay uses up every copy; one for each of what the kernel counts. */
static bool
use_copy(const struct note *n)
{
	bool used = false;

	for (size_t i = copies.n; i-- > 0; )
		if (same_signal(&seen(&copies, i)->note, n) &&
		    !(used && is_counted(n->signo))) {
			forget(&copies, i);
			used = true;
		}
	return used;
}

/* Front and witness are asked a little later: did they have the same? */
static void
ask_later(void)
{
	if (due(T_ALONE) == FOREVER && asked_ms == 0)
		set_timer(T_ALONE, ALONE_MS);
}

void
on_copy(const struct note *n)
{
	if (n->pid == getpid())
		return;		/* our CONT to it */
	if (is_terminal_stop(n->signo))
		tty_stop_ms = now_ms();
	see(last_came, n);
	keep(&copies, n);
	ask_later();
}

bool
end_witness(void)
{
	siginfo_t si;

	if (witness.pid == 0)
		return false;
	close(witness.fd);	/* it ends by that where kill() is denied */
	witness.fd = -1;
	send_signal(witness.pid, SIGKILL);
	waitid(P_PID, (id_t)witness.pid, &si, WEXITED);
	witness.pid = 0;
	return true;
}

void
read_witness(void)
{
	struct note notes[8];
	int n;

	while (witness.fd != -1 && (n = receive_notes(witness.fd, notes,
	    COUNT(notes), false, NULL)) != 0) {
		for (int i = 0; i < n; i++)
			if (notes[i].kind == NOTE_ALL)
				witness.asked--;
			else
				on_copy(&notes[i]);
		if (n == -1)
			end_witness();
	}
}

/*
 * Until it has told of all that it had; one that does not answer has nothing,
 * and is not waited for again and again.  CONT only to a stopped one: it would
 * flush a terminal stop not read yet.
 */
static void
ask_witness(void)
{
	struct note ask = { .kind = NOTE_ASK };
	int64_t left, end = now_ms() + ANSWER_MS;
	siginfo_t si = { .si_pid = 0 };

	read_witness();
	if (witness.fd == -1 || witness.asked == ASKS_MAX)
		return;
	if (waitid(P_PID, (id_t)witness.pid, &si,
	    WSTOPPED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0)
		send_signal(witness.pid, SIGCONT);
	send_note(witness.fd, &ask, false);
	witness.asked++;
	while (witness.fd != -1 && witness.asked > 0 &&
	    (left = end - now_ms()) >= 0) {
		struct pollfd p = { .fd = witness.fd, .events = POLLIN };

		if (poll(&p, 1, (int)left) == 1)
			read_witness();
	}
}

/*
 * Did the server have the relay n with its group?  One that the kernel does not
 * count is the same one again if it comes so soon: timeout(1) signals its
 * child, then its group.
 */
static bool
is_witnessed(const struct note *n)
{
	if (use_copy(n))
		return true;
	ask_witness();
	return use_copy(n) ||
	    was_seen(last_dropped, n, now_ms() - AGAIN_MS);
}

enum verdict
judge(const struct family *f, struct note *n)
{
	set_timer(T_HELD, FOREVER);
	while (held.n > 0) {
		int64_t until_ms = seen(&held, 0)->at_ms + HOLD_MS;
		bool in_group = witness.fd != -1 && getpgid(f->server) ==
		    f->group, had;

		*n = seen(&held, 0)->note;
		had = in_group && is_witnessed(n);
		if (in_group && !had && is_ending(n->signo) &&
		    now_ms() < until_ms && !is_of_tree(f, n->pid)) {
			set_due(T_HELD, until_ms);
			break;
		}
		forget(&held, 0);
		if (had)
			see(last_dropped, n);
		if (!is_of_tree(f, n->pid))
			return had ? HAD : DELIVER;
	}
	return NOTHING;
}

size_t
hold(const struct note *n)
{
	heard(n);
	return keep(&held, n) ? held.n : 0;
}

void
hold_own(const struct note *n)
{
	if (keep(&own, n))
		ask_later();
}

void
ask_front(void)
{
	set_timer(T_ALONE, FOREVER);
	asked_ms = now_ms();
}

static int64_t limit_ms;	/* what came by then has been asked about */

void
front_answered(void)
{
	limit_ms = asked_ms - ALONE_MS;
	asked_ms = 0;
	if (own.n > 0)
		ask_witness();
	while (copies.n > 0 && seen(&copies, 0)->at_ms <= limit_ms)
		forget(&copies, 0);
}

bool
next_own(struct note *n)
{
	while (own.n > 0 && seen(&own, 0)->at_ms <= limit_ms) {
		struct seen s = *seen(&own, 0);

		forget(&own, 0);
		*n = s.note;
		if (!was_seen(last_came, n, s.at_ms - ALONE_MS))
			return true;
	}
	if (copies.n > 0 || own.n > 0)
		ask_later();
	return false;
}

pid_t
fork_witness(int *end)
{
	int pair[2];
	bool paired = pair_cloexec(pair) == 0;

	witness.pid = paired ? fork() : -1;
	if (witness.pid == 0) {
		close(pair[0]);
		*end = pair[1];
		return 0;
	}
	if (witness.pid == -1) {
		say(VERBOSE, "no witness: %s; a signal to the group may come "
		    "twice", strerror(errno));
		witness.pid = 0;
		if (paired)
			close(pair[0]);
	} else
		witness.fd = survive(pair[0]);
	if (paired)
		close(pair[1]);
	return -1;
}
