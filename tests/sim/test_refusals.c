/*
 * tests/sim/test_refusals: what somebody has done to a daemon's house while none ran. Where it does not start with that,
 * nothing of its leases is touched, and it goes on as if nothing had been when all is as it was. A row that it cannot read is
 * nobody's to judge.
 */
#include "config.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/registry-schema.h"
#include "tests/sim/moment.h"
#include "watcher.h"

#define DB "/sim/var/lib/leasewatch/lease.db"
#define OTHER "/sim/var/lib/leasewatch/other"
#define DAEMON 990

#define GOOD(call) RIGHT((call) >= 0)

static char where[200], moved[210]; /* what is spoilt, and where it lies meanwhile */

/* --- its files --- */

static void aside(const char *path)
{
	(void)snprintf(where, sizeof(where), "%s", path);
	(void)snprintf(moved, sizeof(moved), "%s-aside", path);
	kernel_as(0);
	GOOD(kernel_rename(path, moved));
}

static void back(void)
{
	kernel_as(0);
	(void)kernel_unlink(where);
	GOOD(kernel_rename(moved, where));
}

static void link_for(const char *path)
{
	aside(path);
	GOOD(kernel_symlink(moved, path));
}

static void file_for(const char *path)
{
	aside(path);
	GOOD(kernel_create(path, "x", 1));
}

static void folder_for(const char *path)
{
	aside(path);
	kernel_mkdirs(path, 0, 0755);
}

static void other_for(const char *path, uint32_t uid, uint32_t mode)
{
	aside(path);
	kernel_mkdirs(path, uid, mode);
}

static void mode_of(const char *path, uint32_t mode)
{
	kernel_as(0);
	GOOD(kernel_chmod(path, mode));
}

static void lock_is_open(void) { mode_of(NOTICES "/.leasewatch.lock", 0644); }
static void lock_is_closed(void) { mode_of(NOTICES "/.leasewatch.lock", 0600); }
static void lock_has_two_names(void)
{
	kernel_as(0);
	GOOD(kernel_link(NOTICES "/.leasewatch.lock", NOTICES "/other"));
}
static void lock_has_one(void)
{
	kernel_as(0);
	GOOD(kernel_unlink(NOTICES "/other"));
}
static void lock_is_a_link(void) { link_for(NOTICES "/.leasewatch.lock"); }
static void lock_is_a_folder(void) { folder_for(NOTICES "/.leasewatch.lock"); }
static void tree_is_a_link(void) { link_for(NOTICES); }
static void tree_is_a_file(void) { file_for(NOTICES); }
static void tree_is_everybodys(void) { mode_of(NOTICES, 0777); }
static void tree_is_ours(void) { mode_of(NOTICES, 0755); }
static void tree_is_another_users(void) { other_for(NOTICES, USER, 0755); }
static void queue_is_a_link(void) { link_for(NOTICES "/queue"); }
static void queue_is_a_file(void) { file_for(NOTICES "/queue"); }
static void queue_is_closed(void) { mode_of(NOTICES "/queue", 0600); }
static void queue_is_open(void) { mode_of(NOTICES "/queue", 01777); }
static void queue_is_elsewhere(void) { GOOD(kernel_mount(NOTICES "/queue", 0, 0)); }
static void queue_is_here(void) { GOOD(kernel_umount(NOTICES "/queue")); }
static void state_is_another_users(void) { other_for(RUN "/state", USER, 0755); }
static void sessions_are_the_daemons(void) { other_for(RUN "/sessions", DAEMON, 0711); }
static void work_is_a_file(void) { file_for("/sim/var/lib/leasewatch-work"); }
static void above_is_everybodys(void) { mode_of(RUN, 0777); }
static void above_is_roots(void) { mode_of(RUN, 0755); }
static void above_is_another_users(void) { other_for("/sim/run", USER, 0755); }
static void registry_is_a_link(void) { link_for(DB); }
static void registry_is_a_folder(void) { folder_for(DB); }
static void registry_is_read_by_all(void) { mode_of(DB, 0644); }
static void registry_is_secret(void) { mode_of(DB, 0600); }
static void registry_has_two_names(void)
{
	kernel_as(0);
	GOOD(kernel_link(DB, OTHER));
}
static void registry_has_one(void)
{
	kernel_as(0);
	GOOD(kernel_unlink(OTHER));
}
static void registry_is_roots(void) { file_for(DB); }
static void registrys_folder_is_everybodys(void) { mode_of("/sim/var/lib/leasewatch", 0777); }
static void registrys_folder_is_ours(void) { mode_of("/sim/var/lib/leasewatch", 01775); }

