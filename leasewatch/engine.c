/*
 * engine.c: leases that an engine keeps (a container, a machine): the truth is the engine's. What runs is asked by stat, when a
 * verdict hangs on it and when the process at its top has died; an engine that does not answer decides nothing.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lease/process.h"
#include "os/log.h"
#include "watcher.h"

/* With the pauses between them a minute: an engine that is started anew is back by then. */
#define COPIES 6

bool engine_drives(const struct entry *e)
{
	return !e->l.record.is_session && strcmp(e->l.policy.runtime, "process") != 0;
}

bool engine_copy_due(struct watcher *w, const struct entry *e)
{
	const struct runtime *r = runtime_known(w, e->l.policy.runtime);

	if (e->l.record.is_session || e->l.state != ST_REAPING || e->copied)
		return false;
	return settings_snapshot(w->settings, e->l.record.surface, e->l.record.profile) &&
	       (!r || !r->works || r->caps & ACT_CAP_SNAPSHOT);
}

static void uncopied(struct entry *e, const char *line)
{
	size_t n = strlen(e->l.why);

	(void)snprintf(e->l.why + n, sizeof(e->l.why) - n, "; no last copy: %.80s", line);
	log_warn("%s: no last copy, and destroyed all the same: %s (uid %u)", e->l.id, line, e->l.uid);
	e->copied = true;
}

void engine_copied(struct watcher *w, struct entry *e, const struct act_answer *a)
{
	const char *line = a->line[0] ? a->line : act_outcome_name((enum act_outcome)a->outcome);
	char why[LEASE_WHY_SIZE];

	e->copied = e->copied || a->outcome == ACT_DONE;
	if (e->l.state != ST_REAPING || a->serial != e->serial)
		return; /* too late for its own try; the next one, or the destroy, is on its way */
	if (a->outcome == ACT_ABSENT)
		uncopied(e, "the runtime has no such workload");
	else if (!e->copied && e->copies >= COPIES)
		uncopied(e, line);
	if (e->copied) {
		want_act(w, e, ACT_DESTROY);
		return;
	}
	(void)snprintf(why, sizeof(why), "its last copy failed: %.120s", line);
	step(w, e, EV_DESTROY_FAILED, w->now.mono, why);
}

void engine_asked(struct watcher *w, struct entry *e)
{
	if (e->act == ACT_NONE && !e->stat_sent)
		want_act(w, e, ACT_STAT);
}

static bool awake(const struct lease *l)
{
	return l->state == ST_ACTIVE || l->state == ST_IDLE;
}

void engine_lost_top(struct watcher *w, struct entry *e)
{
	e->tree = (struct lease_process){ 0 };
	e->top_lost = true;
	/* Under an act of ours that is as it should be, and its answer tells. */
	if (awake(&e->l) || e->l.state == ST_LINGERING)
		engine_asked(w, e);
}

static int64_t net_window(const struct watcher *w, const struct lease *l)
{
	return w->judge.observe_every < l->policy.renew_grace ? w->judge.observe_every : l->policy.renew_grace;
}

bool engine_net_first(struct watcher *w, struct entry *e, int64_t *ret_at)
{
	const struct lease *l = &e->l;
	int64_t now = w->now.mono, window = net_window(w, l);

	if (!engine_drives(e) || e->net_untold || l->policy.usage == LEASE_USAGE_EXPLICIT ||
	    settings_net_floor(w->settings, l->record.profile) == 0)
		return false;
	if (e->net_quiet != 0 && e->net_quiet >= l->used && now - e->net_quiet < window)
		return false;
	/* A window that began before the last use measures that use too: it is begun anew. */
	if (e->net_from != 0 && e->net_from >= l->used && now < e->net_from + window)
		*ret_at = e->net_from + window;
	else
		engine_asked(w, e);
	return true;
}

/* True when it shows use. A counter that stepped back (a restore, a restart) says nothing. */
static bool saw_net(const struct watcher *w, struct entry *e, int64_t bytes)
{
	int64_t now = w->now.mono, floor = settings_net_floor(w->settings, e->l.record.profile), window = now - e->net_from;
	int64_t step = bytes - e->net_base;
	bool begin = e->net_from == 0 || e->net_from < e->l.used || step < 0;

	e->net_untold = bytes < 0;
	if (e->net_untold || floor == 0 || (!begin && window < net_window(w, &e->l)))
		return false;
	e->net_from = now;
	e->net_base = bytes;
	if (begin)
		return false;
	if (step >= floor * (window / LEASE_NS_PER_MS) / 1000)
		return true;
	e->net_quiet = now;
	return false;
}

void engine_told(struct watcher *w, struct entry *e, const struct act_answer *a)
{
	struct lease *l = &e->l;
	bool told = a->outcome == ACT_DONE;
	char why[LEASE_WHY_SIZE];

	/* Many an engine fails while a workload goes; without this nobody would ask again while it is beaten. */
	if (told)
		e->top_lost = false;
	else if (e->top_lost && state_living(l->state))
		e->follow_at = w->now.mono + LEASE_NS_PER_S;
	if (told && a->state == ACT_ST_STOPPED && (awake(l) || l->state == ST_LINGERING)) {
		step(w, e, EV_STOPPED, w->now.mono, "its runtime says that it has stopped, and not by us");
		return;
	}
	if (told && (a->state == ACT_ST_FROZEN || a->state == ACT_ST_DISK) && awake(l)) {
		(void)snprintf(why, sizeof(why), "found %s, and not by us", a->state == ACT_ST_DISK ? "on disk" : "frozen");
		step(w, e, EV_ASK_HIBERNATE, w->now.mono, why);
		return;
	}
	if (told)
		engine_follow(w, e);
	if (awake(l) && told && saw_net(w, e, a->net_bytes))
		step(w, e, EV_USE, w->now.mono, "network traffic");
	else if (awake(l) && !told && e->net_from != 0)
		step(w, e, EV_USE, w->now.mono, "its runtime tells nothing: counts as use");
	/* Neither the counter itself nor a place to read it: in use. */
	if (awake(l) && !e->cgroup && e->tree.pid == 0 &&
	    lease_saw_cpu(l, &w->judge, w->now.mono, told && a->cpu_usec >= 0 ? a->cpu_usec * 1000 : -1))
		step(w, e, EV_USE, w->now.mono, l->cpu_broken ? "its runtime tells no cpu: counts as use" : "cpu used");
}

void engine_follow(struct watcher *w, struct entry *e)
{
	const uid_t anybody = (uid_t)-1; /* its death only makes us ask */
	int fd;

	if (!engine_drives(e) || e->work.fd >= 0 || e->tree.pid <= 0 || e->l.record.workload.pid != 0)
		return;
	e->top_lost = false;
	if (lease_process_open(&e->tree, anybody, &fd) == 0)
		(void)source_add(w, &e->work, SRC_WORK, fd, e);
}
