#include "config.h"

#include "actor-queue.h"

#include <stdlib.h>
#include <string.h>

static void link_act(struct act_queue *q, struct act *a)
{
	a->prev = q->tail;
	a->next = NULL;
	if (q->tail)
		q->tail->next = a;
	else
		q->head = a;
	q->tail = a;
	q->n++;
}

static void link_answer(struct act_queue *q, struct act *a)
{
	a->step = ACT_ANSWERING;
	a->answer_next = NULL;
	if (q->answers_tail)
		q->answers_tail->answer_next = a;
	else
		q->answers = a;
	q->answers_tail = a;
}

void queue_add(struct act_queue *q, struct act *a)
{
	struct act *before = a->r.id[0] ? q->tail : NULL;

	/* The latest on this lease that isn't over: nobody waits for it yet. */
	while (before && (before->step == ACT_ANSWERING || strcmp(before->r.id, a->r.id)))
		before = before->prev;
	if (before)
		before->after = a;
	a->blocked = before;
	a->step = ACT_WAITING;
	link_act(q, a);
}

void queue_add_over(struct act_queue *q, struct act *a)
{
	link_act(q, a);
	link_answer(q, a);
}

static size_t lane_running(const struct act_queue *q, const struct act *a)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n_running; i++)
		n += q->running[i]->r.uid == a->r.uid && !strcmp(q->running[i]->r.runtime, a->r.runtime);
	return n;
}

struct act *queue_next(struct act_queue *q)
{
	bool spare_only = q->n_running >= QUEUE_RUNNING - QUEUE_SPARE;
	size_t fewest = SIZE_MAX;
	struct act *best = NULL;

	if (q->n_running >= QUEUE_RUNNING)
		return NULL;
	for (struct act *a = q->head; a && fewest > 0; a = a->next) {
		size_t n;

		if (a->step != ACT_WAITING || a->blocked)
			continue;
		n = lane_running(q, a);
		if (n < fewest && !(spare_only && n > 0)) {
			fewest = n;
			best = a;
		}
	}
	if (best) {
		best->step = ACT_RUNNING;
		q->running[q->n_running++] = best;
	}
	return best;
}

void queue_ended(struct act_queue *q, struct act *a)
{
	for (size_t i = 0; i < q->n_running; i++) {
		if (q->running[i] != a)
			continue;
		q->running[i] = q->running[--q->n_running];
		break;
	}
	if (a->after)
		a->after->blocked = false;
	a->after = NULL;
	link_answer(q, a);
}

static void unlink_act(struct act_queue *q, struct act *a)
{
	if (a->prev)
		a->prev->next = a->next;
	else
		q->head = a->next;
	if (a->next)
		a->next->prev = a->prev;
	else
		q->tail = a->prev;
	q->n--;
}

void queue_drop(struct act_queue *q)
{
	struct act *a = q->answers;

	q->answers = a->answer_next;
	if (!q->answers)
		q->answers_tail = NULL;
	unlink_act(q, a);
	if (a->started)
		proc_free(&a->proc);
	free(a);
}

void queue_free(struct act_queue *q)
{
	struct act *next;

	for (struct act *a = q->head; a; a = next) {
		next = a->next;
		if (a->started)
			proc_free(&a->proc);
		free(a);
	}
	*q = (struct act_queue){0};
}
