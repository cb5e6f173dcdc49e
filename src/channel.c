/* channel: notes between front, supervisor and witness */
#include "channel.h"

#include "os.h"

#include <sys/socket.h>

void
send_note(int fd, const struct note *n, bool wait)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (fd != -1 && send(fd, n, sizeof(*n),
	    MSG_DONTWAIT | no_sigpipe) == -1 &&
	    (errno == EAGAIN || errno == EINTR) && wait)
		poll(&p, 1, -1);
}

union control {			/* of a message with one descriptor */
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

void
hand_over(int to, int fd)
{
	struct note n = { .kind = NOTE_SERVER };
	struct iovec iov = { .iov_base = &n, .iov_len = sizeof(n) };
	union control control = { .room = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = control.room, .msg_controllen = sizeof(control) };

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	sendmsg(to, &msg, no_sigpipe);
}

int
receive_notes(int fd, struct note *notes, size_t n, bool wait, int *handed)
{
	struct iovec iov = { .iov_base = notes, .iov_len = n * sizeof(*notes) };
	union control control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = control.room, .msg_controllen = sizeof(control) };
	struct cmsghdr *head;
	ssize_t got = recvmsg(fd, &msg, wait ? 0 : MSG_DONTWAIT);

	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -1;
	head = CMSG_FIRSTHDR(&msg);
	if (head != NULL && head->cmsg_type == SCM_RIGHTS && handed != NULL) {
		memcpy(handed, CMSG_DATA(head), sizeof(int));
		set_cloexec(*handed);
	}
	return (int)((size_t)got / sizeof(*notes));
}
