/*
 * The command lines: what a process is, between a server and its owner, and
 * what it is called
 */
#include "unit.h"

#include "guise.h"

#include <stdlib.h>

/* A command line's words are parted by |, as the kernel's are by NULs. */
static struct { char words[3 * ARGS_SIZE]; size_t len; } line;
static const char *kernel_name = "guise";	/* NULL: the process has gone */

int
proc_stat(pid_t pid, struct proc *p)
{
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	if (kernel_name == NULL)
		return -1;
	strncpy(p->name, kernel_name, NAME_SIZE - 1);
	return 0;
}

ssize_t
proc_args(pid_t pid, char *buf, size_t size)
{
	size_t n = line.len < size ? line.len : size - 1;

	(void)pid;
	memcpy(buf, line.words, n);
	buf[n] = '\0';
	return (ssize_t)n;
}

static void
set_line(const char *words)
{
	line.len = strlen(words) + 1;
	memcpy(line.words, words, line.len);
	for (size_t i = 0; i < line.len; i++)
		if (line.words[i] == '|')
			line.words[i] = '\0';
}

static void
check_link(const char *words, enum link want)
{
	set_line(words);
	CHECK(words, link_of(1), want);
}

/* Before the name, as a path or a login shell has it; behind it, a version. */
static void
check_spellings(const char *before, const char *name, const char *after,
    const char *arguments, enum link want)
{
	char words[256];

	snprintf(words, sizeof(words), "%s%s%s%s", before, name, after,
	    arguments);
	check_link(words, want);
}

static const char *const shells[] = {
	"sh", "dash", "bash", "ash", "zsh", "ksh", "mksh", "yash", "osh",
	"rbash", "rksh", "rzsh"
};
static const char *const other_shells[] = {
	"fish", "csh", "tcsh", "rc", "nu", "xonsh", "elvish", "pwsh"
};
static const char *const launchers[] = {
	"npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "corepack", "uv", "uvx",
	"pipx", "make", "sudo", "doas", "su", "timeout", "flock", "time",
	"script", "unshare", "bwrap", "dbus-run-session"
};
static const char *const interpreters[] = {
	"node", "nodejs", "python", "ruby", "perl", "bun", "deno", "busybox"
};
static const char *const paths[] = {
	"", "/bin/", "/usr/local/bin/", "./", "-", "/bin/-"
};
static const char *const versions[] = {
	"", "5", "3.11", "-5.2", "93", "-static", "-5.2-static", "."
};
static const char *const like[] = {	/* and yet something else */
	".sh", "q", "-editor", "-5.2x", "_", "-statics", "d", "-config", "+"
};

