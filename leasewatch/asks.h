/*
 * asks.h: what asks.c and asks-exec.c share; nobody else includes it.
 */
#ifndef ASKS_H
#define ASKS_H

#include "watcher.h"

/* What the asker is told: after the commit, so that it is true after a crash too. Of two answers the later one stands. */
void ask_answer(struct watcher *w, const char *ask, const char *result, const char *what);
void ask_answer_words(struct watcher *w, const char *ask, struct ask_answer *a, const char *result, const char *what);
/* verb=exec: its process waits at a gate of its own until the lease is active and its runtime has said the way in. */
void ask_exec(struct watcher *w, const char *ask, const struct ask *q, uint32_t uid, struct entry *e);

#endif
