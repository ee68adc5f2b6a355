/*
 * A registry's life is recorded, each change of the disk. Then, for the disk after each of them, the power goes (or
 * the process alone), and what a disk may have kept is opened: every subset of what was not synced where these are
 * few, else some of them, torn writes too. What was acknowledged must be there, and of the turn that was under way
 * all or nothing. POWER=N: a longer life, and for each change N times as many.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/memdisk.h"
#include "tests/fault/turns.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define SEEN_SIZE (1u << 18)

/* All choices of a power loss one after the other, as an odometer counts. */
struct odometer {
	uint32_t digit[256], below[256];
	int n, at;
	bool overflow;
};

static uint32_t odometer_choose(void *arg, uint32_t below)
{
	struct odometer *o = arg;

	if (o->at == (int)N_OF(o->digit)) {
		o->overflow = true;
		return 0;
	}
	if (o->at == o->n) {
		o->digit[o->n] = 0;
		o->below[o->n++] = below;
	}
	return o->digit[o->at++];
}

static bool odometer_next(struct odometer *o)
{
	for (o->n = o->at; o->n > 0; o->n--)
		if (++o->digit[o->n - 1] < o->below[o->n - 1])
			break;
	o->at = 0;
	return o->n > 0 && !o->overflow;
}

static uint32_t nothing_survives(void *arg, uint32_t below)
{
	(void)arg;
	(void)below;
	return 0;
}

/* What is being looked at, for the message of a failure. */
static struct image {
	struct memdisk *disk;
	const struct turns *of;
	size_t ops;
	int acknowledged;
	const char *how;
	uint64_t number;
} image;

static uint64_t seen[SEEN_SIZE];
static int n_images, n_lost;
static bool only_count; /* losses are counted, not failures */

static void wrong(const char *what, int e)
{
	char op[256];

	print_error("after %zu changes, turn %d acknowledged, %s %llu: %s (%d)\n", image.ops, image.acknowledged, image.how,
		    (unsigned long long)image.number, what, e);
	for (size_t i = image.ops < 8 ? 0 : image.ops - 8; i < image.ops; i++) {
		memdisk_describe(image.of->disk, i, op, sizeof(op));
		print_error("  %zu: %s\n", i, op);
	}
	fail();
}

/* Each file's bytes; two images that are the same are looked at once. */
static uint64_t fingerprint(void)
{
	static const char *const ends[] = { "", "-wal", "-journal" };
	static unsigned char buf[4096];
	uint64_t h = (uint64_t)image.acknowledged + 1;

	for (size_t i = 0; i < N_OF(ends); i++) {
		char path[4200];
		int64_t size, at;

		snprintf(path, sizeof(path), "%s%s", image.of->path, ends[i]);
		size = memdisk_size(image.disk, path);
		h = (h ^ (uint64_t)size) * UINT64_C(0x9e3779b97f4a7c15);
		for (at = 0; at < size; at += (int64_t)sizeof(buf)) {
			uint64_t word;

			memset(buf, 0, sizeof(buf));
			(void)memdisk_read(image.disk, path, at, buf,
					   size - at < (int64_t)sizeof(buf) ? (size_t)(size - at) : sizeof(buf));
			for (size_t k = 0; k < sizeof(buf); k += sizeof(word)) {
				memcpy(&word, buf + k, sizeof(word));
				h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
				h ^= h >> 29;
			}
		}
	}
	return h | 1;
}

static bool is_new(void)
{
	uint64_t h = fingerprint();

	for (uint32_t i = (uint32_t)(h >> 20) % SEEN_SIZE;; i = (i + 1) % SEEN_SIZE) {
		if (seen[i] == h)
			return false;
		if (seen[i] == 0) {
			if (n_images < (int)SEEN_SIZE / 2)
				seen[i] = h;
			return true;
		}
	}
}

static struct registry *open_image(void)
{
	struct registry *r = NULL;
	char err[256];
	int e = registry_open(image.of->path, &r, err);

	if (e < 0)
		wrong(err, e);
	return r;
}

/* The daemon of the next life works on, and its power goes too. */
static void lives_on(struct registry *r)
{
	uint64_t generation, digest, seed = (uint64_t)n_images;
	int e = turns_one_more(r, &generation);

	if (e < 0)
		wrong("it takes no turn more", e);
	if (image.acknowledged >= 0 && generation <= image.of->after[image.acknowledged].generation)
		wrong("a generation is given twice", (int)generation);
	digest = turns_digest(r);
	memdisk_die(image.disk);
	registry_close(r);
	memdisk_power_loss(image.disk, turns_seeded, &seed);
	r = open_image();
	if (turns_digest(r) != digest || !turns_intact(r))
		wrong("the turn after it is lost", 0);
	registry_close(r);
}

