# shellcheck shell=bash
# tests/session/engines.sh: sourced after lib.sh by the tests of a daemon with a real engine.
#
#	world system
#	engine podman			# starts it; its sections are in the configuration. Skips the file where it isn't installed
#	daemon || finish
#
# ENGINE is its name, and that of the profile. of ID COMMAND…: a function of tests/runtime/engine-NAME.sh about that lease's workload.
engine_sh=$(cd "$(dirname "${BASH_SOURCE[0]}")/../runtime" && pwd)/engine.sh
ENGINE=''
engine() {
	local rc=0
	ENGINE=$1
	bash "$engine_sh" "$ENGINE" "$W/e" up >"$W/sections" 2>"$W/up" || rc=$?
	if [ $rc != 0 ]; then
		if [ $rc = 77 ]; then skip "$ENGINE" "$(tail -n 1 "$W/up")"; else no "the engine comes up" "$(tail -n 1 "$W/up")"; fi
		finish
	fi
	conf <"$W/sections"
}
# finish calls it.
before_the_end() {
	if [ -n "$ENGINE" ]; then bash "$engine_sh" "$ENGINE" "$W/e" engine_down >/dev/null 2>&1; fi
}
of() {
	local id=$1 gen
	shift
	gen=$(k show "$id" --json | jq -r '.generation // 1')
	ID=$id GEN=$gen DIR=$(find "$W" -maxdepth 4 -type d -name "$id.$gen") bash "$engine_sh" "$ENGINE" "$W/e" "$@" 2>/dev/null
}
# count ID: how far its workload is; counts_past ID N.
count() { of "$1" peek /count | tr -dc 0-9; }
counts_past() {
	local n
	n=$(count "$1")
	[ "${n:-0}" -gt "$2" ]
}
