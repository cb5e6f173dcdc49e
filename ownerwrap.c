/*
 * ownerwrap - tie a server's life to its owner
 *
 *	ownerwrap --owner-pid 4711 -- some-server --port 8000
 *
 * Four processes, one source:
 *
 *	owner ── front ── supervisor ─┬─ server ── ...
 *	                              └─ witness
 *
 * The front is the pid the host knows: it hands signals in and the exit status
 * out.  The supervisor is the server's parent: it watches the owners and runs
 * the stop ladder, in a session of its own.  Each is there because the other
 * may be SIGKILLed.  The witness tells what the host's group had.
 *
 *	STARTING ─> RUNNING ─> GRACE ─> ASKED ─> TOLD ─> FORCED ─> OVER
 *	               │  └──────────────^        ^                 ^
 *	               └─> LEFT (server ended, others stay) ────────┘
 *
 * GRACE goes back to RUNNING or LEFT where a second look finds an owner alive.
 *
 * Exit status
 *	the server's	it ended before the ladder began, or the ladder began
 *			for a reason other than the two of 124
 *	124		no owner: nothing was started, or the server was
 *			stopped; or nothing happened in it for --max-idle
 *	125		nothing was started, or the supervisor and the status
 *			were lost
 *	126, 127	the command cannot be executed; is not found
 *
 * Invariants
 *	- no signal to a pid that can have been recycled: the server stays
 *	  unreaped until the end, others are checked behind an exit descriptor;
 *	- no process group is changed where the tree can be listed;
 *	- every descriptor of ours is CLOEXEC, none is 0, 1 or 2;
 *	- a signal is a note to read, and everything happens in one loop.
 *
 * The rooms in src/, the lowest first: each calls downwards only; its header
 * says what it is for:
 *	values  os and the systems  say  timer  guise  owner  record  files
 *	sweep  channel  tree  find_owner  start  stops  witness  sockets  idle
 *	orphans  unique  options  keep
 *
 * promise			mechanism			cases
 * nothing is left		subreaper, ladder, stand-in	A, C
 * nothing is killed wrongly	exit descriptors, start ticks	A, B
 * nobody notices		witness rule, notes, null fds	D to G
 */
#include "src/channel.h"
#include "src/files.h"
#include "src/find_owner.h"
#include "src/guise.h"
#include "src/idle.h"
#include "src/keep.h"
#include "src/opt.h"
#include "src/options.h"
#include "src/orphans.h"
#include "src/os.h"
#include "src/owner.h"
#include "src/record.h"
#include "src/say.h"
#include "src/sockets.h"
#include "src/start.h"
#include "src/stops.h"
#include "src/sweep.h"
#include "src/timer.h"
#include "src/tree.h"
#include "src/unique.h"
#include "src/witness.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <sched.h>
#include <termios.h>

/* --- types and constants ---------------------------------------------- */

#define KILLED_MS	2000	/* the host killed the front: thinks all dead */
#define FORCE_MS	5000	/* SIGKILL that did not work by then will not */
#define FORCE_LOOK_MS	20	/* between two looks: SIGKILL takes a few ms */
#define LOOK_MS		50	/* the same while others end in their own way */
#define RESUME_MS	20	/* CONT crossed the front's stop: repeat it */
#define DROPPED_MS	1000	/* no /proc: the kernel's signal did not come */
#define SHORT_MS	1000	/* a default owner this short was not meant */
#define TRY_MS		50	/* between two tries to start or attach */
#define STDIO_MS	2000	/* a shared server this short had no client */

#define NO_STATUS	(-1)

#define LOOK_FDS	4	/* that no hold takes: for looks at the tree */

enum role {
	FRONT,		/* the host's child: signals in, status out */
	SUPERVISOR,	/* the server's parent: owners, ladder */
	STANDIN,	/* the front after the supervisor was killed */
	HOLDER,		/* a front before its server, or of a shared one */
	WITNESS		/* tells the supervisor what the host's group had */
};

enum phase {
	STARTING,	/* the server is forked, its exec has not returned */
	RUNNING,	/* the server runs, an owner lives */
	GRACE,		/* no owner; the server may end by itself */
	LEFT,		/* the server has ended, what it left may stay */
	ASKED,		/* ladder, step 1: the server had the stop signal */
	TOLD,		/* ladder, step 2: everybody in scope had it */
	FORCED,		/* ladder, step 3: SIGKILL until nobody is found */
	OVER		/* nothing is left to do */
};

enum reason {
	NONE,
	OWNER_GONE,		/* no owner left, grace and keepers are done */
	IDLE,			/* nothing happened for --max-idle */
	FRONT_KILLED,		/* the host killed what it thinks the server */
	SERVER_LEFT,		/* the server ended and left processes */
	REQUESTED,		/* the stop signal came, --kill-after given */
	LATE_REQUEST,		/* a signal came after the server had ended */
	REPLACED,		/* TERM from a newer start: --unique */
	SUPERVISOR_KILLED	/* the front stands in */
};

enum front_is {		/* to the supervisor */
	THERE,
	AWAY,		/* it left with the status: --leftovers leave */
	LOST,		/* killed, and a keeper is asked: no owner counts */
	KILLED		/* no step takes longer than KILLED_MS */
};

static struct {		/* this process */
	enum role role;
	enum phase phase;
	enum reason reason;
	pid_t pid, front, supervisor;
	pid_t sid, group;	/* the host's, in which the server is */
	int null_fd, peer, exec_fd, exec_pipe[2];
	int status;		/* the server's, or NO_STATUS */
	int64_t phase_ms, phase_since_ms;
	bool again;		/* this phase had its time a second time */
	enum front_is front_is;
	bool child;		/* SIGCHLD came */
	int front_stops;	/* NOTE_STOP sent, NOTE_RESUMED not yet here */
	bool adopts;		/* orphans of the tree come to us */
	bool front_adopts;	/* and if we are killed, to the front */
	bool own_group;		/* the server leads a group of its own */
	bool tty, tty_saved;
	bool stderr_shared;	/* the same pipe or socket as 0 or 1 */
	int quiet_looks;	/* looks in a row that found nobody */
	struct termios termios;
} self = { .null_fd = -1, .peer = -1, .exec_fd = -1,
	.status = NO_STATUS };

/*
 * The supervisor's will, in shared memory: what the front must know once the
 * other has ended.  A message would wake it up each time.
 */
static volatile struct {
	pid_t server;		/* written by itself before its exec */
	pid_t keeper;		/* --keep-if runs, or 0 */
	enum reason reason;	/* why the ladder has begun */
	bool died;		/* the server, of a signal in the ladder */
	bool ended;		/* all is done, status is the last word */
	int status;
} *will;

static struct {		/* the server */
	pid_t pid;
	int fd;			/* exit descriptor, for a stand-in only */
	int64_t exec_ms;	/* when its exec returned */
	int64_t told_ms;	/* when the stop signal last reached it, or 0 */
	int64_t group_ms;	/* when the group last had the stop signal */
	int64_t continued_ms;	/* when it was last continued */
	bool ended, stopped, killed;
	bool stop_relayed;	/* a terminal one, and no CONT since */
} server = { .fd = -1 };

static struct {		/* --share */
	struct sockaddr_un address;
	char *path;		/* in it, with room for the name of the lock */
	char lock[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int lock_fd;		/* the pair's, as long as it lives */
	int listen_fd;		/* the supervisor's, while others may attach */
	int hold;		/* a front's connection */
	struct stat inode;	/* the socket's */
	char command[256];	/* the server's */
	struct rlimit limit;	/* of descriptors, as it was given to us */
	int error;		/* the errno of the server's exec */
	int64_t since_ms;	/* this front has started the server, or 0 */
	bool doubted;		/* who listened last had no lock */
	bool waits;		/* said so */
} share = { .path = share.address.sun_path, .lock_fd = -1, .listen_fd = -1,
	.hold = -1 };

static void
tell_peer(enum note_kind kind, int signo)
{
	struct note n = { .kind = (int)kind, .signo = signo };

	send_note(self.peer, &n, self.role != SUPERVISOR);
}

/* --- server: start, signal, reap, scope ------------------------------- */

static bool in_ladder(void) { return self.phase >= ASKED; }

static bool
orphaned(void)
{
	return self.front_is == LOST || (share.listen_fd != -1 ?
	    next_owner(NULL) == NULL :	/* those gone were dropped */
	    owners_gone());
}

/* The stand-in is the server's parent only if orphans come to it. */
static bool is_parent(void) { return self.role == SUPERVISOR || self.adopts; }

/*
 * The server is our child until we reap it, so its number is its own.  Not
 * its parent, the stand-in has an exit descriptor or does nothing.
 */
static int
signal_server(int signo)
{
	errno = ESRCH;
	if (server.pid == 0 || server.ended)
		return -1;
	if (!is_parent())
		return server.fd == -1 ? -1 : exit_signal(server.fd, signo);
	return send_signal(server.pid, signo);
}

/* For the tree: who is who, as of now. */
static const struct family *
family(void)
{
	static struct family f;

	f = (struct family){ .server = server.pid, .ended = server.ended,
	    .sid = self.sid, .group = self.group, .group_ms = server.group_ms,
	    .witness = witness_pid(), .keeper = keeper_pid(),
	    .own_group = self.own_group, .front = self.front,
	    .is_parent = is_parent(),
	    .in_ladder = in_ladder() };
	return &f;
}

/*
 * When to look again while leftovers stay.  Our children's ends are signalled;
 * those of others only matter where a spared parent hides them.
 */
static void
look_again_later(void)
{
	set_timer(T_LOOK, has_spared() ? opt->interval_ms : FOREVER);
}

/* Now, rather than when we last heard.  A tracer's t may be either. */
static bool
is_stopped(pid_t pid, bool as_heard)
{
	struct proc p;

	if (proc_stat(pid, &p) == -1 || p.state == 't')
		return as_heard;
	return p.state == 'T';
}

/* 124 only for a server that the ladder ended, for want of an owner or idle. */
static int
final_status(void)
{
	if (self.reason == OWNER_GONE || self.reason == IDLE)
		return NO_OWNER;
	return self.status == NO_STATUS ? NOT_STARTED : self.status;
}

/*
 * Put the terminal back as it was before a server that could not do it itself.
 * Not from the background: the terminal is another job's then.
 */
static void
restore_terminal(void)
{
	sigset_t set, old;
	int fd;

	if (!self.tty_saved ||
	    (fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC |
	    O_NONBLOCK)) == -1)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	change_mask(SIG_BLOCK, &set, &old);
	if (tcgetpgrp(fd) == getpgrp())
		tcsetattr(fd, TCSANOW, &self.termios);
	change_mask(SIG_SETMASK, &old, NULL);
	close(fd);
}

