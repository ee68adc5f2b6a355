#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/log.h"
#include "store/statefiles.h"
#include "watcher.h"

static const enum act_verb act_of[] = { ACT_CREATE, ACT_HIBERNATE, ACT_RESUME, ACT_DESTROY };
static const uint32_t action_of[] = { AC_CREATE, AC_HIBERNATE, AC_RESUME, AC_DESTROY };

static int64_t ms(int64_t ns)
{
	return ns / LEASE_NS_PER_MS;
}

/*
 * The registry cannot be written: nothing is decided on a record that can't be kept. We end; a restart finds
 * the last good one.
 */
void registry_failed(struct watcher *w, const char *what)
{
	log_err("%s: %s: %s. Nothing is decided until it can be written; leases stand as they are", w->paths.db, what,
		registry_error(w->registry));
	w->broken = true;
}

static void ledger(struct watcher *w, struct entry *e, const char *from, enum event ev, int64_t deadline)
{
	const struct lease *l = &e->l;
	struct ledger_row row = { .at = ms(w->now.wall), .generation = l->generation, .requester = l->uid,
				  .zombie_ms = -1, .lateness_ms = -1 };
	size_t n = 0;

	if (e->quiet)
		return;
	memcpy(row.id, l->id, sizeof(row.id));
	(void)snprintf(row.from, sizeof(row.from), "%s", from);
	(void)snprintf(row.to, sizeof(row.to), "%s", state_public(l->state));
	memcpy(row.user, l->user, sizeof(row.user));
	memcpy(row.surface, l->record.surface, sizeof(row.surface));
	memcpy(row.runtime, l->policy.runtime, sizeof(row.runtime));
	memcpy(row.profile, l->record.profile, sizeof(row.profile));
	memcpy(row.session, l->record.session, sizeof(row.session));
	memcpy(row.why, l->why, sizeof(row.why));
	for (int i = 0; i < l->record.n_labels && n < sizeof(row.labels); i++)
		n += (size_t)snprintf(row.labels + n, sizeof(row.labels) - n, "%s%s", i ? "\n" : "", l->record.labels[i]);
	if (l->state == ST_REAPED && l->work_ended != 0)
		row.zombie_ms = ms(w->now.mono - l->work_ended);
	if (ev == EV_EXPIRY_DUE && l->state == ST_EXPIRED)
		row.lateness_ms = ms(w->now.mono - deadline);
	if (registry_ledger(w->registry, &row) < 0)
		registry_failed(w, "a ledger line");
}

struct lock_ref lock_of(const struct entry *e)
{
	return (struct lock_ref){ .name = e->l.name, .uid = e->l.uid, .dev = e->l.dev, .ino = e->l.ino, .mtime = e->l.mtime };
}

/*
 * Does what the cell wants of the lock before the state moves. Gives the event to take instead, or ev; EV_NONE:
 * it must wait.
 */
static enum event move_lock(struct watcher *w, struct entry *e, const struct cell *c, enum event ev)
{
	struct lock_ref ref = lock_of(e);
	struct lease_stat st;
	int r = 0;

	if (c->actions & AC_COMMIT) {
		r = e->place == AT_ACTIVE ? locks_commit(&w->house, &ref, w->now.wall) : -ENOENT;
		if (r == 0)
			return EV_BEAT;
		/* Its owner may have given it another name, or released it, and word of that is on its way: not at once. */
		if (r == -ENOENT && !e->missed) {
			e->missed = true;
			return EV_NONE;
		}
		r = r == -ENOENT ? 1 : r;
		e->place = r < 0 ? e->place : AT_REAP;
	} else if (c->actions & AC_TAKE && (e->place == AT_ACTIVE || e->place == AT_QUEUE)) {
		r = locks_take(&w->house, e->l.name, e->place);
		enum place now_at = r < 0 ? locks_place(&w->house, &ref, &st) : AT_REAP;
		e->place = now_at == AT_UNSEEN ? e->place : now_at;
		if (r < 0 && r != -ENOENT)
			log_warn("%s: its lock cannot be taken out of the tree: %s", e->l.id, strerror(-r));
		r = 0; /* the end itself does not wait for that */
	} else if (c->actions & AC_MOVE_IN && e->place == AT_QUEUE) {
		r = locks_move_in(&w->house, e->l.name, w->now.wall);
		if (r == -ENOENT)
			return EV_WITHDRAWN;
		e->place = r < 0 ? e->place : AT_ACTIVE;
	}
	if (r >= 0)
		return ev;
	log_warn("%s: \"%s\" waits, its lock cannot be moved: %s", e->l.id, event_name(ev), strerror(-r));
	return EV_NONE;
}

