#!/bin/bash
# t0825-lxc.sh: a lease keeps a container of LXC's: made of a profile, hibernated to disk, woken by a touch, gone at its end.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/engines.sh"
world system
engine lxc
. "$(dirname "$0")/containers.sh"
life_of_a_container
behind_our_back

# Over while it is hibernated.
made_one || no "another is made" "$(tail -n 1 "$W/said")"
within 15 "silence hibernates it" is "$id" hibernated
check "release ends it" k release "$id"
within 15 "it is over" absent "$id"
within 15 "and LXC has nothing of it" eval '! of "$id" inventory | grep -q "$id"'
check "nor has the daemon" eval '! compgen -G "$STATE/*/*/$id.*"'
finish
