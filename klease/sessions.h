/*
 * klease/sessions.h: session locks in active/, found by id or by the agent that began them. A session needs
 * no daemon: its lock is enough.
 */
#ifndef KLEASE_SESSIONS_H
#define KLEASE_SESSIONS_H

#include "klease/world.h"

struct session {
	char name[LEASE_NAME_SIZE]; /* the lock's */
	struct lease_record record;
	struct lease_stat st;
};

/* 0; -ENOENT: none in active/; -EINVAL: a lock, but no session's; -errno. */
int session_get(const struct world *w, const char *id, struct session *ret);
/* Our own one with label agent=ID whose leader (if it names one) lives. -ENOENT. */
int session_of_agent(const struct world *w, const char *agent, struct session *ret);
/* Each session there is; what cannot be read is none. Stops when each gives non-zero and returns that. */
int session_each(const struct world *w, int (*each)(void *arg, const struct session *s), void *arg);
/* While held, no other start of ours can begin the same agent's session. Waits a moment at most, and goes on
 * without. */
void session_hold(const struct world *w);
void session_let_go(const struct world *w);

/* The nearest ancestor that is no shell and ours; pid 0 = there is none. */
void session_leader(const struct world *w, struct lease_process *ret);

#endif
