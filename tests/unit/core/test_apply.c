/* lease_apply: what a transition leaves on the lease: marks, retries, reasons. */
#include "config.h"

#include <string.h>

#include "desk.h"

static void a_cell_that_cannot_happen_touches_nothing(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	struct lease before = d.l;
	lease_apply(&d.l, EV_ADMIT, d.now + S, d.now + S, desk_wall(&d), "no");
	assert_memory_equal(&d.l, &before, sizeof(before));
}

static void admission_begins_the_ttl_and_the_start_begins_it_again(void **state)
{
	struct desk d;

	(void)state;
	desk_request(&d);
	desk_run(&d, DESK_T0 + 10 * M); /* queued */
	desk_take(&d, EV_ADMIT);
	assert_int_equal(d.l.state, ST_STARTING);
	assert_int_equal(d.acts, AC_CREATE);
	assert_int_equal(d.l.renewed, d.now);
	desk_sleep(&d, 30 * S);
	desk_take(&d, EV_STARTED);
	assert_int_equal(d.l.renewed, d.now);
	assert_int_equal(d.l.used, d.now);
	assert_int_equal(d.l.since, d.now);
	assert_int_equal(d.l.since_wall, desk_wall(&d));
	assert_int_equal(d.l.created, DESK_T0);
}

static void a_step_within_a_state_does_not_move_since(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, S);
	desk_take(&d, EV_BEAT);
	assert_int_equal(d.l.since, DESK_T0);
}

/* --- the lock --- */

/* F13: lost is not released: idle, grace, then expiry. */
static void a_lost_lock_goes_idle_and_then_expires(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 10 * S);
	desk_take(&d, EV_LOCK_LOST);
	assert_true(d.l.lock_lost);
	assert_int_equal(d.l.state, ST_ACTIVE);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_non_null(strstr(d.l.why, "lock lost"));
	desk_run(&d, DESK_T0 + 5 * M + LEASE_TICK - 1);
	assert_int_equal(d.n[EV_EXPIRY_DUE], 0);
	desk_run(&d, DESK_T0 + 5 * M + LEASE_TICK);
	assert_int_equal(d.n[EV_EXPIRY_DUE], 1);
	assert_non_null(strstr(d.l.why, "lock lost"));
}

static void a_lock_that_is_lost_once_takes_use_back_once(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_LOCK_LOST);
	(void)desk_look(&d);
	desk_take(&d, EV_USE);
	desk_take(&d, EV_LOCK_LOST);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_ACTIVE);
	desk_take(&d, EV_LOCK_FOUND);
	assert_false(d.l.lock_lost);
	assert_int_equal(d.l.renewed, DESK_T0);
}

/* --- sleep and waking --- */

static void what_sleeps(struct desk *d)
{
	desk_set_up(d);
	d->l.policy.ttl = D;
	desk_take(d, EV_ASK_HIBERNATE);
	desk_take(d, EV_HIBERNATED);
	d->acts = 0;
}

static void a_beat_wakes_it_and_a_sessions_renewal_only_keeps_it(void **state)
{
	struct desk d;

	(void)state;
	what_sleeps(&d);
	desk_run(&d, d.now + H);
	desk_take(&d, EV_RENEWED);
	assert_int_equal(d.l.state, ST_HIBERNATED);
	assert_int_equal(d.l.renewed, d.now);
	assert_int_equal(d.acts, 0);
	desk_beat(&d);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_RESUMING);
	assert_int_equal(d.acts, AC_RESUME);
	desk_sleep(&d, S);
	desk_take(&d, EV_RESUMED);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_int_equal(d.l.used, d.now); /* C13: a resume grants a renew_grace */
}

static void what_is_wanted_while_it_is_put_to_sleep_is_woken_after(void **state)
{
	static const enum event wants[] = { EV_BEAT, EV_USE, EV_ASK_RESUME };

	for (size_t i = 0; i < N_OF(wants); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_take(&d, EV_ASK_HIBERNATE);
		desk_take(&d, wants[i]);
		assert_int_equal(d.l.state, ST_HIBERNATING);
		assert_true(d.l.wanted);
		desk_take(&d, EV_HIBERNATED);
		(void)desk_look(&d);
		assert_int_equal(d.l.state, ST_RESUMING);
		desk_take(&d, EV_RESUMED);
		assert_false(d.l.wanted);
	}
}

static void what_is_wanted_is_not_left_idle_by_a_hibernation_that_failed(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_take(&d, EV_BEAT);
	desk_take(&d, EV_HIBERNATE_FAILED);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_false(d.l.wanted);
}

static void a_command_that_lives_is_not_left_idle_either(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = d.l.record.run = true;
	desk_take(&d, EV_BREAKER);
	desk_take(&d, EV_HIBERNATE_FAILED);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_ACTIVE);
}

