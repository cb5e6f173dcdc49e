/* owner: whose end ends the server, and how that is seen */
#include "owner.h"

#include "opt.h"
#include "os.h"
#include "say.h"

#include <sys/ioctl.h>

#define DRAIN_MS	10000	/* who has not read by then does not want to */

static struct owner *owners;
static int n_owners;
static struct pollfd *polls;

static bool
fd_fired(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && exit_fired(fd, p.revents);
}

/*
 * By the process table, without an exit descriptor.  Only ESRCH, another start
 * time and a zombie without a living thread are proof; anything else is doubt,
 * and doubt is alive.  (proc(5), hidepid: a file that is not there proves
 * nothing, so kill(2) is asked as well.)
 */
static bool
gone_by_number(struct owner *o)
{
	struct proc p;

	if (proc_stat(o->pid, &p) == -1)	/* or no descriptor for it */
		return kill(o->pid, 0) == -1 && errno == ESRCH;
	if (o->ticks == 0)
		o->ticks = p.ticks;
	if (o->ticks == p.ticks && o->name[0] == '\0')
		memcpy(o->name, p.name, NAME_SIZE);
	return p.ticks != o->ticks || is_dead(&p);
}

/* The host's child sees its parent change; never "is it 1". */
static bool
parent_changed(struct owner *o)
{
	struct proc p;

	if (o->child == getpid())
		return getppid() != o->pid;
	return proc_stat(o->child, &p) == 0 && p.ppid != o->pid;
}

/*
 * The other end of an owner's descriptor.  FD 0 is the server's, too, and what
 * is still in it may be the owner's last requests: wait until they are read.
 */
static bool
hung_up(struct owner *o)
{
	struct pollfd p = { .fd = o->fd, .events = o->events };
	int unread = 0;

	if (poll(&p, 1, 0) != 1 || (p.revents & POLLNVAL) != 0)
		return false;
	if (o->number != STDIN_FILENO || opt->share != NULL ||
	    ioctl(o->fd, FIONREAD, &unread) == -1 || unread == 0)
		return true;
	if (o->unread_ms == 0 || unread < o->unread)
		o->unread_ms = now_ms();
	o->unread = unread;
	return now_ms() - o->unread_ms >= DRAIN_MS;
}

static const struct kind by_number = { gone_by_number, false };
const struct kind by_parent = { parent_changed, false };
const struct kind by_fd = { hung_up, true };

struct owner *
next_owner(struct owner *o)
{
	o = o == NULL ? owners : o + 1;
	return o < owners + n_owners ? o : NULL;
}

/* Is the first one the parent?  Then the others are those above it. */
bool
has_parent(void)
{
	return n_owners > 0 && owners[0].kind == &by_parent;
}

static bool
owner_gone(struct owner *o)
{
	if (o->gone && (o->fd != -1 ||
	    (o->kind == &by_parent && !proc_listed())))
		return true;	/* an exit descriptor's word is final */
	return o->fd != -1 && !o->kind->by_fd ? fd_fired(o->fd) :
	    o->kind->gone(o);
}

/*
 * No descriptor (ENOSYS, EPERM from seccomp, EMFILE): polled instead.  START is
 * compared behind the open one.
 */
void
owner_open(struct owner *o)
{
	o->fd = opt->poll || !exit_inherited ? -1 : survive(exit_open(o->pid));
	o->gone = ((o->fd == -1 || o->pinned) && gone_by_number(o)) ||
	    fd_fired(o->fd);
}

bool
more_room(void)
{
	size_t n = (size_t)n_owners + 1;
	struct owner *o = realloc(owners, n * sizeof(*o));
	struct pollfd *p = realloc(polls, (5 + n) * sizeof(*p));

	if (o != NULL)
		owners = o;
	if (p != NULL)
		polls = p;
	return o != NULL && p != NULL;
}

bool owners_full(void) { return n_owners >= OWNERS_MAX; }

struct owner *
owner_new(void)
{
	struct owner *o;

	if (!more_room())
		return NULL;
	o = &owners[n_owners++];
	memset(o, 0, sizeof(*o));
	o->kind = &by_number;
	o->fd = -1;
	o->events = POLLIN;
	return o;
}

struct owner *
owner_add(pid_t pid, uint64_t ticks)
{
	struct owner *o = NULL;

	for (int i = 0; i < n_owners && o == NULL; i++)
		if (owners[i].pid == pid && (owners[i].ticks == ticks ||
		    owners[i].ticks == 0 || ticks == 0))
			o = &owners[i];
	if (o == NULL && (owners_full() || (o = owner_new()) == NULL))
		return NULL;
	o->pid = pid;
	if (o->ticks == 0) {
		o->ticks = ticks;
		o->pinned = ticks != 0;
	}
	return o;
}

struct owner *
drop_owner(struct owner *o)
{
	*o = owners[--n_owners];
	return o < owners + n_owners ? o : NULL;
}

void forget_owners(void) { n_owners = 0; }

void
close_owners(void)
{
	for (int i = 0; i < n_owners; i++)
		close(owners[i].fd);
}

bool
stay_with_topmost(void)
{
	if (!has_parent())
		return false;
	for (int i = 0; i < n_owners - 1; i++)
		close(owners[i].fd);
	owners[0] = owners[n_owners - 1];
	owners[0].kind = &by_number;
	n_owners = 1;
	return true;
}

