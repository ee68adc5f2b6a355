/*
 * tests/sim/test_moments: moments at which the daemon once was wrong, each brought about to the very call, in the simulated
 * machine. A function a moment, named after what is right.
 */
#include "config.h"

#include <string.h>

#include "tests/sim/moment.h"
#include "watcher.h"

#define ALMOST (S / 100) /* a file is stamped as of the last tick */

static void an_exec_whose_lease_ends_while_it_is_let_in_is_told_so(void)
{
	struct held *h = &now.leases[0];
	struct ask_answer a;

	begin(__func__, SETTINGS);
	now.unanswered = 1u << ACT_ENTER;
	at(1, make, h, TTL);
	at(5, exec, h, 0);
	at(8, release, h, 0);
	live(20, 0, 0, NULL);
	RIGHT(now.n_kept == 1); /* it was on its way in */
	RIGHT(told(ASK, &a));
	RIGHT(strcmp(a.result, "lost") == 0);
	kernel_free();
}

static void a_hold_that_was_told_stands_though_the_daemon_is_killed_at_that_moment(void)
{
	struct held *h = &now.leases[0];
	struct ask_answer a;

	begin(__func__, SETTINGS);
	now.kill_when_told = true;
	at(1, make, h, TTL);
	at(5, hold, NULL, HOUR);
	live(2 * HOUR, 1, 0, NULL);
	RIGHT(told(ASK, &a) || now.ended_at > 0);
	RIGHT(now.ended_at > 0); /* it was killed */
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= now.ended_at + (HOUR - 5) * S);
	kernel_free();
}

/* All the places are taken by destroys that hang, and are given up: the second ones wait when the first are done. */
static void a_lease_that_is_over_is_not_destroyed_again(void)
{
	begin(__func__, SETTINGS);
	now.unanswered = 1u << ACT_DESTROY;
	for (int i = 0; i < WATCHER_ACTS - WATCHER_SPARE; i++) {
		at(1, make, &now.leases[i], TTL);
		at(5, release, &now.leases[i], 0);
	}
	at(200, answer_kept, NULL, 0);
	live(400, 0, 0, NULL);
	for (int i = 0; i < WATCHER_ACTS - WATCHER_SPARE; i++)
		RIGHT(now.leases[i].destroys == 1);
	kernel_free();
}

static void a_destroy_that_waits_for_its_place_when_a_hold_comes_waits_for_its_end(void)
{
	const int n = WATCHER_ACTS - WATCHER_SPARE;

	begin(__func__, SETTINGS);
	now.unanswered = 1u << ACT_DESTROY;
	for (int i = 0; i <= n; i++) {
		at(1, make, &now.leases[i], TTL);
		at(5, release, &now.leases[i], 0);
	}
	at(10, hold, NULL, HOUR);
	at(20, answer_kept, NULL, 0);
	at(HOUR, arm, NULL, 0);
	live(2 * HOUR, 0, 0, NULL);
	int late = 0;
	for (int i = 0; i <= n; i++) {
		RIGHT(now.leases[i].destroys == 1);
		late += now.leases[i].destroyed_at > now.leases[i].last_beat + HOUR * S;
	}
	RIGHT(late == 1);
	kernel_free();
}

/* All the places are taken by destroys that hang: its hibernate waits, and has taken no process away. */
static void a_process_that_ends_while_its_hibernate_waits_has_ended(void)
{
	struct held *h = &now.leases[9];

	begin(__func__, SETTINGS "hibernate_after = 100s\n");
	now.unanswered = 1u << ACT_DESTROY;
	at(1, make_process, h, HOUR * S);
	for (int i = 0; i < WATCHER_ACTS - WATCHER_SPARE; i++) {
		at(1, make, &now.leases[i], HOUR * S);
		at(150, release, &now.leases[i], 0);
	}
	at(210, end_leader, NULL, 0);
	at(220, answer_kept, NULL, 0);
	live(400, 0, 0, NULL);
	RIGHT(now.ended_at > 0);
	RIGHT(h->hibernates == 0);
	RIGHT(h->destroys == 1);
	kernel_free();
}

