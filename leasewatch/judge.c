#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/log.h"
#include "os/sample.h"
#include "watcher.h"

/* Where a lock's beats can't be watched, it is looked at this often while they must be seen at once. */
#define POLL LEASE_NS_PER_S
/* How far ahead active leases are looked at in one wake-up: no further than a part of their own grace. */
#define PEEK_AHEAD (2 * LEASE_NS_PER_S)
#define PEEK_PART 16

static int64_t read_cpu(const struct entry *e)
{
	int64_t usage;
	int r = -ENOENT;

	if (e->cgroup)
		r = sample_cgroup_cpu(e->cgroup, &usage);
	else if (e->tree.pid > 0)
		r = sample_tree_cpu(&e->tree, &usage);
	return r < 0 ? -1 : usage;
}

enum event beat_of(const struct lease *l)
{
	/*
	 * Beats are no use for a lease whose use is to be observed; asleep, they still wake it: nothing else
	 * could.
	 */
	bool awake = l->state == ST_ACTIVE || l->state == ST_IDLE;

	return awake && l->policy.usage == LEASE_USAGE_OBSERVED ? EV_RENEWED : EV_BEAT;
}

static void saw_beat(struct watcher *w, struct entry *e, int64_t at)
{
	enum event ev = beat_of(&e->l);

	step(w, e, ev, at, ev == EV_RENEWED ? "a beat" : "a beat on its lock");
}

/*
 * A stamp from after this turn began may be a beat of this very moment or one that its owner made up: a clock that is
 * read again tells. Credited at the turn's own time a beat would be worth less than a ttl, by as long as the turn took.
 */
int64_t look_credit(struct watcher *w, struct lease *l, int64_t mtime, bool *ret_keep)
{
	const bool first = l->looked < w->began;
	struct clock_now now = w->now;

	if (mtime != l->mtime) {
		clock_read(&now);
		clocks_seen(w, &now);
	}
	struct lease_clock c = { .now = now.mono, .wall = now.wall, .even = w->clocks.even, .set = w->clocks.set };
	int64_t stamp = lease_stamp(mtime, &c), at = lease_looked(l, mtime, &c);
	/*
	 * By the row it is looked at as of when it came into its state, long ago, at each start anew: what does not say by
	 * itself when it came would be credited later each time, and restarts would keep what nobody beats any more.
	 */
	*ret_keep = at != 0 && first && (stamp > at || at - stamp > LEASE_TICK);
	return at;
}

void entry_keep(struct watcher *w, struct entry *e)
{
	e->row_dirty = true;
	entry_changed(w, e);
}

/* What the tree says of the lock, now. */
void look_at_lock(struct watcher *w, struct entry *e)
{
	struct lease_stat st;
	enum place was = e->place;

	if (e->l.state == ST_EXPIRED || e->l.state == ST_REAPING || e->l.state == ST_ROLLBACK || state_ended(e->l.state))
		return; /* its lock is out already, and nothing of it can change the verdict */
	struct lock_ref ref = lock_of(e);
	e->place = locks_place(&w->house, &ref, &st);
	/* In doubt it stands where it stood; whoever has to move it will see. */
	if (e->place == AT_UNSEEN) {
		e->place = was;
		return;
	}
	/* Something was in the way when it was to be put back. */
	if (e->place == AT_REAP && state_living(e->l.state) && locks_put_back(&w->house, e->l.name, w->now.wall) == 0)
		e->place = locks_place(&w->house, &ref, &st);
	if (e->place == AT_ARCHIVE) {
		e->by_pam = e->l.record.is_session && session_closed_by_pam(w, e);
		step(w, e, EV_RELEASED, w->now.mono,
		     e->by_pam ? "closed by PAM" : "released: its lock was moved to archive/");
		return;
	}
	if (e->place == AT_NOWHERE || e->place == AT_REAP) {
		if (was == AT_NOWHERE && e->l.lock_lost)
			return;
		if (e->l.state == ST_REQUESTED)
			step(w, e, EV_WITHDRAWN, w->now.mono, "its request was taken back");
		else
			step(w, e, EV_LOCK_LOST, w->now.mono, "lock lost: in neither active/ nor archive/");
		return;
	}
	e->missed = false;
	if (e->l.lock_lost && e->place == AT_ACTIVE)
		step(w, e, EV_LOCK_FOUND, w->now.mono, "its lock is back");
	e->l.ino = st.ino;
	e->l.dev = st.dev;
	bool keep;
	int64_t at = look_credit(w, &e->l, st.mtime, &keep);
	if (keep)
		entry_keep(w, e);
	if (at != 0)
		saw_beat(w, e, at);
}

