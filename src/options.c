/*
 * options: command line and environment, read once into a list, and applied
 * once, in turn: first what says where messages go, then the rest
 */
#include "options.h"

#include "find_owner.h"
#include "idle.h"
#include "opt.h"
#include "os.h"
#include "owner.h"
#include "say.h"
#include "sockets.h"
#include "start.h"
#include "sweep.h"

#include <ctype.h>

#define VERSION		"0.1.0"

#define GRACE_MS	2000	/* a server's own end after its EOF fits in */
#define KILL_AFTER_MS	5000	/* what hosts give; most handlers take less */
#define INTERVAL_MS	1000	/* one wake-up a second is not noticed */
#define KEEP_GRACE_MS	10000	/* a client that reloads is back after 6 s */

struct option {
	char letter;
	const char *name, *value;	/* value: its name in the help */
	bool owner;			/* replaces all other owner variables */
	bool (*set)(const struct option *, const char *);
	const char *right;		/* what a malformed value should be */
	const char *help;
	void *to;			/* off: all of its bytes are 0 */
	size_t size;
};

enum how { LETTER, LONG, VARIABLE };

struct given {
	const struct option *o;		/* NULL: an unknown variable */
	enum how how;
	const char *value;
};

static struct list givens;

static struct opt asked = {
	.grace_ms = FOREVER, .kill_after_ms = KILL_AFTER_MS,
	.interval_ms = INTERVAL_MS,
	.signal = SIGTERM, .log_fd = -1
};

const struct opt *const opt = &asked;

static bool
set_flag(const struct option *o, const char *value)
{
	(void)value;
	return *(bool *)o->to = true;
}

static bool
set_text(const struct option *o, const char *value)
{
	if (value[0] == '\0')
		return false;
	*(const char **)o->to = value;
	return true;
}

/* It can be the name of a file. */
static bool
set_file(const struct option *o, const char *value)
{
	return *base_name(value) != '\0' && set_text(o, value);
}

static bool
set_name(const struct option *o, const char *value)
{
	return strchr(value, '/') == NULL && set_text(o, value);
}

/* One of the words of o->right, "stop, wait or leave", in its enum's order. */
static bool
set_word(const struct option *o, const char *value)
{
	const char *at = o->right;

	for (int i = 0; *at != '\0'; i++) {
		size_t len = strcspn(at, ", ");

		if (strncmp(at, value, len) == 0 && value[len] == '\0') {
			*(int *)o->to = i;
			return true;
		}
		at += len + strspn(at + len, ", ");
		at += strncmp(at, "or ", 3) == 0 ? 3 : 0;
	}
	return false;
}

static bool
set_duration(const struct option *o, const char *value)
{
	return parse_duration(value, o->to);
}

static bool
set_interval(const struct option *o, const char *value)
{
	int64_t ms;

	if (!parse_duration(value, &ms) || ms == 0)
		return false;
	*(int64_t *)o->to = ms;
	return true;
}

static bool
set_kill_after(const struct option *o, const char *value)
{
	if (strcmp(value, "inf") == 0)
		asked.kill_after_ms = FOREVER;
	else if (!set_interval(o, value))
		return false;
	return asked.kill_given = true;
}

static bool
set_signal(const struct option *o, const char *value)
{
	int signo;

	if (!parse_signal(value, signals_end, &signo) || signo == SIGSTOP ||
	    signo == SIGCONT || is_terminal_stop(signo))
		return false;
	*(int *)o->to = signo;
	return true;
}

static bool
set_owner_pid(const struct option *o, const char *value)
{
	const char *colon = strchr(value, ':');
	size_t len = colon == NULL ? strlen(value) : (size_t)(colon - value);
	uint64_t pid, ticks = 0;

	(void)o;
	if (!parse_number(value, len, 1, INT_MAX, &pid) ||
	    (pid_t)pid == getpid() || (colon != NULL &&
	    !parse_number(colon + 1, strlen(colon + 1), 1, UINT64_MAX,
	    &ticks)))
		return false;
	return owner_add((pid_t)pid, ticks) != NULL;
}

static bool
set_owner_name(const struct option *o, const char *value)
{
	struct proc p;

	(void)o;
	return value[0] != '\0' && proc_stat(getpid(), &p) == 0 &&
	    owner_name_add(value);
}