static void
set_title(const char *owner)
{
	char title[512];

	snprintf(title, sizeof(title), "%s server=%d%s%s",
	    self.role == WITNESS ? "ow-witness" : "ow-supervisor",
	    (int)server.pid, opt->share != NULL ? " share=" :
	    owner[0] == '\0' ? "" : " owner=",
	    opt->share != NULL ? share.path : owner);
	overwrite_args(title);
}

/*
 * In the server.  The death signal is armed before the parent is asked for:
 * a supervisor that died earlier has another number now, one that dies later
 * fires it.  The front knows the pid before the exec, whoever dies first.
 */
static noreturn void
become_server(int errno_fd, pid_t parent)
{
	int error, fd;

	die_with_parent(opt->signal);
	if (getppid() != parent)
		_exit(NOT_STARTED);
	if (self.own_group)
		setpgid(0, 0);
	if (!self.front_adopts && (fd = exit_open(getpid())) != -1)
		hand_over(self.peer, fd);
	will->server = getpid();
	name_server(getpid());
	while (getsid(parent) == self.sid)	/* see pass_on() */
		sched_yield();
	restore_signals();
	execvp(opt->command[0], opt->command);
	error = errno;
	if (write(errno_fd, &error, sizeof(error)) == -1)
		_exit(NOT_STARTED);
	_exit(NOT_FOUND);
}

/* The host's pipes, locks and sockets are the server's alone. */
static void
drop_inherited(void)
{
	dup2(self.null_fd, STDIN_FILENO);
	dup2(self.null_fd, STDOUT_FILENO);
	close_others();
	if ((!self.tty || self.role != FRONT) && chdir("/") == -1)
		say(VERBOSE, "chdir to /: %s", strerror(errno));
}

/* --- phases ----------------------------------------------------------- */

static void enter(enum phase next);
static void deliver(const struct note *n);
static void reap(void);
static void drain_signals(void (*on_signal)(const struct note *));
static void close_door(void);
static void accept_all(void);
static void greet(const struct owner *o);
static void drop_holds(void);
static void release_files(void);
static void open_channels(int pair[2]);
static int *share_pair;
static noreturn void leave_server(void);

/* How long a step waits: kill-after, less once the front was killed. */
static int64_t
step_ms(enum phase step)
{
	if (self.front_is != KILLED)
		return opt->kill_after_ms;
	if (opt->kill_after_ms == FOREVER)
		return step == ASKED ? KILLED_MS : FOREVER;
	return shorter(opt->kill_after_ms, KILLED_MS);
}

static void
set_phase_timer(int64_t ms)
{
	self.phase_ms = ms;
	self.again = false;
	set_timer(T_PHASE, ms);
}

/* "stopping server 4712 (TERM in 2s, KILL 5s later, ...)" */
static const char *
plan(int64_t wait_ms, char buf[256])
{
	char name[16], wait[32], whom[32], a[32], b[32], force[128];
	int64_t step = step_ms(TOLD);

	snprintf(whom, sizeof(whom), "server %d", (int)server.pid);
	if (step == FOREVER)
		snprintf(force, sizeof(force), ", no KILL");
	else if (opt->scope == SCOPE_PROCESS)
		snprintf(force, sizeof(force), ", KILL %s later",
		    seconds(step, a));
	else
		snprintf(force, sizeof(force),
		    ", KILL %s later, %s if others must be told",
		    seconds(step, a), seconds(2 * step, b));
	snprintf(buf, 256, "stopping %s (%s %s%s%s)",
	    server.ended ? "what the server left" : whom,
	    signal_name(opt->signal, name), wait_ms > 0 ? "in " : "now",
	    wait_ms > 0 ? seconds(wait_ms, wait) : "",
	    opt->signal == SIGKILL ? "" : force);
	return buf;
}

static void
say_orphaned(void)
{
	char gone[LINE_SIZE / 2], rest[LINE_SIZE / 4], what[256], how_long[32];
	const char *kept = was_kept() ? ", kept no longer" : "";
	int64_t lived = passed_ms(server.exec_ms);
	int n = list_owners(gone, sizeof(gone), OWNERS_GONE);
	bool some = list_owners(rest, sizeof(rest), OWNERS_ALIVE) > 0;

	plan(opt->grace_ms, what);
	if (opt->share != NULL)
		say(ORPHANED, "nobody holds %s%s; %s", share.path, kept, what);
	else if (self.front_is == LOST)
		say(ORPHANED, "the front was killed%s; %s", kept, what);
	else if (has_parent() && lived < SHORT_MS && kept[0] == '\0')
		say(ORPHANED, "owner %s ended after %s; %s; to tie it to "
		    "another process: --owner-pid PID", gone,
		    seconds(lived < 100 ? lived : lived - lived % 100,
		    how_long), what);
	else
		say(ORPHANED, "owner%s %s %s gone%s%s%s; %s",
		    n > 1 ? "s" : "", gone, n > 1 ? "are" : "is",
		    some ? ", not " : "", rest, kept, what);
}

/* Why the ladder begins; a missing owner was said before the grace, if any. */
static void
say_reason(enum reason reason)
{
	static const struct { enum level level; const char *why; } reasons[] = {
		[FRONT_KILLED] = { DEFAULT, "the front was killed" },
		[REQUESTED] = { VERBOSE, "a signal asks for it" },
		[LATE_REQUEST] = { VERBOSE, "a signal asks for it" },
		[SUPERVISOR_KILLED] = { DEFAULT, "the supervisor was killed" }
	};
	char what[256], newer[64];

	if (reason == OWNER_GONE && self.role == SUPERVISOR &&
	    opt->grace_ms == 0 && !has_keepers())
		say_orphaned();
	plan(0, what);
	if (reason == REPLACED)
		say(DEFAULT, "a newer start, %s, takes its place; %s",
		    label_of(newest_waiter(), newer), what);
	else if (reasons[reason].why != NULL)
		say(reasons[reason].level, "%s; %s", reasons[reason].why, what);
	if (opt->scope != SCOPE_PROCESS && !proc_listed() && !self.own_group)
		say(DEFAULT, "no usable /proc: server alone is stopped");
}

/*
 * The one way into the ladder.  The first reason stays the reason, and a
 * stand-in may have been told one; for the status it is the server's own end,
 * if that came first.
 */
static void
begin(enum reason reason)
{
	bool ended;

	if (reason == OWNER_GONE || reason == IDLE)
		reap();		/* it may have ended while we looked */
	ended = server.ended;
	if (reason == FRONT_KILLED && in_ladder() &&
	    step_ms(self.phase) != FOREVER)
		set_due(T_PHASE, shorter(due(T_PHASE),
		    now_ms() + step_ms(self.phase)));
	if (in_ladder())
		return;
	if (reason != OWNER_GONE)	/* who came in time is told the end */
		accept_all();
	close_door();
	if (self.reason != NONE)
		reason = self.reason;
	self.reason = will->reason = ended ? SERVER_LEFT : reason;
	if (ended)
		say_reason(reason);
	note_attached(family());
	enter(opt->signal == SIGKILL ? FORCED : ASKED);
	if (!ended)		/* first the signal, then the words */
		say_reason(reason);
}