/* A lock is watched by itself only while its next beat must be seen at once; an active one's beats cost nothing. */
bool beat_matters(const struct lease *l)
{
	return !l->lock_lost && (l->state == ST_IDLE || l->state == ST_HIBERNATING || l->state == ST_HIBERNATED ||
				 l->state == ST_RESUMING || l->state == ST_LINGERING || (l->state == ST_ACTIVE && l->warned));
}

static void arm(struct watcher *w, struct entry *e)
{
	bool want = (beat_matters(&e->l) || (e->silent && !e->l.lock_lost)) && e->place == AT_ACTIVE;

	if (!want && (e->watched || e->polled)) {
		if (e->watched && w->watch)
			watch_unlock(w->watch, e->l.id);
		e->watched = e->polled = false;
		degraded_lock(w, e, 0);
	}
	if (!want || e->watched)
		return;
	int r = w->watch ? watch_lock(w->watch, w->house.tree.active, e->l.name, e->l.id) : -ENOSPC;
	if (r == 0) {
		e->watched = true;
		e->polled = w->hearing.locks_too;
		degraded_lock(w, e, 0);
		/* What was beaten between the last look and the watch made no event. */
		look_at_lock(w, e);
	} else {
		e->polled = true;
		degraded_lock(w, e, w->watch ? -r : 0);
	}
}

static void judge(struct watcher *w, struct entry *e)
{
	struct lease *l = &e->l;
	struct verdict v = { .look_at = LEASE_NEVER };

	if (l->state == ST_REQUESTED) {
		admit_wait(w, e);
		return;
	}
	int64_t silent_from = breaker_look(w, e);
	struct judge j = w->judge;

	j.breaker = breaker_of(w, e);
	/* Each event moves the state or a mark, or is held up; the bound is for a mistake of ours. */
	for (int i = 0; i < 16 && !w->broken && !state_ended(l->state) && e->retry <= w->now.mono; i++) {
		lease_verdict(l, &j, w->now.mono, &v);
		if (v.want_cpu && e->unplaced) {
			/* Neither use nor silence: judged when it is known where to look. */
			engine_asked(w, e);
			break;
		}
		if (v.want_cpu) {
			bool broken = l->cpu_broken;
			int64_t usage = read_cpu(e);
			if (usage < 0 && engine_drives(e)) {
				/* It may not be there any more, or be where only its runtime can look. */
				free(e->cgroup);
				e->cgroup = NULL;
				e->tree = (struct lease_process){ 0 };
				engine_asked(w, e);
				break;
			}
			bool use = lease_saw_cpu(l, &w->judge, w->now.mono, usage);
			if (l->cpu_broken && !broken)
				log_warn("%s: its CPU use cannot be read: counted as use", l->id);
			if (use)
				step(w, e, EV_USE, w->now.mono, l->cpu_broken ? "cpu cannot be read: counts as use" : "cpu used");
			continue;
		}
		if (v.warn) {
			l->warned = true;
			e->view_dirty = true;
			entry_changed(w, e);
			log_info("%s expires soon: no renewal for a while (uid %u)", l->id, l->uid);
			session_warn(w, e);
			continue;
		}
		if (v.event == EV_NONE)
			break;
		if ((v.event == EV_IDLE_DUE || v.event == EV_HIBERNATE_DUE) && engine_net_first(w, e, &v.look_at))
			break;
		if (v.event == EV_EXPIRY_DUE && l->state != ST_LINGERING) {
			enum breaker_says says = breaker_ask(w, e);
			if (says == BREAKER_WAIT) {
				v.look_at = w->now.mono + 1; /* in the next turn */
				break;
			}
			if (says == BREAKER_HOLD) {
				j.breaker = breaker_of(w, e);
				continue;
			}
		}
		if (v.event == EV_BREAKER && !runtime_hibernates(w, l->policy.runtime)) {
			l->spared = true; /* only held */
			continue;
		}
		step(w, e, v.event, w->now.mono, v.why);
	}
	if (v.held != e->held) {
		e->held = v.held;
		e->view_dirty = true;
		entry_changed(w, e);
	}
	if (e->misshown) {
		e->view_dirty = true;
		entry_changed(w, e);
	}
	if (state_ended(l->state))
		return;
	arm(w, e);
	if (silent_from < v.look_at)
		v.look_at = silent_from;
	if (e->retry > w->now.mono && e->retry < v.look_at)
		v.look_at = e->retry;
	if (e->follow_at < v.look_at && state_living(l->state))
		v.look_at = e->follow_at;
	entry_due(w, e, e->polled && v.look_at > w->now.mono + POLL ? w->now.mono + POLL : v.look_at);
	entry_dozes(w, e);
}

