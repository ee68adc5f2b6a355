/* The table of core/state.h: every cell of it, walked. */
#include "config.h"

#include <string.h>

#include "desk.h"

#define EACH_STATE(s) (enum state s = ST_NONE + 1; s < ST_MAX; s++)
#define EACH_EVENT(e) (enum event e = EV_NONE + 1; e < EV_MAX; e++)
#define MUST(ok, s, e)                                                                                       \
	do {                                                                                                 \
		if (!(ok))                                                                                   \
			fail_msg("%s, %s: not %s", state_name(s), event_name(e), #ok);                       \
	} while (0)
#define ACTS (AC_CREATE | AC_HIBERNATE | AC_RESUME | AC_DESTROY)

static const struct cell *cell(enum state s, enum event e)
{
	return &state_table[s][e];
}

static bool over(enum state s)
{
	return !state_living(s) && s != ST_REQUESTED;
}

/* Marks what can be reached from s. */
static void reach(enum state s, bool seen[ST_MAX])
{
	if (seen[s])
		return;
	seen[s] = true;
	for EACH_EVENT (e)
		reach(cell(s, e)->next, seen);
}

static void no_cell_is_empty(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			MUST(cell(s, e)->actions != 0, s, e);
			MUST(cell(s, e)->next > ST_NONE && cell(s, e)->next < ST_MAX, s, e);
		}
}

static void what_is_ignored_or_cannot_happen_stands_alone_and_keeps_the_state(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			const struct cell *c = cell(s, e);
			if (!(c->actions & (AC_IGNORE | AC_NEVER)))
				continue;
			MUST(c->next == s, s, e);
			MUST(c->actions == AC_IGNORE || c->actions == AC_NEVER, s, e);
		}
}

static void a_step_is_a_move_and_nothing_else(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			const struct cell *c = cell(s, e);
			if (c->actions & AC_STEP)
				MUST(c->actions == AC_STEP && c->next != s, s, e);
		}
}

static void every_state_can_be_reached_and_everything_can_end(void **state)
{
	bool from_request[ST_MAX] = { false };

	(void)state;
	reach(ST_REQUESTED, from_request);
	for EACH_STATE (s) {
		bool from_here[ST_MAX] = { false };
		MUST(from_request[s], s, EV_NONE);
		reach(s, from_here);
		MUST(from_here[ST_REAPED] || from_here[ST_DENIED], s, EV_NONE);
		if (state_living(s))
			MUST(from_here[ST_REAPED] && !from_here[ST_REQUESTED], s, EV_NONE);
	}
}

static void what_has_ended_stays_ended_and_does_nothing(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e)
			if (state_ended(s))
				MUST(cell(s, e)->actions == AC_IGNORE || cell(s, e)->actions == AC_NEVER, s, e);
}

/* C15: a renewal wins before the end is committed, or is refused. */
static void nothing_brings_a_lease_back_from_its_end(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			if (!over(s))
				continue;
			MUST(over(cell(s, e)->next), s, e);
			MUST(!(cell(s, e)->actions & (AC_RENEW | AC_USE | AC_WANT | AC_CREATE | AC_RESUME | AC_HIBERNATE)), s, e);
		}
}

/* I3, I05. */
static void the_end_is_exactly_where_a_lease_is_reaped_or_denied(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			bool ends = !state_ended(s) && state_ended(cell(s, e)->next);
			MUST(ends == ((cell(s, e)->actions & AC_END) != 0), s, e);
		}
}

/* B12: a record goes only after the runtime has said absent. */
static void only_a_confirmed_destroy_reaps(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			if (cell(s, e)->next == ST_REAPED && s != ST_REAPED)
				MUST(e == EV_DESTROYED, s, e);
			if (cell(s, e)->next == ST_DENIED)
				MUST(s == ST_REQUESTED || s == ST_DENIED, s, e);
		}
}

static void only_admission_moves_a_lock_in(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			bool admits = s == ST_REQUESTED && e == EV_ADMIT;
			MUST(admits == ((cell(s, e)->actions & AC_MOVE_IN) != 0), s, e);
			if (s == ST_REQUESTED && !admits)
				MUST(cell(s, e)->next == ST_REQUESTED || cell(s, e)->next == ST_DENIED, s, e);
		}
	assert_int_equal(cell(ST_REQUESTED, EV_ADMIT)->next, ST_STARTING);
}

