/* What store/registry.h promises of rows, ledger and turns. The file: test_registry_file.c. Crashes: test_registry_crash.c. */
#include "config.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lease/duration.h"
#include "tests/unit/lease/test.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/store/world.h"

static int stop_at_first(void *arg, const struct lease *l)
{
	(void)l;
	++*(int *)arg;
	return 77;
}

static void a_lease_comes_back_as_it_was_stored(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	struct lease l;

	sample_lease(&l, 1);
	put(open_it(w), &l);
	close_it(w);
	assert_int_equal(registry_load(open_it(w), keep_last, &loaded), 0);
	assert_int_equal(loaded.n, 1);
	assert_true(sample_same(&l, &loaded.last));
}

static void what_is_of_one_run_only_is_not_stored(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	struct lease l;

	sample_lease(&l, 1);
	l.act_deadline = 5, l.execs = 6, l.cpu_at = 7, l.cpu_broken = true;
	put(open_it(w), &l);
	assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
	assert_true(loaded.last.act_deadline == 0 && loaded.last.execs == 0 && loaded.last.cpu_at == 0);
	assert_false(loaded.last.cpu_broken);
}

static void every_state_that_is_no_end_can_be_kept(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	struct lease l;

	sample_lease(&l, 1);
	open_it(w);
	for (int s = ST_NONE + 1; s < ST_MAX; s++) {
		l.state = (enum state)s;
		if (state_ended(l.state))
			continue;
		put(w->r, &l);
		assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
		assert_int_equal(loaded.last.state, s);
	}
}

static void an_ended_lease_is_not_a_row(void **state)
{
	struct world *w = *state;
	struct lease l;

	sample_lease(&l, 1);
	l.state = ST_REAPED;
	open_it(w);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_put(w->r, &l), -EINVAL);
	assert_int_equal(registry_commit(w->r), -EINVAL);
}

static void a_put_again_changes_the_row_and_makes_no_second_one(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	struct lease l;

	sample_lease(&l, 1);
	put(open_it(w), &l);
	l.state = ST_IDLE;
	l.disk = false;
	l.policy.ttl = LEASE_NEVER;
	put(w->r, &l);
	assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
	assert_int_equal(loaded.n, 1);
	assert_true(sample_same(&l, &loaded.last));
}

static void loading_stops_when_it_is_told_to(void **state)
{
	struct world *w = *state;
	struct lease l;
	int n = 0;

	open_it(w);
	for (int i = 0; i < 3; i++) {
		sample_lease(&l, i);
		put(w->r, &l);
	}
	assert_int_equal(registry_load(w->r, stop_at_first, &n), 77);
	assert_int_equal(n, 1);
}

static void a_row_that_cannot_be_read_is_told_and_hides_no_other(void **state)
{
	static const char *const damage[] = {
		"UPDATE lease SET state = 'asleep' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET state = 'reaped' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET record = 'rubbish' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET uid = -1 WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET uid = 'rosa' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET warned = 2 WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET ttl_ns = -5 WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET ttl_ns = 0 WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET usage = 'seldom' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET priority = 5000000000 WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET lock = 'lock-k-go-rosa-kls-aaaaaaaaaa' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET why = 'a' || char(0) || 'b' WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET user = printf('%0100d', 0) WHERE id = 'kls-aaaaaaaaab'",
		"UPDATE lease SET id = 'kls-aaaaaaaaab ' WHERE id = 'kls-aaaaaaaaab'",
	};
	struct world *w = *state;
	struct lease l;

	for (size_t i = 0; i < N_OF(damage); i++) {
		struct loaded loaded = { 0 };

		open_it(w);
		for (int n = 0; n < 3; n++) {
			sample_lease(&l, n);
			put(w->r, &l);
		}
		assert_int_equal(by_hand(w, damage[i]), SQLITE_OK);
		assert_int_equal(registry_load(w->r, keep_last, &loaded), -EUCLEAN);
		assert_int_equal(loaded.n, 2);
		assert_non_null(strstr(registry_error(w->r), "kls-aaaaaaaaab"));
		/* Alone it is no more than that, but for one that has no such id any more. */
		assert_int_equal(registry_find(w->r, "kls-aaaaaaaaab", &l), i == N_OF(damage) - 1 ? -ENOENT : -EUCLEAN);
		close_it(w);
		assert_int_equal(by_hand(w, "DELETE FROM lease"), SQLITE_OK);
	}
}

