#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/registry-private.h"
#include "tests/fault/turns.h"
#include "tests/unit/lease/test.h"
#include "tests/unit/store/old.h"
#include "tests/unit/store/sample.h"

static struct memdisk *folder_disk;
static const char *folder_path_of_db;

void turns_folder_is_on(struct memdisk *disk, const char *path)
{
	folder_disk = disk;
	folder_path_of_db = path;
}

/*
 * The registry makes its file with open(2), SQLite writes it through its VFS: the name that is new in the real folder
 * is the one in the disk's.
 */
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	char dir[4096];
	struct stat st;

	if (!folder_disk || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return __real_fsync(fd);
	(void)memdisk_make(folder_disk, folder_path_of_db);
	snprintf(dir, sizeof(dir), "%s", folder_path_of_db);
	*strrchr(dir, '/') = '\0';
	memdisk_sync_dir(folder_disk, dir);
	return 0;
}

uint32_t turns_seeded(void *arg, uint32_t below)
{
	uint64_t *x = arg;

	*x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*x >> 33) % below;
}

static void mix(uint64_t *h, const void *buf, size_t len)
{
	const unsigned char *b = buf;

	for (size_t i = 0; i < len; i++)
		*h = (*h ^ b[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
}

uint64_t turns_digest(struct registry *r)
{
	static const char *const tables[] = { "SELECT * FROM lease ORDER BY id", "SELECT * FROM ledger ORDER BY seq",
					      "SELECT * FROM meta ORDER BY key" };
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < N_OF(tables); i++) {
		sqlite3_stmt *st;
		int rc;

		if (sqlite3_prepare_v2(r->db, tables[i], -1, &st, NULL) != SQLITE_OK)
			return 0;
		while ((rc = sqlite3_step(st)) == SQLITE_ROW)
			for (int c = 0; c < sqlite3_column_count(st); c++) {
				const void *s = sqlite3_column_text(st, c);

				mix(&h, s ? s : "", (size_t)sqlite3_column_bytes(st, c) + 1);
			}
		sqlite3_finalize(st);
		if (rc != SQLITE_DONE)
			return 0;
	}
	return h;
}

bool turns_intact(struct registry *r)
{
	sqlite3_stmt *st;
	bool ok = false;

	if (sqlite3_prepare_v2(r->db, "PRAGMA integrity_check", -1, &st, NULL) != SQLITE_OK)
		return false;
	if (sqlite3_step(st) == SQLITE_ROW)
		ok = strcmp((const char *)sqlite3_column_text(st, 0), "ok") == 0;
	sqlite3_finalize(st);
	return ok;
}

static int put(struct registry *r, int id, enum state state, const char *from, struct lease *l)
{
	struct ledger_row row;
	int e;

	sample_lease(l, id);
	l->state = state;
	sample_line(&row, l, from);
	e = state_ended(state) ? registry_end_lease(r, l->id) : registry_put(r, l);
	return e < 0 ? e : registry_ledger(r, &row);
}

/* The end of the lease of four lives ago. */
static int end_one(struct turns *t, struct registry *r, int id, int n)
{
	struct lease l;
	int e = put(r, id - 4, ST_REAPED, "expired", &l);

	if (e == 0 && !t->ended_at) {
		memcpy(t->ended, l.id, sizeof(t->ended));
		t->ended_at = n;
	}
	return e;
}

/* Each lease has a life of six turns; several live at a time. Every kind of change is in it. */
static int change(struct turns *t, struct registry *r, int n, uint64_t *generation)
{
	static const enum state states[6] = { [0] = ST_REQUESTED, [3] = ST_STARTING, [4] = ST_ACTIVE };
	struct registry_clock c = { .mono = n, .boot = n, .wall = n, .boot_id = "01234567-89ab-cdef-0123-456789abcdef" };
	char value[32];
	struct lease l;
	int step = n % 6, id = n / 6, e = 0;

	snprintf(value, sizeof(value), "%d", n);
	if (states[step] != ST_NONE)
		e = put(r, id, states[step], step ? "requested" : "-", &l);
	if (e == 0 && step == 3)
		e = registry_next_generation(r, generation);
	if (e == 0 && step == 5)
		e = registry_set(r, "hold", n % 2 ? value : NULL);
	if (e == 0 && step == 5 && id > 3)
		e = end_one(t, r, id, n);
	for (int i = 0; e == 0 && n % 17 == 0 && i < 12; i++)
		e = put(r, 1000 + i, ST_IDLE, "active", &l);
	return e < 0 ? e : registry_checkpoint(r, &c);
}

static int turn(struct turns *t, struct registry *r, int n)
{
	struct registry_clock c = { .mono = -n, .boot = n, .wall = n };
	uint64_t *generation = &t->after[n].generation;
	int e;

	*generation = t->after[n - 1].generation;
	/* Outside of a turn these are turns of their own. */
	if (n % 6 == 1)
		return registry_checkpoint(r, &c);
	if (n % 6 == 2)
		return registry_next_generation(r, generation);
	e = registry_begin(r);
	if (e == 0)
		e = change(t, r, n, generation);
	if (e == 0)
		return registry_commit(r);
	registry_rollback(r);
	return e;
}

int turns_one_more(struct registry *r, uint64_t *ret_generation)
{
	struct lease l;
	int e = registry_begin(r);

	if (e == 0)
		e = registry_next_generation(r, ret_generation);
	if (e == 0)
		e = put(r, 2000, ST_REQUESTED, "-", &l);
	if (e < 0) {
		registry_rollback(r);
		return e;
	}
	e = registry_commit(r);
	registry_settle(r, false);
	return e;
}

int turns_end_again(struct registry *r, const char *id)
{
	struct ledger_row row;
	struct lease l;
	int e = registry_begin(r);

	sample_lease(&l, 0);
	l.state = ST_REAPED;
	memcpy(l.id, id, sizeof(l.id));
	sample_line(&row, &l, "expired");
	if (e == 0)
		e = registry_ledger(r, &row);
	registry_rollback(r);
	return e;
}

static void acknowledge(struct turns *t, struct registry *r)
{
	t->after[t->n].ops = memdisk_recorded(t->disk);
	t->after[t->n].digest = turns_digest(r);
	assert_int_not_equal(t->after[t->n].digest, 0);
}

static struct registry *open_it(const char *path, const char *synchronous)
{
	char err[256], sql[64];
	struct registry *r;

	if (registry_open(path, &r, err) < 0)
		fail_msg("%s", err);
	/* A life is short here; the WAL is to begin anew in it, and more than once. */
	r->wal_limit = 40;
	snprintf(sql, sizeof(sql), "PRAGMA synchronous = %s", synchronous ? synchronous : "FULL");
	if (synchronous)
		assert_int_equal(sqlite3_exec(r->db, sql, NULL, NULL, NULL), SQLITE_OK);
	return r;
}

static void checkpoint_by_hand(const char *path)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void begin(struct turns *t, const char *path)
{
	static uint64_t seed;

	memset(t, 0, sizeof(*t));
	seed = 7;
	snprintf(t->path, sizeof(t->path), "%s", path);
	t->disk = memdisk_new(turns_seeded, &seed);
	assert_int_equal(memdisk_register(t->disk, "recorded", true), SQLITE_OK);
	turns_folder_is_on(t->disk, t->path);
	memdisk_record(t->disk);
}

void turns_record_upgrade(struct turns *t, const char *path)
{
	struct registry *r;
	char dir[4096];
	sqlite3 *db;

	begin(t, path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	old_format(db, 1);
	sqlite3_close(db);
	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	memdisk_sync_dir(t->disk, dir);
	t->first = memdisk_recorded(t->disk);
	r = open_it(path, NULL);
	acknowledge(t, r);
	registry_close(r);
}

void turns_record(struct turns *t, const char *path, int n, const char *synchronous)
{
	struct registry *r;

	begin(t, path);
	r = open_it(t->path, synchronous);
	acknowledge(t, r);
	for (int i = 1; i <= n; i++) {
		int e = turn(t, r, i);

		if (e < 0)
			fail_msg("turn %d: %d: %s", i, e, registry_error(r));
		t->n++;
		acknowledge(t, r);
		registry_settle(r, i % 5 == 0);
		if (i % 29 == 0)
			checkpoint_by_hand(t->path);
		if (i % 23 == 0) {
			registry_close(r);
			r = open_it(t->path, synchronous);
		}
	}
	registry_close(r);
}

void turns_end(struct turns *t)
{
	turns_folder_is_on(NULL, NULL);
	memdisk_free(t->disk);
}
