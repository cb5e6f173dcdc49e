/* guise: what a command line says of a process */
#include "guise.h"

#include "os.h"

/*
 * Whom a command line shows as something else: a shell that only waits for its
 * command or script, a program that an interpreter runs, and a launcher, which
 * only waits for what it started.  Of one letter: the options whose value is
 * the program's text, and those with another value ('-': the long ones begin
 * with one dash, too).  busybox is an interpreter of applets.
 */
static const struct program {
	const char *names;	/* of a launcher whole, else with a version */
	enum { LAUNCHER, SHELL, INTERPRETER } kind;
	const char *text, *values, *verb;	/* go only with its verb */
} programs[] = {
	{ "sh dash bash ash zsh ksh mksh yash osh rbash rksh rzsh", SHELL,
	    "c", "oO", "" },
	{ "fish", SHELL, "c", "CdDfop", "" },
	{ "csh tcsh rc", SHELL, "c", "", "" },
	{ "nu", SHELL, "c", "eImt", "" },
	{ "xonsh", SHELL, "c", "D", "" },
	{ "elvish pwsh", SHELL, "ce", "-", "" },
	{ "node nodejs", INTERPRETER, "ep", "rC", "" },
	{ "python", INTERPRETER, "c", "WX", "" },	/* -m: the operand */
	{ "ruby", INTERPRETER, "e", "CEIr", "" },
	{ "perl", INTERPRETER, "eE", "IMm", "" },
	{ "bun deno", INTERPRETER, "ep", "rc", "run" },
	{ "busybox", INTERPRETER, "", "", "" },
	{ "go", LAUNCHER, "", "C", "run" },
	{ "npm npx pnpm pnpx yarn bunx corepack uv uvx pipx make sudo doas su "
	    "timeout flock time script unshare bwrap dbus-run-session",
	    LAUNCHER, "", "", "" }
};

static const char text_options[] = "command commands cmd-line cwa "
    "commandwithargs ec encodedcommand eval print";
static const char value_options[] = "rcfile init-file emulate init-command "
    "debug-output features profile config env-config rc db log sock ep ex "
    "executionpolicy wd workingdirectory configurationname custompipename "
    "inputformat outputformat settingsfile windowstyle require import loader "
    "preload execute env-file title import-map";

struct guise {			/* what a command line says of a process */
	char args[ARGS_SIZE];
	const struct program *program;	/* NULL: just what it is */
	const char *script;	/* what that runs, or NULL */
	bool text;		/* or its program is an argument: -c */
	bool reads;		/* -s or -i, or nothing: a shell reads it */
};

static const struct program *
program_named(const char *path, size_t len)
{
	const char *end = path + len, *name = end;

	while (name > path && name[-1] != '/')
		name--;
	name += *name == '-';	/* a login shell */
	if (end - name > 7 && strncmp(end - 7, "-static", 7) == 0)
		end -= 7;
	for (size_t i = 0; name < end && i < COUNT(programs); i++)
		if (is_listed(programs[i].names, name, (size_t)(end - name),
		    programs[i].kind == LAUNCHER ? "" : "-.0123456789"))
			return &programs[i];
	return NULL;
}

/* A title is of several words, "npm exec"; a directory's name may be, too. */
static const struct program *
program_called(const char *title)
{
	const struct program *p = program_named(title, strcspn(title, " "));

	return p != NULL || title[0] != '/' ? p :
	    program_named(title, strlen(title));
}

static const char *
next_word(const char *word)
{
	return word + strlen(word) + 1;
}

/* Of one option word: does it take the next word, too? */
static bool
takes_value(struct guise *g, const char *word)
{
	const struct program *p = g->program;
	const char *name = word + 1 + (word[1] == '-');
	size_t len = strcspn(name, "=");

	if (word[1] == '-' || (p->values[0] == '-' && len > 1)) {
		g->text |= is_listed(text_options, name, len, "");
		g->reads |= is_listed("interactive", name, len, "");
		return name[len] == '\0' &&
		    is_listed(value_options, name, len, "");
	}
	for (; *name != '\0' && !g->text; name++) {
		if (strchr(p->values, *name) != NULL)
			return name[1] == '\0';
		g->text = word[0] == '-' && strchr(p->text, *name) != NULL;
		g->reads |= word[0] == '-' && strchr("si", *name) != NULL;
	}
	return false;
}

/* The first operand behind a program's options, or end. */
static const char *
skip_options(struct guise *g, const char *word, const char *end)
{
	while (word < end && !g->text && (*word == '-' || *word == '+')) {
		bool last = word[1] == '\0' || strcmp(word, "--") == 0;
		bool two = !last && takes_value(g, word);

		word = next_word(word);
		if (last)
			break;
		if (two && word < end)
			word = next_word(word);
	}
	return g->text ? end : word;
}

/*
 * One behind the other: busybox sh, python3 /usr/bin/xonsh, node /usr/bin/npm.
 * What a shell runs is its script, whatever that is called.
 */
static bool
read_guise(pid_t pid, struct guise *g)
{
	ssize_t n = proc_args(pid, g->args, sizeof(g->args));
	const char *word = g->args, *end = g->args + n;
	const struct program *p;

	g->program = NULL;
	g->script = NULL;
	g->text = g->reads = false;
	while (n > 0 && word < end && (p = program_called(word)) != NULL) {
		g->program = p;
		if (p->kind == LAUNCHER && p->verb[0] == '\0')
			break;
		g->reads = false;	/* of an interpreter it means nothing */
		word = skip_options(g, next_word(word), end);
		if (word < end && strcmp(word, p->verb) == 0 &&
		    p->kind != LAUNCHER)
			word = skip_options(g, next_word(word), end);
		g->reads |= p->kind == SHELL && !g->text && word >= end;
		if (word < end && !(p->kind == SHELL && g->reads))
			g->script = word;
		if (p->kind != INTERPRETER)
			break;
	}
	return n > 0;
}

bool
is_called(const struct proc *p, const char *name)
{
	struct guise g;

	if (strncmp(p->name, name, NAME_SIZE - 1) == 0)
		return true;
	if (!read_guise(p->pid, &g))
		return false;
	if (strcmp(base_name(g.args), name) == 0 ||
	    (g.script != NULL && strcmp(base_name(g.script), name) == 0))
		return true;
	g.args[strcspn(g.args, " ")] = '\0';
	return strcmp(base_name(g.args), name) == 0;
}

enum link
link_of(pid_t pid)
{
	struct guise g;
	struct proc row;
	const struct program *p;

	if (!read_guise(pid, &g))
		return STAYS;
	p = g.program;
	if (p == NULL && proc_stat(pid, &row) == 0)
		p = program_called(row.name);
	if (p != NULL && p->kind == LAUNCHER && (p->verb[0] == '\0' ||
	    (g.script != NULL && strcmp(g.script, p->verb) == 0)))
		return WAITS;
	if (p == NULL || p->kind != SHELL || p != g.program)
		return STAYS;
	return g.text ? COMMAND : g.reads ? READS : WAITS;
}
