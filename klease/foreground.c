#include "config.h"

#include "klease/foreground.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "klease/child.h"

int foreground_open(bool children)
{
	static const int taken[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (!child_was_ignored(taken[i])) /* nohup: the command ignores it, and so do we */
			sigaddset(&set, taken[i]);
	if (children)
		sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int foreground_read(int fd, bool *ret_terminal)
{
	struct signalfd_siginfo si;

	if (read(fd, &si, sizeof si) != (ssize_t)sizeof si)
		return 0;
	/*
	 * A terminal that hangs up tells the leader of its session only, and that may be us: the command has
	 * not heard of it.
	 */
	*ret_terminal = si.ssi_code == SI_KERNEL && si.ssi_signo != SIGHUP;
	return (int)si.ssi_signo;
}