/* Step 1.  What the server has had a moment ago is not said twice. */
static void
ask_server(void)
{
	int64_t since = 0;	/* it was told */

	if (still_counts(server.told_ms))
		since = now_ms() - server.told_ms;
	else if (signal_server(opt->signal) == 0)
		server.told_ms = now_ms();
	else if (errno != ESRCH)
		say(DEFAULT, "server %d can't be signalled: %s",
		    (int)server.pid, strerror(errno));
	if (server.told_ms != 0)
		signal_server(SIGCONT);
	set_phase_timer(step_ms(ASKED));
	if (due(T_PHASE) != FOREVER)
		set_due(T_PHASE, due(T_PHASE) -
		    (since < self.phase_ms ? since : self.phase_ms));
}

/* Step 2.  A lone deaf server has nobody beside it to wait for. */
static void
tell_others(void)
{
	int told, living = look(family(), opt->signal, &told);

	if (server.ended && living == 0 && nobody_left(family()))
		enter(OVER);
	else if (!server.ended && told == 0 && step_ms(TOLD) != FOREVER)
		enter(FORCED);
	else {
		set_phase_timer(step_ms(TOLD));
		set_timer(T_LOOK, living > 0 ? LOOK_MS : 0);
	}
}

/* Step 3. */
static void
force(void)
{
	char name[16], after[32];

	server.killed = signal_server(SIGKILL) == 0;
	if (server.killed && server.told_ms != 0)
		say(DEFAULT, "server %d still there %s after %s: killed",
		    (int)server.pid, seconds(passed_ms(server.told_ms), after),
		    signal_name(opt->signal, name));
	set_phase_timer(FORCE_MS);
	set_timer(T_LOOK, 0);
}

/* The only place that changes the phase. */
static void
enter(enum phase next)
{
	self.phase = next;
	self.phase_since_ms = now_ms();
	self.quiet_looks = 0;
	set_timer(T_PHASE, FOREVER);
	set_timer(T_LOOK, FOREVER);
	if (next != GRACE)
		stop_asking(is_parent());
	if (next >= ASKED)
		set_timer(T_IDLE, FOREVER);
	switch (next) {
	case GRACE:
		if (has_keepers()) {
			begin_asking();
			break;
		}
		if (opt->grace_ms > 0)
			say_orphaned();
		set_phase_timer(opt->grace_ms);
		break;
	case LEFT:
		name_owners();		/* it may have ended before that */
		look_again_later();
		break;
	case ASKED:
		if (server.ended)
			enter(TOLD);
		else
			ask_server();
		break;
	case TOLD:
		tell_others();
		break;
	case FORCED:
		force();
		break;
	case OVER:
		name_who_is_left(family());
		break;
	default:	/* nothing to do yet */
		break;
	}
}

/* The front takes the status and goes; we stay with what is left. */
static void
leave_front(void)
{
	char list[256];

	self.front_is = AWAY;
	end_witness();
	tell_peer(NOTE_LEAVE, self.status);
	if (stay_with_topmost()) {
		list_owners(list, sizeof(list), OWNERS_BRIEF);
		set_title(list);
	}
	leave_stderr(STDIN_FILENO);
}

/* With a keeper the front's death is that of the last owner: no reason yet. */
static void
lose_front(void)
{
	self.front_is = LOST;
	leave_stderr(STDIN_FILENO);
	if (self.phase != GRACE)
		enter(GRACE);
	if (server.ended)
		look_again_later();
}

/* The server has ended before any ladder: what of the others? */
static void
server_ended_itself(void)
{
	static const char *const what[] = {
		[LEFTOVERS_STOP] = "stopped (--leftovers wait or leave keeps ",
		[LEFTOVERS_WAIT] = "waited for",
		[LEFTOVERS_LEAVE] = "left until the owner goes"
	};
	int told, living = 0;

	for (int i = 0; i < 2 && living == 0 && !nobody_left(family()); i++)
		living = look(family(), 0, &told);
	if (living == 0) {
		enter(OVER);
		return;
	}
	say(DEFAULT, "server ended and left %d process%s: %s%s", living,
	    living > 1 ? "es" : "", what[opt->leftovers], opt->leftovers !=
	    LEFTOVERS_STOP ? "" : living > 1 ? "them)" : "it)");
	if (opt->leftovers == LEFTOVERS_STOP) {
		begin(SERVER_LEFT);
		return;
	}
	if (opt->leftovers == LEFTOVERS_LEAVE)
		leave_front();
	if (self.phase != GRACE)
		enter(LEFT);
	else
		look_again_later();
}

/* Somebody ended: is there anything left to wait for? */
static void
on_child(void)
{
	if (!server.ended || self.phase == OVER)
		return;
	if (nobody_left(family()))
		enter(OVER);
	else if (self.phase == ASKED)
		enter(TOLD);
	else if (due(T_LOOK) == FOREVER ||
	    due(T_LOOK) > now_ms() + LOOK_MS)
		set_timer(T_LOOK, LOOK_MS);
}

/* T_LOOK.  Spared daemons are children too: two looks that find nobody. */
static void
on_look(void)
{
	int signo = self.phase == FORCED ? SIGKILL :
	    self.phase == TOLD ? opt->signal : 0;
	int told, living;

	if (self.phase == FORCED)
		signal_server(SIGKILL);
	living = look(family(), signo, &told);
	if (!server.ended || living > 0) {
		self.quiet_looks = 0;
		look_again_later();
		if (self.phase == FORCED)
			set_timer(T_LOOK, FORCE_LOOK_MS);
		else if (in_ladder())	/* rarer, the longer it takes */
			set_timer(T_LOOK, LOOK_MS +
			    (now_ms() - self.phase_since_ms) / 8);
	} else if (++self.quiet_looks >= 2 || nobody_left(family()))
		enter(OVER);
	else
		set_timer(T_LOOK, 0);
}

/* Ask every owner; those with an exit descriptor answer for good. */
static void
on_owners(void)
{
	ask_owners();
	if (share.listen_fd != -1)
		drop_holds();
	if (self.role == HOLDER) {
		if (orphaned())
			leave_server();
		return;
	}
	if (orphaned() && (self.phase == RUNNING || self.phase == STARTING ||
	    self.phase == LEFT)) {
		name_owners();		/* who went at once has none yet */
		enter(GRACE);
		if (server.ended)
			look_again_later();
	}
}

/* In the grace: was there an owner after all? */
static bool
still_orphaned(void)
{
	if (self.phase != GRACE)
		return false;
	on_owners();
	if (!orphaned())
		enter(server.ended ? LEFT : RUNNING);
	return self.phase == GRACE;
}

/*
 * T_PHASE.  A wake-up that is late (suspend, SIGSTOP) found the server frozen
 * as well: it gets its time again, once.
 */
static void
on_phase_end(void)
{
	if (is_late(T_PHASE) && !self.again) {
		set_phase_timer(self.phase_ms);
		self.again = true;
		return;
	}
	set_timer(T_PHASE, FOREVER);
	if (in_ladder())
		enter(self.phase + 1);
	else if (still_orphaned())
		begin(OWNER_GONE);
}

/* The stop signal asked for by a process, and kill-after was given. */
static void
on_had(const struct note *n)
{
	if (n->signo == SIGCONT)
		server.stop_relayed = false;
	if (server.ended) {
		if (is_ending(n->signo))
			begin(LATE_REQUEST);
		return;
	}
	if (n->signo != opt->signal)
		return;
	server.told_ms = now_ms();
	if (from_process(n) && opt->kill_given &&
	    opt->kill_after_ms != FOREVER)
		begin(REQUESTED);
}

/* The server stopped or went on: the front does the same, the host sees it. */
static void
on_server_stop(int signo)
{
	if (signo == 0 || server.stopped)	/* twice: in between it ran */
		server.continued_ms = now_ms();
	server.stopped = signo != 0;
	if (server.stopped && !in_ladder() && opt->share == NULL) {
		self.front_stops += self.peer != -1;
		tell_peer(NOTE_STOP, signo);
	} else if (self.front_stops > 0) {
		send_signal(self.front, SIGCONT);
		set_timer(T_RESUME, RESUME_MS);
	}
}

static void
reap_stops(void)
{
	siginfo_t si = { .si_pid = 0 };

	while (!server.ended && waitid(P_PID, (id_t)server.pid, &si,
	    WSTOPPED | WCONTINUED | WNOHANG) == 0 && si.si_pid != 0) {
		on_server_stop(si.si_code == CLD_CONTINUED ? 0 : si.si_status);
		si.si_pid = 0;
	}
}

/* A stop is pending, which CONT would take away (signal(7)). */
static bool
is_about_to_stop(void)
{
	return (proc_number(server.pid, "status", "\nShdPnd:", 16) &
	    (1u << (SIGTSTP - 1) | 1u << (SIGTTIN - 1) |
	    1u << (SIGTTOU - 1))) != 0;
}

/*
 * Does the server need a CONT that reached the front?  Not if the group had it
 * and the server has even stopped once more since, on its way to read from the
 * terminal in the background: that stop flushed our own copy of the CONT.
 * One that is only about to stop needs it.
 */
