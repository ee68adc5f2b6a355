#include "config.h"

#include "klease/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "klease/child.h"
#include "klease/keeper-life.h"
#include "lease/process.h"

int keeper_tell(int sock, enum keeper_word word, int32_t value)
{
	struct keeper_msg m = { word, value, 0 };

	return send(sock, &m, sizeof m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int keeper_hear(int sock, struct keeper_msg *ret)
{
	ssize_t n;

	do
		n = recv(sock, ret, sizeof *ret, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *ret;
}

static int hello(int sock)
{
	struct lease_process self;
	struct keeper_msg m = { .word = KEEPER_HELLO };
	int r = lease_process_self(&self);

	if (r < 0)
		return r;
	m.value = self.pid;
	m.start = self.start;
	return send(sock, &m, sizeof m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void ignore_signals(void)
{
	static const int ignored[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
				       SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM };
	struct sigaction sa = { .sa_handler = SIG_IGN };
	sigset_t chld;

	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		(void)sigaction(ignored[i], &sa, NULL);
	sa.sa_handler = SIG_DFL;
	(void)sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_SETMASK, &chld, NULL);
}

static void keeper_main(const struct keeper_plan *plan, int sock) __attribute__((noreturn));
static void keeper_main(const struct keeper_plan *plan, int sock)
{
	(void)prctl(PR_SET_NAME, "klease-keeper");
	ignore_signals();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || hello(sock) < 0)
		_exit(1);
	_exit(keeper_live(plan, sock));
}

/* In the first child of `create`: nothing of the caller's shell stays open, its terminal cannot reach us. */
static void detach(const struct keeper_plan *plan, int sock)
{
	const struct lease_tree *t = &plan->w->tree;
	int keep[] = { t->root, t->queue, t->active, t->archive, plan->w->state, sock };
	pid_t pid;

	if (setsid() < 0)
		_exit(1);
	pid = fork();
	if (pid != 0)
		_exit(pid < 0);
	/*
	 * Again, so that who leads the session is among us: one whose leader has gone can't be put to disk as a whole. It has
	 * no terminal, and never opens one that could become its own.
	 */
	if (setsid() < 0)
		_exit(1);
	keeper_null_stdio();
	keeper_close_all_but(keep, sizeof keep / sizeof *keep);
}

int keeper_start(const struct keeper_plan *plan, struct lease_process *ret, int *ret_sock)
{
	struct keeper_msg m;
	int s[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		r = -errno;
		close(s[1]);
		goto fail;
	}
	if (pid == 0) {
		close(s[0]);
		if (plan->detached)
			detach(plan, s[1]);
		keeper_main(plan, s[1]);
	}
	close(s[1]);
	if (plan->detached)
		(void)waitpid(pid, NULL, 0);
	if (!keeper_hear(s[0], &m) || m.word != KEEPER_HELLO) {
		r = -ECHILD;
		goto fail;
	}
	ret->pid = m.value;
	ret->start = m.start;
	*ret_sock = s[0];
	return 0;
fail:
	close(s[0]);
	return r;
}
