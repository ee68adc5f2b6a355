/*
 * klease hibernate and klease resume: ask for it, and wait until it is so.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "klease/ask.h"
#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/request.h"
#include "klease/say.h"
#include "klease/statewatch.h"
#include "klease/views.h"

static int ask_for(struct world *w, const struct args *a, enum ask_verb verb, struct ask_answer *ret)
{
	struct ask ask = { .verb = verb };

	(void)strlcpy(ask.lease, a->id, sizeof ask.lease);
	return ask_daemon(w, &ask, a->timeout ? a->timeout : ASK_TIMEOUT, -1, ret);
}

/* Since this step of its history it has been hibernated, though somebody may have woken it since. */
static bool has_been(const struct view *v, uint64_t after)
{
	for (int i = 0; i < v->n_history; i++)
		if (v->history[i].seq > after && strcmp(v->history[i].to, "hibernated") == 0)
			return true;
	return strcmp(v->state, "hibernated") == 0;
}

/* -1 = it is still at it. While it is, its `why' is the one that the daemon answered with. */
static int judge(const struct view *v, uint64_t after, const char *under_way)
{
	char why[SAFE_SIZE];

	if (has_been(v, after))
		return KX_OK;
	if (view_over(v) || !view_living(v)) {
		say("%s is %s: %s", v->id, v->state, safe(why, v->why));
		return KX_LOST;
	}
	if (strcmp(v->state, "idle") == 0 && strcmp(v->why, under_way) == 0)
		return -1;
	say("%s is not hibernated, and %s: %s", v->id, v->state, safe(why, v->why));
	return KX_FAILED;
}

int cmd_hibernate(struct world *w, struct args *a)
{
	int64_t deadline = a->timeout ? clock_mono() + a->timeout : 0;
	struct ask_answer answer;
	struct statewatch s;
	struct view v;
	int status, r = views_get_ever(w, a->id, &v);

	if (r < 0)
		return views_say_error(a->id, r);
	uint64_t after = v.n_history ? v.history[v.n_history - 1].seq : 0;
	status = ask_for(w, a, ASK_HIBERNATE, &answer);
	if (status != KX_OK)
		return status;
	statewatch_open(&s, w, a->id);
	for (;;) {
		r = views_get_ever(w, a->id, &v);
		status = r < 0 ? views_say_error(a->id, r) : judge(&v, after, answer.what);
		if (status >= 0)
			break;
		enum statewatch_result what = statewatch_wait(&s, deadline, -1);
		if (what == STATEWATCH_DEADLINE) {
			say("%s is still %s: %s", a->id, v.state, answer.what);
			status = KX_TIMEOUT;
			break;
		}
		if (what == STATEWATCH_GONE) {
			world_say_no_daemon(w);
			status = KX_NODAEMON;
			break;
		}
	}
	statewatch_close(&s);
	return status;
}

int cmd_resume(struct world *w, struct args *a)
{
	int64_t deadline = a->timeout ? clock_mono() + a->timeout : 0;
	struct ask_answer answer;
	int status = ask_for(w, a, ASK_RESUME, &answer);

	return status == KX_OK ? request_await_active(w, a->id, deadline, -1) : status;
}