static bool
needs_cont(void)
{
	if (self.role == SUPERVISOR)
		reap_stops();
	return server.stop_relayed || is_about_to_stop() ||
	    (is_stopped(server.pid, server.stopped) &&
	    !(is_recent(server.continued_ms) && had_tty_stop()));
}

static int
pass(const struct note *n)
{
	return n->code == SI_QUEUE && is_parent() && !server.ended ?
	    queue_signal(server.pid, n->signo, n->value) :
	    signal_server(n->signo);
}

/* Hand n to the server; on_had() is what that means for the ladder. */
static void
deliver(const struct note *n)
{
	char name[16], who[64];

	if (n->signo == SIGCONT && !needs_cont())
		return;
	if (in_ladder() && n->signo == opt->signal && server.told_ms != 0)
		return;
	if (is_terminal_stop(n->signo))
		server.stop_relayed = true;
	if (is_ending(n->signo) && !in_ladder())
		note_attached(family());
	if (!server.ended) {
		if (pass(n) == -1 && errno != ESRCH)
			say(DEFAULT, "%s can't be relayed: %s",
			    signal_name(n->signo, name), strerror(errno));
		else if (opt->verbose || opt->log_fd != -1)
			say(VERBOSE, "%s relayed; sender %s",
			    signal_name(n->signo, name),
			    label_of(n->pid, who));
	}
	on_had(n);
}

/* T_HELD, or something came. */
static void
judge_held(void)
{
	enum verdict v;
	struct note n;

	while ((v = judge(family(), &n)) != NOTHING) {
		if (v == DELIVER)
			deliver(&n);
		else {
			if (n.signo == opt->signal)
				server.group_ms = now_ms();
			on_had(&n);
		}
	}
}

/* From the front: n reached it. */
static void
on_relay(const struct note *n)
{
	size_t waiting = hold(n);

	if (waiting == 0)	/* no memory */
		deliver(n);
	else if (waiting == 1)
		judge_held();
}

static void
on_witness(void)
{
	read_witness();
	judge_held();
}

/*
 * No signal to the group reaches the supervisor.  One to itself is taken as if
 * it had come to the front, unless that, or the group, had the same.
 */
static void
on_own(const struct note *n)
{
	pid_t newest = newest_waiter();

	if (!is_ending(n->signo) || is_of_tree(family(), n->pid))
		return;
	if (newest != 0 && n->pid == newest)
		begin(REPLACED);
	else
		hold_own(n);
}

static void
on_answer(void)
{
	struct note n;

	front_answered();
	while (next_own(&n))
		deliver(&n);
}

/* T_ALONE */
static void
on_alone(void)
{
	ask_front();
	if (self.peer == -1)
		on_answer();
	else
		tell_peer(NOTE_ASK, 0);
}

/* --- keepers: no owner left, may the server stay? ------------------------ */

static int look_again(void) { return snapshot(family(), false); }

static void
on_answered(int answer)
{
	if (answer & FIRST_NO)
		say_orphaned();
	if (answer & THROUGH)
		begin(OWNER_GONE);
}

/* T_KEEP */
static void
on_keep(void)
{
	int answer = keepers_time();

	if (answer & ASK)
		answer = still_orphaned() ? ask_keepers(look_again) : 0;
	on_answered(answer);
}

/* --- the inactivity backstop --------------------------------------------- */

static int64_t idle_since_ms;	/* when something last happened */

/* T_IDLE.  A freeze is no idleness, be it in the midst of a look. */
static void
on_idle_look(void)
{
	char how_long[32], what[256];
	int64_t left;
	bool late = is_late(T_IDLE);
	int64_t now = now_ms();

	if (snapshot(family(), false) == -1 || !is_idle(tree_rows()) || late ||
	    now_ms() - now > LATE_MS)
		idle_since_ms = now_ms();
	left = idle_since_ms + opt->max_idle_ms - now;
	if (left > 0) {
		set_timer(T_IDLE, shorter(opt->interval_ms, left));
		return;
	}
	say(ORPHANED, "nothing happened for %s; %s",
	    seconds(opt->max_idle_ms, how_long), plan(0, what));
	begin(IDLE);
}

/* --- the supervisor's other events --------------------------------------- */

static void
say_started(void)
{
	char list[LINE_SIZE / 2], every[32];
	const char *by = watched_by();

	if (!opt->verbose && opt->log_fd == -1)
		return;
	name_owners();
	if (opt->share != NULL)
		say(VERBOSE, "server %d started; shared as %s",
		    (int)server.pid, share.path);
	else if (list_owners(list, sizeof(list), OWNERS_ALL) == 0)
		say(VERBOSE, "server %d started; no owner is watched",
		    (int)server.pid);
	else
		say(VERBOSE, "server %d started; owner %s, %s %s",
		    (int)server.pid, list,
		    by == NULL ? "polled every" : "watched by",
		    by == NULL ? seconds(opt->interval_ms, every) : by);
}

static void
on_started(void)
{
	char list[256];

	server.exec_ms = now_ms();
	if (self.stderr_shared) {
		tell_peer(NOTE_STARTED, 0);
		leave_stderr(STDIN_FILENO);
	}
	say_started();
	for (struct owner *o = NULL; opt->share != NULL &&
	    (o = next_owner(o)) != NULL; )
		greet(o);	/* those who have come already */
	if (opt->find_orphans)		/* the title overwrites names */
		find_orphans(self.front, false);
	name_owners();
	list_owners(list, sizeof(list), OWNERS_BRIEF);
	set_title(list);
	send_note(witness_fd(),
	    &(struct note){ .kind = NOTE_STARTED }, false);
	if (self.phase == STARTING)
		enter(RUNNING);
	if (opt->max_idle_ms > 0) {
		idle_since_ms = now_ms();
		set_timer(T_IDLE, 0);
	}
}

static void
on_exec_failed(int error)
{
	siginfo_t si;

	self.status = say_exec_error(opt->command[0], error);
	share.error = error;
	waitid(P_PID, (id_t)server.pid, &si, WEXITED | WNOWAIT);
	server.ended = true;	/* it was at its _exit() */
	end_witness();
	enter(OVER);
}

/*
 * The exec pipe: an errno, or its end because the exec closed it; the front may
 * not have closed its own yet when the server has ended.
 */
static void
on_exec(void)
{
	int error;
	ssize_t n = read(self.exec_fd, &error, sizeof(error));

	if (n == -1 && (self.exec_fd == -1 || !server.ended))
		return;		/* read already, or not yet */
	close(self.exec_fd);
	self.exec_fd = -1;
	if (n == (ssize_t)sizeof(error))
		on_exec_failed(error);
	else
		on_started();
}

/* T_RESUME: our CONT came before the front's stop.  Again. */
static void
on_resume(void)
{
	set_timer(T_RESUME, FOREVER);
	if (self.front_stops > 0 && !server.stopped)
		on_server_stop(0);
}

static void
on_server_end(const siginfo_t *si)
{
	server.ended = true;
	end_witness();
	self.status = si->si_code == CLD_EXITED ? si->si_status & 0xff :
	    BY_SIGNAL + si->si_status;
	if (self.exec_fd != -1)
		on_exec();	/* its last word comes before its end */
	if (end_keeper())	/* it, too, would be somebody who lives */
		set_timer(T_KEEP, opt->interval_ms);
	if (!in_ladder())
		server_ended_itself();
}

/*
 * Whoever ended.  WNOWAIT, so that the server stays and keeps its pid; others
 * are reaped by pid.  Behind the ended server look() reaps.
 */
static void
reap(void)
{
	siginfo_t si;

	self.child = false;
	while (!server.ended) {
		si.si_pid = 0;
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == -1 ||
		    si.si_pid == 0)
			break;
		if (si.si_pid == server.pid)
			on_server_end(&si);
		else if (si.si_pid == keeper_pid())
			on_answered(reap_keeper());
		else if (si.si_pid == witness_pid())
			end_witness();
		else
			waitid(P_PID, (id_t)si.si_pid, &si, WEXITED | WNOHANG);
	}
	on_answered(reap_keeper());
	reap_stops();
	on_child();
}

/* --- the front ----------------------------------------------------------- */

/*
 * End as the server did: the same code, or death by the same signal, without a
 * second core.  Where the signal does not kill: what a shell would report.
 */
static noreturn void
finish(int status)
{
	struct rlimit none = { 0, 0 };

	if (will != NULL && will->died)
		restore_terminal();
	if (status < BY_SIGNAL)
		_exit(status);
	setrlimit(RLIMIT_CORE, &none);
	never_dump();
	raise_plainly(status - BY_SIGNAL);
	_exit(128 + status - BY_SIGNAL);
}

/* All that came, before anything a peer wrote. */
static void
drain_signals(void (*on_signal)(const struct note *))
{
	struct note notes[8];
	size_t n;

	while ((n = read_signals(notes, COUNT(notes))) > 0)
		for (size_t i = 0; i < n; i++)
			if (notes[i].signo == SIGCHLD)
				self.child = true;	/* forged: harmless */
			else
				on_signal(&notes[i]);
}

