#!/bin/bash
# engine.sh NAME DIR COMMAND…: a real engine, below DIR, for the session tests and the bench. `up` starts it and prints the sections of a
# leasewatch.conf(5) that describe it, with a profile of its name that runs busybox_root's /work; any other command is a function of
# engine-NAME.sh, which with ID and GEN in the environment is told of that workload. Exit 77: it is not installed.
# Sourced, with NAME and W set, it defines all that.
set -u
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	NAME=${1:?usage: engine.sh NAME DIR COMMAND...} W=${2:?}
	shift 2
fi
engine_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What these need; nothing here is a check.
# shellcheck disable=SC2034 # read by what is sourced
section='' engine_disk='' st=0 AS='' NOBODY=65534 ENV=() dirs=() pids=() why=''
ID=${ID:-} GEN=${GEN:-1}
# shellcheck source=tests/runtime/lib.sh
. "$engine_here/lib.sh"
trap - EXIT INT TERM HUP
# shellcheck source=tests/runtime/engines.sh
. "$engine_here/engines.sh"
# shellcheck source=/dev/null
. "$engine_here/engine-$NAME.sh"
unset -f extra

# A word of ENV as a line of a section: LEASE_RUNTIME_PATH=x is path = x.
settings() { # PREFIX
	local word key
	for word in "${ENV[@]}"; do
		[ "${word#"$1"}" != "$word" ] || continue
		key=${word#"$1"} key=${key%%=*}
		printf '%s = %s\n' "${key,,}" "${word#*=}"
	done
}
up() {
	local rc=0
	mkdir -p "$W/engine" && chmod 755 "$W" "$W/engine"
	criu_stand_in
	engine_up || rc=$?
	if [ $rc != 0 ]; then
		echo "${why:-$NAME does not come up}" >&2
		return $rc
	fi
	echo "[runtime $NAME]"
	settings LEASE_RUNTIME_
	echo "[profile $NAME]"
	echo "runtime = $NAME"
	settings LEASE_PROFILE_ | awk '/^cpu = / { printf "cpu = %.3f\n", $3 / 1000; next } { print }'
}
if [ "${BASH_SOURCE[0]}" = "$0" ]; then "$@"; fi
