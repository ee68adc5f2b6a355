#!/bin/sh
# Every bench runs to its end and gives its aims a line, but for the one that starts other servers. The figures of so small a run
# mean nothing and are not looked at.
BENCH_BUILD=$(pwd) BENCH_SMOKE=1
export BENCH_BUILD BENCH_SMOKE
run=$(dirname "$0")/run
# Most of it is waiting: two at a time. The first puts in place what all need.
out=$(
	status=0
	"$run" files || exit 1
	"$run" fleet expiry restart 2>&1 &
	"$run" renew prompt login spawn wake mass noise 2>&1 || status=1
	wait $! || status=1
	exit $status
) || {
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
