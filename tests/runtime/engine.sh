#!/bin/bash
# engine.sh NAME DIR COMMAND…: a real engine, below DIR, for the session tests and the bench. `up` starts it and prints the sections of a
# leasewatch.conf(5) that describe it, with a profile of its name that runs busybox_root's /work; any other command is a function of
# engine-NAME.sh, which with ID and GEN in the environment is told of that workload. Exit 77: it is not installed.
set -u
NAME=${1:?usage: engine.sh NAME DIR COMMAND...} W=${2:?}
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What these need; nothing here is a check.
# shellcheck disable=SC2034 # read by what is sourced
section='' engine_disk='' st=0 AS='' NOBODY=65534 ENV=() dirs=() pids=() why=''
ID=${ID:-} GEN=${GEN:-1}
# shellcheck source=tests/runtime/lib.sh
. "$here/lib.sh"
trap - EXIT INT TERM HUP
# shellcheck source=tests/runtime/engines.sh
. "$here/engines.sh"
# shellcheck source=/dev/null
. "$here/engine-$NAME.sh"
unset -f extra

# A word of ENV as a line of a section: LEASE_RUNTIME_PATH=x is path = x.
settings() { # PREFIX KEY-PREFIX
	local word key
	for word in "${ENV[@]}"; do
		[ "${word#"$1"}" != "$word" ] || continue
		key=${word#"$1"} key=${key%%=*}
		printf '%s%s = %s\n' "$2" "${key,,}" "${word#*=}"
	done
}
if [ "$1" = up ]; then
	mkdir -p "$W/engine" && chmod 755 "$W" "$W/engine"
	criu_stand_in
	engine_up || {
		rc=$?
		echo "${why:-$NAME does not come up}" >&2
		exit $rc
	}
	echo "[runtime $NAME]"
	settings LEASE_RUNTIME_ ''
	echo "[profile $NAME]"
	echo "runtime = $NAME"
	settings LEASE_PROFILE_ '' | awk '/^cpu = / { printf "cpu = %.3f\n", $3 / 1000; next } { print }'
	exit 0
fi
"$@"
