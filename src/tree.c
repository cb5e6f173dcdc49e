/* tree: all that is below us, who of it is in scope, and telling it */
#include "tree.h"

#include "opt.h"
#include "os.h"
#include "owner.h"
#include "record.h"
#include "say.h"

#include <sys/wait.h>

/* Snapshots of the process table, sorted by pid. */
static struct list now_table, last_table;
static bool group_told;	/* the server's own had the stop signal */
static bool group_lost;	/* it is not there */

const struct list *tree_rows(void) { return &now_table; }

static bool
has_group(const struct family *f)
{
	return f->own_group && !group_lost;
}

/* Another ownerwrap's, by its supervisor's title; 0 = not known. */
static pid_t
server_of(const struct proc *supervisor)
{
	static const char title[] = "ow-supervisor server=";
	char args[64];

	return proc_args(supervisor->pid, args, sizeof(args)) > 0 &&
	    strncmp(args, title, sizeof(title) - 1) == 0 ?
	    atoi(args + sizeof(title) - 1) : 0;
}

/* A front has given 0, 1 and 2 to its server. */
static pid_t
heir_of(const struct proc *p)
{
	for (size_t i = 0; i < now_table.n; i++)
		if (row(&now_table, i)->ppid == p->pid &&
		    is_supervisor(row(&now_table, i)))
			return server_of(row(&now_table, i));
	return p->pid;
}

/* nohup(1), and not from us. */
static bool
is_nohup(pid_t pid)
{
	return !was_ignored(SIGHUP) && (proc_number(pid, "status",
	    "\nSigIgn:", 16) & 1u << (SIGHUP - 1)) != 0;
}

/* Somebody may talk to it: 0, 1 or 2 is a pipe, a socket or a terminal. */
static bool
is_wired(pid_t pid)
{
	static const char *const kinds[] = { "pipe:", "socket:", "/dev/pts/",
	    "/dev/tty", "/dev/console" };
	char path[64], file[16], target[32];

	for (int fd = 0; fd < 3; fd++) {
		ssize_t n;

		snprintf(file, sizeof(file), "fd/%d", fd);
		n = readlink(proc_path(pid, file, path), target,
		    sizeof(target));
		for (size_t i = 0; i < COUNT(kinds); i++)
			if (n >= (ssize_t)strlen(kinds[i]) && memcmp(target,
			    kinds[i], strlen(kinds[i])) == 0)
				return true;
	}
	return false;
}

/*
 * Whatever its session: all parents up to the server live, none of them ignores
 * HUP, and no session between was cut loose by who made it, as a browser is
 * that others use, too.  What an ow-supervisor has adopted has lost its parent;
 * its server's is the front.
 */
static bool
is_attached(const struct family *f, const struct proc *p)
{
	const struct proc *up;
	size_t steps = 0;

	for (; p->pid != f->server; p = up) {
		up = find(&now_table, p->ppid);
		if (up != NULL && is_supervisor(up))
			up = server_of(up) == p->pid ?
			    find(&now_table, up->ppid) : NULL;
		if (up == NULL || !up->in_tree || is_dead(up) ||
		    steps++ == now_table.n || is_nohup(p->pid) ||
		    (p->sid != up->sid &&
		    (p->pid != p->sid || !is_wired(heir_of(p)))))
			return false;
	}
	return true;
}

static bool
in_scope(const struct family *f, const struct proc *p)
{
	return opt->scope == SCOPE_TREE || p->sid == f->sid ||
	    p->sid == f->server || p->kept;
}

/* What hangs below another ownerwrap is told through that one's front. */
static bool
told_by_another(const struct proc *p)
{
	const struct proc *front = find(&now_table, p->ppid);

	return p->wrap != 0 && (p->pid != p->wrap || (front != NULL &&
	    front->in_scope && !is_dead(front)));
}

/*
 * The stop signal, then CONT so that a stopped one can act on it; or SIGKILL.
 * The pid is from a snapshot: it is the same process only if its start time is
 * still the same behind the exit descriptor.
 */
static bool
tell(struct proc *p, int signo)
{
	struct proc again;
	bool done = false;
	int fd = exit_open(p->pid);

	if (proc_stat(p->pid, &again) == 0 && again.ticks == p->ticks) {
		done = signal_behind(fd, p->pid, signo) == 0;
		p->refused = !done && errno == EPERM;
		if (done && signo != SIGKILL)
			signal_behind(fd, p->pid, SIGCONT);
	}
	if (fd != -1)
		close(fd);
	p->told = true;
	return done;
}

static bool
nobody_lives(const struct family *f)
{
	return tree_gone(f->server, f->ended, has_group(f));
}

