/*
 * tests/sim/real.h: included before all else by the machine's own objects and memdisk's (cc -include): on the
 * link line malloc(3) and its like stand for the daemon's memory, which goes when it is killed. These mean
 * the real ones.
 */
#ifndef SIM_REAL_H
#define SIM_REAL_H

#include "config.h"

#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void __real_free(void *p);
char *__real_strdup(const char *s);

#define malloc __real_malloc
#define calloc __real_calloc
#define realloc __real_realloc
#define free __real_free

#endif
