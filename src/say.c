/*
 * say: to stderr, never blocking, never fatal; to the log; where nobody may be
 * left to read them, to the system log
 */
#include "say.h"

#include "opt.h"
#include "os.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <stdarg.h>

static bool stderr_left;

/*
 * Write without waiting, although O_NONBLOCK belongs to the host: ask the
 * kernel not to wait; where it cannot be asked (terminals, files), write only
 * what poll() says there is room for.  TTOU is blocked so that TOSTOP does not
 * stop our group (termios(3)); PIPE and XFSZ, which the write itself raises, so
 * that a dead reader or a full quota kills nobody: ignored for a moment, they
 * are pending no more.
 */
static bool
write_line(int fd, const char *line, size_t len)
{
	static const int raised[] = { SIGPIPE, SIGXFSZ };
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was;
	sigset_t set, old;
	ssize_t n;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGTTOU);
	change_mask(SIG_BLOCK, &set, &old);
	n = write_nowait(fd, line, len);
	if (n == -1 && errno != EAGAIN && errno != EPIPE &&
	    poll(&p, 1, 0) == 1 && (p.revents & POLLOUT))
		n = write(fd, line, len);
	for (size_t i = 0; n == -1 && i < COUNT(raised); i++)
		if (!sigismember(&old, raised[i])) {
			sigaction(raised[i], &ignore, &was);
			sigaction(raised[i], &was, NULL);
		}
	change_mask(SIG_SETMASK, &old, NULL);
	return n == (ssize_t)len;
}

static void
write_log(const char *line)
{
	char entry[LINE_SIZE + 64], time[32];
	struct timespec ts;
	struct tm tm;
	int n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &tm);
	n = snprintf(entry, sizeof(entry), "%s.%03dZ %d %s", time,
	    (int)(ts.tv_nsec / 1000000), (int)getpid(), line);
	write_line(opt->log_fd, entry, (size_t)n);
}

/* One datagram to the system log (syslog(3)'s socket), priority user.notice. */
static void
write_syslog(const char *text)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char entry[LINE_SIZE + 64];
	int n, fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd == -1)
		return;
	strcpy(un.sun_path, syslog_path);
	set_cloexec(fd);
	n = snprintf(entry, sizeof(entry), "<13>ownerwrap[%d]: %s",
	    (int)getpid(), text);
	sendto(fd, entry, (size_t)n, MSG_DONTWAIT | no_sigpipe,
	    (struct sockaddr *)&un, sizeof(un));
	close(fd);
}

/* The length of the UTF-8 character at s; 0 if it is none, or a control. */
static int
printable_length(const unsigned char *s)
{
	int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 :
	    *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return *s < ' ' || *s == 127 || (*s == 0xc2 && s[1] < 0xa0) ? 0 : n;
}

void
make_harmless(char *text, int n)
{
	for (int i = 0, len; i < n; i += len) {
		len = printable_length((unsigned char *)text + i);
		if (len == 0 || i + len > n) {
			text[i] = '?';
			len = 1;
		}
	}
}

static void __attribute__((format(printf, 2, 0)))
vsay(enum level level, const char *fmt, va_list ap)
{
	char line[LINE_SIZE];
	bool wanted = level == VERBOSE ? opt->verbose :
	    level == REFUSED || !opt->quiet;
	bool taken = !stderr_left;
	int head, n;

	if (!wanted && opt->log_fd == -1 && level == VERBOSE)
		return;
	head = opt->name == NULL ? snprintf(line, sizeof(line), "ownerwrap: ") :
	    snprintf(line, sizeof(line), "ownerwrap[%.64s]: ", opt->name);
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, ap);
	n = head + (n < LINE_SIZE - head - 1 ? n : LINE_SIZE - head - 2);
	make_harmless(line, n);
	line[n] = '\n';
	line[n + 1] = '\0';
	if (opt->log_fd != -1)
		write_log(line);
	if (wanted)
		taken = taken &&
		    write_line(STDERR_FILENO, line, (size_t)n + 1);
	line[n] = '\0';
	if (opt->log_fd == -1 &&
	    (level == ORPHANED || (level != VERBOSE && !taken)))
		write_syslog(line);
}

void
say(enum level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(level, fmt, ap);
	va_end(ap);
}

void
refuse(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(REFUSED, fmt, ap);
	va_end(ap);
	exit(status);
}

int64_t
passed_ms(int64_t since_ms)
{
	int64_t ms = now_ms() - since_ms;

	return ms > 0 ? ms : 1;
}

const char *
label(pid_t pid, const char *name, char buf[64])
{
	if (name[0] == '\0')
		snprintf(buf, 64, "%d", (int)pid);
	else
		snprintf(buf, 64, "%d (%s)", (int)pid, name);
	return buf;
}

const char *
label_of(pid_t pid, char buf[64])
{
	struct proc p;

	return label(pid, proc_stat(pid, &p) == 0 ? p.name : "", buf);
}

void
leave_stderr(int fd)
{
	stderr_left = true;
	dup2(fd, STDERR_FILENO);
}
