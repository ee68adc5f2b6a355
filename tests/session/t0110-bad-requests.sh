#!/bin/bash
# t0110-bad-requests.sh: what is malformed is refused with what, where and why; everything else goes on as it was.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
short_times
conf <<-C
	[profile small]
	priority = 3
	max_ttl = 1s
C
sed -i 's/^ttl = 2400ms$/ttl = 60s/; s/^renew_grace = 600ms/renew_grace = 30s/' "$CONF"
daemon || finish
A=$NOTICES/active Q=$NOTICES/queue
sleeper
good=$(new_id)
claim "$good" "$P" | put queue "lock-cli-me-$good"
within 5 "a good request is admitted" is "$good" active
goodpid=$P

# denied WHAT REGEX: stdin, a record with @ID@ in it, is denied, and the reason in show and the ledger matches.
denied() {
	local id
	id=$(new_id)
	sed "s/@ID@/$id/" | put queue "lock-cli-me-$id"
	within 4 "$1 is denied" is "$id" denied || return
	if word_has "$id" why "$2"; then ok "… and says why"; else no "… and says why ($1)" "$(word "$id" why)"; fi
	check "… with one end" one_end "$id"
	check "… and has left queue/ and active/" sh -c "! ls $Q $A | grep -q $id"
}
sleeper
proc() { claim @ID@ "$P" "$@"; }
printf 'rubbish\n' | denied "a record without our header" 'line 1.*#leasewatch 1'
printf '#leasewatch 2\nid=@ID@\n' | denied "a record of another version" 'line 1'
proc colour=red | denied "an unknown key" 'line 8.*colour'
proc ttl=5 | denied "a duration without its unit" 'line 8.*ttl.*unit'
proc ttl=0s | denied "a ttl of nothing (B14)" 'line 8.*ttl'
proc ttl=never | denied "a ttl of never" 'line 8.*ttl'
proc ttl=-5m | denied "a negative ttl" 'line 8.*ttl'
proc ttl=99999999999999999999h | denied "a ttl beyond all numbers" 'line 8.*ttl'
proc ttl=5m ttl=6m | denied "a key that stands twice" 'line 9.*ttl'
proc priority=10 | denied "a priority beyond 9" 'line 8.*priority'
proc priority=8 | denied "a priority above max_priority" 'priority.*7'
proc profile=none | denied "a profile that there is not" 'no such profile.*none'
proc usage=sometimes | denied "an unknown usage" 'line 8.*usage'
proc session=mine | denied "a session that is no id" 'line 8.*session'
proc label=noequals | denied "a label without a value" 'line 8.*label'
printf '#leasewatch 1\nid=@ID@\nruntime=process\n' | denied "a process lease without a process" 'needs a command'
printf '#leasewatch 1\nid=@ID@\nruntime=../../bin/sh\n' | denied "a runtime with a path in it" 'runtime'
printf '#leasewatch 1\nid=@ID@\nruntime=nosuch\n' | denied "a runtime that is not installed" 'runtime nosuch'
proc | sed 's/^pid_start=.*/pid_start=12/' | denied "a process with another start time" 'process .* is not'
proc | sed 's/^boot=.*/boot=00000000-0000-0000-0000-000000000000/' | denied "a process of another boot" 'process .* is not'
proc | sed '/^boot=/d' | denied "a process without its boot" 'boot'
claim @ID@ 1 | denied "a process of another owner's" 'process 1 is not'
proc leader=1 leader_start=1 | denied "a leader of another owner's" 'leader 1 is not'
printf '#leasewatch 1\nid=@ID@\nlabel=a=\033[31mred\n' | denied "a control character in a value" 'line 3'
check "that reason's log line is escaped" sh -c "! grep -q \$'\\033' $W/daemon.log"
{
	proc
	for i in $(seq 17); do echo "label=k$i=v"; done
} | denied "a seventeenth label" 'line 24.*label'
id=$(new_id)
claim "$(new_id)" "$P" | put queue "lock-cli-me-$id"
within 4 "a record of another id than its name's is denied" is "$id" denied
check "… and says so" word_has "$id" why 'its name is not'
id=$(new_id)
{ proc | sed "s/@ID@/$id/" && head -c 5000 /dev/zero | tr '\0' '#'; } | put queue "lock-cli-me-$id"
sleep 0.4
check "a record of more than 4096 bytes is passed over" test -z "$(state "$id")"
check "… and reported" grep -q 'longer than 4096' "$W/daemon.log"
rm -f "$Q/lock-cli-me-$id"
{ printf '#leasewatch 1\0\n'; } | put queue "lock-cli-me-$(new_id)"

