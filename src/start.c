/* start: what the server finds: its environment, its command; our title */
#include "start.h"

#include "os.h"
#include "say.h"

/* LISTEN_PID, WATCHDOG_PID: named us, must name the server. */
static bool names_listener, names_watchdog;

/* Where argv and what follows it lie; the front's stay as they were. */
static char *title_start;
static size_t argv_room, title_room;

/* Does the variable name us? */
static bool
names_us(const char *variable)
{
	const char *value = getenv(variable);
	char mine[16];

	snprintf(mine, sizeof(mine), "%d", (int)getpid());
	return value != NULL && strcmp(value, mine) == 0;
}

void
note_names(void)
{
	names_listener = names_us("LISTEN_PID");
	names_watchdog = names_us("WATCHDOG_PID");
	if (names_listener)
		unsetenv("LISTEN_PIDFDID");
}

void
set_number(const char *name, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	setenv(name, text, 1);
}

void
name_server(pid_t pid)
{
	if (names_listener)
		set_number("LISTEN_PID", pid);
	if (names_watchdog)
		set_number("WATCHDOG_PID", pid);
}

void
forget_names(void)
{
	if (names_listener) {
		unsetenv("LISTEN_PID");
		unsetenv("LISTEN_FDS");
		unsetenv("LISTEN_FDNAMES");
	}
	names_listener = false;
}

void
find_title_room(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;

	argv_room = (size_t)(end - argv[0]);
	for (int i = 0; environ[i] != NULL; i++)
		if (environ[i] == end)
			end += strlen(end) + 1;
	title_start = argv[0];
	title_room = (size_t)(end - argv[0]);
}

/*
 * It overwrites argv and environ: nothing of ours reads them afterwards.
 * proc_pid_cmdline(5): an overwritten last byte of argv makes the kernel read
 * on into the environment.
 */
void
overwrite_args(char *title)
{
	static char *none[] = { NULL };
	size_t len = strlen(title);

	environ = none;
	if (len >= title_room)
		len = title_room - 1;
	make_harmless(title, (int)len);
	memset(title_start, 0, argv_room);
	memcpy(title_start, title, len);
	title_start[len] = '\0';
}

int
say_exec_error(const char *command, int error)
{
	const char *path = getenv("PATH");

	if (error == ENOENT && strchr(command, '/') == NULL)
		say(REFUSED, "%s: not found in PATH%s%s", command,
		    path == NULL ? ", which is not set" : "=",
		    path == NULL ? "" : path);
	else if (error == ENOENT)
		say(REFUSED, "%s: not found, or its interpreter is not",
		    command);
	else
		say(REFUSED, "%s: can't be executed: %s", command,
		    strerror(error));
	return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}
