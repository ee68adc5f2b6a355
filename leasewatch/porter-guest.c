#include "config.h"

#include "porter-guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/duration.h"
#include "os/clock.h"
#include "os/log.h"
#include "porter-run.h"

#define ASK_FOR (5 * LEASE_NS_PER_S) /* how long somebody who has connected may take to say what he wants */
#define HUNG_UP_FOR (5 * LEASE_NS_PER_S) /* between SIGHUP and SIGKILL */
#define BYTES_A_TURN 64
#define LOOK_MS 1000 /* a command without pidfd is looked at this often */

struct guest {
	int sock, pidfd; /* -1 = none */
	const struct ucred *who;
	const struct porter_ticket *ticket;
	pid_t pid;   /* of the command; 0 = not started */
	int64_t due; /* mono; what happens then: hung up on, or killed; 0 = nothing */
	enum guest_end end;
};

const char *guest_why(int end)
{
	switch (end) {
	case GUEST_NO_ROOM: return "too many commands of yours run in leases here: 16 is the limit";
	case GUEST_NO_REQUEST: return "this is no request of klease's";
	case GUEST_NO_COMMAND: return "this is no command";
	case GUEST_NO_TICKET: return "the daemon has not let this process in";
	case GUEST_NOT_RUN: return "what leads inside can't be run";
	default: return "the porter's process for it has ended";
	}
}

static void say(const struct guest *g, enum porter_kind kind, int32_t value, const char *line)
{
	struct porter_word w = {.kind = kind, .value = value};

	(void)snprintf(w.line, sizeof w.line, "%s", line);
	(void)send(g->sock, &w, sizeof w, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void hang_up(struct guest *g)
{
	if (g->sock >= 0)
		close(g->sock);
	g->sock = -1;
}

/* The connection is to be closed, and what it has started ended. */
static void leave(struct guest *g, int64_t now)
{
	if (g->pid != 0) {
		(void)kill(-g->pid, SIGHUP);
		g->due = now + HUNG_UP_FOR;
	}
	hang_up(g);
}

static void refuse(struct guest *g, enum guest_end end, int error)
{
	g->end = end;
	say(g, PORTER_REFUSED, error, guest_why(end));
}

static void start(struct guest *g, const struct porter_ask *ask, const int fds[PORTER_FDS])
{
	const struct porter_ticket *t = g->ticket;
	int r;

	if (!porter_ask_valid(ask)) {
		refuse(g, GUEST_NO_COMMAND, 0);
		return;
	}
	if (!t) {
		refuse(g, GUEST_NO_TICKET, 0);
		return;
	}
	r = porter_start(t, ask, fds, &g->pid);
	if (r < 0) {
		refuse(g, GUEST_NOT_RUN, -r);
		return;
	}
	g->due = 0;
	g->pidfd = pidfd_open(g->pid, 0);
	log_info("%s generation %llu: a command of uid %u runs in it", t->id, (unsigned long long)t->generation, g->who->uid);
	say(g, PORTER_STARTED, 0, "");
}

/* One message with just three descriptors; more than there is room for are closed by the kernel, and told. */
static void hear_ask(struct guest *g)
{
	static struct porter_ask ask; /* too large for a stack */
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(PORTER_FDS * sizeof(int))];
	} control;
	struct iovec iov = {&ask, sizeof ask};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	int fds[sizeof control / sizeof(int)]; /* alignment leaves room for one more than we want */
	size_t n_fds = 0;
	ssize_t n = recvmsg(g->sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* One of no bytes may have some, too. */
	for (struct cmsghdr *h = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL; h; h = CMSG_NXTHDR(&m, h)) {
		size_t got = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS || got > sizeof fds / sizeof *fds)
			continue;
		memcpy(fds, CMSG_DATA(h), got * sizeof(int));
		n_fds = got;
	}
	if (n > 0 && (n != (ssize_t)sizeof ask || n_fds != PORTER_FDS || m.msg_flags & (MSG_CTRUNC | MSG_TRUNC)))
		refuse(g, GUEST_NO_REQUEST, 0);
	else if (n > 0)
		start(g, &ask, fds);
	/* Who is shown out leaves with all that he brought: a process that ends waits for no close. */
	if (g->pid == 0)
		_exit((int)g->end);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

static bool passed_on(int sig)
{
	static const int all[] = PORTER_SIGNALS;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] == sig)
			return true;
	return false;
}

static void hear_signals(struct guest *g, int64_t now)
{
	unsigned char byte[2];

	for (int i = 0; i < BYTES_A_TURN; i++) {
		ssize_t n = recv(g->sock, byte, sizeof byte, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != 1 || !passed_on(byte[0])) {
			leave(g, now);
			return;
		}
		(void)kill(-g->pid, byte[0]);
	}
}

static void look_at_end(struct guest *g)
{
	siginfo_t info = {.si_pid = 0};
	int status;

	if (g->pid == 0 || waitid(P_PID, (id_t)g->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
		return;
	/* What it left in its group has nobody any more to be ended by. Until it is reaped its number is no other's. */
	if (g->sock < 0)
		(void)kill(-g->pid, SIGKILL);
	if (waitpid(g->pid, &status, 0) == g->pid)
		say(g, PORTER_ENDED, status, "");
	g->pid = 0;
	g->due = 0;
	hang_up(g);
}

static void on_time(struct guest *g, int64_t now)
{
	if (g->due == 0 || now < g->due)
		return;
	g->due = 0;
	if (g->pid != 0)
		(void)kill(-g->pid, SIGKILL);
	else
		hang_up(g);
}

static void turn(struct guest *g)
{
	struct pollfd fds[2] = {{g->sock, POLLIN, 0}, {g->pid ? g->pidfd : -1, POLLIN, 0}};
	struct clock_now now;
	int64_t ms = g->pid != 0 && g->pidfd < 0 ? LOOK_MS : -1;

	clock_read(&now);
	if (g->due)
		ms = g->due > now.mono ? (g->due - now.mono) / LEASE_NS_PER_MS + 1 : 0;
	if (poll(fds, 2, (int)ms) < 0)
		return;
	clock_read(&now);
	look_at_end(g);
	if (g->sock >= 0 && fds[0].revents && g->pid == 0)
		hear_ask(g);
	else if (g->sock >= 0 && fds[0].revents)
		hear_signals(g, now.mono);
	on_time(g, now.mono);
}

enum guest_end guest_serve(int sock, const struct ucred *who, const struct porter_ticket *t, bool room)
{
	struct guest g = {.sock = sock, .pidfd = -1, .who = who, .ticket = t};
	struct clock_now now;

	clock_read(&now);
	g.due = now.mono + ASK_FOR;
	if (!room)
		refuse(&g, GUEST_NO_ROOM, 0);
	else
		while (g.sock >= 0 || g.pid != 0)
			turn(&g);
	return g.end;
}
