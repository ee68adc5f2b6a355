#!/bin/sh
# Every bench runs to its end and gives its aims a line, but for the one that starts other servers. The figures of so small a run
# mean nothing and are not looked at.
BENCH_BUILD=$(pwd) BENCH_SMOKE=1
export BENCH_BUILD BENCH_SMOKE
out=$("$(dirname "$0")/run" files renew prompt login spawn fleet expiry wake mass noise restart) || {
	echo "$out"
	exit 1
}
echo "$out"
for aim in lock-create-tmpfs beat renew-process prompt-beat prompt-and-preexec spawn-large fleet-cpu idle-wake-ups expiry-p99 \
	storm-p99 storm-false-expiries resume-p99 killed-p50 restart-find restart-crash-find; do
	echo "$out" | grep -Eq "^aim $aim: [0-9.]+ .* \(<= [0-9.]+\) (met|missed)$" || {
		echo "no line for aim $aim"
		exit 1
	}
done
