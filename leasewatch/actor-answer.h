/*
 * actor-answer.h: what a runtime printed, made into fields. The programs are root's, their words are still
 * checked: a wrong answer is a failed act, never half an answer.
 */
#ifndef ACTOR_ANSWER_H
#define ACTOR_ANSWER_H

#include <stddef.h>

#include "wire.h"

/* An answer to this request with nothing said yet. */
void answer_begin(struct act_answer *a, const struct act_request *r, enum act_outcome outcome);
/* Sets the line for people, escaped and cut. */
void answer_line(struct act_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fills in what verb's answer must and may say. 0, or -EBADMSG with the outcome FAILED and the line saying
 * what is wrong. */
int answer_parse(struct act_answer *a, const char *out, size_t len);
/*
 * LIST: the workload at *at of an answer that answer_parse found good, as an answer with more = 1; *at goes
 * on to the next. 1, or 0 at the end.
 */
int answer_next_workload(struct act_answer *a, const struct act_request *r, const char *out, size_t len,
			 size_t *at);

#endif
