/*
 * core/breaker: mass silence is held, for so long and no longer, and nothing else is. A crowd of leases with one
 * judge: what the watcher keeps counted is counted here by walking them.
 */
#include "config.h"

#include <string.h>

#include "desk.h"

#define CROWD 40
#define SILENT 0 /* a rhythm: never beats again */

struct crowd {
	struct lease l[CROWD];
	int64_t every[CROWD];	/* how often each beats */
	int64_t beaten[CROWD];	/* its last beat, whether anybody has looked or not */
	int64_t reaped[CROWD];	/* when; 0 = it lives */
	int asked[CROWD];	/* hibernations that were asked for */
	int n, trips;
	struct judge j;
	struct breaker_rule r;
	int64_t now;
};

static struct crowd c;

static void set_up(int n)
{
	c = (struct crowd){ .n = n, .now = DESK_T0,
			    .r = { .share = 500000, .minimum = 5, .window = M, .hold = 5 * M } };
	c.j.observe_every = 30 * S;
	for (int i = 0; i < n; i++) {
		struct desk d;

		desk_set_up(&d);
		c.l[i] = d.l;
		c.every[i] = 30 * S;
		c.beaten[i] = c.now;
	}
}

static void look(struct lease *l, int64_t beaten)
{
	if (state_living(l->state) && beaten > l->renewed)
		lease_apply(l, EV_BEAT, beaten, c.now, c.now, "a beat");
	if (l->state == ST_RESUMING)
		lease_apply(l, EV_RESUMED, c.now, c.now, c.now, "resumed");
}

static struct breaker_count counted(void)
{
	struct breaker_count n = { 0 };

	for (int i = 0; i < c.n; i++) {
		bool recent = c.reaped[i] && c.now - c.reaped[i] < c.r.window &&
			      breaker_counts(&c.j.breaker, lease_expires(&c.l[i]));
		look(&c.l[i], c.beaten[i]);
		n.living += !c.reaped[i] || recent;
		n.silent += recent || (breaker_silent_from(&c.r, &c.l[i]) <= c.now &&
				       breaker_counts(&c.j.breaker, lease_expires(&c.l[i])));
	}
	return n;
}

/* What the watcher asks before the first of them ends. True: held. */
static bool held(int i)
{
	struct breaker_count n;

	if (!breaker_counts(&c.j.breaker, lease_expires(&c.l[i])))
		return false;
	n = counted();
	if (!breaker_trips(&c.j.breaker, &c.r, &n, c.now))
		return false;
	breaker_trip(&c.j.breaker, &c.r, &n, c.now);
	c.trips++;
	return true;
}

static void judge(int i)
{
	struct lease *l = &c.l[i];
	struct verdict v;

	look(l, c.beaten[i]);
	for (int round = 0; round < 16 && !c.reaped[i]; round++) {
		lease_verdict(l, &c.j, c.now, &v);
		l->warned = l->warned || v.warn;
		if (v.event == EV_NONE && !v.warn)
			return;
		if (v.event == EV_NONE || (v.event == EV_EXPIRY_DUE && l->state != ST_LINGERING && held(i)))
			continue;
		lease_apply(l, v.event, c.now, c.now, c.now, v.why);
		if (l->state == ST_HIBERNATING) {
			c.asked[i] += v.event == EV_BREAKER;
			lease_apply(l, EV_HIBERNATED, c.now, c.now, c.now, v.why);
		}
		if (l->state == ST_EXPIRED)
			c.reaped[i] = c.now;
	}
}

static void run(int64_t until)
{
	for (; c.now < until; c.now += S) {
		if (breaker_over(&c.j.breaker, &c.r, c.now))
			continue;
		for (int i = 0; i < c.n; i++)
			if (c.every[i] != SILENT && c.now - c.beaten[i] >= c.every[i] && !c.reaped[i])
				c.beaten[i] = c.now;
		for (int i = 0; i < c.n; i++)
			judge(i);
	}
}

static void hush(int from, int to)
{
	for (int i = from; i < to; i++)
		c.every[i] = SILENT;
}

static int reaped(void)
{
	int n = 0;

	for (int i = 0; i < c.n; i++)
		n += c.reaped[i] != 0;
	return n;
}

