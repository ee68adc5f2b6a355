/*
 * keeper.c: a keeper as klease makes one, for the conformance suite.
 *
 *	keeper [-s] [-u UID] GATE ID COMMAND [ARGUMENT…]
 *	keeper vfork
 *
 * -s: in a session of its own. Becomes UID, a child subreaper that ignores the terminal's signals; waits for a
 * byte on the FIFO named GATE ("-": doesn't wait; end of file without a byte: nothing runs); runs COMMAND with
 * KLEASE_ID=ID; waits until it has no child left, and exits with COMMAND's status. vfork: a process that
 * nothing stops, since the child that it waits for in the kernel never goes on.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU};

static void handle(void (*how)(int))
{
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		(void)signal(ignored[i], how);
}

static void become(const char *text)
{
	char *end;
	unsigned long uid = strtoul(text, &end, 10);

	if (*end || !*text)
		errx(2, "%s is no uid", text);
	if (setgroups(0, NULL) < 0 || setgid((gid_t)uid) < 0 || setuid((uid_t)uid) < 0)
		err(1, "uid %lu", uid);
	/* Changing the user made us undumpable, and our environment unreadable: klease never was another
	 * user. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		err(1, "PR_SET_DUMPABLE");
}

static void wait_for_gate(const char *gate)
{
	char byte;
	int fd;

	if (!strcmp(gate, "-"))
		return;
	fd = open(gate, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", gate);
	if (read(fd, &byte, 1) != 1)
		exit(1);
	close(fd);
}

static int wait_in_vfork(void)
{
	if (vfork() == 0) {
		pause();
		_exit(0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0, s;
	pid_t child, dead;

	if (argc == 2 && !strcmp(argv[1], "vfork"))
		return wait_in_vfork();
	if (argc > 1 && !strcmp(argv[1], "-s")) {
		if (setsid() < 0)
			err(1, "setsid");
		argc--;
		argv++;
	}
	if (argc > 2 && !strcmp(argv[1], "-u")) {
		become(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc < 4)
		errx(2, "usage: keeper [-s] [-u UID] GATE ID COMMAND [ARGUMENT...]");
	handle(SIG_IGN);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		err(1, "PR_SET_CHILD_SUBREAPER");
	wait_for_gate(argv[1]);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		handle(SIG_DFL);
		if (setenv("KLEASE_ID", argv[2], 1) < 0)
			err(126, "setenv");
		execvp(argv[3], argv + 3);
		err(127, "%s", argv[3]);
	}
	while ((dead = wait(&s)) > 0 || errno == EINTR)
		if (dead == child)
			status = WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
	return status;
}
