/*
 * heap.h: numbered things by when they are due: a heap of four children a node, 16 bytes a thing. Against a tree it
 * keeps no pointers, and against a timing wheel it wakes nobody for nothing.
 *
 * A thing's place in the heap is kept with the thing, so that it can be moved and taken out: place() says where.
 */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>
#include <stdint.h>

#define HEAP_OUT UINT32_MAX /* the place of what is in no heap */

struct heap_node {
	int64_t due;
	uint32_t item;
};

struct heap {
	struct heap_node *v;
	uint32_t n, size;
	uint32_t *(*place)(void *arg, uint32_t item);
	void *arg;
};

/* Room for n things: while there are no more, heap_set cannot fail. */
int heap_reserve(struct heap *h, uint32_t n);
/* Puts a thing that is in no heap in, or moves one of this heap. -ENOMEM: it is where it was. */
int heap_set(struct heap *h, uint32_t item, int64_t due);
void heap_remove(struct heap *h, uint32_t item); /* which is in this heap */
/* The earliest; NULL = empty. */
static inline const struct heap_node *heap_first(const struct heap *h)
{
	return h->n > 0 ? &h->v[0] : NULL;
}
void heap_free(struct heap *h);

#endif
