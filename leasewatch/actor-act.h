/*
 * actor-act.h: one act, from the request that was read to the answer that can be sent. The order: act_check,
 * then (once the queue says so) act_start, then act_step until it is over. Each of the three may be the last:
 * it then has filled a->answer.
 */
#ifndef ACTOR_ACT_H
#define ACTOR_ACT_H

#include "actor-queue.h"
#include "actor.h"

struct actor {
	const struct actor_options *o;
	int epoll, signals, timer, watcher, runtimes, work; /* descriptors */
	char boot[LEASE_BOOT_SIZE];
	struct settings *settings;
	struct act_queue queue;
	int64_t armed; /* what the timer stands at; INT64_MAX = off */
	bool told;     /* to stop, by a signal */
	bool peer_gone, reading, writing;
	int64_t kill_watcher; /* when it hasn't ended by then; INT64_MAX = it needn't end */
};

/* The actor's own look at a request. false: refused, and why is in the answer. */
bool act_check(const struct actor *x, struct act *a);
/* Makes the private directory and starts the program. false: it is over already. */
bool act_start(struct actor *x, struct act *a, int64_t now);
/* True once it is over. */
bool act_step(struct actor *x, struct act *a, int64_t now);

#endif
