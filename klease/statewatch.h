/*
 * klease/statewatch.h: waiting for the daemon's word: inotify on the folder of state files, with an eye on
 * the daemon itself.
 *
 * Calling sequence: open, then look at what is there, then wait, look, wait, …: what changes after open is
 * never missed. An event means "look", not "what". While the daemon is dead it is looked for twice a second;
 * back again, its folder is watched anew. Without inotify (too many instances) it polls.
 */
#ifndef KLEASE_STATEWATCH_H
#define KLEASE_STATEWATCH_H

#include "klease/world.h"

#define STATEWATCH_DAEMON_GONE (INT64_C(60) * 1000000000)

enum statewatch_result {
	STATEWATCH_CHANGED,
	STATEWATCH_DEADLINE,
	STATEWATCH_FD,   /* the caller's own descriptor has something */
	STATEWATCH_GONE, /* no daemon for STATEWATCH_DAEMON_GONE */
};

struct statewatch {
	struct world *w;
	int inotify, daemon;
	int64_t dead_since; /* mono; 0 = it lives */
	const char *only;   /* the one name that matters; NULL = all */
	/* For each name that changed; NULL = look at all of them. May be NULL. */
	void (*changed)(void *arg, const char *name);
	void *arg;
};

void statewatch_open(struct statewatch *s, struct world *w, const char *only);
void statewatch_close(struct statewatch *s);
/* deadline: clock_mono, 0 = none. fd: -1 = none. */
enum statewatch_result statewatch_wait(struct statewatch *s, int64_t deadline, int fd);

#endif