/* D01, A27: the judge cut off from all. */
static void it_is_decided_before_the_first_is_reaped(void **state)
{
	(void)state;
	set_up(8);
	for (int i = 0; i < 8; i++)
		c.every[i] = (20 + i) * S; /* each in its own phase */
	run(c.now + 10 * M);
	hush(0, 8);
	run(c.now + 9 * M);
	assert_int_equal(c.trips, 1);
	assert_int_equal(reaped(), 0);
	assert_int_equal(c.j.breaker.count.silent, 8);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(c.l[i].state, ST_HIBERNATED);
		assert_int_equal(c.asked[i], 1);
		assert_non_null(strstr(c.l[i].why, "8 of 8 sessions silent"));
	}
}

static void one_of_many_that_falls_silent_is_reaped_when_it_is_due(void **state)
{
	(void)state;
	set_up(20);
	run(c.now + 10 * M);
	hush(0, 1);
	run(c.beaten[0] + 5 * M + 2 * S);
	assert_int_equal(reaped(), 1);
	assert_int_equal(c.trips, 0);
}

/* Their next end lies within the window at any time. */
static void short_ttls_that_are_beaten_twice_are_never_taken_for_silent(void **state)
{
	(void)state;
	set_up(10);
	c.r.window = H;
	for (int i = 0; i < 10; i++) {
		c.l[i].policy.ttl = M;
		c.every[i] = 29 * S;
	}
	run(c.now + 10 * M);
	hush(0, 4);
	run(c.now + 2 * M);
	assert_int_equal(c.trips, 0);
	assert_int_equal(reaped(), 4);
}

static void two_sessions_that_go_are_reaped_when_they_are_due(void **state)
{
	(void)state;
	set_up(2);
	hush(0, 2);
	run(c.now + 5 * M + 2 * S);
	assert_int_equal(reaped(), 2);
	assert_int_equal(c.trips, 0);
}

static void those_with_a_longer_ttl_do_not_hide_those_that_are_due(void **state)
{
	(void)state;
	set_up(20);
	for (int i = 0; i < 8; i++)
		c.l[i].policy.ttl = H;
	hush(0, 20);
	run(c.now + 6 * M); /* 12 of 20 */
	assert_int_equal(c.trips, 1);
	assert_int_equal(c.j.breaker.count.silent, 12);
	assert_int_equal(c.j.breaker.count.living, 20);
	/* The others are another silence, an hour later: all that is left. */
	run(c.now + H);
	assert_int_equal(c.trips, 2);
	assert_int_equal(c.j.breaker.count.silent, 8);
}

/* D02: it is not stuck. */
static void after_the_hold_the_rest_is_reaped_and_it_does_not_trip_again(void **state)
{
	int64_t until;

	(void)state;
	set_up(10);
	hush(0, 10);
	run(c.now + 6 * M);
	assert_int_equal(c.trips, 1);
	until = c.j.breaker.until;
	run(until);
	assert_int_equal(reaped(), 0);
	run(until + 3 * S);
	assert_int_equal(reaped(), 10);
	assert_int_equal(c.trips, 1);
	assert_non_null(strstr(c.l[0].why, "held by the breaker, 10 of 10 sessions silent"));
	assert_null(strstr(c.l[0].why, "let go"));
}

/* D02: three of four go home, one each ten seconds. */
static void an_evening_does_not_keep_it_tripped(void **state)
{
	int64_t last;

	(void)state;
	set_up(40);
	for (int i = 0; i < 30; i++) {
		hush(i, i + 1);
		run(c.now + 10 * S);
	}
	last = c.beaten[29];
	run(last + c.l[0].policy.ttl + c.r.hold + M);
	assert_int_equal(reaped(), 30);
	assert_int_equal(c.j.breaker.until, 0);
	for (int i = 0; i < 30; i++)
		assert_true(c.reaped[i] <= c.beaten[i] + 5 * M + c.r.hold + 3 * S);
}

/* Whoever can make it trip, again and again, delays nobody's end for longer than one hold. */
static void a_silence_is_held_once_however_often_it_trips(void **state)
{
	(void)state;
	set_up(40);
	c.r.share = 100000;
	hush(0, 1);
	for (int wave = 0; wave < 6; wave++) {
		hush(1 + wave * 6, 7 + wave * 6);
		run(c.now + 2 * M);
	}
	run(c.now + 20 * M);
	assert_true(c.trips > 1);
	for (int i = 0; i < 37; i++) {
		assert_true(c.reaped[i] > c.beaten[i] + 5 * M);
		assert_true(c.reaped[i] <= c.beaten[i] + 5 * M + c.r.hold + 3 * S);
	}
}

