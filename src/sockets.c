/* sockets: who is connected to the tree */
#include "sockets.h"

#include "opt.h"
#include "os.h"
#include "say.h"

/*
 * One look serves both: the inodes of the tree's sockets from /proc/PID/fd,
 * then those rows of the socket tables that belong to them or to what the tree
 * listens on, in our own network namespace.  Doubt is alive: what cannot be
 * read is connected, and not idle.
 */

static struct {			/* what the last look has found */
	struct list inodes;	/* uint64_t, sorted: the tree's sockets */
	bool listens[UINT16_MAX + 1];	/* TCP: on this port */
	struct list socks;	/* struct sock, sorted by id: connections */
	bool udp;		/* the tree has a UDP socket */
} found;

/* All that is sorted here begins with its key, a number. */
static int
by_id(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
sort(struct list *l, size_t size)
{
	if (l->n > 1)
		qsort(l->at, l->n, size, by_id);
}

/* No socket has the inode 0. */
static bool
is_held(uint64_t inode)
{
	return found.inodes.n > 0 && bsearch(&inode, found.inodes.at,
	    found.inodes.n, sizeof(inode), by_id) != NULL;
}

static bool is_unix(const struct sock *s) { return s->name[0] != '\0'; }

static int
see_listening(const struct sock *s)
{
	found.listens[s->port] |= is_held(s->inode);
	return 0;
}

/*
 * Kept: what the tree holds, what it is to accept (by its port, whatever the
 * address), and what may be the other end of either.
 */
static int
see_connection(const struct sock *s)
{
	bool held = is_held(s->inode);
	bool served = is_unix(s) ? held && strcmp(s->name, "@") != 0 :
	    found.listens[s->port] && (held || s->inode == 0);
	struct sock *kept;

	if (!held && !served && (is_unix(s) || !found.listens[s->peer_port]))
		return 0;
	if ((kept = list_add(&found.socks, sizeof(*kept))) == NULL)
		return -1;
	*kept = *s;
	kept->held = held;
	kept->served = served;
	return 0;
}

static int
see_bound(const struct sock *s)
{
	if (is_held(s->inode))
		found.udp = true;
	return 0;
}

static bool
is_wanted(const struct sock *s)
{
	for (int i = 0; i < opt->n_ports && !is_unix(s); i++)
		if (opt->ports[i] == s->port)
			return true;
	return opt->n_ports == 0;
}

/*
 * What the tree's processes hold.  0, or the pid of one that can't be looked
 * into; a leader that ended before its threads shows none.
 */
static pid_t
find_inodes(const struct list *t)
{
	struct proc again;

	found.inodes.n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct proc *p = row(t, i);

		if (!p->in_tree || is_dead(p) || (p->state != 'Z' &&
		    socket_inodes(p->pid, &found.inodes) == 0))
			continue;
		if (proc_stat(p->pid, &again) == 0 ? !is_dead(&again) :
		    kill(p->pid, 0) == 0 || errno != ESRCH)
			return p->pid;
	}
	sort(&found.inodes, sizeof(uint64_t));
	return 0;
}

/* 0, or who can't be looked into. */
static pid_t
find_sockets(const struct list *t, bool udp)
{
	pid_t doubt = find_inodes(t);
	struct sock *s;

	memset(found.listens, false, sizeof(found.listens));
	found.socks.n = 0;
	found.udp = false;
	if (doubt == 0 && (socket_rows(LISTENING, see_listening) == -1 ||
	    socket_rows(CONNECTED, see_connection) == -1 ||
	    (udp && socket_rows(BOUND, see_bound) == -1)))
		doubt = getpid();
	sort(&found.socks, sizeof(*s));
	s = found.socks.at;	/* both ends of TCP have the same id */
	for (size_t i = 1; i < found.socks.n; i++)
		if (s[i].id == s[i - 1].id && !is_unix(&s[i])) {
			s[i].peer = s[i - 1].inode;
			s[i - 1].peer = s[i].inode;
		}
	return doubt;
}

/*
 * A connection from outside the tree to what it listens on (any: or out of it),
 * or NULL: that with this id if it is still there, else rather one whose other
 * end is known.
 */
static const struct sock *
find_outsider(uint64_t id, bool any)
{
	const struct sock *s = found.socks.at, *end = s + found.socks.n;
	const struct sock *first = NULL;

	for (; s < end; s++) {
		bool counts = any ? s->served || s->held :
		    s->served && is_wanted(s);

		if (!counts || is_held(s->peer))
			continue;
		if (s->id == id)
			return s;
		if (first == NULL || (first->peer == 0 && s->peer != 0))
			first = s;
	}
	return first;
}

/* The process outside the tree that holds this socket, or NULL. */
static const struct proc *
find_holder(const struct list *t, uint64_t inode)
{
	static struct list all, l;

	if (inode == 0 || proc_list(&all) == -1)
		return NULL;
	for (size_t i = 0; i < all.n; i++) {
		const struct proc *p = row(&all, i);

		l.n = 0;
		if (find(t, p->pid) == NULL)
			socket_inodes(p->pid, &l);
		for (size_t k = 0; k < l.n; k++)
			if (((uint64_t *)l.at)[k] == inode)
				return p;
	}
	return NULL;
}

static int see_nothing(const struct sock *s) { (void)s; return 0; }

bool
sockets_usable(void)
{
	return proc_listed() && socket_rows(CONNECTED, see_nothing) == 0;
}

bool
is_connected(const struct list *t, int (*again)(void), char *why, size_t size)
{
	static uint64_t last;
	const struct sock *s;
	const struct proc *p;
	char who[64] = "a remote peer", port[16];
	pid_t doubt;

	if (why[0] == '\0')
		last = 0;
	doubt = find_sockets(t, false);
	s = find_outsider(last, false);
	if (doubt == 0 && s != NULL && s->id != last && again() == 0) {
		doubt = find_sockets(t, false);
		s = find_outsider(last, false);
	}
	if (doubt != 0) {
		last = 0;
		snprintf(why, size, "%s can't be looked into",
		    label_of(doubt, who));
		return true;
	}
	if (s != NULL && s->id != last) {
		if ((p = find_holder(t, s->peer)) != NULL)
			label(p->pid, p->name, who);
		else if (s->peer != 0 || is_unix(s))
			snprintf(who, sizeof(who), "somebody");
		snprintf(port, sizeof(port), "port %d", s->port);
		snprintf(why, size, "%s is connected to %s", who,
		    is_unix(s) ? s->name : port);
	}
	/* Local without a peer: the other end is newer than our look. */
	last = s == NULL || (s->peer == 0 && s->local) ? 0 : s->id;
	return s != NULL;
}

int
has_open_ends(const struct list *t)
{
	if (find_sockets(t, true) != 0)
		return -1;
	return found.udp || find_outsider(0, true) != NULL;
}

bool
bound_usable(void)
{
	return sockets_usable() && socket_rows(BOUND, see_nothing) == 0;
}
