/* find_owner: by descriptor, by name, the parent through launchers */
#include "find_owner.h"

#include "guise.h"
#include "opt.h"
#include "os.h"
#include "owner.h"
#include "say.h"

#include <sys/resource.h>
#include <sys/socket.h>

#define CHAIN_MAX	64	/* generations looked up */

static const char *owner_names[OWNERS_MAX];
static int n_names;

/*
 * Is fd a pipe whose other end we have, too?  It would never hang up.  Only a
 * descriptor that is inherited counts: all of ours are closed by the exec.
 */
static bool
holds_other_end(int fd, const struct stat *st)
{
	struct rlimit rl = { .rlim_cur = 256 };
	int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
	struct stat other;

	getrlimit(RLIMIT_NOFILE, &rl);
	for (int i = 0; i < 65536 && (rlim_t)i < rl.rlim_cur; i++)
		if (fcntl(i, F_GETFD) == 0 && fstat(i, &other) == 0 &&
		    other.st_dev == st->st_dev && other.st_ino == st->st_ino &&
		    (fcntl(i, F_GETFL) & O_ACCMODE) != mode)
			return true;
	return false;
}

/* Is fd connected, and does the system tell when the peer has closed it? */
static bool
is_connection(int fd, short *events)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(peer), size = sizeof(int);
	int type = 0;
	bool tcp;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	if ((type != SOCK_STREAM && type != SOCK_SEQPACKET) ||
	    getpeername(fd, (struct sockaddr *)&peer, &len) == -1)
		return false;
	tcp = peer.ss_family == AF_INET || peer.ss_family == AF_INET6;
	if (tcp)
		*events = peer_closed;
	return !tcp || peer_closed != 0;
}

/*
 * What kind of owner's descriptor fd is, and what to poll() it for; NULL if it
 * is none.  HUP and ERR are always told (poll(2)).
 */
static const char *
owner_kind(int fd, short *events)
{
	struct stat st;

	*events = 0;
	if (fstat(fd, &st) == -1)
		return NULL;
	if (S_ISFIFO(st.st_mode))
		return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR ||
		    holds_other_end(fd, &st) ? NULL : "pipe";
	if (S_ISSOCK(st.st_mode))
		return is_connection(fd, events) ? "socket" : NULL;
	if (isatty(fd) || errno == EIO)		/* EIO: it has hung up */
		return "terminal";
	if (!is_exit_fd(fd))
		return NULL;
	*events = POLLIN;
	return exit_kind;
}

bool
own_by_fd(int fd)
{
	struct owner *o;
	const char *kind;
	short events;

	for (o = NULL; (o = next_owner(o)) != NULL; )
		if (o->kind->by_fd && o->number == fd)
			return true;
	if (fcntl(fd, F_GETFD) != 0 ||
	    (kind = owner_kind(fd, &events)) == NULL ||
	    owners_full() || (o = owner_new()) == NULL)
		return false;
	o->kind = &by_fd;
	o->number = fd;
	o->events = events;
	snprintf(o->name, NAME_SIZE, "%s", kind);
	o->fd = fd == STDIN_FILENO ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd;
	return survive(o->fd) != -1 && set_cloexec(o->fd) == 0;
}

bool
owner_name_add(const char *name)
{
	for (int i = 0; i < n_names; i++)
		if (strcmp(owner_names[i], name) == 0)
			return true;
	if (n_names == OWNERS_MAX)
		return false;
	owner_names[n_names++] = name;
	return true;
}

bool
has_owner_name(const struct proc *p)
{
	for (int i = 0; i < n_names; i++)
		if (p == NULL || is_called(p, owner_names[i]))
			return true;
	return false;
}

/*
 * --owner-name: the nearest ancestor called name.  Its start time is read with
 * its name, and looked at again behind its exit descriptor.
 */
static bool
own_by_name(const char *name)
{
	struct proc p = { .ppid = getppid(), .ticks = UINT64_MAX };
	struct owner *o;

	for (int i = 0; i < CHAIN_MAX && step_up(&p); i++) {
		if (!is_called(&p, name))
			continue;
		o = owner_add(p.pid, p.ticks);
		if (o != NULL && o->fd == -1)
			owner_open(o);
		return o != NULL;
	}
	return false;
}

/*
 * Was child given to parent by the kernel after its real one had died?  One
 * that does not lead its session was born in its parent's, below an
 * ow-supervisor in that of the front.
 */
static bool
was_adopted(pid_t child, pid_t parent)
{
	pid_t own = getsid(child), other = getsid(parent);
	struct proc p;

	if (proc_stat(parent, &p) == 0 && is_supervisor(&p))
		other = getsid(p.ppid);
	return own != -1 && other != -1 && own != child && own != other;
}

