#include "config.h"

#include "porter.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/duration.h"
#include "lease/process.h"
#include "os/clock.h"
#include "os/log.h"
#include "porter-run.h"

#define ASK_FOR (5 * LEASE_NS_PER_S) /* how long somebody who has connected may take to say what he wants */
#define HUNG_UP_FOR (5 * LEASE_NS_PER_S) /* between SIGHUP and SIGKILL */
#define BYTES_A_TURN 64
#define REFUSALS_EVERY (10 * LEASE_NS_PER_S) /* of refusals, a line in so long at most */

struct caller {
	int sock, pidfd; /* -1 = none */
	struct ucred who;
	pid_t pid;	 /* of the command; 0 = not started */
	int64_t due;	 /* mono; what happens then: hung up on, or killed; 0 = nothing */
	char id[LEASE_ID_SIZE];
};

struct porter {
	int listening, tickets; /* -1: the actor has gone */
	struct caller callers[PORTER_CONNECTIONS];
	size_t n;
	struct porter_ticket held[PORTER_TICKETS]; /* a ring; uid and pid 0 = used up */
	size_t next;
	struct porter_ask ask; /* too large for a stack */
};

int porter_give(int tickets, const struct porter_ticket *t)
{
	return send(tickets, t, sizeof *t, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *t ? 0 : -errno;
}

static void take_tickets(struct porter *p)
{
	struct porter_ticket t;
	ssize_t n;

	while ((n = recv(p->tickets, &t, sizeof t, MSG_DONTWAIT)) > 0) {
		if (n != (ssize_t)sizeof t || t.magic != PORTER_TICKET_MAGIC || t.size != sizeof t)
			continue;
		p->held[p->next] = t;
		p->next = (p->next + 1) % PORTER_TICKETS;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(p->tickets);
		close(p->listening);
		p->tickets = p->listening = -1;
	}
}

/* The ticket of whoever is at the other end, which is used up by that; NULL = has none. */
static const struct porter_ticket *take_ticket(struct porter *p, const struct ucred *who, int64_t now)
{
	static struct porter_ticket t;
	uint64_t start;

	if (lease_process_stat(who->pid, &start, NULL, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < PORTER_TICKETS; i++) {
		t = p->held[i];
		if (t.process.pid != who->pid || t.process.pid <= 0 || t.uid != who->uid || t.process.start != start)
			continue;
		p->held[i].process.pid = 0;
		return now < t.until ? &t : NULL;
	}
	return NULL;
}

static void say(const struct caller *c, enum porter_kind kind, int32_t value, const char *line)
{
	struct porter_word w = {.kind = kind, .value = value};

	(void)snprintf(w.line, sizeof w.line, "%s", line);
	(void)send(c->sock, &w, sizeof w, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void hang_up(struct caller *c)
{
	if (c->sock >= 0)
		close(c->sock);
	c->sock = -1;
}

/* The connection is to be closed, and what it has started ended. */
static void leave(struct caller *c, int64_t now)
{
	hang_up(c);
	c->due = 0;
	if (c->pid == 0)
		return;
	(void)kill(-c->pid, SIGHUP);
	c->due = now + HUNG_UP_FOR;
}

static void refuse(struct caller *c, int error, const char *why)
{
	static int64_t told;
	struct clock_now now;

	say(c, PORTER_REFUSED, error, why);
	hang_up(c);
	clock_read(&now);
	/* Whoever knocks again and again fills no log. */
	if (told != 0 && now.mono - told < REFUSALS_EVERY)
		return;
	told = now.mono;
	log_warn("uid %u, pid %d: no way in: %s", c->who.uid, c->who.pid, why);
}

static void start(struct porter *p, struct caller *c, const int fds[PORTER_FDS], int64_t now)
{
	const struct porter_ticket *t;
	int r;

	if (!porter_ask_valid(&p->ask)) {
		refuse(c, 0, "this is no command");
		return;
	}
	take_tickets(p);
	t = take_ticket(p, &c->who, now);
	if (!t) {
		refuse(c, 0, "the daemon has not let this process in");
		return;
	}
	r = porter_start(t, &p->ask, fds, &c->pid);
	if (r < 0) {
		refuse(c, -r, "what leads inside can't be run");
		return;
	}
	memcpy(c->id, t->id, sizeof c->id);
	c->due = 0;
	/* Without one its end is seen at the next look that is due. */
	c->pidfd = pidfd_open(c->pid, 0);
	log_info("%s generation %llu: a command of uid %u runs in it", t->id, (unsigned long long)t->generation, c->who.uid);
	say(c, PORTER_STARTED, 0, "");
}

static void close_fds(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* One message with just three descriptors; more than there is room for are closed by the kernel, and told. */
static void hear_ask(struct porter *p, struct caller *c, int64_t now)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(PORTER_FDS * sizeof(int))];
	} control;
	struct iovec iov = {&p->ask, sizeof p->ask};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	int fds[PORTER_FDS];
	size_t n_fds = 0;
	ssize_t n = recvmsg(c->sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	for (struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; h; h = CMSG_NXTHDR(&m, h)) {
		size_t got = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS || got > PORTER_FDS)
			continue;
		memcpy(fds, CMSG_DATA(h), got * sizeof(int));
		n_fds = got;
	}
	if (n <= 0)
		hang_up(c);
	else if (n != (ssize_t)sizeof p->ask || n_fds != PORTER_FDS || m.msg_flags & (MSG_CTRUNC | MSG_TRUNC))
		refuse(c, 0, "this is no request of klease's");
	else
		start(p, c, fds, now);
	close_fds(fds, n_fds);
}

static bool passed_on(int sig)
{
	static const int all[] = PORTER_SIGNALS;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] == sig)
			return true;
	return false;
}

