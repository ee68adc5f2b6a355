#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/registry-private.h"
#include "store/registry-row.h"

int registry_fail(struct registry *r, int rc)
{
	int sys = r->db ? sqlite3_system_errno(r->db) : 0;

	(void)snprintf(r->error, sizeof(r->error), "%s", r->db ? sqlite3_errmsg(r->db) : sqlite3_errstr(rc));
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_CONSTRAINT:
		return rc == SQLITE_CONSTRAINT_UNIQUE || rc == SQLITE_CONSTRAINT_PRIMARYKEY ? -EEXIST : -EINVAL;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return sys > 0 ? -sys : -EIO;
	default:
		return -EIO;
	}
}

int registry_say(struct registry *r, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(r->error, sizeof(r->error), fmt, ap);
	va_end(ap);
	return error;
}

const char *registry_error(const struct registry *r)
{
	return r->error;
}

void registry_tell(struct registry *r, void (*tell)(void *arg, int seconds), void *arg)
{
	r->tell = tell;
	r->tell_arg = arg;
}

void registry_reset(sqlite3_stmt *st)
{
	(void)sqlite3_reset(st); /* repeats the error that sqlite3_step gave already */
	(void)sqlite3_clear_bindings(st);
}

int registry_run(struct registry *r, sqlite3_stmt *st)
{
	int rc, error = 0;

	r->waited = 0;
	rc = sqlite3_step(st);
	if (rc != SQLITE_DONE)
		error = registry_fail(r, rc);
	if (r->waited >= WAIT_TELL_MS && r->tell)
		r->tell(r->tell_arg, r->waited / 1000);
	registry_reset(st);
	if (error < 0 && r->in_turn && r->failed == 0)
		r->failed = error;
	return error;
}

int registry_begin(struct registry *r)
{
	if (r->in_turn)
		return registry_say(r, -EINVAL, "a turn is open already");
	r->in_turn = true;
	r->wrote = false;
	r->failed = 0;
	return 0;
}

static int broken(struct registry *r, int error)
{
	r->failed = error;
	return error;
}

int registry_change(struct registry *r)
{
	int error;

	if (!r->in_turn)
		return registry_say(r, -EINVAL, "a change outside of a turn");
	if (r->failed < 0)
		return r->failed;
	/*
	 * A query, too, that fails for want of memory or by its disk takes the turn's transaction with it, and says nothing of
	 * that (sqlite3_get_autocommit): what is written from here on would be there, and what came before it not.
	 */
	if (r->wrote && sqlite3_get_autocommit(r->db))
		return broken(r, registry_say(r, -EIO, "a query that failed has taken what was written before it with it"));
	if (r->wrote)
		return 0;
	/*
	 * IMMEDIATE: to be refused the lock is an error here, before anything was decided on, not in the middle
	 * of the turn.
	 */
	error = registry_run(r, r->st[Q_BEGIN]);
	r->wrote = error == 0;
	return error;
}

void registry_rollback(struct registry *r)
{
	/* Some failures (disk full, I/O) have rolled back by themselves; asking again would be an error. */
	if (r->wrote && !sqlite3_get_autocommit(r->db)) {
		(void)sqlite3_step(r->st[Q_ROLLBACK]);
		registry_reset(r->st[Q_ROLLBACK]);
	}
	r->in_turn = r->wrote = false;
	r->failed = 0;
}

int registry_commit(struct registry *r)
{
	int error;

	if (!r->in_turn)
		return registry_say(r, -EINVAL, "a commit outside of a turn");
	error = r->failed;
	if (error == 0 && r->wrote)
		error = registry_run(r, r->st[Q_COMMIT]);
	if (error < 0) {
		registry_rollback(r);
		return error;
	}
	r->in_turn = r->wrote = false;
	return 0;
}

