/*
 * Registries that older versions have left: format-N.sql beside this file, each as that version wrote it. Whatever the
 * format is today, every lease, line and small value is found as it was.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/duration.h"
#include "store/registry-schema.h"
#include "tests/unit/lease/test.h"
#include "tests/unit/store/old.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/store/world.h"

/* What a column said, out of the lease that was read. NULL: it said NULL. */
static const char *told(const struct lease *l, const char *column, char buf[LEASE_FILE_MAX])
{
	const struct policy *p = &l->policy;
	const struct {
		const char *column, *text;
	} texts[] = {
		{ "id", l->id }, { "lock", l->name }, { "user", l->user }, { "state", state_name(l->state) },
		{ "why", l->why }, { "runtime", p->runtime }, { "usage", lease_usage_name(p->usage) },
	};
	const struct {
		const char *column;
		int64_t n;
		bool duration;
	} numbers[] = {
		{ "uid", l->uid, false },
		{ "generation", (int64_t)l->generation, false },
		{ "priority", p->priority, false },
		{ "max_priority", p->max_priority, false },
		{ "cpu_floor_ppm", p->cpu_floor_ppm, false },
		{ "ttl_ns", p->ttl, true },
		{ "renew_grace_ns", p->renew_grace, true },
		{ "hibernate_after_ns", p->hibernate_after, true },
		{ "warn_before_ns", p->warn_before, true },
		{ "linger_ns", p->linger, true },
		{ "min_ttl_ns", p->min_ttl, true },
		{ "max_ttl_ns", p->max_ttl, true },
		{ "max_lifetime_ns", p->max_lifetime, true },
		{ "hibernated_retention_ns", p->hibernated_retention, true },
		{ "dev", (int64_t)l->dev, false },
		{ "ino", (int64_t)l->ino, false },
		{ "mtime_ns", l->mtime, false },
		{ "created_mono_ns", l->created, false },
		{ "since_mono_ns", l->since, false },
		{ "renewed_mono_ns", l->renewed, false },
		{ "used_mono_ns", l->used, false },
		{ "restart_credit_ns", l->restart_credit, false },
		{ "created_wall_ns", l->created_wall, false },
		{ "since_wall_ns", l->since_wall, false },
		{ "last_beat_wall_ns", l->last_beat_wall, false },
		{ "work_ended_mono_ns", l->work_ended, false },
		{ "attempts", l->attempts, false },
		{ "disk", l->disk, false },
		{ "wanted", l->wanted, false },
		{ "lock_lost", l->lock_lost, false },
		{ "leader_alive", l->leader_alive, false },
		{ "warned", l->warned, false },
		{ "away_ns", l->away, false },
		{ "written_mono_ns", l->written, false },
	};
	size_t len;

	for (size_t i = 0; i < N_OF(texts); i++)
		if (strcmp(column, texts[i].column) == 0)
			return texts[i].text;
	for (size_t i = 0; i < N_OF(numbers); i++)
		if (strcmp(column, numbers[i].column) == 0) {
			if (numbers[i].duration && numbers[i].n == LEASE_NEVER)
				return NULL;
			snprintf(buf, LEASE_FILE_MAX, "%" PRId64, numbers[i].n);
			return buf;
		}
	assert_string_equal(column, "record");
	assert_int_equal(lease_record_format(&l->record, buf, LEASE_FILE_MAX, &len), 0);
	buf[len] = '\0';
	return buf;
}

static sqlite3_stmt *select_from(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	return st;
}

/* The old file's own words, to compare with: never opened by the registry. */
struct old {
	sqlite3 *db;
	int n;
};

static int as_it_was(void *arg, const struct lease *l)
{
	struct old *old = arg;
	sqlite3_stmt *st = select_from(old->db, "SELECT * FROM lease WHERE id = ?1");
	char buf[LEASE_FILE_MAX];

	sqlite3_bind_text(st, 1, l->id, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	for (int c = 0; c < sqlite3_column_count(st); c++) {
		if (strcmp(sqlite3_column_name(st, c), "rest") == 0)
			continue; /* read by another way */
		const char *was = (const char *)sqlite3_column_text(st, c);
		const char *is = told(l, sqlite3_column_name(st, c), buf);

		if ((was == NULL) != (is == NULL) || (was && strcmp(was, is) != 0))
			fail_msg("%s: %s was %s, is %s", l->id, sqlite3_column_name(st, c), was ? was : "NULL", is ? is : "NULL");
	}
	sqlite3_finalize(st);
	old->n++;
	return 0;
}

static int count(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = select_from(db, sql);
	int n;

	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return n;
}

/* Row by row, column by column. */
static void same_answers(sqlite3 *a, sqlite3 *b, const char *sql)
{
	sqlite3_stmt *x = select_from(a, sql), *y = select_from(b, sql);
	int rc;

	while ((rc = sqlite3_step(x)) == SQLITE_ROW) {
		assert_int_equal(sqlite3_step(y), SQLITE_ROW);
		for (int c = 0; c < sqlite3_column_count(x); c++) {
			const char *s = (const char *)sqlite3_column_text(x, c), *t = (const char *)sqlite3_column_text(y, c);

			assert_int_equal(sqlite3_column_type(x, c), sqlite3_column_type(y, c));
			assert_string_equal(s ? s : "", t ? t : "");
		}
	}
	assert_int_equal(rc, SQLITE_DONE);
	assert_int_equal(sqlite3_step(y), SQLITE_DONE);
	sqlite3_finalize(x);
	sqlite3_finalize(y);
}

static void old_words(struct old *old, int format)
{
	*old = (struct old){ 0 };
	assert_int_equal(sqlite3_open(":memory:", &old->db), SQLITE_OK);
	old_format(old->db, format);
}

/* In place of the one before, if there is one. */
static void make_old_file(struct world *w, int format)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	char path[PATH_MAX + 32];
	sqlite3 *db;

	close_it(w);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", w->path, files[i]);
		(void)unlink(path);
	}
	assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
	old_format(db, format);
	sqlite3_close(db);
	assert_int_equal(chmod(w->path, 0600), 0);
}