bool
is_owner(pid_t pid)
{
	for (int i = 0; i < n_owners; i++)
		if (owners[i].pid == pid)
			return true;
	return false;
}

void
ask_owners(void)
{
	for (int i = 0; i < n_owners; i++) {
		owners[i].gone = owner_gone(&owners[i]);
		if (owners[i].gone && owners[i].gone_ms == 0)
			owners[i].gone_ms = now_ms();
	}
}

bool
owners_gone(void)
{
	bool any = opt->any || has_parent();
	int gone = 0;

	for (int i = 0; i < n_owners; i++)
		gone += owners[i].gone;
	return n_owners > 0 && (any ? gone > 0 : gone == n_owners);
}

void lose_parent(void) { owners[0].gone = true; }

bool
parent_has_changed(void)
{
	if (!parent_changed(&owners[0]))
		return false;
	lose_parent();		/* said once */
	return true;
}

void
rearm_owners(void)
{
	for (int i = 0; !exit_inherited && !opt->poll && i < n_owners; i++) {
		if (owners[i].kind->by_fd)
			continue;
		owners[i].fd = survive(exit_open(owners[i].pid));
		owners[i].gone |= gone_by_number(&owners[i]);
	}
}

void
name_owners(void)
{
	for (int i = 0; i < n_owners; i++)
		if (owners[i].name[0] == '\0')
			gone_by_number(&owners[i]);	/* reads it */
}

/* 4711 (nvim, up 2h03m), 4711, or fd 0 (pipe); brief: 4711(nvim), fd0(pipe) */
static const char *
owner_label(const struct owner *o, bool brief, char buf[64])
{
	int64_t since = o->gone_ms == 0 ? 0 : now_ms() - o->gone_ms;
	char up[32];

	if (o->kind->by_fd)
		snprintf(buf, 64, brief ? "fd%d(%s)" : "fd %d (%s)", o->number,
		    o->name);
	else if (brief)
		snprintf(buf, 64, "%d(%s)", (int)o->pid, o->name);
	else if (o->ticks != 0 && o->name[0] != '\0')
		snprintf(buf, 64, "%d (%s, %s)", (int)o->pid, o->name,
		    age(proc_age_ms(o->ticks) - since, up));
	else
		label(o->pid, o->name, buf);
	return buf;
}

int
list_owners(char *buf, size_t size, enum owner_list which)
{
	char who[64];
	int n = 0;

	buf[0] = '\0';
	for (int i = 0; i < n_owners; i++) {
		const struct owner *o = &owners[i];

		if ((which == OWNERS_GONE && !o->gone) ||
		    (which == OWNERS_ALIVE && o->gone))
			continue;
		add_word(buf, size, which == OWNERS_BRIEF ? "," : ", ",
		    owner_label(o, which == OWNERS_BRIEF, who));
		n++;
	}
	return n;
}

const char *
watched_by(void)
{
	const char *by = "poll";	/* the kernel tells of descriptors */

	for (int i = 0; i < n_owners; i++) {
		if (owners[i].fd == -1)
			return NULL;
		if (!owners[i].kind->by_fd)
			by = exit_kind;
	}
	return opt->poll ? NULL : by;
}

uint64_t
hash_owners(void)
{
	uint64_t sum = 0;	/* in whatever order they were named */

	for (int i = has_parent() ? n_owners - 1 : 0; i < n_owners; i++) {
		uint64_t id[4] = { (uint64_t)owners[i].pid, owners[i].ticks };
		char file[32];
		uint64_t hash = 0;
		struct stat st;

		if (owners[i].kind->by_fd && fstat(owners[i].fd, &st) == 0) {
			snprintf(file, sizeof(file), "fdinfo/%d", owners[i].fd);
			/* pidfd_open(2): whose it is */
			id[0] = proc_number(getpid(), file, "\nPid:", 10);
			id[2] = (uint64_t)st.st_dev;
			id[3] = (uint64_t)st.st_ino;
		}
		for (size_t k = 0; k < COUNT(id); k++)
			hash = mix(hash, id[k]);
		sum += hash;
	}
	return sum;
}

/*
 * Does the kernel tell when o goes?  Not while the server still reads FD 0,
 * whose hang-up would end each poll() at once.
 */
static bool
is_notified(const struct owner *o)
{
	return o->fd != -1 && o->unread_ms == 0 &&
	    (!o->kind->by_fd || !opt->poll);
}

bool
is_parent_polled(void)
{
	return !proc_listed() && has_parent() && !owners[0].gone &&
	    owners[0].fd == -1 && (opt->poll || exit_inherited);
}

bool
is_one_polled(void)
{
	for (int i = 0; i < n_owners; i++)
		if (!is_notified(&owners[i]) && !owners[i].gone &&
		    (proc_listed() || owners[i].kind != &by_parent))
			return true;
	return false;
}

struct pollfd *room_to_poll(void) { return polls; }

int
poll_owners(struct pollfd *to)
{
	int n = 0;

	for (int i = 0; i < n_owners; i++) {
		const struct owner *o = &owners[i];

		if (!o->gone && o->fd != -1 && is_notified(o))
			to[n++] = (struct pollfd){ .fd = o->fd,
			    .events = o->events };
	}
	return n;
}
