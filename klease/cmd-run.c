/*
 * klease run: a lease that lives exactly as long as a command. No timer beats: our own life (leader) is the
 * renewal, the command's is the use. What the command says goes straight to where our output goes; we say
 * nothing on stdout.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "klease/child.h"
#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/foreground.h"
#include "klease/keeper.h"
#include "klease/request.h"
#include "klease/say.h"
#include "klease/views.h"
#include "lease/process.h"

static int ask(struct world *w, struct args *a, struct request *q, int *ret_sock)
{
	struct keeper_plan plan = { w, q->record.id, q->name, q->lock, a->command, false };
	int r;

	q->record.run = true;
	r = lease_process_self(&q->record.leader);
	if (r == 0)
		q->record.waiter = q->record.leader;
	if (r == 0)
		r = keeper_start(&plan, &q->record.workload, ret_sock);
	if (r < 0) {
		say("cannot start the process that keeps the command: %s", strerror(-r));
		return KX_OURS;
	}
	r = request_put(w, q);
	return r == KX_FAILED ? KX_OURS : r;
}

static void say_ended(struct world *w, const struct request *q)
{
	char why[SAFE_SIZE];
	struct view v;

	if (views_get_ever(w, q->record.id, &v) == 0 && v.why[0])
		say("lease %s has ended: %s (%s)", q->record.id, v.state, safe(why, v.why));
	else
		say("lease %s has ended", q->record.id);
}

/* The exit status; *ret_lost: the keeper went without saying how its command ended; *ret_ran: there was one. */
static int follow(int sock, int sig, const struct args *a, bool *ret_lost, bool *ret_ran)
{
	struct keeper_msg m;
	char buf[SAFE_SIZE];

	for (;;) {
		struct pollfd p[2] = { { sock, POLLIN, 0 }, { sig, POLLIN, 0 } };

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents) {
			bool terminal = false;
			int n = foreground_read(sig, &terminal);

			if (n > 0 && !terminal)
				(void)keeper_tell(sock, KEEPER_SIGNAL, n);
			continue;
		}
		if (!keeper_hear(sock, &m)) {
			*ret_lost = true;
			return KX_OURS;
		}
		if (m.word == KEEPER_ENDED)
			return child_status(m.value);
		if (m.word == KEEPER_EXEC_FAILED) {
			say("cannot run '%s': %s", safe(buf, a->command[0]), strerror(m.value));
			*ret_ran = false;
			return child_exec_status(m.value);
		}
	}
}

static void go(void *arg)
{
	(void)keeper_tell(*(int *)arg, KEEPER_GO, 0);
}

int cmd_run(struct world *w, struct args *a)
{
	bool lost = false, ran = true, unwatched = !w->daemon;
	struct request q;
	int status, sock = -1, sig;

	if (unwatched && !a->no_daemon_ok) {
		world_say_no_daemon(w);
		return KX_NODAEMON;
	}
	if (unwatched)
		say("no daemon watches %s: the command runs all the same, until it ends by itself",
		    w->notices);
	status = request_make(w, a, &q);
	if (status != KX_OK)
		return status == KX_FAILED ? KX_OURS : status;
	sig = foreground_open(false);
	if (sig < 0) {
		say("cannot wait for signals: %s", strerror(-sig));
		return KX_OURS;
	}
	status = ask(w, a, &q, &sock);
	if (status == KX_OK && !unwatched)
		status = request_await(w, &q, a->wait && a->wait_for >= 0 ? clock_mono() + a->wait_for : 0,
				       sig, go, &sock);
	if (status != KX_OK)
		return status;
	if (unwatched)
		(void)keeper_tell(sock, KEEPER_GO_UNWATCHED, 0);
	status = follow(sock, sig, a, &lost, &ran);
	if (request_end(w, &q) == -ENOENT) {
		if (ran) /* else the lease has ended because of what was said already */
			say_ended(w, &q);
		return lost ? 128 + 9 : status; /* the keeper was killed with all the rest */
	}
	if (lost)
		say("the process that kept the command was killed: lease %s is given back", q.record.id);
	return status;
}
