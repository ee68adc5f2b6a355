/*
 * klease session: the lease of a login, an agent's run or a CI job, made and kept by files alone. Hooks call
 * it: it must be quick, never wait for anybody, and work without a daemon.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klease/agent.h"
#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/json.h"
#include "klease/say.h"
#include "klease/sessions.h"
#include "klease/table.h"
#include "klease/views.h"
#include "lease/duration.h"
#include "lease/process.h"

static int start(struct world *w, const struct args *a, const struct agent *agent);
static int beat(struct world *w, const struct args *a, const struct agent *agent);
static int archive(struct world *w, const struct args *a, const struct agent *agent);
static int list(struct world *w, const struct args *a, const struct agent *agent);

static const struct verb {
	const char *name;
	uint32_t takes; /* of the command's options, beside --verbose */
	bool id;
	int (*run)(struct world *w, const struct args *a, const struct agent *agent);
} verbs[] = {
    {"start",
     ARG_BIT(ARG_SURFACE) | ARG_BIT(ARG_LEADER) | ARG_BIT(ARG_TTL) | ARG_BIT(ARG_LINGER) |
	 ARG_BIT(ARG_LABEL) | ARG_BIT(ARG_AGENT) | ARG_BIT(ARG_SHELL) | ARG_BIT(ARG_JSON),
     false, start},
    {"beat", ARG_BIT(ARG_AGENT) | ARG_BIT(ARG_QUIET), true, beat},
    {"archive", ARG_BIT(ARG_AGENT) | ARG_BIT(ARG_QUIET), true, archive},
    {"list", ARG_BIT(ARG_JSON), false, list},
};

static const struct verb *find_verb(const struct args *a)
{
	char buf[SAFE_SIZE];

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
		const struct verb *v = &verbs[i];

		if (strcmp(v->name, a->verb))
			continue;
		for (int o = 0; o < ARG_MAX; o++)
			if (a->given & ~v->takes & ~ARG_BIT(ARG_VERBOSE) & ARG_BIT(o))
				args_usage("session %s has no option '--%s'", v->name, arg_table[o].name);
		if (a->id && !v->id)
			args_usage("session %s: '%s' is one word too many", v->name, a->id);
		if (a->id && a->agent)
			args_usage("session %s: an id, or --agent", v->name);
		if (a->shell && a->json)
			args_usage("session %s: --shell, or --json", v->name);
		return v;
	}
	args_usage("session: '%s' is no verb: start, beat, archive or list", safe(buf, a->verb));
}

/* Who speaks: with --agent, or where an object stands on standard input and nothing else says which session
 * is meant. */
static int hear(const struct args *a, struct agent *ret)
{
	char c;

	if (a->agent)
		return agent_read(ret);
	if (a->id || a->shell || a->record.leader.pid)
		return KX_OK;
	c = agent_peek();
	if (c == '{')
		return agent_read(ret);
	if (c && a->verb[0] == 's') {
		say("standard input is no JSON object of an agent's; `</dev/null` begins a session without "
		    "one");
		return KX_USAGE;
	}
	return KX_OK;
}

static void add_label(struct lease_record *r, const char *label)
{
	if (label[0] && r->n_labels < LEASE_LABELS_MAX)
		(void)strlcpy(r->labels[r->n_labels++], label, LEASE_LABEL_SIZE);
}

static bool has_project(const struct lease_record *r)
{
	for (int i = 0; i < r->n_labels; i++)
		if (!strncmp(r->labels[i], "project=", strlen("project=")))
			return true;
	return false;
}

/* The record is whole but for its id. */
static int make(const struct world *w, struct session *s)
{
	char buf[LEASE_FILE_MAX], user[LEASE_USER_SIZE], text[SAFE_SIZE];
	size_t len;
	int r;

	world_user(w, user);
	lease_id_make(s->record.id);
	if (lease_name_make(s->name, s->record.surface, user, s->record.id) < 0) {
		say("cannot make a file name of surface '%s'", safe(text, s->record.surface));
		return KX_USAGE;
	}
	if (lease_record_format(&s->record, buf, sizeof buf, &len) < 0) {
		say("too long for a lock of %d bytes: fewer or shorter labels", LEASE_FILE_MAX);
		return KX_USAGE;
	}
	r = lease_create(w->tree.active, s->name, buf, len);
	if (r < 0) {
		say("cannot make a lock in %s/active: %s", w->notices, strerror(-r));
		return r == -EACCES || r == -EPERM ? KX_REFUSED : KX_FAILED;
	}
	return KX_OK;
}

