/*
 * What is left of the registry when the daemon is killed, or the disk refuses: all of a committed turn, nothing
 * of any other.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"
#include "tests/unit/store/sample.h"

#define LEASES 4 /* changed together in each turn */

static void open_it(const char *path, struct registry **r)
{
	char err[256];
	int error = registry_open(path, r, err);

	if (error < 0)
		fail_msg("registry_open: %d: %s", error, err);
}

/*
 * Turn n: each lease goes from active to idle or back, its line says turn n, a generation is taken, meta says
 * n.
 */
static int turn(struct registry *r, int n)
{
	struct ledger_row row;
	struct lease l;
	uint64_t generation;
	char number[16];
	int error = registry_begin(r);

	for (int i = 0; error == 0 && i < LEASES; i++) {
		sample_lease(&l, i);
		l.state = n % 2 ? ST_IDLE : ST_ACTIVE;
		l.attempts = n;
		error = registry_put(r, &l);
		sample_line(&row, &l, n == 1 ? "-" : n % 2 ? "active" : "idle");
		row.at = n;
		if (error == 0)
			error = registry_ledger(r, &row);
	}
	if (error == 0)
		error = registry_next_generation(r, &generation);
	snprintf(number, sizeof(number), "%d", n);
	if (error == 0)
		error = registry_set(r, "turn", number);
	if (error < 0) {
		registry_rollback(r);
		return error;
	}
	return registry_commit(r);
}

struct replay {
	struct registry *r;
	int turn, n;
};

static int as_the_ledger_says(void *arg, const struct lease *l)
{
	struct replay *replay = arg;
	struct ledger_row row;
	int n;

	assert_int_equal(registry_history(replay->r, l->id, 1, &row, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(row.to, state_public(l->state));
	assert_int_equal(row.at, replay->turn);
	assert_int_equal(l->attempts, replay->turn);
	replay->n++;
	return 0;
}

/*
 * Gives the last turn that is in the file, having checked that it and those before it are there whole, and
 * nothing else.
 */
static int whole_prefix(struct registry *r)
{
	struct ledger_row rows[512];
	struct replay replay = { .r = r };
	struct lease l;
	char number[16];
	int n, error = registry_get(r, "turn", number, sizeof(number));

	if (error == -ENOENT) {
		assert_int_equal(registry_load(r, as_the_ledger_says, &replay), 0);
		assert_int_equal(replay.n, 0);
		return 0;
	}
	assert_int_equal(error, 0);
	replay.turn = (int)strtol(number, NULL, 10);
	assert_int_equal(registry_load(r, as_the_ledger_says, &replay), 0);
	assert_int_equal(replay.n, LEASES);
	for (int i = 0; i < LEASES; i++) {
		sample_lease(&l, i);
		assert_int_equal(registry_history(r, l.id, (int)N_OF(rows), rows, &n), 0);
		for (int k = 0; k < n; k++)
			assert_int_equal(rows[k].at, replay.turn - n + 1 + k);
		assert_true(n == replay.turn || n == (int)N_OF(rows));
	}
	return replay.turn;
}

/* The same ones each time (Knuth's MMIX constants): a failure can be had again. */
static long any(long below)
{
	static uint64_t x = 20240229;

	x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (long)(x >> 33) % below;
}

static void nap(long us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	(void)nanosleep(&t, NULL);
}

/* Writes turns until it is killed; each number goes into the pipe only after its commit has returned. */
static void write_until_killed(const char *path, int from, int out)
{
	struct registry *r;
	char err[256];

	if (registry_open(path, &r, err) < 0)
		_exit(1);
	for (int n = from + 1;; n++)
		if (turn(r, n) < 0 || write(out, &n, sizeof(n)) != sizeof(n))
			_exit(1);
}

static void a_kill_at_any_time_leaves_whole_turns(void **state)
{
	char path[PATH_MAX + 16];
	struct scratch scratch;
	struct registry *r;
	int last = 0;

	(void)state;
	scratch_make(&scratch);
	snprintf(path, sizeof(path), "%s/lease.db", scratch.path);
	for (int round = 0; round < 12; round++) {
		int fds[2], status, told = last, found;
		pid_t pid;

		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			write_until_killed(path, last, fds[1]);
		close(fds[1]);
		/* From before the file exists up to some turns later. */
		if (round > 2)
			assert_int_equal(read(fds[0], &told, sizeof(told)), sizeof(told));
		nap(any(20000));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (read(fds[0], &found, sizeof(found)) == sizeof(found))
			told = found;
		close(fds[0]);
		open_it(path, &r);
		found = whole_prefix(r);
		assert_true(found == told || found == told + 1);
		registry_close(r);
		last = found;
	}
	assert_true(last > 0);
	scratch_remove(&scratch);
}

/*
 * Every write and sync of SQLite passes here, and the one that is counted down to fails, and all after it where
 * the disk is full.
 */
static struct {
	sqlite3_io_methods real[2], hooked[2]; /* of the database, of its journals: SQLite gives them different ones */
	int countdown; /* 0 = off */
	bool for_good;
	int failure, failed, syncs;
} disk;

static int fails_now(void)
{
	if (disk.countdown == 0 || (disk.countdown > 1 && disk.countdown--))
		return 0;
	if (!disk.for_good)
		disk.countdown = 0;
	disk.failed++;
	return disk.failure;
}

static const sqlite3_io_methods *real_methods(const sqlite3_file *f)
{
	return &disk.real[f->pMethods - disk.hooked];
}

static int hooked_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 at)
{
	int rc = fails_now();

	return rc ? rc : real_methods(f)->xWrite(f, buf, n, at);
}

static int hooked_sync(sqlite3_file *f, int flags)
{
	int rc = fails_now();

	disk.syncs++;
	return rc ? rc : real_methods(f)->xSync(f, flags);
}

static int hooked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
	sqlite3_vfs *real = vfs->pAppData;
	int rc = real->xOpen(real, name, f, flags, out);

	if (rc == SQLITE_OK && f->pMethods) {
		int i = flags & SQLITE_OPEN_MAIN_DB ? 0 : 1;

		disk.real[i] = disk.hooked[i] = *f->pMethods;
		disk.hooked[i].xWrite = hooked_write;
		disk.hooked[i].xSync = hooked_sync;
		f->pMethods = &disk.hooked[i];
	}
	return rc;
}