static void leases_are_as_they_were(struct world *w, int format)
{
	struct old old;

	make_old_file(w, format);
	old_words(&old, format);
	for (int times = 0; times < 2; times++) { /* the second time it is a file of today */
		old.n = 0;
		if (registry_load(open_it(w), as_it_was, &old) < 0)
			fail_msg("%s", registry_error(w->r));
		assert_int_equal(old.n, count(old.db, "SELECT count(*) FROM lease"));
		assert_true(old.n >= 11); /* one in each state that has a row */
		close_it(w);
	}
	sqlite3_close(old.db);
}

static void every_lease_of_any_format_is_as_it_was(void **state)
{
	for (int format = 1; format <= REGISTRY_FORMAT; format++)
		leases_are_as_they_were(*state, format);
}

struct rests {
	struct lease l;
	struct old old;
	int bad;
};

static int rest_as_it_was(void *arg, bool good, const char *lock)
{
	static const char *const columns[] = {
		"id", "uid", "state", "usage", "ttl_ns", "renew_grace_ns", "warn_before_ns", "max_lifetime_ns", "dev", "ino",
		"mtime_ns", "created_mono_ns", "since_mono_ns", "renewed_mono_ns", "used_mono_ns", "restart_credit_ns",
		"since_wall_ns", "last_beat_wall_ns", "written_mono_ns", "away_ns",
	};
	struct rests *r = arg;
	char sql[128], buf[LEASE_FILE_MAX];

	r->bad += !good;
	for (size_t i = 0; i < N_OF(columns); i++) {
		snprintf(sql, sizeof(sql), "SELECT %s FROM lease WHERE lock = ?1", columns[i]);
		sqlite3_stmt *st = select_from(r->old.db, sql);
		sqlite3_bind_text(st, 1, lock, -1, SQLITE_STATIC);
		assert_int_equal(sqlite3_step(st), SQLITE_ROW);
		const char *was = (const char *)sqlite3_column_text(st, 0), *is = told(&r->l, columns[i], buf);
		if ((was == NULL) != (is == NULL) || (was && strcmp(was, is) != 0))
			fail_msg("%s: %s was %s, is %s", lock, columns[i], was ? was : "NULL", is ? is : "NULL");
		sqlite3_finalize(st);
	}
	r->old.n++;
	return 0;
}

static void what_rested_in_an_older_format_rests_as_it_did(void **state)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	(void)state;
	(void)rest_as_it_was;
	skip(); /* a rest is in numbers of its host, and format-2.sql was written on another */
#else
	struct world *w = *state;
	struct rests r = { .bad = 0 };
	struct loaded others = { 0 };

	make_old_file(w, 2);
	old_words(&r.old, 2);
	open_it(w);
	assert_int_equal(registry_load_rests(w->r, &r.l, rest_as_it_was, &r), 0);
	assert_true(r.old.n == 3 && r.bad == 0);
	assert_int_equal(registry_load_others(w->r, keep_last, &others), 0);
	assert_int_equal(others.n + r.old.n, count(r.old.db, "SELECT count(*) FROM lease"));
	sqlite3_close(r.old.db);
#endif
}

