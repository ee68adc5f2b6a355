#!/bin/bash
# t0700-mass-silence.sh: when all fall silent together none is reaped for it: they are hibernated, held and told of, for so long and no longer.
# Functions are called by their names.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 2s
	renew_grace = 600ms
	hibernate_after = 1h
	warn_before = 300ms
	[observe]
	every = 100ms
	cpu_floor = 20%
	[breaker]
	window = 1s
	hold = 5s
C
daemon || finish
A=$NOTICES/active
ids=()
# lease [LINE...]: one more, of a process of its own; its id in I.
lease() {
	sleeper
	I=$(new_id)
	claim "$I" "$P" "$@" | put queue "lock-cli-me-$I"
	ids+=("$I")
}
each() { # each CMD...: it succeeds for every one of ids
	local i
	for i in "${ids[@]}"; do "$@" "$i" || return 1; done
}
is_now() { [ "$(word "$2" state)" = "$1" ]; }
runs_on() { word "$1" state | grep -Eqx "active|idle"; }
over() { is_now reaped "$1" && one_end "$1"; }
held() { word_has "$1" held "held by the breaker"; }
alarms() { [ "$(grep -c BREAKER "$W/daemon.log")" = "$1" ]; }
# beats FILE...: touched four times a second until killed; its pid in B.
beats() {
	while :; do
		touch -c -- "$@"
		sleep 0.25
	done >/dev/null 2>&1 &
	B=$!
	starts "$B"
}
eight() {
	ids=()
	while [ ${#ids[@]} -lt 8 ]; do lease; done
	beats "${ids[@]/#/$A/lock-cli-me-}"
	until_true 5 each runs_on
}
# Not before the last beat of a touch that is still under way.
hush() { kill "$B" && wait "$B" 2>/dev/null; }

eight
stays 2 "who beats lives" each runs_on
check "and makes no alarm" alarms 0
hush
within 6 "all of eight fall silent: they are hibernated" each is_now hibernated
check "and not one is reaped" test "$(raw "SELECT count(*) FROM ledger WHERE to_state = 'expired'")" = 0
within 3 "each one's state file says what holds it" each held
k show "${ids[0]}" >"$W/said"
check "and so does klease show" said "^held .*held by the breaker \(8 of 8 sessions silent\)"
k list >"$W/said" 2>&1
check "klease list raises the alarm" said "BREAKER.*8 of 8 sessions.*klease breaker --release"
k breaker >"$W/said"
check "klease breaker says until when" said "^tripped until 2.*: 8 of 8"
check "the log has it once, with what to do" alarms 1
check "the ledger has it, with numbers" word_has "${ids[0]}" history "hibernated .*8 of 8 sessions silent: hibernated, not reaped"

# Half of its hold passes with another daemon.
until=$(beacon breaker)
crash
daemon || finish
now=$(beacon breaker)
if [ $((now - until)) -lt 100 ] && [ $((until - now)) -lt 100 ]; then ok "a restart neither forgets nor prolongs it"; else no "a restart neither forgets nor prolongs it" "$until, then $now"; fi
first=${ids[0]} freed=${ids[1]}
beats "$A/lock-cli-me-$first"
mv "$A/lock-cli-me-$freed" "$NOTICES/archive/"
within 2 "a release is not held" over "$freed"
within 2 "who beats again lives" is "$first" active
check "and is held no longer" test -z "$(word "$first" held)"
ids=("${ids[@]:2}")
check "the others still are" each is_now hibernated
within 8 "after the hold the rest is reaped, once each" each over
if [ "$(date +%s%3N)" -ge "$until" ]; then ok "and not before"; else no "and not before" "$(($(date +%s%3N) - until)) ms too early"; fi
check "the ledger says that the breaker had held them" word_has "${ids[0]}" history "expired .*held by the breaker, 8 of 8"
check "it does not trip again for the same silence" alarms 1
check "the log says that it is over" grep -q "the breaker's hold is over" "$W/daemon.log"
k breaker >"$W/said"
check "and klease breaker" said "^not tripped"
check "who beats has lived through it" is "$first" active
hush

# Nobody heard it: the daemon was away. The first that it looks at is not reaped before it has looked at the rest.
eight
hush
crash
untouched() { [ $(($(date +%s%N) - $(date -r "$A/lock-cli-me-${ids[7]}" +%s%N))) -gt 2700000000 ]; }
until_true 6 untouched
daemon || finish
within 6 "all fell silent while there was no daemon: they are hibernated" each is_now hibernated
k breaker --release >"$W/said"
check "somebody lets it go" said "reaping goes on"
within 2 "and they are reaped at once" each over
check "the log says who" grep -q "let go by uid $(id -u)" "$W/daemon.log"
check "so does the ledger" word_has "${ids[0]}" history "let go by uid $(id -u)"
check "that was two alarms" alarms 2

# One agent that is gone without a word, with ten leases.
S=$(new_id)
printf '#leasewatch 1\nid=%s\nkind=session\nsurface=agent\n' "$S" | put active "lock-agent-me-$S"
until_true 3 is "$S" active
ids=()
while [ ${#ids[@]} -lt 10 ]; do lease "session=$S"; done
until_true 5 each is_now active
within 6 "ten leases of one dead agent are one silence: they are reaped when they are due" each over
check "without an alarm" alarms 2
finish