/* What each of the shells is with these arguments. */
static const struct { const char *arguments; enum link link; } spelled[] = {
	{ "|-c|a command", COMMAND }, { "|-c|", COMMAND }, { "|-c", COMMAND },
	{ "|-lc|a command", COMMAND }, { "|-ce|a command", COMMAND },
	{ "|-ec|a command", COMMAND },
	{ "|-exc|a command|name|argument", COMMAND },
	{ "|-e|-u|-c|a command", COMMAND }, { "|-c|-e|a command", COMMAND },
	{ "|-lic|x", COMMAND }, { "|-ic|x", COMMAND }, { "|-i|-c|x", COMMAND },
	{ "|-s|-c|x", COMMAND }, { "|-fc|x", COMMAND },
	{ "|--norc|-c|x", COMMAND }, { "|--login|--noprofile|-c|x", COMMAND },
	{ "|--rcfile|-c|-c|x", COMMAND }, { "|--rcfile=-c|-c|x", COMMAND },
	{ "|--init-file|x|-c|x", COMMAND }, { "|--emulate|sh|-c|x", COMMAND },
	{ "|-o|pipefail|-c|x", COMMAND }, { "|-eo|pipefail|-c|x", COMMAND },
	{ "|-opipefail|-c|x", COMMAND }, { "|+o|posix|-c|x", COMMAND },
	{ "|+x|-c|x", COMMAND }, { "|-O|extglob|-c|x", COMMAND },
	{ "|+O|extglob|-c|x", COMMAND }, { "|-o|-c|-c|x", COMMAND },

	{ "|start.sh", WAITS }, { "|/a b/start.sh|x", WAITS },
	{ "|start.sh|-c|an argument", WAITS }, { "|start.sh|-i", WAITS },
	{ "|-e|start.sh|-s", WAITS }, { "|-eux|start.sh", WAITS },
	{ "|-x|+e|start.sh", WAITS }, { "|--norc|start.sh|-c|x", WAITS },
	{ "|--rcfile|start.sh|script|-c", WAITS }, { "|--posix|script", WAITS },
	{ "|-o|errexit|script|-i", WAITS }, { "|-|script", WAITS },
	{ "|-|-c|x", WAITS }, { "|--|script", WAITS }, { "|--|-c|x", WAITS },
	{ "|-e|--|-i", WAITS }, { "|+c|script", WAITS },
	{ "|+s|script", WAITS }, { "|+i|script", WAITS },
	{ "|-o|-s|script", WAITS }, { "|node|-e|x", WAITS },
	{ "|sudo|-s", WAITS }, { "|c", WAITS }, { "|sh", WAITS },

	{ "", READS }, { "|-", READS }, { "|--", READS }, { "|-s", READS },
	{ "|-i", READS }, { "|-l", READS }, { "|-li", READS },
	{ "|-il", READS }, { "|-e", READS }, { "|--login", READS },
	{ "|--rcfile|x", READS }, { "|--rcfile", READS },
	{ "|--interactive", READS }, { "|--interactive|script", READS },
	{ "|-o|vi", READS }, { "|-s|script", READS }, { "|-s|--|-c|x", READS },
	{ "|-i|script", READS }, { "|-ex|-s|x|y", READS }, { "|-o", READS },
	{ "|+o", READS }, { "|+x", READS }
};

static void
test_shells(void)
{
	for (size_t s = 0; s < COUNT(shells); s++)
		for (size_t i = 0; i < COUNT(spelled); i++) {
			const char *of = spelled[i].arguments;

			for (size_t p = 0; p < COUNT(paths); p++)
				check_spellings(paths[p], shells[s], "", of,
				    spelled[i].link);
			for (size_t v = 0; v < COUNT(versions); v++)
				check_spellings("", shells[s], versions[v], of,
				    spelled[i].link);
			check_spellings("busybox|", shells[s], "", of,
			    spelled[i].link);
			check_spellings("/bin/busybox-static|", shells[s], "",
			    of, spelled[i].link);
			for (size_t n = 0; n < COUNT(like); n++)
				check_spellings("/bin/sh/", shells[s], like[n],
				    of, STAYS);
		}
}

/* The same of each of the others, which differ more in their options. */
static const struct { const char *arguments; enum link link; } any[] = {
	{ "|-c|a command", COMMAND }, { "|-c", COMMAND },
	{ "|start", WAITS }, { "|start|-c|x", WAITS }, { "|--|start", WAITS },
	{ "|-i|start", READS }, { "", READS }, { "|-i", READS }
};

