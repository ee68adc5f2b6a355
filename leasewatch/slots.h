/*
 * slots.h: an index over numbered things: open addressing with linear probing, four bytes a place, at most three
 * quarters full. What is taken out leaves no mark behind: those that were pushed past it move back (Knuth, TAOCP 3,
 * 6.4, algorithm R).
 */
#ifndef SLOTS_H
#define SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define SLOTS_NONE UINT32_MAX

struct slots {
	uint32_t *v;
	uint32_t n, size; /* size: a power of two, or 0 */
	uint64_t (*hash)(const void *arg, uint32_t item);
	const void *arg;
};

/* The item of that hash for which same() is true, or SLOTS_NONE. */
uint32_t slots_find(const struct slots *s, uint64_t hash, bool (*same)(const void *arg, uint32_t item, const void *key),
		    const void *key);
int slots_reserve(struct slots *s, uint32_t n); /* room for n */
int slots_add(struct slots *s, uint32_t item); /* which is not in it; -ENOMEM */
void slots_remove(struct slots *s, uint32_t item);
void slots_free(struct slots *s);
/* Names are users' to make up: without the seed nobody can make up many that collide. */
uint64_t slots_mix(uint64_t key, uint64_t seed);

#endif
