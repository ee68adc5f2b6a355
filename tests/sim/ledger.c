/*
 * tests/sim/ledger.c: the registry looked at from outside: its calls pass through here (ld --wrap), and at each start
 * its file is read and compared with what was acknowledged.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"
#include "store/registry-private.h"

#define PENDING 16384

int __real_registry_open(const char *path, struct registry **ret, char err[256]);
void __real_registry_close(struct registry *r);
int __real_registry_put(struct registry *r, const struct lease *l);
int __real_registry_ledger(struct registry *r, struct ledger_row *row);
int __real_registry_commit(struct registry *r);
int __wrap_registry_open(const char *path, struct registry **ret, char err[256]);
void __wrap_registry_close(struct registry *r);
int __wrap_registry_put(struct registry *r, const struct lease *l);
int __wrap_registry_ledger(struct registry *r, struct ledger_row *row);
int __wrap_registry_commit(struct registry *r);

/* What this turn has written and nobody has acknowledged. */
static struct {
	struct ledger_row row;
	int64_t when;
} lines[PENDING];
static struct {
	char id[LEASE_ID_SIZE], session[LEASE_ID_SIZE];
} rows[PENDING];
static size_t n_lines, n_rows;
static int64_t last_seq;

void ledger_begin(void)
{
	n_lines = n_rows = 0;
	last_seq = 0;
	check_begin();
}

int __wrap_registry_put(struct registry *r, const struct lease *l)
{
	int x = __real_registry_put(r, l);

	if (x == 0 && n_rows < PENDING) {
		memcpy(rows[n_rows].id, l->id, sizeof(l->id));
		memcpy(rows[n_rows++].session, l->record.session, sizeof(l->record.session));
	}
	return x;
}

int __wrap_registry_ledger(struct registry *r, struct ledger_row *row)
{
	int x = __real_registry_ledger(r, row);

	if (x != 0)
		return x;
	if (n_lines == PENDING)
		broken("the simulation", "a turn of more than %d lines", PENDING);
	lines[n_lines].row = *row;
	lines[n_lines++].when = now();
	return 0;
}

static void committed(void)
{
	happens();
	for (size_t i = 0; i < n_lines; i++) {
		if (lines[i].row.seq <= last_seq)
			broken("I6", "line %lld of the ledger after %lld", (long long)lines[i].row.seq, (long long)last_seq);
		last_seq = lines[i].row.seq;
		check_line(&lines[i].row, lines[i].when);
	}
	for (size_t i = 0; i < n_rows; i++)
		check_bound(rows[i].id, rows[i].session);
	n_lines = n_rows = 0;
}

int __wrap_registry_commit(struct registry *r)
{
	int x = __real_registry_commit(r);

	/* Of one that failed, or never came back, the file knows: see below. */
	if (x == 0)
		committed();
	return x;
}

static sqlite3_stmt *query(struct registry *r, const char *sql)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(r->db, sql, -1, &st, NULL) != SQLITE_OK)
		broken("the simulation", "%s: %s", sql, sqlite3_errmsg(r->db));
	return st;
}

static int64_t number(struct registry *r, const char *sql)
{
	sqlite3_stmt *st = query(r, sql);
	int64_t n = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;

	sqlite3_finalize(st);
	return n;
}

/* All of the turn that nobody saw the end of is there, or nothing of it. */
static void reconcile(struct registry *r)
{
	int64_t last = number(r, "SELECT max(seq) FROM ledger");

	if (last < last_seq)
		broken("I6", "the ledger ends at line %lld; line %lld was acknowledged", (long long)last, (long long)last_seq);
	if (last > last_seq && (n_lines == 0 || last != lines[n_lines - 1].row.seq))
		broken("I6", "the ledger ends at line %lld; acknowledged were %lld, under way %zu more", (long long)last,
		       (long long)last_seq, n_lines);
	if (last > last_seq)
		committed();
	n_lines = n_rows = 0;
}

static void compare_rows(struct registry *r)
{
	sqlite3_stmt *st = query(r, "SELECT id, state, generation FROM lease");
	struct truth *t;

	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *id = (const char *)sqlite3_column_text(st, 0);
		const char *state = state_public(state_by_name((const char *)sqlite3_column_text(st, 1)));

		t = truth_find(id);
		if (!t)
			broken("I6", "the registry has %s (%s), which is over", id, state);
		if (strcmp(state, public_name(t->state)) != 0)
			broken("I6", "the registry says that %s is %s, the ledger %s", id, state, public_name(t->state));
		if ((uint64_t)sqlite3_column_int64(st, 2) != t->generation)
			broken("I6", "the registry and the ledger differ in the generation of %s", id);
		t->in_registry = true;
	}
	sqlite3_finalize(st);
	LIST_FOREACH(t, &world.all, all) {
		if (t->state != P_NONE && !t->in_registry)
			broken("I6", "the registry lacks %s, which is %s", t->id, public_name(t->state));
		t->in_registry = false;
	}
}

int __wrap_registry_open(const char *path, struct registry **ret, char err[256])
{
	int x = __real_registry_open(path, ret, err);

	if (x != 0) {
		kernel_note("registry_open: %s", err);
		return x;
	}
	happens();
	kernel_aside(true);
	reconcile(*ret);
	compare_rows(*ret);
	kernel_aside(false);
	return 0;
}

/* The query gives ids. */
static void none(struct registry *r, const char *sql, const char *what)
{
	sqlite3_stmt *st = query(r, sql);

	if (sqlite3_step(st) == SQLITE_ROW)
		broken("I3", "%s, such as %s", what, (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

void __wrap_registry_close(struct registry *r)
{
	kernel_aside(true);
	if (r && world.done) {
		none(r, "SELECT id FROM lease", "leases live in the registry though all is over");
		none(r, "SELECT id FROM ledger WHERE to_state IN ('reaped', 'denied') GROUP BY id HAVING count(*) > 1",
		     "leases have two ends");
		none(r, "SELECT id FROM (SELECT id, from_state, lag(to_state, 1, '-') OVER (PARTITION BY id ORDER BY seq) "
			"AS before FROM ledger) WHERE from_state <> before", "lines do not go on where the one before ended");
		none(r, "SELECT id FROM ledger GROUP BY id HAVING sum(to_state IN ('reaped', 'denied')) = 0",
		     "leases have no end");
		if ((uint64_t)number(r, "SELECT count(*) FROM ledger") != world.lines)
			broken("I6", "the ledger has not the %llu lines that were seen", (unsigned long long)world.lines);
	}
	kernel_aside(false);
	__real_registry_close(r);
}