/*
 * Held up before that call for 20 s, between two readings of the clocks too, and beaten in the 19th of them.
 * A lease beaten once, at 30 s, is judged between 55 s and 90 s; 20 s are no reason for a grace. False: there were fewer calls
 * than that before it ended.
 */
static bool stalled_at(const char *moment, uint64_t call)
{
	struct held *h = &now.leases[0];

	begin(moment, SETTINGS);
	now.stall_at = call;
	at(1, make, h, TTL);
	at(30, beat, h, 0);
	at(55, arm, NULL, 0);
	live(300, 0, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= h->last_beat + TTL - ALMOST);
	/* Between two of the clocks it may look like a suspend, which is worth a grace. */
	RIGHT(h->destroyed_at <= h->last_beat + TTL + 25 * S + GRACE);
	kernel_free();
	return now.calls >= call;
}

static void a_beat_in_the_middle_of_any_turn_is_worth_a_whole_ttl(void)
{
	uint64_t call = 1;

	while (stalled_at(__func__, call))
		call++;
	RIGHT(call > 20);
}

static void a_beat_right_after_that_of_the_last_moment_is_worth_a_whole_ttl(void)
{
	struct held *h = &now.leases[0];

	for (uint64_t call = 1; call < 20; call++) {
		begin(__func__, SETTINGS);
		now.last_moment = true;
		now.stall_at = call;
		at(1, make, h, TTL);
		at(30, beat, h, 0);
		at(85, arm, NULL, 0);
		live(400, 0, 0, NULL);
		RIGHT(!now.last_moment && now.calls >= call);
		RIGHT(h->destroys == 1);
		RIGHT(h->last_beat >= now.begun + 105 * S);
		RIGHT(h->destroyed_at >= h->last_beat + TTL - ALMOST);
		kernel_free();
	}
}

static void a_hold_is_no_longer_than_it_was_to_be_though_the_clock_is_set_back_while_no_daemon_runs(void)
{
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	at(1, make, h, TTL);
	at(5, hold, NULL, HOUR);
	at(10, kill_it, NULL, 0);
	live(20 * HOUR, 5, -10 * HOUR * S, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= h->last_beat + HOUR * S);
	RIGHT(h->destroyed_at <= h->last_beat + 2 * HOUR * S);
	kernel_free();
}

static void what_a_restart_has_credited_ends_with_its_leaders_life(void)
{
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	at(1, make_led, h, TTL);
	at(100, kill_it, NULL, 0);
	at(400, end_leader, NULL, 0);
	live(1000, 80, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= now.ended_at + TTL);
	RIGHT(h->destroyed_at <= now.ended_at + TTL + 2 * S);
	kernel_free();
}

static void a_fresh_period_of_new_settings_is_one_period(void)
{
	static char shorter[] = SETTINGS "max_ttl = 10m\n";
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	at(1, make, h, HOUR * S);
	at(100, kill_it, NULL, 0);
	at(1800, reload, shorter, 0);
	live(2 * HOUR, 80, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= now.ended_at + 600 * S);
	RIGHT(h->destroyed_at <= now.ended_at + 602 * S);
	kernel_free();
}

static void a_leader_that_could_not_be_followed_for_want_of_memory_is_followed_later(void)
{
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	at(1, make_led, h, TTL);
	at(100, kill_it, NULL, 0);
	at(400, end_leader, NULL, 0);
	live(1000, 5, 0, "pidfd_open");
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= now.ended_at + TTL);
	RIGHT(h->destroyed_at <= now.ended_at + TTL + 2 * S);
	kernel_free();
}

