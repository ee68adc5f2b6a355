/*
 * store/registry.h: lease.db, the truth after a crash: one row a lease that is not over, and the append-only
 * ledger. SQLite.
 *
 * Who calls: the watcher's loop, nobody else; one connection, one thread. Calling sequence a turn:
 *	registry_begin()
 *	registry_put() / registry_ledger() / registry_end_lease() / registry_set()   as many as the turn has
 *	registry_commit()     before any of the acts that were decided: what is intended is on disk first
 *	registry_settle()     after them
 * A transition and its ledger line are in one transaction, always. Beats are never written. After a crash at
 * any point: all of a committed turn is there or, for one not committed, nothing. WAL with synchronous=FULL: a
 * commit that returned survives power loss. The file is 0600 the daemon's: a reader's locks could hold the
 * writer up, so users never get it in system mode (they read state/); in user mode, reader and daemon are one
 * user. Errors: -EIO and the like, with SQLite's text in err (never logged here).
 */
#ifndef STORE_REGISTRY_H
#define STORE_REGISTRY_H

#include "core/lease.h"

struct registry;

struct ledger_row {
	int64_t seq;	     /* set by registry_ledger */
	int64_t at;	     /* wall ms */
	char id[LEASE_ID_SIZE];
	uint64_t generation;
	char from[16], to[16]; /* public names, "-" for the first */
	uint32_t requester;  /* uid */
	char user[LEASE_USER_SIZE], surface[LEASE_SURFACE_SIZE], runtime[LEASE_WORD_SIZE], profile[LEASE_WORD_SIZE];
	char session[LEASE_ID_SIZE];
	char labels[512];    /* k=v, separated by newlines */
	int64_t zombie_ms;   /* `reaped` only: from the end of the work to absent; else -1 */
	int64_t lateness_ms; /* `expired` by silence only: from the deadline to the commit; else -1 */
	char why[LEASE_WHY_SIZE];
};

struct registry_clock { /* the checkpoint: when the daemon last looked at all that was due */
	int64_t mono, boot, wall;
	int64_t away; /* the sum of all times without a daemon in this boot, before that */
	int64_t even, set; /* mono; since when the clocks had run evenly, and when the wall clock had last been set */
	char boot_id[LEASE_BOOT_SIZE];
};

/*
 * Opens or makes PATH (absolute); upgrades an older format; -EPROTO: made by a newer version, -EBADMSG: no
 * registry at all, or a damaged one (left alone, either). -EBUSY: another daemon has it. err: a sentence with
 * the path.
 */
int registry_open(const char *path, struct registry **ret, char err[256]);
void registry_close(struct registry *r);
/*
 * Every lease that is not over. The struct's part "of this run only" is zero. Stops when each gives non-zero
 * and returns that. A row that cannot be read (an unknown state, a record that is none) stays where it is: all
 * others are given first, then the call ends with -EUCLEAN, and registry_error says how many there are, which
 * leases and which columns. each() must not change leases.
 */
int registry_load(struct registry *r, int (*each)(void *arg, const struct lease *l), void *arg);
/*
 * The same in two parts, for a start with a hundred thousand leases. Of those that may rest (core/rest.h) only what a rest
 * holds is read, with since, since_wall, written and away: into *l, whose other fields stay as they are, before each call.
 * Not good: whoever calls reads the whole row. Of the others whole rows, as by registry_load.
 */
int registry_load_rests(struct registry *r, struct lease *l, int (*each)(void *arg, bool good, const char *lock), void *arg);
int registry_count(struct registry *r, uint32_t *ret); /* rows, fast */
int registry_load_others(struct registry *r, int (*each)(void *arg, const struct lease *l), void *arg);
/* One of them, as registry_load gives it. -ENOENT: there is no row of that id. -EUCLEAN: it cannot be read. */
int registry_find(struct registry *r, const char *id, struct lease *ret);
/* The last n steps of a lease, oldest first, from the ledger (for its state file). */
int registry_history(struct registry *r, const char *id, int n, struct ledger_row *rows, int *ret_n);
/* Whether this id was ever used (a live row or a ledger line): ids are never used twice. 1, 0 or -errno. */
int registry_id_used(struct registry *r, const char *id);

/*
 * A turn. When a change in it fails, the turn is broken: what follows gives the same error, and so does commit,
 * after it has rolled back. Outside of a turn a lease or a line is -EINVAL; what goes to meta (a small value, the
 * checkpoint, the generation) is a turn of its own there.
 */
int registry_begin(struct registry *r);
int registry_commit(struct registry *r); /* nothing was changed since begin: no write at all */
void registry_rollback(struct registry *r);
/*
 * After the acts of a turn: a WAL that has grown is written back into the file. That takes syncs of two files, which nobody
 * waits for then. busy: something is due at once, so that it can wait a little. What fails is tried again after a later turn.
 */
void registry_settle(struct registry *r, bool busy);
/*
 * Makes the file ours to write, for this turn: before a lock is moved that the turn will write of. Each change does it
 * by itself. Somebody else who holds the file (a shell's BEGIN IMMEDIATE) is waited for; -EBUSY after half a minute.
 */
int registry_change(struct registry *r);
/* Whom to tell that this takes longer than a second: seconds 0 = it does, else it is over, after so many. */
void registry_tell(struct registry *r, void (*tell)(void *arg, int seconds), void *arg);
/* -EINVAL: it has ended (that is registry_end_lease), or is no lease. */
int registry_put(struct registry *r, const struct lease *l);
/*
 * -EEXIST: a second end (reaped, denied) of one id: the file itself refuses it. -EINVAL: from, to are no public
 * names.
 */
int registry_ledger(struct registry *r, struct ledger_row *row);
int registry_end_lease(struct registry *r, const char *id); /* drops the live row; its ledger stays */
int registry_next_generation(struct registry *r, uint64_t *ret); /* only grows, over crashes too */
int registry_checkpoint(struct registry *r, const struct registry_clock *c);
int registry_last_checkpoint(struct registry *r, struct registry_clock *ret); /* -ENOENT: none yet */
/* Small named values (the hold: until, by whom). value NULL = remove. get: -ENOENT. */
int registry_set(struct registry *r, const char *key, const char *value);
int registry_get(struct registry *r, const char *key, char *value, size_t size);
const char *registry_error(const struct registry *r); /* SQLite's words for the last failure */

#endif
