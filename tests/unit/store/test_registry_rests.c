/* What store/registry.h promises of leases that may rest: a start reads them without their rows. */
#include "config.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "core/rest.h"
#include "lease/duration.h"
#include "tests/unit/lease/test.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/store/world.h"

#define RESTS 3

struct rests_read {
	struct lease l;
	int good, bad;
	char last[LEASE_NAME_SIZE];
};

static int keep_rest(void *arg, bool good, const char *lock)
{
	struct rests_read *r = arg;

	(void)snprintf(r->last, sizeof(r->last), "%s", lock);
	*(good ? &r->good : &r->bad) += 1;
	return 0;
}

static int stop(void *arg, bool good, const char *lock)
{
	(void)good;
	(void)lock;
	++*(int *)arg;
	return 77;
}

static void make_quiet(struct lease *l, int n)
{
	sample_lease(l, n);
	lease_record_init(&l->record);
	l->wanted = l->lock_lost = l->leader_alive = l->warned = false;
	l->written = 19;
	l->away = 20;
	assert_true(rest_may(l));
}

/* Three that rest, and one that does not. */
static void fill(struct world *w, struct lease *one)
{
	struct lease l;

	open_it(w);
	for (int n = 1; n <= RESTS; n++) {
		make_quiet(&l, n);
		put(w->r, &l);
	}
	*one = l;
	sample_lease(&l, RESTS + 1);
	put(w->r, &l);
}

static void a_start_reads_of_a_lease_at_rest_what_its_rest_holds(void **state)
{
	struct world *w = *state;
	struct rests_read r = { .good = 0 };
	struct lease put_in;
	uint32_t count;

	fill(w, &put_in);
	r.l.generation = 4711;
	close_it(w);
	open_it(w);
	assert_int_equal(registry_count(w->r, &count), 0);
	assert_int_equal(count, RESTS + 1);
	assert_int_equal(registry_load_rests(w->r, &r.l, keep_rest, &r), 0);
	assert_true(r.good == RESTS && r.bad == 0);
	assert_string_equal(r.last, put_in.name);
	assert_string_equal(r.l.id, put_in.id);
	assert_string_equal(r.l.name, put_in.name);
	assert_true(r.l.uid == put_in.uid && r.l.state == ST_ACTIVE && r.l.dev == put_in.dev && r.l.ino == put_in.ino);
	assert_true(r.l.mtime == put_in.mtime && r.l.created == put_in.created && r.l.since == put_in.since);
	assert_true(r.l.renewed == put_in.renewed && r.l.used == put_in.used && r.l.restart_credit == put_in.restart_credit);
	assert_true(r.l.since_wall == put_in.since_wall && r.l.last_beat_wall == put_in.last_beat_wall);
	assert_true(r.l.written == 19 && r.l.away == 20);
	struct rest_terms a = rest_terms(&r.l.policy), b = rest_terms(&put_in.policy);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(r.l.generation, 4711); /* what a rest does not hold is left alone */
}

static void the_others_are_read_whole(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	struct lease l;

	fill(w, &l);
	assert_int_equal(registry_load_others(w->r, keep_last, &loaded), 0);
	assert_int_equal(loaded.n, 1);
	sample_lease(&l, RESTS + 1);
	assert_true(sample_same(&l, &loaded.last));
	/* And all of them, where that is asked for. */
	loaded.n = 0;
	assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
	assert_int_equal(loaded.n, RESTS + 1);
}

static void one_is_found_by_its_id(void **state)
{
	struct world *w = *state;
	struct lease put_in, found;

	fill(w, &put_in);
	assert_int_equal(registry_find(w->r, put_in.id, &found), 0);
	assert_true(sample_same(&put_in, &found));
	assert_true(found.written == 19 && found.away == 20);
	assert_int_equal(registry_find(w->r, "kls-7777777777", &found), -ENOENT);
	assert_int_equal(by_hand(w, "UPDATE lease SET record = 'rubbish'"), SQLITE_OK);
	assert_int_equal(registry_find(w->r, put_in.id, &found), -EUCLEAN);
	assert_non_null(strstr(registry_error(w->r), "record"));
}

