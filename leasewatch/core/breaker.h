/*
 * core/breaker.h: mass silence. When most sessions fall silent together, it is more likely that the judge cannot
 * hear than that all of them died: so none is reaped for it, for a bounded time, and somebody is called. Pure:
 * what was counted and `now` go in.
 *
 * Who calls: leasewatch/breaker.c counts, and asks breaker_trips() before the first lease ends by silence. The
 * verdict (core/lease.c) asks breaker_holds() of each one that is due by silence; nothing else is ever held.
 *
 * A silence is held once. `spent` is what remembers it: whose ttl was over before that has had its hold, or was
 * let go by hand; it is neither held nor counted again. So a lease ends at most one `hold` later than it would
 * have, however often the breaker trips and whoever makes it trip.
 */
#ifndef CORE_BREAKER_H
#define CORE_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct breaker_rule { /* [breaker] */
	int64_t share;	 /* millionths of the sessions; more than that */
	int64_t minimum; /* and at least so many */
	int64_t window, hold; /* ns */
};

struct breaker_count {
	int64_t silent; /* sessions that would end by silence within one window, or did within the last */
	int64_t living; /* all that live, and those of silent that have ended */
};

/* All times are ns on CLOCK_MONOTONIC. */
struct breaker {
	int64_t at;    /* the last trip; 0 = none yet */
	int64_t until; /* tripped until then; 0 = not tripped */
	int64_t ended; /* the end of the last trip; 0 = not yet, or none */
	int64_t spent; /* whose ttl was over by then is neither held nor counted again */
	int64_t from;  /* `spent` as it was at the last trip: whose ttl was over later was held by it */
	struct breaker_count count; /* what it tripped for */
	int64_t of;    /* the uid whose sessions these are; -1 = all users' */
	int64_t by;    /* the uid that let the last one go; -1 = nobody, it was over by itself */
};

bool breaker_trips(const struct breaker *b, const struct breaker_rule *r, const struct breaker_count *c, int64_t now);
/*
 * A trip for all users must stand without any one of them, or that one could put off the ends of the others: most is
 * what whoever has most of the silent sessions adds. For a user's own the user's count is asked by breaker_trips.
 */
bool breaker_trips_for_all(const struct breaker *b, const struct breaker_rule *r, const struct breaker_count *c,
			   const struct breaker_count *most, int64_t now);
/*
 * Begun a moment ago, not all have been looked at: whether it is plain from a sample that they are not silent in masses.
 * Half of what would trip it, in a thousand.
 */
bool breaker_plainly_not(const struct breaker_rule *r, int64_t silent, int64_t looked);
void breaker_trip(struct breaker *b, const struct breaker_rule *r, const struct breaker_count *c, int64_t now);
/* What a lease is held by: its user's, or the one for all. What either has spent is spent. */
struct breaker breaker_over_both(const struct breaker *users, const struct breaker *all, int64_t now);
/* True when a trip has just ended: its time was over. */
bool breaker_over(struct breaker *b, const struct breaker_rule *r, int64_t now);
/* All that were silent are heard again: nothing is spent. */
void breaker_calm(struct breaker *b, int64_t now);
/* Somebody knows, and lets reaping go on: what falls due within a window was silent when they said so. */
void breaker_release(struct breaker *b, const struct breaker_rule *r, int64_t now, int64_t by);
/* What is due now was held by other means (klease hold) for as long as a person wanted. */
void breaker_excuse(struct breaker *b, int64_t now);
/* The daemon was away for so long: leases were credited that time, so who was spent stays so. A hold is not made longer. */
void breaker_restarted(struct breaker *b, int64_t away);

/* Whether a lease whose ttl is over at `expires` is one that counts, and that a trip holds. */
bool breaker_counts(const struct breaker *b, int64_t expires);
/* Whether it is held now; false when it is not tripped. */
bool breaker_holds(const struct breaker *b, int64_t expires, int64_t now);
/* Whether the last trip, over by now, had held it. */
bool breaker_held(const struct breaker *b, int64_t expires);

struct lease;
/*
 * From when on it counts as silent: one window before its end, but not before half of its ttl is over. Whoever
 * beats twice a ttl or more is so never taken for silent, however long the window. LEASE_NEVER: it ends by no
 * silence (a life renews it, it lingers, it is over).
 */
int64_t breaker_silent_from(const struct breaker_rule *r, const struct lease *l);

#define BREAKER_WORDS 80
/* "8 of 9 sessions silent", "8 of 9 sessions of uid 1000 silent" */
void breaker_words(const struct breaker *b, char buf[BREAKER_WORDS]);

#endif
