#include "config.h"

#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The finalizer of MurmurHash3 (Austin Appleby, public domain). */
uint64_t slots_mix(uint64_t key, uint64_t seed)
{
	key ^= seed;
	key = (key ^ key >> 33) * UINT64_C(0xff51afd7ed558ccd);
	key = (key ^ key >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return key ^ key >> 33;
}

uint32_t slots_find(const struct slots *s, uint64_t hash, bool (*same)(const void *arg, uint32_t item, const void *key),
		    const void *key)
{
	if (s->size == 0)
		return SLOTS_NONE;
	for (uint32_t i = (uint32_t)hash & (s->size - 1); s->v[i] != SLOTS_NONE; i = (i + 1) & (s->size - 1))
		if (same(s->arg, s->v[i], key))
			return s->v[i];
	return SLOTS_NONE;
}

static void place(struct slots *s, uint32_t item)
{
	uint32_t i = (uint32_t)s->hash(s->arg, item) & (s->size - 1);

	while (s->v[i] != SLOTS_NONE)
		i = (i + 1) & (s->size - 1);
	s->v[i] = item;
}

int slots_reserve(struct slots *s, uint32_t n)
{
	struct slots more = *s;

	if (n <= s->size - s->size / 4)
		return 0;
	if (n > UINT32_MAX / 4)
		return -ENOMEM;
	while (n > more.size - more.size / 4)
		more.size = more.size ? 2 * more.size : 64;
	more.v = reallocarray(NULL, more.size, sizeof(*more.v));
	if (!more.v)
		return -ENOMEM;
	memset(more.v, 0xff, more.size * sizeof(*more.v));
	for (uint32_t i = 0; i < s->size; i++)
		if (s->v[i] != SLOTS_NONE)
			place(&more, s->v[i]);
	free(s->v);
	*s = more;
	return 0;
}

int slots_add(struct slots *s, uint32_t item)
{
	if (slots_reserve(s, s->n + 1) < 0)
		return -ENOMEM;
	place(s, item);
	s->n++;
	return 0;
}

void slots_remove(struct slots *s, uint32_t item)
{
	const uint32_t mask = s->size - 1;
	uint32_t hole = (uint32_t)s->hash(s->arg, item) & mask;

	while (s->v[hole] != item)
		hole = (hole + 1) & mask;
	for (uint32_t i = (hole + 1) & mask; s->v[i] != SLOTS_NONE; i = (i + 1) & mask) {
		uint32_t home = (uint32_t)s->hash(s->arg, s->v[i]) & mask;
		/* It stays where it is when its own place lies behind the hole. */
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		s->v[hole] = s->v[i];
		hole = i;
	}
	s->v[hole] = SLOTS_NONE;
	s->n--;
}

void slots_free(struct slots *s)
{
	free(s->v);
	s->v = NULL;
	s->n = s->size = 0;
}
