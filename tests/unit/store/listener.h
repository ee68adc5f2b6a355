/* A tree that is watched, with one lock in it, and an ear. */
#ifndef TESTS_LISTENER_H
#define TESTS_LISTENER_H

#include "store/watch.h"
#include "tests/unit/lease/scratch.h"

#define ID "kls-aaaaaaaaaa"
#define LOCK "lock-cli-rosa-" ID
#define ALL 1000000

struct listener {
	struct scratch s;
	struct lease_tree t;
	struct watch *w;
	int fd;
};

struct heard {
	int n[WATCH_RESCAN + 1];
	char last[256];
	/* what each event is answered with */
	struct watch *unlock;
};

int listener_setup(void **state);
int listener_teardown(void **state);
void hear(void *arg, enum watch_kind k, const char *name); /* arg: struct heard */
struct heard listen_all(struct listener *w);
int total(const struct heard *h);
int queue_limit(void); /* of inotify's queue; 0 = not known */

#endif
