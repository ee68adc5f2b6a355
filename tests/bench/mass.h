/* tests/bench/mass.h: many leases that run out in the same instant. */
#ifndef BENCH_MASS_H
#define BENCH_MASS_H

#include <stdbool.h>

struct mass {
	double told;	 /* s, from the deadline until no lock is left in active/: each end is committed, and renewing says so */
	double archived; /* until each workload is destroyed, a process each, and each lock in the archive */
	double renames;	 /* s, of as many bare renames from one folder to another */
	double starts;	 /* of as many starts of the same program, eight at a time */
};

/* Tree on tmpfs, whose folders grow by each name and shrink again; false: there is none. */
bool mass_measure(int n, struct mass *ret);
void mass_floors(int n, struct mass *ret);

#endif