static void a_hold_shorter_than_the_window_does_not_trip_twice_for_the_same(void **state)
{
	(void)state;
	set_up(10);
	c.r.hold = 10 * S;
	for (int i = 0; i < 10; i++)
		c.beaten[i] = c.l[i].renewed = c.now + i * 5 * S;
	hush(0, 10);
	run(c.now + 8 * M);
	assert_int_equal(c.trips, 1);
	assert_int_equal(reaped(), 10);
}

static void who_beats_again_lives_on(void **state)
{
	(void)state;
	set_up(8);
	hush(0, 8);
	run(c.now + 6 * M);
	assert_int_equal(c.l[3].state, ST_HIBERNATED);
	c.every[3] = 30 * S;
	run(c.now + 2 * S);
	assert_int_equal(c.l[3].state, ST_ACTIVE);
	run(c.now + H);
	assert_int_equal(reaped(), 7);
	assert_int_equal(c.reaped[3], 0);
	assert_int_equal(c.trips, 1);
}

static void let_go_by_hand_they_are_reaped_at_once_and_the_ledger_knows_by_whom(void **state)
{
	int64_t at;

	(void)state;
	set_up(14);
	for (int i = 8; i < 14; i++) /* silent already, due a little later */
		c.beaten[i] = c.l[i].renewed = c.now + 50 * S;
	hush(0, 14);
	run(c.now + 5 * M + 5 * S);
	assert_int_equal(c.trips, 1);
	at = c.now;
	breaker_release(&c.j.breaker, &c.r, c.now, 1000);
	run(at + 2 * S);
	assert_int_equal(reaped(), 8);
	assert_non_null(strstr(c.l[0].why, "14 of 14 sessions silent, let go by uid 1000"));
	run(at + M);
	assert_int_equal(reaped(), 14);
	assert_int_equal(c.trips, 1);
	/* Only where something is held can it be let go. */
	breaker_release(&c.j.breaker, &c.r, c.now, 0);
	assert_int_equal(c.j.breaker.by, 1000);
}

static void a_new_silence_trips_it_anew(void **state)
{
	(void)state;
	set_up(20);
	hush(0, 12);
	run(c.now + 12 * M);
	assert_int_equal(c.trips, 1);
	assert_int_equal(reaped(), 12);
	hush(12, 20);
	run(c.now + 6 * M);
	assert_int_equal(c.trips, 2);
	assert_int_equal(reaped(), 12);
}

static void it_closes_when_all_are_heard_again_and_may_trip_the_next_time(void **state)
{
	(void)state;
	set_up(8);
	hush(0, 8);
	run(c.now + 6 * M);
	for (int i = 0; i < 8; i++)
		c.every[i] = 30 * S;
	run(c.now + 2 * S);
	breaker_calm(&c.j.breaker, c.now);
	assert_int_equal(c.j.breaker.until, 0);
	hush(0, 8);
	run(c.now + 6 * M);
	assert_int_equal(c.trips, 2);
	assert_int_equal(reaped(), 0);
	assert_int_equal(c.asked[0], 2);
}

/* Proofs and limits. Release, death and stop are events of their own, which no verdict puts off. */
static void limits_and_what_lingers_are_never_held(void **state)
{
	struct verdict v;

	(void)state;
	set_up(8);
	hush(0, 8);
	c.l[0].policy.max_lifetime = 6 * M;
	c.l[1].policy.hibernated_retention = M;
	run(c.now + 5 * M + 30 * S);
	assert_int_equal(c.trips, 1);
	run(c.now + M);
	assert_int_equal(reaped(), 2);
	assert_non_null(strstr(c.l[0].why, "max_lifetime"));
	assert_non_null(strstr(c.l[1].why, "hibernated_retention"));
	for (int linger = 0; linger < 2; linger++) { /* its linger is over, and its ttl */
		c.l[2 + linger].policy.linger = linger ? D : S;
		lease_apply(&c.l[2 + linger], EV_SESSION_ORPHANED, c.now, c.now, c.now, "its session is over");
		lease_verdict(&c.l[2 + linger], &c.j, c.now + 2 * S, &v);
		assert_int_equal(v.event, linger ? EV_EXPIRY_DUE : EV_LINGER_DUE);
	}
	assert_true(c.j.breaker.until > c.now + 2 * S);
}

