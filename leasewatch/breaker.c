/*
 * breaker.c: mass silence is held. It trips before the first of it is reaped, is told of, and lets go: when its time is
 * over, by hand, or when all are heard again. core/breaker.c decides; breaker-count.c has counted.
 *
 * Where one user's sessions fall silent in masses, that user's are held; everybody's are only where it stands without
 * any one user: nobody makes the ends of others late by falling silent on purpose.
 *
 * Only when it would trip are the locks of the silent looked at afresh, WATCHER_SLICE in a turn; who asked waits for
 * it. Those that were beaten since are counted no longer by that look.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/log.h"
#include "watcher.h"

#define KEY "breaker" /* in the registry's meta; a user's own: and the uid */
#define KEY_SIZE 32

const struct breaker_rule *breaker_rule(const struct watcher *w)
{
	return &settings_daemon(w->settings)->breaker;
}

static struct breaker *breaker_at(struct watcher *w, struct user *u)
{
	return u ? &u->breaker : &w->judge.breaker;
}

static void key_of(char key[KEY_SIZE], const struct user *u)
{
	(void)snprintf(key, KEY_SIZE, u ? KEY " %u" : KEY, u ? u->uid : 0);
}

/* What is told of all that have tripped: the one for all users, or that of most sessions; and when the next one ends. */
static void survey(struct watcher *w)
{
	const struct breaker *most = &w->judge.breaker;
	int64_t next = most->until != 0 ? most->until : LEASE_NEVER;
	int n = most->until != 0;

	for (struct user *u = user_next(w, NULL); u; u = user_next(w, u)) {
		if (u->breaker.until == 0)
			continue;
		n++;
		if (most->until == 0 || (most != &w->judge.breaker && u->breaker.count.silent > most->count.silent))
			most = &u->breaker;
		if (u->breaker.until < next)
			next = u->breaker.until;
	}
	w->silence.tripped = n;
	w->silence.next = next;
	w->silence.shown = n > 0 ? most : NULL;
	beacon_write(w);
}

static void store(struct watcher *w, struct user *u)
{
	const struct breaker *b = breaker_at(w, u);
	char key[KEY_SIZE], value[256];

	(void)snprintf(value, sizeof(value), "%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %s", (long long)b->at,
		       (long long)b->until, (long long)b->ended, (long long)b->spent, (long long)b->from,
		       (long long)b->count.silent, (long long)b->count.living, (long long)b->of, (long long)b->by,
		       (long long)w->away, w->boot);
	key_of(key, u);
	if (registry_set(w->registry, key, value) < 0)
		log_err("the breaker's state cannot be stored (%s): a restart would forget it", registry_error(w->registry));
}

/* Another boot's times mean nothing, and its processes are gone. */
static bool parse(struct watcher *w, const char *value, struct breaker *ret)
{
	struct breaker b;
	int64_t away;
	int64_t *const to[] = { &b.at, &b.until, &b.ended, &b.spent, &b.from, &b.count.silent, &b.count.living, &b.of, &b.by,
				&away };
	char *end;

	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		*to[i] = strtoll(value, &end, 10);
		if (end == value || *end != ' ')
			return false;
		value = end + 1;
	}
	if (strcmp(value, w->boot) != 0)
		return false;
	/* No lease was credited more than that, and who fell silent since is to be held. */
	breaker_restarted(&b, w->away - away < one_grace(w) ? w->away - away : one_grace(w));
	*ret = b;
	return true;
}

static void load(struct watcher *w, struct user *u)
{
	char key[KEY_SIZE], value[256], words[BREAKER_WORDS];
	struct breaker *b = breaker_at(w, u);

	key_of(key, u);
	if (registry_get(w->registry, key, value, sizeof(value)) < 0 || !parse(w, value, b))
		return;
	breaker_words(b, words);
	if (b->until > w->now.mono)
		log_err("the breaker has tripped (%s): they are held until it lets go", words);
	survey(w);
}

void breaker_load(struct watcher *w)
{
	w->silence.unseen = w->now.mono;
	load(w, NULL);
}

void breaker_taken_up(struct watcher *w, struct user *u, struct entry *e)
{
	if (u->leases == 1) /* the first of theirs */
		load(w, u);
	if (e)
		breaker_count(w, e);
	else
		breaker_count_at_rest(w, u);
}

static void let_go(struct watcher *w, struct user *u)
{
	breaker_recount(w, u);
	store(w, u);
}

