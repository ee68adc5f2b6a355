/* Somebody else has a transaction open on lease.db: root's shell. It is waited for, but not for ever. */
#include "config.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "tests/fault/memdisk.h"
#include "tests/fault/turns.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

static struct held {
	struct scratch scratch;
	char path[PATH_MAX + 16];
	uint64_t seed;
	struct memdisk *disk;
	struct registry *r;
	sqlite3 *shell;
	int64_t slept, release_at; /* us */
	int told[4], n_told;
} h;

static void time_goes_by(void *arg, int us)
{
	(void)arg;
	h.slept += us;
	if (h.shell && h.slept >= h.release_at) {
		assert_int_equal(sqlite3_exec(h.shell, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
		h.release_at = INT64_MAX;
	}
}

static void told(void *arg, int seconds)
{
	(void)arg;
	assert_true(h.n_told < (int)N_OF(h.told));
	h.told[h.n_told++] = seconds;
}

static int setup(void **state)
{
	char err[256];

	(void)state;
	h = (struct held){ .seed = 1 };
	scratch_make(&h.scratch);
	snprintf(h.path, sizeof(h.path), "%s/lease.db", h.scratch.path);
	h.disk = memdisk_new(turns_seeded, &h.seed);
	memdisk_on_sleep(h.disk, time_goes_by, NULL);
	assert_int_equal(memdisk_register(h.disk, "held", true), SQLITE_OK);
	if (registry_open(h.path, &h.r, err) < 0)
		fail_msg("%s", err);
	registry_tell(h.r, told, NULL);
	assert_int_equal(sqlite3_open_v2(h.path, &h.shell, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h.shell, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	registry_close(h.r);
	sqlite3_close(h.shell);
	memdisk_free(h.disk);
	scratch_remove(&h.scratch);
	return 0;
}

static void who_holds_the_file_is_waited_for(void **state)
{
	uint64_t generation;

	(void)state;
	h.release_at = 5000000;
	assert_int_equal(turns_one_more(h.r, &generation), 0);
	assert_in_range(h.slept, 5000000, 5200000);
	assert_int_equal(h.n_told, 2);
	assert_int_equal(h.told[0], 0);
	assert_int_equal(h.told[1], 5);
}

static void a_moment_is_not_worth_a_word(void **state)
{
	uint64_t generation;

	(void)state;
	h.release_at = 500000;
	assert_int_equal(turns_one_more(h.r, &generation), 0);
	assert_int_equal(h.n_told, 0);
}

static void half_a_minute_is_the_most(void **state)
{
	uint64_t generation, before = turns_digest(h.r);

	(void)state;
	h.release_at = INT64_MAX;
	assert_int_equal(registry_begin(h.r), 0);
	assert_int_equal(registry_change(h.r), -EBUSY);
	assert_in_range(h.slept, 30000000, 30200000);
	assert_int_equal(registry_commit(h.r), -EBUSY);
	assert_true(turns_digest(h.r) == before);
	/* Later it goes on as if nothing had been. */
	assert_int_equal(sqlite3_exec(h.shell, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(turns_one_more(h.r, &generation), 0);
}

static void outside_of_a_turn_it_is_the_same(void **state)
{
	struct registry_clock c = { .mono = 1 };

	(void)state;
	h.release_at = 2000000;
	assert_int_equal(registry_checkpoint(h.r, &c), 0);
	assert_int_equal(h.told[1], 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(who_holds_the_file_is_waited_for),
		T(a_moment_is_not_worth_a_word),
		T(half_a_minute_is_the_most),
		T(outside_of_a_turn_it_is_the_same),
	};

	return cmocka_run_group_tests_name("registry that somebody else holds", tests, NULL, NULL);
}
