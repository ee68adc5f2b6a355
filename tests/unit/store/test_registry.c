/* What store/registry.h promises of rows, ledger and file, in good order and in bad. Crashes: test_registry_crash.c. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/duration.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"
#include "tests/unit/store/sample.h"

struct world {
	struct scratch scratch;
	char path[PATH_MAX + 16];
	char err[256];
	struct registry *r;
};

static int setup(void **state)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	scratch_make(&w.scratch);
	snprintf(w.path, sizeof(w.path), "%s/lease.db", w.scratch.path);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	registry_close(w->r);
	scratch_remove(&w->scratch);
	return 0;
}

static struct registry *open_it(struct world *w)
{
	int r = registry_open(w->path, &w->r, w->err);

	if (r < 0)
		fail_msg("registry_open: %d: %s", r, w->err);
	return w->r;
}

static void close_it(struct world *w)
{
	registry_close(w->r);
	w->r = NULL;
}

/* As somebody with the sqlite3 shell, while the daemon has it open or not. Gives SQLite's code. */
static int by_hand(struct world *w, const char *sql)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

static void put(struct registry *r, const struct lease *l)
{
	assert_int_equal(registry_begin(r), 0);
	assert_int_equal(registry_put(r, l), 0);
	assert_int_equal(registry_commit(r), 0);
}

struct loaded {
	int n;
	struct lease last;
};

static int keep_last(void *arg, const struct lease *l)
{
	struct loaded *loaded = arg;

	loaded->n++;
	loaded->last = *l;
	return 0;
}

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
		assert_int_equal(registry_load(w->r, keep_last, &loaded), -EBADMSG);
		assert_int_equal(loaded.n, 2);
		assert_non_null(strstr(registry_error(w->r), "kls-aaaaaaaaab"));
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

static uint64_t next_generation(struct registry *r, bool commit)
{
	uint64_t g = 0;

	assert_int_equal(registry_begin(r), 0);
	assert_int_equal(registry_next_generation(r, &g), 0);
	if (commit)
		assert_int_equal(registry_commit(r), 0);
	else
		registry_rollback(r);
	return g;
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
	struct registry_clock c = { .mono = 5, .boot = -6, .wall = INT64_MAX, .boot_id = "01234567-89ab-cdef-0123-456789abcdef" }, d;
	struct world *w = *state;
	char value[16];

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
	assert_int_equal(by_hand(w, "PRAGMA user_version = 2"), SQLITE_OK);
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
	struct lease l;
	int fd;

	open_it(w);
	for (int n = 0; n < 20; n++) {
		sample_lease(&l, n);
		put(w->r, &l);
	}
	close_it(w);
	memset(junk, 0xa5, sizeof(junk));
	fd = open(w->path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	/* Page 1 has the schema; the first table's root is page 2. */
	assert_int_equal(pwrite(fd, junk, sizeof(junk), 4096), sizeof(junk));
	close(fd);
	if (registry_open(w->path, &w->r, w->err) == 0)
		assert_int_equal(registry_load(w->r, keep_last, &loaded), -EBADMSG);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
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
		T(a_turn_without_a_change_writes_nothing),
		T(generations_only_grow),
		T(the_checkpoint_and_small_values_come_back),
		T(only_its_owner_reads_it),
		T(two_daemons_do_not_share_one),
		T(a_reader_does_not_hold_the_writer_up),
		T(what_is_no_database_is_refused_and_left_alone),
		T(a_database_of_something_else_is_refused_and_left_alone),
		T(a_newer_format_is_refused_and_left_alone),
		T(a_file_that_others_read_and_a_link_are_refused),
		T(a_damaged_page_is_an_error_not_an_answer),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
