/* keep: no owner left, may the server stay? */
#include "keep.h"

#include "opt.h"
#include "os.h"
#include "record.h"
#include "say.h"
#include "sockets.h"
#include "start.h"
#include "timer.h"
#include "tree.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define HANG_MS		10000	/* a --keep-if that takes longer hangs */

static struct {
	pid_t pid;		/* --keep-if runs; it leads its group */
	int64_t no_since_ms;	/* all say no since then, or 0 */
	char why[256];		/* the last yes, "" = none */
	char *command, **env;	/* --keep-if's */
	struct rlimit limit;	/* of descriptors, as it was given to us */
	bool again;		/* they had their time a second time */
	volatile pid_t *will;	/* where the pid is for a stand-in */
} keeper;

pid_t keeper_pid(void) { return keeper.pid; }

static void
set_keeper(pid_t pid)
{
	if (pid != 0)
		group_made(pid);
	else
		group_gone(keeper.pid);
	keeper.pid = *keeper.will = pid;
}

void
meet_keeper(pid_t pid, volatile pid_t *will)
{
	keeper.will = will;
	set_keeper(pid);
}

void
save_environment(pid_t server, volatile pid_t *will)
{
	size_t n = 0;

	keeper.will = will;
	getrlimit(RLIMIT_NOFILE, &keeper.limit);
	name_server(server);
	set_number("OWNERWRAP_SERVER_PID", server);
	while (environ[n] != NULL)
		n++;
	if ((keeper.command = strdup(opt->keep_if)) == NULL ||
	    (keeper.env = calloc(n + 1, sizeof(*keeper.env))) == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		keeper.env[i] = strdup(environ[i]);
}

/* In --keep-if's process.  0 and 1 are ours already, which are /dev/null. */
static void
become_keeper(pid_t parent)
{
	char *args[] = { "sh", "-c", keeper.command, NULL };

	setpgid(0, 0);
	die_with_parent(SIGKILL);
	if (getppid() != parent || chdir("/") == -1)
		_exit(0);		/* doubt = keep */
	dup2(opt->verbose && opt->log_fd != -1 ? opt->log_fd : STDOUT_FILENO,
	    STDERR_FILENO);
	setrlimit(RLIMIT_NOFILE, &keeper.limit);
	restore_signals();
	execve("/bin/sh", args, keeper.env);
	_exit(0);
}

/* The answer of all: why the server is kept, or NULL. */
static int
kept(const char *why)
{
	int64_t now = now_ms(), left = opt->interval_ms;
	int answer = 0;

	if (why != NULL) {
		if (strcmp(why, keeper.why) != 0)
			say(DEFAULT, "no owner left, kept: %s", why);
		snprintf(keeper.why, sizeof(keeper.why), "%s", why);
		keeper.no_since_ms = 0;
		keeper.again = false;
	} else {
		if (keeper.no_since_ms == 0) {
			answer = FIRST_NO;
			keeper.no_since_ms = now;
		}
		left = keeper.no_since_ms + opt->grace_ms - now;
	}
	if (left <= 0)
		return answer | THROUGH;
	set_timer(T_KEEP, shorter(left, opt->interval_ms));
	return answer;
}

static int64_t
hang_ms(void)
{
	return opt->interval_ms > HANG_MS ? opt->interval_ms : HANG_MS;
}

/* Signals are held until the exec: a handler would write into our pipe. */
static int
start_keeper(void)
{
	pid_t pid, parent = getpid();

	hold_signals();
	if (keeper.env == NULL || (pid = fork()) == -1) {
		release_signals();
		return kept("--keep-if can't be started");
	}
	if (pid == 0)
		become_keeper(parent);
	setpgid(pid, pid);	/* here, too: who kills the group finds it */
	set_keeper(pid);
	release_signals();
	set_timer(T_KEEP, hang_ms());
	return 0;
}

int
ask_keepers(int (*again)(void))
{
	char why[sizeof(keeper.why)];

	memcpy(why, keeper.why, sizeof(why));
	if (opt->keep_connected && again() == -1)
		return kept("/proc can't be read");
	if (opt->keep_connected &&
	    is_connected(tree_rows(), again, why, sizeof(why)))
		return kept(why);
	return opt->keep_if != NULL ? start_keeper() : kept(NULL);
}

/*
 * Of --keep-if nothing stays in its group, which is ours until it is reaped;
 * who is slow to die would count as the server's.  A second is plenty.
 */
bool
end_keeper(void)
{
	siginfo_t si;

	if (keeper.pid == 0)
		return false;
	send_signal(-keeper.pid, SIGKILL);
	for (int i = 0; i < 1000 && waitid(P_PGID, (id_t)keeper.pid, &si,
	    WEXITED | WNOHANG) == 0; i++)
		if (si.si_pid == 0)
			poll(NULL, 0, 1);
	set_keeper(0);
	return true;
}

int
reap_keeper(void)
{
	siginfo_t si = { .si_pid = 0 };

	if (keeper.pid == 0 || waitid(P_PID, (id_t)keeper.pid, &si,
	    WEXITED | WNOHANG | WNOWAIT) == -1 || si.si_pid == 0)
		return 0;
	end_keeper();
	return kept(si.si_code == CLD_EXITED && si.si_status == 0 ?
	    "--keep-if says so" : NULL);
}

bool
was_kept(void)
{
	bool was = keeper.why[0] != '\0';

	keeper.why[0] = '\0';
	return was;
}

void
begin_asking(void)
{
	keeper.again = false;
	set_timer(T_KEEP, 0);
}

void
stop_asking(bool ours)
{
	set_timer(T_KEEP, FOREVER);
	keeper.no_since_ms = 0;
	keeper.why[0] = '\0';
	if (ours)
		end_keeper();
}

int
keepers_time(void)
{
	bool late = is_late(T_KEEP) && !keeper.again;
	char how_long[32];

	set_timer(T_KEEP, FOREVER);
	if (late) {
		keeper.again = true;
		if (keeper.no_since_ms != 0)
			keeper.no_since_ms = now_ms();
	}
	if (keeper.pid == 0)
		return ASK;
	if (late) {
		set_timer(T_KEEP, hang_ms());
		return 0;
	}
	say(DEFAULT, "--keep-if takes longer than %s: ended, counts as no",
	    seconds(hang_ms(), how_long));
	end_keeper();
	return kept(NULL);
}
