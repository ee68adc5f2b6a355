/*
 * wire.h: what passes between the two processes of leasewatch.
 *
 *	watcher (user leasewatch)                    actor (root; in user mode the same user)
 *	reads what users write, decides   --request-->   checks again, runs runtimes/NAME VERB
 *	registry, state files, clock      <--answer---   says how it ended, in fixed fields
 *
 * One SOCK_SEQPACKET pair, one fixed struct each way, one message a packet: no length to trust, nothing to
 * parse, no path and no command ever passes. Both sides call wire_*_valid on every message they receive; a
 * message that fails is a broken peer, and the side that sees it ends (the other then reads EOF and ends too;
 * leases are not touched by either end).
 *
 * Order: any number of requests may be under way; answers come in any order, matched by serial. Exactly one
 * answer with more = 0 a request; ACT_LIST gives one answer with more = 1 for each workload before it. After a
 * crash of either, nothing here is remembered: the watcher's registry says what was intended, and every verb is
 * safe to repeat.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lease/id.h"
#include "lease/record.h"

#define WIRE_MAGIC UINT32_C(0x6b6c7331) /* "kls1" */

enum act_verb {
	ACT_NONE, /* 0 = not filled in: invalid */
	ACT_CAPABILITIES,
	ACT_CREATE,
	ACT_STAT,
	ACT_HIBERNATE,
	ACT_RESUME,
	ACT_SNAPSHOT,
	ACT_DESTROY,
	ACT_LIST,
	ACT_ENTER,
	ACT_WARN, /* runtime session: a line on the terminals of a session */
	ACT_PERMIT, /* no runtime's: whether the uid may name the profile */
	ACT_VERBS,
};

struct act_request {
	uint32_t magic, size;
	uint32_t verb; /* enum act_verb */
	uint32_t uid;  /* the requester */
	uint64_t serial;
	uint64_t generation; /* > 0, but for CAPABILITIES, LIST and PERMIT */
	int64_t deadline;    /* ns this act may take; 0 < deadline <= 1 h */
	char id[LEASE_ID_SIZE];		/* "" for CAPABILITIES, LIST and PERMIT */
	char runtime[LEASE_WORD_SIZE];
	char profile[LEASE_WORD_SIZE];	/* "" = none */
	/* CREATE: the gated child; ENTER: who wants in. Claims: the actor checks owner and start */
	struct lease_process process;
	char about[LEASE_ID_SIZE];	/* WARN: the lease that ends; else "" */
	int32_t seconds;		/* WARN: in how long; else 0 */
	uint32_t tty;			/* ENTER: 1 = from a terminal; else 0 */
};

enum act_outcome {
	ACT_UNKNOWN,  /* 0 = not filled in: invalid */
	ACT_DONE,     /* exit 0 */
	ACT_LATER,    /* exit 75: try again later */
	ACT_ABSENT,   /* exit 3: there is no such workload (any more) */
	ACT_FAILED,   /* any other exit, or killed by a signal, or could not be run */
	ACT_TIMEOUT,  /* the deadline passed; the program and its group were killed */
	ACT_REFUSED,  /* the actor's own check said no: the act was not tried */
	ACT_OUTCOMES,
};

enum act_state { ACT_ST_UNSAID, ACT_ST_RUNNING, ACT_ST_FROZEN, ACT_ST_DISK, ACT_ST_STOPPED, ACT_ST_ABSENT, ACT_STATES };

/* What a runtime can do here and now; bits of act_answer.caps (ACT_CAPABILITIES). */
#define ACT_CAP_HIBERNATE_FROZEN 1u
#define ACT_CAP_HIBERNATE_DISK 2u
#define ACT_CAP_SNAPSHOT 4u
#define ACT_CAP_ENTER 8u
#define ACT_CAP_ADOPTS 16u /* it takes in a process that is there already */
#define ACT_CAPS 31u

/* Bits of act_answer.flags. */
#define ACT_FLAG_COLD 1u /* RESUME, CREATE: it was started anew, and what was in its memory is lost */

struct act_answer {
	uint32_t magic, size;
	uint32_t verb;
	uint32_t outcome; /* enum act_outcome */
	uint64_t serial;
	uint64_t generation;
	uint32_t state; /* enum act_state: STAT, LIST, HIBERNATE (FROZEN or DISK) */
	uint32_t caps;
	uint32_t more; /* LIST: another answer to this request follows */
	uint32_t flags;
	int64_t cpu_usec, memory, net_bytes; /* -1 = not said */
	/* STAT, CREATE: root of a process tree that the daemon may read itself; pid 0 = none */
	struct lease_process tree;
	char id[LEASE_ID_SIZE];
	/* STAT, CREATE: absolute path of the workload's cgroup folder, "" = none; plain ASCII, no ".." */
	char cgroup[512];
	/* one line for people, printable ASCII only (the actor escapes it): why it failed, or can't do more, or is cold */
	char line[256];
	char argv[512];	  /* ENTER: the words before the command, each ended by NUL, then an empty word; "" = none */
};

bool wire_request_valid(const struct act_request *r);
bool wire_answer_valid(const struct act_answer *a);
const char *act_verb_name(enum act_verb v); /* "create", … */
const char *act_outcome_name(enum act_outcome o);
/* "hibernate frozen (why), snapshot no, exec yes" */
void caps_words(uint32_t caps, const char *why, char *buf, size_t size);

#endif