/*
 * At the end of a terminal the kernel tells the leader of its session and
 * nobody else.  Where that is us the server has it from here, before it reads
 * the end of file.  Nobody reaps it while the supervisor's end is open.
 */
static bool
pass_hang_up(const struct note *n)
{
	struct pollfd p = { .fd = self.peer };
	static bool passed;

	if (n->signo != SIGHUP || from_process(n) || getsid(0) != self.pid ||
	    passed || self.peer == -1 || will->server == 0 || will->ended ||
	    poll(&p, 1, 0) != 0)
		return false;
	return passed = send_signal(will->server, SIGHUP) == 0;
}

/* To the front, or to the witness. */
static void
front_signal(const struct note *n)
{
	struct note note = *n;

	if (n->pid == self.pid)		/* our own EPIPE */
		return;
	if (n->signo == SIGCONT && self.role == FRONT)	/* a stop can have */
		send_signal(self.supervisor, SIGCONT);	/* met its setsid() */
	if (pass_hang_up(n))
		note.kind = NOTE_HUNG_UP;
	send_note(self.peer, &note, true);
}

static volatile sig_atomic_t ran;	/* CONT or a stop came meanwhile */

static void
relay_at_once(int signo, siginfo_t *si, void *context)
{
	struct note n = note_of(si);
	int saved = errno;

	(void)signo, (void)context;
	ran = true;
	front_signal(&n);
	errno = saved;
}

/*
 * Stop as the server did, so that the host's shell sees it; unless the server
 * runs again by now: a note waits while we are stopped.  In an orphaned group
 * the kernel discards terminal stops (setpgid(2)): we ran on, SIGSTOP stops.
 * A stop flushes a CONT that waits to be read (signal(7)), so what comes now is
 * relayed at once; if we stop nevertheless the supervisor's CONT undoes it.
 */
static void
stop_likewise(int signo)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = relay_at_once;
	sigemptyset(&sa.sa_mask);
	ran = false;
	act_at_once(&sa);
	drain_signals(front_signal);
	if (!will->ended && is_stopped(will->server, true) && !ran) {
		if (signo != SIGSTOP)
			raise_plainly(signo);
		if (!ran)
			kill(self.pid, SIGSTOP);
	}
	act_as_before();
	tell_peer(NOTE_RESUMED, 0);
}

static void
front_note(const struct note *n)
{
	switch (n->kind) {
	case NOTE_STARTED:
		leave_stderr(STDIN_FILENO);
		break;
	case NOTE_STOP:
		stop_likewise(n->signo);
		break;
	case NOTE_ASK:
		drain_signals(front_signal);
		tell_peer(NOTE_ALL, 0);
		break;
	case NOTE_LEAVE:
		tell_peer(NOTE_LEAVE, 0);
		finish(n->signo);
	default:	/* not for this side */
		break;
	}
}

/*
 * The supervisor was killed.  The kernel gave us its children and gave the
 * server the stop signal; the same ladder goes on from step 1.  The server has
 * its say first: it holds the other end until its exec, which may hang.
 */
static void
stand_in(void)
{
	struct note notes[8];
	int n, came;

	do {
		n = receive_notes(self.peer, notes, COUNT(notes),
		    will->server == 0, &server.fd);
		for (int i = 0; i < n; i++)
			front_note(&notes[i]);
	} while (n > 0 || (n == 0 && will->server == 0));
	close(self.peer);
	self.peer = -1;
	server.pid = will->server;
	if (self.own_group)
		group_made(server.pid);
	if (will->keeper != 0)
		meet_keeper(will->keeper, &will->keeper);
	self.reason = will->reason;
	if (server.pid == 0)
		refuse(NOT_STARTED, "the supervisor was killed before the "
		    "server was started");
	self.role = STANDIN;
	if (!self.adopts && server.fd == -1) {
		say(DEFAULT, "the supervisor %d was killed; server %d can't "
		    "be reached from here", (int)self.supervisor,
		    (int)server.pid);
		release_files();
		finish(final_status());
	}
	came = kernel_told(server.pid);
	if (came != 0)
		server.told_ms = now_ms();
	begin(SUPERVISOR_KILLED);	/* ends --keep-if, too */
	if (came == -1)
		set_timer(T_ASK, DROPPED_MS);
	self.child = true;
}

/* No witness any more: what reaches us goes on. */
static void
standin_signal(const struct note *n)
{
	if (!is_of_tree(family(), n->pid))
		deliver(n);
}

/* T_ASK: nobody can tell whether the kernel's signal came; it is still here. */
static void
on_dropped(void)
{
	set_timer(T_ASK, FOREVER);
	signal_server(opt->signal);
	signal_server(SIGCONT);
}

static void
witness_note(const struct note *n)
{
	if (n->kind != NOTE_STARTED) {
		front_note(n);
		return;
	}
	server.pid = will->server;
	set_title("");
}

static void
supervisor_note(const struct note *n)
{
	switch (n->kind) {
	case NOTE_SIGNAL:
		on_relay(n);
		break;
	case NOTE_HUNG_UP:
		heard(n);
		on_had(n);
		break;
	case NOTE_RESUMED:
		self.front_stops--;
		break;
	case NOTE_ALL:
		on_answer();
		break;
	case NOTE_ORPHAN:
		lose_parent();
		on_owners();
		break;
	default:	/* not for this side */
		break;
	}
}

/* --- share: one server, several fronts -------------------------------- */
/*
 * A front connects to the server's socket, and holds the server as long as the
 * connection is open.  Where nobody listens it takes the lock and starts a
 * detached pair, the guard (a front without a host) and the supervisor, who
 * keep the lock for life: no two servers run at once.
 *
 * What the supervisor says, a line each: "server PID COMMAND" at once;
 * "exit STATUS", "signal NUMBER" or "failed ERRNO" at the end.
 */

/* Not what another has put in its place. */
static bool
is_this_socket(void)
{
	struct stat st;

	return lstat(share.path, &st) == 0 && st.st_dev == share.inode.st_dev &&
	    st.st_ino == share.inode.st_ino;
}

static int
unix_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd != -1) {
		set_cloexec(fd);
		fcntl(fd, F_SETFL, O_NONBLOCK);
	}
	return fd;
}

/* EAGAIN: its backlog is full. */
static int
connect_share(void)
{
	pid_t pid;
	uid_t uid;
	int error, fd = unix_socket();

	if (fd != -1 && connect(fd, (struct sockaddr *)&share.address,
	    sizeof(share.address)) == 0 && peer_of(fd, &pid, &uid) == 0) {
		if (uid == geteuid())
			return fd;
		errno = EPERM;
	}
	error = errno;
	if (fd != -1)
		close(fd);
	errno = error;
	return -1;
}

/*
 * 1: the lock is ours, 0: another has it, -1: nobody has, and it was not made.
 * Both of a pair have it: who is forked inherits it.
 */
static int
lock_share(bool make)
{
	int fd = open_lock(share.lock, make ? O_CREAT : 0);
	bool locked = fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd == -1)
		return -1;
	if (!locked && errno != EWOULDBLOCK && errno != EINTR)
		refuse(NOT_STARTED, "lock %s: %s", share.lock, strerror(errno));
	if (locked && is_lock(fd, share.lock)) {
		share.lock_fd = survive(fd);
		return 1;
	}
	close(fd);
	return 0;
}

/*
 * Under the lock: what is there is stale.  Who comes before we listen finds the
 * lock held, and tries again.  Our own hold is the first one.
 */
static int
open_door(void)
{
	mode_t mask = umask(0177);
	int done = -1;

	unlink(share.path);
	if ((share.listen_fd = survive(unix_socket())) != -1 &&
	    bind(share.listen_fd, (struct sockaddr *)&share.address,
	    sizeof(share.address)) == 0 &&
	    lstat(share.path, &share.inode) == 0)
		done = listen(share.listen_fd, INT_MAX);  /* it takes less */
	umask(mask);
	if (done == 0)
		done = share.hold = connect_share();
	return done == -1 ? -1 : 0;
}

/* Who has connected and was not accepted is hung up on, and tries again. */
static void
close_door(void)
{
	if (share.listen_fd == -1)
		return;
	if (is_this_socket())
		unlink(share.path);
	close(share.listen_fd);
	share.listen_fd = -1;
}

static void
join_command(char *buf, size_t size)
{
	buf[0] = '\0';
	for (char **arg = opt->command; *arg != NULL; arg++)
		add_word(buf, size, " ", *arg);
	make_harmless(buf, (int)strlen(buf));
}

/* A line so short fits as a whole, or the peer does not read. */
static void
greet(const struct owner *o)
{
	char line[sizeof(share.command) + 32];

	snprintf(line, sizeof(line), "server %d %s\n", (int)server.pid,
	    share.command);
	send(o->fd, line, strlen(line), MSG_DONTWAIT | no_sigpipe);
}