static void
test_other_shells(void)
{
	static const struct { const char *words; enum link link; } rows[] = {
		{ "csh|-fc|x", COMMAND }, { "tcsh|-f|start", WAITS },
		{ "tcsh|-l", READS }, { "rc|-lc|x", COMMAND },
		{ "fish|-C|an init command|-c|x", COMMAND },
		{ "fish|--no-config|--command=x", COMMAND },
		{ "fish|--command|x", COMMAND },
		{ "fish|--features|x|-ic|x", COMMAND },
		{ "fish|-d|debug|-c|x", COMMAND },
		{ "fish|-C|echo|start.fish", WAITS },
		{ "fish|--init-command|echo|start.fish", WAITS },
		{ "fish|-p|profile|start.fish", WAITS },
		{ "fish|-C|an init command", READS },
		{ "fish|--init-command=echo", READS }, { "-fish", READS },
		{ "nu|--config|x|--commands|x", COMMAND },
		{ "nu|--env-config|x|start.nu|-c", WAITS },
		{ "nu|-e|an init command", READS },
		{ "nu|--execute|an init command", READS },
		{ "/opt/My Tools/bin/bash|-c|x", COMMAND },
		{ "/Library/Application Support/uv/uvx|x", WAITS },
		{ "nu|-t|rounded|start.nu", WAITS },
		{ "elvish|-norc|-c|x", COMMAND },
		{ "elvish|-rc|x|-c|x", COMMAND },
		{ "elvish|-rc|-c|start.elv", WAITS },
		{ "elvish|-norc|start.elv|-c", WAITS },
		{ "elvish|-norc", READS }, { "elvish|-db|x", READS },
		{ "xonsh|--no-rc|-c|x", COMMAND },
		{ "xonsh|-D|A=B|start.xsh", WAITS },
		{ "python3.11|/usr/bin/xonsh|--no-rc|-c|x", COMMAND },
		{ "python3|/usr/bin/xonsh|start.xsh", WAITS },
		{ "python3|-u|/usr/bin/xonsh", READS },
		{ "python3|-m|xonsh", READS },
		{ "python3|-i|x/xonsh|x", WAITS },
		{ "pwsh|-nop|-c|x", COMMAND },
		{ "pwsh|-NoProfile|-ExecutionPolicy|Bypass|-Command|x",
		    COMMAND },
		{ "pwsh|-ep|Bypass|-COMMAND|x", COMMAND },
		{ "pwsh|-NonInteractive|-EncodedCommand|x", COMMAND },
		{ "pwsh|-ec|x", COMMAND }, { "pwsh|-cwa|x|y", COMMAND },
		{ "pwsh|-CommandWithArgs|x", COMMAND },
		{ "pwsh|-ExecutionPolicy|Bypass|-File|start.ps1", WAITS },
		{ "pwsh|-wd|/tmp|start.ps1", WAITS },
		{ "pwsh|-NoLogo|-Interactive", READS }, { "pwsh|-nol", READS },
		{ "yash|--cmd-line|x", COMMAND },
		{ "yash|--cmd-line=x", COMMAND }
	};

	for (size_t s = 0; s < COUNT(other_shells); s++)
		for (size_t i = 0; i < COUNT(any); i++)
			for (size_t p = 0; p < COUNT(paths); p++)
				for (size_t v = 0; v < COUNT(versions); v++)
					check_spellings(paths[p],
					    other_shells[s], versions[v],
					    any[i].arguments, any[i].link);
	for (size_t i = 0; i < COUNT(rows); i++)
		check_link(rows[i].words, rows[i].link);
}

static void
test_launchers(void)
{
	static const char *const arguments[] = {
		"", " run dev", "|run|dev", "|-c|x", "|-s", "|--|server", "|",
		" exec @scope/server", "|5|server", " -x", "|-u|me|server"
	};
	static const char *const rows[] = {
		"go|run|./server", "go|-C|dir|run|.", "go|run", "/usr/lib/go/bin/go|run|.|-c",
		"python3|-m|pipx|run|server", "python3.11|-I|/bin/pipx|run|x",
		"/usr/bin/node|--no-warnings|-r|./x|/usr/bin/pnpm|dev",
		"node|--import|x|--|/usr/bin/npx|-y|server", "bun|run|npm|dev",
		"bun|x/bunx|server", "node|node|npm",
		"busybox|busybox|timeout|5|server"
	};

	for (size_t l = 0; l < COUNT(launchers); l++)
		for (size_t i = 0; i < COUNT(arguments); i++) {
			for (size_t p = 0; p < COUNT(paths); p++)
				check_spellings(paths[p], launchers[l], "",
				    arguments[i], WAITS);
			for (size_t n = 0; n < COUNT(interpreters); n++) {
				char before[32];

				snprintf(before, sizeof(before), "%s|",
				    interpreters[n]);
				check_spellings(before, launchers[l], "",
				    arguments[i], WAITS);
			}
			for (size_t n = 0; n < COUNT(like); n++)
				check_spellings("/bin/make/", launchers[l],
				    like[n], arguments[i], STAYS);
			check_spellings("", launchers[l], "5", arguments[i],
			    STAYS);
			check_spellings("my ", launchers[l], "", arguments[i],
			    STAYS);
			check_spellings("env|", launchers[l], "", arguments[i],
			    STAYS);
		}
	for (size_t i = 0; i < COUNT(rows); i++)
		check_link(rows[i], WAITS);
}

