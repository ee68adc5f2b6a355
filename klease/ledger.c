#include "config.h"

#include "klease/ledger.h"
#include "klease/ledger-sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 2000

static const struct sqlite *sq; /* set once, by ledger_read */

#define COLUMNS                                                                                       \
	"seq, at, id, generation, from_state, to_state, requester, user, surface, runtime, profile, " \
	"session, labels, zombie_ms, lateness_ms, why"

/* The newest so many, then turned round: oldest first, whatever the limit. */
static const char query[] =
	"SELECT * FROM (SELECT " COLUMNS " FROM ledger WHERE (?1 IS NULL OR id = ?1)"
	" AND (?2 IS NULL OR user = ?2) AND at >= ?3 ORDER BY seq DESC LIMIT ?4) ORDER BY seq";
/* Without a limit nothing has to be gathered first. */
static const char query_all[] = "SELECT " COLUMNS " FROM ledger WHERE (?1 IS NULL OR id = ?1)"
				" AND (?2 IS NULL OR user = ?2) AND at >= ?3 AND ?4 < 0 ORDER BY seq";

static void text(sqlite3_stmt *st, int col, char *to, size_t size)
{
	const char *s = (const char *)sq->column_text(st, col);

	(void)strlcpy(to, s ? s : "", size);
}

static void take_labels(struct view *v, const char *s)
{
	v->n_labels = 0;
	while (s && *s && v->n_labels < LEASE_LABELS_MAX) {
		size_t len = strcspn(s, "\n");

		(void)snprintf(v->labels[v->n_labels++], LEASE_LABEL_SIZE, "%.*s", (int)len, s);
		s += len + (s[len] == '\n');
	}
}

static int64_t number_or(sqlite3_stmt *st, int col, int64_t other)
{
	return sq->column_type(st, col) == SQLITE_NULL ? other : sq->column_int64(st, col);
}

static void take_line(sqlite3_stmt *st, struct ledger_line *l)
{
	memset(l, 0, sizeof *l);
	l->step.seq = (uint64_t)sq->column_int64(st, 0);
	l->step.at = sq->column_int64(st, 1);
	text(st, 2, l->v.id, sizeof l->v.id);
	l->v.generation = (uint64_t)sq->column_int64(st, 3);
	text(st, 4, l->step.from, sizeof l->step.from);
	text(st, 5, l->step.to, sizeof l->step.to);
	l->v.requester = (uint32_t)sq->column_int64(st, 6);
	text(st, 7, l->v.user, sizeof l->v.user);
	text(st, 8, l->v.surface, sizeof l->v.surface);
	text(st, 9, l->v.runtime, sizeof l->v.runtime);
	text(st, 10, l->v.profile, sizeof l->v.profile);
	text(st, 11, l->v.session, sizeof l->v.session);
	take_labels(&l->v, (const char *)sq->column_text(st, 12));
	l->zombie_ms = number_or(st, 13, -1);
	l->lateness_ms = number_or(st, 14, -1);
	text(st, 15, l->step.why, sizeof l->step.why);
}

static int run_query(sqlite3 *db, const struct ledger_query *q,
		     int (*each)(void *arg, const struct ledger_line *l), void *arg)
{
	struct ledger_line l;
	sqlite3_stmt *st;
	int r = 0, e;

	if (sq->prepare_v2(db, q->limit ? query : query_all, -1, &st, NULL) != SQLITE_OK)
		return -EIO;
	if (q->lease)
		(void)sq->bind_text(st, 1, q->lease, -1, SQLITE_STATIC);
	if (q->user)
		(void)sq->bind_text(st, 2, q->user, -1, SQLITE_STATIC);
	(void)sq->bind_int64(st, 3, q->since);
	(void)sq->bind_int(st, 4, q->limit ? q->limit : -1);
	while (r == 0 && (e = sq->step(st)) == SQLITE_ROW) {
		take_line(st, &l);
		r = each(arg, &l);
	}
	if (r == 0 && e != SQLITE_DONE)
		r = -EIO;
	(void)sq->finalize(st);
	return r;
}

int ledger_read(const struct world *w, const struct ledger_query *q,
		int (*each)(void *arg, const struct ledger_line *l), void *arg, char err[LEDGER_ERR_SIZE])
{
	sqlite3 *db = NULL;
	int r;

	if (!w->has_beacon || !w->beacon.db[0])
		return -ENOENT;
	if (faccessat(AT_FDCWD, w->beacon.db, R_OK, AT_EACCESS) < 0)
		return errno == ENOENT ? -ENOENT : -EACCES;
	sq = sqlite_load();
	if (!sq) {
		(void)snprintf(err, LEDGER_ERR_SIZE, "SQLite (libsqlite3.so.0) cannot be loaded");
		return -EIO;
	}
	if (sq->open_v2(w->beacon.db, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK) {
		r = -EIO;
	} else {
		(void)sq->busy_timeout(db, BUSY_MS);
		r = run_query(db, q, each, arg);
	}
	if (r == -EIO)
		(void)snprintf(err, LEDGER_ERR_SIZE, "%s: %s", w->beacon.db,
			       db ? sq->errmsg(db) : "out of memory");
	(void)sq->close(db);
	return r;
}

static int add_step(void *arg, const struct ledger_line *l)
{
	struct view *v = arg;

	if (!v->id[0]) {
		*v = l->v;
		v->created_at = l->step.at;
	}
	v->generation = l->v.generation;
	v->since = l->step.at;
	(void)strlcpy(v->state, l->step.to, sizeof v->state);
	(void)strlcpy(v->why, l->step.why, sizeof v->why);
	view_step_add(v, &l->step);
	return 0;
}

int ledger_view(const struct world *w, const char *id, struct view *ret)
{
	struct ledger_query q = { .lease = id };
	struct view v = { .priority = -1 };
	char err[LEDGER_ERR_SIZE];
	int r = ledger_read(w, &q, add_step, &v, err);

	if (r < 0 || !v.id[0])
		return -ENOENT;
	*ret = v;
	return 0;
}
