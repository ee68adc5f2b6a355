/* The disk that loses its power must itself be right, or what is proven with it is worth nothing. */
#include "config.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/fault/memdisk.h"
#include "tests/unit/lease/test.h"

#define DB "/disk/a.db"
#define WAL DB "-wal"

/* The same numbers each time (Knuth's MMIX constants). */
static uint32_t seeded(void *arg, uint32_t below)
{
	uint64_t *x = arg;

	*x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*x >> 33) % below;
}

static uint32_t none(void *arg, uint32_t below)
{
	(void)arg;
	(void)below;
	return 0;
}

static uint64_t seed;

static int setup(void **state)
{
	struct memdisk *md = memdisk_new(seeded, &seed);

	seed = 1;
	*state = md;
	return memdisk_register(md, "memdisk", false);
}

static int teardown(void **state)
{
	memdisk_free(*state);
	return 0;
}

static sqlite3 *open_db(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(DB, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "memdisk"), SQLITE_OK);
	return db;
}

static int sql(sqlite3 *db, const char *text)
{
	return sqlite3_exec(db, text, NULL, NULL, NULL);
}

static int number(sqlite3 *db, const char *text)
{
	sqlite3_stmt *st;
	int n = -1;

	if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK)
		return -1;
	if (sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return n;
}

static sqlite3 *open_with_rows(int rows)
{
	sqlite3 *db = open_db();

	assert_int_equal(sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t(x)"), SQLITE_OK);
	for (int i = 0; i < rows; i++)
		assert_int_equal(sql(db, "INSERT INTO t VALUES(randomblob(300))"), SQLITE_OK);
	return db;
}

/* A write of three sectors that nobody synced, behind one that was. */
static void write_and_lose(struct memdisk *md, memdisk_choose *choose, void *arg, unsigned char out[4 * 512])
{
	unsigned char buf[3 * 512];
	int64_t size;
	sqlite3 *db = open_db();

	/* A file with 4 KiB, synced: the first page of an empty database. */
	assert_int_equal(sql(db, "PRAGMA user_version = 1"), SQLITE_OK);
	sqlite3_close(db);
	memset(buf, 0xee, sizeof(buf));
	assert_int_equal(memdisk_write(md, DB, 4096, buf, sizeof(buf)), 0);
	memdisk_power_loss(md, choose, arg);
	memset(out, 0, 4 * 512);
	size = memdisk_size(md, DB) - 4096;
	assert_true(size >= 0 && size <= (int64_t)sizeof(buf));
	assert_int_equal(memdisk_read(md, DB, 4096, out, (size_t)size), 0);
	out[3 * 512] = (unsigned char)(size / 512);
}

static void each_sector_of_an_unsynced_write_may_survive_or_not(void **state)
{
	bool seen[8][4] = { 0 };
	int n = 0;

	for (uint64_t s = 0; s < 400; s++) {
		unsigned char out[4 * 512];
		uint64_t x = s;
		int kept = 0;

		write_and_lose(*state, seeded, &x, out);
		for (int i = 0; i < 3; i++) {
			assert_true(out[512 * i] == 0 || out[512 * i] == 0xee);
			assert_memory_equal(out + 512 * i, out + 512 * i + 1, 511);
			kept |= (out[512 * i] != 0) << i;
		}
		n += !seen[kept][out[3 * 512]];
		seen[kept][out[3 * 512]] = true;
		teardown(state);
		setup(state);
	}
	/* Each size from the last sector that survived up, holes among them: 1 of none, {0}: 1 or 3, ... */
	assert_true(seen[0][0] && seen[0][3] && seen[1][1] && seen[1][3] && seen[2][2] && seen[4][3] && seen[5][3] &&
		    seen[6][3] && seen[7][3] && seen[3][2]);
	assert_true(n >= 10);
}

static void what_was_synced_stays(void **state)
{
	sqlite3 *db = open_with_rows(20);

	memdisk_sync_dir(*state, "/disk");
	memdisk_die(*state);
	sqlite3_close(db);
	memdisk_power_loss(*state, none, NULL);
	db = open_db();
	assert_int_equal(number(db, "SELECT count(*) FROM t"), 20);
	sqlite3_close(db);
}

static void a_name_that_nobody_synced_may_be_lost(void **state)
{
	assert_int_equal(memdisk_make(*state, DB), 0);
	assert_int_equal(memdisk_make(*state, DB), -EEXIST);
	memdisk_power_loss(*state, none, NULL);
	assert_int_equal(memdisk_size(*state, DB), -ENOENT);
	assert_int_equal(memdisk_make(*state, DB), 0);
	memdisk_sync_dir(*state, "/disk");
	memdisk_power_loss(*state, none, NULL);
	assert_int_equal(memdisk_size(*state, DB), 0);
}

static void a_kill_loses_nothing_but_the_locks(void **state)
{
	sqlite3 *db = open_db(), *next;

	assert_int_equal(sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t(x)"), SQLITE_OK);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(1); BEGIN IMMEDIATE; INSERT INTO t VALUES(2)"), SQLITE_OK);
	next = open_db();
	assert_int_equal(sql(next, "INSERT INTO t VALUES(3)"), SQLITE_BUSY);
	sqlite3_close(next);
	memdisk_crash(*state);
	next = open_db();
	assert_int_equal(sql(next, "INSERT INTO t VALUES(3)"), SQLITE_OK);
	/* The dead one's hands reach nothing any more. */
	assert_int_not_equal(sql(db, "COMMIT"), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(number(next, "SELECT sum(x) FROM t"), 4);
	sqlite3_close(next);
}

static void a_dead_process_changes_nothing(void **state)
{
	struct memdisk *md = *state;
	sqlite3 *db = open_with_rows(3);
	int n;

	memdisk_sync_dir(md, "/disk");
	for (n = 0; n < 20; n++) {
		int64_t size = memdisk_size(md, WAL);

		memdisk_die_after(md, n);
		(void)sql(db, "INSERT INTO t VALUES(randomblob(5000))");
		if (!memdisk_dead(md))
			break;
		assert_int_not_equal(sql(db, "INSERT INTO t VALUES(1)"), SQLITE_OK);
		sqlite3_close(db);
		assert_true(memdisk_size(md, WAL) >= size);
		memdisk_power_loss(md, none, NULL);
		db = open_db();
		assert_int_equal(sql(db, "PRAGMA synchronous = FULL"), SQLITE_OK);
		assert_int_equal(number(db, "SELECT count(*) FROM t"), 3);
	}
	assert_in_range(n, 3, 19);
	sqlite3_close(db);
}

static void trouble_comes_when_it_is_asked_for(void **state)
{
	struct memdisk *md = *state;
	sqlite3 *db = open_with_rows(1);

	memdisk_fail_writes(md, 2, SQLITE_FULL, false);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(1)"), SQLITE_FULL);
	assert_int_equal(memdisk_failed(md), 1);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(1)"), SQLITE_OK);
	memdisk_fail_syncs(md, 1, SQLITE_IOERR_FSYNC, true);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(1)"), SQLITE_IOERR);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(1)"), SQLITE_IOERR);
	memdisk_fail_syncs(md, 0, 0, false);
	assert_int_equal(memdisk_failed(md), 2);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(1)"), SQLITE_OK);
	assert_int_equal(number(db, "SELECT count(*) FROM t"), 3);
	sqlite3_close(db);
}

