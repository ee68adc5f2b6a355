/*
 * bench-mass: 10,000 leases that run out in the same instant.
 *
 *	mass-told	from their deadline until none is left in active/, against as many bare renames: 2.5. Each end is a look,
 *			a rename, a look, a row and a line in the ledger; whoever renews is told from then on.
 *	mass-archived	until each workload is destroyed by a process of its own and each lock is in the archive, against as
 *			many bare starts of that program, eight at a time: 2. Two renames, two transactions, two state files
 *			and two hand-overs come to each.
 */
#include "config.h"

#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/bench/mass.h"

#define N bench_count(10000, 50)
#define ROUNDS 3

int main(void)
{
	double told[ROUNDS], archived[ROUNDS];
	int rounds;

	bench_begin("bench-mass");
	rounds = bench_count(ROUNDS, 1);
	for (int i = 0; i < rounds; i++) {
		struct mass m;

		mass_floors(N, &m);
		if (!mass_measure(N, &m)) {
			bench_raw("skipped: there is no tmpfs");
			return 0;
		}
		bench_raw("%d at once: all told after %.3f s (bare renames %.3f s), all archived after %.2f s "
			  "(bare starts %.2f s)", N, m.told, m.renames, m.archived, m.starts);
		told[i] = m.told / m.renames;
		archived[i] = m.archived / m.starts;
	}
	bench_aim("mass-told", bench_percentile(told, rounds, 0.5), "x the bare renames", 2.5);
	bench_aim("mass-archived", bench_percentile(archived, rounds, 0.5), "x the bare starts", 2);
	return 0;
}