/* One more hold, or it is closed: another user's, no memory. */
static void
add_hold(int fd)
{
	struct owner *o;
	char who[64];
	pid_t pid;
	uid_t uid;

	set_cloexec(fd);
	if (peer_of(fd, &pid, &uid) == -1 || uid != geteuid() ||
	    (o = owner_new()) == NULL) {
		close(fd);
		return;
	}
	o->pid = pid;
	o->kind = &by_fd;
	o->number = o->fd = fd;
	o->events = 0;		/* what comes in is not read */
	say(VERBOSE, "%s attached", label_of(pid, who));
	if (self.phase != STARTING && share.error == 0)
		greet(o);
}

/* For many holds.  The server has its own limit already. */
static void
raise_limit(void)
{
	struct rlimit rl;

	getrlimit(RLIMIT_NOFILE, &share.limit);
	rl = share.limit;
	rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl);
}

/* All who wait; again later where descriptors are short. */
static void
accept_all(void)
{
	struct rlimit all, rl;
	int fd;

	if (share.listen_fd == -1)
		return;
	set_timer(T_TRY, FOREVER);
	getrlimit(RLIMIT_NOFILE, &all);
	rl = all;
	rl.rlim_cur -= LOOK_FDS;
	setrlimit(RLIMIT_NOFILE, &rl);
	while ((fd = accept(share.listen_fd, NULL, NULL)) != -1)
		add_hold(fd);
	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		set_timer(T_TRY, opt->interval_ms);
	setrlimit(RLIMIT_NOFILE, &all);
}

static void
accept_holds(void)
{
	accept_all();
	if (self.phase == GRACE && next_owner(NULL) != NULL)
		enter(server.ended ? LEFT : RUNNING);
}

/* Those gone. */
static void
drop_holds(void)
{
	for (struct owner *o = next_owner(NULL); o != NULL; )
		if (o->gone) {
			say(VERBOSE, "%d let go", (int)o->pid);
			close(o->fd);
			o = drop_owner(o);
		} else
			o = next_owner(o);
	if (due(T_TRY) != FOREVER)	/* descriptors are free again */
		set_timer(T_TRY, 0);
}

/* Once they are gone they may be another's: then the lock is not ours. */
static void
unlink_share(void)
{
	if (!is_lock(share.lock_fd, share.lock))
		return;
	if (is_this_socket())
		unlink(share.path);
	unlink(share.lock);
}

/*
 * The last words to every front; socket and lock are gone before we are.  Where
 * the supervisor is killed after this, they are no longer the guard's.
 */
static void
end_share(void)
{
	int status = final_status();
	char line[32];

	if (share.lock_fd == -1 || self.role == FRONT)
		return;
	accept_all();
	close_door();
	unlink_share();
	snprintf(line, sizeof(line), share.error != 0 ? "failed %d\n" :
	    status >= BY_SIGNAL ? "signal %d\n" : "exit %d\n",
	    share.error != 0 ? share.error : status & ~BY_SIGNAL);
	for (struct owner *o = NULL; (o = next_owner(o)) != NULL; )
		send(o->fd, line, strlen(line), MSG_DONTWAIT | no_sigpipe);
}

/*
 * What is still ours goes while it is locked: at the very end.  Of a shared
 * server only where we are refused under our lock: no pair has come of it.
 */
static void
release_files(void)
{
	bool starts = self.role == HOLDER || self.supervisor <= 0;

	if (share.lock_fd != -1 && starts)
		unlink_share();
	if (self.role != HOLDER && (self.role != FRONT || starts))
		release_unique();	/* the supervisor's to do */
}

/* In the pair: nothing of the starter's but directory, environment, limits. */
static void
become_pair(int pair[2])
{
	self.role = FRONT;
	self.pid = getpid();
	self.sid = self.group = setsid();
	forget_owners();
	stop_timers();
	join_command(share.command, sizeof(share.command));
	share.hold = -1;
	self.tty = self.tty_saved = false;
	self.own_group = !proc_listed() && opt->scope != SCOPE_PROCESS;
	forget_names();
	dup2(self.null_fd, STDIN_FILENO);
	dup2(opt->log_fd != -1 ? opt->log_fd : self.null_fd, STDOUT_FILENO);
	leave_stderr(STDOUT_FILENO);
	self.null_fd = STDIN_FILENO;
	survive_none();
	survive(share.lock_fd);
	survive(share.listen_fd);
	survive(opt->log_fd);
	close_others();
	open_channels(pair);
}

/*
 * Fork the pair, by a child that ends at once: nobody finds it below the
 * starter.  Signals are blocked until each has a pipe of its own.  1 in the
 * pair.
 */
static int
start_pair(int pair[2])
{
	pid_t pid;
	int status = 0;

	hold_signals();
	if ((pid = fork()) == 0) {
		if ((pid = fork()) == 0) {
			become_pair(pair);
			return 1;
		}
		_exit(pid == -1 ? errno : 0);
	}
	if (pid != -1 && waitpid(pid, &status, 0) == pid)
		errno = WEXITSTATUS(status);
	if (pid == -1 || status != 0)
		refuse(NOT_STARTED, "the guard can't be forked: %s",
		    strerror(errno));
	close(share.lock_fd);
	close(share.listen_fd);
	share.lock_fd = share.listen_fd = -1;
	share.since_ms = now_ms();
	release_signals();
	return 0;
}

static noreturn void
refuse_stranger(void)
{
	refuse(NOT_STARTED, "%s: another program listens there", share.path);
}

/*
 * A pair has the lock from before its socket to after its last connection.  Who
 * listens without it is no pair, or one that has just ended.
 */
static bool
is_pair(void)
{
	bool doubt = lock_share(false) != 0;

	if (doubt && share.doubted)
		refuse_stranger();
	share.doubted = doubt;
	if (doubt) {
		close(share.lock_fd);
		close(share.hold);
		share.lock_fd = share.hold = -1;
	}
	return !doubt;
}

/* Connect, or start; false: wait for who does or stops. */
static bool
try_attach(void)
{
	struct stat st;
	int lock;

	if (lstat(share.path, &st) == 0 && (!S_ISSOCK(st.st_mode) ||
	    st.st_uid != geteuid()))
		refuse(NOT_STARTED, "%s: is there, and no socket of this user",
		    share.path);
	if ((share.hold = connect_share()) != -1)
		return is_pair();
	if (errno == EAGAIN || errno == EINTR)
		return false;
	if (errno != ENOENT && errno != ECONNREFUSED)
		refuse(NOT_STARTED, "socket %s: %s", share.path,
		    strerror(errno));
	lock = lock_share(opt->command != NULL);
	if (opt->command == NULL && lock != 0)
		refuse(NOT_STARTED, "%s: no server is shared there",
		    share.path);
	if (lock != 1) {
		if (!share.waits)
			say(VERBOSE, "%s: waiting for a server that starts or "
			    "ends", share.path);
		share.waits = true;
		return false;
	}
	if (open_door() == -1)
		refuse(NOT_STARTED, "socket %s: %s", share.path,
		    strerror(errno));
	if (start_pair(share_pair) == 1)
		self.phase = OVER;	/* of this loop: main goes on */
	return true;
}

/* The owners of a front are gone: a shared server may have others. */
static noreturn void
leave_server(void)
{
	char gone[LINE_SIZE / 2];
	int n = list_owners(gone, sizeof(gone), OWNERS_GONE);
	bool shared = opt->share != NULL;

	say(shared ? ORPHANED : REFUSED, "owner%s %s %s gone%s%s",
	    n > 1 ? "s" : "", gone, n > 1 ? "are" : "is",
	    shared ? "; letting go of " : ": not started", share.path);
	exit(NO_OWNER);
}

/* To a front alone. */
static void
holder_signal(const struct note *n)
{
	if (n->pid == self.pid || was_ignored(n->signo))
		return;
	if (is_ending(n->signo))
		finish(BY_SIGNAL + n->signo);
}

static void
on_greeting(int pid, const char *command)
{
	char mine[256];

	server.pid = pid;
	list_owners(mine, sizeof(mine), OWNERS_ALL);
	say(VERBOSE, "attached to server %d, shared as %s; owner %s", pid,
	    share.path, mine);
	survive(share.hold);
	drop_inherited();
	if (opt->command == NULL)
		return;
	join_command(mine, sizeof(mine));
	if (strcmp(command, mine) != 0)
		say(DEFAULT, "attached to server %d, which was started as "
		    "another command: %s, not %s", pid, command, mine);
}

static void
on_shared_end(int status)
{
	char how_long[32], how[32], name[16];
	int64_t lived = passed_ms(share.since_ms);

	snprintf(how, sizeof(how), "status %d", status);
	if (share.since_ms != 0 && server.pid == 0)
		refuse(NOT_STARTED, "the server can't be forked");
	if (share.since_ms != 0 && lived < STDIO_MS && status != NO_OWNER)
		say(DEFAULT, "the shared server ended after %s (%s): what it "
		    "says goes to --log%s", seconds(lived, how_long),
		    status < BY_SIGNAL ? how :
		    signal_name(status - BY_SIGNAL, name), status < BY_SIGNAL ?
		    "; --share is not for stdio servers" : "");
	finish(status);
}

