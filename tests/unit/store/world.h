/* tests/unit/store/world.h: a folder with a registry in it, and hands that reach into it. Each ends the test when it cannot. */
#ifndef TESTS_STORE_WORLD_H
#define TESTS_STORE_WORLD_H

#include <limits.h>

#include "store/registry.h"
#include "tests/unit/lease/scratch.h"

struct world {
	struct scratch scratch;
	char path[PATH_MAX + 16];
	char err[256];
	struct registry *r;
};

int world_setup(void **state);
int world_teardown(void **state);
struct registry *open_it(struct world *w);
void close_it(struct world *w);
/* As somebody with the sqlite3 shell, while the daemon has it open or not. Gives SQLite's code. */
int by_hand(struct world *w, const char *sql);
/* In a turn of its own. */
void put(struct registry *r, const struct lease *l);
uint64_t next_generation(struct registry *r, bool commit);

struct loaded {
	int n;
	struct lease last;
};
/* For registry_load; arg is a struct loaded. */
int keep_last(void *arg, const struct lease *l);

#endif
