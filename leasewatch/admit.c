#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/log.h"
#include "watcher.h"

/* The numbers it is to be judged by: the settings', under them its record's wishes. 0, or -1 with the reason. */
static int policy_of(const struct watcher *w, const struct lease_record *rec, struct policy *ret, char why[LEASE_WHY_SIZE],
		     char note[160])
{
	if (settings_policy(w->settings, rec->surface, rec->profile, ret) < 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "no such profile: %s", rec->profile);
		return -1;
	}
	if (rec->profile[0] && rec->runtime[0] && strcmp(rec->runtime, ret->runtime) != 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "profile %s is of runtime %s, not %s", rec->profile, ret->runtime,
			       rec->runtime);
		return -1;
	}
	if (rec->is_session) {
		/* It has no workload: the runtime that drives nothing, and its use is its own beats. */
		(void)snprintf(ret->runtime, sizeof(ret->runtime), "session");
		ret->usage = LEASE_USAGE_EXPLICIT;
	}
	return policy_apply_record(ret, rec, why, note) < 0 ? -1 : 0;
}

/* Everything that can be said against a request without a look at the host's load. 0, or -1 with the reason. */
static int check(struct watcher *w, struct entry *e, char why[LEASE_WHY_SIZE])
{
	struct lease *l = &e->l;
	const struct user *u = user_get(w, l->uid);
	int quota = settings_daemon(w->settings)->quota_leases;
	char note[160];

	why[0] = '\0';
	if (quota >= 0 && u && u->leases > quota) {
		(void)snprintf(why, LEASE_WHY_SIZE, "uid %u has %d leases and quota_leases is %d: release one first", l->uid,
			       u->leases - 1, quota);
		return -1;
	}
	if (l->record.is_session) {
		l->record.usage = LEASE_USAGE_UNSET;
		l->record.runtime[0] = '\0';
	} else if (strcmp(l->record.runtime, "session") == 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "runtime session is for sessions: kind=session");
		return -1;
	}
	if (policy_of(w, &l->record, &l->policy, why, note) < 0)
		return -1;
	if (note[0])
		log_info("%s: %s", l->id, note);
	if (l->record.is_session && (l->record.workload.pid != 0 || e->place != AT_ACTIVE)) {
		(void)snprintf(why, LEASE_WHY_SIZE, "%s", e->place != AT_ACTIVE ? "a session's lock is made in active/" :
								   "a session has no workload: pid= is not for it");
		return -1;
	}
	if (strcmp(l->policy.runtime, "process") == 0 && l->record.workload.pid == 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "runtime process needs a command: klease create -- COMMAND, or klease run");
		return -1;
	}
	if (note[0])
		(void)snprintf(l->why, sizeof(l->why), "%s", note);
	return 0;
}

static void deny(struct watcher *w, struct entry *e, const char *why)
{
	step(w, e, EV_DENY, w->now.mono, why);
}

/* 0, or -1 with what is wrong; r is then as far as it could be read. */
static int read_record(int dirfd, const char *name, const char *id, uint32_t uid, struct lease_record *rec,
		       char why[LEASE_WHY_SIZE])
{
	char buf[LEASE_FILE_MAX + 1], shown[240];
	struct lease_error err = { 0 };
	size_t len;
	int r = -EAGAIN;

	/* It says again when a beat came between; a writer who never stops is refused like any other rubbish. */
	for (int i = 0; i < 5 && r == -EAGAIN; i++)
		r = lease_read(dirfd, name, uid, buf, LEASE_FILE_MAX, &len, NULL);
	why[0] = '\0';
	lease_record_init(rec);
	if (r < 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "its record cannot be read: %s", strerror(-r));
	} else if ((r = lease_record_parse(buf, len, rec, &err)) < 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "its record, line %d: %.100s", err.line,
			       r == -ENODATA ? "the first line must be #leasewatch 1"
					     : log_escape(shown, sizeof(shown), err.what));
		lease_record_init(rec);
	} else if (rec->id[0] && strcmp(rec->id, id) != 0) {
		(void)snprintf(why, LEASE_WHY_SIZE, "its record is of %s, its name is not", rec->id);
	}
	if (!lease_surface_valid(rec->surface))
		(void)snprintf(rec->surface, sizeof(rec->surface), "unknown");
	return why[0] ? -1 : 0;
}