static bool
set_owner_fd(const struct option *o, const char *value)
{
	uint64_t fd;

	(void)o;
	return parse_number(value, strlen(value), 0, INT_MAX, &fd) &&
	    fd != STDOUT_FILENO && fd != STDERR_FILENO && own_by_fd((int)fd);
}

/* No value, or "any": every port, and Unix sockets. */
static bool
set_keep_connected(const struct option *o, const char *value)
{
	uint64_t port;
	size_t len;
	int n = 0;

	if (value != NULL && strcmp(value, "any") != 0)
		for (const char *at = value; at != NULL; n++) {
			len = strcspn(at, ",");
			if (n == PORTS_MAX ||
			    !parse_number(at, len, 1, UINT16_MAX, &port))
				return false;
			asked.ports[n] = (uint16_t)port;
			at = at[len] == '\0' ? NULL : at + len + 1;
		}
	asked.n_ports = n;
	return set_flag(o, value);
}

static bool
set_sweep(const struct option *o, const char *value)
{
	(void)o;
	if (!is_pattern(value) || asked.n_sweeps == SWEEPS_MAX)
		return false;
	asked.sweeps[asked.n_sweeps++] = value;
	return true;
}

static bool
set_orphans(const struct option *o, const char *value)
{
	if (asked.find_orphans)
		regfree(&asked.orphans);
	asked.find_orphans = false;
	return value[0] != '\0' && regcomp(&asked.orphans, value,
	    REG_EXTENDED | REG_NOSUB) == 0 && set_flag(o, value);
}

/* O_NONBLOCK: a FIFO without a reader is an error now, no hang later. */
static bool
set_log(const struct option *o, const char *value)
{
	int fd = open(value, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NOCTTY | O_NONBLOCK, 0666);

	(void)o;
	if (fd == -1)
		return false;
	if (asked.log_fd != -1)
		close(asked.log_fd);
	asked.log_fd = survive(fd);
	return true;
}

/* -q and -v: the last wins. */
static bool
set_loudness(const struct option *o, const char *value)
{
	asked.quiet = asked.verbose = false;
	return set_flag(o, value);
}

static bool show_help(const struct option *o, const char *value);

static bool
show_version(const struct option *o, const char *value)
{
	(void)o, (void)value;
	puts("ownerwrap " VERSION);
	exit(0);
}

#define TO(target)	&(target), sizeof(target)
#define NOWHERE		NULL, 0