static int begin(const struct world *w, const struct args *a, const struct agent *agent, struct session *s)
{
	struct lease_record *r = &s->record;

	*r = a->record;
	r->is_session = true;
	if (!r->surface[0])
		(void)strlcpy(r->surface, agent->id[0] ? "k-go" : "cli", sizeof r->surface);
	if (r->leader.pid == 0)
		session_leader(w, &r->leader);
	if (r->leader.pid)
		(void)strlcpy(r->boot, w->boot, sizeof r->boot);
	if (agent->id[0]) {
		char label[LEASE_LABEL_SIZE];

		(void)snprintf(label, sizeof label, "agent=%s", agent->id);
		if (r->n_labels == LEASE_LABELS_MAX) {
			say("--label: %d at most, and the agent's is one", LEASE_LABELS_MAX);
			return KX_USAGE;
		}
		add_label(r, label);
		if (!has_project(r))
			add_label(r, agent->project);
	}
	return make(w, s);
}

/* Any shell reads it back: what stands in single quotes but for these two, which fish reads otherwise there.
 */
static void print_quoted(const char *s)
{
	putchar('\'');
	for (; *s; s++)
		if (*s == '\'' || *s == '\\')
			printf("'\\%c'", *s);
		else
			putchar(*s);
	putchar('\'');
}

static void print_export(const char *name, const char *dir, const char *middle, const char *last)
{
	char path[sizeof((struct world *)0)->notices + LEASE_NAME_SIZE + 16];

	(void)snprintf(path, sizeof path, "%s%s%s", dir, middle, last);
	printf("export %s=", name);
	print_quoted(path);
	printf("\n");
}

static int print(struct world *w, const struct args *a, const struct session *s)
{
	struct view v;

	if (a->json) {
		if (views_get(w, s->record.id, &v) == 0)
			return json_print(json_view(&v, false));
		say("%s has gone already", s->record.id);
		return KX_LOST;
	}
	if (!a->shell) {
		printf("%s\n", s->record.id);
		return KX_OK;
	}
	print_export("KLEASE_SESSION", s->record.id, "", "");
	print_export("KLEASE_LOCK", w->notices, "/active/", s->name);
	if (w->has_beacon && w->beacon.state[0])
		print_export("KLEASE_NOTICE", w->beacon.state, "/notice-", s->record.id);
	return KX_OK;
}

static int start(struct world *w, const struct args *a, const struct agent *agent)
{
	struct session s = {0};
	int status = KX_OK;

	if (agent->id[0]) {
		session_hold(w);
		if (session_of_agent(w, agent->id, &s) < 0 || lease_touch(w->tree.active, s.name, NULL) < 0)
			status = begin(w, a, agent, &s);
		session_let_go(w);
	} else {
		status = begin(w, a, agent, &s);
	}
	return status == KX_OK ? print(w, a, &s) : status;
}

/* KX_OK, or the status with a sentence said; with --quiet, KX_LOST without one. */
static int find(const struct world *w, const struct args *a, const struct agent *agent, struct session *ret)
{
	const char *id = a->id;
	char buf[SAFE_SIZE];
	int r;

	if (agent->id[0]) {
		r = session_of_agent(w, agent->id, ret);
		id = agent->id;
	} else {
		if (!id)
			id = secure_getenv("KLEASE_SESSION");
		if (!id || !*id) {
			say("no session: give an id, or KLEASE_SESSION");
			return KX_USAGE;
		}
		if (!lease_id_valid(id)) {
			say("KLEASE_SESSION='%s' is no lease's id", safe(buf, id));
			return KX_USAGE;
		}
		r = session_get(w, id, ret);
	}
	if (r == -EINVAL) {
		say("%s is no session's lease: see `klease renew` and `klease release`", id);
		return KX_USAGE;
	}
	if (r == -ENOENT && !a->quiet)
		say("there is no session %s, or it is over", id);
	else if (r < 0 && r != -ENOENT)
		say("cannot read the lock of %s: %s", id, strerror(-r));
	return r == 0 ? KX_OK : r == -ENOENT ? KX_LOST : KX_FAILED;
}