static void
test_what_stays(void)
{
	static const char *const arguments[] = {
		"", "|app", "|app|npm", "|app|-c|npm", "|--|app", "|-u|app",
		"|-", "|--version"
	};
	static const char *const rows[] = {
		"", "|-c|x", " ", " npm", "|", "/", "-", "--", "-|-c|x",
		"/bin/", "/bin/|-c|x", "vim|npm", "my npm", "remake",
		"timeouts|5", "env|make", "nohup|sh|start.sh", "nvim|--embed",
		"code|-c|x", "/opt/sh/editor|-c|x", "/opt/npm/cli",
		"sh-editor|-c|x", "wish|-c|x", "tclsh|script", "fish.sh|-c|x",
		"go", "go|build|run", "go|build", "go|-x|build|run",
		"gofmt|run", "make.py", "python3|make.py", "python3|-c|npm",
		"python3|-c|x|npm", "python3|-Wignore|app|npm",
		"python3|-X|npm|app", "node|app.js|npm", "node|npm.js",
		"node|-e|npm", "node|-p|npm", "node|-pe|x|npm",
		"node|--eval|x|npm", "node|--eval=x|npm", "node|--print|x|sh",
		"node|-r|npm|app", "node|--require|npm|app",
		"node|-c|a command", "node|/opt/npm/app.js", "ruby|-e|x|npm",
		"ruby|-I|npm|app", "perl|-e|x|npm", "perl|-wE|x|npm",
		"perl|-lane|x|npm", "perl|-Mnpm|app", "perl|-I|npm|app",
		"bun|run|dev", "bun|run", "deno|run|--allow-net|a.ts|npm",
		"deno|run|-c|npm|a.ts", "deno|task|npm", "busybox|-c|a command",
		"busybox|httpd|-c|file", "busybox|--list", "busybox|cat|sh"
	};

	for (size_t n = 0; n < COUNT(interpreters); n++)
		for (size_t i = 0; i < COUNT(arguments); i++)
			for (size_t v = 0; v < COUNT(versions); v++)
				check_spellings("", interpreters[n],
				    versions[v], arguments[i], STAYS);
	for (size_t i = 0; i < COUNT(rows); i++)
		check_link(rows[i], STAYS);
}

/* Where argv says nothing, the kernel's name does, but of launchers only. */
static void
test_kernel_names(void)
{
	for (size_t i = 0; i < COUNT(launchers); i++) {
		if (strlen(launchers[i]) >= NAME_SIZE)
			continue;
		kernel_name = launchers[i];
		check_link("a title|x", WAITS);
		check_link("", WAITS);
		check_link("python3|x", STAYS);
	}
	for (size_t i = 0; i < COUNT(shells); i++) {
		kernel_name = shells[i];
		check_link("a title|x", STAYS);
	}
	kernel_name = "go";
	check_link("a title|run", STAYS);
	kernel_name = "node";
	check_link("a title|npm", STAYS);
	check_link("npm run dev", WAITS);
	kernel_name = NULL;
	check_link("npm", WAITS);
	check_link("a title", STAYS);
	line.len = 0;			/* a zombie, a thread of the kernel */
	kernel_name = "make";
	CHECK("nothing", link_of(1), STAYS);
	kernel_name = "guise";
}

