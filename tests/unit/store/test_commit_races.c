/*
 * Renew against reap on the real file system, many times: nobody is told "renewed" whose lock was then taken, and
 * no lock is lost or there twice. tests/model/ has every order of the calls; this has the kernel's own idea of them.
 *
 * A round: the lock was beaten long ago, and is looked at. Then the daemon commits its end, while holders touch it, and
 * touch it, and touch it. A touch that began in a round, after the look, and was told "renewed" saves the lock in that
 * round. RACES=N says how many rounds.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/yard.h"

#define HOLDERS 2
#define RACES 10000
#define SPREAD 1024 /* turns of an empty loop: as long as a commit takes, more or less */

static atomic_uint open_round; /* 0: between two */
static atomic_bool over;

struct holder {
	pthread_t thread;
	int dirfd;
	atomic_uint busy; /* the round in which the touch under way began */
	atomic_uint told; /* the last round with a touch that was told "renewed" */
	atomic_uint renewed, refused;
	atomic_int wrong; /* any other answer */
};

static void spin(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static void *hold(void *arg)
{
	struct holder *o = arg;

	while (!atomic_load(&over)) {
		unsigned round = atomic_load(&open_round);

		atomic_store(&o->busy, round);
		/* It may have ended before that could be seen; then this touch is of no round. */
		if (round != atomic_load(&open_round))
			continue;
		int r = lease_touch(o->dirfd, YARD_NAME, NULL);
		if (r == 0) {
			atomic_store(&o->told, round);
			atomic_fetch_add(&o->renewed, 1);
		} else if (r == -ENOENT) {
			atomic_fetch_add(&o->refused, 1);
		} else {
			atomic_store(&o->wrong, r);
		}
		atomic_store(&o->busy, 0);
		spin(round * 104729 % SPREAD);
	}
	return NULL;
}

static void there_is_just_one(struct yard *y, unsigned round, bool taken)
{
	if (scratch_exists(y->h.tree.active, YARD_NAME) == taken || scratch_exists(y->h.reap, YARD_NAME) != taken)
		fail_msg("round %u, %s: there %s active/, %s .reap", round, taken ? "taken" : "put back",
			 scratch_exists(y->h.tree.active, YARD_NAME) ? "in" : "not in",
			 scratch_exists(y->h.reap, YARD_NAME) ? "in" : "not in");
	struct lease_stat st = yard_stat(taken ? y->h.reap : y->h.tree.active, YARD_NAME);
	assert_int_equal(st.ino, y->ref.ino);
	assert_int_equal(st.nlink, 1);
	/* What was put back was touched. What was taken may be by now: by one who had found its name before, and was refused. */
	if (!taken)
		assert_int_not_equal(st.mtime, y->ref.mtime);
}

static unsigned begin(struct yard *y, struct holder *holders)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = processors > HOLDERS ? HOLDERS : 1;

	for (unsigned i = 0; i < n; i++) {
		holders[i].dirfd = y->h.tree.active;
		assert_int_equal(pthread_create(&holders[i].thread, NULL, hold, &holders[i]), 0);
	}
	return n;
}

static void nobody_is_told_renewed_and_then_reaped(void **state)
{
	struct yard *y = *state;
	const char *wish = getenv("RACES");
	unsigned races = wish ? (unsigned)strtoul(wish, NULL, 10) : RACES, n, taken = 0, renewed = 0, refused = 0;
	static struct holder holders[HOLDERS];

	n = begin(y, holders);
	for (unsigned round = 1; round <= races; round++) {
		yard_age_and_look(y);
		atomic_store(&open_round, round);
		if (round % 2)
			spin(round * 7919 % SPREAD);
		/* Where all share one processor nobody else would ever be first. */
		if (round % 8 == 0)
			sched_yield();
		int r = locks_commit(&y->h, &y->ref, YARD_WALL);
		atomic_store(&open_round, 0);
		assert_true(r == 0 || r == 1);
		taken += r == 1;
		for (unsigned i = 0; i < n; i++) {
			while (atomic_load(&holders[i].busy) == round)
				sched_yield();
			if (r == 1 && atomic_load(&holders[i].told) == round)
				fail_msg("round %u: told \"renewed\", and the lock was taken", round);
		}
		there_is_just_one(y, round, r == 1);
		if (r == 1)
			assert_int_equal(locks_put_back(&y->h, YARD_NAME, YARD_WALL), 0);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(pthread_join(holders[i].thread, NULL), 0);
		assert_int_equal(atomic_load(&holders[i].wrong), 0);
		renewed += atomic_load(&holders[i].renewed);
		refused += atomic_load(&holders[i].refused);
	}
	print_message("%u races: %u taken, %u put back; %u touches renewed, %u refused\n", races, taken, races - taken,
		      renewed, refused);
	/* Else it was no race. */
	assert_true(taken > 0 && taken < races && renewed > 0 && refused > 0);
	assert_int_equal(scratch_count(y->h.quarantine), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_is_told_renewed_and_then_reaped, yard_setup, yard_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