static void archive_lock(struct watcher *w, struct entry *e)
{
	int r = e->quiet && e->place == AT_REAP ? locks_remove(w->house.reap, e->l.name) :
						  locks_archive(&w->house, e->l.name, e->place, w->now.wall);

	if (r < 0 && r != -ENOENT)
		log_warn("%s: its lock cannot be archived: %s", e->l.id, strerror(-r));
	e->place = AT_NOWHERE;
}

void want_act(struct watcher *w, struct entry *e, enum act_verb verb)
{
	e->act = verb;
	fair_want(w, e);
}

static void unwant_act(struct watcher *w, struct entry *e)
{
	fair_unwant(w, e);
	e->act = ACT_NONE;
}

static void tell(struct watcher *w, const struct entry *e, const char *from, uint32_t actions)
{
	if (e->quiet) {
		if (state_ended(e->l.state))
			report_rubbish(w, e->l.uid, e->l.name, "one more request that came to nothing: not recorded");
		return;
	}
	const struct lease *l = &e->l;
	int level = actions & AC_REPORT ? 4 : 6;
	char why[LEASE_WHY_SIZE * 2];

	log_at(level, "%s %s -> %s: %s (uid %u, %s%s%s)", l->id, from, state_name(l->state), log_escape(why, sizeof(why), l->why),
	       l->uid, l->record.surface, l->policy.runtime[0] ? ", " : "", l->policy.runtime);
}

/* A line for what is no transition. */
static void remark(struct watcher *w, struct entry *e, const char *why)
{
	char shown[LEASE_WHY_SIZE * 2];

	if (!ration_left(w, e->user, RATION_LINES, NULL))
		return;
	log_warn("%s (%s): %s", e->l.id, state_name(e->l.state), log_escape(shown, sizeof(shown), why));
	ration_take(w, e->user, RATION_LINES);
	if (!ration_left(w, e->user, RATION_LINES, NULL))
		log_warn("uid %u: more such lines are left out for now", e->l.uid);
}

