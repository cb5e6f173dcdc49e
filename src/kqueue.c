/* kqueue: the BSDs and macOS tell of the end of any process */
#include "os.h"

#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || \
    defined(__OpenBSD__) || defined(__DragonFly__)

#include <sys/event.h>

const char exit_kind[] = "kqueue";
const bool exit_inherited = false;	/* kqueue(2): not inherited by fork */

int
exit_open(pid_t pid)
{
	struct kevent ev;
	int fd = kqueue();

	if (fd == -1)
		return -1;
	set_cloexec(fd);
	EV_SET(&ev, (uintptr_t)pid, EVFILT_PROC, EV_ADD | EV_ONESHOT,
	    NOTE_EXIT, 0, NULL);
	if (kevent(fd, &ev, 1, NULL, 0, NULL) == -1) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

bool
exit_fired(int fd, short revents)
{
	struct timespec none = { 0, 0 };
	struct kevent ev;

	return revents != 0 && kevent(fd, NULL, 0, &ev, 1, &none) > 0;
}

/* Not all of them have sigqueue(3), macOS for one. */
int
queue_signal(pid_t pid, int signo, union sigval value)
{
	(void)value;
	return kill(pid, signo);
}

#endif
