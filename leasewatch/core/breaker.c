#include "core/breaker.h"

#include "core/lease.h"
#include "lease/duration.h"
#include "lease/text.h"

#define MILLION INT64_C(1000000)
#define SAMPLE 1000

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

bool breaker_trips(const struct breaker *b, const struct breaker_rule *r, const struct breaker_count *c, int64_t now)
{
	if (b->until > now)
		return false; /* once is enough */
	return c->silent >= r->minimum && c->silent * MILLION > c->living * r->share;
}

bool breaker_trips_for_all(const struct breaker *b, const struct breaker_rule *r, const struct breaker_count *c,
			   const struct breaker_count *most, int64_t now)
{
	const struct breaker_count rest = { c->silent - most->silent, c->living - most->living };

	return breaker_trips(b, r, c, now) && breaker_trips(b, r, &rest, now);
}

bool breaker_plainly_not(const struct breaker_rule *r, int64_t silent, int64_t looked)
{
	return looked >= SAMPLE && silent * 2 * MILLION < looked * r->share;
}

struct breaker breaker_over_both(const struct breaker *users, const struct breaker *all, int64_t now)
{
	/* Of two the user's comes first; whichever ends first, a silence is held once. */
	struct breaker b = users->until > now || (all->until <= now && users->ended > all->ended) ? *users : *all;

	b.spent = latest(users->spent, all->spent);
	return b;
}

void breaker_trip(struct breaker *b, const struct breaker_rule *r, const struct breaker_count *c, int64_t now)
{
	b->at = now;
	b->until = now + r->hold;
	b->ended = 0;
	b->from = b->spent;
	b->count = *c;
	b->by = b->of = -1;
}

static void end(struct breaker *b, int64_t at, int64_t spent)
{
	b->until = 0;
	b->ended = at;
	b->spent = latest(b->spent, spent);
}

bool breaker_over(struct breaker *b, const struct breaker_rule *r, int64_t now)
{
	if (b->until == 0 || now < b->until)
		return false;
	/* Whoever was counted then is not to trip it anew because the hold is shorter than the window. */
	end(b, b->until, latest(b->until, b->at + r->window));
	return true;
}

void breaker_calm(struct breaker *b, int64_t now)
{
	if (b->until != 0)
		end(b, now, b->spent);
}

void breaker_release(struct breaker *b, const struct breaker_rule *r, int64_t now, int64_t by)
{
	if (b->until == 0)
		return;
	end(b, now, now + r->window);
	b->by = by;
}

void breaker_excuse(struct breaker *b, int64_t now)
{
	b->spent = latest(b->spent, now);
}

void breaker_restarted(struct breaker *b, int64_t away)
{
	if (b->spent != 0 && away > 0)
		b->spent += away;
}

bool breaker_counts(const struct breaker *b, int64_t expires)
{
	return expires > b->spent;
}

bool breaker_holds(const struct breaker *b, int64_t expires, int64_t now)
{
	return now < b->until && breaker_counts(b, expires);
}

bool breaker_held(const struct breaker *b, int64_t expires)
{
	return b->ended != 0 && expires < b->ended && expires > b->from;
}

int64_t breaker_silent_from(const struct breaker_rule *r, const struct lease *l)
{
	int64_t expires, half = l->policy.ttl / 2;

	/* One that lingers has lost its session or leader, which is proof; one that starts has a deadline of its own. */
	if (!state_living(l->state) || l->state == ST_LINGERING || l->state == ST_STARTING)
		return LEASE_NEVER;
	expires = lease_expires(l);
	return expires == LEASE_NEVER ? LEASE_NEVER : expires - (r->window < half ? r->window : half);
}

void breaker_words(const struct breaker *b, char buf[BREAKER_WORDS])
{
	struct lease_text t;

	lease_text_begin(&t, buf, BREAKER_WORDS);
	lease_text_add_number(&t, (uint64_t)b->count.silent);
	lease_text_add(&t, " of ");
	lease_text_add_number(&t, (uint64_t)b->count.living);
	lease_text_add(&t, " sessions");
	if (b->of >= 0) {
		lease_text_add(&t, " of uid ");
		lease_text_add_number(&t, (uint64_t)b->of);
	}
	lease_text_add(&t, " silent");
}
