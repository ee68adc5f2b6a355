#!/bin/bash
# t0120-klease.sh: every command of klease: its exit status, its help, its tables and its JSON.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 30s
	renew_grace = 10s
	hibernate_after = never
	[surface nap]
	ttl = 3s
	renew_grace = 500ms
	hibernate_after = 200ms
	[profile capped]
	max_ttl = 2s
	[observe]
	every = 100ms
	cpu_floor = 20%
C
commands="create run exec renew release list show wait events ledger init hold"

# Before there is a daemon, or a tree.
for c in "create -- true" "run -- true" "exec kls-aaaaaaaaaa -- true" "wait kls-aaaaaaaaaa active" events hold; do
	# shellcheck disable=SC2086
	fails "no daemon: klease ${c%% *} is 75" 75 k $c
	check "… and says how to start one" said 'leasewatch --user'
done
for c in $commands; do
	check "klease $c --help exits 0" k "$c" --help
	check "… and has a usage and its options" sh -c "klease $c --help | grep -q '^usage: klease $c' && klease $c --help | grep -q -- --help"
	fails "klease $c --nonsense is a usage error" 2 k "$c" --nonsense
	check "… that names the option" said nonsense
done
check "klease --help names all commands" sh -c "for c in $commands; do klease --help | grep -q \"^  \$c \" || exit 1; done"
check "klease help create is its help" sh -c "klease help create | grep -q '^usage: klease create'"
check "klease --version" sh -c "klease --version | grep -Eq '[0-9]\.[0-9]'"
check "leasewatch --version" sh -c "leasewatch --version | grep -Eq '[0-9]\.[0-9]'"
check "leasewatch --help" sh -c "leasewatch --help | grep -q -- --check"
fails "klease alone is a usage error" 2 k
fails "an unknown command is a usage error" 2 k creat
fails "an unknown option of leasewatch's as well" 2 leasewatch --nonsense
check "klease init --dry-run says and does nothing" sh -c "klease init --dry-run; ! ls $NOTICES 2>/dev/null | grep ."

daemon || finish

# Usage: 2, and nothing changes.
usage() { fails "usage: klease $*" 2 k "$@"; }
usage create --ttl 0s
usage create --ttl 5
usage create --ttl
usage create --ttl -5m
usage create --ttl never
usage create --ttl 100000d -- true
usage create --priority 10 -- true
usage create --priority x -- true
usage create --label novalue -- true
usage create --label "=x" -- true
usage create --session x -- true
usage create --usage sometimes -- true
usage create --surface 'a b' -- true
usage create --profile 'a/b' -- true
usage create --leader 0 -- true
usage create --leader 999999999 -- true
usage create --wait=x -- true
usage run
usage run --
usage exec kls-aaaaaaaaaa
usage exec nonsense -- true
usage renew
usage renew nonsense
usage renew kls-aaaaaaaaaa kls-aaaaaaaaab
usage renew kls-aaaaaaaaaa --ttl 0s
usage renew ../../etc/passwd
usage release KLS-AAAAAAAAAA
usage show kls-aaaaaaaaa1
usage wait kls-aaaaaaaaaa
usage wait kls-aaaaaaaaaa asleep
usage wait kls-aaaaaaaaaa active --timeout 0s
usage list x
usage ledger --limit 0
usage ledger --since x
usage hold --for 0s
usage hold --for x
check "nothing has come of all these" sh -c "[ \"\$(klease list --all --json)\" = '[]' ] && [ -z \"\$(klease ledger --json)\" ]"

# create
id=$(k create --ttl 1m --priority 7 --label project=kruze --label keep=no --surface ci -- sh -c 'echo $KLEASE_ID $KLEASE_LOCK >'"$W/env"'; exec sleep 300')
check "create prints the id and nothing else" sh -c "printf %s '$id' | grep -Eqx 'kls-[a-z2-7]{10}'"
within 5 "its command starts" test -s "$W/env"
check "the lock is named by surface, user and id" sh -c "ls $NOTICES/active | grep -Eqx 'lock-ci-nobody-$id'"
check "show has what was asked for" sh -c "klease show $id --json | jq -e '.id == \"$id\" and .surface == \"ci\" and .priority == 7 and .state == \"active\" and .generation >= 1'"
check "… its labels" sh -c "klease show $id --json | jq -e '.labels | tostring | test(\"kruze\") and test(\"keep\")'"
check "… its ttl" sh -c "klease show $id --json | jq -e '.ttl | tostring | test(\"^(1m|60s|60000)\")'"
check "show for people names it" sh -c "klease show $id | grep -q kruze"
fails "a priority above the cap is refused (4)" 4 k create --priority 9 -- true
check "… with the cap" said 7
fails "a profile that is none is refused (4)" 4 k create --profile none -- true
check "… by its name" said none
fails "a create without a command is refused for the process runtime (4)" 4 k create
c=$(k create --profile capped --ttl 1h -- sleep 300)
check "a ttl above max_ttl is capped" word_has "$c" ttl '^2s'
fails "a command that is not there is 127" 127 k create -- /nonexistent/command
fails "one that cannot be run is 126" 126 k create -- /etc/passwd
check "create --json prints the lease" sh -c "klease create --json -- sleep 300 | jq -e '.id and .state'"
check "create --wait prints the id once it is active" sh -c "i=\$(klease create --wait -- sleep 300) && klease show \$i --json | jq -e '.state == \"active\"'"
check "create --wait=5s as well" sh -c "klease create --wait=5s -- sleep 300 | grep -q kls-"
many=$(for i in $(seq 16); do printf -- '--label k%d=v ' "$i"; done)
# shellcheck disable=SC2086
check "sixteen labels are taken" k create $many -- sleep 300
# shellcheck disable=SC2086
fails "a seventeenth is a usage error" 2 k create $many --label l=v -- sleep 300