static void the_ledger_answers_the_last_steps_oldest_first(void **state)
{
	static const enum state life[] = { ST_REQUESTED, ST_STARTING, ST_ACTIVE, ST_IDLE, ST_EXPIRED };
	struct world *w = *state;
	struct ledger_row row, rows[8];
	const char *from = "-";
	struct lease l;
	int n;

	sample_lease(&l, 1);
	open_it(w);
	assert_int_equal(registry_begin(w->r), 0);
	for (size_t i = 0; i < N_OF(life); i++) {
		l.state = life[i];
		sample_line(&row, &l, from);
		row.lateness_ms = i == 4 ? 3 : -1;
		assert_int_equal(registry_ledger(w->r, &row), 0);
		assert_int_equal(row.seq, i + 1);
		from = state_public(life[i]);
	}
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(registry_history(w->r, l.id, 3, rows, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(rows[0].to, "active");
	assert_string_equal(rows[2].to, "expired");
	assert_int_equal(rows[2].lateness_ms, 3);
	assert_int_equal(registry_history(w->r, l.id, 8, rows, &n), 0);
	assert_int_equal(n, 5);
	assert_string_equal(rows[0].from, "-");
	assert_true(rows[0].zombie_ms == -1 && rows[0].lateness_ms == -1);
	assert_string_equal(rows[0].labels, "project=kruze\nnote=x");
	assert_int_equal(rows[0].at, 1700000000123);
	assert_int_equal(rows[0].requester, 4294967294u);
	assert_int_equal(registry_history(w->r, "kls-zzzzzzzzzz", 8, rows, &n), 0);
	assert_int_equal(n, 0);
}

static void the_ledger_has_the_columns_that_readers_ask_for(void **state)
{
	struct world *w = *state;
	struct ledger_row row;
	struct lease l;

	sample_lease(&l, 1);
	open_it(w);
	sample_line(&row, &l, "-");
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), 0);
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(by_hand(w, "CREATE TEMP TABLE one(x NOT NULL); INSERT INTO one SELECT CASE WHEN zombie_ms IS NULL AND "
				    "lateness_ms IS NULL THEN seq || at || id || generation || from_state || to_state || "
				    "requester || user || surface || runtime || profile || session || labels || why END "
				    "FROM ledger"), SQLITE_OK);
}

static void nobody_changes_or_drops_a_line_of_the_ledger(void **state)
{
	struct world *w = *state;
	struct ledger_row row;
	struct lease l;

	sample_lease(&l, 1);
	open_it(w);
	sample_line(&row, &l, "-");
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), 0);
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(by_hand(w, "UPDATE ledger SET why = 'other'"), SQLITE_CONSTRAINT);
	assert_int_equal(by_hand(w, "DELETE FROM ledger"), SQLITE_CONSTRAINT);
	assert_int_equal(by_hand(w, "INSERT OR REPLACE INTO ledger SELECT seq, at + 1, id, generation, from_state, to_state, "
				    "requester, user, surface, runtime, profile, session, labels, zombie_ms, lateness_ms, why "
				    "FROM ledger"), SQLITE_CONSTRAINT);
}

static void a_lease_has_one_end(void **state)
{
	struct world *w = *state;
	struct ledger_row row;
	struct lease l;

	sample_lease(&l, 1);
	l.state = ST_REAPED;
	sample_line(&row, &l, "expired");
	open_it(w);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), 0);
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), -EEXIST);
	assert_int_equal(registry_commit(w->r), -EEXIST);
}

static void a_line_with_a_word_that_is_not_public_is_refused(void **state)
{
	struct world *w = *state;
	struct ledger_row row;
	struct lease l;

	sample_lease(&l, 1);
	open_it(w);
	sample_line(&row, &l, "reaping");
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), -EINVAL);
	registry_rollback(w->r);
}

static void an_id_is_used_as_long_as_a_row_or_a_line_has_it(void **state)
{
	struct world *w = *state;
	struct ledger_row row;
	struct lease l;

	sample_lease(&l, 1);
	open_it(w);
	assert_int_equal(registry_id_used(w->r, l.id), 0);
	put(w->r, &l);
	assert_int_equal(registry_id_used(w->r, l.id), 1);
	sample_line(&row, &l, "-");
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), 0);
	assert_int_equal(registry_end_lease(w->r, l.id), 0);
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(registry_id_used(w->r, l.id), 1);
}

static void a_turn_that_failed_leaves_nothing_of_itself(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	struct ledger_row row;
	struct lease l, other;

	sample_lease(&l, 1);
	sample_lease(&other, 2);
	open_it(w);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_put(w->r, &l), 0);
	sample_line(&row, &l, "-");
	row.id[0] = 'x';
	assert_int_equal(registry_ledger(w->r, &row), -EINVAL);
	/* A caller that does not look goes on. */
	assert_int_equal(registry_put(w->r, &other), -EINVAL);
	assert_int_equal(registry_commit(w->r), -EINVAL);
	assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
	assert_int_equal(loaded.n, 0);
	put(w->r, &l);
}

static void a_change_needs_a_turn(void **state)
{
	struct world *w = *state;
	struct lease l;

	sample_lease(&l, 1);
	open_it(w);
	assert_int_equal(registry_put(w->r, &l), -EINVAL);
	assert_int_equal(registry_commit(w->r), -EINVAL);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_begin(w->r), -EINVAL);
	assert_int_equal(registry_commit(w->r), 0);
}