void step(struct watcher *w, struct entry *e, enum event ev, int64_t at, const char *why)
{
	struct lease *l = &e->l;
	const struct cell *c = &state_table[l->state][ev];
	enum state from = l->state;
	int64_t deadline = lease_expires(l);
	bool was_warned = l->warned;
	char because[LEASE_WHY_SIZE];

	if (w->broken)
		return;
	/* why may be the lease's own, which is about to be overwritten */
	(void)snprintf(because, sizeof(because), "%s", why ? why : event_name(ev));
	if (c->actions & AC_NEVER) {
		log_err("%s: \"%s\" in state %s: this cannot happen; please report it", l->id, event_name(ev), state_name(from));
		return;
	}
	if (e->quiet && ev == EV_ADMIT) {
		e->quiet = false;
		step_first(w, e);
	}
	/* The turn must be able to tell of it, before a lock is moved that a crash would have to put back. */
	if (c->actions & (AC_COMMIT | AC_TAKE | AC_MOVE_IN) && registry_change(w->registry) < 0) {
		registry_failed(w, "a turn");
		return;
	}
	enum event instead = move_lock(w, e, c, ev);
	if (instead == EV_NONE) {
		e->retry = w->now.mono + (e->missed && w->watch ? LEASE_TICK : LEASE_NS_PER_S);
		entry_due(w, e, e->retry);
		return;
	}
	e->retry = 0;
	if (instead == EV_BEAT && ev != EV_BEAT) {
		struct lock_ref ref = lock_of(e);
		struct lease_stat st = { .mtime = l->mtime };
		struct clock_now now;
		log_info("%s: beaten at its last moment: it lives on", l->id);
		e->place = locks_place(&w->house, &ref, &st);
		if (e->place == AT_UNSEEN)
			e->place = AT_ACTIVE; /* where it has just been put back */
		clock_read(&now); /* that moment came after the turn began, and another beat may have come since */
		at = now.mono;
		l->mtime = st.mtime;
		(void)snprintf(because, sizeof(because), "a beat at its last moment");
	}
	if (instead != ev) {
		step(w, e, instead, at, because);
		return;
	}
	if (c->actions & AC_CREATE && l->generation == 0 && registry_next_generation(w->registry, &l->generation) < 0) {
		registry_failed(w, "the next generation");
		return;
	}
	lease_apply(l, ev, at, w->now.mono, w->now.wall, because);
	breaker_stepped(w, e, ev, deadline);
	if (from == ST_REQUESTED && l->state != ST_REQUESTED)
		TAILQ_REMOVE(&w->requests, e, request);
	/*
	 * What waits for a free act is for a life that is over: a hold may keep the destroy away that would
	 * take its place. And one that is over needs no second destroy, though its first had been given up.
	 */
	if ((state_living(from) && !state_living(l->state)) || state_ended(l->state))
		unwant_act(w, e);
	for (size_t i = 0; i < sizeof(action_of) / sizeof(action_of[0]); i++)
		if (c->actions & action_of[i])
			want_act(w, e, act_of[i]);
	if (c->actions & AC_DESTROY && engine_copy_due(w, e))
		want_act(w, e, ACT_SNAPSHOT);
	if (from != l->state && (from == ST_STARTING || l->state == ST_STARTING))
		fair_started(w, e, l->state == ST_STARTING ? 1 : -1);
	if (c->actions & AC_END)
		archive_lock(w, e);
	/*
	 * A beat that changes no state is written nowhere: readers stat the lock, and after a crash its mtime
	 * tells. But a warning that no longer holds is taken back.
	 */
	bool beat_only = l->state == from && !(c->actions & ~(AC_RENEW | AC_USE | AC_IGNORE));
	if (!beat_only || was_warned != l->warned) {
		e->row_dirty = e->row_dirty || !beat_only;
		e->view_dirty = true;
		entry_changed(w, e);
	}
	if (l->state != from)
		tell(w, e, state_name(from), c->actions);
	else if (c->actions & AC_REPORT)
		remark(w, e, because);
	if (strcmp(state_public(l->state), state_public(from)) != 0)
		ledger(w, e, from == ST_NONE ? "-" : state_public(from), ev, deadline);
	if (l->state == ST_DENIED && !e->quiet)
		ration_take(w, e->user, RATION_DENIALS);
	if (l->state == ST_ACTIVE && from != ST_ACTIVE)
		ask_lease_active(w, e);
	if (from == ST_STARTING && l->state != ST_STARTING)
		source_drop(w, &e->waiter);
	if (!state_living(l->state) && state_living(from))
		ask_lease_over(w, e);
	if (state_ended(l->state) && !state_ended(from))
		e->user->leases--;
	if (l->record.is_session && l->state == ST_ACTIVE && from == ST_STARTING)
		session_begun(w, e);
	if (l->record.is_session && !state_living(l->state) && state_living(from))
		session_over(w, e, ev);
	if (from != l->state && !state_ended(l->state))
		entry_due(w, e, w->now.mono); /* judged anew, in this turn */
	/* What was asked for while an act was under way. */
	if (l->state == ST_HIBERNATED && l->wanted && from == ST_HIBERNATING)
		step(w, e, EV_ASK_RESUME, w->now.mono, "used while it was being hibernated");
}

/* The first line of a lease's life. */
void step_first(struct watcher *w, struct entry *e)
{
	e->row_dirty = e->view_dirty = true;
	entry_changed(w, e);
	tell(w, e, "-", 0);
	ledger(w, e, "-", EV_NONE, 0);
}

bool turn_begin(struct watcher *w)
{
	if (registry_begin(w->registry) < 0)
		registry_failed(w, "a transaction");
	return !w->broken;
}

int checkpoint_write(struct watcher *w)
{
	struct registry_clock c = { .mono = w->now.mono, .boot = w->now.boot, .wall = w->now.wall, .away = w->away,
				    .even = w->clocks.even, .set = w->clocks.set };

	memcpy(c.boot_id, w->boot, sizeof(c.boot_id));
	w->checkpoint = w->now.mono;
	return registry_checkpoint(w->registry, &c);
}

bool turn_commit(struct watcher *w)
{
	struct entry *e;
	bool rows = false;

	LIST_FOREACH(e, &w->changed, changed) {
		if (!e->row_dirty || e->quiet || w->broken)
			continue;
		e->l.written = w->now.mono;
		e->l.away = w->away;
		int r = state_ended(e->l.state) ? registry_end_lease(w->registry, e->l.id) : registry_put(w->registry, &e->l);
		if (r < 0)
			registry_failed(w, "a row");
		rows = true;
	}
	if (rows && !w->broken && checkpoint_write(w) < 0)
		registry_failed(w, "the checkpoint");
	if (!w->broken && registry_commit(w->registry) < 0)
		registry_failed(w, "a commit");
	if (w->broken)
		registry_rollback(w->registry);
	return !w->broken;
}

