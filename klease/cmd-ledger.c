/*
 * klease ledger: what has happened, oldest first: from the ledger itself where we may read it, else from what
 * the state files that we may see still tell.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/json.h"
#include "klease/ledger.h"
#include "klease/say.h"
#include "klease/table.h"
#include "klease/views.h"
#include "lease/duration.h"

static int print(void *arg, const struct ledger_line *l)
{
	const struct args *a = arg;
	char when[WHEN_SIZE], user[SAFE_SIZE], why[SAFE_SIZE];

	if (a->json)
		return json_print(json_step(&l->v, &l->step, l->zombie_ms, l->lateness_ms));
	printf("%s  %s  %10s -> %-10s  %-8s  %s", when_text(when, l->step.at), l->v.id, l->step.from,
	       l->step.to, safe(user, l->v.user), safe(why, l->step.why));
	if (l->zombie_ms >= 0) {
		lease_duration_human(when, l->zombie_ms * LEASE_NS_PER_MS);
		printf(" (gone %s after it was last wanted)", when);
	}
	putchar('\n');
	return ferror(stdout) ? KX_FAILED : 0;
}

struct told {
	const struct view *v;
	const struct view_step *step;
};

static int by_seq(const void *a, const void *b)
{
	uint64_t x = ((const struct told *)a)->step->seq, y = ((const struct told *)b)->step->seq;

	return (x > y) - (x < y);
}

static bool wanted(const struct ledger_query *q, const struct view *v, const struct view_step *s)
{
	return (!q->lease || !strcmp(q->lease, v->id)) && (!q->user || !strcmp(q->user, v->user)) &&
	       s->at >= q->since;
}

static int print_told(struct told *told, size_t n, const struct ledger_query *q, struct args *a)
{
	struct ledger_line l = { .zombie_ms = -1, .lateness_ms = -1 };
	int r = 0;

	qsort(told, n, sizeof *told, by_seq);
	for (size_t i = q->limit && n > (size_t)q->limit ? n - (size_t)q->limit : 0; i < n && r == 0; i++) {
		l.v = *told[i].v;
		l.step = *told[i].step;
		r = print(a, &l);
	}
	return r;
}

/* For who may not read the ledger. */
static int from_state_files(struct world *w, const struct ledger_query *q, struct args *a)
{
	struct told *told;
	struct views vs;
	size_t n = 0, max = 0;
	int bad, r;

	r = views_all(w, &vs, &bad);
	if (r < 0) {
		say("cannot look at the leases: %s", strerror(-r));
		return KX_FAILED;
	}
	for (size_t i = 0; i < vs.n; i++)
		max += (size_t)vs.v[i]->n_history;
	told = calloc(max + 1, sizeof *told);
	for (size_t i = 0; told && i < vs.n; i++)
		for (int j = 0; j < vs.v[i]->n_history; j++)
			if (wanted(q, vs.v[i], &vs.v[i]->history[j]))
				told[n++] = (struct told){ vs.v[i], &vs.v[i]->history[j] };
	if (told)
		r = print_told(told, n, q, a);
	else
		say("out of memory");
	r = told ? r : KX_FAILED;
	free(told);
	views_free(&vs);
	return r;
}

int cmd_ledger(struct world *w, struct args *a)
{
	struct ledger_query q = { a->lease, a->user,
				  a->since ? clock_wall_ms() - a->since / LEASE_NS_PER_MS : 0, a->limit };
	char err[LEDGER_ERR_SIZE];
	int r = ledger_read(w, &q, print, a, err);

	if (r == -EACCES) {
		say("the ledger is root's to read: these are the transitions that state files still hold");
		return from_state_files(w, &q, a);
	}
	if (r == -ENOENT) {
		say("there is no ledger: no daemon has watched %s yet", w->notices);
		return KX_NODAEMON;
	}
	if (r < 0) {
		say("cannot read the ledger: %s", err);
		return KX_FAILED;
	}
	return r;
}
