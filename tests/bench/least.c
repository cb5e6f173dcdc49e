/*
 * least: a wrapper of three processes in which nothing is left, so that it
 * shows the kernel's own part in ownerwrap's figures. Like ownerwrap it has a
 * process that the host knows, and another one, in a session of its own, whose
 * children are the server, which it sends TERM when its owner ends, and a
 * witness in the host's group; they relay nothing, check nothing, say nothing.
 *
 * least -- CMD ...
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int
pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static _Noreturn void
supervise(int owner, char **command)
{
	struct pollfd polls[2] = { { .fd = owner, .events = POLLIN } };
	pid_t server, witness = fork();

	if (witness == -1)
		_exit(2);
	if (witness == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	server = fork();
	if (server == -1)
		_exit(2);
	if (server == 0) {
		execv(command[0], command);
		_exit(127);
	}
	setsid();
	polls[1] = (struct pollfd){ .fd = pidfd(server), .events = POLLIN };
	while (polls[1].fd != -1 && polls[1].revents == 0 &&
	    poll(polls, 2, -1) != -1)
		if (polls[0].revents != 0) {
			polls[0].fd = -1;
			kill(server, SIGTERM);
		}
	kill(witness, SIGKILL);
	waitpid(witness, NULL, 0);
	waitpid(server, NULL, 0);
	_exit(0);
}

int
main(int argc, char **argv)
{
	int owner = pidfd(getppid());
	pid_t supervisor;

	if (argc < 3 || owner == -1 || (supervisor = fork()) == -1)
		return 2;
	if (supervisor == 0)
		supervise(owner, argv + 2);
	close(owner);
	waitpid(supervisor, NULL, 0);
	return 0;
}
