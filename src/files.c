/* files: names and locks that keep other servers away */
#include "files.h"

#include "os.h"
#include "say.h"

/*
 * Is it a directory of this user's, or of that one's, in which others can't put
 * something else in the place of a file?  EPERM: it is not.
 */
static bool
is_safe(const struct stat *st, uid_t uid)
{
	errno = EPERM;
	return S_ISDIR(st->st_mode) && (st->st_mode & 022) == 0 &&
	    (st->st_uid == geteuid() || st->st_uid == uid);
}

/* A directory for the files of NAMEs, made if need be: is it of use? */
static bool
is_usable(const char *parent, const char *name, char dir[PATH_MAX])
{
	uid_t us = geteuid();
	struct stat st;

	snprintf(dir, PATH_MAX, "%s/%s", parent, name);
	return parent[0] == '/' &&
	    stat(parent, &st) == 0 &&	/* under sudo -E another's */
	    (is_safe(&st, us) || strcmp(parent, "/tmp") == 0) &&
	    (mkdir(dir, 0700) == 0 || errno == EEXIST) &&
	    lstat(dir, &st) == 0 && is_safe(&st, us);
}

/* The first of use, so that a start with another environment finds it, too. */
static bool
find_directory(char dir[PATH_MAX])
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char parent[32], name[32];

	snprintf(parent, sizeof(parent), "/run/user/%jd", (intmax_t)geteuid());
	snprintf(name, sizeof(name), "ownerwrap-%jd", (intmax_t)geteuid());
	return is_usable(run == NULL ? "" : run, "ownerwrap", dir) ||
	    is_usable(parent, "ownerwrap", dir) ||
	    is_usable("/tmp", name, dir);
}

static noreturn void
refuse_directory(const char *dir)
{
	if (errno != EPERM)
		refuse(NOT_STARTED, "directory %s: %s", dir, strerror(errno));
	refuse(NOT_STARTED, "%s: must be a directory of this user's or root's "
	    "that nobody else can write to", dir);
}

void
find_path(const char *value, const char *suffix, char *path, size_t size)
{
	char dir[PATH_MAX] = "";
	bool name = strchr(value, '/') == NULL;
	struct stat st;

	if (name && !find_directory(dir))
		refuse_directory(dir);
	if (!name && value[0] != '/' && getcwd(dir, sizeof(dir)) == NULL)
		refuse(NOT_STARTED, "%s: %s", value, strerror(errno));
	value += strncmp(value, "./", 2) == 0 ? 2 : 0;
	if ((size_t)snprintf(path, size, "%s%s%s%s", dir,
	    dir[0] == '\0' ? "" : "/", value, name ? suffix : "") >= size)
		refuse(NOT_STARTED, "%.256s: too long: %d bytes at most, with "
		    "its directory", value, (int)size - 1);
	snprintf(dir, sizeof(dir), "%.*s", path == strrchr(path, '/') ? 1 :
	    (int)(strrchr(path, '/') - path), path);
	if (!name && (stat(dir, &st) == -1 || !is_safe(&st, 0)))
		refuse_directory(dir);
}

bool
is_lock(int fd, const char *path)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && lstat(path, &there) == 0 &&
	    here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

int
open_lock(const char *path, int create)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | create, 0600);
	struct stat st;

	if (fd == -1 && errno == ENOENT && create == 0)
		return -1;
	if (fd == -1 || fstat(fd, &st) == -1)
		refuse(NOT_STARTED, "lock %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1)
		refuse(NOT_STARTED, "%s: is there, and no file of this user's "
		    "alone", path);
	return fd;
}