/* What could not be executed may be another command than ours. */
static void
on_share_failed(int error)
{
	if (opt->command == NULL)
		refuse(NOT_STARTED, "%s: the server can't be executed: %s",
		    share.path, strerror(error));
	if (share.since_ms != 0)
		exit(say_exec_error(opt->command[0], error));
	shutdown(share.hold, SHUT_RDWR);	/* try again */
}

static void
on_share_line(const char *line)
{
	int n, at = 0;

	if (sscanf(line, "server %d %n", &n, &at) == 1 && at > 0) {
		if (server.pid == 0)
			on_greeting(n, line + at);
	} else if (sscanf(line, "exit %d", &n) == 1)
		on_shared_end(n & 255);
	else if (sscanf(line, "signal %d", &n) == 1)
		on_shared_end(BY_SIGNAL + (n & 127));
	else if (sscanf(line, "failed %d", &n) == 1)
		on_share_failed(n);
	else
		refuse_stranger();
}

/*
 * What the supervisor says, whole lines: each was sent as one piece, and there
 * is room for all.  Its end without a word is one of both killed.
 */
static void
on_share(void)
{
	char text[1024];
	ssize_t n = read(share.hold, text, sizeof(text) - 1);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(share.hold);
		share.hold = -1;
		if (server.pid != 0 || share.since_ms != 0) {
			say(DEFAULT, "the supervisor of %s is gone, without a "
			    "status", share.path);
			exit(NOT_STARTED);
		}
		set_timer(T_TRY, TRY_MS);	/* it was about to stop */
		return;
	}
	text[n] = '\0';
	for (char *line = strtok(text, "\n"); line != NULL;
	    line = strtok(NULL, "\n"))
		on_share_line(line);
}

/* T_TRY: accept holds again; or, in a front: is it its turn? */
static void
on_try(void)
{
	set_timer(T_TRY, FOREVER);
	if (self.role != HOLDER)
		accept_holds();
	else if (!(opt->share != NULL ? try_attach() : take_turn()))
		set_timer(T_TRY, TRY_MS);
	else if (opt->share == NULL)
		self.phase = OVER;	/* of this loop: main goes on */
}

/* --- the loop --------------------------------------------------------- */
/*
 * One for all roles.  What differs is in this table; the order is always:
 * signals, peer, the server, owners, time.  So a real exit status is read
 * before the owner's death of the same moment.
 */
static const struct {
	void (*on_signal)(const struct note *);
	void (*on_note)(const struct note *);
} roles[] = {
	[FRONT] = { front_signal, front_note },
	[SUPERVISOR] = { on_own, supervisor_note },
	[STANDIN] = { standin_signal, front_note },
	[HOLDER] = { holder_signal, NULL },
	[WITNESS] = { front_signal, witness_note }
};

/* The other end is closed: its end comes next, or came. */
static void
lose_supervisor(void)
{
	while (waitpid(self.supervisor, NULL, 0) == -1 && errno == EINTR)
		continue;
	if (will->ended)
		finish(will->status);
	stand_in();
}

static void
on_peer(void)
{
	struct note notes[8];
	int n = receive_notes(self.peer, notes, COUNT(notes), false,
	    &server.fd);

	for (int i = 0; i < n; i++)
		roles[self.role].on_note(&notes[i]);
	if (n != -1)
		return;
	if (self.role == WITNESS)
		_exit(0);
	close(self.peer);
	self.peer = -1;
	self.front_stops = 0;
	end_witness();
	if (self.role == FRONT)
		lose_supervisor();
	else if (self.front_is == THERE && has_keepers() &&
	    opt->share == NULL && !in_ladder())
		lose_front();
	else if (self.front_is == THERE) {
		self.front_is = KILLED;
		begin(FRONT_KILLED);
		leave_stderr(STDIN_FILENO);	/* its reader waits for that */
	}
}

/*
 * A child ended: in the front only the supervisor's end matters.  Others are
 * strangers, left by an exec'd shell, or as a container's first process.
 */
static void
on_end(void)
{
	siginfo_t si;

	self.child = false;
	if (self.role != FRONT && self.role != HOLDER) {
		if (is_parent())
			reap();
		return;
	}
	while (si.si_pid = 0, waitid(P_ALL, 0, &si, WEXITED | WNOHANG |
	    WNOWAIT) == 0 && si.si_pid != 0)
		if (si.si_pid == self.supervisor) {
			lose_supervisor();
			break;
		} else
			waitid(P_PID, (id_t)si.si_pid, &si, WEXITED | WNOHANG);
}

/*
 * The exec pipe, the stand-in's exit descriptor of the server, or a front's
 * connection to a shared one's supervisor.
 */
static void
on_server_fd(short revents)
{
	if (self.role == HOLDER)
		on_share();
	else if (self.role != STANDIN)
		on_exec();
	else if (exit_fired(server.fd, revents)) {
		server.ended = true;
		on_child();
	}
}

/* T_TICK */
static void
on_tick(void)
{
	set_timer(T_TICK, FOREVER);
	if (self.role != FRONT)
		on_owners();
	else if (parent_has_changed())
		tell_peer(NOTE_ORPHAN, 0);
}

static void (*const on_timer[TIMERS])(void) = {
	[T_PHASE] = on_phase_end, [T_TICK] = on_tick, [T_HELD] = judge_held,
	[T_ALONE] = on_alone, [T_LOOK] = on_look, [T_RESUME] = on_resume,
	[T_ASK] = on_dropped, [T_KEEP] = on_keep, [T_IDLE] = on_idle_look,
	[T_TRY] = on_try
};

