#!/bin/bash
# t0820-incus.sh: a lease keeps a container of Incus'; an incusd that is killed or hangs delays what is to be done, decides nothing, and is no
# concern of other runtimes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/engines.sh"
world system
engine incus
. "$(dirname "$0")/containers.sh"
life_of_a_container
behind_our_back
engine_killed

# Hibernated, with incusd killed in between.
made_one || no "another is made" "$(tail -n 1 "$W/said")"
check "its counter runs" awake_until "$id" counts_past "$id" 20
within 15 "silence hibernates it" is "$id" hibernated
c=$(count "$id")
of "$id" engine_crash
touched "$id"
stays 2 "without incusd it is not taken for lost" present "$id"
of "$id" engine_again
check "incusd back, it wakes" awake_until "$id" is "$id" active
check "… and its counter goes on" awake_until "$id" counts_past "$id" "$c"

of "$id" engine_hang
k release "$id" >/dev/null
stays 2 "while incusd hangs, its lease is not over" present "$id"
other=$(k create -- sleep 300)
within 10 "another runtime's lease begins" is "$other" active
k release "$other" >/dev/null
within 10 "… and ends" absent "$other"
check "… while that one still waits" present "$id"
of "$id" engine_wake
within 60 "incusd awake, that one ends too" absent "$id"
within 15 "… in the engine as well" eval '! of "$id" inventory | grep -q "$id"'
check "… once" one_end "$id"
finish
