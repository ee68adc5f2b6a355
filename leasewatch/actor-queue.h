/*
 * actor-queue.h: the acts that the watcher asked for, and which may start next.
 *
 *	waiting --queue_next--> running --queue_ended--> answering --queue_drop--> (freed)
 *
 * Two acts on one lease never overlap: the later one waits until the earlier has ended, in the order in which
 * they came. At most QUEUE_RUNNING programs run at once. The last QUEUE_SPARE of these places go only to a
 * lane (a user on a runtime) that has none running, so that one user's or one engine's hung acts leave the
 * others a way; among the rest, the lane that has fewest running is first, then the one that came first.
 * Pure: no call, no clock.
 */
#ifndef ACTOR_QUEUE_H
#define ACTOR_QUEUE_H

#include "os/proc.h"
#include "wire.h"

#define QUEUE_RUNNING 8
#define QUEUE_SPARE 2
#define QUEUE_MAX 4096 /* acts known at once; with more the socket isn't read, and the watcher sees it full \
			*/

enum act_step { ACT_WAITING, ACT_RUNNING, ACT_ANSWERING };

struct act {
	struct act *prev, *next; /* all, in order of arrival */
	struct act *answer_next; /* those that are answering, in order of their end */
	struct act *after;       /* waits for this one: the next on the same lease */
	bool blocked;            /* another's `after` points here */
	enum act_step step;
	struct act_request r;
	struct act_answer answer;
	struct proc proc;
	int64_t started;
	bool made; /* the private directory is new */
	bool asking; /* what runs tells who the requester is (actor-permit.h), and no runtime yet */
	size_t list_at;
};

struct act_queue {
	struct act *head, *tail;
	struct act *answers, *answers_tail;
	struct act *running[QUEUE_RUNNING];
	size_t n, n_running;
};

/* Takes over a (calloc'ed, r filled in). */
void queue_add(struct act_queue *q, struct act *a);
/* The same for one that was refused: only its answer, already filled in, is to be sent. */
void queue_add_over(struct act_queue *q, struct act *a);
/* The act to start now, counted as running from here on; NULL when none may. */
struct act *queue_next(struct act_queue *q);
/* It ran, or could not be run: who waited for it may go, and its answer is next to be sent. */
void queue_ended(struct act_queue *q, struct act *a);
/* Frees the first of those that are answering. */
void queue_drop(struct act_queue *q);
/* Frees all; programs that run are not waited for. */
void queue_free(struct act_queue *q);

#endif
