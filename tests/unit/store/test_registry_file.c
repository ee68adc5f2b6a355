/* What store/registry.h promises of the file: who may read it, who has it, and what is refused and left alone. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/store/world.h"

static void only_its_owner_reads_it(void **state)
{
	static const char *const names[] = { "lease.db", "lease.db-wal", "lease.db-shm" };
	struct world *w = *state;
	mode_t old = umask(0);
	struct lease l;
	struct stat st;

	sample_lease(&l, 1);
	put(open_it(w), &l);
	umask(old);
	for (size_t i = 0; i < N_OF(names); i++) {
		assert_int_equal(fstatat(w->scratch.fd, names[i], &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
}

static void two_daemons_do_not_share_one(void **state)
{
	struct world *w = *state;
	struct registry *second;

	open_it(w);
	assert_int_equal(registry_open(w->path, &second, w->err), -EBUSY);
	assert_non_null(strstr(w->err, "another daemon"));
	/* The refused one has taken none of the first one's locks with it. */
	assert_int_equal(next_generation(w->r, true), 1);
}

static void a_reader_does_not_hold_the_writer_up(void **state)
{
	struct world *w = *state;
	struct lease l;
	sqlite3 *db;

	sample_lease(&l, 1);
	put(open_it(w), &l);
	assert_int_equal(sqlite3_open_v2(w->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM ledger", NULL, NULL, NULL), SQLITE_OK);
	put(w->r, &l);
	sqlite3_close(db);
}

static void refuses(struct world *w, int error, const char *word)
{
	struct stat before, after;

	assert_int_equal(lstat(w->path, &before), 0);
	assert_int_equal(registry_open(w->path, &w->r, w->err), error);
	assert_non_null(strstr(w->err, w->path));
	if (!strstr(w->err, word))
		fail_msg("no '%s' in: %s", word, w->err);
	assert_int_equal(lstat(w->path, &after), 0);
	assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size && before.st_mode == after.st_mode);
	assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

static void what_is_no_database_is_refused_and_left_alone(void **state)
{
	static const char text[] = "Dear diary, this has nothing to do with leases, and it is longer than a header of SQLite: so "
				   "it cannot be taken for an empty file or for one that was cut off.\n";
	struct world *w = *state;

	scratch_write(w->scratch.fd, "lease.db", text, sizeof(text) - 1);
	assert_int_equal(fchmodat(w->scratch.fd, "lease.db", 0600, 0), 0);
	refuses(w, -EBADMSG, "no registry of leasewatch");
	assert_true(scratch_holds(w->scratch.fd, "lease.db", text, sizeof(text) - 1));
}

static void a_database_of_something_else_is_refused_and_left_alone(void **state)
{
	struct world *w = *state;

	assert_int_equal(by_hand(w, "CREATE TABLE lease(id)"), SQLITE_OK);
	assert_int_equal(fchmodat(w->scratch.fd, "lease.db", 0600, 0), 0);
	refuses(w, -EBADMSG, "something else");
}

static void a_newer_format_is_refused_and_left_alone(void **state)
{
	struct world *w = *state;

	open_it(w);
	close_it(w);
	assert_int_equal(by_hand(w, "PRAGMA user_version = 1000"), SQLITE_OK);
	refuses(w, -EPROTO, "newer");
}

static void a_file_that_others_read_and_a_link_are_refused(void **state)
{
	struct world *w = *state;

	open_it(w);
	close_it(w);
	assert_int_equal(fchmodat(w->scratch.fd, "lease.db", 0644, 0), 0);
	refuses(w, -EPERM, "0644");
	assert_int_equal(fchmodat(w->scratch.fd, "lease.db", 0600, 0), 0);
	assert_int_equal(renameat(w->scratch.fd, "lease.db", w->scratch.fd, "there.db"), 0);
	assert_int_equal(symlinkat("there.db", w->scratch.fd, "lease.db"), 0);
	refuses(w, -ELOOP, "link");
	assert_int_equal(unlinkat(w->scratch.fd, "lease.db", 0), 0);
	assert_int_equal(linkat(w->scratch.fd, "there.db", w->scratch.fd, "lease.db", 0), 0);
	refuses(w, -EINVAL, "one name");
}

static void a_damaged_page_is_an_error_not_an_answer(void **state)
{
	struct world *w = *state;
	struct loaded loaded = { 0 };
	char junk[4096];
	sqlite3_stmt *st;
	struct lease l;
	sqlite3 *db;
	int fd, page;

	open_it(w);
	for (int n = 0; n < 20; n++) {
		sample_lease(&l, n);
		put(w->r, &l);
	}
	close_it(w);
	assert_int_equal(sqlite3_open_v2(w->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'lease'", -1, &st, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	page = sqlite3_column_int(st, 0);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	memset(junk, 0xa5, sizeof(junk));
	fd = open(w->path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, junk, sizeof(junk), (off_t)(page - 1) * 4096), sizeof(junk));
	close(fd);
	if (registry_open(w->path, &w->r, w->err) == 0)
		assert_int_equal(registry_load(w->r, keep_last, &loaded), -EBADMSG);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(only_its_owner_reads_it),
		T(two_daemons_do_not_share_one),
		T(a_reader_does_not_hold_the_writer_up),
		T(what_is_no_database_is_refused_and_left_alone),
		T(a_database_of_something_else_is_refused_and_left_alone),
		T(a_newer_format_is_refused_and_left_alone),
		T(a_file_that_others_read_and_a_link_are_refused),
		T(a_damaged_page_is_an_error_not_an_answer),
	};

	return cmocka_run_group_tests_name("registry: the file", tests, NULL, NULL);
}
