/*
 * klease show: everything about one lease, its last transitions included. One that is over is looked up in
 * the ledger when its state file is gone.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/json.h"
#include "klease/say.h"
#include "klease/table.h"
#include "klease/views.h"
#include "lease/duration.h"

static void line(const char *key, const char *value)
{
	char buf[SAFE_SIZE];

	if (value[0])
		printf("%-12s %s\n", key, safe(buf, value));
}

static void line_when(const char *key, int64_t at, int64_t now, bool future)
{
	char text[WHEN_SIZE], rel[WHEN_SIZE];

	if (at == 0)
		return;
	printf("%-12s %s (%s%s%s)\n", key, when_text(text, at), future ? "in " : "",
	       future ? when_left(rel, at, now) : when_ago(rel, at, now), future ? "" : " ago");
}

static void line_for(const char *key, int64_t ns)
{
	char text[LEASE_DURATION_SIZE];

	if (ns <= 0)
		return;
	lease_duration_format(text, ns);
	line(key, text);
}

static void print_history(const struct view *v)
{
	char when[WHEN_SIZE], why[SAFE_SIZE];

	if (v->n_history)
		printf("history\n");
	for (int i = 0; i < v->n_history; i++)
		printf("  %s  %10s -> %-10s  %s\n", when_text(when, v->history[i].at), v->history[i].from,
		       v->history[i].to, safe(why, v->history[i].why));
}

static void print(const struct world *w, const struct view *v)
{
	int64_t now = clock_wall_ms();
	struct lease_stat st;
	char buf[800];

	line("id", v->id);
	line("state", view_state_words(v, buf));
	line("why", v->why);
	line("warning", v->warning);
	line("cold", v->cold);
	line("held", v->held);
	line("degraded", v->degraded);
	(void)snprintf(buf, sizeof buf, "%s (uid %u)", v->user, v->requester);
	line("requester", buf);
	line("surface", v->surface);
	line("session", v->session);
	line("runtime", v->runtime);
	line("can", v->can);
	line("profile", v->profile);
	for (int i = 0; i < v->n_labels; i++)
		line("label", v->labels[i]);
	line_when("created_at", v->created_at, now, false);
	line_when("since", v->since, now, false);
	if (!view_over(v))
		line_when("expires_at", v->expires_at, now, true);
	line_when("last_beat", v->last_beat, now, false);
	line_when("last_use", v->last_use, now, false);
	line("renewed by", v->renewed_by);
	line("signals", v->signals);
	line_for("ttl", v->ttl);
	line_for("renew_grace", v->renew_grace);
	line_for("linger", v->linger);
	line("usage", v->usage);
	(void)snprintf(buf, sizeof buf, "%d", v->priority);
	line("priority", v->priority < 0 ? "" : buf);
	(void)snprintf(buf, sizeof buf, "%llu", (unsigned long long)v->generation);
	line("generation", buf);
	(void)snprintf(buf, sizeof buf, "%d", v->leader);
	line("leader", v->leader ? buf : "");
	if (v->lock[0] && lease_stat(w->tree.active, v->lock, &st) == 0) {
		(void)snprintf(buf, sizeof buf, "%s/active/%s", w->notices, v->lock);
		line("lock", buf);
	}
	print_history(v);
}

int cmd_show(struct world *w, struct args *a)
{
	struct view v;
	int r = views_get_ever(w, a->id, &v), status = KX_OK;

	if (r == 0 && a->json)
		status = json_print(json_view(&v, true));
	else if (r == 0)
		print(w, &v);
	world_say_degraded(w);
	if (!w->daemon)
		world_say_no_daemon(w);
	if (r < 0)
		return views_say_error(a->id, r);
	return w->daemon ? status : KX_NODAEMON;
}
