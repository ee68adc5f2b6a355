#include "config.h"

#include "tests/unit/store/listener.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/lease/test.h"

void hear(void *arg, enum watch_kind k, const char *name)
{
	struct heard *h = arg;

	h->n[k]++;
	snprintf(h->last, sizeof(h->last), "%s", name);
	if (h->unlock)
		watch_unlock(h->unlock, ID);
}

struct heard listen_all(struct listener *w)
{
	struct heard h = { 0 };

	assert_int_equal(watch_read(w->w, ALL, hear, &h), 0);
	return h;
}

int total(const struct heard *h)
{
	int n = 0;

	for (int k = 0; k <= WATCH_RESCAN; k++)
		n += h->n[k];
	return n;
}

int listener_setup(void **state)
{
	static struct listener w;

	scratch_make(&w.s);
	scratch_make_tree(&w.s);
	assert_int_equal(lease_tree_open(&w.t, w.s.path), 0);
	assert_int_equal(watch_open(&w.t, &w.w, &w.fd), 0);
	scratch_write(w.t.active, LOCK, "#leasewatch 1\n", 14);
	(void)listen_all(&w);
	*state = &w;
	return 0;
}

int listener_teardown(void **state)
{
	struct listener *w = *state;

	watch_close(w->w);
	lease_tree_close(&w->t);
	scratch_remove(&w->s);
	return 0;
}

int queue_limit(void)
{
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	int n = 0;

	if (!f || fscanf(f, "%d", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}
