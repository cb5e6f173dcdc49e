/* idle: does nothing happen in the tree? */
#include "idle.h"

#include "os.h"
#include "sockets.h"

bool
idle_usable(void)
{
	uint64_t moved;

	return bound_usable() && proc_moved(getpid(), &moved) == 0;
}

/* The tree's processes; false: one can't be measured. */
static bool
measure(const struct list *t, struct list *now)
{
	now->n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct proc *p = row(t, i);
		struct proc *kept;

		if (!p->in_tree || is_dead(p))
			continue;
		if ((kept = list_add(now, sizeof(*kept))) == NULL)
			return false;
		*kept = *p;
		if (proc_moved(p->pid, &kept->moved) == -1)
			return false;
	}
	return true;
}

/* A tick is what timers take.  One that is stopped can't do anything. */
static bool
has_changed(const struct list *now, const struct list *before)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct proc *p = row(now, i), *was = find(before, p->pid);

		if (was == NULL || was->ticks != p->ticks ||
		    p->cpu > was->cpu + 1 || p->moved != was->moved ||
		    p->state == 'T' || p->state == 't')
			return true;
	}
	return now->n != before->n;
}

bool
is_idle(const struct list *t)
{
	static struct list now, before;
	static bool was_open;
	struct list swap = before;
	bool busy;
	int open;

	if ((open = has_open_ends(t)) == -1 || !measure(t, &now))
		return false;
	busy = has_changed(&now, &before) || was_open;
	was_open = open;
	before = now;
	now = swap;
	return !busy && !was_open;
}
