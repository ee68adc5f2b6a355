/*
 * breaker.c: counts, so that core/breaker.c can tell mass silence before the first of it is reaped.
 *
 * What is counted is kept as it changes, and asking costs nothing that grows with the leases: a lease that is
 * silent (breaker_silent_from) is marked at the look that finds it so, which is one window before its end, and
 * unmarked by the step that renews or ends it. Its lock is watched meanwhile. So the number of those who would end
 * within one window is there at any time. A `party` is what counts as one session: a session with all that is
 * bound to it, or a lease that is bound to none. There is one in memory only while it is silent, was so lately, or
 * has leases bound to it.
 *
 * Only when that number would trip are the locks of the silent looked at afresh, WATCHER_SLICE in a turn; who asked
 * waits for it. Those that were beaten since are unmarked by that look.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/log.h"
#include "watcher.h"

#define KEY "breaker" /* in the registry's meta */

struct party {
	uint32_t uid;
	char id[LEASE_ID_SIZE]; /* the session's, or the lease's own */
	int bound;    /* living leases that are bound to it */
	int silent;   /* marked leases of it */
	bool self;    /* that session lives itself */
	int64_t over; /* mono; when one of it last ended by silence; 0 = none within a window */
	RB_ENTRY(party) by_key;
	TAILQ_ENTRY(party) ended;
};

static int cmp_party(const struct party *a, const struct party *b)
{
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return strcmp(a->id, b->id);
}

RB_PROTOTYPE(parties, party, by_key, cmp_party);
RB_GENERATE(parties, party, by_key, cmp_party)

/* It may end by silence: what lingers has lost its session, which is proof. */
static bool may_fall_silent(enum state s)
{
	return state_living(s) && s != ST_LINGERING;
}

static bool is_bound(const struct entry *e)
{
	return !e->l.record.is_session && e->l.record.session[0];
}

static struct party *party_find(struct watcher *w, const struct entry *e)
{
	struct party key = { .uid = e->l.uid };

	memcpy(key.id, is_bound(e) ? e->l.record.session : e->l.id, sizeof(key.id));
	return RB_FIND(parties, &w->silence.parties, &key);
}

/* What a party adds to the sums: taken out before it changes, put in after. */
static void sums(struct watcher *w, const struct party *p, int by)
{
	if (p->silent > 0 || p->over != 0)
		w->silence.count.silent += by;
	/* One that lives itself is counted without its party. */
	if (!p->self && (p->bound > 0 || p->over != 0))
		w->silence.count.living += by;
}

static struct party *party_get(struct watcher *w, const struct entry *e)
{
	struct party *p = party_find(w, e);

	if (!p) {
		const struct entry *s = is_bound(e) ? entry_find(w, e->l.record.session) : e;

		if (!(p = calloc(1, sizeof(*p))))
			return NULL;
		p->uid = e->l.uid;
		memcpy(p->id, is_bound(e) ? e->l.record.session : e->l.id, sizeof(p->id));
		p->self = s && s->l.uid == e->l.uid && s->counted && !is_bound(s);
		RB_INSERT(parties, &w->silence.parties, p);
	}
	sums(w, p, -1);
	return p;
}

static void party_put(struct watcher *w, struct party *p)
{
	sums(w, p, 1);
	if (p->bound > 0 || p->silent > 0 || p->over != 0)
		return;
	RB_REMOVE(parties, &w->silence.parties, p);
	free(p);
}

/* --- the marks --- */

static void mark(struct watcher *w, struct entry *e)
{
	struct party *p = e->silent ? NULL : party_get(w, e);

	if (!p)
		return; /* marked, or no memory: then it is one less that is counted */
	p->silent++;
	party_put(w, p);
	e->silent = p;
	TAILQ_INSERT_TAIL(&w->silence.leases, e, silents);
	w->silence.n++;
}

static void unmark(struct watcher *w, struct entry *e)
{
	struct party *p = e->silent;

	if (!p)
		return;
	sums(w, p, -1);
	p->silent--;
	party_put(w, p);
	e->silent = NULL;
	TAILQ_REMOVE(&w->silence.leases, e, silents);
	w->silence.n--;
}

static const struct breaker_rule *rule(const struct watcher *w)
{
	return &settings_daemon(w->settings)->breaker;
}

