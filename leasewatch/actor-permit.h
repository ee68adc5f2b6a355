/*
 * actor-permit.h: whether a user may name a profile. Its `users` and `groups` are names, and only NSS knows whose they are:
 * it is asked by id(1), a program with a deadline like any other, so that a directory server that hangs holds up one request.
 */
#ifndef ACTOR_PERMIT_H
#define ACTOR_PERMIT_H

#include "actor-act.h"

enum permit { PERMIT_YES, PERMIT_NO, PERMIT_ASK };

/* ASK: start permit_program, and give what it printed to permit_told. NO: why is said. */
enum permit permit_look(const struct actor *x, const struct act_request *r, char why[160]);
/* id's argv: its words point into uid. */
#define PERMIT_PROGRAM "/usr/bin/id"
void permit_argv(const struct act_request *r, char uid[16], char *argv[3]);
/* out: what id printed. */
bool permit_told(const struct actor *x, const struct act_request *r, const char *out, char why[160]);

#endif
