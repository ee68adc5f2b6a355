# shellcheck shell=bash
# tests/session/containers.sh: sourced by the tests of podman and Docker: what is promised of both.
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 1s
	hibernate_after = 500ms
	warn_before = 300ms
	[observe]
	every = 200ms
	cpu_floor = 60%
C
touched() { touch -c "$NOTICES/active/$(lock "$1")"; }
asleep() { is "$1" hibernated && [ -z "$(of "$1" steady)" ]; }
# awake_until ID COMMAND…: within 15 s, the lease touched at every look, so that it stays awake.
touched_and() {
	touched "$1"
	shift
	"$@"
}
awake_until() { until_true 15 touched_and "$@"; }
within_awake() {
	local name=$1
	shift
	if awake_until "$id" "$@"; then ok "$name"; else no "$name" "not within 15 s: $*"; fi
}
made_one() { # sets id
	id=$(k create --profile "$ENGINE" 2>"$W/said") && awake_until "$id" is "$id" active
}

why() { k ledger --json --lease "$1" | jq -r .why | grep -Eq -- "$2"; }

life_of_a_container() {
	local c pids
	daemon || finish
	if ! made_one; then
		no "a lease of the profile is made" "$(tail -n 1 "$W/said") $(tail -n 3 "$W/daemon.log")"
		finish
	fi
	ok "a lease of the profile is made"
	check "the engine limits its cpu" test "$(of "$id" view cpu)" = 500
	check "and its memory" test "$(of "$id" view memory)" = 67108864
	check "its counter runs" awake_until "$id" counts_past "$id" 20
	pids=$(of "$id" steady)
	c=$(count "$id")
	within 15 "silence hibernates it" is "$id" hibernated
	check "to disk: its processes are gone" test -z "$(of "$id" steady)"
	check "and were there before" test -n "$pids"
	stays 1 "it stays so" is "$id" hibernated
	daemon_stop
	daemon || finish
	check "a restart of the daemon leaves it so" is "$id" hibernated
	touched "$id"
	within 15 "a touch wakes it" is "$id" active
	check "the counter goes on from where it was" awake_until "$id" counts_past "$id" "$c"
	check "and did not begin anew" test "$(count "$id")" -gt "$c"
	check "a command runs inside" eval '[ "$(k exec "$id" -- sh -c "echo in \$((6 * 7))")" = "in 42" ]'
	fails "and its exit status comes out" 7 k exec "$id" -- sh -c 'exit 7'
	within 15 "silence hibernates it again" asleep "$id"
	check "a command wakes it, and finds its files" eval '[ "$(k exec "$id" -- cat /count)" -gt "$c" ]'
	check "release ends it" k release "$id"
	within 15 "it is over" absent "$id"
	within 15 "and the engine has it no more" eval '! of "$id" inventory | grep -q "$id"'
	check "it ended once" one_end "$id"
}
behind_our_back() {
	made_one || no "another is made" "$(tail -n 1 "$W/said")"
	# Awake, whatever the machine is doing.
	of "$id" remove_behind &
	within_awake "one that is removed behind our back is over" absent "$id"
	wait $!
	check "and why is in the ledger" why "$id" 'no such workload|has stopped'
	made_one || no "another is made" "$(tail -n 1 "$W/said")"
	# Awake, whatever the machine is doing.
	of "$id" stop_behind &
	within_awake "one that is stopped behind our back is over" absent "$id"
	wait $!
	check "and why is in the ledger" why "$id" 'has stopped'
	within 10 "the engine has neither" eval '! of "$id" inventory | grep -q "^container lease-"'
	made_one || no "another is made" "$(tail -n 1 "$W/said")"
	within 15 "silence hibernates it" is "$id" hibernated
	of "$id" lose_image
	touched "$id"
	within 15 "with its image lost, it begins anew" is "$id" active
	check "and its owner is told" eval 'k show "$id" | grep -Eiq "lost|anew|cold"'
	check "release ends it" k release "$id"
}
engine_killed() {
	local c
	made_one || no "another is made" "$(tail -n 1 "$W/said")"
	check "its counter runs" awake_until "$id" counts_past "$id" 10
	of "$id" engine_crash
	stays 3 "with the engine killed, the lease is kept" present "$id"
	of "$id" engine_again
	check "the engine back, it counts" awake_until "$id" counts_past "$id" 12
	check "release ends it" k release "$id"
	within 20 "it is over" absent "$id"
	within 15 "and the engine has it no more" eval '! of "$id" inventory | grep -q "$id"'
}
