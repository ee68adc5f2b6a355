#!/bin/bash
# t0860-profiles.sh: users name profiles; what is made from one is the administrator's word, and so is who may name it.
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
. "$(dirname "$0")/engine.sh"
engine_install
conf <<-C
	[profile box]
	runtime = standin
	image = box:1
	cpu = 1.5
	memory = 64M
	standin.root-size = 7
	[profile daemons]
	runtime = standin
	users = daemon, games
	[profile mail]
	runtime = standin
	groups = mail
	[profile plain]
C
daemon || finish
denied() { k show "$1" --json | jq -r .why | grep -Eq -- "$2"; }

id=$(as daemon create --profile box --wait=10s)
check "a lease of a profile needs no command" is "$id" active
cat >"$W/want" <<C
LEASE_PROFILE=box
LEASE_PROFILE_CPU=1500
LEASE_PROFILE_IMAGE=box:1
LEASE_PROFILE_MEMORY=67108864
LEASE_PROFILE_ROOT_SIZE=7
LEASE_RUNTIME_DIR=$E
C
check "its runtime is told what the profile says, in whole numbers" sh -c "grep -E 'PROFILE|RUNTIME_' $E/env | diff - $W/want"
check "the state file says which profile" word_has "$id" profile '^box$'
check "… and what its runtime can do" word_has "$id" can '^hibernate to disk, snapshot yes, exec yes$'

fails "a profile that is not there is denied" 4 as daemon create --profile bax
check "… with its name" said 'no such profile: bax'
fails "a command is denied where none is taken in" 4 as daemon create --profile box -- sleep 1
check "… and klease exec is named" said 'klease exec'
fails "… at once, under run too" 4 as daemon run --profile box -- sleep 1
id2=$(new_id)
printf '#leasewatch 1\nid=%s\nimage=evil:latest\nruntime=standin\n' "$id2" | put queue "lock-cli-root-$id2"
within 5 "a record has no key for an image" is "$id2" denied

fails "a user who is not on the list is denied" 4 as nobody create --profile daemons
check "… and told for whom it is" said 'profile daemons is for users daemon, games'
check "one on the list is not" as games create --profile daemons --wait=10s
fails "nor is one outside of the group let in" 4 as nobody create --profile mail
check "… which is named" said 'for groups mail'
check "a member is" as mail create --profile mail --wait=10s
check "root names any" k create --profile mail --wait=10s
id4=$(new_id)
printf '#leasewatch 1\nid=%s\nprofile=box\nruntime=process\n' "$id4" | put queue "lock-cli-root-$id4"
within 5 "another runtime than the profile's is denied" is "$id4" denied

# The profile goes; what was made from it is still destroyed.
sed -i '/^\[profile box\]/,/^\[profile daemons\]/{/^\[profile daemons\]/!d}' "$CONF"
kill -HUP "$D"
within 5 "the configuration was taken over" grep -q 'configuration reloaded' "$W/daemon.log"
fails "a profile that has gone makes nothing new" 4 as daemon create --profile box
check "what it made is still there" is "$id" active
as daemon release "$id" >/dev/null
within 5 "… and is destroyed, without its words" grep -q "^destroy $id box -" "$E/log"
within 5 "… to the end" is "$id" reaped
sed -i 's/^users = .*/userz = x/' "$CONF"
kill -HUP "$D"
within 5 "a bad file is told with its line" grep -Eq 'leasewatch.conf:[0-9]+: unknown key .userz' "$W/daemon.log"
check "… and the old settings hold" as games create --profile daemons --wait=10s
finish
