#include "config.h"

#include "tests/bench/due.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lease.h"
#include "lease/tree.h"
#include "tests/bench/bench.h"

/* What two readings of two clocks, one after the other, may be apart. */
#define CLOCKS LEASE_NS_PER_MS

void due_fill(struct due_set *s, struct world *w, int n)
{
	/* Idle or not is no question here. */
	const struct world_times t = { .ttl = DUE_TTL, .renew_grace = 3600 * LEASE_NS_PER_S };
	struct world_lease *l = calloc((size_t)n, sizeof(*l));

	*s = (struct due_set){ .n = n };
	s->d = mmap(NULL, (size_t)n * sizeof(*s->d), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!l || s->d == MAP_FAILED)
		bench_fail("memory", ENOMEM);
	world_fill(w, &t, n, l);
	for (int i = 0; i < n; i++)
		s->d[i].l = l[i];
	free(l);
}

static int by_last_beat(const void *a, const void *b)
{
	const struct due *x = a, *y = b;

	return (x->last_beat > y->last_beat) - (x->last_beat < y->last_beat);
}

void due_plan(struct due_set *s, int n, int64_t from, int64_t window)
{
	struct due *d = s->d + s->planned;

	if (s->planned + n > s->n)
		bench_fail("more ends than leases", 0);
	for (int i = 0; i < n; i++)
		d[i].last_beat = from + (int64_t)(bench_random(1000000000) / 1e9 * (double)window) - DUE_TTL - LEASE_TICK;
	qsort(d, (size_t)n, sizeof(*d), by_last_beat);
	if (d[0].last_beat < bench_now())
		bench_fail("the plan comes too late", 0);
	s->planned += n;
}

static void beat_last(struct due *d, const struct world *w)
{
	struct lease_stat st;
	int r = lease_touch(w->active, d->l.name, &st);

	if (r < 0)
		bench_fail("a lease ended before its time", r);
	d->deadline = st.mtime + bench_now() - bench_wall() + DUE_TTL + LEASE_TICK;
}

void due_start(struct due_set *s, const struct world *w)
{
	int64_t tick = bench_now();
	int last = 0;

	s->beats = world_child();
	if (s->beats > 0)
		return;
	/* Whoever has no plan is kept for ever. */
	for (;;) {
		if (last < s->planned && s->d[last].last_beat <= tick) {
			bench_until(s->d[last].last_beat);
			beat_last(&s->d[last++], w);
			continue;
		}
		bench_until(tick);
		for (int i = last; i < s->n; i++)
			world_touch(w, &s->d[i].l);
		tick += bench_count(1000, 200) * LEASE_NS_PER_MS;
	}
}

static int by_id(const void *a, const void *b)
{
	const struct due *const *x = a, *const *y = b;

	return strcmp((*x)->l.id, (*y)->l.id);
}

void due_read(struct due_set *s, const struct world *w)
{
	struct due **sorted = calloc((size_t)s->n, sizeof(struct due *));
	char line[128], path[400];
	FILE *f;

	world_child_end(s->beats);
	(void)snprintf(path, sizeof(path), "%s/home/stamps", w->dir);
	f = fopen(path, "re");
	if (!f || !sorted)
		bench_fail(path, errno);
	for (int i = 0; i < s->n; i++)
		sorted[i] = &s->d[i];
	qsort(sorted, (size_t)s->n, sizeof(struct due *), by_id);
	while (fgets(line, sizeof(line), f)) {
		struct due key, *k = &key, **found;
		int64_t at;

		if (sscanf(line, "%14s %" SCNd64, key.l.id, &at) != 2)
			bench_fail("a stamp that is none", 0);
		found = bsearch(&k, sorted, (size_t)s->n, sizeof(struct due *), by_id);
		if (!found)
			continue;
		s->twice += (*found)->stamped != 0;
		s->early += (*found)->deadline == 0 || at < (*found)->deadline - CLOCKS;
		(*found)->stamped = at;
	}
	(void)fclose(f);
	free(sorted);
	for (int i = 0; i < s->planned; i++)
		s->missing += s->d[i].stamped == 0;
}

int due_late(const struct due_set *s, int first, int n, double *ret)
{
	int k = 0;

	for (int i = first; i < first + n; i++)
		if (s->d[i].stamped != 0)
			ret[k++] = (double)(s->d[i].stamped - s->d[i].deadline) / 1000;
	return k;
}
