#!/bin/bash
# t0100-by-hand.sh: a lease needs no klease: files made, touched, renamed, moved and removed by a shell's own means do it all.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
short_times
daemon || finish
A=$NOTICES/active Q=$NOTICES/queue
boot() { cat /proc/sys/kernel/random/boot_id; }
# A lease for a sleeper, made by hand through queue/: sets id, P, L.
by_hand() {
	sleeper
	id=$(new_id) L=lock-cli-me-$id
	claim "$id" "$P" "$@" | put queue "$L"
	until_true 5 is "$id" active
}

by_hand "label=project=kruze"
check "a lock made by hand in queue/ is admitted" is "$id" active
check "and stands in active/ under its own name" test -f "$A/$L"
check "its label is in klease show" sh -c "klease show $id --json | jq -e '.labels | tostring | test(\"kruze\")'"
for _ in $(seq 20); do sleep 0.15; touch -c "$A/$L"; done
check "touched by hand it outlives its ttl" is "$id" active
check "and was never idle" lived "$id" "requested admitted active"
for _ in $(seq 20); do
	sleep 0.15
	# shellcheck disable=SC2094
	[ -f "$A/$L" ] && printf '#' 1<>"$A/$L"
done
check "a beat of one byte without a fork keeps it as well" lived "$id" "requested admitted active"
check "and leaves the record whole" grep -qx "id=$id" "$A/$L"
within 4 "silence makes it idle" sh -c "klease ledger --json --lease $id | jq -r .to | grep -qx idle"
within 4 "then hibernated" is "$id" hibernated
chmod 600 "$A/$L"
sleep 0.3
check "a change of mode is no beat (C06)" is "$id" hibernated
chmod 644 "$A/$L"
ls -l "$A" >/dev/null && cat "$A/$L" >/dev/null && k list >/dev/null
check "looking is no beat (B02)" is "$id" hibernated
touch -c "$A/$L"
within 3 "a touch wakes it" is "$id" active
mv "$A/$L" "$NOTICES/archive/"
within 3 "moved to archive/ it is released at once" gone "$P"
within 3 "the ledger says released" sh -c "klease ledger --json --lease $id | jq -r .why | grep -q released"
within 3 "and is sorted into the archive by day" sh -c "ls $NOTICES/archive/*/$L"
check "with one end" one_end "$id"

# F13: rm is no release.
by_hand
rm "$A/$L"
within 3 "a removed lock is no release: lock lost" word_has "$id" why 'lock lost'
check "its process runs on" runs "$P"
within 3 "it goes idle, not released (F13)" sh -c "klease ledger --json --lease $id | jq -r .to | grep -qx idle"
within 6 "and ends by its ttl" gone "$P"
within 3 "as expired by silence" sh -c "klease ledger --json --lease $id | jq -r 'select(.to == \"expired\").why' | grep -q 'no renewal'"
check "one end" one_end "$id"

by_hand
rm "$A/$L"
until_true 3 word_has "$id" why 'lock lost'
claim "$id" "$P" | put active "$L"
within 3 "a lost lock that is made again is found" is "$id" active
mv "$A/$L" "$A/lock-cli-other-$id"
sleep 0.3
for _ in 1 2 3 4 5 6 7 8; do touch -c "$A/lock-cli-other-$id"; sleep 0.4; done
check "a renamed lock is still the lease's: it is beaten under its new name" is "$id" active
mv "$A/lock-cli-other-$id" "$NOTICES/archive/"
within 3 "and released under it" gone "$P"

# Stamps that lie (C06).
by_hand
touch -c -d '2100-01-01' "$A/$L"
within 2 "a stamp of the year 2100 is a beat" sh -c "[ -n \"\$(klease show $id --json | jq -r '.last_beat // empty')\" ]"
within 5 "and no more than one: silence after it hibernates" is "$id" hibernated
within 6 "and ends it within one ttl (C06)" gone "$P"
by_hand
within 4 "one that sleeps" is "$id" hibernated
touch -c -d '1999-01-01' "$A/$L"
within 3 "is woken by a stamp of the past: changed is beaten" is "$id" active
check "and reaped by none" runs "$P"
touch -c -d '@0' "$A/$L"
sleep 0.2
check "the epoch itself ends nothing" is "$id" active
k release "$id" >/dev/null
within 3 "released by klease it goes as well" gone "$P"

# Straight into active/, and slowly.
sleeper
id=$(new_id) L=lock-cli-me-$id
{
	claim "$id" "$P" | head -n 3
	sleep 0.15
	claim "$id" "$P" | tail -n +4
} >"$A/$L"
within 3 "a lock written into active/ by a slow redirection is a request where it stands" is "$id" active
check "with its generation" word_has "$id" generation '^[1-9]'
k release "$id"
within 3 "and is released like any other" gone "$P"
sleeper
id=$(new_id) L=lock-cli-me-$id
{
	claim "$id" "$P" | head -n 3
	sleep 0.15
	claim "$id" "$P" | tail -n +4
} >"$Q/$L"
within 3 "so is one in queue/" is "$id" active
printf 'rubbish\n' >"$A/$L"
touch -c "$A/$L"
sleep 0.3
check "what is written into a lock later changes nothing" is "$id" active
cp "$A/$L" "$A/.tmp-save" && rm "$A/$L" && mv "$A/.tmp-save" "$A/$L"
sleep 0.3
check "an editor's save (another inode) is the same lock" is "$id" active
kill -KILL "$P"
within 4 "a process that is killed from outside ends its lease" absent "$id"
within 3 "stopped, not expired by silence" sh -c "klease ledger --json --lease $id | jq -r .why | grep -q 'ended'"
within 3 "gone, it still says why it ended" sh -c "klease show $id --json | jq -e '.state == \"reaped\" and (.why | test(\"ended\"))'"
printf '#' >"$A/$L"
within 3 "a beat that comes too late leaves no ghost" test ! -e "$A/$L"
check "one end" one_end "$id"
finish