static void a_session_has_no_workload_and_is_only_held(void **state)
{
	(void)state;
	set_up(6);
	for (int i = 0; i < 6; i++)
		c.l[i].record.is_session = true;
	hush(0, 6);
	run(c.now + 6 * M);
	assert_int_equal(c.trips, 1);
	assert_int_equal(reaped(), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(c.asked[i], 0);
	run(c.now + 5 * M);
	assert_int_equal(reaped(), 6);
}

/* Nor is the next look later than its end (I2), for any of them. */
static void a_hibernation_that_failed_is_not_tried_again_in_the_same_silence(void **state)
{
	struct verdict v;

	(void)state;
	set_up(8);
	hush(0, 8);
	run(c.now + 6 * M);
	c.l[0].state = ST_IDLE;
	c.l[0].since = c.now;
	for (int i = 0; i < 8; i++) {
		lease_verdict(&c.l[i], &c.j, c.now, &v);
		assert_int_equal(v.event, EV_NONE);
		assert_true(v.held);
		assert_int_equal(v.look_at, c.j.breaker.until);
	}
}

/* A suspended host: nobody could beat, and everybody gets a grace first. */
static void after_a_suspend_the_grace_comes_first(void **state)
{
	(void)state;
	set_up(8);
	run(c.now + M);
	c.now += 10 * M;
	c.j.grace_until = c.now + 90 * S;
	for (int i = 0; i < 8; i++)
		c.every[i] = 20 * M; /* nobody beats at once */
	run(c.now + 60 * S);
	assert_int_equal(c.trips, 0);
	assert_int_equal(reaped(), 0);
	for (int i = 0; i < 8; i++)
		c.every[i] = 30 * S;
	run(c.now + H);
	assert_int_equal(c.trips, 0);
	assert_int_equal(reaped(), 0);
}

static void what_a_hold_had_held_is_not_held_again(void **state)
{
	(void)state;
	set_up(8);
	c.j.hold_until = c.now + H;
	hush(0, 8);
	run(c.now + H - S);
	assert_int_equal(c.trips, 0);
	breaker_excuse(&c.j.breaker, c.j.hold_until);
	run(c.now + 3 * S);
	assert_int_equal(reaped(), 8);
	assert_int_equal(c.trips, 0);
}

static void a_restart_prolongs_no_hold_and_forgets_no_silence(void **state)
{
	int64_t until, away = 60 * S;

	(void)state;
	set_up(8);
	hush(0, 8);
	c.r.window = 5 * S;
	c.r.hold = 20 * S; /* less than what a restart credits */
	run(c.now + 5 * M + 5 * S);
	until = c.j.breaker.until;
	assert_true(until > c.now);
	breaker_restarted(&c.j.breaker, away);
	assert_int_equal(c.j.breaker.until, until);
	run(until + S); /* it lets go, and then the daemon is away before it has reaped */
	assert_true(c.j.breaker.spent >= until);
	for (int i = 0; i < 8; i++) {
		c.reaped[i] = 0;
		c.l[i].state = ST_HIBERNATED;
		lease_credit_restart(&c.l[i], c.now, c.now + away);
	}
	c.now += away;
	breaker_restarted(&c.j.breaker, away);
	run(c.now + 40 * S);
	assert_int_equal(reaped(), 8);
	assert_int_equal(c.trips, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_decided_before_the_first_is_reaped),
		cmocka_unit_test(one_of_many_that_falls_silent_is_reaped_when_it_is_due),
		cmocka_unit_test(short_ttls_that_are_beaten_twice_are_never_taken_for_silent),
		cmocka_unit_test(two_sessions_that_go_are_reaped_when_they_are_due),
		cmocka_unit_test(those_with_a_longer_ttl_do_not_hide_those_that_are_due),
		cmocka_unit_test(after_the_hold_the_rest_is_reaped_and_it_does_not_trip_again),
		cmocka_unit_test(an_evening_does_not_keep_it_tripped),
		cmocka_unit_test(a_silence_is_held_once_however_often_it_trips),
		cmocka_unit_test(a_hold_shorter_than_the_window_does_not_trip_twice_for_the_same),
		cmocka_unit_test(who_beats_again_lives_on),
		cmocka_unit_test(let_go_by_hand_they_are_reaped_at_once_and_the_ledger_knows_by_whom),
		cmocka_unit_test(a_new_silence_trips_it_anew),
		cmocka_unit_test(it_closes_when_all_are_heard_again_and_may_trip_the_next_time),
		cmocka_unit_test(limits_and_what_lingers_are_never_held),
		cmocka_unit_test(a_session_has_no_workload_and_is_only_held),
		cmocka_unit_test(a_hibernation_that_failed_is_not_tried_again_in_the_same_silence),
		cmocka_unit_test(after_a_suspend_the_grace_comes_first),
		cmocka_unit_test(what_a_hold_had_held_is_not_held_again),
		cmocka_unit_test(a_restart_prolongs_no_hold_and_forgets_no_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
