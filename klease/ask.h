/*
 * klease/ask.h: asking the daemon for more than a lease: queue/ask-ID, answered in state/ask-ID.
 */
#ifndef KLEASE_ASK_H
#define KLEASE_ASK_H

#include "klease/world.h"

#define ASK_TIMEOUT (INT64_C(30) * 1000000000)

/*
 * Writes the ask and waits for its answer, up to timeout (ns); an ask that times out is withdrawn. KX_OK: it
 * was done, *ret is the answer. Else KX_REFUSED, KX_FAILED, KX_LOST, KX_TIMEOUT, KX_NODAEMON with a sentence
 * said, or 128 + n (sigfd, -1 = none).
 */
int ask_daemon(struct world *w, const struct ask *a, int64_t timeout, int sigfd, struct ask_answer *ret);

#endif