/* --- its registry --- */

static sqlite3 *db;

static int sql(const char *what)
{
	int r = sqlite3_open_v2(DB, &db, SQLITE_OPEN_READWRITE, NULL);

	RIGHT(r == SQLITE_OK);
	r = sqlite3_exec(db, what, NULL, NULL, NULL);
	RIGHT(sqlite3_close(db) == SQLITE_OK);
	return r;
}

static void done(const char *what)
{
	RIGHT(sql(what) == SQLITE_OK);
}

static void format_is_newer(void) { done("PRAGMA user_version = 1000000"); }
static void format_is_none(void) { done("PRAGMA user_version = 0"); }
static void format_is_ours(void)
{
	char text[60];

	(void)snprintf(text, sizeof(text), "PRAGMA user_version = %d", REGISTRY_FORMAT);
	done(text);
}
static void registry_is_anothers(void) { done("PRAGMA application_id = 7"); }
static void registry_is_ours(void)
{
	char text[60];

	(void)snprintf(text, sizeof(text), "PRAGMA application_id = %d", REGISTRY_MAGIC);
	done(text);
}
static void generation_is_a_word(void) { done("UPDATE meta SET value = 'many' WHERE key = 'generation'"); }
static void generation_is_a_number(void) { done("UPDATE meta SET value = '1' WHERE key = 'generation'"); }
static void table_is_gone(void) { done("ALTER TABLE lease RENAME TO lost"); }
static void table_is_there(void) { done("ALTER TABLE lost RENAME TO lease"); }

/* --- its file system --- */

static void tree_is_far(void) { kernel_faults.fs_magic = 0x6969; }
static void tree_is_near(void) { kernel_faults.fs_magic = 0; }

typedef void change(void);
static const struct {
	change *spoil, *mend;
} houses[] = {
	{ lock_is_open, lock_is_closed }, { lock_has_two_names, lock_has_one },
	{ lock_is_a_link, back }, { lock_is_a_folder, back },
	{ tree_is_a_link, back }, { tree_is_a_file, back }, { tree_is_everybodys, tree_is_ours }, { tree_is_another_users, back },
	{ queue_is_a_link, back }, { queue_is_a_file, back }, { queue_is_closed, queue_is_open },
	{ queue_is_elsewhere, queue_is_here }, { state_is_another_users, back }, { sessions_are_the_daemons, back },
	{ work_is_a_file, back }, { above_is_everybodys, above_is_roots }, { above_is_another_users, back },
	{ registry_is_a_link, back }, { registry_is_a_folder, back }, { registry_is_read_by_all, registry_is_secret },
	{ registry_has_two_names, registry_has_one }, { registry_is_roots, back },
	{ registrys_folder_is_everybodys, registrys_folder_is_ours }, { format_is_newer, format_is_ours },
	{ format_is_none, format_is_ours }, { registry_is_anothers, registry_is_ours },
	{ generation_is_a_word, generation_is_a_number }, { table_is_gone, table_is_there }, { tree_is_far, tree_is_near },
};