static bool by_silence_or_choice(enum event e)
{
	return e == EV_EXPIRY_DUE || e == EV_RETENTION_DUE || e == EV_EVICT;
}

/* A20: what ends by silence or by choice gives way to a beat at the last moment; what is proven does not. */
static void only_silence_and_choice_give_way_to_a_last_beat(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			uint32_t a = cell(s, e)->actions;
			bool out = state_living(s) && over(cell(s, e)->next);
			MUST((a & (AC_COMMIT | AC_TAKE)) != (AC_COMMIT | AC_TAKE), s, e);
			if (a & AC_COMMIT)
				MUST(out && by_silence_or_choice(e), s, e);
			/* While it lingers its own beats no longer count: there an eviction just takes it. */
			if (a & AC_TAKE)
				MUST(s == ST_REQUESTED || (out && (!by_silence_or_choice(e) || s == ST_LINGERING)), s, e);
			/* Whatever ends a life has the lock out of the tree first. */
			if (out)
				MUST(a & (AC_COMMIT | AC_TAKE), s, e);
		}
}

/* The end is two steps, so that a hold, a back-off or a crash between them has a place to stand in. */
static void no_end_destroys_in_the_same_step(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e)
			if (cell(s, e)->actions & AC_DESTROY)
				MUST(e == EV_RETRY_DUE && (s == ST_EXPIRED || s == ST_ROLLBACK), s, e);
}

static void releases_and_proven_deaths_end_every_living_lease(void **state)
{
	static const enum event ends[] = { EV_RELEASED, EV_LEADER_DIED, EV_STOPPED, EV_BOOT };

	(void)state;
	for EACH_STATE (s)
		for (size_t i = 0; state_living(s) && i < N_OF(ends); i++) {
			MUST(over(cell(s, ends[i])->next), s, ends[i]);
			MUST(cell(s, ends[i])->actions & AC_TAKE, s, ends[i]);
		}
}

static void silence_and_age_end_every_living_lease_that_has_started(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		if (!state_living(s) || s == ST_STARTING)
			continue;
		MUST(cell(s, EV_EXPIRY_DUE)->next == ST_EXPIRED, s, EV_EXPIRY_DUE);
		MUST(cell(s, EV_LIFETIME_DUE)->next == ST_EXPIRED, s, EV_LIFETIME_DUE);
	}
}

/* D01: mass silence is no proof of death. */
static void the_breaker_ends_nothing(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		const struct cell *c = cell(s, EV_BREAKER);
		MUST(c->next == s || c->next == ST_HIBERNATING, s, EV_BREAKER);
		MUST(!(c->actions & (AC_COMMIT | AC_TAKE | AC_DESTROY | AC_END)), s, EV_BREAKER);
	}
}

/* A19: idle candidates only. */
static void pressure_reclaims_only_what_is_idle(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		MUST(s == ST_IDLE || cell(s, EV_PRESSURE)->actions == AC_IGNORE, s, EV_PRESSURE);
		if (s == ST_REQUESTED || s == ST_STARTING || s == ST_ACTIVE || s == ST_HIBERNATING || s == ST_RESUMING)
			MUST(cell(s, EV_EVICT)->actions == AC_IGNORE, s, EV_EVICT);
	}
}

/* D10, D08: a restart takes up every act that may never have been answered, and moves nobody to an end. */
static void a_restart_of_the_daemon_ends_nothing(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		const struct cell *c = cell(s, EV_RESTART);
		MUST(over(c->next) == over(s), s, EV_RESTART);
		MUST(!(c->actions & (AC_COMMIT | AC_TAKE | AC_END | AC_RENEW | AC_USE)), s, EV_RESTART);
	}
	assert_true(cell(ST_STARTING, EV_RESTART)->actions & AC_CREATE);
	assert_true(cell(ST_HIBERNATING, EV_RESTART)->actions & AC_HIBERNATE);
	assert_true(cell(ST_RESUMING, EV_RESTART)->actions & AC_RESUME);
}

