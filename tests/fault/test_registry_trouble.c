/*
 * The disk refuses, at each write or sync in turn; the daemon ends, as it does, and is started again; it works on, and
 * then the power goes. What was acknowledged before and after is there. A sync that failed is the worst of it: Linux
 * takes the pages for written, so that no later sync writes them, and yet they can be read.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/registry-private.h"
#include "tests/fault/memdisk.h"
#include "tests/fault/turns.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define TURNS 12

static const struct refusal {
	const char *name;
	bool sync;
	int code;
	bool for_good; /* until the next daemon */
	int error;
} refusals[] = {
	{ "a full disk", false, SQLITE_FULL, true, -ENOSPC },
	{ "a disk that was full once", false, SQLITE_FULL, false, -ENOSPC },
	{ "a write that fails", false, SQLITE_IOERR_WRITE, false, -EIO },
	{ "a sync that fails", true, SQLITE_IOERR_FSYNC, false, -EIO },
	{ "syncs that fail", true, SQLITE_IOERR_FSYNC, true, -EIO },
};

static struct scratch scratch;
static char path[PATH_MAX + 16], where[128];
static uint64_t seed;
static struct memdisk *disk;

static uint32_t nothing_survives(void *arg, uint32_t below)
{
	(void)arg;
	(void)below;
	return 0;
}

static struct registry *open_it(void)
{
	struct registry *r;
	char err[256];

	if (registry_open(path, &r, err) < 0)
		fail_msg("%s: %s", where, err);
	/* So that the WAL is written back now and then. */
	r->wal_limit = 20;
	return r;
}

static int lines(struct registry *r)
{
	sqlite3_stmt *st;
	int n = -1;

	if (sqlite3_prepare_v2(r->db, "SELECT count(*) FROM ledger", -1, &st, NULL) == SQLITE_OK) {
		if (sqlite3_step(st) == SQLITE_ROW)
			n = sqlite3_column_int(st, 0);
		sqlite3_finalize(st);
	}
	return n;
}

static void refuse(const struct refusal *f, int at)
{
	if (f->sync)
		memdisk_fail_syncs(disk, at, f->code, f->for_good);
	else
		memdisk_fail_writes(disk, at, f->code, f->for_good);
}

static void expect(bool ok, const char *what)
{
	if (!ok)
		fail_msg("%s: %s", where, what);
}

/* An end in good order; or by kill -9, where the next one finds the WAL as it lies. */
static void end(struct registry *r, bool killed)
{
	if (killed)
		memdisk_die(disk);
	registry_close(r);
	memdisk_crash(disk);
}

/* Gives how many calls failed. goes_on: the daemon does, as after a checkpoint of its clocks that was refused. */
static int live(const struct refusal *f, int at, memdisk_choose *choose, bool goes_on)
{
	uint64_t generation, last = 0, digest, lost = (uint64_t)at;
	int acknowledged = 0, e = 0, failed, there;
	struct registry *r;

	snprintf(where, sizeof(where), "%s, no. %d, %s", f->name, at, goes_on ? "and it goes on" : "and it ends");
	seed = 11;
	disk = memdisk_new(turns_seeded, &seed);
	assert_int_equal(memdisk_register(disk, "trouble", true), SQLITE_OK);
	turns_folder_is_on(disk, path);
	r = open_it();
	refuse(f, at);
	for (int i = 0; i < TURNS && e == 0; i++) {
		e = turns_one_more(r, &generation);
		if (e == 0)
			acknowledged++, last = generation;
	}
	expect(e == 0 || e == f->error, "another error");
	if (!goes_on)
		end(r, at % 2);
	failed = memdisk_failed(disk);
	refuse(f, 0);
	if (!goes_on)
		r = open_it();
	there = lines(r);
	expect(there == acknowledged || (e < 0 && there == acknowledged + 1), "a turn is lost, or half there");
	for (int i = 0; i < 2; i++) {
		expect(turns_one_more(r, &generation) == 0, "it does not go on");
		expect(generation > last, "a generation is given twice");
		last = generation;
	}
	digest = turns_digest(r);
	memdisk_die(disk);
	registry_close(r);
	memdisk_power_loss(disk, choose, &lost);
	r = open_it();
	expect(lines(r) == there + 2, "what was acknowledged after the failure is lost");
	expect(turns_digest(r) == digest && turns_intact(r), "it is not as it was");
	registry_close(r);
	turns_folder_is_on(NULL, NULL);
	memdisk_free(disk);
	return failed;
}

static void what_was_acknowledged_after_a_refusal_survives(void **state)
{
	(void)state;
	scratch_make(&scratch);
	snprintf(path, sizeof(path), "%s/lease.db", scratch.path);
	for (size_t i = 0; i < N_OF(refusals); i++) {
		int at = 1;

		while (live(&refusals[i], at, nothing_survives, false) > 0) {
			(void)live(&refusals[i], at, nothing_survives, true);
			(void)live(&refusals[i], at, turns_seeded, at % 2);
			at++;
		}
		assert_in_range(at, 10, 500);
	}
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_acknowledged_after_a_refusal_survives),
	};

	return cmocka_run_group_tests_name("registry on a disk that refuses", tests, NULL, NULL);
}
