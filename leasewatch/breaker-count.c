/*
 * breaker-count.c: counts, so that breaker.c can tell mass silence before the first of it is reaped.
 *
 * What is counted is kept as it changes, and asking costs nothing that grows with the leases: a lease that is
 * silent (breaker_silent_from) is marked at the look that finds it so, which is one window before its end, and
 * unmarked by the step that renews or ends it. Its lock is watched meanwhile. So the number of those who would end
 * within one window is there at any time. A `party` is what counts as one session: a session with all that is
 * bound to it, or a lease that is bound to none. There is one in memory only while it is silent, was so lately, or
 * has leases bound to it.
 *
 * All is counted a user, too.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "watcher.h"

struct party {
	struct user *user;
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
	if (a->user->uid != b->user->uid)
		return a->user->uid < b->user->uid ? -1 : 1;
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
	struct party key = { .user = e->user };

	memcpy(key.id, is_bound(e) ? e->l.record.session : e->l.id, sizeof(key.id));
	return RB_FIND(parties, &w->silence.parties, &key);
}

static void add(struct watcher *w, struct user *u, int silent, int living)
{
	w->silence.count.silent += silent;
	w->silence.count.living += living;
	u->silence.silent += silent;
	u->silence.living += living;
}

/* What a party adds to the sums: taken out before it changes, put in after. */
static void sums(struct watcher *w, const struct party *p, int by)
{
	bool silent = p->silent > 0 || p->over != 0;
	/* One that lives itself is counted without its party. */
	bool living = !p->self && (p->bound > 0 || p->over != 0);

	add(w, p->user, silent ? by : 0, living ? by : 0);
}

static struct party *party_get(struct watcher *w, const struct entry *e)
{
	struct party *p = party_find(w, e);

	if (!p) {
		const struct entry *s = is_bound(e) ? entry_find(w, e->l.record.session) : e;

		if (!(p = calloc(1, sizeof(*p))))
			return NULL;
		p->user = e->user;
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
	e->user->silents++;
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
	e->user->silents--;
}

struct breaker breaker_of(const struct watcher *w, const struct entry *e)
{
	return breaker_over_both(&e->user->breaker, &w->judge.breaker, w->now.mono);
}

bool breaker_counted(const struct watcher *w, const struct entry *e, int64_t expires)
{
	return breaker_counts(&w->judge.breaker, expires) && breaker_counts(&e->user->breaker, expires);
}

static int64_t silent_from(const struct watcher *w, const struct entry *e)
{
	int64_t from = breaker_silent_from(breaker_rule(w), &e->l);

	return from == LEASE_NEVER || !breaker_counted(w, e, lease_expires(&e->l)) ? LEASE_NEVER : from;
}

int64_t breaker_look(struct watcher *w, struct entry *e)
{
	int64_t from = silent_from(w, e);

	if (from <= w->now.mono)
		mark(w, e);
	else
		unmark(w, e);
	return from > w->now.mono ? from : LEASE_NEVER;
}

int64_t breaker_look_at_rest(struct watcher *w, const struct lease *l)
{
	int64_t from = breaker_silent_from(breaker_rule(w), l);
	struct user *u;

	if (from > w->now.mono || (u = user_get(w, l->uid)) == NULL)
		return from;
	/* What has had its hold is woken by its end. */
	bool counts = breaker_counts(&w->judge.breaker, lease_expires(l)) && breaker_counts(&u->breaker, lease_expires(l));
	return counts ? from : LEASE_NEVER;
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

void breaker_forget(struct watcher *w, const struct user *u, int64_t before)
{
	struct party *p, *next;

	for (p = TAILQ_FIRST(&w->silence.ended); p && p->over <= before; p = next) {
		next = TAILQ_NEXT(p, ended);
		if (u && p->user != u)
			continue;
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

void breaker_count_at_rest(struct watcher *w, struct user *u)
{
	add(w, u, 0, 1);
}

void breaker_count(struct watcher *w, struct entry *e)
{
	bool lives = may_fall_silent(e->l.state);

	if (lives == e->counted)
		return;
	if (!is_bound(e)) {
		e->counted = lives;
		add(w, e->user, 0, lives ? 1 : -1);
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

void breaker_stepped(struct watcher *w, struct entry *e, enum event ev, int64_t expires)
{
	bool by_silence = ev == EV_EXPIRY_DUE && e->counted && breaker_counted(w, e, expires);

	if (silent_from(w, e) > w->now.mono)
		unmark(w, e);
	if (by_silence)
		ended(w, e);
	breaker_count(w, e);
}

void breaker_recount(struct watcher *w, const struct user *u)
{
	struct entry *e, *next;

	for (e = TAILQ_FIRST(&w->silence.leases); e; e = next) {
		next = TAILQ_NEXT(e, silents);
		if (u && e->user != u)
			continue;
		if (silent_from(w, e) == LEASE_NEVER)
			unmark(w, e);
		entry_due(w, e, w->now.mono);
	}
	breaker_forget(w, u, w->now.mono);
}