# renew
check "renew says what is left" sh -c "klease renew $id | grep -Eq '^renewed, [0-9.]+ ?(ms|s|m|h) left'"
check "renew --ttl changes the ttl" k renew "$id" --ttl 2h
check "… for good" word_has "$id" ttl '^2h'
check "renew --ttl above max_ttl" k renew "$c" --ttl 1h
check "… is capped by it" word_has "$c" ttl '^2s'
fails "renew of an unknown id is 3" 3 k renew kls-aaaaaaaaaa
check "… lease lost: do not write" said 'lost'

# list
check "list shows it" sh -c "klease list | grep -q '^$id '"
check "list --json is an array of leases" sh -c "klease list --json | jq -e 'type == \"array\" and length >= 3 and all(.[]; .id and .state and .surface)'"
check "list --mine too" sh -c "klease list --mine --json | jq -e 'length >= 3'"
check "list of another user's is empty" sh -c "[ \"\$(klease list --user root --json)\" = '[]' ]"

# show of what is not
fails "show of an unknown id is 3" 3 k show kls-aaaaaaaaaa

# release
check "release ends it" k release "$id"
within 5 "… reaped" is "$id" reaped
fails "release again is 3" 3 k release "$id"
fails "renew of what is over is 3" 3 k renew "$id"
fails "exec in it is 3" 3 k exec "$id" -- true
check "show tells how it ended" sh -c "klease show $id | grep -qi released"
check "list has it no more" sh -c "! klease list | grep -q $id"
check "list --all has" sh -c "klease list --all | grep -q $id"
fails "release of an unknown id is 3" 3 k release kls-aaaaaaaaaa

# wait and events
timeout 20 klease events --json >"$W/events" &
starts $!
timeout 20 klease events >"$W/events.txt" &
starts $!
sleep 0.3
n=$(k create --surface nap -- sleep 300)
check "wait active" k wait "$n" active --timeout 5s
check "wait hibernated" k wait "$n" hibernated --timeout 5s
fails "wait with a timeout is 5" 5 k wait "$n" requested --timeout 200ms
check "exec wakes it, and is inside" sh -c "[ \"\$(klease exec $n -- sh -c 'echo \$KLEASE_ID')\" = $n ]"
check "which shows" sh -c "klease ledger --json --lease $n | jq -r .to | tail -n 3 | grep -q active"
fails "exec gives the command's status" 9 k exec "$n" -- sh -c 'exit 9'
fails "exec of a command that is not there is 127" 127 k exec "$n" -- /nonexistent
fails "exec of one that cannot be run is 126" 126 k exec "$n" -- /etc/passwd
fails "exec killed by a signal is 128 + it" 143 k exec "$n" -- sh -c 'kill -TERM $$'
printf 'in put' | k exec "$n" -- cat >"$W/cat"
check "exec leaves stdin and stdout alone" test "$(cat "$W/cat")" = 'in put'
k exec "$n" -- sleep 4 &
x=$!
stays 3 "an exec longer than the ttl holds the lease" is "$n" active
wait $x
within 3 "after it, it hibernates" is "$n" hibernated
fails "wait for a state that can never come again says lost" 3 sh -c "klease release $n && klease wait $n active --timeout 5s"
check "wait reaped is true when it is over" k wait "$n" reaped --timeout 5s
fails "wait of an unknown id is 3" 3 k wait kls-aaaaaaaaaa active --timeout 2s
within 3 "events has told all of it, a JSON object a line" sh -c "jq -r 'select(.id == \"$n\").to' $W/events | grep -qx reaped"
check "in order" test "$(jq -r "select(.id == \"$n\").to" "$W/events" | head -n 5 | paste -sd ' ')" = "requested admitted active idle hibernated"
check "and for people" grep -q "$n" "$W/events.txt"

# ledger
check "ledger is a table" sh -c "klease ledger | grep -q $n"
check "ledger --json is lines of objects with the fields' names" sh -c "klease ledger --json | jq -es 'length > 10 and all(.[]; .at and .id and .to and has(\"from\") and has(\"why\") and has(\"generation\") and has(\"requester\"))'"
check "ledger --lease is one lease's" sh -c "klease ledger --json --lease $n | jq -es 'length > 5 and all(.[]; .id == \"$n\")'"
check "ledger --limit is the last ones" test "$(k ledger --json --limit 3 | wc -l)" = 3
check "ledger --since" sh -c "[ \"\$(klease ledger --json --since 1h | wc -l)\" -gt 10 ]"
check "ledger of a lease that never was is empty" sh -c "[ -z \"\$(klease ledger --json --lease kls-aaaaaaaaaa)\" ]"
check "the reaped line has its zombie time" sh -c "klease ledger --json --lease $n | jq -e 'select(.to == \"reaped\") | tostring | test(\"zombie\")'"

# hold
check "hold" k hold --for 1m
h=$(k create --surface nap --ttl 800ms -- sleep 300)
stays 2 "under a hold nothing expires" lives "$h"
check "hold --lift" k hold --lift
within 4 "then it does" is "$h" reaped
fails "a hold of more than a week is refused" 4 k hold --for 8d

# The other name.
K=$PREFIX/bin/kbox-lease
check "kbox-lease is installed" test -x "$K"
b=$("$K" create -- sleep 300)
check "kbox-lease create" sh -c "printf %s '$b' | grep -q kls-"
check "kbox-lease renew" "$K" renew "$b"
check "kbox-lease list" sh -c "'$K' list | grep -q $b"
check "kbox-lease release" "$K" release "$b"
fails "kbox-lease has nothing else" 2 "$K" show "$b"
check "a sentence of JSON to a full disk is a failure, not success" sh -c "! klease list --json >/dev/full"
finish