static int64_t silent_from(const struct watcher *w, const struct lease *l)
{
	int64_t from = breaker_silent_from(rule(w), l);

	return from == LEASE_NEVER || !breaker_counts(&w->judge.breaker, lease_expires(l)) ? LEASE_NEVER : from;
}

int64_t breaker_look(struct watcher *w, struct entry *e)
{
	int64_t from = silent_from(w, &e->l);

	if (from <= w->now.mono)
		mark(w, e);
	else
		unmark(w, e);
	return from > w->now.mono ? from : LEASE_NEVER;
}

static void ended(struct watcher *w, struct entry *e)
{
	struct party *p = party_get(w, e);

	if (!p)
		return;
	if (p->over != 0)
		TAILQ_REMOVE(&w->silence.ended, p, ended);
	p->over = w->now.mono;
	TAILQ_INSERT_TAIL(&w->silence.ended, p, ended);
	party_put(w, p);
}

static void forget_ended(struct watcher *w, int64_t before)
{
	struct party *p;

	while ((p = TAILQ_FIRST(&w->silence.ended)) != NULL && p->over <= before) {
		TAILQ_REMOVE(&w->silence.ended, p, ended);
		sums(w, p, -1);
		p->over = 0;
		party_put(w, p);
	}
}

/* A session that begins or ends where leases of it are known already. */
static void self(struct watcher *w, struct entry *e, bool lives)
{
	struct party *p = party_find(w, e);

	if (!p)
		return;
	sums(w, p, -1);
	p->self = lives;
	party_put(w, p);
}

/* It counts among the living from now on, or no longer. */
static void count(struct watcher *w, struct entry *e, bool lives)
{
	if (lives == e->counted)
		return;
	if (!is_bound(e)) {
		e->counted = lives;
		w->silence.count.living += lives ? 1 : -1;
		self(w, e, lives);
		return;
	}
	struct party *p = lives ? party_get(w, e) : party_find(w, e);
	if (!p)
		return; /* no memory */
	if (!lives)
		sums(w, p, -1);
	e->counted = lives;
	p->bound += lives ? 1 : -1;
	party_put(w, p);
}

void breaker_taken_up(struct watcher *w, struct entry *e)
{
	count(w, e, may_fall_silent(e->l.state));
}

void breaker_stepped(struct watcher *w, struct entry *e, enum event ev, int64_t expires)
{
	bool by_silence = ev == EV_EXPIRY_DUE && e->counted && breaker_counts(&w->judge.breaker, expires);

	if (silent_from(w, &e->l) > w->now.mono)
		unmark(w, e);
	if (by_silence)
		ended(w, e);
	count(w, e, may_fall_silent(e->l.state));
}

/* --- tripping, and letting go --- */

static void store(struct watcher *w)
{
	const struct breaker *b = &w->judge.breaker;
	char value[256];

	(void)snprintf(value, sizeof(value), "%lld %lld %lld %lld %lld %lld %lld %lld %s", (long long)b->at, (long long)b->until,
		       (long long)b->ended, (long long)b->spent, (long long)b->from, (long long)b->count.silent,
		       (long long)b->count.living, (long long)b->by, w->boot);
	if (registry_set(w->registry, KEY, value) < 0)
		log_err("the breaker's state cannot be stored (%s): a restart would forget it", registry_error(w->registry));
	beacon_write(w);
}

/* Another boot's times mean nothing, and its processes are gone. */
static bool parse(struct watcher *w, const char *value, struct breaker *ret)
{
	struct breaker b;
	int64_t *const to[] = { &b.at,	&b.until, &b.ended, &b.spent, &b.from, &b.count.silent, &b.count.living, &b.by };
	char *end;

	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		*to[i] = strtoll(value, &end, 10);
		if (end == value || *end != ' ')
			return false;
		value = end + 1;
	}
	if (strcmp(value, w->boot) != 0)
		return false;
	*ret = b;
	return true;
}

void breaker_load(struct watcher *w, int64_t away)
{
	char value[256], words[BREAKER_WORDS];

	w->silence.unseen = w->now.mono;
	if (registry_get(w->registry, KEY, value, sizeof(value)) < 0 || !parse(w, value, &w->judge.breaker))
		return;
	breaker_restarted(&w->judge.breaker, away);
	breaker_words(&w->judge.breaker, words);
	if (w->judge.breaker.until > w->now.mono)
		log_err("the breaker has tripped (%s): no silent lease is reaped until it lets go", words);
}

