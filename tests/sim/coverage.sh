#!/bin/bash
# Which branches of the daemon the simulated world reaches: a build of its own, some minutes of seeds and the tests of moments and
# failures, a line a file.
# usage: tests/sim/coverage.sh [SECONDS [SIM'S WORDS...]]; BUILD=DIR keeps the build there
set -euo pipefail
src=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-120}
shift || true
build=${BUILD:-$(mktemp -d)}
[ -n "${BUILD:-}" ] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build"
cd "$build"
[ -f Makefile ] || "$src/configure" -q CFLAGS="-O0 -g --coverage -fprofile-update=single" LDFLAGS=--coverage
tests='test_start test_moments test_failures test_refusals'
# shellcheck disable=SC2046,SC2086 # words
make -s -j2 tests/sim/sim $(printf 'tests/sim/%s ' $tests) >make.log 2>&1 || { tail make.log; exit 1; }
find . -name '*.gcda' -delete
for profile in calm time crash tree engine calls; do
	tests/sim/sim --profile "$profile" --holders 30 --days 1 --seconds $((seconds / 10)) "$@" || true
done
tests/sim/sim --holders 40 --days 1 --seconds $((seconds * 4 / 10)) "$@" || true
for test in $tests; do tests/sim/"$test" || true; done
tests/sim/test_failures 1 || true

# gcov's own count: "Taken at least once:P% of N", for each source file.
reached() {
	local gcno=$1
	gcov -b -n "$gcno" 2>/dev/null | awk -v src="$src/" '
		/^File / { f = $0; sub(/^File ./, "", f); sub(/.$/, "", f); sub(src, "", f) }
		/^Taken at least once/ && f ~ /^leasewatch\/.*\.c$/ {
			p = $0; sub(/.*:/, "", p); n = p; sub(/%.*/, "", p); sub(/.* of /, "", n)
			printf "%s %.0f %d\n", f, p * n / 100, n; f = ""
		}'
}
# libtool's: what is linked into the daemon and into the simulation.
find leasewatch/.libs leasewatch/core/.libs leasewatch/store/.libs -name '*.gcda' | grep -v '/lib\(actor\|wire\)' | while read -r gcda; do
	reached "${gcda%.gcda}.gcno"
done | sort | awk '{ t += $2; n += $3; printf "%5.1f%%  %4d of %4d  %s\n", $3 ? 100 * $2 / $3 : 100, $2, $3, $1 }
	END { if (n) printf "%5.1f%%  %4d of %4d  in all\n", 100 * t / n, t, n; exit !n }'
