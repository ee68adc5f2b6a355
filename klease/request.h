/*
 * klease/request.h: asking for a lease: a lock written into queue/, then the daemon's answer in its state
 * file.
 */
#ifndef KLEASE_REQUEST_H
#define KLEASE_REQUEST_H

#include "klease/args.h"
#include "klease/world.h"

struct request {
	struct lease_record record;
	char name[LEASE_NAME_SIZE]; /* of the lock */
	char lock[800];             /* its path once it is active */
};

/* Mints the id, fills in what was not said. KX_OK, or the status with a sentence said. */
int request_make(const struct world *w, const struct args *a, struct request *q);
int request_put(const struct world *w, const struct request *q);
/*
 * Withdraws a request, or releases the lease that it has become. 0, -ENOENT (it is over already), -errno.
 */
int request_end(const struct world *w, const struct request *q);

/*
 * Waits until the lease is active: KX_OK; KX_REFUSED, KX_FAILED, KX_LOST with the reason said; KX_TIMEOUT at
 * the deadline (0 = none); KX_NODAEMON; or 128 + n: signal n came at sigfd. What is not KX_OK withdraws the
 * request.
 * active (may be NULL) is called first of all: it starts what waits for the lease.
 */
int request_await(struct world *w, const struct request *q, int64_t deadline, int sigfd, void (*active)(void *arg),
		  void *arg);
/* The same for a lease that stands (exec): nothing is withdrawn, and a hibernated one is waited for. */
int request_await_active(struct world *w, const char *id, int64_t deadline, int sigfd);
/* Waits a moment for any word at all: KX_OK also when none came, *ret_heard tells. */
int request_first_word(struct world *w, const struct request *q, bool *ret_heard);

#endif
