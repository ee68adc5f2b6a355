#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/registry-private.h"
#include "store/registry-row.h"
#include "store/registry-schema.h"
#include "store/sentence.h"

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)

static const char *const queries[Q_MAX] = {
	[Q_BEGIN] = "BEGIN IMMEDIATE",
	[Q_COMMIT] = "COMMIT",
	[Q_ROLLBACK] = "ROLLBACK",
	[Q_END] = "DELETE FROM lease WHERE id = ?1",
	[Q_LEDGER] = "INSERT INTO ledger(at, id, generation, from_state, to_state, requester, user, surface, runtime, profile, "
		     "session, labels, zombie_ms, lateness_ms, why) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
		     "?13, ?14, ?15)",
	[Q_HISTORY] = "SELECT seq, at, id, generation, from_state, to_state, requester, user, surface, runtime, profile, "
		      "session, labels, zombie_ms, lateness_ms, why FROM ledger WHERE id = ?1 ORDER BY seq DESC LIMIT ?2",
	[Q_ID_USED] = "SELECT EXISTS(SELECT 1 FROM lease WHERE id = ?1) OR EXISTS(SELECT 1 FROM ledger WHERE id = ?1)",
	[Q_META_SET] = "INSERT INTO meta(key, value) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
	[Q_META_DELETE] = "DELETE FROM meta WHERE key = ?1",
	[Q_META_GET] = "SELECT value FROM meta WHERE key = ?1",
	[Q_COUNT] = "SELECT count(*) FROM lease",
	[Q_RESTS] = "SELECT lock, rest FROM lease WHERE rest IS NOT NULL",
};

/* Which whole rows. */
static const char *const rows_of[Q_MAX] = {
	[Q_LOAD] = "",
	[Q_OTHERS] = " WHERE rest IS NULL",
	[Q_FIND] = " WHERE id = ?1",
};

/*
 * What is set, and why. Two things are wanted of the disk: a commit that returned is there after a loss of power, and
 * a commit is cheap enough for one a turn of the loop.
 *
 * WAL (use_wal), not a rollback journal: a commit appends its pages to lease.db-wal and syncs that one file, once; the
 * journal would take three or four syncs. Readers (klease ledger, a shell) never hold the writer up, nor it them. A
 * frame that was torn, or never written, fails its checksum, and with it all after it: so whatever a disk has kept of
 * what was not synced, the file is as it was after some commit. The WAL is written into lease.db when it has 1000
 * pages, each of the two files synced before the other one is written again; by registry_settle, not by SQLite within
 * a commit (sqlite3_wal_hook takes the place of wal_autocheckpoint), where the acts of that turn would wait for it.
 */
static const char settings[] =
	/*
	 * Syncs the WAL at each commit, and its header when it begins anew. In WAL mode NORMAL leaves out the
	 * first, so the last turns would go with the power, ends among them. EXTRA adds nothing here: it syncs
	 * the folder after a journal is removed, and a WAL is not removed at a commit.
	 */
	"PRAGMA synchronous = FULL;"
	/* A long reader can hold checkpoints up and let the WAL grow; afterwards it shrinks to this again. */
	"PRAGMA journal_size_limit = 4194304;"
	/* No other file than lease.db, -wal and -shm, wherever TMPDIR points. */
	"PRAGMA temp_store = MEMORY;"
	/*
	 * No row refers to another one: a ledger line outlives its lease. So nothing is to be enforced, or to
	 * be looked up, a write.
	 */
	"PRAGMA foreign_keys = OFF;"
	/* A damaged page is an error when it is read, not a surprise later. */
	"PRAGMA cell_size_check = ON;"
	/* The file may have been edited by hand: its triggers and views call nothing but plain SQL. */
	"PRAGMA trusted_schema = OFF;";

/*
 * A name that was made is there after a loss of power only when its folder was synced, too (fsync(2)). SQLite does
 * that for the names that it makes itself.
 */
static int sync_name(const char *path, char err[256])
{
	char dir[PATH_MAX];
	size_t len = (size_t)(strrchr(path, '/') - path) + 1;
	int r = 0, fd;

	if (len >= sizeof(dir))
		return sentence(err, -ENAMETOOLONG, path, "is too long a path");
	memcpy(dir, path, len);
	dir[len] = '\0';
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* EINVAL: a file system that knows no such thing. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		r = sentence(err, -errno, dir, "cannot be synced: %m");
	if (fd >= 0)
		close(fd);
	return r;
}