void admit_receive(struct watcher *w, enum watch_kind kind, const char *name, const struct lease_stat *st, bool final)
{
	int dirfd = kind == WATCH_QUEUE ? w->house.tree.queue : w->house.tree.active;
	char id[LEASE_ID_SIZE], why[LEASE_WHY_SIZE];
	struct lease_record rec;

	(void)snprintf(id, sizeof(id), "%s", lease_name_lock_id(name));
	int used = registry_id_used(w->registry, id);
	if (used < 0) { /* not known is not over: the next daemon asks again */
		registry_failed(w, "whether an id was used");
		return;
	}
	if (used) {
		refuse_file(w, dirfd, name, st->uid, "has the id of a lease that is over: moved to the quarantine");
		return;
	}
	int refused = read_record(dirfd, name, id, st->uid, &rec, why);
	if (refused < 0 && !final && scan_doubt(w, kind, name, st->uid))
		return;
	struct entry *e = entry_new(w, id, st->uid);
	if (!e) {
		log_err("out of memory: request %s waits", id);
		w->rescan = true;
		return;
	}
	struct lease *l = &e->l;
	e->user->leases++;
	(void)snprintf(l->name, sizeof(l->name), "%s", name);
	l->record = rec;
	l->state = ST_REQUESTED;
	l->dev = st->dev;
	l->ino = st->ino;
	l->mtime = st->mtime;
	l->created = l->since = l->renewed = l->used = l->looked = w->now.mono;
	l->created_wall = l->since_wall = w->now.wall;
	l->skew = w->now.wall - w->now.mono;
	e->place = kind == WATCH_QUEUE ? AT_QUEUE : AT_ACTIVE;
	admit_add(w, e);
	e->quiet = !ration_left(w, e->user, RATION_DENIALS, NULL);
	lease_name_user(l->user, l->name, rec.surface);
	(void)snprintf(l->why, sizeof(l->why), "asked for");
	if (refused == 0)
		refused = check(w, e, why);
	step_first(w, e);
	if (refused < 0) {
		deny(w, e, why);
		return;
	}
	life_follow(w, e);
	if (l->state == ST_REQUESTED)
		admit_wait(w, e);
}

const struct runtime *runtime_known(const struct watcher *w, const char *name)
{
	const struct runtime *r;

	SLIST_FOREACH(r, &w->runtimes, all)
		if (strcmp(r->name, name) == 0 && r->known)
			return r;
	return NULL;
}

bool runtime_hibernates(const struct watcher *w, const char *name)
{
	const struct runtime *r = runtime_known(w, name);

	return !r || (r->caps & (ACT_CAP_HIBERNATE_FROZEN | ACT_CAP_HIBERNATE_DISK)) != 0;
}

void runtime_words(const struct watcher *w, const char *name, char buf[LEASE_WHY_SIZE])
{
	const struct runtime *r = runtime_known(w, name);

	buf[0] = '\0';
	if (r && r->works)
		caps_words(r->caps, r->line, buf, LEASE_WHY_SIZE);
	else if (r)
		(void)snprintf(buf, LEASE_WHY_SIZE, "runtime does not work here: %.120s", r->line);
}

static struct runtime *runtime_get(struct watcher *w, const char *name)
{
	struct runtime *r, *useless = NULL;
	int n = 0;

	SLIST_FOREACH(r, &w->runtimes, all) {
		if (strcmp(r->name, name) == 0)
			return r;
		if (r->known && !r->works)
			useless = r; /* the oldest */
		n++;
	}
	/* Names are users' to make up. */
	if (n >= RUNTIMES_MAX && !useless)
		return NULL;
	if (n >= RUNTIMES_MAX) {
		SLIST_REMOVE(&w->runtimes, useless, runtime, all);
		free(useless);
	}
	if (!(r = calloc(1, sizeof(*r))))
		return NULL;
	(void)snprintf(r->name, sizeof(r->name), "%s", name);
	SLIST_INSERT_HEAD(&w->runtimes, r, all);
	return r;
}

