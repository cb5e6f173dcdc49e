/* sweep: files that name a process that is gone */
#include "sweep.h"

#include "os.h"
#include "say.h"

#include <dirent.h>

static const char pid_mark[] = "{pid}";

bool
is_pattern(const char *pattern)
{
	const char *mark = strstr(pattern, pid_mark);

	return mark != NULL && mark >= base_name(pattern) &&
	    strstr(mark + 1, pid_mark) == NULL;
}

/* The number that stands in name for the mark of pattern, or 0. */
static pid_t
pid_in_name(const char *name, const char *pattern)
{
	size_t before = (size_t)(strstr(pattern, pid_mark) - pattern);
	const char *after = pattern + before + sizeof(pid_mark) - 1;
	size_t digits;
	uint64_t pid;

	if (strncmp(name, pattern, before) != 0)
		return 0;
	name += before;
	digits = strspn(name, "0123456789");
	return name[0] != '0' && strcmp(name + digits, after) == 0 &&
	    parse_number(name, digits, 2, INT_MAX, &pid) ? (pid_t)pid : 0;
}

/* Anything but "there is no such process", as of a thread, is alive. */
static bool
is_stale(int dir, const char *name, pid_t pid)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    ((kill(pid, 0) == -1 && errno == ESRCH) ||
	    proc_leader(pid) != pid);
}

void
sweep_one(const char *pattern)
{
	const char *base = base_name(pattern);
	char *path = base == pattern ? strdup(".") :
	    strndup(pattern, (size_t)(base - pattern));
	DIR *dir = path == NULL ? NULL : opendir(path);
	struct dirent *e;
	int n = 0;

	if (dir == NULL && errno != ENOENT)
		say(DEFAULT, "--sweep %s: %s", pattern, strerror(errno));
	free(path);
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		pid_t pid = pid_in_name(e->d_name, base);

		if (pid == 0 || !is_stale(dirfd(dir), e->d_name, pid) ||
		    unlinkat(dirfd(dir), e->d_name, 0) == -1)
			continue;
		say(VERBOSE, "swept %s of %d, which is gone", e->d_name,
		    (int)pid);
		n++;
	}
	if (n > 0)
		say(DEFAULT, "swept %d file%s: %s", n, n > 1 ? "s" : "",
		    pattern);
	if (dir != NULL)
		closedir(dir);
}
