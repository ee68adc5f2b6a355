#include "config.h"

#include "klease/json.h"

#include <stdio.h>
#include <string.h>

#include "klease/exits.h"
#include "klease/say.h"
#include "lease/duration.h"

static json_t *text(const char *s)
{
	char buf[SAFE_SIZE];
	json_t *j;

	if (!s[0])
		return json_null();
	j = json_string(s);
	return j ? j : json_string(safe(buf, s)); /* no UTF-8 */
}

static json_t *stamp(int64_t ms)
{
	return ms ? json_integer(ms) : json_null();
}

static json_t *duration(int64_t ns)
{
	return ns == LEASE_NEVER ? json_null() : json_integer(ns / LEASE_NS_PER_MS);
}

static void put(json_t *o, const char *key, json_t *value)
{
	(void)json_object_set_new(o, key, value);
}

static json_t *labels(const struct view *v)
{
	json_t *o = json_object();

	for (int i = 0; i < v->n_labels; i++) {
		const char *eq = strchr(v->labels[i], '=');
		char key[LEASE_LABEL_SIZE];

		if (!eq)
			continue;
		(void)snprintf(key, sizeof key, "%.*s", (int)(eq - v->labels[i]), v->labels[i]);
		put(o, key, eq[1] ? text(eq + 1) : json_string(""));
	}
	return o;
}

static json_t *requester(const struct view *v)
{
	json_t *o = json_object();

	put(o, "uid", json_integer(v->requester));
	put(o, "user", text(v->user));
	return o;
}

static json_t *history(const struct view *v)
{
	json_t *a = json_array();

	for (int i = 0; i < v->n_history; i++) {
		const struct view_step *s = &v->history[i];
		json_t *o = json_object();

		put(o, "seq", json_integer((json_int_t)s->seq));
		put(o, "at", json_integer(s->at));
		put(o, "from", text(s->from));
		put(o, "to", text(s->to));
		put(o, "why", text(s->why));
		(void)json_array_append_new(a, o);
	}
	return a;
}

json_t *json_view(const struct view *v, bool with_history)
{
	json_t *o = json_object();

	put(o, "id", text(v->id));
	put(o, "state", text(v->state));
	put(o, "hibernated", text(v->hibernated));
	put(o, "why", text(v->why));
	put(o, "requester", requester(v));
	put(o, "surface", text(v->surface));
	put(o, "session", text(v->session));
	put(o, "runtime", text(v->runtime));
	put(o, "profile", text(v->profile));
	put(o, "created_at", stamp(v->created_at));
	put(o, "since", stamp(v->since));
	put(o, "expires_at", stamp(v->expires_at));
	put(o, "last_beat", stamp(v->last_beat));
	put(o, "last_use", stamp(v->last_use));
	put(o, "last_bumped_by", text(v->renewed_by));
	put(o, "ttl", duration(v->ttl));
	put(o, "renew_grace", duration(v->renew_grace));
	put(o, "linger", duration(v->linger));
	put(o, "usage", text(v->usage));
	put(o, "priority", v->priority < 0 ? json_null() : json_integer(v->priority));
	put(o, "labels", labels(v));
	put(o, "generation", json_integer((json_int_t)v->generation));
	put(o, "leader", v->leader ? json_integer(v->leader) : json_null());
	put(o, "run", json_boolean(v->run));
	put(o, "lock", text(v->lock));
	put(o, "signals", text(v->signals));
	put(o, "warning", text(v->warning));
	put(o, "held", text(v->held));
	put(o, "degraded", text(v->degraded));
	put(o, "can", text(v->can));
	put(o, "cold", text(v->cold));
	if (with_history)
		put(o, "history", history(v));
	return o;
}

json_t *json_step(const struct view *v, const struct view_step *s, int64_t zombie_ms, int64_t lateness_ms)
{
	json_t *o = json_object();

	put(o, "seq", json_integer((json_int_t)s->seq));
	put(o, "at", json_integer(s->at));
	put(o, "id", text(v->id));
	put(o, "from", text(s->from));
	put(o, "to", text(s->to));
	put(o, "why", text(s->why));
	put(o, "requester", requester(v));
	put(o, "generation", json_integer((json_int_t)v->generation));
	put(o, "surface", text(v->surface));
	put(o, "runtime", text(v->runtime));
	put(o, "profile", text(v->profile));
	put(o, "session", text(v->session));
	put(o, "labels", labels(v));
	put(o, "zombie_ms", zombie_ms < 0 ? json_null() : json_integer(zombie_ms));
	put(o, "lateness_ms", lateness_ms < 0 ? json_null() : json_integer(lateness_ms));
	return o;
}

int json_print(json_t *j)
{
	int r = j ? json_dumpf(j, stdout, JSON_COMPACT) : -1;

	json_decref(j);
	if (r < 0) {
		say("cannot write JSON");
		return KX_FAILED;
	}
	putchar('\n');
	return KX_OK;
}
