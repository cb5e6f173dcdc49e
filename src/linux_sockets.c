/*
 * linux_sockets: the socket tables of our own network namespace, by
 * sock_diag(7).  These are the declarations of sock_diag(7) and netlink(7),
 * whose headers not every libc comes with.
 */
#include "os.h"

#if defined(__linux__) && !defined(OWNERWRAP_PLATFORM_POSIX)

#include <sys/socket.h>

#include <netinet/in.h>

#define NETLINK_SOCK_DIAG	4
#define SOCK_DIAG_BY_FAMILY	20
#define DIAG_DUMP		0x301	/* NLM_F_REQUEST | NLM_F_DUMP */
#define DIAG_DONE		3	/* NLMSG_DONE */
#define UNIX_DIAG_NAME		0	/* attributes of a reply */
#define UNIX_DIAG_PEER		2
#define UNIX_DIAG_ICONS		3
#define UNIX_DIAG_SHUTDOWN	6
#define UDIAG_SHOW		0x0d	/* name, peer, icons */

struct diag_head {		/* struct nlmsghdr */
	uint32_t len;
	uint16_t type, flags;
	uint32_t seq, port;
};

struct diag_request {		/* inet_diag_req_v2 or unix_diag_req */
	struct diag_head head;
	uint8_t family, protocol, attributes, pad;
	uint32_t states;	/* a bit for each */
	uint32_t rest[12];	/* IP: no filter; Unix: [1] what to show */
};

struct diag_inet {		/* inet_diag_msg; network order up to addr */
	uint8_t family, state, timer, retransmits;
	uint16_t port[2];	/* ours, the peer's */
	uint32_t addr[2][4];
	uint32_t interface, cookie[2], expires, rqueue, wqueue, uid, inode;
};

struct diag_unix {		/* unix_diag_msg */
	uint8_t family, type, state, pad;
	uint32_t inode, cookie[2];
};

/*
 * What the two ends say.  IPv4 counts as mapped into IPv6, since one end of a
 * connection may be an IPv6 socket and the other none.
 */
static void
set_ends(struct sock *s, bool v4, uint32_t addr[2][4], const uint16_t port[2])
{
	uint32_t end[2][5] = { { 0, 0, htonl(0xffff), addr[0][0], port[0] },
	    { 0, 0, htonl(0xffff), addr[1][0], port[1] } };
	int low;

	for (int i = 0; i < 2 && !v4; i++)
		memcpy(end[i], addr[i], sizeof(addr[i]));
	low = memcmp(end[0], end[1], sizeof(end[0])) > 0;
	for (int i = 0; i < 10; i++)
		s->id = mix(s->id, end[i / 5 ^ low][i % 5]);
	s->local = memcmp(end[0], end[1], sizeof(addr[0])) == 0;
	s->port = ntohs(port[0]);
	s->peer_port = ntohs(port[1]);
}

/* The attribute of this type (struct nlattr) in a reply, or NULL. */
static const char *
diag_find(const char *at, const char *end, int type, size_t *len)
{
	uint16_t head[2];	/* length with this head, type */

	for (; end - at >= 4; at += (head[0] + 3) & ~3) {
		memcpy(head, at, sizeof(head));
		if (head[0] < 4 || head[0] > end - at)
			return NULL;
		*len = head[0] - 4u;
		if (head[1] == type)
			return at + 4;
	}
	return NULL;
}

static int
see_inet(const char *at, see_fn *see)
{
	struct sock s = { .peer = 0 };
	struct diag_inet d;

	memcpy(&d, at, sizeof(d));
	s.inode = d.inode;
	set_ends(&s, d.family == AF_INET, d.addr, d.port);
	return see(&s);
}

/*
 * One that was accepted has the name of what it came to.  One that is not
 * accepted yet has no row: the peers that wait are told with the socket that
 * listens, which stands for it here, and their peer is 0.
 */
static int
see_unix(const char *at, const char *end, see_fn *see)
{
	struct sock s = { .peer = 0 };
	struct diag_unix d;
	const char *name, *peers, *down;
	uint32_t peer;
	size_t len, left;

	memcpy(&d, at, sizeof(d));
	at += sizeof(d);
	s.inode = d.inode;
	if (d.type == SOCK_DGRAM ||
	    (name = diag_find(at, end, UNIX_DIAG_NAME, &len)) == NULL) {
		name = "";
		len = 1;
	}
	if (len > 0 && *name != '\0')		/* a path, with its NUL */
		len = strnlen(name, len);
	for (size_t i = 0; i < len && i < sizeof(s.name) - 1; i++)
		s.name[i] = name[i] == '\0' ? '@' : name[i];
	down = diag_find(at, end, UNIX_DIAG_SHUTDOWN, &len);
	if (d.state != LISTEN && down != NULL && (*down & 1))
		return 0;			/* the peer has closed it */
	peers = diag_find(at, end, d.state == LISTEN ? UNIX_DIAG_ICONS :
	    UNIX_DIAG_PEER, &left);
	for (; peers != NULL && left >= 4; peers += 4, left -= 4) {
		memcpy(&peer, peers, sizeof(peer));
		s.id = peer != 0 ? peer : s.inode;
		s.peer = peer;
		if ((peer != 0 || d.state != LISTEN) && see(&s) == -1)
			return -1;
	}
	return 0;
}

/* The replies to a request; the kernel writes them while we read. */
static int
diag_replies(int fd, see_fn *see)
{
	char buf[32768];
	struct diag_head h;
	ssize_t n;
	int error;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		for (const char *at = buf; at < buf + n;
		    at += (h.len + 3) & ~3u) {
			const char *row = at + sizeof(h);

			memcpy(&h, at, sizeof(h));
			memcpy(&error, row, sizeof(error));
			if (h.type == DIAG_DONE)
				return error < 0 ? -1 : 0;
			if (h.type != SOCK_DIAG_BY_FAMILY || (*row == AF_UNIX ?
			    see_unix(row, at + h.len, see) :
			    see_inet(row, see)) == -1)
				return -1;
		}
	return -1;
}

static int
diag_rows(uint8_t family, enum rows rows, see_fn *see)
{
	static const uint32_t states[] = {
		[LISTENING] = 1u << LISTEN, [CONNECTED] = 1u << ESTABLISHED,
		[BOUND] = UINT32_MAX
	};
	struct diag_request request = {
		.head = { .len = sizeof(request), .type = SOCK_DIAG_BY_FAMILY,
		    .flags = DIAG_DUMP },
		.family = family, .states = states[rows] |
		    (family == AF_UNIX ? 1u << LISTEN : 0),	/* its icons */
		.protocol = family == AF_UNIX ? 0 :
		    rows == BOUND ? IPPROTO_UDP : IPPROTO_TCP,
		.rest = { [1] = family == AF_UNIX ? UDIAG_SHOW : 0 }
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int result = -1;

	if (fd == -1)
		return -1;
	if (write(fd, &request, sizeof(request)) != -1)
		result = diag_replies(fd, see);
	close(fd);
	return result;
}

int
socket_rows(enum rows rows, see_fn *see)
{
	return diag_rows(AF_INET, rows, see) == -1 ||
	    diag_rows(AF_INET6, rows, see) == -1 || (rows == CONNECTED &&
	    diag_rows(AF_UNIX, rows, see) == -1) ? -1 : 0;
}

#endif