static void what_it_does_not_start_with_it_leaves_alone(void)
{
	struct held *h = &now.leases[0];

	for (size_t i = 0; i < sizeof(houses) / sizeof(houses[0]); i++) {
		begin(__func__, SETTINGS);
		now.stall_at = i; /* told by check() */
		at(1, make, h, TTL);
		RIGHT(start(10) == 0);
		RIGHT(h->created == 1);
		houses[i].spoil();
		RIGHT(start(10) > 0);
		RIGHT(h->destroys == 0);
		houses[i].mend();
		RIGHT(start(600) == 0);
		RIGHT(h->created == 1);
		RIGHT(h->destroys == 1);
		kernel_free();
	}
}

/* --- rows --- */

static bool row_unread; /* as it says */

static void watch_words(const char *line)
{
	row_unread |= strstr(line, "cannot be read: ") != NULL && strstr(line, "neither judged nor ended") != NULL;
}

static const char *const values[] = {
	"NULL", "-1", "'rubbish'", "x'00'", "1e300", "''", "9223372036854775807", "2", "'a' || char(0)",
};

/* False: there is no such column. */
static bool spoilt(const char *moment, int column, const char *value)
{
	struct held *h = &now.leases[0];
	char name[64] = "", text[300];
	sqlite3_stmt *st;

	begin(moment, SETTINGS);
	now.stall_at = (uint64_t)column;
	now.watch_words = watch_words;
	at(1, make, h, TTL);
	if (column % 2)
		at(2, make, &now.leases[1], TTL);
	RIGHT(start(10) == 0);
	RIGHT(sqlite3_open_v2(DB, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
	RIGHT(sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info('lease') WHERE cid = ?", -1, &st, NULL) == SQLITE_OK);
	sqlite3_bind_int(st, 1, column);
	if (sqlite3_step(st) == SQLITE_ROW)
		(void)snprintf(name, sizeof(name), "%s", (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	RIGHT(sqlite3_close(db) == SQLITE_OK);
	if (!name[0]) {
		kernel_free();
		return false;
	}
	done("CREATE TABLE kept AS SELECT rowid AS n, * FROM lease");
	(void)snprintf(text, sizeof(text), "UPDATE lease SET %s = %s WHERE rowid = (SELECT min(rowid) FROM lease)", name, value);
	row_unread = false;
	if (sql(text) == SQLITE_OK) {
		(void)start(300);
		if (row_unread) {
			RIGHT(h->destroys == 0);
			(void)snprintf(text, sizeof(text),
				       "UPDATE lease SET %s = (SELECT %s FROM kept WHERE n = lease.rowid)", name, name);
			done(text);
			(void)start(600);
			RIGHT(h->destroys == 1);
		}
	}
	kernel_free();
	return true;
}

static void a_row_that_cannot_be_read_is_judged_when_it_is_mended(void)
{
	int told = 0, column;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (column = 0; spoilt(__func__, column, values[i]); column++)
			told += row_unread;
	RIGHT(told > 50);
}

/* --- file systems --- */

static void a_lease_lives_and_ends_wherever_the_tree_is(void)
{
	static const uint32_t magics[] = { 0x6969, 0x65735546, 0x794c7630 };

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		struct held *h = &now.leases[0];

		begin(__func__, SETTINGS);
		now.network = true;
		kernel_faults.fs_magic = magics[i];
		at(5, make, h, TTL);
		at(20, beat, h, 3);
		at(200, make, &now.leases[1], TTL);
		at(230, release, &now.leases[1], 0);
		RIGHT(start(900) == 0);
		RIGHT(h->created == 1 && h->destroys == 1);
		RIGHT(h->destroyed_at >= h->last_beat + TTL - S / 100);
		RIGHT(now.leases[1].destroys == 1);
		kernel_free();
	}
}

int main(void)
{
	what_it_does_not_start_with_it_leaves_alone();
	a_row_that_cannot_be_read_is_judged_when_it_is_mended();
	a_lease_lives_and_ends_wherever_the_tree_is();
	return 0;
}
