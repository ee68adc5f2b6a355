#!/bin/sh
# The simulated world for a short while (SIM_SECONDS, 10): a fixed seed of each profile, one of them twice, then more
# for what is left of the time. A test says the same of the same source: seeds are drawn by `make sim`.
set -eu
sim=./tests/sim/sim
[ -x "$sim" ] || { echo "no $sim: make check builds it"; exit 77; }
begin=$(date +%s)
for profile in calm time crash tree engine calls; do
	"$sim" --profile "$profile" --seed 1 --holders 12 --days 0.2
done
"$sim" --seed 2 --holders 12 --days 0.2 --twice
left=$((${SIM_SECONDS:-10} - ($(date +%s) - begin)))
[ "$left" -gt 1 ] || left=2
"$sim" --seed 100 --holders 20 --days 0.3 --seconds "$left"