static void a_checkpoint_outside_of_a_turn_stands_at_once(void **state)
{
	struct registry_clock c = { .mono = 5, .boot_id = "x" }, d = { 0 };
	struct world *w = *state;

	open_it(w);
	assert_int_equal(registry_checkpoint(w->r, &c), 0);
	assert_int_equal(registry_begin(w->r), 0);
	registry_rollback(w->r);
	assert_int_equal(registry_last_checkpoint(w->r, &d), 0);
	assert_int_equal(d.mono, 5);
}

static void a_turn_without_a_change_writes_nothing(void **state)
{
	struct world *w = *state;
	struct stat before, after;
	char wal[PATH_MAX + 32];
	struct lease l;

	sample_lease(&l, 1);
	put(open_it(w), &l);
	snprintf(wal, sizeof(wal), "%s-wal", w->path);
	assert_int_equal(stat(wal, &before), 0);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(stat(wal, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

static void generations_only_grow(void **state)
{
	struct world *w = *state;
	struct ledger_row row;
	struct lease l;

	assert_int_equal(next_generation(open_it(w), true), 1);
	assert_int_equal(next_generation(w->r, false), 2);
	assert_int_equal(next_generation(w->r, true), 3);
	close_it(w);
	assert_int_equal(next_generation(open_it(w), true), 4);
	/* meta is gone: what the ledger or a live row has was given once. */
	sample_lease(&l, 1);
	l.generation = 99;
	sample_line(&row, &l, "-");
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), 0);
	assert_int_equal(registry_commit(w->r), 0);
	close_it(w);
	assert_int_equal(by_hand(w, "DELETE FROM meta"), SQLITE_OK);
	assert_int_equal(next_generation(open_it(w), true), 100);
	l.generation = 500;
	put(w->r, &l);
	close_it(w);
	assert_int_equal(next_generation(open_it(w), true), 501);
}

static void the_checkpoint_and_small_values_come_back(void **state)
{
	struct registry_clock c = { .mono = 5, .boot = -6, .wall = INT64_MAX }, d;
	struct world *w = *state;
	char value[16];

	memcpy(c.boot_id, "01234567-89ab-cdef-0123-456789abcdef", sizeof(c.boot_id));
	open_it(w);
	assert_int_equal(registry_last_checkpoint(w->r, &d), -ENOENT);
	assert_int_equal(registry_get(w->r, "hold", value, sizeof(value)), -ENOENT);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_checkpoint(w->r, &c), 0);
	assert_int_equal(registry_set(w->r, "hold", "1234 root"), 0);
	assert_int_equal(registry_commit(w->r), 0);
	close_it(w);
	open_it(w);
	assert_int_equal(registry_last_checkpoint(w->r, &d), 0);
	assert_true(d.mono == c.mono && d.boot == c.boot && d.wall == c.wall);
	assert_string_equal(d.boot_id, c.boot_id);
	assert_int_equal(registry_get(w->r, "hold", value, sizeof(value)), 0);
	assert_string_equal(value, "1234 root");
	assert_int_equal(registry_get(w->r, "hold", value, 9), -ENOSPC);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_set(w->r, "hold", NULL), 0);
	assert_int_equal(registry_commit(w->r), 0);
	assert_int_equal(registry_get(w->r, "hold", value, sizeof(value)), -ENOENT);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_set(w->r, "generation", "0"), -EINVAL);
	registry_rollback(w->r);
	assert_int_equal(by_hand(w, "UPDATE meta SET value = 'mono=1 boot=x' WHERE key = 'checkpoint'"), SQLITE_OK);
	assert_int_equal(registry_last_checkpoint(w->r, &d), -EBADMSG);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(a_lease_comes_back_as_it_was_stored),
		T(what_is_of_one_run_only_is_not_stored),
		T(every_state_that_is_no_end_can_be_kept),
		T(an_ended_lease_is_not_a_row),
		T(a_put_again_changes_the_row_and_makes_no_second_one),
		T(loading_stops_when_it_is_told_to),
		T(a_row_that_cannot_be_read_is_told_and_hides_no_other),
		T(the_ledger_answers_the_last_steps_oldest_first),
		T(the_ledger_has_the_columns_that_readers_ask_for),
		T(nobody_changes_or_drops_a_line_of_the_ledger),
		T(a_lease_has_one_end),
		T(a_line_with_a_word_that_is_not_public_is_refused),
		T(an_id_is_used_as_long_as_a_row_or_a_line_has_it),
		T(a_turn_that_failed_leaves_nothing_of_itself),
		T(a_change_needs_a_turn),
		T(a_checkpoint_outside_of_a_turn_stands_at_once),
		T(a_turn_without_a_change_writes_nothing),
		T(generations_only_grow),
		T(the_checkpoint_and_small_values_come_back),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