static void a_hibernation_that_failed_leaves_it_idle_and_is_tried_again_later(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.ttl = D;
	desk_run(&d, DESK_T0 + 90 * S + 30 * M);
	assert_int_equal(d.l.state, ST_HIBERNATING);
	desk_take(&d, EV_HIBERNATE_FAILED);
	assert_int_equal(d.l.state, ST_IDLE);
	desk_run(&d, d.now + 30 * M);
	assert_int_equal(d.n[EV_HIBERNATE_DUE], 2);
}

/* Nobody knows how far it came. */
static void a_hibernation_without_an_answer_is_undone(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_run(&d, d.now + 70 * S);
	assert_int_equal(d.n[EV_DEADLINE], 1);
	assert_int_equal(d.l.state, ST_RESUMING);
	assert_true(d.acts & AC_RESUME);
}

/* H12: a resume that failed is tried again, later each time, for as long as the lease lives. */
static void a_failed_resume_is_tried_again(void **state)
{
	struct desk d;
	int64_t wait = S;

	(void)state;
	what_sleeps(&d);
	desk_take(&d, EV_ASK_RESUME);
	for (int i = 0; i < 12; i++) {
		int64_t failed = d.now;
		desk_take(&d, EV_RESUME_FAILED);
		assert_int_equal(d.l.state, ST_HIBERNATED);
		desk_run(&d, failed + wait - 1);
		assert_int_equal(d.l.state, ST_HIBERNATED);
		desk_run(&d, failed + wait);
		assert_int_equal(d.l.state, ST_RESUMING);
		wait = wait * 2 > LEASE_BACKOFF_MAX ? LEASE_BACKOFF_MAX : wait * 2;
	}
	desk_take(&d, EV_RESUMED);
	assert_int_equal(d.l.attempts, 0);
	assert_int_equal(d.l.state, ST_ACTIVE);
}

static void a_resume_without_an_answer_is_tried_again(void **state)
{
	struct desk d;

	(void)state;
	what_sleeps(&d);
	desk_take(&d, EV_ASK_RESUME);
	desk_run(&d, d.now + 70 * S);
	assert_int_equal(d.l.state, ST_HIBERNATED);
	assert_true(d.l.wanted);
	desk_run(&d, d.now + S);
	assert_int_equal(d.l.state, ST_RESUMING);
}

/* D10: an act under way when the daemon died may never have been answered. */
static void a_restart_takes_every_act_up_again(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_ASK_HIBERNATE);
	d.acts = 0;
	desk_restart(&d, 0, S);
	assert_int_equal(d.acts, AC_HIBERNATE);
	desk_take(&d, EV_HIBERNATED);
	desk_take(&d, EV_ASK_RESUME);
	d.acts = 0;
	desk_restart(&d, 0, S);
	assert_int_equal(d.acts, AC_RESUME);
	desk_take(&d, EV_RESUME_FAILED);
	d.acts = 0;
	desk_restart(&d, 0, S); /* in the middle of the back-off */
	(void)desk_look(&d);
	assert_int_equal(d.acts, AC_RESUME);
}

/* --- the end --- */

/* I02, I06: 1 s, 2 s, 4 s, … at most 5 minutes, for ever. */
static void a_failed_destroy_backs_off_to_five_minutes(void **state)
{
	static const enum event ends[] = { EV_RELEASED, EV_START_FAILED };

	for (size_t i = 0; i < N_OF(ends); i++) {
		struct desk d;
		int64_t wait = S;

		(void)state;
		desk_request(&d);
		desk_take(&d, EV_ADMIT);
		desk_take(&d, ends[i]);
		(void)desk_look(&d);
		for (int n = 1; n < 80; n++) {
			int64_t failed = d.now;
			assert_int_equal(d.n[EV_RETRY_DUE], n);
			desk_take(&d, EV_DESTROY_FAILED);
			assert_int_equal(d.l.attempts, n);
			desk_run(&d, failed + wait - 1);
			assert_int_equal(d.n[EV_RETRY_DUE], n);
			desk_run(&d, failed + wait);
			wait = wait * 2 > LEASE_BACKOFF_MAX ? LEASE_BACKOFF_MAX : wait * 2;
		}
		desk_take(&d, EV_DESTROYED);
		assert_int_equal(d.l.state, ST_REAPED);
		assert_int_equal(d.ends, 1);
		assert_int_equal(desk_look(&d), LEASE_NEVER);
	}
}