# Names.
claim "$(new_id)" "$P" | put queue "lock-cli-me-kls-SHORT"
claim "$(new_id)" "$P" | put queue "lock"
claim "$(new_id)" "$P" | put active "nothing-of-ours"
nl=$'lock-cli-a\nb\033[31m-kls-UPPERCASE0'
claim "$(new_id)" "$P" | put queue "$nl"
sleep 0.4
check "names that are none are passed over" sh -c "klease list --json | jq -e 'length == 1'"
check "a newline or an escape in a name reaches the log escaped" sh -c "! grep -q \$'\\033' $W/daemon.log"
check "and every line of the log is whole" sh -c "! grep -Eq '^b' $W/daemon.log"
rm -f "$Q"/lock* "$A/nothing-of-ours"

# A second file with a living lease's id (F09).
claim "$good" "$P" | put active "lock-cli-twin-$good"
claim "$good" "$P" | put queue "lock-cli-twin-$good"
within 3 "a duplicate id in active/ and in queue/ is taken away" sh -c "! ls $A $Q | grep -q twin"
check "the earlier one stands" is "$good" active
check "its lock too" test -f "$A/lock-cli-me-$good"
check "and its process" runs "$goodpid"
sleeper
over=$(new_id)
claim "$over" "$P" | put queue "lock-cli-me-$over"
until_true 5 is "$over" active && k release "$over" && until_true 5 is "$over" reaped
sleeper
claim "$over" "$P" | put queue "lock-cli-me-$over"
within 3 "the id of a lease that is over is never used again" sh -c "! ls $A $Q | grep -q $over"
check "still one end" one_end "$over"

# Caps are no refusals.
sleeper
id=$(new_id)
claim "$id" "$P" profile=small ttl=2h | put queue "lock-cli-me-$id"
within 4 "a ttl above max_ttl is capped, not refused" is "$id" active
check "… to the cap" word_has "$id" ttl '^1s'
check "… which the ledger says" sh -c "klease ledger --json --lease $id | jq -r .why | grep -q 'capped to 1s'"
check "nothing else has changed: the first lease is active" is "$good" active
check "its one life is untouched" lived "$good" "requested admitted active"
check "and the daemon is the same" runs "$D"

# Asks.
asked() { # asked NAME RESULT REGEX: stdin is the ask
	local id
	id=$(new_id)
	put queue "ask-$id"
	if until_true 3 word_has "ask-$id" result "^$2\$" && word_has "ask-$id" what "$3"; then ok "$1"; else
		no "$1" "$(word "ask-$id" result): $(word "ask-$id" what)"
	fi
	until_true 2 test ! -e "$Q/ask-$id" || no "$1: it is removed when answered" "it lies there"
}
printf 'rubbish\n' | asked "an ask without a header fails" failed 'line 1'
printf '#leasewatch 1\nverb=explode\nlease=%s\n' "$good" | asked "an unknown verb fails and is named" failed 'line 2.*verb'
printf '#leasewatch 1\nverb=hibernate\nlease=x\n' | asked "a wrong id fails" failed 'line 3'
printf '#leasewatch 1\nverb=hibernate\n' | asked "an ask for no lease fails" failed 'lease'
printf '#leasewatch 1\nverb=hibernate\nlease=kls-aaaaaaaaaa\n' | asked "an unknown lease is lost" lost 'no such lease'
printf '#leasewatch 1\nverb=renew\nlease=%s\nttl=0s\n' "$good" | asked "a renewal by nothing fails" failed 'ttl'
printf '#leasewatch 1\nverb=hibernate\nlease=%s\n' "$good" | asked "a good one is done" "done" '.'
within 4 "… and happens" is "$good" hibernated
finish
