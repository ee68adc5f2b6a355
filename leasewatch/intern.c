#include "config.h"

#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct interned {
	uint64_t hash;
	uint32_t taken, next_free;
	size_t len;
	char bytes[];
};

struct key {
	uint64_t hash;
	const void *bytes;
	size_t len;
};

static uint64_t hash_of(const void *arg, uint32_t number)
{
	const struct intern *t = arg;

	return t->v[number]->hash;
}

static bool same(const void *arg, uint32_t number, const void *key)
{
	const struct interned *i = ((const struct intern *)arg)->v[number];
	const struct key *k = key;

	return i->hash == k->hash && i->len == k->len && memcmp(i->bytes, k->bytes, k->len) == 0;
}

static uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	const char *p = bytes;
	uint64_t h = seed, part = 0;

	for (size_t i = 0; i < len; i += sizeof(part)) {
		part = 0;
		memcpy(&part, p + i, len - i < sizeof(part) ? len - i : sizeof(part));
		h = slots_mix(part ^ h, seed + len);
	}
	return h;
}

void intern_begin(struct intern *t, uint64_t seed)
{
	*t = (struct intern){ .free = SLOTS_NONE, .seed = seed };
	t->index.hash = hash_of;
	t->index.arg = t;
}

/* A number for it, and room at that number. */
static int number_for(struct intern *t, uint32_t *ret)
{
	if (t->free == SLOTS_NONE && t->n == t->size) {
		uint32_t size = t->size < 16 ? 16 : 2 * t->size;
		struct interned **v = size > t->size ? reallocarray(t->v, size, sizeof(struct interned *)) : NULL;
		if (!v)
			return -ENOMEM;
		t->v = v;
		t->size = size;
	}
	*ret = t->free != SLOTS_NONE ? t->free : t->n;
	return 0;
}

int intern_take(struct intern *t, const void *bytes, size_t len, uint32_t *ret)
{
	struct key key = { .bytes = bytes, .len = len };
	struct interned *i = t->n > 0 ? t->v[t->last] : NULL, *was;
	uint32_t number;

	if (i && i->taken > 0 && i->len == len && memcmp(i->bytes, bytes, len) == 0) {
		i->taken++;
		*ret = t->last;
		return 0;
	}
	key.hash = hash_bytes(bytes, len, t->seed);
	number = slots_find(&t->index, key.hash, same, &key);
	if (number != SLOTS_NONE) {
		t->v[number]->taken++;
		*ret = t->last = number;
		return 0;
	}
	if (number_for(t, &number) < 0 || !(i = malloc(sizeof(*i) + len)))
		return -ENOMEM;
	*i = (struct interned){ .hash = key.hash, .taken = 1, .next_free = SLOTS_NONE, .len = len };
	memcpy(i->bytes, bytes, len);
	was = number < t->n ? t->v[number] : NULL;
	t->v[number] = i;
	if (slots_add(&t->index, number) < 0) {
		t->v[number] = was;
		free(i);
		return -ENOMEM;
	}
	if (was) {
		t->free = was->next_free;
		free(was);
	} else {
		t->n++;
	}
	*ret = t->last = number;
	return 0;
}

void intern_drop(struct intern *t, uint32_t number)
{
	struct interned *i = t->v[number];

	if (--i->taken > 0)
		return;
	slots_remove(&t->index, number);
	/* Its number is given out again; the entry itself remembers which one was freed before it. */
	i->next_free = t->free;
	t->free = number;
}

const void *intern_bytes(const struct intern *t, uint32_t number)
{
	return t->v[number]->bytes;
}

void intern_end(struct intern *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	slots_free(&t->index);
}