/* The one table: reading, --help, environment, and the tests of the docs. */
static const struct option options[] = {
	{ 'p', "owner-pid", "PID[:START]", true, set_owner_pid,
	    "another process's pid, 1 or more, or PID:START with its start "
	    "time in ticks; 64 owners at most",
	    "owner by pid; repeatable (default: the parent)", NOWHERE },
	{ 'n', "owner-name", "NAME", true, set_owner_name,
	    "the name of an ancestor, where processes can be listed; 64 at "
	    "most",
	    "owner = nearest ancestor so called; repeatable", NOWHERE },
	{ 0, "owner-fd", "FD", true, set_owner_fd,
	    "0 or an open descriptor above 2: a pipe or FIFO (not read-write, "
	    "its other end not inherited), a connected stream socket, a "
	    "terminal, or a pidfd; 64 owners at most",
	    "owner = who holds the other end; or a pidfd", NOWHERE },
	{ 0, "any", NULL, false, set_flag, NULL,
	    "orphaned when one owner is gone, not all", TO(asked.any) },
	{ 'g', "grace", "SECONDS", false, set_duration,
	    "a duration: 2, 0.25, 500ms, 3s, 30m, 1h; 0 = at once",
	    "owner's death to stop signal (2; keepers: 10)",
	    TO(asked.grace_ms) },
	{ 'k', "kill-after", "SECONDS", false, set_kill_after,
	    "a duration: 5, 0.25, 500ms, 3s, 30m, 1h, or inf = never; to force "
	    "at once write --signal KILL",
	    "stop signal to SIGKILL; inf = never (5)",
	    TO(asked.kill_after_ms) },
	{ 's', "signal", "SIGNAL", false, set_signal,
	    "a signal's name or number that ends a process (not STOP, CONT, "
	    "TSTP, TTIN, TTOU)",
	    "the stop signal (TERM)", TO(asked.signal) },
	{ 0, "scope", "SCOPE", false, set_word, "session, process or tree",
	    "session, process or tree (session)", TO(asked.scope) },
	{ 0, "leftovers", "WHAT", false, set_word, "stop, wait or leave",
	    "stop, wait or leave what it leaves (stop)", TO(asked.leftovers) },
	{ 'i', "interval", "SECONDS", false, set_interval,
	    "a duration of 1ms or more: 1, 0.25, 500ms, 3s, 30m, 1h",
	    "how often to look without notification (1)",
	    TO(asked.interval_ms) },
	{ 0, "keep-connected", "[=PORT,...]", false, set_keep_connected,
	    "any, or at most 64 port numbers with commas",
	    "keeper: stay while others are connected",
	    TO(asked.keep_connected) },
	{ 0, "keep-if", "COMMAND", false, set_text, "a command for sh -c",
	    "keeper: stay while sh -c COMMAND exits 0", TO(asked.keep_if) },
	{ 0, "share", "NAME|PATH", false, set_file,
	    "a name, or the path of a socket",
	    "one server for all; not for stdio servers", TO(asked.share) },
	{ 0, "max-idle", "SECONDS", false, set_duration,
	    "a duration: 5, 0.25, 500ms, 3s, 30m, 1h; 0 = off",
	    "stop when nothing happened for so long (off)",
	    TO(asked.max_idle_ms) },
	{ 0, "unique", "NAME", false, set_name, "a name without a slash",
	    "one server per owner: stop the older one", TO(asked.unique) },
	{ 0, "sweep", "PATTERN", false, set_sweep,
	    "a path with {pid} once, in its last part; 64 at most",
	    "first unlink files whose {pid} is dead", NOWHERE },
	{ 0, "orphans", "PATTERN", false, set_orphans,
	    "an extended regular expression",
	    "say which processes look orphaned", TO(asked.find_orphans) },
	{ 0, "poll", NULL, false, set_flag, NULL,
	    "no kernel notification: look every interval", TO(asked.poll) },
	{ 0, "log", "PATH", false, set_log,
	    "a file that can be opened for writing",
	    "append every message, as under -v, to PATH", NOWHERE },
	{ 'q', "quiet", NULL, false, set_loudness, NULL,
	    "only a refused start is said on stderr", TO(asked.quiet) },
	{ 'v', "verbose", NULL, false, set_loudness, NULL,
	    "say who owns the server, and each relay", TO(asked.verbose) },
	{ 'h', "help", NULL, false, show_help, NULL, "show this", NOWHERE },
	{ 'V', "version", NULL, false, show_version, NULL, "show the version",
	    NOWHERE }
};

/* Its value may be left out, so it is only taken after "=". */
static bool
is_optional(const struct option *o)
{
	return o->value != NULL && o->value[0] == '[';
}

static bool
show_help(const struct option *none, const char *value)
{
	char both[40];

	(void)none, (void)value;
	puts("usage: ownerwrap [options] [--] command [argument ...]\n"
	    "Run command as a server whose life is tied to its owner's.");
	for (size_t i = 0; i < COUNT(options); i++) {
		const struct option *o = &options[i];

		snprintf(both, sizeof(both), "--%s%s%s", o->name,
		    o->value && !is_optional(o) ? " " : "",
		    o->value ? o->value : "");
		printf("  %-3s %-26s  %s\n", o->letter ?
		    (char[]){ '-', o->letter, ',', '\0' } : "", both, o->help);
	}
	puts("\nDurations: 2, 0.25, 500ms, 3s, 30m, 1h.  An option with a "
	    "value can be given as\nOWNERWRAP_NAME; OWNERWRAP=off runs the "
	    "command alone.  Exit status: the\nserver's; 124 no owner; 125 not "
	    "started; 126 can't be executed; 127 not found.");
	exit(0);
}

static const char usage[] =
    "usage: ownerwrap [options] [--] command [argument ...], or --help";

static const struct option *
option_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (strlen(options[i].name) == len &&
		    strncmp(options[i].name, name, len) == 0)
			return &options[i];
	return NULL;
}

/* -g, --grace, OWNERWRAP_GRACE */
static const char *
spell(const struct option *o, enum how how, char buf[48])
{
	static const char *const before[] = {
		[LETTER] = "-", [LONG] = "--", [VARIABLE] = "OWNERWRAP_" };
	int n = snprintf(buf, 48, "%s%.*s", before[how],
	    how == LETTER ? 1 : 32, how == LETTER ? &o->letter : o->name);

	for (int i = 0; i < n && how == VARIABLE; i++)
		buf[i] = buf[i] == '-' ? '_' :
		    (char)toupper((unsigned char)buf[i]);
	return buf;
}

