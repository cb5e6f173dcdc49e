/* values: lists, words, numbers, durations, signals */
#include "values.h"

#include <ctype.h>

void *
list_add(struct list *l, size_t size)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		void *at = realloc(l->at, room * size);

		if (at == NULL)
			return NULL;
		l->at = at;
		l->room = room;
	}
	return memset((char *)l->at + l->n++ * size, 0, size);
}

void
add_word(char *list, size_t size, const char *separator, const char *word)
{
	size_t at = strlen(list);

	snprintf(list + at, size - at, "%s%s", at == 0 ? "" : separator, word);
}

bool
is_listed(const char *list, const char *word, size_t len, const char *suffix)
{
	size_t n;

	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n <= len && strncasecmp(list, word, n) == 0 &&
		    n + strspn(word + n, suffix) >= len)
			return true;
	}
	return false;
}

uint64_t
mix(uint64_t hash, uint64_t x)
{
	return (hash ^ hash >> 32 ^ x) * UINT64_C(0x9e3779b97f4a7c15);
}

const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

int64_t
shorter(int64_t a, int64_t b)
{
	return a == FOREVER || (b != FOREVER && b < a) ? b : a;
}

bool
parse_number(const char *s, size_t len, uint64_t lo, uint64_t hi,
    uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(s, &end, 10);
	return isdigit((unsigned char)*s) && end == s + len && errno == 0 &&
	    *value >= lo && *value <= hi;
}

bool
parse_duration(const char *s, int64_t *ms)
{
	static const struct { const char *name; int64_t ms; } units[] = {
		{ "", 1000 }, { "s", 1000 }, { "ms", 1 },
		{ "m", 60000 }, { "h", 3600000 }
	};
	int64_t whole = 0, part = 0, scale = 1, rest = 0;
	const char *at = s;

	while (isdigit((unsigned char)*at) && whole < INT32_MAX)
		whole = whole * 10 + (*at++ - '0');
	if (at == s || isdigit((unsigned char)*at))
		return false;
	if (*at == '.') {
		if (!isdigit((unsigned char)*++at))
			return false;
		for (; isdigit((unsigned char)*at); at++)
			if (scale < 1000000) {
				part = part * 10 + (*at - '0');
				scale *= 10;
			} else
				rest |= *at != '0';
	}
	for (size_t i = 0; i < COUNT(units); i++)
		if (strcmp(at, units[i].name) == 0) {
			*ms = whole * units[i].ms +
			    (part * units[i].ms + rest + scale - 1) / scale;
			return true;
		}
	return false;
}

const char *
seconds(int64_t ms, char buf[32])
{
	snprintf(buf, 32, "%.15gs", (double)ms / 1000);
	return buf;
}

const char *
age(int64_t ms, char buf[32])
{
	intmax_t s = ms / 1000;

	if (s < 60)
		snprintf(buf, 32, "up %jds", s);
	else if (s < 3600)
		snprintf(buf, 32, "up %jdm", s / 60);
	else
		snprintf(buf, 32, "up %jdh%02jdm", s / 3600, s / 60 % 60);
	return buf;
}

static const struct { char name[8]; int signo; } signal_names[] = {
	{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT },
	{ "ILL", SIGILL }, { "TRAP", SIGTRAP }, { "ABRT", SIGABRT },
	{ "BUS", SIGBUS }, { "FPE", SIGFPE }, { "KILL", SIGKILL },
	{ "USR1", SIGUSR1 }, { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM },
	{ "CHLD", SIGCHLD }, { "CONT", SIGCONT }, { "STOP", SIGSTOP },
	{ "TSTP", SIGTSTP }, { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU },
	{ "URG", SIGURG }, { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
	{ "VTALRM", SIGVTALRM }, { "PROF", SIGPROF }, { "WINCH", SIGWINCH },
	{ "IO", SIGIO }, { "SYS", SIGSYS }
};

const char *
signal_name(int signo, char buf[16])
{
	for (size_t i = 0; i < COUNT(signal_names); i++)
		if (signal_names[i].signo == signo)
			return signal_names[i].name;
	snprintf(buf, 16, "signal %d", signo);
	return buf;
}

bool
parse_signal(const char *s, int end, int *signo)
{
	uint64_t v;

	if (parse_number(s, strlen(s), 1, (uint64_t)end - 1, &v)) {
		*signo = (int)v;
		return true;
	}
	if (strncasecmp(s, "SIG", 3) == 0)
		s += 3;
	for (size_t i = 0; i < COUNT(signal_names); i++)
		if (strcasecmp(s, signal_names[i].name) == 0) {
			*signo = signal_names[i].signo;
			return true;
		}
	return false;
}

bool
is_terminal_stop(int signo)
{
	return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

bool
is_ending(int signo)
{
	return signo == SIGTERM || signo == SIGINT || signo == SIGHUP ||
	    signo == SIGQUIT;
}
