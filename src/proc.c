/* proc: /proc, where it is usable; elsewhere everything here fails */
#include "os.h"

#include <ctype.h>
#include <dirent.h>

bool
proc_listed(void)
{
	static int known = -1;

	if (known == -1)
		known = proc_usable();
	return known;
}

const char *
proc_path(pid_t pid, const char *file, char buf[64])
{
	snprintf(buf, 64, "/proc/%d/%s", (int)pid, file);
	return buf;
}

ssize_t
proc_read(pid_t pid, const char *file, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	if (!proc_listed() || (fd = open(proc_path(pid, file, path),
	    O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

uint64_t
proc_number(pid_t pid, const char *file, const char *key, int base)
{
	char buf[4096], *at;

	if (proc_read(pid, file, buf, sizeof(buf)) <= 0 ||
	    (at = strstr(buf, key)) == NULL)
		return 0;
	return strtoull(at + strlen(key), NULL, base);
}

bool
proc_is_service(pid_t pid)
{
	char buf[4096];

	return proc_read(pid, "cgroup", buf, sizeof(buf)) > 0 &&
	    strstr(buf, ".service\n") != NULL;
}

pid_t
proc_leader(pid_t pid)
{
	pid_t leader = (pid_t)proc_number(pid, "status", "\nTgid:", 10);

	return leader == 0 ? pid : leader;
}

/* Do two /proc/PID/status agree in the line that key, "\nUid:", begins? */
static bool
same_line(const char *a, const char *b, const char *key)
{
	const char *x = strstr(a, key), *y = strstr(b, key);

	return x != NULL && y != NULL &&
	    strncmp(x, y, 1 + strcspn(x + 1, "\n")) == 0;
}

int
kernel_told(pid_t pid)
{
	char mine[4096], its[4096], path[64];
	struct stat st;

	if (proc_read(getpid(), "status", mine, sizeof(mine)) <= 0 ||
	    proc_read(pid, "status", its, sizeof(its)) <= 0)
		return -1;
	if (stat(proc_path(pid, "exe", path), &st) == -1 ||
	    (st.st_mode & (S_ISUID | S_ISGID)) != 0)
		return 0;
	return same_line(mine, its, "\nUid:") &&
	    same_line(mine, its, "\nGid:") && same_line(mine, its, "\nCapPrm:");
}

int
socket_inodes(pid_t pid, struct list *l)
{
	char path[64], target[32];
	DIR *dir = opendir(proc_path(pid, "fd", path));
	struct dirent *e;

	if (dir == NULL)
		return -1;
	while ((e = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target,
		    sizeof(target) - 1);
		uint64_t inode, *added;

		target[n > 0 ? n : 0] = '\0';
		if (sscanf(target, "socket:[%" SCNu64, &inode) != 1)
			continue;
		if ((added = list_add(l, sizeof(*added))) == NULL)
			break;
		*added = inode;
	}
	closedir(dir);
	return e == NULL ? 0 : -1;
}

int
proc_moved(pid_t pid, uint64_t *moved)
{
	char buf[512];
	uint64_t in, out;

	if (proc_read(pid, "io", buf, sizeof(buf)) <= 0 || sscanf(buf,
	    "rchar: %" SCNu64 " wchar: %" SCNu64, &in, &out) != 2)
		return -1;
	*moved = in + out;
	return 0;
}

int
proc_add(struct list *t, pid_t pid)
{
	struct proc p, *row;

	if (proc_stat(pid, &p) == -1)
		return 0;
	if ((row = list_add(t, sizeof(*row))) == NULL)
		return -1;
	*row = p;
	return 0;
}

int
proc_list(struct list *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int error;

	t->n = 0;
	if (dir == NULL)
		return -1;
	while (errno = 0, (e = readdir(dir)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    proc_add(t, atoi(e->d_name)) == -1)
			break;
	error = errno;		/* 0 = the end */
	closedir(dir);
	return error == 0 ? 0 : -1;
}

/* Of one thread: proc_pid_task_children(5).  ENOENT: no such list here. */
static int
proc_add_children(struct list *t, pid_t pid, int tid)
{
	char path[64], file[32];
	FILE *f;
	int child;

	snprintf(file, sizeof(file), "task/%d/children", tid);
	if ((f = fopen(proc_path(pid, file, path), "re")) == NULL)
		return -1;
	while (fscanf(f, "%d", &child) == 1)
		proc_add(t, child);
	fclose(f);
	return 0;
}

int
proc_add_all_children(struct list *t, const struct proc *p)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	if (p->threads == 1)
		return proc_add_children(t, p->pid, p->pid);
	if ((dir = opendir(proc_path(p->pid, "task", path))) == NULL)
		return -1;
	while ((e = readdir(dir)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]))
			proc_add_children(t, p->pid, atoi(e->d_name));
	closedir(dir);
	return 0;
}

bool
is_dead(const struct proc *p)
{
	return (p->state == 'Z' || p->state == 'X') && p->threads <= 1;
}

bool
is_supervisor(const struct proc *p)
{
	return strcmp(p->name, "ow-supervisor") == 0;
}

bool
step_up(struct proc *p)
{
	uint64_t youngest = p->ticks;

	return p->ppid != 0 && proc_stat(p->ppid, p) == 0 &&
	    p->ticks <= youngest;
}

static int
by_pid(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct proc *
row(const struct list *t, size_t i)
{
	return (struct proc *)t->at + i;
}

struct proc *
find(const struct list *t, pid_t pid)
{
	struct proc key = { .pid = pid };

	return t->n == 0 ? NULL :
	    bsearch(&key, t->at, t->n, sizeof(key), by_pid);
}

void
sort_rows(struct list *t)
{
	qsort(t->at, t->n, sizeof(struct proc), by_pid);
}

bool
is_above_us(pid_t pid)
{
	struct proc p = { .ppid = getppid(), .ticks = UINT64_MAX };

	while (p.ppid != pid && step_up(&p))
		continue;
	return p.ppid == pid;
}
