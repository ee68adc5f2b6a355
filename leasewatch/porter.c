#include "config.h"

#include "porter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/duration.h"
#include "lease/process.h"
#include "os/clock.h"
#include "os/log.h"
#include "porter-guest.h"

#define REFUSALS_EVERY (10 * LEASE_NS_PER_S) /* of refusals, a line in so long at most */

/* Whoever has come, each in a process of ours: what he passes may hold up whoever holds it. */
struct caller {
	int pidfd; /* -1 = none */
	pid_t pid;
	struct ucred who;
};

/* Some are there only to be told that there is no room. */
#define PORTER_PLACES (PORTER_CONNECTIONS + PORTER_USER_CONNECTIONS)

struct porter {
	int listening, tickets; /* -1: the actor has gone */
	struct caller callers[PORTER_PLACES];
	size_t n;
	struct porter_ticket held[PORTER_TICKETS]; /* a ring; uid and pid 0 = used up */
	size_t next;
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

/* What it had to be told, for the log; whoever knocks again and again fills none. */
static void tell_of(const struct caller *c, int end, int64_t now)
{
	static int64_t told;

	if (end == GUEST_SERVED || (told != 0 && now - told < REFUSALS_EVERY))
		return;
	told = now;
	log_warn("uid %u, pid %d: no way in: %s", c->who.uid, c->who.pid, guest_why(end));
}

static void drop_finished(struct porter *p, int64_t now)
{
	int status;

	for (size_t i = 0; i < p->n;) {
		struct caller *c = &p->callers[i];

		if (waitpid(c->pid, &status, WNOHANG) != c->pid) {
			i++;
			continue;
		}
		tell_of(c, WIFEXITED(status) ? WEXITSTATUS(status) : GUEST_ENDS, now);
		if (c->pidfd >= 0)
			close(c->pidfd);
		*c = p->callers[--p->n];
	}
}

/* The socket is closed by him last: its last close is that of what was sent along, too, and may take any time. */
static void __attribute__((noreturn)) be_guest(struct porter *p, int sock, const int gate[2], const struct ucred *who,
					       const struct porter_ticket *t, bool room)
{
	char none;

	close(p->listening);
	close(p->tickets);
	close(gate[1]);
	(void)!read(gate[0], &none, 1);
	close(gate[0]);
	_exit(guest_serve(sock, who, t, room));
}

static void take_caller(struct porter *p, int sock, int64_t now)
{
	struct caller c = {.pidfd = -1};
	socklen_t size = sizeof c.who;
	const struct porter_ticket *t = NULL;
	size_t of_user = 0;
	bool room;
	int gate[2];

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &c.who, &size) < 0 || pipe2(gate, O_CLOEXEC) < 0) {
		close(sock);
		return;
	}
	for (size_t i = 0; i < p->n; i++)
		of_user += p->callers[i].who.uid == c.who.uid;
	room = p->n < PORTER_CONNECTIONS && of_user < PORTER_USER_CONNECTIONS;
	if (room) {
		take_tickets(p);
		t = take_ticket(p, &c.who, now);
	}
	c.pid = fork();
	if (c.pid == 0)
		be_guest(p, sock, gate, &c.who, t, room);
	close(sock);
	close(gate[0]);
	close(gate[1]);
	if (c.pid < 0)
		return;
	/* Without one his end is seen at the next look. */
	c.pidfd = pidfd_open(c.pid, 0);
	p->callers[p->n++] = c;
}

#define LOOK_MS 1000

static void serve(struct porter *p)
{
	struct pollfd fds[2 + PORTER_PLACES];
	struct clock_now now;
	size_t n = p->n;
	int ms = -1;

	/* With no place left nobody is taken in: those who are shown out leave at once. */
	fds[0] = (struct pollfd){n < PORTER_PLACES ? p->listening : -1, POLLIN, 0};
	fds[1] = (struct pollfd){p->tickets, POLLIN, 0};
	for (size_t i = 0; i < n; i++) {
		fds[2 + i] = (struct pollfd){p->callers[i].pidfd, POLLIN, 0};
		if (p->callers[i].pidfd < 0)
			ms = LOOK_MS;
	}
	if (poll(fds, 2 + n, ms) < 0)
		return;
	clock_read(&now);
	if (fds[1].revents)
		take_tickets(p);
	drop_finished(p, now.mono);
	if (p->listening >= 0 && fds[0].revents) {
		int sock = accept4(p->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (sock >= 0)
			take_caller(p, sock, now.mono);
	}
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
