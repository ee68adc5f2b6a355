#!/bin/bash
# t0260-newer.sh: files of a format that is not known yet (#leasewatch 2): each reader says so, and leaves them as they are.
# Functions are called by their names.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
world user
daemon || finish
newer() { sed '1s/.*/#leasewatch 2/'; }
same() { cmp -s "$1" "$2"; }

# A request: denied with the reason, its file archived as it came.
sleeper
id=$(new_id) name=lock-cli-$(id -un)-$id
claim "$id" "$P" | newer >"$W/request"
put queue "$name" <"$W/request"
within 5 "a request of another format is denied" is "$id" denied
check "with the reason" word_has "$id" why "another format, a newer leasewatch"
check "its file is archived as it came" same "$W/request" "$(find "$NOTICES/archive" -name "$name")"
check "its process is left alone" runs "$P"

# An ask.
id=$(new_id)
printf '#leasewatch 2\nverb=hold\nuntil=later\n' | put queue "ask-$id"
within 5 "an ask of another format is answered" test -e "$(beacon state)/ask-$id"
check "with the reason" word_has "ask-$id" what "another format, a newer leasewatch"

# What klease reads.
id=$(k create -- sleep 300)
within 5 "a lease is active" is "$id" active
S=$(beacon state)/$id
newer <"$S" >"$W/view"
cp "$W/view" "$S"
fails "a state file of another format is told of" 1 k show "$id"
check "as that" said "another format, a newer leasewatch"
check "and stays as it is" same "$S" "$W/view"
check "list counts it" sh -c "klease list 2>&1 | grep -q '1 state files'"
check "the lease is renewed all the same" k renew "$id"
B=$NOTICES/.leasewatch
cp "$B" "$W/beacon"
newer <"$B" >"$W/beacon2"
cp "$W/beacon2" "$B"
fails "a beacon of another format is no daemon that klease can talk to" 75 k list
check "it says why" said "\.leasewatch is of another format, a newer leasewatch"
check "a beat needs no daemon" k renew "$id"
check "the beacon stays as it is" same "$B" "$W/beacon2"
cp "$W/beacon" "$B"

# A twin of a login.
id=$(new_id)
printf '#leasewatch 2\nid=%s\nuid=%s\n' "$id" "$(id -u)" >"$W/twin"
cp "$W/twin" "$(beacon sessions)/$id"
printf '#leasewatch 1\nid=%s\nsurface=cli\nkind=session\n' "$id" | put active "lock-cli-$(id -un)-$id"
within 5 "a twin of another format is told of" grep -q "$id: its twin in sessions/: another format, a newer leasewatch" "$W/daemon.log"
within 5 "the session is served by what its lock says" lives "$id"
check "the twin stays as it is" same "$W/twin" "$(beacon sessions)/$id"
finish