static void lines_are_as_they_were(struct world *w, int format)
{
	static const char lines[] = "SELECT seq, at, id, generation, from_state, to_state, requester, user, surface, runtime, "
				    "profile, session, labels, zombie_ms, lateness_ms, why FROM ledger ORDER BY seq";
	struct ledger_row row;
	struct old old;
	sqlite3 *now;
	struct lease l;

	make_old_file(w, format);
	old_words(&old, format);
	open_it(w);
	assert_int_equal(sqlite3_open_v2(w->path, &now, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	same_answers(old.db, now, lines);
	assert_true(count(now, "SELECT count(*) FROM ledger") >= 40);
	sqlite3_close(now);
	sqlite3_close(old.db);
	/* It goes on being what it was: append-only, one end a lease, ids never used twice. */
	assert_int_equal(by_hand(w, "UPDATE ledger SET why = 'other'"), SQLITE_CONSTRAINT);
	assert_int_equal(by_hand(w, "DELETE FROM ledger"), SQLITE_CONSTRAINT);
	sample_lease(&l, 12);
	assert_int_equal(registry_id_used(w->r, l.id), 1);
	l.state = ST_REAPED;
	sample_line(&row, &l, "expired");
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_ledger(w->r, &row), -EEXIST);
	registry_rollback(w->r);
}

static void every_line_of_any_format_is_as_it_was(void **state)
{
	for (int format = 1; format <= REGISTRY_FORMAT; format++)
		lines_are_as_they_were(*state, format);
}

static void small_values_go_on(struct world *w, int format)
{
	struct registry_clock c;
	char hold[64];

	make_old_file(w, format);
	open_it(w);
	assert_int_equal(registry_get(w->r, "hold", hold, sizeof(hold)), 0);
	assert_string_equal(hold, "1700000100000000000 root");
	assert_int_equal(registry_last_checkpoint(w->r, &c), 0);
	assert_true(c.mono == 123456789012345 && c.boot == 123456789099999 && c.wall == 1700000002000000000);
	assert_string_equal(c.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
	assert_int_equal(next_generation(w->r, true), format == 1 ? 61 : 64);
	assert_int_equal(c.away, format == 1 ? 0 : 5000);
	assert_int_equal(registry_get(w->r, "hold_length", hold, sizeof(hold)), format == 1 ? -ENOENT : 0);
}

static void a_hold_a_checkpoint_and_the_generation_of_any_format_go_on(void **state)
{
	for (int format = 1; format <= REGISTRY_FORMAT; format++)
		small_values_go_on(*state, format);
}

static void one_is_changed_and_ended(struct world *w, int format)
{
	struct loaded loaded = { 0 };
	struct lease l;
	int n;

	make_old_file(w, format);
	open_it(w);
	assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
	l = loaded.last;
	n = loaded.n;
	l.attempts = 99;
	put(w->r, &l);
	assert_int_equal(registry_begin(w->r), 0);
	assert_int_equal(registry_end_lease(w->r, l.id), 0);
	assert_int_equal(registry_commit(w->r), 0);
	loaded.n = 0;
	assert_int_equal(registry_load(w->r, keep_last, &loaded), 0);
	assert_int_equal(loaded.n, n - 1);
}

static void a_lease_of_any_format_can_be_changed_and_ended(void **state)
{
	for (int format = 1; format <= REGISTRY_FORMAT; format++)
		one_is_changed_and_ended(*state, format);
}

static void bytes_of(const char *path, unsigned char **ret, size_t *ret_len)
{
	FILE *f = fopen(path, "re");
	size_t n;

	*ret = malloc(1 << 20);
	assert_non_null(f);
	assert_non_null(*ret);
	n = fread(*ret, 1, 1 << 20, f);
	assert_true(n < 1 << 20);
	*ret_len = n;
	(void)fclose(f);
}

/* One whose last turns still lie in its -wal: the newer daemon was killed. */
static void a_newer_format_is_left_alone_to_the_last_byte(void **state)
{
	static const char *const files[] = { "", "-wal" };
	struct world *w = *state;
	unsigned char *before[2], *after;
	size_t len[2], n;
	sqlite3 *db;

	make_old_file(w, REGISTRY_FORMAT);
	assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1000; CREATE TABLE more(x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	for (int i = 0; i < 2; i++) {
		char path[PATH_MAX + 32];

		snprintf(path, sizeof(path), "%s%s", w->path, files[i]);
		assert_int_equal(chmod(path, 0600), 0);
		bytes_of(path, &before[i], &len[i]);
		assert_true(len[i] > 0);
	}
	assert_int_equal(registry_open(w->path, &w->r, w->err), -EPROTO);
	assert_non_null(strstr(w->err, "1000"));
	assert_non_null(strstr(w->err, "newer leasewatch"));
	for (int i = 0; i < 2; i++) {
		char path[PATH_MAX + 32];

		snprintf(path, sizeof(path), "%s%s", w->path, files[i]);
		bytes_of(path, &after, &n);
		assert_int_equal(n, len[i]);
		assert_memory_equal(after, before[i], n);
		free(after);
		free(before[i]);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(every_lease_of_any_format_is_as_it_was),
		T(what_rested_in_an_older_format_rests_as_it_did),
		T(every_line_of_any_format_is_as_it_was),
		T(a_hold_a_checkpoint_and_the_generation_of_any_format_go_on),
		T(a_lease_of_any_format_can_be_changed_and_ended),
		T(a_newer_format_is_left_alone_to_the_last_byte),
	};

	return cmocka_run_group_tests_name("registry: formats of other versions", tests, NULL, NULL);
}
