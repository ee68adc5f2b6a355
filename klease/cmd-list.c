/*
 * klease list: what is leased, and what waits. Each lock is looked at first, so a beat of a moment ago is
 * seen; looking renews nothing.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/json.h"
#include "klease/say.h"
#include "klease/table.h"
#include "klease/views.h"

static bool wanted(const struct world *w, const struct args *a, const struct view *v)
{
	if (view_over(v) && !a->all)
		return false;
	if (a->mine && v->requester != w->uid)
		return false;
	return !a->user || !strcmp(v->user, a->user);
}

static void remark(const struct view *v, char *buf, size_t size)
{
	size_t n = 0;

	(void)strlcpy(buf, v->held[0] ? v->held : v->warning[0] ? v->warning : v->why, size);
	if (v->degraded[0]) {
		n = strlen(buf);
		(void)snprintf(buf + n, size - n, "%sdegraded: %s", n ? "  " : "", v->degraded);
	}
	for (int i = 0; i < v->n_labels && n < size; i++) {
		n = strlen(buf);
		(void)snprintf(buf + n, size - n, "%s%s", n ? "  " : "", v->labels[i]);
	}
}

static void add_row(struct table *t, const struct view *v, int64_t now)
{
	char state[32], when[WHEN_SIZE], text[512];

	table_cell(t, v->id);
	table_cell(t, view_state_words(v, state));
	table_cell(t, v->surface);
	table_cell(t, v->user);
	table_cell(t, when_ago(when, v->created_at, now));
	table_cell(t, when_ago(when, v->last_beat, now));
	table_cell(t, v->expires_at || view_over(v) ? when_left(when, view_over(v) ? 0 : v->expires_at, now)
						    : v->renewed_by);
	table_cell(t, v->runtime);
	remark(v, text, sizeof text);
	table_cell(t, text);
}

static void print_table(const struct world *w, const struct args *a, const struct views *vs)
{
	static const char *const heads[] = { "ID",        "STATE",      "SURFACE", "USER", "AGE",
					     "LAST-BEAT", "EXPIRES-IN", "RUNTIME", "WHY" };
	int64_t now = clock_wall_ms();
	struct table t;

	table_begin(&t, sizeof heads / sizeof *heads);
	t.spare = (const unsigned char[]){ 7, 5, 2, 0 }; /* RUNTIME, LAST-BEAT, SURFACE: `klease show` has them */
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		table_cell(&t, heads[i]);
	for (size_t i = 0; i < vs->n; i++)
		if (wanted(w, a, vs->v[i]))
			add_row(&t, vs->v[i], now);
	table_print(&t);
}

static int print_json(const struct world *w, const struct args *a, const struct views *vs)
{
	json_t *all = json_array();

	for (size_t i = 0; i < vs->n; i++)
		if (wanted(w, a, vs->v[i]))
			(void)json_array_append_new(all, json_view(vs->v[i], false));
	return json_print(all);
}

static void say_held(const struct world *w)
{
	char when[WHEN_SIZE], by[SAFE_SIZE];

	if (w->has_beacon && w->beacon.hold_until > clock_wall_ms())
		say("a hold is in force until %s (by %s): nothing is ended",
		    when_text(when, w->beacon.hold_until), safe(by, w->beacon.hold_by));
	if (w->has_beacon && w->beacon.breaker_until > clock_wall_ms())
		say("THE BREAKER HAS TRIPPED, until %s: %s; they are held, not reaped (klease breaker --release lets it go on)",
		    when_text(when, w->beacon.breaker_until), safe(by, w->beacon.breaker_why));
}

int cmd_list(struct world *w, struct args *a)
{
	struct views vs;
	int bad = 0, r, status = KX_OK;

	r = views_all(w, &vs, &bad);
	if (r < 0) {
		say("cannot look at the leases: %s", strerror(-r));
		return KX_FAILED;
	}
	say_held(w);
	world_say_degraded(w);
	if (a->json)
		status = print_json(w, a, &vs);
	else
		print_table(w, a, &vs);
	views_free(&vs);
	if (bad)
		say("%d state files in %s cannot be read and are left out", bad, w->beacon.state);
	if (!w->daemon) {
		world_say_no_daemon(w);
		return KX_NODAEMON;
	}
	return status;
}
