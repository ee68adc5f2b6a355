#!/bin/bash
# t0500-silence.sh: what counts as a beat and from when: one ttl after the last one, never two, whatever is done to the file or the daemon.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 1500ms
	renew_grace = 600ms
	hibernate_after = never
	warn_before = 10ms
	usage = explicit
C
daemon || finish
A=$NOTICES/active
ms() { echo $(($(date +%s%N) / 1000000)); }
# lease: an active one, with its id, its lock and its process in id, L and P.
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
# outlives MS PID: it runs all the time till then.
outlives() {
	local end=$(($(ms) + $1))
	while [ "$(ms)" -lt "$end" ]; do
		runs "$2" || return 1
		sleep 0.02
	done
}
# A look of the daemon at this lock, now: it comes under another name, and back.
make_it_look() {
	mv "$A/$L" "$A/lock-cli-x-$id" && until_true 2 sh -c "[ '$(beacon state)' ] && grep -q '^lock=lock-cli-x-' '$(beacon state)/$id'"
	mv "$A/lock-cli-x-$id" "$A/$L" && until_true 2 grep -q "^lock=$L" "$(beacon state)/$id"
}

# The beat right behind a look is seen only by the next one, which is a ttl away.
lease
make_it_look
beat
ends_in "a beat just after a look, and then death: one ttl, not two" 1500 2800

# What changes the file and is no beat.
lease
beat
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	chmod 640 "$A/$L" && chmod 644 "$A/$L"
	ln "$A/$L" "$W/link" 2>/dev/null && rm -f "$W/link"
	cat "$A/$L" >/dev/null
	k list >/dev/null
	sleep 0.1
done 2>/dev/null
ends_in "chmod, one more link, reading it and looking at it are no beats" 1500 3000

# A descriptor that was opened before beats the file, not the lease.
lease
exec 7>>"$A/$L"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	touch -c /proc/self/fd/7
	sleep 0.2
done
check "beaten through a descriptor while its lock stands, it lives" lives "$id"
T0=$(ms)
rm "$A/$L"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	touch -c /proc/self/fd/7
	sleep 0.1
done
ends_in "a lock that was removed is not beaten by a descriptor that is held" 0 2800
exec 7>&-
lease
exec 7>>"$A/$L"
until_true 5 absent "$id"
touch -c /proc/self/fd/7
fails "nor is one that has ended" 3 k renew "$id"
within 3 "it is reaped as it would have been" gone "$P"
within 2 "with one end" one_end "$id"
exec 7>&-

# Through another name of the same file, somewhere else.
lease
if ln "$A/$L" "$NOTICES/mine" 2>/dev/null; then
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		touch -c "$NOTICES/mine"
		sleep 0.2
	done
	check "touched by another link, it is beaten: the inode is the lock" lives "$id"
	mv "$A/$L" "$NOTICES/archive/"
	within 3 "and released by its name it is over, whatever links are left" gone "$P"
	rm -f "$NOTICES/mine"
fi

# A shell's ghost beside a lock that was released.
lease
kill -STOP "$(watcher_of "$D")"
mv "$A/$L" "$NOTICES/archive/"
printf '#' >"$A/$L"
fails "a ghost is nobody's lease: klease renew says so" 3 k renew "$id"
kill -CONT "$(watcher_of "$D")"
within 1 "beside a ghost, a release is one at once" gone "$P"
check "and told as one" sh -c "klease ledger --json --lease $id | jq -r .why | grep -q released"

# Renamed by its owner while nobody looks, and beaten under the new name; the daemon comes back to it when its time is over.
lease
beat
kill -STOP "$(watcher_of "$D")"
sleep 1
mv "$A/$L" "$A/lock-cli-new-$id"
fails "renamed, it is renewed by its id" 0 k renew "$id"
sleep 1
touch -c "$A/lock-cli-new-$id"
kill -CONT "$(watcher_of "$D")"
L=lock-cli-new-$id
T0=$(ms)
stays 1 "and is not taken for lost when the daemon wakes" runs "$P"
ends_in "silent from then on it ends" 1000 3600

# C03, C11: the daemon is stopped for longer than a ttl.
lease
silent=$P silent_id=$id
lease
kill -STOP "$(watcher_of "$D")"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	beat
	sleep 0.2
done
kill -CONT "$(watcher_of "$D")"
check "after a stop longer than the ttl nobody ends at once, for nobody could be heard" outlives 300 "$silent"
check "what was beaten meanwhile lives" lives "$id"
within 3 "what was silent has one grace" gone "$silent"
check "… which the log tells" grep -q 'held up: no lease expires by silence' "$W/daemon.log"
within 2 "with one end" one_end "$silent_id"
ends_in "and what was beaten has its ttl from its last beat" 1500 3000

# C03: it is down for longer than a ttl, and the holder beats.
lease
crash
for _ in 1 2 3 4 5 6 7 8 9 10; do
	beat
	sleep 0.2
done
daemon || finish
check "beaten while the daemon was dead for longer than a ttl, it lives (C03)" lives "$id"
ends_in "one ttl after its last beat it ends: that is not credited twice" 1500 3300
# And nobody beats: gone at the next start, or one grace later.
lease
beat
crash
for _ in 1 2 3 4 5; do sleep 0.5; done
daemon || finish
within 2 "silent while the daemon was dead for longer than a ttl, it has no second one" gone "$P"
finish
