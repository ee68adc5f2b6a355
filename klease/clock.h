/*
 * klease/clock.h: the one place of klease that reads a clock.
 */
#ifndef KLEASE_CLOCK_H
#define KLEASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono(void);    /* ns; deadlines */
int64_t clock_wall(void);    /* ns; for people */
int64_t clock_wall_ms(void); /* as state files and ledger say it */
/* Milliseconds until deadline (clock_mono), rounded up, for poll(2). 0 = passed; deadline 0 = none: -1. */
int clock_poll_ms(int64_t deadline);

#endif