static void
check_called(const char *kernel, const char *words, const char *name, bool want)
{
	struct proc p;

	kernel_name = kernel;
	proc_stat(1, &p);
	set_line(words);
	CHECK(words, is_called(&p, name), want);
	kernel_name = "guise";
}

static const struct { const char *words, *name; } called[] = {
	{ "vim", "vim" }, { "/usr/bin/vim|x", "vim" }, { "./vim", "vim" },
	{ "vim|x", "guise" }, { "vim", "guise" }, { "-bash", "-bash" },
	{ "my editor", "my editor" }, { "my editor", "my" },
	{ "/opt/my editor|x", "my editor" }, { "(sd-pam) x", "(sd-pam)" },
	{ "a\nb", "a\nb" }, { "na\xc3\xafve", "na\xc3\xafve" },
	{ "npm run dev", "npm" }, { "npm exec @scope/server", "npm" },
	{ "sshd: me [priv]", "sshd:" },
	{ "/opt/a-fancy-editor-with-a-long-name|x",
	    "a-fancy-editor-with-a-long-name" },
	{ "node|/opt/bin/codex", "codex" }, { "node|/opt/bin/codex", "node" },
	{ "/usr/bin/nodejs|--inspect|-r|./x|--import|y|/bin/codex|-e|x",
	    "codex" },
	{ "node|--|codex", "codex" }, { "node|--require=x|codex", "codex" },
	{ "python3.11|-W|ignore|-u|bin/aider", "aider" },
	{ "python3.11|-Wignore|-u|bin/aider", "aider" },
	{ "python3|-m|jupyterlab", "jupyterlab" },
	{ "python3|-X|dev|-m|jupyterlab|-c|x", "jupyterlab" },
	{ "ruby3.1|-I|lib|-W0|/usr/bin/solargraph|stdio", "solargraph" },
	{ "ruby|-W|/usr/bin/solargraph|stdio", "solargraph" },
	{ "/opt/a b/node|--env-file|.env|codex", "codex" },
	{ "node|--title|x|codex", "codex" },
	{ "deno|run|--import-map|m|codex", "codex" },
	{ "perl|-MStrict|-w|ack", "ack" }, { "perl|-Ilib|ack", "ack" },
	{ "bun|run|./agent.ts", "agent.ts" }, { "bun|./agent.ts", "agent.ts" },
	{ "deno|run|--allow-net|agent.ts", "agent.ts" },
	{ "deno|run|-c|x|agent.ts", "agent.ts" },
	{ "bash|-e|./start.sh", "start.sh" }, { "sh|start.sh|x", "start.sh" },
	{ "sh|/opt/codex", "codex" }, { "sh|-|codex", "codex" },
	{ "-zsh|codex", "codex" }, { "busybox|sh|codex", "codex" },
	{ "busybox|sh|codex", "busybox" }, { "busybox|httpd", "httpd" },
	{ "python3|/usr/bin/xonsh|-i", "xonsh" },
	{ "python3|/usr/bin/xonsh|codex", "codex" },
	{ "fish|-C|x|codex", "codex" }, { "node|npm|codex", "npm" }
};
static const struct { const char *words, *name; } not_called[] = {
	{ "vim|codex", "codex" }, { "/opt/codex/vim", "codex" },
	{ "vim", "vi" }, { "vi", "vim" }, { "vim", "VIM" },
	{ "vim", "/usr/bin/vim" }, { "my editor", "editor" },
	{ "/opt/fancy/fancy-editor", "fancy" }, { "npm run dev", "dev" },
	{ "npm run dev", "run" }, { "npm|exec|codex", "codex" },
	{ "sudo|codex", "codex" }, { "node|app.js|codex", "codex" },
	{ "node|-e|codex", "codex" }, { "node|-r|codex|app.js", "codex" },
	{ "node|--import|codex|app.js", "codex" },
	{ "node|/opt/codex/app.js", "codex" }, { "node|codex.js", "codex" },
	{ "python3|-c|codex", "codex" }, { "python3|-W|codex|app", "codex" },
	{ "ruby|-e|x|codex", "codex" }, { "perl|-E|codex", "codex" },
	{ "bun|run|x|codex", "codex" }, { "bash|-c|codex", "codex" },
	{ "bash|-s|codex", "codex" }, { "bash|-i|codex", "codex" },
	{ "bash|--rcfile|codex", "codex" }, { "sh|start.sh|codex", "codex" },
	{ "sh|node|codex", "codex" }, { "busybox|sh|-c|codex", "codex" },
	{ "|codex", "codex" }, { "python3", "python" }, { "env|codex", "codex" }
};