static void look_at_image(void)
{
	const struct acknowledged *after = image.of->after;
	int k = image.acknowledged < 0 ? 0 : image.acknowledged;
	struct registry *r;
	uint64_t digest;
	int e;

	if (!is_new())
		return;
	n_images++;
	r = open_image();
	digest = turns_digest(r);
	if (digest == 0 || !turns_intact(r))
		wrong("it is damaged", 0);
	if (digest != after[k].digest && (k == image.of->n || digest != after[k + 1].digest)) {
		n_lost++;
		if (!only_count)
			wrong("what was acknowledged is not there, or half of a turn is", k);
	} else if (image.of->ended_at && k >= image.of->ended_at) {
		e = turns_end_again(r, image.of->ended);
		if (e != -EEXIST)
			wrong("a second end", e);
	}
	if (only_count || n_images % 8 != 0)
		registry_close(r);
	else
		lives_on(r);
}

/* From the disk as it was then, with what choose lets survive; choose NULL: the process alone died. */
static void make_image(const struct memdisk *then, const char *how, uint64_t number, memdisk_choose *choose, void *arg)
{
	image.how = how;
	image.number = number;
	memdisk_copy(image.disk, then);
	if (choose)
		memdisk_power_loss(image.disk, choose, arg);
	else
		memdisk_crash(image.disk);
	look_at_image();
}

static void lose_power_at(const struct memdisk *then, int effort)
{
	struct odometer o = { 0 };
	bool more = true;

	make_image(then, "killed", 0, NULL, NULL);
	make_image(then, "nothing survived", 0, nothing_survives, NULL);
	for (int n = 0; more && n < 6 * effort; n++) {
		make_image(then, "subset", (uint64_t)n, odometer_choose, &o);
		more = odometer_next(&o);
	}
	for (int n = 0; more && n < 2 * effort; n++) {
		uint64_t seed = image.ops * 1000 + (uint64_t)n;

		make_image(then, "seed", image.ops * 1000 + (uint64_t)n, turns_seeded, &seed);
	}
}

static void lose_power_everywhere(const struct turns *t, int effort)
{
	static uint64_t seed;
	struct memdisk *then = memdisk_new(turns_seeded, &seed);

	memset(seen, 0, sizeof(seen));
	n_images = n_lost = 0;
	seed = 3;
	image = (struct image){ .disk = memdisk_new(turns_seeded, &seed), .of = t, .acknowledged = -1 };
	assert_int_equal(memdisk_register(image.disk, "image", true), 0);
	turns_folder_is_on(image.disk, t->path);
	for (;; image.ops++) {
		while (image.acknowledged < t->n && t->after[image.acknowledged + 1].ops <= image.ops)
			image.acknowledged++;
		if (image.ops >= t->first)
			lose_power_at(then, effort);
		if (image.ops == memdisk_recorded(t->disk))
			break;
		memdisk_redo(then, t->disk, image.ops);
	}
	memdisk_free(then);
	memdisk_free(image.disk);
	print_message("%zu changes in %d turns, %d different disks, %d with a loss\n", image.ops, t->n, n_images, n_lost);
}

static int effort(void)
{
	const char *said = getenv("POWER");
	long n = said ? strtol(said, NULL, 10) : 1;

	return n < 1 ? 1 : n > 10000 ? 10000 : (int)n;
}

static struct scratch scratch;
static struct turns turns;
static char path[PATH_MAX + 16];

static int setup(void **state)
{
	(void)state;
	scratch_make(&scratch);
	snprintf(path, sizeof(path), "%s/lease.db", scratch.path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	turns_end(&turns);
	scratch_remove(&scratch);
	return 0;
}

static void what_was_acknowledged_survives_every_loss_of_power(void **state)
{
	(void)state;
	turns_record(&turns, path, effort() == 1 ? 30 : 100, NULL);
	lose_power_everywhere(&turns, effort());
}

static void an_upgrade_is_whole_or_not_begun(void **state)
{
	(void)state;
	turns_record_upgrade(&turns, path);
	lose_power_everywhere(&turns, effort());
}

/* Or the tests above could not tell. */
static void with_less_than_full_syncs_it_would_not(void **state)
{
	(void)state;
	turns_record(&turns, path, 12, "NORMAL");
	only_count = true;
	lose_power_everywhere(&turns, 1);
	only_count = false;
	assert_true(n_lost > 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_was_acknowledged_survives_every_loss_of_power),
		T(an_upgrade_is_whole_or_not_begun),
		T(with_less_than_full_syncs_it_would_not),
	};

	return cmocka_run_group_tests_name("registry without power", tests, NULL, NULL);
}