/* F13: a missing lock is no release. */
static void a_lost_lock_ends_nothing_that_lives(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		if (!state_living(s))
			continue;
		MUST(cell(s, EV_LOCK_LOST)->next == s && cell(s, EV_LOCK_LOST)->actions == AC_REPORT, s, EV_LOCK_LOST);
		MUST(cell(s, EV_LOCK_FOUND)->next == s, s, EV_LOCK_FOUND);
	}
}

/* I04, B23: where an act is under way, its deadline leads on, and is told. */
static void every_act_has_a_deadline_that_leads_on(void **state)
{
	static const enum state acting[] = { ST_STARTING, ST_HIBERNATING, ST_RESUMING, ST_REAPING, ST_ROLLBACK };

	(void)state;
	for (size_t i = 0; i < N_OF(acting); i++) {
		const struct cell *c = cell(acting[i], EV_DEADLINE);
		MUST(c->actions & AC_REPORT, acting[i], EV_DEADLINE);
		MUST(c->next != acting[i] || (c->actions & AC_BACKOFF), acting[i], EV_DEADLINE);
	}
	/* And an act is asked for only on the way into a state that knows its answers. */
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			static const enum state of[] = { ST_STARTING, ST_HIBERNATING, ST_RESUMING, ST_REAPING };
			uint32_t a = cell(s, e)->actions;
			for (size_t i = 0; i < N_OF(of); i++)
				if (a & (AC_CREATE << i))
					MUST(cell(s, e)->next == of[i] || (i == 3 && s == ST_ROLLBACK), s, e);
			MUST((a & ACTS & ((a & ACTS) - 1)) == 0, s, e); /* one at a time */
		}
}

/* A lease is renewed by a beat or by a life; use alone never renews (rule 1), nor does any answer but the first. */
static void only_beats_lives_and_starts_renew(void **state)
{
	(void)state;
	for EACH_STATE (s)
		for EACH_EVENT (e) {
			uint32_t a = cell(s, e)->actions;
			if (a & AC_RENEW)
				MUST(e == EV_BEAT || e == EV_RENEWED || e == EV_ADMIT || e == EV_STARTED ||
				     e == EV_TAKEN_OVER, s, e);
			if (e == EV_RENEWED)
				MUST(!(a & (AC_USE | AC_RESUME)) && cell(s, e)->next == s, s, e);
			if (e == EV_BEAT && state_living(s) && s != ST_LINGERING)
				MUST((a & (AC_RENEW | AC_USE)) == (AC_RENEW | AC_USE), s, e);
		}
	/* Own beats do not outlast the session (section 17). */
	assert_false(cell(ST_LINGERING, EV_BEAT)->actions & AC_RENEW);
}

/* H13: what wakes it lives outside of it. */
static void a_beat_use_or_ask_wakes_what_sleeps_and_a_sessions_renewal_does_not(void **state)
{
	static const enum event wakes[] = { EV_BEAT, EV_USE, EV_ASK_RESUME };

	(void)state;
	for (size_t i = 0; i < N_OF(wakes); i++) {
		assert_int_equal(cell(ST_HIBERNATED, wakes[i])->next, ST_RESUMING);
		assert_true(cell(ST_HIBERNATED, wakes[i])->actions & AC_RESUME);
		assert_true(cell(ST_HIBERNATING, wakes[i])->actions & AC_WANT);
		assert_int_equal(cell(ST_IDLE, wakes[i])->next, ST_ACTIVE);
	}
	assert_int_equal(cell(ST_HIBERNATED, EV_RENEWED)->next, ST_HIBERNATED);
}