/* One that did not work may have been mended or installed since. */
void runtimes_ask_again(struct watcher *w)
{
	struct runtime *r;

	SLIST_FOREACH(r, &w->runtimes, all)
		if (r->known && !r->works)
			r->asked = r->known = false;
}

/* Whether what drives it is there; asked of the runtime once, at its first use. 1 yes, 0 not known yet, -1 no. */
static int runtime_ready(struct watcher *w, const struct entry *e, char why[LEASE_WHY_SIZE])
{
	const char *name = e->l.policy.runtime;
	struct runtime *r = runtime_get(w, name);

	if (!r)
		return 0;
	if (!r->asked && e->quiet) {
		(void)snprintf(why, LEASE_WHY_SIZE, "too many requests of yours came to nothing: runtime %s is not tried for now",
			       name);
		return -1;
	}
	if (!r->asked) {
		struct act_request q = { .verb = ACT_CAPABILITIES, .uid = w->paths.uid, .deadline = 10 * LEASE_NS_PER_S };
		memcpy(q.runtime, r->name, sizeof(q.runtime));
		r->asked = send_request(w, &q) == 0;
		r->serial = q.serial;
	}
	if (!r->known)
		return 0;
	if (!r->works) {
		(void)snprintf(why, LEASE_WHY_SIZE, "runtime %s does not work here: %.80s", name, r->line);
		return -1;
	}
	if (e->l.record.workload.pid != 0 && !(r->caps & ACT_CAP_ADOPTS) && strcmp(name, "process") != 0) {
		(void)snprintf(why, LEASE_WHY_SIZE,
			       "runtime %s takes in no command: klease create --profile %s, then klease exec ID -- COMMAND",
			       name, e->l.record.profile[0] ? e->l.record.profile : "P");
		return -1;
	}
	return 1;
}

/* Whether its owner may have what it asks for; only the actor can tell who is in which group. */
static int profile_ready(struct watcher *w, struct entry *e, char why[LEASE_WHY_SIZE])
{
	const char *profile = e->l.record.profile;
	struct act_request q = { .verb = ACT_PERMIT, .uid = e->l.uid, .deadline = 10 * LEASE_NS_PER_S };

	if (!profile[0] || e->permitted)
		return 1;
	if (!settings_profile_known(w->settings, profile)) {
		(void)snprintf(why, LEASE_WHY_SIZE, "no such profile: %s", profile);
		return -1;
	}
	if (e->l.uid == 0 || (!settings_profile_text(w->settings, profile, "users") &&
			      !settings_profile_text(w->settings, profile, "groups")))
		return 1;
	if (e->permit != 0)
		return 0;
	if (e->quiet) {
		(void)snprintf(why, LEASE_WHY_SIZE,
			       "too many requests of yours came to nothing: profile %s is not for you for now", profile);
		return -1;
	}
	memcpy(q.runtime, e->l.policy.runtime, sizeof(q.runtime));
	memcpy(q.profile, profile, sizeof(q.profile));
	e->permit = send_request(w, &q) == 0 ? q.serial : 0;
	return 0;
}

void admit_permitted(struct watcher *w, const struct act_answer *a)
{
	struct entry *e;

	TAILQ_FOREACH(e, &w->requests, request)
		if (e->permit == a->serial)
			break;
	if (!e)
		return;
	e->permit = 0;
	w->admit = true;
	e->permitted = a->outcome == ACT_DONE;
	if (a->outcome == ACT_REFUSED) {
		deny(w, e, a->line);
	} else if (!e->permitted) {
		/* What cannot be told now may be told later: nobody is refused for a directory server that sleeps. */
		(void)snprintf(e->l.why, sizeof(e->l.why), "%.150s", a->line);
		e->view_dirty = true;
		entry_changed(w, e);
		e->retry = w->now.mono + LEASE_NS_PER_S;
		entry_due(w, e, w->now.mono);
	}
}

/* Priority, then whose turn it is, then age: a thousand requests of one user are one turn among the others'. */
static bool goes_before(const struct entry *e, const struct entry *best)
{
	const struct user *u = e->user, *v = best->user;

	if (e->l.policy.priority != best->l.policy.priority)
		return e->l.policy.priority > best->l.policy.priority;
	if (u != v)
		return fair_before(u->starting, u->admitted, v->starting, v->admitted);
	return e->l.created < best->l.created;
}

