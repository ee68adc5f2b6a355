/*
 * core/renew.h: what a renewal is worth: one function from (lease, ttl, now) to a value. The daemon asks it
 * when it credits a beat, klease when it says "renewed, 287 s left". Nothing else decides it, and it looks at
 * nothing but its arguments.
 */
#ifndef CORE_RENEW_H
#define CORE_RENEW_H

#include <stdbool.h>
#include <stdint.h>

enum renew_outcome {
	RENEW_OK,
	RENEW_EXPIRED, /* the end was committed before */
	RENEW_LOST,    /* no lock in active/: whoever renews no longer holds it */
	RENEW_REFUSED, /* the ttl is none */
};

struct renewable {
	bool living;	/* state_living() */
	bool in_active; /* its lock stood in active/ when looked at */
};

struct renewal {
	enum renew_outcome outcome;
	int64_t expires; /* RENEW_OK: now + ttl, on the clock of now; never overflows */
};

struct renewal renew(const struct renewable *l, int64_t ttl, int64_t now);

#endif