static void a_lease_that_wakes_is_no_rest_any_more(void **state)
{
	struct world *w = *state;
	struct rests_read r = { .good = 0 };
	struct lease l;

	fill(w, &l);
	l.state = ST_IDLE;
	put(w->r, &l);
	assert_int_equal(registry_load_rests(w->r, &r.l, keep_rest, &r), 0);
	assert_int_equal(r.good, RESTS - 1);
	l.state = ST_ACTIVE;
	put(w->r, &l);
	assert_int_equal(registry_load_rests(w->r, &r.l, keep_rest, &r), 0);
	assert_int_equal(r.good, RESTS - 1 + RESTS);
}

static void a_rest_of_somebodys_making_is_not_good(void **state)
{
	static const char *const spoil[] = {
		"UPDATE lease SET rest = x'00'",
		"UPDATE lease SET rest = 'rubbish'",
		"UPDATE lease SET rest = 5",
		"UPDATE lease SET lock = 'lock-no-id'",
		"UPDATE lease SET lock = x'00ff'",
	};
	struct world *w = *state;
	struct lease l;

	fill(w, &l);
	for (size_t i = 0; i < N_OF(spoil); i++) {
		struct rests_read r = { .good = 0 };
		char sql[120];

		make_quiet(&l, 1);
		put(w->r, &l);
		(void)snprintf(sql, sizeof(sql), "%s WHERE id = '%s'", spoil[i], l.id);
		assert_int_equal(by_hand(w, sql), SQLITE_OK);
		assert_int_equal(registry_load_rests(w->r, &r.l, keep_rest, &r), 0);
		assert_true(r.good == RESTS - 1 && r.bad == 1);
	}
}

static void whoever_has_enough_is_given_no_more(void **state)
{
	struct world *w = *state;
	struct lease l;
	int n = 0;

	fill(w, &l);
	assert_int_equal(registry_load_rests(w->r, &l, stop, &n), 77);
	assert_int_equal(n, 1);
}

static void the_time_without_a_daemon_is_kept_with_the_checkpoint(void **state)
{
	const struct registry_clock c = { .mono = 1, .boot = 2, .wall = 3, .away = 4, .boot_id = "b" };
	struct world *w = *state;
	struct registry_clock d;

	assert_int_equal(registry_checkpoint(open_it(w), &c), 0);
	assert_int_equal(registry_last_checkpoint(w->r, &d), 0);
	assert_int_equal(d.away, 4);
	/* As format 1 had it. */
	assert_int_equal(by_hand(w, "UPDATE meta SET value = 'mono=1 boot=2 wall=3 boot_id=b' WHERE key = 'checkpoint'"),
			 SQLITE_OK);
	assert_int_equal(registry_last_checkpoint(w->r, &d), 0);
	assert_true(d.away == 0 && d.wall == 3);
}

static void how_the_clocks_ran_is_kept_with_the_checkpoint(void **state)
{
	const struct registry_clock c = { .mono = 9, .boot = 2, .wall = INT64_MAX, .even = 7, .set = INT64_MIN, .boot_id = "b" };
	struct world *w = *state;
	struct registry_clock d;

	assert_int_equal(registry_checkpoint(open_it(w), &c), 0);
	assert_int_equal(registry_last_checkpoint(w->r, &d), 0);
	assert_true(d.even == 7 && d.set == INT64_MIN);
	assert_string_equal(d.boot_id, "b");
	/* Of a version that did not look: it may have been set until then. */
	assert_int_equal(by_hand(w, "UPDATE meta SET value = 'mono=9 boot=2 wall=3 away=4 boot_id=b' WHERE key = 'checkpoint'"),
			 SQLITE_OK);
	assert_int_equal(registry_last_checkpoint(w->r, &d), 0);
	assert_true(d.even == 9 && d.set == 9 && d.away == 4);
	assert_int_equal(by_hand(w, "UPDATE meta SET value = 'mono=9 boot=2 wall=3 away=4 even=1 boot_id=b' "
				    "WHERE key = 'checkpoint'"),
			 SQLITE_OK);
	assert_int_equal(registry_last_checkpoint(w->r, &d), -EBADMSG);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(a_start_reads_of_a_lease_at_rest_what_its_rest_holds),
		T(the_others_are_read_whole),
		T(one_is_found_by_its_id),
		T(a_lease_that_wakes_is_no_rest_any_more),
		T(a_rest_of_somebodys_making_is_not_good),
		T(whoever_has_enough_is_given_no_more),
		T(the_time_without_a_daemon_is_kept_with_the_checkpoint),
		T(how_the_clocks_ran_is_kept_with_the_checkpoint),
	};

	return cmocka_run_group_tests_name("leases at rest in the registry", tests, NULL, NULL);
}
