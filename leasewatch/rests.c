#include "config.h"

#include "rests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lease/duration.h"

/* Large enough for malloc(3) to map it by itself: among entries that come and go it would keep their memory from going back. */
#define SLAB 4096

struct rest *rests_at(const struct rests *s, uint32_t n)
{
	return &s->slab[n / SLAB][n % SLAB];
}

static uint64_t hash_of(const void *arg, uint32_t n)
{
	const struct rests *s = arg;

	return slots_mix(rests_at(s, n)->key, s->seed);
}

static bool same(const void *arg, uint32_t n, const void *key)
{
	return rests_at(arg, n)->key == *(const uint64_t *)key;
}

static uint32_t *place(void *arg, uint32_t n)
{
	return &rests_at(arg, n)->at;
}

void rests_begin(struct rests *s, uint64_t seed, uint64_t dev)
{
	*s = (struct rests){ .free = RESTS_NONE, .seed = seed, .dev = dev };
	s->ids.hash = hash_of;
	s->ids.arg = s;
	s->peeks.place = s->exact.place = place;
	s->peeks.arg = s->exact.arg = s;
	intern_begin(&s->terms, seed);
	intern_begin(&s->prefixes, seed);
}

void rests_end(struct rests *s)
{
	for (uint32_t i = 0; i < s->n_slabs; i++)
		free(s->slab[i]);
	free(s->slab);
	slots_free(&s->ids);
	intern_end(&s->terms);
	intern_end(&s->prefixes);
	heap_free(&s->peeks);
	heap_free(&s->exact);
}

void rests_reserve(struct rests *s, uint32_t n)
{
	(void)slots_reserve(&s->ids, n);
	(void)heap_reserve(&s->peeks, n);
}

uint32_t rests_find(const struct rests *s, const char *id)
{
	uint64_t key;

	return rest_key(id, &key) ? slots_find(&s->ids, slots_mix(key, s->seed), same, &key) : RESTS_NONE;
}

static int more(struct rests *s)
{
	struct rest *slab;

	if (s->n_slabs == s->size) {
		uint32_t size = s->size < 16 ? 16 : 2 * s->size;
		struct rest **v = size < RESTS_NONE / SLAB ? reallocarray(s->slab, size, sizeof(struct rest *)) : NULL;
		if (!v)
			return -ENOMEM;
		s->slab = v;
		s->size = size;
	}
	if (!(slab = calloc(SLAB, sizeof(*slab))))
		return -ENOMEM;
	s->slab[s->n_slabs++] = slab;
	return 0;
}

static int share(struct rests *s, const struct lease *l, struct rest *r)
{
	const char *id = lease_name_lock_id(l->name);
	char prefix[LEASE_NAME_SIZE] = "";
	struct rest_terms t = rest_terms(&l->policy);
	int e;

	if (!id)
		return -EINVAL;
	memcpy(prefix, l->name, (size_t)(id - l->name));
	e = intern_take(&s->prefixes, prefix, (size_t)(id - l->name) + 1, &r->prefix);
	if (e < 0)
		return e;
	e = intern_take(&s->terms, &t, sizeof(t), &r->terms);
	if (e < 0)
		intern_drop(&s->prefixes, r->prefix);
	return e;
}

static void give_back(struct rests *s, uint32_t n)
{
	struct rest *r = rests_at(s, n);

	intern_drop(&s->terms, r->terms);
	intern_drop(&s->prefixes, r->prefix);
	r->taken = false;
	r->at = s->free;
	s->free = n;
}

int rests_add(struct rests *s, const struct lease *l, int64_t due, bool peeked, uint32_t *ret)
{
	uint32_t n = s->free;
	struct rest *r;
	int e;

	if (n == RESTS_NONE && s->end == s->n_slabs * SLAB && (e = more(s)) < 0)
		return e;
	if (n == RESTS_NONE)
		n = s->end;
	r = rests_at(s, n);
	/* A look must not fail for want of memory. */
	if ((e = heap_reserve(&s->peeks, s->n + 1)) < 0 || (e = share(s, l, r)) < 0)
		return e;
	if (n == s->free)
		s->free = r->at;
	else
		s->end++;
	rest_pack(l, r);
	r->taken = true;
	r->seen = r->peeked = r->unshown = false;
	r->at = HEAP_OUT;
	if ((e = slots_add(&s->ids, n)) < 0) {
		give_back(s, n);
		return e;
	}
	s->n++;
	rests_due(s, n, due, peeked);
	*ret = n;
	return 0;
}

void rests_remove(struct rests *s, uint32_t n)
{
	rests_due(s, n, LEASE_NEVER, false);
	slots_remove(&s->ids, n);
	give_back(s, n);
	s->n--;
}

void rests_get(const struct rests *s, uint32_t n, struct lease *l)
{
	const struct rest *r = rests_at(s, n);

	rest_unpack(r, rests_terms(s, n), intern_bytes(&s->prefixes, r->prefix), s->dev, l);
}

void rests_put(struct rests *s, uint32_t n, const struct lease *l)
{
	rest_pack(l, rests_at(s, n));
}

void rests_due(struct rests *s, uint32_t n, int64_t due, bool peeked)
{
	struct rest *r = rests_at(s, n);
	struct heap *is = r->peeked ? &s->exact : &s->peeks, *to = peeked ? &s->exact : &s->peeks;

	if (r->at != HEAP_OUT && (is != to || due == LEASE_NEVER))
		heap_remove(is, n);
	r->peeked = peeked;
	if (due == LEASE_NEVER || heap_set(to, n, due) == 0)
		return;
	/* In the other one it is looked at once more than needed; there is room for all. */
	r->peeked = false;
	(void)heap_set(&s->peeks, n, due);
}

int64_t rests_due_at(const struct rests *s, uint32_t n)
{
	const struct rest *r = rests_at(s, n);

	return r->at == HEAP_OUT ? LEASE_NEVER : (r->peeked ? s->exact : s->peeks).v[r->at].due;
}

bool rests_named(const struct rests *s, uint32_t n, const char *name)
{
	const char *prefix = intern_bytes(&s->prefixes, rests_at(s, n)->prefix);
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 && strlen(name + len) == LEASE_ID_SIZE - 1;
}

const struct rest_terms *rests_terms(const struct rests *s, uint32_t n)
{
	return intern_bytes(&s->terms, rests_at(s, n)->terms);
}

uint32_t rests_next(const struct rests *s, uint32_t n)
{
	while (n < s->end && !rests_at(s, n)->taken)
		n++;
	return n < s->end ? n : RESTS_NONE;
}

int64_t rests_first_due(const struct rests *s)
{
	const struct heap_node *p = heap_first(&s->peeks), *x = heap_first(&s->exact);

	if (!p || (x && x->due < p->due))
		p = x;
	return p ? p->due : LEASE_NEVER;
}
