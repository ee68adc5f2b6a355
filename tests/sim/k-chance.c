/* The seed's streams, what is noted of a run, and mistakes of the simulation's own. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/k.h"

#define NOTES 4096
#define NOTE_SIZE 240

static uint64_t streams[STREAMS];
static struct {
	int64_t at;
	char text[NOTE_SIZE];
} *notes; /* most are never read: what can be done when one is, is done then */
static uint64_t n_notes;
bool kernel_trace;

void chance_seed(uint64_t seed)
{
	for (int i = 0; i < STREAMS; i++)
		streams[i] = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i * UINT64_C(0xd1342543de82ef95);
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
uint64_t draw(enum stream s)
{
	uint64_t z = streams[s] += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

int64_t draw_between(enum stream s, int64_t low, int64_t high)
{
	if (high < low)
		mistake("a draw between %lld and %lld", (long long)low, (long long)high);
	uint64_t width = (uint64_t)high - (uint64_t)low + 1;
	uint64_t r = draw(s);

	return (int64_t)((uint64_t)low + (width ? r % width : r));
}

bool draw_one_in(enum stream s, uint64_t n)
{
	return n != 0 && draw(s) % n == 0;
}

void *k_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		mistake("no memory");
	return p;
}

void kernel_note(const char *fmt, ...)
{
	va_list ap;

	if (!notes)
		notes = k_alloc(NOTES * sizeof(*notes));
	size_t n = n_notes++ % NOTES;
	notes[n].at = kernel_mono();
	va_start(ap, fmt);
	(void)vsnprintf(notes[n].text, NOTE_SIZE, fmt, ap);
	va_end(ap);
}

void kernel_print_notes(int last)
{
	uint64_t at = n_notes > NOTES ? n_notes - NOTES : 0;

	if (last >= 0 && n_notes - at > (uint64_t)last)
		at = n_notes - (uint64_t)last;
	for (; at < n_notes; at++)
		fprintf(stderr, "%13.6f %s\n", (double)notes[at % NOTES].at / 1e9, notes[at % NOTES].text);
}

void notes_free(void)
{
	free(notes);
	notes = NULL;
	n_notes = 0;
}

void mistake(const char *fmt, ...)
{
	va_list ap;

	kernel_print_notes(50);
	fprintf(stderr, "the simulated machine, seed %llu: ", (unsigned long long)k.seed);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