static void what_a_restart_has_credited_ends_with_its_sessions_life(void)
{
	struct held *h = &now.leases[1];

	begin(__func__, SETTINGS);
	at(1, make_session, &now.leases[0], 0);
	at(5, make_bound, h, TTL);
	at(100, kill_it, NULL, 0);
	at(400, end_leader, NULL, 0);
	live(1000, 80, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= now.ended_at + TTL);
	RIGHT(h->destroyed_at <= now.ended_at + TTL + 2 * S);
	kernel_free();
}

/* A clock that is read a moment after the other one has not been set: nothing that nobody has seen yet came just now. */
static void a_host_that_thrashes_while_the_clocks_are_read_has_set_none(void)
{
	const int n = 4; /* of one user's, too few for the breaker */

	begin(__func__, SETTINGS);
	for (int i = 0; i < n; i++) {
		at(1, make, &now.leases[i], 600 * S);
		at(50, beat, &now.leases[i], 0);
	}
	at(60, kill_it, NULL, 0);
	at(300, thrash, NULL, 3);
	at(400, thrash, NULL, 0);
	live(1800, 300, 0, NULL);
	for (int i = 0; i < n; i++) {
		RIGHT(now.leases[i].destroys == 1);
		RIGHT(now.leases[i].destroyed_at >= now.leases[i].last_beat + 600 * S);
		RIGHT(now.leases[i].destroyed_at <= now.leases[i].last_beat + 600 * S + GRACE + S);
	}
	kernel_free();
}

/* False: it was looked at less often. */
static bool unseen_at(const char *moment, char *call, int look)
{
	struct held *h = &now.leases[0];

	begin(moment, SETTINGS);
	at(1, make, h, TTL);
	at(1, fail, call, (uint64_t)look);
	at(40, release, h, 0);
	live(300, 0, 0, NULL);
	RIGHT(h->created == 1);
	RIGHT(h->destroys == 1);
	bool failed = now.fails == NULL;
	kernel_free();
	return failed;
}

static void a_request_is_found_though_any_look_at_it_fails_for_want_of_memory(void)
{
	static char call[] = "statx";
	int look = 0;

	while (unseen_at(__func__, call, look))
		look++;
	RIGHT(look > 2);
}

/* The session is taken up first; its end denies what is bound to it and has not been admitted yet. */
static void what_its_sessions_end_has_denied_is_not_taken_up_after_a_boot(void)
{
	begin(__func__, SETTINGS);
	at(1, make_session, &now.leases[0], 0);
	at(5, make_bound, &now.leases[1], TTL);
	at(4, leave_unanswered, NULL, ACT_CAPABILITIES);
	at(10, reboot, NULL, 0);
	live(300, 0, 0, NULL);
	RIGHT(now.leases[1].created == 0);
	RIGHT(now.troubles == 0);
	kernel_free();
}

/* Beaten while the clock was set back: its stamp is older than the beat by as much, and nobody has looked at it since. */
static void a_beat_that_seems_older_than_it_is_counts_for_the_next_daemon_too(void)
{
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	at(1, make, h, HOUR * S);
	at(2000, set_back, NULL, 1000);
	at(2010, beat, h, 0);
	at(2020, set_on, NULL, 1000);
	at(2030, kill_it, NULL, 0);
	live(3 * HOUR, 1, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= h->last_beat + HOUR * S - ALMOST);
	kernel_free();
}

/* A stamp from the future says nothing of its beat's time: it is credited when it is looked at, by one daemon. */
static void a_beat_is_credited_anew_by_one_start_alone(void)
{
	struct held *h = &now.leases[0];
	const int period = 100, starts = 20;

	begin(__func__, SETTINGS);
	at(1, make, h, 2 * period * S);
	at(50, beat_ahead, h, HOUR);
	for (int i = 1; i <= starts; i++)
		at(i * period, kill_it, NULL, 0);
	live(2 * HOUR, 1, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at <= h->last_beat + (3 * period + 2) * S + GRACE);
	kernel_free();
}

