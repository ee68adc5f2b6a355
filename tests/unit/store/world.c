#include "config.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/world.h"

int world_setup(void **state)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	scratch_make(&w.scratch);
	snprintf(w.path, sizeof(w.path), "%s/lease.db", w.scratch.path);
	*state = &w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *w = *state;

	registry_close(w->r);
	scratch_remove(&w->scratch);
	return 0;
}

struct registry *open_it(struct world *w)
{
	int r = registry_open(w->path, &w->r, w->err);

	if (r < 0)
		fail_msg("registry_open: %d: %s", r, w->err);
	return w->r;
}

void close_it(struct world *w)
{
	registry_close(w->r);
	w->r = NULL;
}

int by_hand(struct world *w, const char *sql)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

void put(struct registry *r, const struct lease *l)
{
	assert_int_equal(registry_begin(r), 0);
	assert_int_equal(registry_put(r, l), 0);
	assert_int_equal(registry_commit(r), 0);
}

uint64_t next_generation(struct registry *r, bool commit)
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

int keep_last(void *arg, const struct lease *l)
{
	struct loaded *loaded = arg;

	loaded->n++;
	loaded->last = *l;
	return 0;
}
