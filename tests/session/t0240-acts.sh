#!/bin/bash
# t0240-acts.sh: what waits for a free act is asked for only as long as somebody wants it.
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 1m
	renew_grace = 30s
C
daemon --verbose || finish
ask() { printf '#leasewatch 1\nverb=hibernate\nlease=%s\n' "$1" | put queue "ask-$(new_id)"; }
all_are() { [ "$(k list --json | jq -r '.[].state' | sort | uniq -c | tr -s ' ')" = " $1" ]; }

# One user's places are six. An actor that stands still leaves all of them taken.
for _ in 1 2 3 4 5 6; do ids+=("$(k create -- sleep 300)"); done
within 5 "six leases are active" all_are "6 active"
kill -STOP "$D"
for id in "${ids[@]}"; do ask "$id"; done
within 3 "all of them are to be hibernated" all_are "6 idle"
sleeper
id=$(new_id)
claim "$id" "$P" | put queue "lock-cli-me-$id"
within 3 "a seventh is admitted and waits for its turn" is "$id" admitted
k hold --for 1m >/dev/null
mv "$NOTICES/active/lock-cli-me-$id" "$NOTICES/archive/"
within 3 "released, it is over; a hold keeps its destroy away" is "$id" expired
kill -CONT "$D"
within 5 "the others' turn comes" all_are "1 expired
 6 hibernated"
sleep 1
check "what was released is not started any more" sh -c "! grep -q '$id process create' $W/daemon.log"
k hold --lift >/dev/null
within 3 "the hold lifted, it is reaped" is "$id" reaped
check "its life" lived "$id" "requested admitted expired reaped"
finish
