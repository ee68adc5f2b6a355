/*
 * klease create: a request, and its id on stdout when it stands. A command is kept by a detached keeper that
 * starts it once the lease is active; from then on whoever touches the lock keeps it alive.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "klease/child.h"
#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/foreground.h"
#include "klease/json.h"
#include "klease/keeper.h"
#include "klease/request.h"
#include "klease/say.h"
#include "klease/views.h"
#include "lease/process.h"

static int start_keeper(struct world *w, struct request *q, char **command, int *ret_sock)
{
	struct keeper_plan plan = { w, q->record.id, q->name, q->lock, command, true };
	char buf[SAFE_SIZE];
	int e = child_check(command[0]), r;

	if (e) {
		say("cannot run '%s': %s", safe(buf, command[0]), strerror(e));
		return child_exec_status(e);
	}
	r = keeper_start(&plan, &q->record.workload, ret_sock);
	if (r < 0) {
		say("cannot start the process that keeps the command: %s", strerror(-r));
		return KX_FAILED;
	}
	return KX_OK;
}

static int print(struct world *w, const struct request *q, bool json)
{
	struct view v;

	if (json && views_get_ever(w, q->record.id, &v) == 0)
		return json_print(json_view(&v, false));
	printf("%s\n", q->record.id);
	return KX_OK;
}

int cmd_create(struct world *w, struct args *a)
{
	struct request q;
	int status, sock = -1, sig = -1;
	bool heard = true;

	status = request_make(w, a, &q);
	if (status == KX_OK && a->wait)
		(void)lease_process_self(&q.record.waiter);
	if (status == KX_OK && a->command)
		status = start_keeper(w, &q, a->command, &sock);
	if (status == KX_OK && a->wait && (sig = foreground_open(false)) < 0) {
		say("cannot wait for signals: %s", strerror(-sig));
		status = KX_FAILED;
	}
	if (status == KX_OK)
		status = request_put(w, &q);
	if (status == KX_OK && sock >= 0)
		(void)keeper_tell(sock, KEEPER_GO_QUEUED, 0);
	if (sock >= 0)
		close(sock); /* without GO, this is its end */
	if (status != KX_OK)
		return status;
	if (a->wait) {
		int64_t deadline = a->wait_for < 0 ? 0 : clock_mono() + a->wait_for;

		status = request_await(w, &q, deadline, sig, NULL, NULL);
	} else {
		status = request_first_word(w, &q, &heard);
	}
	if (!heard)
		say("%s: the daemon has not answered yet; `klease show` tells when it has", q.record.id);
	return status == KX_OK ? print(w, &q, a->json) : status;
}