static void
test_names(void)
{
	struct proc p;

	for (size_t i = 0; i < COUNT(called); i++)
		check_called("guise", called[i].words, called[i].name, true);
	for (size_t i = 0; i < COUNT(not_called); i++)
		check_called("guise", not_called[i].words, not_called[i].name,
		    false);

	/* The kernel has 15 bytes of a name. */
	check_called("fourteen-bytes", "x", "fourteen-bytes", true);
	check_called("fourteen-bytes", "x", "fourteen-bytes1", false);
	check_called("fifteen-bytes-1", "x", "fifteen-bytes-1", true);
	check_called("fifteen-bytes-1", "x", "fifteen-bytes-123", true);
	check_called("fifteen-bytes-1", "x", "fifteen-bytes-", false);
	check_called("fifteen-bytes-1", "x", "fifteen-bytes-2", false);
	proc_stat(1, &p);
	line.len = 0;
	CHECK("nothing", is_called(&p, "guise"), true);
	CHECK("nothing", is_called(&p, "x"), false);
}

/*
 * What does not fit is cut, at any byte: what stands in the rest is not seen,
 * and nothing behind it is read.
 */
static void
test_long_lines(void)
{
	static const char *const lines[] = {
		"sh|-o|pipefail|--rcfile|x|-c|a command",
		"python3.11|-W|ignore|/usr/bin/xonsh|--rc|x|start.xsh",
		"node|--require|x|--|/usr/bin/npm|run|dev", "-bash|--|x y"
	};
	static char words[3 * ARGS_SIZE];

	for (size_t l = 0; l < COUNT(lines); l++)
		for (size_t n = strlen(lines[l]) + 1; n > 0; n--) {
			set_line(lines[l]);
			line.len = n;
			CHECK(lines[l], link_of(1) <= COMMAND, true);
		}
	for (size_t at = ARGS_SIZE - 64; at < ARGS_SIZE + 64; at++) {
		memset(words, 'x', at);
		memcpy(words, "sh|--", 5);
		strcpy(words + at, "|-c|x");
		check_link(words, at + 2 < ARGS_SIZE - 1 ? COMMAND : READS);
		words[3] = 'x';
		check_link(words, WAITS);
	}
}

/* Any words in any order: nothing is read that is not there (make sanitize). */
static void
test_any_words(void)
{
	static const char *const some[] = {
		"sh", "-", "--", "-c", "-o", "", "busybox", "node", "-r", "run",
		"python3", "npm", "+", "-e", "--rcfile", "x", "pwsh", "=", " ",
		"/"
	};
	char words[128];
	uint32_t random = 1;
	int wrong = 0;

	for (int i = 0; i < 100000; i++) {
		size_t at = 0;

		for (int n = 0; n < 8; n++) {
			random = random * 1103515245 + 12345;
			at += (size_t)sprintf(words + at, "%s|",
			    some[(random >> 16) % COUNT(some)]);
		}
		set_line(words);
		line.len -= random >> 30;
		wrong += link_of(1) > COMMAND;
	}
	CHECK("any", wrong, 0);
}

int
main(void)
{
	test_shells();
	test_other_shells();
	test_launchers();
	test_what_stays();
	test_kernel_names();
	test_names();
	test_long_lines();
	test_any_words();
	return report();
}