/* Is there more than the server that we can see and may end? */
static bool
sees_tree(const struct family *f)
{
	return opt->scope != SCOPE_PROCESS &&
	    (proc_listed() || has_group(f)) && f->is_parent;
}

/* No list of the tree: the server's own group is all that can be reached. */
static int
look_at_group(const struct family *f, int signo, int *told)
{
	if (signo == SIGKILL || (signo != 0 && !group_told)) {
		group_told = true;
		*told = send_signal(-f->server, signo) == 0;
		if (*told)
			send_signal(-f->server, SIGCONT);
		else if (errno == ESRCH) {
			say(DEFAULT, "group %d is not there: "
			    "server alone is stopped", (int)f->server);
			group_lost = true;
		}
	}
	return !nobody_lives(f);
}

/* What an earlier look or a signal to the group has done to p. */
static void
remember(const struct family *f, struct proc *p)
{
	struct proc *last = find(&last_table, p->pid);

	if (last != NULL && last->ticks == p->ticks) {
		p->told = last->told;
		p->refused = last->refused;
		p->kept = last->kept;
	}
	if (still_counts(f->group_ms) && p->pgrp == f->group &&
	    proc_age_ms(p->ticks) >= now_ms() - f->group_ms)
		p->told = true;
}

/*
 * Who is in scope?  When a stop begins, and in it, who is attached to the
 * living server as well; who is then stays so.  An ow-supervisor has a session
 * of its own: it is in scope with whom it is there for.
 */
static void
mark_scope(const struct family *f, bool stopping)
{
	bool look_up = stopping && opt->scope == SCOPE_SESSION && !f->ended;
	struct proc *p, *up;

	for (size_t i = 0; i < now_table.n; i++) {
		p = row(&now_table, i);
		if (!p->in_tree)
			continue;
		remember(f, p);
		p->in_scope = in_scope(f, p) || (look_up && is_attached(f, p));
		p->kept |= stopping && p->in_scope;
	}
	for (size_t i = 0; i < now_table.n; i++) {
		p = row(&now_table, i);
		if (p->in_scope && (up = find(&now_table, p->ppid)) != NULL &&
		    up->in_tree && is_supervisor(up))
			up->in_scope = true;
	}
}

/* The children of row i: witness and --keep-if are ours, not of the tree. */
static void
mark_children(const struct family *f, size_t i, size_t first)
{
	const struct proc *up = row(&now_table, i);

	for (size_t k = first; k < now_table.n; k++) {
		struct proc *p = row(&now_table, k);

		p->in_tree = (i == 0 || up->in_tree) && p->pid != f->witness &&
		    (f->keeper == 0 || p->pgrp != f->keeper);
		p->wrap = up->wrap != 0 ? up->wrap :
		    is_supervisor(p) ? p->pid : 0;
	}
}

/*
 * We and all below us, to which every orphan of the tree comes.  Quick: by the
 * lists of children, which cost what the tree costs; a process may be missing,
 * or there twice, whose parent or parent's thread ends meanwhile.
 */
static int
list_tree(const struct family *f, bool quick)
{
	static struct list all;

	now_table.n = all.n = 0;
	proc_add(&now_table, getpid());
	for (size_t i = 0; i < now_table.n; i++) {
		const struct proc up = *row(&now_table, i);
		size_t first = now_table.n;

		if (quick && proc_add_all_children(&now_table, &up) == -1 &&
		    i == 0)
			quick = false;	/* the kernel has no such lists */
		if (!quick && i == 0 && proc_list(&all) == -1)
			return -1;
		for (size_t k = 0; k < all.n; k++) {
			struct proc *p = row(&all, k)->ppid != up.pid ? NULL :
			    list_add(&now_table, sizeof(*p));

			if (p != NULL)
				*p = *row(&all, k);
		}
		mark_children(f, i, first);
	}
	return now_table.n == 0 ? -1 : 0;
}

/*
 * Who was of the tree stays so, as it can't leave us: one missed, as its parent
 * ended meanwhile, is still there, and what is known of it as well.
 */
static void
add_missed(void)
{
	struct list seen_ones = now_table;	/* sorted */

	for (size_t i = 0; i < last_table.n; i++) {
		const struct proc *last = row(&last_table, i);
		struct proc p, *added;

		seen_ones.at = now_table.at;
		if (!last->in_tree || find(&seen_ones, last->pid) != NULL ||
		    proc_stat(last->pid, &p) == -1 || p.ticks != last->ticks ||
		    (added = list_add(&now_table, sizeof(p))) == NULL)
			continue;
		*added = p;
		added->in_tree = true;
		added->wrap = last->wrap;
	}
	sort_rows(&now_table);
}