static bool all_seen(struct watcher *w)
{
	struct entry *first = entry_first_due(w);

	if (w->silence.unseen != 0 && (!first || first->due > w->silence.unseen) &&
	    rests_first_due(&w->rests) > w->silence.unseen)
		w->silence.unseen = 0;
	return w->silence.unseen == 0;
}

static bool tick(struct watcher *w, struct user *u)
{
	struct breaker *b = breaker_at(w, u);
	char words[BREAKER_WORDS];

	if (b->until == 0)
		return false;
	breaker_words(b, words);
	if (breaker_over(b, breaker_rule(w), w->now.mono)) {
		log_err("the breaker's hold is over (%s): what is still silent is reaped now", words);
	} else if ((u ? u->silents : w->silence.n) == 0 && all_seen(w)) {
		breaker_calm(b, w->now.mono);
		log_err("the breaker is closed again (%s): all that live are heard", words);
	} else {
		return false;
	}
	let_go(w, u);
	return true;
}

void breaker_tick(struct watcher *w)
{
	bool any;

	if (w->silence.tripped == 0)
		return;
	any = tick(w, NULL);
	for (struct user *u = user_next(w, NULL); u; u = user_next(w, u))
		any = tick(w, u) || any;
	if (any)
		survey(w);
}

static bool release(struct watcher *w, struct user *u, uint32_t by)
{
	struct breaker *b = breaker_at(w, u);

	if (b->until == 0)
		return false;
	breaker_release(b, breaker_rule(w), w->now.mono, by);
	let_go(w, u);
	return true;
}

bool breaker_let_go(struct watcher *w, uint32_t by)
{
	bool any = release(w, NULL, by);

	for (struct user *u = user_next(w, NULL); u; u = user_next(w, u))
		any = release(w, u, by) || any;
	if (!any)
		return false;
	log_err("the breaker was let go by uid %u: what is silent is reaped now", by);
	survey(w);
	return true;
}

void breaker_hold_over(struct watcher *w)
{
	/* One that has tripped since is another matter. */
	if (w->silence.tripped > 0)
		return;
	breaker_excuse(&w->judge.breaker, w->now.mono);
	let_go(w, NULL);
}

static void trip(struct watcher *w, struct user *u)
{
	const struct breaker_rule *r = breaker_rule(w);
	struct breaker *b = breaker_at(w, u);
	char words[BREAKER_WORDS], window[LEASE_DURATION_SIZE], hold[LEASE_DURATION_SIZE];

	breaker_trip(b, r, u ? &u->silence : &w->silence.count, w->now.mono);
	if (u && !w->paths.user_mode)
		b->of = u->uid;
	breaker_words(b, words);
	lease_duration_human(window, r->window);
	lease_duration_human(hold, r->hold);
	log_err("BREAKER: %s within %s, and nothing proves them dead: for %s they are hibernated and held, not reaped. "
		"See what keeps their beats away; if they are gone: klease breaker --release",
		words, window, hold);
	store(w, u);
	survey(w);
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

/* Whether it would trip for this user's (u set) or for all. */
static bool would_trip(struct watcher *w, struct user *who, struct user **ret_u)
{
	const struct breaker_count *most = NULL;

	*ret_u = NULL;
	if (!breaker_trips(&w->judge.breaker, breaker_rule(w), &w->silence.count, w->now.mono))
		goto own; /* users need not be walked for it */
	for (struct user *u = user_next(w, NULL); u; u = user_next(w, u))
		if (!most || u->silence.silent > most->silent)
			most = &u->silence;
	if (most && breaker_trips_for_all(&w->judge.breaker, breaker_rule(w), &w->silence.count, most, w->now.mono))
		return true;
own:
	*ret_u = who;
	return breaker_trips(&who->breaker, breaker_rule(w), &who->silence, w->now.mono);
}

enum breaker_says breaker_ask(struct watcher *w, const struct entry *e)
{
	struct user *u;

	if (!breaker_counted(w, e, lease_expires(&e->l)))
		return BREAKER_REAP; /* it has had its hold */
	if (!all_seen(w) && !breaker_plainly_not(breaker_rule(w), w->silence.n, w->silence.looked))
		return BREAKER_WAIT; /* who else is silent is not known yet */
	breaker_forget(w, NULL, w->now.mono - breaker_rule(w)->window);
	if (!would_trip(w, e->user, &u)) {
		w->silence.left = 0;
		return BREAKER_REAP;
	}
	if (!fresh(w, e))
		return BREAKER_WAIT;
	if (!would_trip(w, e->user, &u))
		return BREAKER_REAP;
	trip(w, u);
	return BREAKER_HOLD;
}