static void what_a_failed_sync_gave_up_is_never_durable(void **state)
{
	struct memdisk *md = *state;
	sqlite3 *db = open_with_rows(1);
	int64_t size;
	char byte;

	memdisk_sync_dir(md, "/disk");
	size = memdisk_size(md, WAL);
	memdisk_fail_syncs(md, 1, SQLITE_IOERR_FSYNC, false);
	assert_int_equal(sql(db, "INSERT INTO t VALUES(randomblob(9000))"), SQLITE_IOERR);
	assert_true(memdisk_size(md, WAL) > size);
	memdisk_die(md);
	sqlite3_close(db);
	memdisk_power_loss(md, none, NULL);
	assert_int_equal(memdisk_size(md, WAL), size);
	assert_int_equal(memdisk_read(md, WAL, size - 1, &byte, 1), 0);
}

static void done_again_from_the_record_it_is_the_same_disk(void **state)
{
	static const char *const names[] = { DB, WAL };
	struct memdisk *md = *state, *again, *copy;
	static unsigned char a[1 << 20], b[1 << 20];
	sqlite3 *db;

	memdisk_record(md);
	db = open_with_rows(30);
	assert_int_equal(sql(db, "DELETE FROM t; PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES(1)"), SQLITE_OK);
	again = memdisk_new(seeded, &seed);
	copy = memdisk_new(seeded, &seed);
	for (size_t i = 0; i < memdisk_recorded(md); i++)
		memdisk_redo(again, md, i);
	memdisk_copy(copy, again);
	memdisk_die(md);
	sqlite3_close(db);
	for (int lost = 0; lost < 2; lost++) {
		for (size_t i = 0; i < N_OF(names); i++) {
			int64_t size = memdisk_size(md, names[i]);

			assert_true(size > 0 && size == memdisk_size(again, names[i]) && size == memdisk_size(copy, names[i]));
			assert_int_equal(memdisk_read(md, names[i], 0, a, (size_t)size), 0);
			assert_int_equal(memdisk_read(again, names[i], 0, b, (size_t)size), 0);
			assert_memory_equal(a, b, (size_t)size);
			assert_int_equal(memdisk_read(copy, names[i], 0, b, (size_t)size), 0);
			assert_memory_equal(a, b, (size_t)size);
		}
		memdisk_power_loss(md, none, NULL);
		memdisk_power_loss(again, none, NULL);
		memdisk_power_loss(copy, none, NULL);
	}
	memdisk_free(again);
	memdisk_free(copy);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_sector_of_an_unsynced_write_may_survive_or_not),
		T(what_was_synced_stays),
		T(a_name_that_nobody_synced_may_be_lost),
		T(a_kill_loses_nothing_but_the_locks),
		T(a_dead_process_changes_nothing),
		T(trouble_comes_when_it_is_asked_for),
		T(what_a_failed_sync_gave_up_is_never_durable),
		T(done_again_from_the_record_it_is_the_same_disk),
	};

	return cmocka_run_group_tests_name("a disk in memory", tests, NULL, NULL);
}