/* The request that is to be admitted next. */
static struct entry *next_request(struct watcher *w)
{
	struct entry *e, *next, *best = NULL;

	TAILQ_FOREACH_SAFE(e, &w->requests, request, next) {
		char why[LEASE_WHY_SIZE];
		int64_t when;
		if (e->retry > w->now.mono || !fair_place(w->starting, e->user->starting))
			continue;
		if (!ration_left(w, e->user, RATION_STARTS, &when)) {
			w->admit_at = when < w->admit_at ? when : w->admit_at;
			continue;
		}
		int ready = runtime_ready(w, e, why);
		if (ready > 0)
			ready = profile_ready(w, e, why);
		if (ready < 0) {
			deny(w, e, why);
			continue;
		}
		if (ready == 0)
			continue;
		if (!best || goes_before(e, best))
			best = e;
	}
	return best;
}

void admit_add(struct watcher *w, struct entry *e)
{
	TAILQ_INSERT_TAIL(&w->requests, e, request);
	w->admit = true;
}

void admit_wait(struct watcher *w, struct entry *e)
{
	int64_t timeout = settings_daemon(w->settings)->queue_timeout;
	int64_t due = timeout == LEASE_NEVER ? LEASE_NEVER : e->l.created + timeout;

	if (due <= w->now.mono) {
		deny(w, e, "waited for queue_timeout and there was no room");
		return;
	}
	if (e->retry > w->now.mono) {
		due = e->retry < due ? e->retry : due;
	} else if (e->retry != 0) {
		e->retry = 0;
		w->admit = true;
	}
	entry_due(w, e, due);
}

/*
 * Lets in what there is room for. Room, for now, is a free act: no more starts side by side than the actor runs
 * at a time, and the last ones are for users who have none under way.
 */
void admit_run(struct watcher *w)
{
	struct entry *e;

	w->admit = false;
	w->admit_at = LEASE_NEVER;
	while (!w->broken && w->starting < WATCHER_ACTS && (e = next_request(w)) != NULL) {
		e->user->admitted = ++w->admissions;
		ration_take(w, e->user, RATION_STARTS);
		step(w, e, EV_ADMIT, w->now.mono, strcmp(e->l.why, "asked for") != 0 ? e->l.why : "there is room");
	}
}

/* What would end it now gets a fresh full period. True: something would have. */
static bool fresh_period(struct lease *l, int64_t now)
{
	/* neither a hold nor a grace: these only put it off */
	const struct judge j = { .observe_every = LEASE_NEVER };
	struct verdict v;
	bool fresh = false;

	for (;;) {
		lease_verdict(l, &j, now, &v);
		if (v.event == EV_LIFETIME_DUE && l->created != now)
			l->created = now;
		else if (v.event == EV_EXPIRY_DUE && l->renewed != now)
			l->renewed = now, l->restart_credit = 0, l->warned = false;
		else if ((v.event == EV_LINGER_DUE || v.event == EV_RETENTION_DUE) && l->since != now)
			l->since = now;
		else
			return fresh;
		fresh = true;
	}
}

bool admit_policy_take(struct watcher *w, struct entry *e)
{
	struct policy p;
	char why[LEASE_WHY_SIZE], note[160];
	bool fresh;

	if (!state_living(e->l.state) && e->l.state != ST_REQUESTED)
		return false;
	if (policy_of(w, &e->l.record, &p, why, note) < 0) {
		log_warn("%s keeps its old numbers: %s", e->l.id, why);
		return false;
	}
	/* What drives it can't change under it. */
	memcpy(p.runtime, e->l.policy.runtime, sizeof(p.runtime));
	/* This one may be its session's. */
	if (e->l.state == ST_LINGERING)
		p.linger = e->l.policy.linger;
	entry_due(w, e, w->now.mono);
	if (policy_equal(&e->l.policy, &p))
		return false;
	e->l.policy = p;
	fresh = fresh_period(&e->l, w->now.mono);
	e->row_dirty = e->view_dirty = true;
	entry_changed(w, e);
	return fresh;
}
