#include "config.h"

#include "klease/keeper-life.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "klease/child.h"
#include "klease/clock.h"
#include "klease/statewatch.h"
#include "klease/views.h"
#include "lease/duration.h"

#define STOP_GRACE (5 * LEASE_NS_PER_S)

void keeper_null_stdio(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i <= 2 && fd >= 0; i++)
		(void)dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void close_range_of(unsigned first, unsigned last)
{
	long max;

	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	max = sysconf(_SC_OPEN_MAX);
	for (unsigned fd = first; fd <= last && (max < 0 || fd < (unsigned)max); fd++)
		close((int)fd);
}

void keeper_close_all_but(int *keep, size_t n)
{
	unsigned next = 3;

	qsort(keep, n, sizeof *keep, by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < (int)next)
			continue;
		if (keep[i] > (int)next)
			close_range_of(next, (unsigned)keep[i] - 1);
		next = (unsigned)keep[i] + 1;
	}
	close_range_of(next, ~0U);
}

/* True when the lease is active; false when it never will be. */
static bool wait_active(const struct keeper_plan *plan)
{
	struct statewatch s;
	struct view v;
	bool active = false;
	int r;

	statewatch_open(&s, plan->w, plan->id);
	for (;;) {
		r = views_get(plan->w, plan->id, &v);
		if (r == -ENOENT || (r == 0 && !view_living(&v)))
			break;
		if (r == 0 && (!strcmp(v.state, "active") || !strcmp(v.state, "idle"))) {
			active = true;
			break;
		}
		/* A daemon that has long been gone must not find a request of yesterday; one that it had
		 * admitted is its own. */
		if (statewatch_wait(&s, 0, -1) == STATEWATCH_GONE &&
		    unlinkat(plan->w->tree.queue, plan->name, 0) == 0)
			break;
	}
	statewatch_close(&s);
	return active;
}

/* 0 and the command's pid, or the errno of its exec. */
static int start(const struct keeper_plan *plan, pid_t *ret)
{
	int p[2], error = 0;
	pid_t pid;
	ssize_t n;

	if (pipe2(p, O_CLOEXEC) < 0)
		return errno;
	pid = fork();
	if (pid == 0) {
		error = child_exec(plan->command, plan->id, plan->lock);
		(void)!write(p[1], &error, sizeof error);
		_exit(child_exec_status(error));
	}
	if (pid < 0)
		error = errno;
	close(p[1]);
	do
		n = read(p[0], &error, sizeof error);
	while (n < 0 && errno == EINTR);
	close(p[0]);
	if (error)
		return error;
	*ret = pid;
	return 0;
}

/* Our own children, which nobody else can reap: their numbers are theirs for as long as we do not wait for
 * them. */
static void signal_children(int sig)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	int pid;

	if (!f)
		return;
	while (fscanf(f, "%d", &pid) == 1) {
		(void)kill(pid, sig);
		if (sig == SIGTERM)
			(void)kill(pid, SIGCONT);
	}
	fclose(f);
}

struct life {
	int sock, chld;
	pid_t command; /* 0 = it has ended */
	bool unwatched;
	int64_t stop_at; /* mono; when what is left is killed; 0 = nobody ends it */
};

/* False when there is no child left. */
static bool reap(struct life *l)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	while (read(l->chld, &si, sizeof si) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != l->command)
			continue;
		l->command = 0;
		if (l->sock >= 0)
			(void)keeper_tell(l->sock, KEEPER_ENDED, status);
	}
	return pid == 0 || errno != ECHILD;
}

static void hear(struct life *l)
{
	struct keeper_msg m;

	if (keeper_hear(l->sock, &m)) {
		if (m.word == KEEPER_SIGNAL && l->command)
			(void)kill(l->command, m.value);
		return;
	}
	close(l->sock);
	l->sock = -1;
	if (l->unwatched) {
		signal_children(SIGTERM);
		l->stop_at = clock_mono() + STOP_GRACE;
	}
}

static void tend(struct life *l)
{
	while (reap(l)) {
		struct pollfd p[2] = { { l->chld, POLLIN, 0 }, { l->sock, POLLIN, 0 } };

		/* Killing a child hands us its children: again with each that comes. */
		if (l->stop_at && clock_mono() >= l->stop_at)
			signal_children(SIGKILL);
		(void)poll(p, 2, clock_mono() < l->stop_at || !l->stop_at ? clock_poll_ms(l->stop_at) : 100);
		if (l->sock >= 0 && p[1].revents)
			hear(l);
	}
}

int keeper_live(const struct keeper_plan *plan, int sock)
{
	struct life l = { .sock = sock };
	struct keeper_msg m;
	sigset_t chld;
	int error;

	if (!keeper_hear(sock, &m))
		return 0;
	if (m.word == KEEPER_GO_QUEUED && !wait_active(plan))
		return 0;
	l.unwatched = m.word == KEEPER_GO_UNWATCHED;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	l.chld = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	error = l.chld < 0 ? errno : start(plan, &l.command);
	if (error) {
		(void)keeper_tell(sock, KEEPER_EXEC_FAILED, error);
		return 1;
	}
	(void)keeper_tell(sock, KEEPER_STARTED, l.command);
	keeper_null_stdio();
	keeper_close_all_but((int[]){ sock, l.chld }, 2);
	if (plan->detached) {
		close(sock);
		l.sock = -1;
	}
	tend(&l);
	/*
	 * Who waits for the command gives the lease back and hangs up. Gone before that, we would be work that
	 * ended by itself.
	 */
	while (l.sock >= 0)
		hear(&l);
	return 0;
}