int
snapshot(const struct family *f, bool stopping)
{
	struct list swap = last_table;
	static bool said;
	int result;

	last_table = now_table;
	now_table = swap;
	result = list_tree(f, stopping && !f->in_ladder);
	if (result == -1 && !said)
		say(DEFAULT, "/proc can't be read: %s", strerror(errno));
	said |= result == -1;
	sort_rows(&now_table);
	add_missed();
	mark_scope(f, stopping);
	return result;
}

void
note_attached(const struct family *f)
{
	if (sees_tree(f) && proc_listed() && !f->ended &&
	    opt->scope == SCOPE_SESSION)
		snapshot(f, true);
}

int
look(const struct family *f, int signo, int *told)
{
	siginfo_t si;
	int living = 0, spared = 0;
	bool failed;

	*told = 0;
	if (!sees_tree(f))
		return 0;
	if (!proc_listed())
		return look_at_group(f, signo, told);
	failed = snapshot(f, f->in_ladder) == -1;
	for (size_t i = 0; i < now_table.n; i++) {
		struct proc *p = row(&now_table, i);

		if (!p->in_tree || p->pid == f->server)
			continue;
		if (is_dead(p) && p->ppid == getpid())
			waitid(P_PID, (id_t)p->pid, &si, WEXITED | WNOHANG);
		if (is_dead(p))
			continue;
		spared += !p->in_scope || p->refused;
		if (!p->in_scope || p->refused)
			continue;
		if (signo == SIGKILL || (signo != 0 && !p->told &&
		    !told_by_another(p)))
			*told += tell(p, signo);
		living += !p->refused;
	}
	if (living == 0 && (spared == 0 || failed) && f->ended &&
	    !nobody_lives(f))
		living = 1;
	return living;
}

bool
nobody_left(const struct family *f)
{
	return f->ended && (!sees_tree(f) || nobody_lives(f));
}

bool
has_spared(void)
{
	for (size_t i = 0; i < now_table.n; i++)
		if (row(&now_table, i)->in_tree &&
		    !row(&now_table, i)->in_scope)
			return true;
	return false;
}

/* "4720 (chrome), 4721 (x)" of the last look; false if there is none. */
static bool
list_rows(const struct family *f, bool (*wanted)(const struct proc *),
    char *buf, size_t size)
{
	char who[64];

	buf[0] = '\0';
	for (size_t i = 0; i < now_table.n; i++) {
		const struct proc *p = row(&now_table, i);

		if (p->in_tree && p->pid != f->server && !is_dead(p) &&
		    wanted(p))
			add_word(buf, size, ", ", label(p->pid, p->name, who));
	}
	return buf[0] != '\0';
}

/* Another ownerwrap is known by its server. */
static bool
is_spared(const struct proc *p)
{
	return !p->in_scope && heir_of(p) == p->pid && (p->wrap == 0 ||
	    (p->wrap == p->ppid && strcmp(p->name, "ow-witness") != 0));
}

static bool is_refused(const struct proc *p) { return p->refused; }

static bool
is_stuck(const struct proc *p)
{
	return p->in_scope && !p->refused;
}

void
name_who_is_left(const struct family *f)
{
	char list[LINE_SIZE / 2], who[64];
	struct proc p;
	int told;

	if (!f->ended && f->server != 0)
		say(DEFAULT, "%s can't be ended, state %c",
		    label_of(f->server, who),
		    proc_stat(f->server, &p) == 0 ? p.state : '?');
	if (!proc_listed() || nobody_left(f))
		return;
	if (look(f, 0, &told) > 0 &&
	    !list_rows(f, is_stuck, list, sizeof(list)))
		say(DEFAULT,
		    "can't be ended: one that is another at each look");
	if (list_rows(f, is_stuck, list, sizeof(list)))
		say(DEFAULT, "can't be ended: %s", list);
	if (list_rows(f, is_spared, list, sizeof(list)))
		say(DEFAULT, "left running as daemons: %s; "
		    "--scope tree stops them", list);
	if (list_rows(f, is_refused, list, sizeof(list)))
		say(DEFAULT, "left running, not ours to end: %s", list);
}

bool
is_of_tree(const struct family *f, pid_t pid)
{
	struct proc p = { .ppid = pid, .ticks = UINT64_MAX };

	if (pid == 0 || is_owner(pid))
		return false;
	do
		if (p.ppid == f->server || p.ppid == getpid())
			return true;	/* ourselves: our EPIPE, our CONT */
	while (p.ppid != f->front && step_up(&p));
	return false;
}