static void the_public_words_are_those_of_the_manual(void **state)
{
	static const struct {
		enum state s;
		const char *name, *word;
	} words[] = {
		{ ST_REQUESTED, "requested", "requested" }, { ST_STARTING, "starting", "admitted" },
		{ ST_ACTIVE, "active", "active" }, { ST_IDLE, "idle", "idle" },
		{ ST_HIBERNATING, "hibernating", "idle" }, { ST_HIBERNATED, "hibernated", "hibernated" },
		{ ST_RESUMING, "resuming", "hibernated" }, { ST_LINGERING, "lingering", "idle" },
		{ ST_EXPIRED, "expired", "expired" }, { ST_REAPING, "reaping", "expired" },
		{ ST_ROLLBACK, "rollback", "failed" }, { ST_REAPED, "reaped", "reaped" },
		{ ST_DENIED, "denied", "denied" },
	};

	(void)state;
	assert_int_equal(N_OF(words), ST_MAX - 1);
	for (size_t i = 0; i < N_OF(words); i++) {
		assert_string_equal(state_name(words[i].s), words[i].name);
		assert_string_equal(state_public(words[i].s), words[i].word);
		assert_true(state_public_valid(words[i].word));
	}
	assert_false(state_public_valid(""));
	assert_false(state_public_valid("lingering"));
	assert_false(state_public_valid("Active"));
	assert_string_equal(state_public(ST_NONE), "");
	assert_string_equal(state_public(ST_MAX), "");
	assert_string_equal(state_name(ST_MAX), "");
}

static void a_states_name_leads_back_to_it(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		assert_int_equal(state_by_name(state_name(s)), s);
		assert_true(*state_name(s) && *state_public(s));
	}
	assert_int_equal(state_by_name(""), ST_NONE);
	assert_int_equal(state_by_name("admitted"), ST_NONE);
	assert_int_equal(state_by_name("activex"), ST_NONE);
}

static void every_event_has_a_name_of_its_own(void **state)
{
	(void)state;
	for EACH_EVENT (e) {
		assert_non_null(event_name(e));
		assert_true(*event_name(e));
		for (enum event f = EV_NONE; f < e; f++)
			assert_string_not_equal(event_name(e), event_name(f));
	}
	assert_string_equal(event_name(EV_MAX), "");
}

static void a_state_is_waiting_living_ending_or_ended(void **state)
{
	(void)state;
	for EACH_STATE (s) {
		assert_false(state_living(s) && state_ended(s));
		assert_int_equal(state_ended(s), s == ST_REAPED || s == ST_DENIED);
		assert_int_equal(state_living(s), s == ST_STARTING || s == ST_ACTIVE || s == ST_IDLE || s == ST_HIBERNATING ||
						      s == ST_HIBERNATED || s == ST_RESUMING || s == ST_LINGERING);
	}
	assert_false(state_living(ST_NONE) || state_ended(ST_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cell_is_empty),
		cmocka_unit_test(what_is_ignored_or_cannot_happen_stands_alone_and_keeps_the_state),
		cmocka_unit_test(a_step_is_a_move_and_nothing_else),
		cmocka_unit_test(every_state_can_be_reached_and_everything_can_end),
		cmocka_unit_test(what_has_ended_stays_ended_and_does_nothing),
		cmocka_unit_test(nothing_brings_a_lease_back_from_its_end),
		cmocka_unit_test(the_end_is_exactly_where_a_lease_is_reaped_or_denied),
		cmocka_unit_test(only_a_confirmed_destroy_reaps),
		cmocka_unit_test(only_admission_moves_a_lock_in),
		cmocka_unit_test(only_silence_and_choice_give_way_to_a_last_beat),
		cmocka_unit_test(no_end_destroys_in_the_same_step),
		cmocka_unit_test(releases_and_proven_deaths_end_every_living_lease),
		cmocka_unit_test(silence_and_age_end_every_living_lease_that_has_started),
		cmocka_unit_test(the_breaker_ends_nothing),
		cmocka_unit_test(pressure_reclaims_only_what_is_idle),
		cmocka_unit_test(a_restart_of_the_daemon_ends_nothing),
		cmocka_unit_test(a_lost_lock_ends_nothing_that_lives),
		cmocka_unit_test(every_act_has_a_deadline_that_leads_on),
		cmocka_unit_test(only_beats_lives_and_starts_renew),
		cmocka_unit_test(a_beat_use_or_ask_wakes_what_sleeps_and_a_sessions_renewal_does_not),
		cmocka_unit_test(the_public_words_are_those_of_the_manual),
		cmocka_unit_test(a_states_name_leads_back_to_it),
		cmocka_unit_test(every_event_has_a_name_of_its_own),
		cmocka_unit_test(a_state_is_waiting_living_ending_or_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
