#!/bin/bash
# t0510-clocks.sh: clocks are stepped under the running daemon, and the host is put to sleep: nobody's lease ends for it, and none is kept.
# Its clocks are the kernel's and what a preloaded library (tests/tools/shift.c) adds to them.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
shift_c=$(cd "$(dirname "$0")/.." && pwd)/tools/shift.c
CC=$(command -v cc || command -v gcc || command -v clang) || {
	skip "clocks that are stepped" "there is no compiler here"
	finish
}
"$CC" -shared -fPIC -o "$W/shift.so" "$shift_c" || {
	no "the clocks can be stepped" "tests/tools/shift.c cannot be built"
	finish
}
conf <<-C
	[defaults]
	ttl = 1500ms
	renew_grace = 600ms
	hibernate_after = never
	warn_before = 10ms
	usage = explicit
C
# clocks WALL MONO BOOT: the seconds that the daemon's clocks are off.
clocks() { echo "$*" >"$W/.shift" && mv "$W/.shift" "$W/shift"; }
clocks 0 0 0
stepped() { CLOCK_SHIFT=$W/shift LD_PRELOAD=$W/shift.so daemon || finish; }
stepped
A=$NOTICES/active
ms() { echo $(($(date +%s%N) / 1000000)); }
lease() {
	rm -f "$W/p"
	id=$(k create -- sh -c "echo \$\$ >$W/p; exec sleep 300")
	until_true 5 test -s "$W/p"
	P=$(cat "$W/p") L=$(lock "$id")
}
# beat: its lock, at T0 or just after. ends_in NAME LEAST MOST: its process goes so many ms after T0.
beat() {
	T0=$(ms)
	touch -c "$A/$L"
}
ends_in() {
	local t
	until_true 8 gone "$P"
	t=$(($(ms) - T0))
	if [ $t -ge "$2" ] && [ $t -le "$3" ]; then ok "$1 ($t ms)"; else no "$1" "$t ms, not $2 to $3"; fi
}
beats() {
	local n
	for ((n = 0; n < $1; n++)); do
		beat
		sleep 0.2
	done
}

# C14: forward, by an hour.
lease
beat
clocks 3600 0 0
ends_in "the wall clock set forward by an hour ends nothing (C14), and keeps nothing" 1500 2800
lease
clocks 7200 0 0
beats 10
check "beaten all the while, a lease lives" lives "$id"
ends_in "and ends one ttl after its last beat" 1500 2900
# C08: back, by a day. Every stamp is of the future now.
lease
beat
clocks -86400 0 0
ends_in "the wall clock set back by a day keeps nothing (C08), and ends nothing" 1500 4200
lease
clocks -172800 0 0
beats 10
check "beaten all the while, a lease lives" lives "$id"
# Its last beat has a stamp of the future, so it counts when it is seen: within a ttl.
ends_in "and ends, if not to the millisecond: one ttl after that was seen" 1500 4400
check "none of this is taken for a suspend (C11)" sh -c "! grep -q suspended $W/daemon.log"

# C11: asleep for an hour. CLOCK_BOOTTIME and the wall clock go on, CLOCK_MONOTONIC does not.
clocks 0 0 0
lease
sleep 1
T0=$(ms)
clocks 3600 0 3600
ends_in "after a suspend, a silent lease has one grace from when that is noticed, and no more" 600 2600
check "the log says why" grep -q 'the host was suspended: no lease expires by silence for the next 600 ms' "$W/daemon.log"
lease
clocks 7200 0 7200
beats 12
check "what is beaten after a suspend lives" lives "$id"
within 4 "and silent again, it ends" gone "$P"
within 2 "with one end" one_end "$id"

finish
