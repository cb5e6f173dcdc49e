/* orphans: servers that others have left */
#include "orphans.h"

#include "find_owner.h"
#include "guise.h"
#include "opt.h"
#include "os.h"
#include "say.h"

static bool
is_manager(const struct proc *p)
{
	return is_listed("systemd dinit launchd runsvdir s6-svscan "
	    "openrc-user", p->name, strlen(p->name), "");
}

/* Does an ownerwrap look after p?  It, or one above it, is one or has one. */
static bool
is_wrapped(const struct list *t, pid_t front, const struct proc *p)
{
	const struct proc *us = find(t, front);
	struct proc up = *p;

	if (us != NULL && strcmp(p->name, us->name) == 0)
		return true;	/* a front that holds a shared server */
	for (size_t i = 0; i < t->n; i++)
		if (row(t, i)->ppid == p->pid && is_supervisor(row(t, i)))
			return true;
	while (!is_supervisor(&up))
		if (!step_up(&up))
			return false;
	return true;
}

static bool
has_named_ancestor(struct proc p)
{
	while (step_up(&p))
		if (has_owner_name(&p))
			return true;
	return false;
}

/*
 * Whose parent has died was given to process 1, or to a manager of the user's
 * session.  So is what that started itself: a service, which leads a session.
 */
static bool
is_orphan(const struct list *t, pid_t front, const struct proc *p, char *args,
    size_t size)
{
	const struct proc *parent = find(t, p->ppid);
	ssize_t n = proc_args(p->pid, args, size);
	struct stat st;
	char path[64];

	for (ssize_t i = 0; i + 1 < n; i++)
		if (args[i] == '\0')
			args[i] = ' ';
	if (n <= 0 || p->state == 'Z' ||
	    stat(proc_path(p->pid, "", path), &st) == -1 ||
	    (geteuid() != 0 && st.st_uid != geteuid()) ||
	    regexec(&opt->orphans, args, 0, NULL, 0) != 0)
		return false;
	if (p->pid == getpid() || is_above_us(p->pid) ||
	    is_wrapped(t, front, p) ||
	    (p->sid == p->pid && proc_is_service(p->pid)))
		return false;
	return has_owner_name(NULL) ? !has_named_ancestor(*p) :
	    p->ppid == 1 || (parent != NULL && is_manager(parent));
}

int
find_orphans(pid_t front, bool list)
{
	static struct list t;
	char args[ARGS_SIZE], up[32];
	int n = 0;

	if (proc_list(&t) == -1 || t.n == 0)
		return -1;
	sort_rows(&t);
	for (size_t i = 0; i < t.n; i++) {
		const struct proc *p = row(&t, i);

		if (!is_orphan(&t, front, p, args,
		    sizeof(args)))
			continue;
		make_harmless(args, (int)strlen(args));
		age(proc_age_ms(p->ticks), up);
		if (list && n == 0)
			printf("    PID    PPID     AGE COMMAND\n");
		n++;
		if (list)
			printf("%7d %7d %7s %s\n", (int)p->pid, (int)p->ppid,
			    up + strlen("up "), args);
		else
			say(DEFAULT, "looks orphaned: %d %.200s, %s; if sure: "
			    "kill %d", (int)p->pid, args, up, (int)p->pid);
	}
	return n;
}

int
list_orphans(void)
{
	int n = find_orphans(getpid(), true);

	if (n == -1 || fflush(stdout) == EOF)
		refuse(NOT_STARTED, "--orphans: %s", strerror(errno));
	return n == 0;
}