static void
give(const struct option *o, enum how how, const char *value)
{
	struct given *g;
	char name[48];

	if (o != NULL && o->value != NULL && value == NULL && !is_optional(o))
		refuse(NOT_STARTED, "%s: needs a value: %s",
		    spell(o, how, name), o->right);
	if ((g = list_add(&givens, sizeof(*g))) == NULL)
		refuse(NOT_STARTED, "no memory");
	*g = (struct given){ .o = o, .how = how, .value = value };
}

/* The last that was given of an option that was. */
static const struct given *
last_given(const char *name)
{
	const struct option *o = option_by_name(name, strlen(name));
	const struct given *g = (struct given *)givens.at + givens.n - 1;

	while (g->o != o)
		g--;
	return g;
}

/* -v, -vp4711, -vp 4711; returns how many words it took. */
static int
read_cluster(char **argv)
{
	for (const char *at = argv[0] + 1; *at != '\0'; at++) {
		const struct option *o = options;

		while (o < options + COUNT(options) && o->letter != *at)
			o++;
		if (o == options + COUNT(options))
			refuse(NOT_STARTED, "unknown option -%c (%s)", *at,
			    usage);
		if (o->value == NULL) {
			give(o, LETTER, NULL);
			continue;
		}
		give(o, LETTER, at[1] ? at + 1 : argv[1]);
		return at[1] ? 1 : 2;
	}
	return 1;
}

/* --name, --name=value, --name value; returns how many words it took. */
static int
read_long(char **argv)
{
	const char *name = argv[0] + 2;
	size_t len = strcspn(name, "=");
	const struct option *o = option_by_name(name, len);
	bool joined = name[len] == '=';

	if (o == NULL)
		refuse(NOT_STARTED, "unknown option --%.*s (%s)", (int)len,
		    name, usage);
	if (o->value == NULL && joined)
		refuse(NOT_STARTED, "--%s: takes no value", o->name);
	if (o->value == NULL || joined || is_optional(o)) {
		give(o, LONG, joined ? name + len + 1 : NULL);
		return 1;
	}
	give(o, LONG, argv[1]);
	return 2;
}

/* Up to the first operand: the command, NULL if there is none. */
static char **
read_options(char **argv)
{
	while (*argv != NULL && (*argv)[0] == '-' && (*argv)[1] != '\0') {
		if (strcmp(*argv, "--") == 0)
			return argv[1] == NULL ? NULL : argv + 1;
		argv += (*argv)[1] == '-' ? read_long(argv) :
		    read_cluster(argv);
	}
	return *argv == NULL ? NULL : argv;
}

/* OWNERWRAP_KILL_AFTER=..., unless an option has said it. */
static void
take_variable(const char *variable)
{
	const struct option *o = NULL;
	bool replaced = false;
	char name[48];
	const char *value = strchr(variable, '=');

	if (value == NULL || *++value == '\0')
		return;
	for (size_t i = 0; i < COUNT(options) && o == NULL; i++) {
		size_t len = strlen(spell(&options[i], VARIABLE, name));

		if (options[i].value != NULL && variable[len] == '=' &&
		    strncmp(variable, name, len) == 0)
			o = &options[i];
	}
	for (size_t i = 0; o != NULL && i < givens.n; i++) {
		const struct given *g = (struct given *)givens.at + i;

		replaced |= g->how != VARIABLE &&
		    (g->o == o || (g->o->owner && o->owner));
	}
	if (!replaced)
		give(o, VARIABLE, o == NULL ? variable : value);
}

/* Our variables are taken out of it. */
static void
read_environment(void)
{
	char **to = environ;

	note_names();
	for (char **from = environ; *from != NULL; from++)
		if (strncmp(*from, "OWNERWRAP_", 10) == 0)
			take_variable(*from);
		else
			*to++ = *from;
	*to = NULL;
}

