/*
 * Weeks of a few hundred leases in a second: the invariants of the design that the core can hold, in any world.
 *
 * CORE_SIM_SEEDS=N runs N worlds, CORE_SIM_FIRST=S begins with seed S: a failure names the seed that shows it again.
 */
#include "config.h"

#include <stdlib.h>

#include "sim.h"

static struct sim world;

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : otherwise;
}

static void no_world_breaks_an_invariant(void **state)
{
	unsigned long first = from_environment("CORE_SIM_FIRST", 1), n = from_environment("CORE_SIM_SEEDS", 2);

	(void)state;
	for (unsigned long seed = first; seed < first + n; seed++) {
		sim_run(&world, seed, 14 * D);
		print_message("seed %lu: %ld looks, %ld beats, %ld restarts, %ld sleeps\n", seed, world.looks, world.beats,
			      world.restarts, world.sleeps);
	}
}

/* A world in which nothing happens proves nothing. */
static void everything_that_can_happen_does(void **state)
{
	static const enum event by_others[] = { EV_DENY, EV_WITHDRAWN, EV_BOOT };

	(void)state;
	for (enum event e = EV_NONE + 1; e < EV_MAX; e++) {
		bool elsewhere = false;
		for (size_t i = 0; i < N_OF(by_others); i++)
			elsewhere = elsewhere || e == by_others[i];
		if (!elsewhere && world.n[e] == 0)
			fail_msg("never seen: %s", event_name(e));
	}
	for (enum state s = ST_STARTING; s < ST_DENIED; s++)
		if (world.transitions[s] == 0)
			fail_msg("never reached: %s", state_name(s));
}

static void a_seed_is_a_world(void **state)
{
	static struct sim again;

	(void)state;
	sim_run(&world, 42, 6 * H);
	sim_run(&again, 42, 6 * H);
	assert_memory_equal(&world.n, &again.n, sizeof(world.n));
	assert_int_equal(world.random, again.random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_world_breaks_an_invariant),
		cmocka_unit_test(everything_that_can_happen_does),
		cmocka_unit_test(a_seed_is_a_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