static void every_refusal_is_told_and_takes_the_whole_turn(int failure, bool for_good, int want)
{
	char path[PATH_MAX + 16];
	struct scratch scratch;
	struct registry *r;
	int n = 0;

	scratch_make(&scratch);
	snprintf(path, sizeof(path), "%s/lease.db", scratch.path);
	open_it(path, &r);
	disk.failure = failure;
	disk.for_good = for_good;
	for (int at = 1;; at++) {
		int error;

		assert_true(at < 1000);
		disk.countdown = at;
		disk.failed = 0;
		error = turn(r, n + 1);
		disk.countdown = 0;
		if (error == 0)
			n++;
		else
			assert_int_equal(error, want);
		assert_int_equal(whole_prefix(r), n);
		if (disk.failed == 0)
			break; /* the whole turn has fewer writes than that */
		/* A checkpoint may fail behind a commit that stands: then it was no failure of the turn. */
		if (error == 0)
			continue;
		assert_int_equal(turn(r, n + 1), 0);
		n++;
	}
	assert_true(n > 3);
	registry_close(r);
	open_it(path, &r);
	assert_int_equal(whole_prefix(r), n);
	registry_close(r);
	scratch_remove(&scratch);
}

static void a_commit_that_returned_is_on_the_disk(void **state)
{
	char path[PATH_MAX + 16];
	struct scratch scratch;
	struct registry *r;

	(void)state;
	scratch_make(&scratch);
	snprintf(path, sizeof(path), "%s/lease.db", scratch.path);
	open_it(path, &r);
	for (int n = 1; n < 5; n++) {
		disk.syncs = 0;
		assert_int_equal(turn(r, n), 0);
		assert_true(disk.syncs > 0);
	}
	registry_close(r);
	scratch_remove(&scratch);
}

static void a_full_disk_is_told_and_loses_nothing(void **state)
{
	(void)state;
	every_refusal_is_told_and_takes_the_whole_turn(SQLITE_FULL, true, -ENOSPC);
}

static void a_write_or_sync_that_fails_once_is_told_and_loses_nothing(void **state)
{
	(void)state;
	every_refusal_is_told_and_takes_the_whole_turn(SQLITE_IOERR_WRITE, false, -EIO);
}

static void a_file_that_cannot_be_made_whole_is_told_and_made_the_next_time(void **state)
{
	char path[PATH_MAX + 16], err[256];
	struct scratch scratch;
	struct registry *r;

	(void)state;
	disk.failure = SQLITE_FULL;
	disk.for_good = true;
	for (int at = 1;; at++) {
		int error;

		scratch_make(&scratch);
		snprintf(path, sizeof(path), "%s/lease.db", scratch.path);
		disk.countdown = at;
		disk.failed = 0;
		error = registry_open(path, &r, err);
		disk.countdown = 0;
		if (disk.failed > 0 && error < 0) {
			assert_int_equal(error, -ENOSPC);
			assert_non_null(strstr(err, path));
			open_it(path, &r);
		} else {
			assert_int_equal(error, 0);
		}
		assert_int_equal(whole_prefix(r), 0);
		assert_int_equal(turn(r, 1), 0);
		registry_close(r);
		scratch_remove(&scratch);
		if (disk.failed == 0)
			break;
		assert_true(at < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kill_at_any_time_leaves_whole_turns),
		cmocka_unit_test(a_commit_that_returned_is_on_the_disk),
		cmocka_unit_test(a_full_disk_is_told_and_loses_nothing),
		cmocka_unit_test(a_write_or_sync_that_fails_once_is_told_and_loses_nothing),
		cmocka_unit_test(a_file_that_cannot_be_made_whole_is_told_and_made_the_next_time),
	};
	static sqlite3_vfs vfs;
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	vfs = *real;
	vfs.zName = "hooked";
	vfs.pAppData = real;
	vfs.xOpen = hooked_open;
	if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
		return 1;
	return cmocka_run_group_tests_name("registry after a crash", tests, NULL, NULL);
}
