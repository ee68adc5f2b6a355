#!/bin/bash
# t0805-docker.sh: a lease keeps a container of Docker's; a dockerd that is killed delays what is to be done, and decides nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/engines.sh"
world system
engine docker
. "$(dirname "$0")/containers.sh"
life_of_a_container
behind_our_back
engine_killed
finish