static int
next_timeout(void)
{
	int64_t next = FOREVER, left;

	if (self.child)
		return 0;
	if (due(T_TICK) == FOREVER && !in_ladder() &&
	    (self.role == FRONT ? is_parent_polled() : is_one_polled()))
		set_timer(T_TICK, opt->interval_ms -	/* all at once */
		    now_ms() % opt->interval_ms);
	for (enum timer i = 0; i < TIMERS; i++)
		next = shorter(next, due(i));
	if (next == FOREVER)
		return -1;
	left = next - now_ms();
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

enum { P_SIGNALS, P_PEER, P_SERVER, P_WITNESS, P_OWNERS };

/* Behind the first four: the door of a shared server, then the owners. */
static int
watch_owners(struct pollfd *polls)
{
	int n = P_OWNERS;

	if (in_ladder() || (self.role != SUPERVISOR && self.role != HOLDER))
		return n;
	if (share.listen_fd != -1 && due(T_TRY) == FOREVER)
		polls[n++] = (struct pollfd){ .fd = share.listen_fd,
		    .events = POLLIN };
	return n + poll_owners(polls + n);
}

/* One poll(): of the first four what is ready; true: an owner or the door. */
static bool
wait_for_all(short ready[P_OWNERS])
{
	const int fds[] = { [P_SIGNALS] = signals_fd(), [P_PEER] = self.peer,
	    [P_SERVER] = self.role == STANDIN ? server.fd :
	    self.role == HOLDER ? share.hold : self.exec_fd,
	    [P_WITNESS] = witness_fd() };
	struct pollfd *polls = room_to_poll();	/* it moves as owners come */
	int n = watch_owners(polls);
	bool fired = false;

	for (int i = 0; i < P_OWNERS; i++)
		polls[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (poll(polls, (nfds_t)n, next_timeout()) == -1 &&
	    errno != EINTR) {		/* no memory: look by ourselves */
		poll(NULL, 0, LOOK_MS);
		for (int i = P_PEER; i < n; i++)
			polls[i].revents = i == P_SERVER ? 0 : POLLIN;
	}
	for (int i = 0; i < P_OWNERS; i++)
		ready[i] = polls[i].revents;
	for (int i = P_OWNERS; i < n; i++)
		fired |= polls[i].revents != 0;
	return fired;
}

static void
loop(void)
{
	short ready[P_OWNERS];

	while (self.phase != OVER) {
		bool fired = wait_for_all(ready);

		drain_signals(roles[self.role].on_signal);
		if (ready[P_WITNESS] != 0)
			on_witness();
		if (ready[P_PEER] != 0)
			on_peer();
		if (ready[P_SERVER] != 0)
			on_server_fd(ready[P_SERVER]);
		if (self.child)
			on_end();
		if (fired) {
			if (share.listen_fd != -1)
				accept_holds();
			on_owners();
		}
		for (enum timer i = 0; i < TIMERS && self.phase != OVER; i++)
			if (due(i) != FOREVER && due(i) <= now_ms())
				on_timer[i]();
	}
}

/* --- main ------------------------------------------------------------- */

static const char too_few[] = "6 free descriptors are needed: %s";

/*
 * Fill 0 to 2 where they are closed, so that nothing of ours lands there; the
 * exec closes them again.  Done before any other descriptor is opened.
 */
static void
reserve_descriptors(void)
{
	do {
		self.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (self.null_fd == -1 && errno != EMFILE && errno != ENFILE)
			self.null_fd = open("/", O_RDONLY | O_CLOEXEC);
		if (self.null_fd == STDERR_FILENO)
			leave_stderr(self.null_fd);
	} while (self.null_fd != -1 && self.null_fd <= STDERR_FILENO);
	if (self.null_fd == -1)
		refuse(NOT_STARTED, too_few, strerror(errno));
}

/* Is fd 2 the pipe or socket of 0 or 1, so the protocol's? */
static bool
shares_stderr(void)
{
	struct stat two, other;

	if (fstat(STDERR_FILENO, &two) == -1 ||
	    (!S_ISFIFO(two.st_mode) && !S_ISSOCK(two.st_mode)))
		return false;
	for (int fd = 0; fd < STDERR_FILENO; fd++)
		if (fstat(fd, &other) == 0 && other.st_dev == two.st_dev &&
		    other.st_ino == two.st_ino)
			return true;
	return false;
}

/* What must be known of the world before anything is forked. */
static void
look_around(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	self.tty = fd != -1;
	self.tty_saved = self.tty && tcgetattr(fd, &self.termios) == 0;
	if (self.tty)
		close(fd);
	self.own_group = !proc_listed() && !self.tty &&
	    opt->scope != SCOPE_PROCESS;
}

/*
 * For the peer, for signals, and for the errno of the exec.  Before the owners'
 * descriptors, which can be done without.
 */
static void
open_channels(int pair[2])
{
	if (pair_cloexec(pair) == -1 || open_signals() == -1 ||
	    pipe_nowait(self.exec_pipe) == -1)
		refuse(NOT_STARTED, too_few, strerror(errno));
	survive(pair[0]);
	survive(pair[1]);
}

/* Where the files are that keep other servers away. */
static void
find_files(void)
{
	atexit(release_files);
	if (opt->share != NULL) {
		find_path(opt->share, ".sock", share.path, sizeof(share.lock) -
		    strlen(".lock"));
		snprintf(share.lock, sizeof(share.lock), "%s.lock", share.path);
		share.address.sun_family = AF_UNIX;
	}
	if (opt->unique != NULL)
		find_unique();
}

/*
 * Until the server may be started; a front of a shared one stays in here, and
 * it is the pair that returns.
 */
static void
wait_turn(int pair[2])
{
	struct sigaction plain = { .sa_handler = SIG_DFL };

	self.role = HOLDER;
	self.phase = RUNNING;
	share_pair = pair;
	name_owners();		/* and their start times: one may go */
	find_files();
	set_timer(T_TRY, 0);
	release_signals();
	act_at_once(&plain);	/* its stops are none of the server's */
	loop();
	hold_signals();
	act_as_before();
	stop_timers();
	self.role = FRONT;
}

/* One that is only about to stop would do so after our last CONT: again. */
static void
let_front_go(void)
{
	struct pollfd p = { .fd = self.peer, .events = POLLIN };
	struct note notes[8];
	int n = 0;

	while (n != -1 && self.peer != -1 && getppid() == self.front) {
		send_signal(self.front, SIGCONT);
		if (self.front_stops == 0)
			break;
		poll(&p, 1, RESUME_MS);
		n = receive_notes(self.peer, notes, COUNT(notes), false,
	    &server.fd);
		for (int i = 0; i < n; i++)
			self.front_stops -= notes[i].kind == NOTE_RESUMED;
	}
}

/*
 * The last words: the status, the server's pid given back, CONT.  Who ended
 * beside it goes, too: pid 1 may be one that does not reap.
 */
static void
conclude(void)
{
	siginfo_t si;

	end_witness();
	will->status = final_status();
	will->died = self.status >= BY_SIGNAL && self.reason != NONE &&
	    self.reason != SERVER_LEFT;
	will->ended = true;
	if (server.pid != 0)	/* D state: it is not waited for */
		waitid(P_PID, (id_t)server.pid, &si,
		    WEXITED | (server.ended ? 0 : WNOHANG));
	while (is_parent() && waitpid(-1, NULL, WNOHANG) > 0)
		continue;	/* behind the server none could be seen */
	end_share();
	release_files();
	let_front_go();
}

/* The witness's life: nothing of the host's but its group. */
static noreturn void
bear_witness(int fd)
{
	die_with_parent(SIGKILL);
	if (getppid() != self.supervisor)
		_exit(0);
	self.role = WITNESS;
	self.phase = RUNNING;
	self.pid = getpid();
	self.peer = fd;
	self.adopts = false;
	forget_owners();
	name_process("ow-witness");
	survive_none();
	survive(fd);
	if (own_signals() == -1)
		_exit(0);
	leave_stderr(self.null_fd);
	drop_inherited();
	release_signals();
	loop();
	_exit(0);
}

/* Before the server: nobody enters the group later. */
static void
start_witness(void)
{
	int end;

	if (fork_witness(&end) == 0)
		bear_witness(end);
}

/*
 * What the supervisor has at the server's fork came to the group, and the
 * server had it, half of it, or not: it still blocks everything, so that one
 * more is the same one.  Its relay, if there is one, has a copy.
 */
static void
pass_on(const struct note *n)
{
	struct note copy = *n;

	copy.pid = -1;
	if (n->pid == self.pid)
		return;		/* our own EPIPE */
	pass(n);
	on_copy(&copy);
}

static void
start_server(int errno_fd)
{
	name_process("ow-supervisor");	/* the server may look */
	while ((server.pid = fork()) == -1) {
		if (end_witness())
			continue;	/* one less: again */
		say(REFUSED, "the server can't be forked: %s",
		    strerror(errno));
		server.pid = 0;
		self.status = NOT_STARTED;	/* the front's, too */
		conclude();
		_exit(0);
	}
	if (server.pid == 0)
		become_server(errno_fd, self.pid);
	if (self.own_group)
		group_made(server.pid);
	close(errno_fd);
	if (own_signals() == -1) {
		say(REFUSED, "no descriptors: %s", strerror(errno));
		send_signal(server.pid, SIGKILL);	/* ENFILE */
		exit(NOT_STARTED);
	}
	release_signals();
	drain_signals(pass_on);
	setsid();
}

/* The supervisor's life.  Signals are held until those it gets are its own. */
static noreturn void
supervise(void)
{
	self.role = SUPERVISOR;
	self.phase = STARTING;
	self.pid = self.supervisor = getpid();
	self.adopts = opt->scope != SCOPE_PROCESS && adopt_orphans() == 0;
	if (!keep_turn())
		exit(NOT_STARTED);	/* the front is gone, and another's */
	rearm_owners();
	if (opt->share == NULL)	/* a pair has no host's group */
		start_witness();
	start_server(self.exec_pipe[1]);
	if (opt->keep_if != NULL)
		save_environment(server.pid, &will->keeper);
	self.exec_fd = survive(self.exec_pipe[0]);
	if (opt->share != NULL)
		raise_limit();
	self.stderr_shared = opt->share == NULL && shares_stderr();
	drop_inherited();
	on_exec();
	loop();
	conclude();
	_exit(0);
}

static void
start_supervisor(int pair[2])
{
	siginfo_t si;

	self.front = self.pid;
	/* Not if an exec'd shell left us children. */
	self.adopts = self.front_adopts = opt->scope != SCOPE_PROCESS &&
	    waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ==
	    -1 && errno == ECHILD && adopt_orphans() == 0;
	will = mmap(NULL, sizeof(*will), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	self.supervisor = will == MAP_FAILED ? -1 : fork();
	if (self.supervisor == -1)
		refuse(NOT_STARTED, "the supervisor can't be forked: %s",
		    strerror(errno));
	self.peer = pair[self.supervisor == 0];
	close(pair[self.supervisor != 0]);
	if (self.supervisor == 0)
		supervise();
	self.phase = RUNNING;
	close_owners();		/* the supervisor's */
	close(share.listen_fd);
	share.listen_fd = -1;
	drop_inherited();
	release_signals();
}

int
main(int argc, char **argv)
{
	int pair[2];

	if (argc == 0)		/* then argv[1] is the environment: execve(2) */
		return NOT_STARTED;
	stop_timers();
	self.pid = getpid();
	self.sid = getsid(0);
	self.group = getpgrp();
	if (!more_room())
		refuse(NOT_STARTED, "no memory");
	find_title_room(argc, argv);
	reserve_descriptors();
	parse(argv);
	for (int i = 0; i < opt->n_sweeps; i++)
		sweep_one(opt->sweeps[i]);
	if (opt->command == NULL && opt->share == NULL)
		exit(list_orphans());
	look_around();
	open_channels(pair);
	open_owners();
	catch_signals();
	if (opt->share != NULL || opt->unique != NULL)
		wait_turn(pair);
	start_supervisor(pair);
	loop();
	conclude();
	finish(final_status());
}
