/*
 * klease/keeper.h: the workload of runtime process: a process that keeps the user's command and all that it
 * forks. klease forks it before it asks for a lease, because a lock names its workload. It adopts orphans
 * (PR_SET_CHILD_SUBREAPER), ignores what a terminal sends, starts the command when told, waits for every child
 * there is, and goes. klease(run) stays at the other end of a socket:
 *
 *	keeper                            klease
 *	HELLO (pid, start)
 *	                                  writes the lock, then GO; or nothing and hangs up: the keeper goes
 *	STARTED or EXEC_FAILED (errno)
 *	                                  SIGNAL (number), for the command
 *	ENDED (what waitpid said)
 *	                                  releases and exits
 *	stays for what is left, until childless or destroyed
 *
 * `create` hangs up after GO_QUEUED; that keeper has a session of its own and waits for the daemon's word itself.
 */
#ifndef KLEASE_KEEPER_H
#define KLEASE_KEEPER_H

#include "klease/world.h"

enum keeper_word {
	KEEPER_HELLO = 1,
	KEEPER_GO,           /* start the command */
	KEEPER_GO_UNWATCHED, /* the same, and end it when klease is gone: no daemon would */
	KEEPER_GO_QUEUED,    /* wait for the lease to become active first */
	KEEPER_SIGNAL,
	KEEPER_STARTED,
	KEEPER_EXEC_FAILED,
	KEEPER_ENDED,
};
struct keeper_msg {
	int32_t word, value;
	uint64_t start;
};

struct keeper_plan {
	struct world *w;
	const char *id, *name; /* the lock's */
	const char *lock;      /* its path in active/ */
	char **command;
	bool detached;
};

/* 0: it waits for GO at *ret_sock. */
int keeper_start(const struct keeper_plan *plan, struct lease_process *ret, int *ret_sock);
int keeper_tell(int sock, enum keeper_word word, int32_t value);
/* 1, or 0: it has gone. Blocks. */
int keeper_hear(int sock, struct keeper_msg *ret);

#endif