/* --- after the commit --- */

static void write_view(struct watcher *w, struct entry *e)
{
	struct ledger_row rows[VIEW_HISTORY];
	char held[LEASE_WHY_SIZE] = "";
	struct view v;
	int n = 0;

	if (w->hold_wall != 0)
		(void)snprintf(held, sizeof(held), "held by %s: nothing is destroyed until the hold is lifted or over",
			       w->hold_by);
	else if (e->held) {
		char words[BREAKER_WORDS];

		struct breaker b = breaker_of(w, e);

		breaker_words(&b, words);
		(void)snprintf(held, sizeof(held), "held by the breaker (%s): not reaped until it lets go", words);
	}
	view_of(&e->l, w->now.mono, w->now.wall, held, &v);
	degraded_lease(e, v.degraded);
	if (!e->l.record.is_session)
		runtime_words(w, e->l.policy.runtime, v.can);
	if (registry_history(w->registry, e->l.id, VIEW_HISTORY, rows, &n) < 0)
		n = 0;
	for (int i = 0; i < n; i++) {
		struct view_step s = { .seq = (uint64_t)rows[i].seq, .at = rows[i].at };
		memcpy(s.from, rows[i].from, sizeof(s.from));
		memcpy(s.to, rows[i].to, sizeof(s.to));
		memcpy(s.why, rows[i].why, sizeof(s.why));
		if (strncmp(s.why, COLD_WORDS, strlen(COLD_WORDS)) == 0)
			memcpy(v.cold, s.why, sizeof(v.cold));
		view_step_add(&v, &s);
	}
	int r = statefile_put(w->house.state, &v);
	if (r < 0 && !e->misshown) /* once, not at every look */
		log_warn("%s: its state file cannot be written: %s", e->l.id, strerror(-r));
	e->misshown = r < 0;
	session_notice(w, e);
}

/* How long an act may take. Generous: a deadline is for what hangs, not for what is slow. */
static int64_t act_time(enum act_verb v)
{
	return (v == ACT_SNAPSHOT ? 120 : v == ACT_CREATE || v == ACT_DESTROY ? 60 : 30) * LEASE_NS_PER_S;
}

static int send_act(struct watcher *w, struct entry *e)
{
	struct act_request r = { .verb = (uint32_t)e->act, .uid = e->l.uid, .generation = e->l.generation,
				 .deadline = act_time(e->act) };

	memcpy(r.id, e->l.id, sizeof(r.id));
	memcpy(r.runtime, e->l.policy.runtime, sizeof(r.runtime));
	memcpy(r.profile, e->l.record.profile, sizeof(r.profile));
	if (e->act == ACT_CREATE)
		r.process = e->l.record.workload;
	struct clock_now now;
	int s = flight_send(w, &r, e->user, false);
	if (s < 0)
		return s;
	/*
	 * Behind another act on the same lease it waits for that one's deadline too; the rest is the way there
	 * and back. Not from when the turn began: we may have been held up since then, and it has only just gone out.
	 */
	if (e->act == ACT_STAT) {
		e->stat_sent = true;
		return 0;
	}
	e->copies += e->act == ACT_SNAPSHOT;
	e->serial = r.serial;
	clock_read(&now);
	e->l.act_deadline = now.mono + 2 * r.deadline + 10 * LEASE_NS_PER_S;
	return 0;
}

int flush(struct watcher *w)
{
	struct entry *e;
	struct exec *x;

	while ((e = fair_next_act(w)) != NULL) {
		int r = send_act(w, e);
		if (r == -EAGAIN || r == -ENOMEM)
			/*
			 * tried again when an answer has come: there are acts under way, else the socket were
			 * empty
			 */
			break;
		if (r < 0)
			return r;
		unwant_act(w, e);
		entry_due(w, e, w->now.mono); /* its deadline counts from now */
	}
	asks_flush(w);
	while ((e = LIST_FIRST(&w->changed)) != NULL) {
		LIST_REMOVE(e, changed);
		e->touched = e->row_dirty = false;
		if (e->view_dirty)
			write_view(w, e);
		e->view_dirty = false;
		if (state_ended(e->l.state)) {
			/* Its state file stays for a while: whoever waits for it reads how it ended. */
			kept(w);
			keep_file(w, e->user, e->l.id);
			entry_free(w, e);
		}
	}
	rest_all(w);
	while ((x = LIST_FIRST(&w->execs_over)) != NULL) {
		LIST_REMOVE(x, all);
		free(x);
	}
	return 0;
}
