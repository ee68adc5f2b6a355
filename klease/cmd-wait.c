/*
 * klease wait: until a lease is in a state, or has been in it since we began to look.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "klease/statewatch.h"
#include "klease/views.h"

static uint64_t last_seq(const struct view *v)
{
	return v->n_history ? v->history[v->n_history - 1].seq : 0;
}

static bool reached(const struct view *v, const char *state, uint64_t after)
{
	if (!strcmp(v->state, state))
		return true;
	for (int i = 0; i < v->n_history; i++)
		if (v->history[i].seq > after && !strcmp(v->history[i].to, state))
			return true;
	return false;
}

static int judge(struct world *w, const struct args *a, bool first, uint64_t *after, struct view *v)
{
	int r = views_get_ever(w, a->id, v);
	char why[SAFE_SIZE];

	if (r < 0)
		return views_say_error(a->id, r);
	if (first)
		*after = last_seq(v);
	if (reached(v, a->state, *after))
		return KX_OK;
	if (view_over(v)) {
		say("%s is %s: %s", a->id, v->state, safe(why, v->why));
		return KX_LOST;
	}
	return -1;
}

int cmd_wait(struct world *w, struct args *a)
{
	int64_t deadline = a->timeout ? clock_mono() + a->timeout : 0;
	struct statewatch s;
	uint64_t after = 0;
	struct view v;
	int status;

	statewatch_open(&s, w, a->id);
	for (bool first = true; (status = judge(w, a, first, &after, &v)) < 0; first = false) {
		enum statewatch_result r = statewatch_wait(&s, deadline, -1);

		if (r == STATEWATCH_DEADLINE) {
			say("%s is still %s", a->id, v.state);
			status = KX_TIMEOUT;
			break;
		}
		if (r == STATEWATCH_GONE) {
			world_say_no_daemon(w);
			status = KX_NODAEMON;
			break;
		}
	}
	statewatch_close(&s);
	return status;
}