/* Who is spent counts no longer; all of the silent are judged anew. */
static void let_go(struct watcher *w)
{
	struct entry *e, *next;

	for (e = TAILQ_FIRST(&w->silence.leases); e; e = next) {
		next = TAILQ_NEXT(e, silents);
		if (silent_from(w, &e->l) == LEASE_NEVER)
			unmark(w, e);
		entry_due(w, e, w->now.mono);
	}
	forget_ended(w, w->now.mono);
	store(w);
}

static bool all_seen(struct watcher *w)
{
	struct entry *first = entry_first_due(w);

	if (w->silence.unseen != 0 && (!first || first->due > w->silence.unseen))
		w->silence.unseen = 0;
	return w->silence.unseen == 0;
}

void breaker_tick(struct watcher *w)
{
	struct breaker *b = &w->judge.breaker;
	char words[BREAKER_WORDS];

	if (b->until == 0)
		return;
	breaker_words(b, words);
	if (breaker_over(b, rule(w), w->now.mono)) {
		log_err("the breaker's hold is over (%s): what is still silent is reaped now", words);
		let_go(w);
	} else if (w->silence.n == 0 && all_seen(w)) {
		breaker_calm(b, w->now.mono);
		log_err("the breaker is closed again (%s): all that live are heard", words);
		let_go(w);
	}
}

bool breaker_let_go(struct watcher *w, uint32_t uid)
{
	if (w->judge.breaker.until == 0)
		return false;
	breaker_release(&w->judge.breaker, rule(w), w->now.mono, uid);
	log_err("the breaker was let go by uid %u: what is silent is reaped now", uid);
	let_go(w);
	return true;
}

void breaker_hold_over(struct watcher *w)
{
	/* One that has tripped since is another matter. */
	if (w->judge.breaker.until != 0)
		return;
	breaker_excuse(&w->judge.breaker, w->now.mono);
	let_go(w);
}

static void trip(struct watcher *w)
{
	const struct breaker_rule *r = rule(w);
	char words[BREAKER_WORDS], window[LEASE_DURATION_SIZE], hold[LEASE_DURATION_SIZE];

	breaker_trip(&w->judge.breaker, r, &w->silence.count, w->now.mono);
	breaker_words(&w->judge.breaker, words);
	lease_duration_human(window, r->window);
	lease_duration_human(hold, r->hold);
	log_err("BREAKER: %s within %s, and nothing proves them dead: for %s they are hibernated and held, not reaped. "
		"See what keeps their beats away; if they are gone: klease breaker --release",
		words, window, hold);
	store(w);
}

/* A slice of the silent is looked at afresh; true when all were, since the question came up. */
static bool fresh(struct watcher *w, const struct entry *asks)
{
	struct silence *s = &w->silence;

	if (s->fresh_at == w->now.mono)
		return s->left == 0; /* one slice a turn */
	s->fresh_at = w->now.mono;
	if (s->left == 0)
		s->left = s->n;
	for (int i = 0; i < WATCHER_SLICE && s->left > 0; i++, s->left--) {
		struct entry *e = TAILQ_FIRST(&s->leases);

		if (!e)
			break;
		TAILQ_REMOVE(&s->leases, e, silents);
		TAILQ_INSERT_TAIL(&s->leases, e, silents);
		if (e == asks)
			continue; /* it was looked at just now */
		look_at_lock(w, e);
		if (e->l.record.session[0] && state_living(e->l.state))
			session_look(w, e);
		(void)breaker_look(w, e);
	}
	if (s->n == 0)
		s->left = 0;
	return s->left == 0;
}

enum breaker_says breaker_ask(struct watcher *w, const struct entry *e)
{
	const struct breaker *b = &w->judge.breaker;

	if (!breaker_counts(b, lease_expires(&e->l)))
		return BREAKER_REAP; /* it has had its hold */
	if (!all_seen(w))
		return BREAKER_WAIT; /* who else is silent is not known yet */
	forget_ended(w, w->now.mono - rule(w)->window);
	if (!breaker_trips(b, rule(w), &w->silence.count, w->now.mono)) {
		w->silence.left = 0;
		return BREAKER_REAP;
	}
	if (!fresh(w, e))
		return BREAKER_WAIT;
	if (!breaker_trips(b, rule(w), &w->silence.count, w->now.mono))
		return BREAKER_REAP;
	trip(w);
	return BREAKER_HOLD;
}
