/*
 * klease/keeper-life.h: what a keeper does from its HELLO to its end. Runs in the keeper's own process only.
 */
#ifndef KLEASE_KEEPER_LIFE_H
#define KLEASE_KEEPER_LIFE_H

#include <stddef.h>

#include "klease/keeper.h"

/* Gives the keeper's exit status, which nobody looks at. */
int keeper_live(const struct keeper_plan *plan, int sock);
void keeper_null_stdio(void);
/* stdin, stdout, stderr and these stay. keep is sorted in place; -1 in it is nothing. */
void keeper_close_all_but(int *keep, size_t n);

#endif
