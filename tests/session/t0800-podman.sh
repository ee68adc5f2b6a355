#!/bin/bash
# t0800-podman.sh: a lease keeps a container of podman's: made of a profile, hibernated to disk, woken by a touch, gone at its end.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/engines.sh"
world system
engine podman
. "$(dirname "$0")/containers.sh"
life_of_a_container
behind_our_back
finish