/* The create was given up, and so is the destroy which undoes it: though an answer to the former has come meanwhile. */
static void a_late_answer_keeps_no_other_act_from_being_given_up(void)
{
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	now.unanswered = 1u << ACT_CREATE | 1u << ACT_DESTROY;
	at(1, make, h, HOUR * S);
	at(200, answer_first, NULL, 0);
	live(600, 0, 0, NULL);
	RIGHT(now.kept[0].verb == ACT_CREATE && now.kept[1].verb == ACT_DESTROY);
	RIGHT(h->destroys >= 2);
	kernel_free();
}

static void an_answer_about_another_life_is_nobodys(void)
{
	struct held *h = &now.leases[0];

	begin(__func__, SETTINGS);
	at(1, make, h, TTL);
	at(5, answer_of_another, h, 0);
	live(300, 0, 0, NULL);
	RIGHT(now.troubles == 0);
	RIGHT(h->destroys == 1);
	RIGHT(h->destroyed_at >= h->last_beat + TTL);
	kernel_free();
}

/* Told that some were lost, and not which. */
static void requests_that_come_while_the_queue_of_events_is_full_are_found(void)
{
	begin(__func__, SETTINGS);
	at(5, queue_of, NULL, 2);
	at(5, hold_up, NULL, 2);
	for (int i = 0; i < LEASES; i++)
		at(6, make, &now.leases[i], TTL);
	at(8, queue_of, NULL, 0);
	live(12, 0, 0, NULL);
	for (int i = 0; i < LEASES; i++)
		RIGHT(now.leases[i].created == 1);
	kernel_free();
}

static void linked_at(const char *moment, char *call, int look)
{
	struct held *h = &now.leases[0];

	begin(moment, SETTINGS);
	at(1, make, h, TTL);
	at(20, link_it, h, 0);
	at(20, fail, call, (uint64_t)look);
	at(30, beat, h, 8);
	at(50, kill_it, NULL, 0); /* the next one looks at all names */
	live(400, 1, 0, NULL);
	RIGHT(h->destroys == 1);
	RIGHT(h->last_beat >= now.begun_true + 100 * S);
	kernel_free();
}

static void a_lock_keeps_its_name_though_a_look_at_it_fails_when_it_is_linked(void)
{
	static char call[] = "statx";

	for (int look = 0; look < 12; look++)
		linked_at(__func__, call, look);
}

int main(void)
{
	a_lock_keeps_its_name_though_a_look_at_it_fails_when_it_is_linked();
	a_beat_that_seems_older_than_it_is_counts_for_the_next_daemon_too();
	a_beat_is_credited_anew_by_one_start_alone();
	a_late_answer_keeps_no_other_act_from_being_given_up();
	an_answer_about_another_life_is_nobodys();
	requests_that_come_while_the_queue_of_events_is_full_are_found();
	an_exec_whose_lease_ends_while_it_is_let_in_is_told_so();
	a_hold_that_was_told_stands_though_the_daemon_is_killed_at_that_moment();
	a_lease_that_is_over_is_not_destroyed_again();
	a_destroy_that_waits_for_its_place_when_a_hold_comes_waits_for_its_end();
	a_process_that_ends_while_its_hibernate_waits_has_ended();
	a_beat_in_the_middle_of_any_turn_is_worth_a_whole_ttl();
	a_beat_right_after_that_of_the_last_moment_is_worth_a_whole_ttl();
	a_hold_is_no_longer_than_it_was_to_be_though_the_clock_is_set_back_while_no_daemon_runs();
	what_a_restart_has_credited_ends_with_its_leaders_life();
	a_fresh_period_of_new_settings_is_one_period();
	a_leader_that_could_not_be_followed_for_want_of_memory_is_followed_later();
	what_a_restart_has_credited_ends_with_its_sessions_life();
	a_host_that_thrashes_while_the_clocks_are_read_has_set_none();
	a_request_is_found_though_any_look_at_it_fails_for_want_of_memory();
	what_its_sessions_end_has_denied_is_not_taken_up_after_a_boot();
	return 0;
}