static int done(const struct args *a, const struct session *s, int r)
{
	if (r == 0)
		return KX_OK;
	if (r == -EPERM || r == -EACCES) {
		say("%s is not yours", s->record.id);
		return KX_REFUSED;
	}
	if (r == -ENOENT && a->quiet)
		return KX_OK;
	say("%s: %s", s->record.id, r == -ENOENT ? "the session is over" : strerror(-r));
	return r == -ENOENT ? KX_LOST : KX_FAILED;
}

static int beat(struct world *w, const struct args *a, const struct agent *agent)
{
	struct session s;
	int status = find(w, a, agent, &s);

	if (status != KX_OK)
		return status == KX_LOST && a->quiet ? KX_OK : status;
	return done(a, &s, lease_touch(w->tree.active, s.name, NULL));
}

static int archive(struct world *w, const struct args *a, const struct agent *agent)
{
	struct session s;
	int status = find(w, a, agent, &s);

	if (status != KX_OK)
		return status == KX_LOST && a->quiet ? KX_OK : status;
	return done(a, &s, lease_move(w->tree.active, s.name, w->tree.archive, s.name));
}

struct listing {
	struct world *w;
	struct table t;
	json_t *all; /* NULL = a table */
	int64_t now;
};

static int list_one(void *arg, const struct session *s)
{
	char when[WHEN_SIZE], leader[16] = "", labels[512] = "";
	struct listing *l = arg;
	struct view v;

	if (views_get(l->w, s->record.id, &v) < 0)
		return 0;
	if (l->all) {
		(void)json_array_append_new(l->all, json_view(&v, false));
		return 0;
	}
	for (int i = 0; i < v.n_labels; i++) {
		size_t n = strlen(labels);

		(void)snprintf(labels + n, sizeof labels - n, "%s%s", n ? "  " : "", v.labels[i]);
	}
	if (v.leader)
		(void)snprintf(leader, sizeof leader, "%d", v.leader);
	table_cell(&l->t, v.id);
	table_cell(&l->t, v.state);
	table_cell(&l->t, v.surface);
	table_cell(&l->t, v.user);
	table_cell(&l->t, when_ago(when, v.created_at, l->now));
	table_cell(&l->t, when_ago(when, s->st.mtime / LEASE_NS_PER_MS, l->now));
	table_cell(&l->t, leader);
	table_cell(&l->t, labels);
	return 0;
}

static int list(struct world *w, const struct args *a, const struct agent *agent)
{
	static const char *const heads[] = {"ID",  "STATE",     "SURFACE", "USER",
					    "AGE", "LAST-BEAT", "LEADER",  "LABELS"};
	struct listing l = {.w = w, .all = a->json ? json_array() : NULL, .now = clock_wall_ms()};
	int r;

	(void)agent;
	table_begin(&l.t, sizeof heads / sizeof *heads);
	for (size_t i = 0; !a->json && i < sizeof heads / sizeof *heads; i++)
		table_cell(&l.t, heads[i]);
	r = session_each(w, list_one, &l);
	if (r < 0) {
		say("cannot look at the sessions: %s", strerror(-r));
		json_decref(l.all);
		return KX_FAILED;
	}
	if (a->json)
		return json_print(l.all);
	table_print(&l.t);
	return KX_OK;
}

int cmd_session(struct world *w, struct args *a)
{
	const struct verb *v = find_verb(a);
	struct agent agent = {0};
	int status = v->run == list ? KX_OK : hear(a, &agent);

	if (status == KX_OK)
		status = world_need(w, NEED_TREE);
	if (status == KX_OK)
		status = v->run(w, a, &agent);
	if (a->verbose && status == KX_OK && !w->daemon)
		world_say_no_daemon(w);
	return status;
}
