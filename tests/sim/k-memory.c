/*
 * The daemon's heap: a range of addresses of its own, so that all of it goes with the daemon, and so that
 * each run of a seed has the same addresses but for where the range begins.
 */
#include "config.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/sim/k.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define RANGE (UINT64_C(4) << 30)
#define HEAD 32 /* in front of each: its size and its class; for a sanitizer a red zone */
#define CLASSES 64

struct head {
	size_t size, class;
	struct head *next_free;
};

static char *range;
static size_t top, used;
static struct head *unused[CLASSES];

/* Steps of 16 up to 512, then powers of two. */
static size_t class_of(size_t size, size_t *ret_room)
{
	size_t room = 1024, class = 33;

	if (size <= 512) {
		class = (size + 15) / 16;
		*ret_room = class * 16;
		return class;
	}
	for (; room < size; room *= 2)
		class ++;
	*ret_room = room;
	return class;
}

static bool ours(const void *p)
{
	return range && (const char *)p >= range && (const char *)p < range + RANGE;
}

static struct head *head_of(void *p)
{
	return (void *)((char *)p - HEAD);
}

static void *take(size_t size)
{
	size_t room, class = class_of(size, &room);
	struct head *h = unused[class];

	if (!range) {
		range = mmap(NULL, RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);
		if (range == MAP_FAILED)
			mistake("no range for the daemon's memory");
	}
	if (h) {
		unused[class] = h->next_free;
	} else {
		if (top + HEAD + room > RANGE)
			mistake("the daemon has used 4 GiB");
		h = (void *)(range + top);
		top += HEAD + room;
		ASAN_UNPOISON_MEMORY_REGION(h, HEAD);
	}
	h->size = size;
	h->class = class;
	used += size;
	void *p = (char *)h + HEAD;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	ASAN_POISON_MEMORY_REGION((char *)p + size, room - size);
	return p;
}

static void give_back(void *p)
{
	struct head *h = head_of(p);

	if (h->class >= CLASSES) /* or freed it twice */
		mistake("the daemon freed what was none of its memory");
	used -= h->size;
	h->next_free = unused[h->class];
	unused[h->class] = h;
	h->class += CLASSES;
	memset(p, 0xa5, h->size < 64 ? h->size : 64);
	ASAN_POISON_MEMORY_REGION(p, h->size);
}

void memory_reset(void)
{
	if (range)
		ASAN_POISON_MEMORY_REGION(range, top);
	memset(unused, 0, sizeof(unused));
	top = used = 0;
}

size_t kernel_memory(void)
{
	return used;
}

static bool fails(void)
{
	if (++k.allocations != k.no_memory_at && !the_one(ONE_ALLOCATION) && !draw_one_in(STREAM_KERNEL, kernel_faults.no_memory))
		return false;
	kernel_note("no memory");
	errno = ENOMEM;
	return true;
}

/* --- SQLite's, which has its own from libc --- */

static sqlite3_mem_methods sqlite_real;

static bool sqlite_fails(void)
{
	if (!simulated() || (!the_one(ONE_OF_SQLITE) && !draw_one_in(STREAM_KERNEL, kernel_faults.sql_no_memory)))
		return false;
	kernel_note("no memory for SQLite");
	return true;
}

static void *sqlite_malloc(int size)
{
	return sqlite_fails() ? NULL : sqlite_real.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
	return sqlite_fails() ? NULL : sqlite_real.xRealloc(p, size);
}

/* Once, and before it does anything. */
void memory_for_sqlite(void)
{
	sqlite3_mem_methods m;

	if (sqlite_real.xMalloc)
		return;
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_real) != SQLITE_OK)
		mistake("SQLite does not tell its memory");
	m = sqlite_real;
	m.xMalloc = sqlite_malloc;
	m.xRealloc = sqlite_realloc;
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &m) != SQLITE_OK)
		mistake("SQLite does not take our memory");
}

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t size)
{
	if (!simulated())
		return __real_malloc(size);
	return fails() ? NULL : take(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t all;

	if (!simulated())
		return __real_calloc(n, size);
	if (fails() || __builtin_mul_overflow(n, size, &all))
		return NULL;
	return memset(take(all), 0, all);
}

void *__wrap_realloc(void *p, size_t size)
{
	if (!ours(p) && (p || !simulated()))
		return __real_realloc(p, size);
	if (fails())
		return NULL;
	void *to = take(size);
	if (p) {
		size_t old = head_of(p)->size;
		memcpy(to, p, old < size ? old : size);
		give_back(p);
	}
	return to;
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return __wrap_realloc(p, all);
}

void __wrap_free(void *p)
{
	if (ours(p))
		give_back(p);
	else
		__real_free(p);
}

char *__wrap_strdup(const char *s)
{
	size_t size = strlen(s) + 1;
	void *p = __wrap_malloc(size);

	return p ? memcpy(p, s, size) : NULL;
}
