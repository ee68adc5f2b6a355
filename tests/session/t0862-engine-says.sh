#!/bin/bash
# t0862-engine-says.sh: the truth is the engine's: what stopped, went, was frozen or lost its memory behind our back is said and
# accounted for; an engine that is down or hangs decides nothing for others.
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
. "$(dirname "$0")/engine.sh"
engine_install
conf <<-C
	[profile box]
	runtime = standin
	ttl = 60s
	renew_grace = 500ms
	hibernate_after = 60s
	[profile quick]
	runtime = standin
	ttl = 2s
	renew_grace = 60s
	[profile kept]
	runtime = standin
	ttl = 1s
	renew_grace = 60s
	on_expire = snapshot
	[observe]
	every = 100ms
	[breaker]
	share = 1
C
why() { k ledger --json --lease "$1" | jq -r .why | grep -Eq -- "$2"; }
warn() { grep -Eq -- "$1" "$W/daemon.log"; }
daemon || finish
make() { as daemon create --profile "$1" --wait=10s; }
w() { echo "$E/all/$1."*; }

id=$(make box)
within 5 "its runtime is asked when a verdict hangs on it" engine_did stat "$id"
stays 1 "what tells no cpu is in use" is "$id" active
echo stopped >"$(w "$id")"
within 5 "a workload that stopped behind our back is seen" is "$id" reaped
check "… and said" why "$id" 'its runtime says that it has stopped, and not by us'
check "… with one end" one_end "$id"
id=$(make box)
rm -f "$(w "$id")"
within 5 "one that was removed, too" is "$id" reaped
check "… and said" why "$id" 'the runtime has no such workload'
id=$(make box)
echo frozen >"$(w "$id")"
within 5 "one that was frozen by another hand is hibernated" is "$id" hibernated
check "… and said" why "$id" 'found frozen, and not by us'

printf 'cpu_usec=5\n' >"$E/say-stat"
id=$(make box)
within 5 "a counter that stands still is no use" is "$id" idle
( n=0; while [ -e "$E" ]; do n=$((n + 90000)); echo "cpu_usec=$n" >"$E/say-stat.new"; mv "$E/say-stat.new" "$E/say-stat"; sleep 0.1; done ) &
starts $!
within 5 "one that moves is" is "$id" active
kill -KILL $! 2>/dev/null
echo cpu_usec=1 >"$E/say-stat"
within 5 "one that restarts at nought is none" is "$id" idle
engine_fail stat 75 the engine is down
sleep 0.5
stays 1 "an engine that is down decides nothing" lives "$id"
engine_well stat

# Traffic is use; a counter that restarts is none; and the profile may not look at it.
printf 'cpu_usec=1\nnet_bytes=1000\n' >"$E/say-stat"
touch "$E/traffic"
net=$(make box)
( n=1000; while [ -e "$E/traffic" ]; do n=$((n + 50000)); printf 'cpu_usec=1\nnet_bytes=%d\n' $n >"$E/say-stat.new"; mv "$E/say-stat.new" "$E/say-stat"; sleep 0.1; done ) &
starts $!
stays 2 "network traffic is use" is "$net" active
rm -f "$E/traffic"
sleep 0.3
printf 'cpu_usec=1\nnet_bytes=5\n' >"$E/say-stat"
within 5 "a counter that has restarted, and stands, is none" is "$net" idle
as daemon release "$net" >/dev/null

printf 'cold=yes\nwhy=the hibernated image is lost\n' >"$E/say-resume"
echo disk >"$(w "$id")"
within 5 "found on disk" is "$id" hibernated
as daemon renew "$id" >/dev/null
within 5 "it wakes" is "$id" active
check "a cold start tells its owner that memory was lost" word_has "$id" cold '^started anew: what was in its memory is lost: the hibernated image is lost$'
check "… in the ledger" why "$id" '^started anew: what was in its memory is lost'
check "… and in klease show" sh -c "klease --notices $NOTICES show $id | grep -q '^cold  *started anew'"
rm -f "$E/say-resume"

# By word.
fails "klease hibernate returns when it sleeps" 0 as daemon hibernate "$id"
check "… and it does" is "$id" hibernated
check "… on the engine's word" engine_is "$id" disk
fails "one that sleeps need not be asked twice" 0 as daemon hibernate "$id"
fails "klease resume returns when it is awake" 0 as daemon resume "$id"
check "… and it is" is "$id" active
check "… on the engine's word" engine_is "$id" running
engine_fail hibernate 1 no room for an image
fails "what can't be hibernated is a failure" 1 as daemon hibernate "$id" --timeout 20s
check "… with the engine's reason" grep -q 'is not hibernated, and .*no room for an image' "$W/said"
check "… and runs on" lives "$id"
engine_well hibernate
fails "another user's lease is refused" 4 as nobody hibernate "$id"
check "… with the reason" grep -q "another user's lease" "$W/said"
fails "one that never was is lost" 3 as daemon hibernate kls-aaaaaaaaaa
fails "… and not to be woken" 3 as daemon resume kls-aaaaaaaaaa

# What hangs in the hands of one lease is nothing to the others.
hung=$(make quick)
engine_hang destroy "$hung"
other=$(make quick)
within 6 "a hung destroy leaves another's alone" is "$other" reaped
check "… and is in sight" is "$hung" expired
engine_well destroy

id=$(make kept)
within 6 "over, a last copy is made first" is "$id" reaped
check "… which stays" test -e "$E/copy-$id"
check "… before it is destroyed" sh -c "grep -n $id $E/log | grep -A1 snapshot | grep -q destroy"
engine_fail snapshot 1 the disk is full
id=$(make kept)
within 6 "a copy that fails is tried again" warn "$id .expired.: its last copy failed: the disk is full|$id.*its last copy failed: the disk is full"
check "… and not destroyed yet" engine_is "$id" running
engine_well snapshot
within 10 "… until it is there" is "$id" reaped
check "… again" test -e "$E/copy-$id"
engine_fail snapshot 1 the disk is full
id=$(make kept)
within 90 "a copy that never comes doesn't keep it for ever" is "$id" reaped
check "… and its last line says so" why "$id" 'no last copy: the disk is full'

# Down when the daemon starts.
engine_fail capabilities 75 the engine is down
daemon_stop
daemon || finish
early=$(as daemon create --profile box 2>/dev/null)
stays 1 "a request waits for an engine that is down" is "$early" requested
engine_well capabilities
within 10 "… and is served when it is up" is "$early" active
check "what was taken up says again what its runtime can do" word_has "$early" can 'hibernate to disk'

echo 'why=CRIU 3.17: vdso' >>"$E/caps"
check "leasewatch --check has a line for each runtime, and why it does no more" \
	sh -c "leasewatch ${mode_args[*]} --check | grep -qx 'runtime standin: hibernate to disk (CRIU 3.17: vdso), snapshot yes, exec yes'"
check "… also for ours" sh -c "leasewatch ${mode_args[*]} --check | grep -q '^runtime process: hibernate '"
engine_fail capabilities 1 the engine is not there
check "one that does not work says why" sh -c "leasewatch ${mode_args[*]} --check | grep -qx 'runtime standin: does not work here: the engine is not there'"
finish