static void a_destroy_without_an_answer_is_tried_again(void **state)
{
	static const enum event ends[] = { EV_RELEASED, EV_START_FAILED };

	for (size_t i = 0; i < N_OF(ends); i++) {
		struct desk d;

		(void)state;
		desk_request(&d);
		desk_take(&d, EV_ADMIT);
		desk_take(&d, ends[i]);
		desk_run(&d, DESK_T0 + 70 * S);
		assert_int_equal(d.n[EV_DEADLINE], 1);
		assert_int_equal(d.n[EV_RETRY_DUE], 1);
		desk_run(&d, DESK_T0 + 71 * S);
		assert_int_equal(d.n[EV_RETRY_DUE], 2);
		/* The first one did it after all, or the second: one end. */
		desk_take(&d, EV_DESTROYED);
		assert_int_equal(d.l.state, ST_REAPED);
		assert_int_equal(d.ends, 1);
	}
}

static void why_it_ended_stays_said(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 5 * M + LEASE_TICK);
	assert_int_equal(d.l.state, ST_REAPING);
	assert_string_equal(d.l.why, "no renewal for 5m (ttl 5m)");
	desk_restart(&d, 0, S);
	assert_int_equal(d.l.state, ST_EXPIRED);
	assert_string_equal(d.l.why, "no renewal for 5m (ttl 5m)");
}

static void without_a_reason_the_event_is_one(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_ASK_HIBERNATE);
	assert_string_equal(d.l.why, "asked to hibernate");
	lease_apply(&d.l, EV_RELEASED, d.now, d.now, desk_wall(&d), "");
	assert_string_equal(d.l.why, "released");
}

static void a_reason_that_is_too_long_is_cut(void **state)
{
	struct desk d;
	char why[1000];

	(void)state;
	desk_set_up(&d);
	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	lease_apply(&d.l, EV_RELEASED, d.now, d.now, desk_wall(&d), why);
	assert_int_equal(strlen(d.l.why), LEASE_WHY_SIZE - 1);
}

/* The act may have to wait for its turn: until it has been sent, nobody is asked again. */
static void a_retry_that_was_taken_is_not_due_again(void **state)
{
	struct desk d;
	struct verdict v;

	(void)state;
	desk_request(&d);
	desk_take(&d, EV_ADMIT);
	desk_take(&d, EV_START_FAILED);
	lease_verdict(&d.l, &d.j, d.now, &v);
	assert_int_equal(v.event, EV_RETRY_DUE);
	lease_apply(&d.l, EV_RETRY_DUE, d.now, d.now, desk_wall(&d), NULL);
	assert_int_equal(d.l.state, ST_ROLLBACK);
	lease_verdict(&d.l, &d.j, d.now, &v);
	assert_int_equal(v.event, EV_NONE);
	lease_verdict(&d.l, &d.j, d.now + D, &v);
	assert_int_equal(v.event, EV_NONE);
}

static void a_resume_that_failed_once_does_not_keep_the_next_one_waiting(void **state)
{
	struct desk d;

	(void)state;
	what_sleeps(&d);
	desk_take(&d, EV_ASK_RESUME);
	desk_take(&d, EV_RESUME_FAILED);
	desk_run(&d, d.now + S);
	desk_take(&d, EV_RESUMED);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_take(&d, EV_BEAT);
	desk_take(&d, EV_HIBERNATED);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_RESUMING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_that_cannot_happen_touches_nothing),
		cmocka_unit_test(admission_begins_the_ttl_and_the_start_begins_it_again),
		cmocka_unit_test(a_step_within_a_state_does_not_move_since),
		cmocka_unit_test(a_lost_lock_goes_idle_and_then_expires),
		cmocka_unit_test(a_lock_that_is_lost_once_takes_use_back_once),
		cmocka_unit_test(a_beat_wakes_it_and_a_sessions_renewal_only_keeps_it),
		cmocka_unit_test(what_is_wanted_while_it_is_put_to_sleep_is_woken_after),
		cmocka_unit_test(what_is_wanted_is_not_left_idle_by_a_hibernation_that_failed),
		cmocka_unit_test(a_command_that_lives_is_not_left_idle_either),
		cmocka_unit_test(a_hibernation_that_failed_leaves_it_idle_and_is_tried_again_later),
		cmocka_unit_test(a_hibernation_without_an_answer_is_undone),
		cmocka_unit_test(a_failed_resume_is_tried_again),
		cmocka_unit_test(a_resume_without_an_answer_is_tried_again),
		cmocka_unit_test(a_restart_takes_every_act_up_again),
		cmocka_unit_test(a_failed_destroy_backs_off_to_five_minutes),
		cmocka_unit_test(a_destroy_without_an_answer_is_tried_again),
		cmocka_unit_test(why_it_ended_stays_said),
		cmocka_unit_test(without_a_reason_the_event_is_one),
		cmocka_unit_test(a_reason_that_is_too_long_is_cut),
		cmocka_unit_test(a_retry_that_was_taken_is_not_due_again),
		cmocka_unit_test(a_resume_that_failed_once_does_not_keep_the_next_one_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
