/*
 * klease/foreground.h: signals of a klease that waits for a command or for the daemon. They are blocked and
 * read from a descriptor, so that who sent one can be told: what the terminal sends (^C, ^\, a hang-up) goes
 * to the whole foreground group, the command has it already; what another process sends goes to us alone and
 * is passed on. ^Z is left alone: shells' job control works on the group.
 */
#ifndef KLEASE_FOREGROUND_H
#define KLEASE_FOREGROUND_H

#include <stdbool.h>

/* children: SIGCHLD too. -errno or a descriptor. */
int foreground_open(bool children);
/* A signal, 0 = none left. *ret_terminal: the kernel sent it, not a process. */
int foreground_read(int fd, bool *ret_terminal);

#endif