static void hear_signals(struct caller *c, int64_t now)
{
	unsigned char byte[2];

	for (int i = 0; i < BYTES_A_TURN; i++) {
		ssize_t n = recv(c->sock, byte, sizeof byte, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != 1 || !passed_on(byte[0])) {
			leave(c, now);
			return;
		}
		(void)kill(-c->pid, byte[0]);
	}
}

static void look_at_end(struct caller *c)
{
	int status;

	if (c->pid == 0 || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	/* What it left in its group has nobody any more to be ended by. */
	if (c->sock < 0)
		(void)kill(-c->pid, SIGKILL);
	else
		say(c, PORTER_ENDED, status, "");
	c->pid = 0;
	c->due = 0;
	hang_up(c);
}

static void on_time(struct caller *c, int64_t now)
{
	if (c->due == 0 || now < c->due)
		return;
	c->due = 0;
	if (c->pid != 0)
		(void)kill(-c->pid, SIGKILL);
	else
		hang_up(c);
}

static void take_callers(struct porter *p, int64_t now)
{
	struct ucred who;
	socklen_t size;
	size_t of_user;
	int fd;

	for (int i = 0; i < BYTES_A_TURN && (fd = accept4(p->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0; i++) {
		size = sizeof who;
		of_user = 0;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0) {
			close(fd);
			continue;
		}
		for (size_t j = 0; j < p->n; j++)
			of_user += p->callers[j].who.uid == who.uid;
		if (p->n == PORTER_CONNECTIONS || of_user >= PORTER_USER_CONNECTIONS) {
			struct caller c = {.sock = fd, .who = who};

			say(&c, PORTER_REFUSED, 0, "too many commands of yours run in leases here: 16 is the limit");
			close(fd);
			continue;
		}
		p->callers[p->n++] = (struct caller){.sock = fd, .pidfd = -1, .who = who, .due = now + ASK_FOR};
	}
}

static void drop_finished(struct porter *p)
{
	for (size_t i = 0; i < p->n;) {
		struct caller *c = &p->callers[i];

		if (c->sock >= 0 || c->pid != 0) {
			i++;
			continue;
		}
		if (c->pidfd >= 0)
			close(c->pidfd);
		*c = p->callers[--p->n];
	}
}

/* One whose command has no pidfd is looked at this often. */
#define LOOK_MS 1000

static int wait_ms(const struct porter *p, int64_t now)
{
	int64_t ms = -1, left;

	for (size_t i = 0; i < p->n; i++) {
		const struct caller *c = &p->callers[i];

		if (c->due == 0 && (c->pid == 0 || c->pidfd >= 0))
			continue;
		left = c->due ? (c->due - now) / LEASE_NS_PER_MS + 1 : LOOK_MS;
		left = left < 0 ? 0 : left;
		ms = ms < 0 || left < ms ? left : ms;
	}
	return (int)ms;
}

static void serve(struct porter *p)
{
	struct pollfd fds[2 + 2 * PORTER_CONNECTIONS];
	struct clock_now now;
	size_t n = p->n;

	fds[0] = (struct pollfd){p->listening, POLLIN, 0};
	fds[1] = (struct pollfd){p->tickets, POLLIN, 0};
	for (size_t i = 0; i < n; i++) {
		fds[2 + 2 * i] = (struct pollfd){p->callers[i].sock, POLLIN, 0};
		fds[3 + 2 * i] = (struct pollfd){p->callers[i].pid ? p->callers[i].pidfd : -1, POLLIN, 0};
	}
	clock_read(&now);
	if (poll(fds, 2 + 2 * n, wait_ms(p, now.mono)) < 0 && errno != EINTR)
		return;
	clock_read(&now);
	if (fds[1].revents)
		take_tickets(p);
	for (size_t i = 0; i < n; i++) {
		struct caller *c = &p->callers[i];

		look_at_end(c);
		if (c->sock >= 0 && fds[2 + 2 * i].revents && c->pid == 0)
			hear_ask(p, c, now.mono);
		else if (c->sock >= 0 && fds[2 + 2 * i].revents)
			hear_signals(c, now.mono);
		on_time(c, now.mono);
	}
	drop_finished(p);
	if (p->listening >= 0 && fds[0].revents)
		take_callers(p, now.mono);
}

int porter_run(int listening, int tickets)
{
	struct porter *p = calloc(1, sizeof *p);
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	if (!p)
		return 1;
	/* Who stops the daemon stops no command: the tickets' end tells us. */
	(void)sigaction(SIGTERM, &ignore, NULL);
	(void)sigaction(SIGINT, &ignore, NULL);
	(void)sigaction(SIGHUP, &ignore, NULL);
	(void)sigaction(SIGPIPE, &ignore, NULL);
	(void)prctl(PR_SET_DUMPABLE, 0);
	p->listening = listening;
	p->tickets = tickets;
	while (p->listening >= 0 || p->n > 0)
		serve(p);
	free(p);
	return 0;
}
