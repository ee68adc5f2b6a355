#include "config.h"

#include "heap.h"

#include <errno.h>
#include <stdlib.h>

#define CHILDREN 4

static void lay(struct heap *h, uint32_t at, struct heap_node node)
{
	h->v[at] = node;
	*h->place(h->arg, node.item) = at;
}

static void up(struct heap *h, uint32_t at, struct heap_node node)
{
	while (at > 0) {
		uint32_t parent = (at - 1) / CHILDREN;
		if (h->v[parent].due <= node.due)
			break;
		lay(h, at, h->v[parent]);
		at = parent;
	}
	lay(h, at, node);
}

static void down(struct heap *h, uint32_t at, struct heap_node node)
{
	for (;;) {
		uint64_t first = (uint64_t)at * CHILDREN + 1, best = first;
		if (first >= h->n)
			break;
		for (uint64_t c = first + 1; c < first + CHILDREN && c < h->n; c++)
			if (h->v[c].due < h->v[best].due)
				best = c;
		if (h->v[best].due >= node.due)
			break;
		lay(h, at, h->v[best]);
		at = (uint32_t)best;
	}
	lay(h, at, node);
}

/* By a quarter: for a hundred thousand things the last growth must not cost as much as half of them. */
int heap_reserve(struct heap *h, uint32_t n)
{
	if (n <= h->size)
		return 0;
	uint64_t size = h->size < 64 ? 64 : (uint64_t)h->size + h->size / 4;
	if (size < n)
		size = n;
	struct heap_node *v = size < HEAP_OUT ? reallocarray(h->v, size, sizeof(*v)) : NULL;

	if (!v)
		return -ENOMEM;
	h->v = v;
	h->size = (uint32_t)size;
	return 0;
}

int heap_set(struct heap *h, uint32_t item, int64_t due)
{
	struct heap_node node = { .due = due, .item = item };
	uint32_t at = *h->place(h->arg, item);

	if (at == HEAP_OUT) {
		if (heap_reserve(h, h->n + 1) < 0)
			return -ENOMEM;
		up(h, h->n++, node);
	} else if (due < h->v[at].due) {
		up(h, at, node);
	} else {
		down(h, at, node);
	}
	return 0;
}

void heap_remove(struct heap *h, uint32_t item)
{
	uint32_t at = *h->place(h->arg, item);
	struct heap_node last = h->v[--h->n];

	*h->place(h->arg, item) = HEAP_OUT;
	if (at == h->n)
		return;
	if (at > 0 && last.due < h->v[(at - 1) / CHILDREN].due)
		up(h, at, last);
	else
		down(h, at, last);
}

void heap_free(struct heap *h)
{
	free(h->v);
	h->v = NULL;
	h->n = h->size = 0;
}