void look(struct watcher *w, struct entry *e)
{
	enum state before = e->l.state;

	if (e->follow_at <= w->now.mono && state_living(e->l.state))
		life_follow(w, e);
	look_at_lock(w, e);
	if (e->l.record.session[0] && state_living(e->l.state))
		session_look(w, e);
	if (e->l.record.is_session && e->l.leader_alive && e->leader.fd < 0 && state_living(e->l.state))
		session_lost_leader(w, e); /* the last answer was none */
	judge(w, e);
	/* arm() may have seen one more beat: then what was judged is old. */
	if (e->l.state != before && !state_ended(e->l.state))
		judge(w, e);
}

static bool may_peek(const struct watcher *w, int64_t due, int64_t renew_grace)
{
	return due - w->now.mono <= renew_grace / PEEK_PART;
}

static void peek_awake(struct watcher *w, int64_t until)
{
	struct entry *e = entry_first_due(w), *next;

	for (int i = 0; i < WATCHER_SLICE && e && e->due <= until && !w->broken; i++, e = next) {
		next = entry_next_due(e);
		if (e->l.state != ST_ACTIVE || e->peeked == e->due || !may_peek(w, e->due, e->l.policy.renew_grace))
			continue;
		e->peeked = e->due;
		look(w, e);
	}
}

static void peek_at_rest(struct watcher *w, int64_t until)
{
	struct heap_node aside[WATCHER_SLICE];
	const struct heap_node *first;
	int n = 0;

	for (int i = 0; i < WATCHER_SLICE && (first = heap_first(&w->rests.peeks)) != NULL && first->due <= until; i++) {
		if (w->broken)
			return;
		if (may_peek(w, first->due, rests_terms(&w->rests, first->item)->renew_grace)) {
			look_at_rest(w, first->item);
			continue;
		}
		aside[n++] = *first;
		rests_due(&w->rests, first->item, LEASE_NEVER, false);
	}
	while (n-- > 0)
		rests_due(&w->rests, aside[n].item, aside[n].due, false);
}

/* A lease that is known to be due does not wait for those that only may be: these are looked at in a slice of their own. */
static int look_at_exact(struct watcher *w)
{
	int i;

	for (i = 0; i < WATCHER_SLICE && !w->broken; i++) {
		struct entry *e = entry_first_due(w);
		const struct heap_node *rest = heap_first(&w->rests.exact);
		int64_t due = e ? e->due : LEASE_NEVER;

		if (rest && rest->due < due) {
			if (rest->due > w->now.mono)
				break;
			look_at_rest(w, rest->item);
			continue;
		}
		if (!e || due > w->now.mono)
			break;
		entry_due(w, e, LEASE_NEVER);
		look(w, e);
	}
	return i;
}

static int look_at_peeks(struct watcher *w)
{
	const struct heap_node *rest;
	int i;

	for (i = 0; i < WATCHER_SLICE && !w->broken; i++) {
		rest = heap_first(&w->rests.peeks);
		if (!rest || rest->due > w->now.mono)
			break;
		look_at_rest(w, rest->item);
	}
	return i;
}

/* Something was decided in this turn: it is written down and done before others are looked at; for one turn, not for ever. */
static bool put_off_peeks(struct watcher *w)
{
	bool put_off = !LIST_EMPTY(&w->changed) && (w->peeks_put_off == 0 || w->peeks_put_off == w->now.mono);

	w->peeks_put_off = put_off ? w->now.mono : 0;
	return put_off;
}

/*
 * A wake-up costs more than many looks, so one that had to be serves those that would come soon: active leases
 * are looked at ahead of their time, once. Most were beaten, and are due much later then; one that was not
 * keeps its time, to the tick.
 */
void look_at_due(struct watcher *w)
{
	int n;

	breaker_tick(w);
	n = look_at_exact(w);
	if (put_off_peeks(w))
		return;
	n += look_at_peeks(w);
	if (n > 0 && !w->broken && !put_off_peeks(w)) {
		peek_awake(w, w->now.mono + PEEK_AHEAD);
		peek_at_rest(w, w->now.mono + PEEK_AHEAD);
	}
}