void registry_settle(struct registry *r, bool busy)
{
	if (r->in_turn || r->wal < r->wal_limit * (busy ? WAL_PUT_OFF : 1))
		return;
	/* What a reader still needs stays where it is. So does all when it fails, and a start will say so. */
	r->wal = 0;
	(void)sqlite3_wal_checkpoint_v2(r->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

int registry_put(struct registry *r, const struct lease *l)
{
	sqlite3_stmt *st = r->st[Q_PUT];
	int error = registry_change(r);

	if (error < 0)
		return error;
	error = row_bind(st, l);
	if (error < 0) {
		registry_reset(st);
		return broken(r, registry_say(r, error, "a lease that cannot be stored: id '%.14s', state '%s'", l->id,
					      state_name(l->state)));
	}
	return registry_run(r, st);
}

int registry_end_lease(struct registry *r, const char *id)
{
	int error = registry_change(r);

	if (error < 0)
		return error;
	(void)sqlite3_bind_text(r->st[Q_END], 1, id, -1, SQLITE_STATIC);
	return registry_run(r, r->st[Q_END]);
}

static bool ledger_row_valid(const struct ledger_row *row)
{
	return lease_id_valid(row->id) && state_public_valid(row->to) && row->generation <= INT64_MAX &&
	       (state_public_valid(row->from) || strcmp(row->from, "-") == 0);
}

static void bind_unless_minus_one(sqlite3_stmt *st, int at, int64_t n)
{
	if (n == -1)
		(void)sqlite3_bind_null(st, at);
	else
		(void)sqlite3_bind_int64(st, at, n);
}

/* Bindings of short strings and numbers fail only without memory; the NOT NULL columns then refuse the row. */
int registry_ledger(struct registry *r, struct ledger_row *row)
{
	sqlite3_stmt *st = r->st[Q_LEDGER];
	int error = registry_change(r);

	if (error < 0)
		return error;
	if (!ledger_row_valid(row))
		return broken(r, registry_say(r, -EINVAL, "no line for the ledger: id '%.14s', '%.15s' to '%.15s'", row->id,
					      row->from, row->to));
	(void)sqlite3_bind_int64(st, 1, row->at);
	(void)sqlite3_bind_text(st, 2, row->id, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(st, 3, (int64_t)row->generation);
	(void)sqlite3_bind_text(st, 4, row->from, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(st, 5, row->to, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(st, 6, row->requester);
	(void)sqlite3_bind_text(st, 7, row->user, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(st, 8, row->surface, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(st, 9, row->runtime, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(st, 10, row->profile, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(st, 11, row->session, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(st, 12, row->labels, -1, SQLITE_STATIC);
	bind_unless_minus_one(st, 13, row->zombie_ms);
	bind_unless_minus_one(st, 14, row->lateness_ms);
	(void)sqlite3_bind_text(st, 15, row->why, -1, SQLITE_STATIC);
	error = registry_run(r, st);
	if (error == 0)
		row->seq = sqlite3_last_insert_rowid(r->db);
	return error;
}

static int load(struct registry *r, sqlite3_stmt *st, int (*each)(void *arg, const struct lease *l), void *arg)
{
	struct lease l;
	char what[160], bad[sizeof(r->error)] = "";
	int rc, n_bad = 0, len = 0, ret = 0;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (row_read(st, &l, what) < 0) {
			const unsigned char *id = sqlite3_column_text(st, 0);

			n_bad++;
			if (len < (int)sizeof(bad))
				len += snprintf(bad + len, sizeof(bad) - (size_t)len, "%s%.14s (%s)", len ? ", " : "",
						id ? (const char *)id : "?", what);
			continue;
		}
		ret = each(arg, &l);
		if (ret != 0)
			break;
	}
	if (ret == 0 && rc != SQLITE_DONE)
		ret = registry_fail(r, rc);
	registry_reset(st);
	if (ret == 0 && n_bad > 0)
		ret = registry_say(r, -EUCLEAN, "%d lease%s: %s", n_bad, n_bad == 1 ? "" : "s", bad);
	return ret;
}

int registry_load(struct registry *r, int (*each)(void *arg, const struct lease *l), void *arg)
{
	return load(r, r->st[Q_LOAD], each, arg);
}

int registry_load_others(struct registry *r, int (*each)(void *arg, const struct lease *l), void *arg)
{
	return load(r, r->st[Q_OTHERS], each, arg);
}

int registry_load_rests(struct registry *r, struct lease *l, int (*each)(void *arg, bool good, const char *lock), void *arg)
{
	sqlite3_stmt *st = r->st[Q_RESTS];
	int rc, ret = 0;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		bool good = row_read_rest(st, l) == 0;
		const unsigned char *lock = sqlite3_column_text(st, 0);

		ret = each(arg, good, lock ? (const char *)lock : "");
		if (ret != 0)
			break;
	}
	if (ret == 0 && rc != SQLITE_DONE)
		ret = registry_fail(r, rc);
	registry_reset(st);
	return ret;
}

int registry_count(struct registry *r, uint32_t *ret)
{
	sqlite3_stmt *st = r->st[Q_COUNT];
	int rc = sqlite3_step(st), error = 0;

	if (rc == SQLITE_ROW)
		*ret = (uint32_t)sqlite3_column_int64(st, 0);
	else
		error = registry_fail(r, rc);
	registry_reset(st);
	return error;
}

int registry_find(struct registry *r, const char *id, struct lease *ret)
{
	sqlite3_stmt *st = r->st[Q_FIND];
	char what[160];
	int rc, error = 0;

	(void)sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_DONE)
		error = registry_say(r, -ENOENT, "%.14s has no row", id);
	else if (rc != SQLITE_ROW)
		error = registry_fail(r, rc);
	else if (row_read(st, ret, what) < 0)
		error = registry_say(r, -EUCLEAN, "%.14s (%s)", id, what);
	registry_reset(st);
	return error;
}

static void copy_text(sqlite3_stmt *st, int at, char *to, size_t size)
{
	const unsigned char *s = sqlite3_column_text(st, at);

	(void)snprintf(to, size, "%s", s ? (const char *)s : "");
}

static int64_t number_or_minus_one(sqlite3_stmt *st, int at)
{
	return sqlite3_column_type(st, at) == SQLITE_NULL ? -1 : sqlite3_column_int64(st, at);
}

static void read_ledger_row(sqlite3_stmt *st, struct ledger_row *row)
{
	row->seq = sqlite3_column_int64(st, 0);
	row->at = sqlite3_column_int64(st, 1);
	copy_text(st, 2, row->id, sizeof(row->id));
	row->generation = (uint64_t)sqlite3_column_int64(st, 3);
	copy_text(st, 4, row->from, sizeof(row->from));
	copy_text(st, 5, row->to, sizeof(row->to));
	row->requester = (uint32_t)sqlite3_column_int64(st, 6);
	copy_text(st, 7, row->user, sizeof(row->user));
	copy_text(st, 8, row->surface, sizeof(row->surface));
	copy_text(st, 9, row->runtime, sizeof(row->runtime));
	copy_text(st, 10, row->profile, sizeof(row->profile));
	copy_text(st, 11, row->session, sizeof(row->session));
	copy_text(st, 12, row->labels, sizeof(row->labels));
	row->zombie_ms = number_or_minus_one(st, 13);
	row->lateness_ms = number_or_minus_one(st, 14);
	copy_text(st, 15, row->why, sizeof(row->why));
}

int registry_history(struct registry *r, const char *id, int n, struct ledger_row *rows, int *ret_n)
{
	sqlite3_stmt *st = r->st[Q_HISTORY];
	int rc, error = 0, at = n;

	if (n < 1)
		return registry_say(r, -EINVAL, "a history of no steps");
	(void)sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int(st, 2, n);
	/* The newest come first: filled from the back, so that they end up oldest first. */
	while ((rc = sqlite3_step(st)) == SQLITE_ROW && at > 0)
		read_ledger_row(st, &rows[--at]);
	if (rc != SQLITE_DONE)
		error = registry_fail(r, rc);
	registry_reset(st);
	if (error < 0)
		return error;
	memmove(rows, rows + at, (size_t)(n - at) * sizeof(rows[0]));
	*ret_n = n - at;
	return 0;
}

int registry_id_used(struct registry *r, const char *id)
{
	sqlite3_stmt *st = r->st[Q_ID_USED];
	int rc, used;

	(void)sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	used = rc == SQLITE_ROW ? sqlite3_column_int(st, 0) : registry_fail(r, rc);
	registry_reset(st);
	return used;
}
