/*
 * actor-env.h: the environment of a runtime program: exactly what lease-runtime(7) lists, nothing of ours.
 */
#ifndef ACTOR_ENV_H
#define ACTOR_ENV_H

#include "actor-act.h"

#define ENV_WORDS 160 /* ours, a profile's, and twice OWN_KEYS_MAX of conf/sections.h */

struct actor_env {
	char *word[ENV_WORDS + 1]; /* NULL-ended, pointing into text */
	size_t n, used;
	bool full;
	char text[40960]; /* a line of the configuration is at most 197 bytes long */
};

/* 0, or -ENAMETOOLONG: a path of ours doesn't fit. */
int actor_env_make(struct actor_env *e, const struct actor *x, const struct act_request *r);

#endif