/*
 * Makes or opens the file itself, 0600 before SQLite sees it (-wal and -shm take its mode), and locks it: two
 * daemons of different trees must not share one registry. The descriptor stays open until SQLite has closed the
 * file, since closing any descriptor of a file drops all of a process's fcntl locks on it, SQLite's too
 * (fcntl(2)).
 */
static int guard_open(const char *path, int *ret_fd, char err[256])
{
	struct stat st;
	int r, fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return sentence(err, -errno, path, errno == ELOOP ? "is a link; the registry is never followed to elsewhere" :
				"cannot be opened: %m");
	r = -EINVAL;
	if (fstat(fd, &st) < 0)
		r = sentence(err, -errno, path, "cannot be looked at: %m");
	else if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		sentence(err, r, path, "is not a plain file with one name");
	else if (st.st_uid != geteuid())
		r = sentence(err, -EPERM, path, "belongs to uid %u, not to the daemon (uid %u)", st.st_uid, geteuid());
	else if (st.st_mode & 077)
		r = sentence(err, -EPERM, path, "has mode %04o, wanted 0600: readers could hold the daemon up (chmod 600)",
			     st.st_mode & 07777);
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? sentence(err, -EBUSY, path, "another daemon has it") :
					   sentence(err, -errno, path, "cannot be locked: %m");
	else
		r = st.st_size == 0 ? sync_name(path, err) : 0; /* made just now, or before a crash */
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

static int wait_for_others(void *arg, int n)
{
	struct registry *r = arg;
	int ms = r->waited < WAIT_TELL_MS ? 10 : 100;

	(void)n;
	if (r->waited >= WAIT_MS)
		return 0;
	(void)sqlite3_sleep(ms);
	r->waited += ms;
	if (r->waited == WAIT_TELL_MS && r->tell)
		r->tell(r->tell_arg, 0);
	return 1;
}

static int wal_has(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct registry *r = arg;

	(void)db;
	(void)name;
	r->wal = pages;
	return SQLITE_OK;
}

static int run_sql(struct registry *r, const char *sql)
{
	int rc = sqlite3_exec(r->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : registry_fail(r, rc);
}

static int ask_number(struct registry *r, const char *sql, int *ret)
{
	sqlite3_stmt *st;
	int error = 0, rc = sqlite3_prepare_v2(r->db, sql, -1, &st, NULL);

	if (rc != SQLITE_OK)
		return registry_fail(r, rc);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int(st, 0);
	else
		error = registry_fail(r, rc);
	(void)sqlite3_finalize(st);
	return error;
}

/* What the file is, before a byte of it is changed: its format, 0 for one without anything in it. */
static int identify(struct registry *r, const char *path, int *ret_format, char err[256])
{
	int magic, format, tables, error;

	error = ask_number(r, "PRAGMA application_id", &magic);
	if (error == 0)
		error = ask_number(r, "PRAGMA user_version", &format);
	if (error == 0)
		error = ask_number(r, "SELECT count(*) FROM sqlite_schema", &tables);
	if (error == -EBADMSG)
		return sentence(err, error, path,
				"is no registry of leasewatch, or its first page is damaged (%s). It was left as it is: see "
				"\"It does not start\" in the runbook", r->error);
	if (error < 0)
		return sentence(err, error, path, "%s", r->error);
	if (magic == 0 && format == 0 && tables == 0) {
		*ret_format = 0;
		return 0;
	}
	if (magic != REGISTRY_MAGIC || format < 1)
		return sentence(err, -EBADMSG, path,
				"is a database of something else and was left as it is: move it away, and a new one is "
				"begun");
	if (format > REGISTRY_FORMAT)
		return sentence(err, -EPROTO, path, "has format %d, made by a newer leasewatch (this one knows up to %d); it was "
				"left as it is", format, REGISTRY_FORMAT);
	*ret_format = format;
	return 0;
}

static int use_wal(struct registry *r)
{
	sqlite3_stmt *st;
	const unsigned char *mode;
	int error = 0, rc = sqlite3_prepare_v2(r->db, "PRAGMA journal_mode = WAL", -1, &st, NULL);

	if (rc != SQLITE_OK)
		return registry_fail(r, rc);
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW) {
		error = registry_fail(r, rc);
	} else {
		mode = sqlite3_column_text(st, 0);
		if (!mode || strcmp((const char *)mode, "wal") != 0)
			error = registry_say(r, -EOPNOTSUPP, "this file system cannot hold a database in WAL mode");
	}
	(void)sqlite3_finalize(st);
	return error;
}

/*
 * What a predecessor that did not end in good order has left in the WAL goes into lease.db now, and the WAL begins anew.
 * Where a sync of it failed, its pages can be read and are taken for written, yet are not on the disk (Linux forgets
 * them); behind such a gap a later commit would be lost with the power, synced or not. A reader in the way is not waited
 * for: it takes that failure, that reader and a loss of power to come to harm.
 */
static int write_back(struct registry *r)
{
	int rc;

	(void)sqlite3_busy_handler(r->db, NULL, NULL);
	rc = sqlite3_wal_checkpoint_v2(r->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	(void)sqlite3_busy_handler(r->db, wait_for_others, r);
	return rc == SQLITE_OK || rc == SQLITE_BUSY ? 0 : registry_fail(r, rc);
}

static int upgrade(struct registry *r, int format)
{
	int error;

	if (format == REGISTRY_FORMAT)
		return 0;
	error = run_sql(r, "BEGIN IMMEDIATE");
	for (; error == 0 && format < REGISTRY_FORMAT; format++)
		error = run_sql(r, registry_steps[format]);
	if (error == 0)
		error = run_sql(r, "PRAGMA application_id = " STRINGIFY(REGISTRY_MAGIC) ";"
				   "PRAGMA user_version = " STRINGIFY(REGISTRY_FORMAT) ";"
				   "COMMIT");
	return error; /* closing rolls back */
}

static int prepare(struct registry *r)
{
	char sql[ROW_SQL_SIZE];

	for (int i = 0; i < Q_MAX; i++) {
		const char *text = queries[i];
		int rc;

		if (!text) {
			rc = i == Q_PUT ? row_sql_put(sql) : row_sql_load(sql, rows_of[i]);
			if (rc < 0)
				return registry_say(r, rc, "the columns of a lease make too long a statement");
			text = sql;
		}
		rc = sqlite3_prepare_v3(r->db, text, -1, SQLITE_PREPARE_PERSISTENT, &r->st[i], NULL);
		if (rc != SQLITE_OK)
			return registry_fail(r, rc);
	}
	return 0;
}

int registry_open(const char *path, struct registry **ret, char err[256])
{
	struct registry *r;
	int error, rc, format = 0;

	if (path[0] != '/') /* SQLite has words of its own for others: "", ":memory:" */
		return sentence(err, -EINVAL, path, "is no absolute path");
	r = calloc(1, sizeof(*r));
	if (!r)
		return sentence(err, -ENOMEM, path, "no memory");
	r->guard = -1;
	r->wal_limit = WAL_PAGES;
	error = guard_open(path, &r->guard, err);
	if (error < 0)
		goto fail;
	rc = sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK) {
		error = registry_fail(r, rc);
		goto told;
	}
	(void)sqlite3_extended_result_codes(r->db, 1);
	(void)sqlite3_busy_handler(r->db, wait_for_others, r);
	/* A newer file stays as it is, its -wal too. */
	(void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	error = identify(r, path, &format, err);
	if (error < 0)
		goto fail;
	(void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	(void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_wal_hook(r->db, wal_has, r);
	error = run_sql(r, settings);
	if (error == 0)
		error = use_wal(r);
	if (error == 0)
		error = write_back(r);
	if (error == 0)
		error = upgrade(r, format);
	if (error == 0)
		error = prepare(r);
	if (error == 0)
		error = registry_find_generation(r);
	if (error == 0) {
		*ret = r;
		return 0;
	}
told:
	if (error == -EBADMSG)
		sentence(err, error, path, "is damaged (%s). Nothing was decided and nothing ended: see \"It does not start\" in "
			 "the runbook", r->error);
	else
		sentence(err, error, path, "%s", r->error);
fail:
	registry_close(r);
	return error;
}

void registry_close(struct registry *r)
{
	if (!r)
		return;
	if (r->in_turn)
		registry_rollback(r);
	for (int i = 0; i < Q_MAX; i++)
		(void)sqlite3_finalize(r->st[i]);
	(void)sqlite3_close(r->db);
	if (r->guard >= 0)
		close(r->guard);
	free(r);
}
