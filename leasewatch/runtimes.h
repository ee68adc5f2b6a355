/*
 * runtimes.h: `leasewatch --check` asks every runtime that is installed what it can do here, and prints a line for each.
 */
#ifndef RUNTIMES_H
#define RUNTIMES_H

#include "actor.h"

/* One after the other, each with a deadline. o: runtimes, work, user_mode and settings are used. */
void runtimes_print(const struct actor_options *o);

#endif
