/* Clocks, what is to happen, and the way into each of the daemon's calls. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "tests/sim/k.h"

static struct k_event
    *heap; /* a binary heap: the earliest first, of the same time the one that was asked for first */
static size_t n_heap, heap_room;
static uint64_t order;
struct kernel_faults kernel_faults;

int64_t kernel_mono(void)
{
	return k.now - k.boot;
}

int64_t kernel_busy(void)
{
	return k.now - k.rested;
}

int64_t kernel_boottime(void)
{
	return k.now - k.boot + k.slept;
}

int64_t kernel_wall(void)
{
	return k.now + k.wall_off;
}

int64_t kernel_true(void)
{
	return k.now + k.slept_ever;
}

/* What a file is stamped with: the wall clock as of the last tick. */
int64_t stamp_now(void)
{
	return k.now - k.now % JIFFY + k.wall_off;
}

void kernel_step_wall(int64_t by)
{
	kernel_note("the clock is set by %+.3f s", (double)by / 1e9);
	k.wall_off += by;
	clock_was_set();
}

void kernel_suspend(int64_t for_ns)
{
	kernel_note("suspended for %.3f s", (double)for_ns / 1e9);
	k.slept += for_ns;
	k.slept_ever += for_ns;
	k.wall_off += for_ns;
	clock_was_set();
}

void kernel_hold_up(int64_t for_ns)
{
	kernel_note("the daemon is held up for %.3f s", (double)for_ns / 1e9);
	if (k.now + for_ns > k.held_until)
		k.held_until = k.now + for_ns;
}

static bool before(const struct k_event *a, const struct k_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void kernel_at(int64_t mono, kernel_event *what, void *arg, uint64_t n)
{
	struct k_event e = {.at = mono + k.boot, .order = ++order, .what = what, .arg = arg, .n = n};
	size_t i;

	if (n_heap == heap_room) {
		heap_room = heap_room ? heap_room * 2 : 1024;
		heap = realloc(heap, heap_room * sizeof(*heap));
		if (!heap)
			mistake("no memory");
	}
	for (i = n_heap++; i > 0 && before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static struct k_event take_first(void)
{
	struct k_event first = heap[0], last = heap[--n_heap];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < n_heap && before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= n_heap || !before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

size_t kernel_pending(void)
{
	return n_heap;
}

int64_t next_event(void)
{
	return n_heap > 0 ? heap[0].at : INT64_MAX;
}

void events_free(void)
{
	free(heap);
	heap = NULL;
	n_heap = heap_room = 0;
	order = 0;
}

/* To that time, and all that is due by then happens on the way; or until somebody ends the daemon. */
void advance(int64_t to)
{
	for (;;) {
		while (n_heap > 0 && heap[0].at <= to && !dying()) {
			struct k_event e = take_first();

			if (e.at > k.now)
				k.now = e.at;
			k.outside++;
			e.what(e.arg, e.n);
			k.outside--;
		}
		if (dying())
			return;
		if (k.now < to)
			k.now = to;
		if (!k.running || k.held_until <= k.now)
			return;
		to = k.held_until;
	}
}

int call(const char *name, const int *errors)
{
	int64_t took = 500 + (int64_t)(draw(STREAM_KERNEL) & 4095);
	int n = 0;

	k.calls++;
	if (draw_one_in(STREAM_KERNEL, kernel_faults.stall))
		took += draw_between(STREAM_KERNEL, 0, kernel_faults.stall_ns);
	if (k.hooks.called) {
		k.outside++;
		k.hooks.called(k.hooks.arg, name);
		k.outside--;
	}
	if (!dying())
		advance(k.now + took);
	if (kernel_trace)
		kernel_note("  %s", name);
	if (!dying() && draw_one_in(STREAM_KERNEL, kernel_faults.crash)) {
		kernel_note("killed before %s", name);
		k.killed = true;
	}
	if (dying())
		die();
	while (errors && errors[n])
		n++;
	if (n == 0 || (!the_one(ONE_CALL) && k.calls != k.fail_at && !draw_one_in(STREAM_KERNEL, kernel_faults.call_fails)))
		return 0;
	n = errors[draw(STREAM_KERNEL) % (uint64_t)n];
	kernel_note("%s fails: %s", name, strerror(n));
	return -n;
}

uint64_t kernel_calls(void)
{
	return k.calls;
}