/* Malformed: an option is refused, a variable is a line and the default. */
static void
apply_all(bool messages)
{
	char name[48];

	for (size_t i = 0; i < givens.n; i++) {
		const struct given *g = (struct given *)givens.at + i;
		const struct option *o = g->o;

		if (messages != (o != NULL && (o->set == set_log ||
		    o->set == set_loudness)))
			continue;
		if (o == NULL)
			say(VERBOSE, "%.*s: unknown, ignored",
			    (int)strcspn(g->value, "="), g->value);
		else if (o->set(o, g->value))
			continue;
		else if (g->how == VARIABLE)
			say(DEFAULT, "%s=%s: ignored, must be %s",
			    spell(o, g->how, name), g->value, o->right);
		else
			refuse(NOT_STARTED, "%s %s: must be %s",
			    spell(o, g->how, name), g->value, o->right);
	}
}

/* What was well-formed, but can't work here: refused, or a line and off. */
static void
turn_off(const char *name, const char *why)
{
	const struct given *g = last_given(name);
	char spelled[48];

	if (g->how != VARIABLE)
		refuse(NOT_STARTED, "--%s: can't work here: %s", name, why);
	say(DEFAULT, "%s=%s: ignored, can't work here: %s",
	    spell(g->o, VARIABLE, spelled), g->value, why);
	if (g->o->to != NULL)
		memset(g->o->to, 0, g->o->size);
}

/* Of two that exclude each other a variable gives way to an option. */
static void
clash(const char *name, const char *other, const char *why)
{
	char excluded[48];

	snprintf(excluded, sizeof(excluded), "--%s excludes it", name);
	if (last_given(name)->how == VARIABLE ||
	    last_given(other)->how != VARIABLE)
		turn_off(name, why);
	else
		turn_off(other, excluded);
}

/* proc(5): a thread's number is no process's, though it looks like one. */
static void
check_owners(void)
{
	char who[64], why[128];

	for (struct owner *o = next_owner(NULL); o != NULL; ) {
		pid_t leader = proc_leader(o->pid);

		if (o->kind->by_fd || leader == o->pid) {
			o = next_owner(o);
			continue;
		}
		snprintf(why, sizeof(why), "%d is a thread of %s", (int)o->pid,
		    label_of(leader, who));
		turn_off("owner-pid", why);
		o = drop_owner(o);
	}
}

bool
has_keepers(void)
{
	return opt->keep_connected || opt->keep_if != NULL;
}

/* What was well-formed, but can't work here, or together. */
static void
check_options(void)
{
	static const char no_tree[] = "with --scope process the server's tree "
	    "is not known";

	check_owners();
	if (asked.scope == SCOPE_PROCESS && asked.keep_connected)
		clash("keep-connected", "scope", no_tree);
	if (asked.scope == SCOPE_PROCESS && asked.max_idle_ms != 0)
		clash("max-idle", "scope", no_tree);
	if (asked.share != NULL && asked.leftovers == LEFTOVERS_LEAVE)
		clash("leftovers", "share", "with --share the server's end is "
		    "the end of all");
	if (asked.share != NULL && asked.unique != NULL)
		clash("unique", "share", "with --share there is one server for "
		    "all owners");
	if (asked.keep_connected && !sockets_usable())
		turn_off("keep-connected", "the sockets of processes can't "
		    "be listed: --keep-if can ask by a command");
	if (asked.max_idle_ms != 0 && !idle_usable())
		turn_off("max-idle", "what processes do can't be measured");
	if (asked.find_orphans && !proc_listed())
		turn_off("orphans", "processes can't be listed");
	if (asked.grace_ms == FOREVER)
		asked.grace_ms = has_keepers() || asked.share != NULL ?
		    KEEP_GRACE_MS : GRACE_MS;
}

void
parse(char **argv)
{
	static char name[64];
	char **command = read_options(argv + 1);
	const char *on = getenv("OWNERWRAP");

	asked.command = command;
	if (command != NULL) {	/* a copy: the title overwrites argv */
		snprintf(name, sizeof(name), "%s", base_name(command[0]));
		asked.name = name;
	}
	if (command != NULL && on != NULL &&
	    is_listed("off 0 no false", on, strlen(on), "")) {
		execvp(command[0], command);
		exit(say_exec_error(command[0], errno));
	}
	read_environment();
	apply_all(true);
	apply_all(false);
	check_options();
	if (asked.command == NULL && asked.share == NULL && !asked.find_orphans)
		refuse(NOT_STARTED, "no command (%s)", usage);
}