/*
 * One more owner, the parent of child.  Opened first and the child's parent
 * asked again then, so that a number recycled in between is noticed.  Who is
 * the parent now, or -1: still this one.
 */
static pid_t
open_link(pid_t child, pid_t parent)
{
	struct owner *o = owner_add(parent, 0);
	struct proc p;
	pid_t again;

	if (o == NULL)		/* no memory: the others will do */
		return -1;
	if (child == getpid()) {
		o->kind = &by_parent;
		o->child = child;
	}
	owner_open(o);
	again = child == getpid() ? getppid() :
	    proc_stat(child, &p) == 0 ? p.ppid : parent;
	if (again == parent && !o->gone)
		return -1;
	if (o->fd != -1)
		close(o->fd);
	drop_owner(o);
	return again;
}

/*
 * An owner that never goes is seldom who was meant: a service manager, as the
 * first process or of a user's session.
 */
static void
say_lasting(pid_t pid)
{
	static const char managers[] = "init systemd launchd runit s6-svscan "
	    "tini dumb-init catatonit";
	char who[64];
	struct proc p;

	if (proc_stat(pid, &p) == 0 && (pid == 1 || p.ppid == 1) &&
	    is_listed(managers, p.name, strlen(p.name), ""))
		say(DEFAULT, "owner %s outlives every editor: name one with "
		    "--owner-pid", label(pid, p.name, who));
	else if (pid == 1)
		say(VERBOSE, "owner %s is the first process: if it outlives "
		    "the editor, name one with --owner-pid",
		    label_of(pid, who));
}

/*
 * The parent, and through launchers (what editors put in between, and what
 * lives on when they die) their parents: as soon as any of the chain is gone.
 * A launcher stands for itself where it was meant to live on: put in the
 * background of an interactive shell, adopted, or under nohup.
 */
static void
default_owner(void)
{
	pid_t child = getpid(), parent = getppid(), again, topmost = parent;
	bool stands = false;	/* child may be the last of the chain */
	struct sigaction hup;
	struct proc p;
	char who[64];

	sigaction(SIGHUP, NULL, &hup);
	while (!owners_full() && parent != 0) {
		enum link link = link_of(parent);

		if (stands && link == READS)
			break;
		again = was_adopted(child, parent) ? parent :
		    open_link(child, parent);
		if (again != -1 && !stands)
			refuse(NO_OWNER, "the owner is gone, %s adopted what "
			    "it left: not started (name an owner: --owner-pid "
			    "PID)", label_of(again, who));
		topmost = again == -1 ? parent : topmost;
		if (again != -1 || link < WAITS ||
		    proc_stat(parent, &p) == -1)
			break;
		stands = link == WAITS;
		if (stands && hup.sa_handler == SIG_IGN)
			break;
		child = parent;
		parent = p.ppid;
	}
	say_lasting(topmost);
}

/* By pid, then by name; a descriptor is one since its option was read. */
static void
open_named_owners(void)
{
	char names[LINE_SIZE / 4] = "", who[64];

	for (struct owner *o = NULL; (o = next_owner(o)) != NULL; )
		if (!o->kind->by_fd)
			owner_open(o);
		else
			o->gone = o->kind->gone(o);
	for (int i = 0; i < n_names; i++)
		if (!own_by_name(owner_names[i])) {
			say(VERBOSE, "no ancestor is called %s: skipped",
			    owner_names[i]);
			add_word(names, sizeof(names), " or ",
			    owner_names[i]);
		}
	if (next_owner(NULL) == NULL)
		refuse(NO_OWNER, "no ancestor is called %s: not started (the "
		    "parent is %s)", names, label_of(getppid(), who));
}

void
open_owners(void)
{
	char list[LINE_SIZE / 2];
	bool by_pid = false;

	if (next_owner(NULL) != NULL || n_names > 0)
		open_named_owners();
	else if (getppid() == 0)
		say(getpid() == 1 ? VERBOSE : DEFAULT, "the parent is not "
		    "visible from here (another pid namespace): "
		    "the server runs unwatched (--owner-fd 0 can watch)");
	else
		default_owner();
	if (!owners_gone())
		return;
	list_owners(list, sizeof(list), OWNERS_GONE);
	for (struct owner *o = NULL; (o = next_owner(o)) != NULL; )
		by_pid |= o->gone && !o->kind->by_fd;
	refuse(NO_OWNER, "owner %s is not there: not started%s", list, by_pid ?
	    " (ended, or in another pid namespace: --owner-fd)" : "");
}
