/*
 * klease/ledger.h: reading the ledger: table `ledger` of the daemon's lease.db, where we may open it (user
 * mode; root). Others see the last steps of each lease in its state file. Read only; a reader holds the
 * writer up by no more than a read of WAL does, which is not at all.
 */
#ifndef KLEASE_LEDGER_H
#define KLEASE_LEDGER_H

#include "klease/world.h"

#define LEDGER_ERR_SIZE 1024

struct ledger_line {
	struct view v; /* id, generation, requester, user, surface, runtime, profile, session, labels */
	struct view_step step;
	int64_t zombie_ms, lateness_ms; /* -1 = none */
};
struct ledger_query {
	const char *lease, *user; /* NULL = all */
	int64_t since;            /* wall ms; 0 = from the first */
	int limit;                /* the last so many; 0 = all */
};

/*
 * Each line, oldest first; stops when each gives non-zero and returns that. -EACCES, -ENOENT: not ours to
 * read, not there. -EIO with a sentence in err.
 */
int ledger_read(const struct world *w, const struct ledger_query *q,
		int (*each)(void *arg, const struct ledger_line *l), void *arg, char err[LEDGER_ERR_SIZE]);
/* A lease as its last lines tell it, for one whose state file is gone. -ENOENT. */
int ledger_view(const struct world *w, const char *id, struct view *ret);

#endif
