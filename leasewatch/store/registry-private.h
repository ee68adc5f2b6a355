/*
 * store/registry-private.h: what the registry's own files share.
 *
 *	registry-open.c   the file: whose it is, what it is, its settings, its format
 *	registry.c        turns, rows, ledger
 *	registry-meta.c   generation, checkpoint, small named values
 */
#ifndef STORE_REGISTRY_PRIVATE_H
#define STORE_REGISTRY_PRIVATE_H

#include <sqlite3.h>

#include "store/registry.h"

/*
 * Who holds the file (somebody's `BEGIN IMMEDIATE` in a shell) is waited for. The loop stands still meanwhile, which
 * takes nothing from holders: their beats are in the tree, and a loop that was late grants a grace. To end at once
 * would only have us started again, to the same; but for ever nobody would see that there is no judge.
 */
#define WAIT_MS 30000
#define WAIT_TELL_MS 1000

#define WAL_PAGES 1000	/* SQLite's own default */
#define WAL_PUT_OFF 4	/* times as many, where something else is due */

enum query {
	Q_BEGIN,
	Q_COMMIT,
	Q_ROLLBACK,
	Q_PUT,
	Q_LOAD,
	Q_FIND,
	Q_RESTS,
	Q_OTHERS,
	Q_COUNT,
	Q_END,
	Q_LEDGER,
	Q_HISTORY,
	Q_ID_USED,
	Q_META_SET,
	Q_META_DELETE,
	Q_META_GET,
	Q_MAX,
};

struct registry {
	sqlite3 *db;
	sqlite3_stmt *st[Q_MAX];
	int guard;	     /* lease.db itself, flocked; closed after db (see registry-open.c) */
	bool in_turn, wrote; /* wrote: this turn has begun its transaction */
	int failed;	     /* what broke this turn: it cannot be committed any more */
	int wal, wal_limit;  /* pages that the WAL has; from which on registry_settle writes them back */
	int waited;	     /* ms, of this statement, for who holds the file */
	void (*tell)(void *arg, int seconds);
	void *tell_arg;
	uint64_t generation; /* the last one given; never steps back, not even by a rollback */
	char error[200];
};

/* Keeps SQLite's words for rc and gives the errno for it, negative. */
int registry_fail(struct registry *r, int rc);
/* Same, for what is our own finding. */
int registry_say(struct registry *r, int error, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * Steps a statement that gives no row, and makes it ready for the next time. In a turn, a failure breaks the
 * turn.
 */
int registry_run(struct registry *r, sqlite3_stmt *st);
void registry_reset(sqlite3_stmt *st);
/* From meta, and never below what the ledger or a live row has. */
int registry_find_generation(struct registry *r);

#endif
