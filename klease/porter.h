/*
 * klease/porter.h: klease exec's way into a lease that only root can enter: the porter runs the command with our descriptors,
 * and we stay at the other end, pass signals on and take its exit status. core/porter.h is what is said.
 */
#ifndef KLEASE_PORTER_H
#define KLEASE_PORTER_H

#include <stdbool.h>

#include "klease/world.h"

/*
 * In the gated process, whom the daemon knows. Gives the exit status; never comes back before the command has ended. error: a
 * pipe that is closed once it runs, and gets an errno when it can't. sig: of porter_signals.
 */
int porter_exec(const struct world *w, char *const *command, int sig, int error);
/* Blocks what is to be passed on. -errno or a signalfd. */
int porter_signals(void);

#endif
