#!/bin/bash
# t0220-settings.sh: --check, SIGHUP with a good and a bad file, and trees that the daemon refuses to serve.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
good() { printf '[defaults]\nttl = %s\nrenew_grace = 500ms\nhibernate_after = never\n' "$1" >"$CONF"; }
good 30s
check "--check of a good file" leasewatch --user --config "$CONF" --check
check "… says so" sh -c "leasewatch --user --config $CONF --check | grep -qx 'configuration OK'"
check "… starts nothing" test ! -e "$NOTICES"
printf '[defaults]\nttl = 5\nttll = 3m\n[nonsense]\nx = 1\n' >"$W/bad"
chmod 644 "$W/bad"
fails "--check of a bad one is 1" 1 leasewatch --user --config "$W/bad" --check
check "… with file and line" said 'bad:2: '
check "… of every error at once" said 'bad:3: .*ttll'
check "… and section" said 'bad:4: '
check "… and what would be right" said "nearest is 'ttl'"
fails "a file that is named and not there is 1" 1 leasewatch --user --config "$W/none" --check
fails "a daemon does not start with a bad file" 1 timeout 10 leasewatch --user --config "$W/bad" --foreground
check "… and makes no tree" test ! -e "$NOTICES"
cp "$W/bad" "$W/open" && chmod 666 "$W/open"
fails "a file that everybody can write is refused" 1 leasewatch --user --config "$W/open" --check

daemon || finish
id=$(k create -- sleep 300)
check "a lease has the file's ttl" word_has "$id" ttl '^30s'
good 40s
kill -HUP "$D"
within 4 "SIGHUP: the new file holds for what lives" word_has "$id" ttl '^40s'
check "the log says so" grep -q 'configuration reloaded' "$W/daemon.log"
cp "$W/bad" "$CONF"
kill -HUP "$D"
within 4 "SIGHUP with a bad file: its lines are in the log" grep -q 'leasewatch.conf:2: ' "$W/daemon.log"
check "… all of them" grep -q 'leasewatch.conf:4: ' "$W/daemon.log"
within 2 "… and that the old settings stay" grep -qi 'old settings stay' "$W/daemon.log"
check "which they do" word_has "$(k create -- sleep 300)" ttl '^40s'
check "the daemon lives" runs "$D"
rm "$CONF"
kill -HUP "$D"
within 3 "SIGHUP without the file: the old settings stay as well" sh -c "[ \$(grep -ci 'old settings stay' $W/daemon.log) = 2 ]"
stays 2 "a lease of 40 s stands" lives "$id"
good 1s # shorter than it has been silent (D12)
kill -HUP "$D"
within 3 "a file that would end live leases now says how many (D12)" grep -Eq 'would have ended [0-9]+ live' "$W/daemon.log"
check "and ends none at once" sh -c "klease show $id --json | jq -r .state | grep -Eqx 'active|idle'"
within 4 "but each after a fresh full period" is "$id" reaped
# A lifetime without an end is none that is over.
said_before=$(grep -c 'would have ended' "$W/daemon.log")
good 30s
kill -HUP "$D"
id=$(k create -- sleep 300)
printf 'max_lifetime = never\n' >>"$CONF"
kill -HUP "$D"
within 3 "max_lifetime = never is taken" sh -c "[ \$(grep -c 'configuration reloaded' $W/daemon.log) = 4 ]"
check "… and ends nothing" test "$said_before" = "$(grep -c 'would have ended' "$W/daemon.log")"
k release "$id"
good 30s
kill -HUP "$D"
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -HUP "$D"; done
check "ten SIGHUPs at once harm nothing" k run -- true
printf '[admission]\nquota_leases = 2\n' >>"$CONF"
kill -HUP "$D"
within 3 "a quota that is made smaller counts for new requests" sh -c "klease create -- sleep 300; klease create -- sleep 300; klease create -- sleep 300 2>&1 | grep -q 'quota_leases is 2'"
rc=0
k create -- sleep 300 2>/dev/null || rc=$?
if [ $rc = 4 ]; then ok "and is a refusal (4)"; else no "and is a refusal (4)" "exit $rc"; fi
daemon_stop
# In the background it stands in /, and reads the same file again.
good 30s
(cd "$W" && exec leasewatch --user --config "${CONF##*/}")
D=$(sed -n 's/^pid=//p' "$NOTICES/.leasewatch")
D=$(ps -o ppid= -p "${D:-0}" | tr -d ' ')
starts "${D:-0}"
id=$(k create -- sleep 300)
good 20s
kill -HUP "$D"
within 3 "a daemon in the background reads a relative --config again" word_has "$id" ttl '^20s'
k release "$id"
daemon_stop

# Folders that are moved away under it.
good 30s
daemon || finish
id=$(k create -- sleep 300)
mv "$NOTICES/queue" "$W/queue.away"
within 3 "a queue/ that was moved away is made anew" test -d "$NOTICES/queue"
check "… and watched" k create -- sleep 300
mv "$NOTICES/active" "$W/active.away"
within 3 "so is active/" test -d "$NOTICES/active"
within 3 "what stood in it has lost its lock" grep -q "$id.*lock lost" "$W/daemon.log"
mv "$W/active.away/"lock-* "$NOTICES/active/"
within 3 "put back, it is found again" grep -q "$id.*its lock is back" "$W/daemon.log"
rm -rf "$NOTICES/archive"
within 3 "one that was removed is made anew as well" test -d "$NOTICES/archive"
rm -rf "$NOTICES/queue"
within 3 "so is queue/" test -d "$NOTICES/queue"
check "… and watched" k create --wait=5s -- sleep 300
mv "$NOTICES" "$W/notices.away"
within 3 "moved away as a whole, the tree is served no more" gone "$D"
check "… which the log says" grep -q 'notices: was moved, removed or mounted over, and has not come back: ending' "$W/daemon.log"
mv "$W/notices.away" "$NOTICES"
daemon && check "put back, it is served again" lives "$id"
daemon_stop

# A lock that cannot be moved holds up its own lease alone, and is tried again.
good 1s
daemon || finish
held=$(k create -- sleep 300)
waits() { grep -c "$1.*its lock cannot be moved" "$W/daemon.log"; }
until_true 3 is "$held" active
chmod 500 "$NOTICES/active"
asked=$(k create -- sleep 300)
stays 3 "a request whose lock cannot be moved waits" is "$asked" requested
check "… and is tried again a second later" test "$(waits "$asked")" -ge 2 -a "$(waits "$asked")" -le 5
check "so does one whose ttl is over" test "$(waits "$held")" -ge 1 -a "$(waits "$held")" -le 3
chmod 700 "$NOTICES/active"
within 3 "the request is admitted once it can be" lived "$asked" "requested admitted active"
within 3 "and the other one is reaped" is "$held" reaped
daemon_stop
# Denied in the same turn, nine others take nobody's place.
good 30s
printf '[admission]\nquota_leases = 8\n' >>"$CONF"
sleeper
for _ in 1 2 3 4 5 6 7 8 9; do
	bad=$(new_id)
	claim "$bad" "$P" profile=none | put queue "lock-cli-me-$bad"
done
id=$(new_id)
claim "$id" "$P" | put queue "lock-cli-me-$id"
daemon || finish
within 4 "what is refused takes no place of a quota" is "$id" active
daemon_stop

# Trees.
refused() { # refused NAME REGEX [OPTION…]
	local name=$1 regex=$2
	shift 2
	fails "$name is refused" 1 timeout 10 leasewatch --user --config "$CONF" --foreground "$@"
	check "… and says why" said "$regex"
}
good 30s
mkdir "$W/other" && ln -s "$W/other" "$W/link"
mv "$NOTICES/active" "$W/elsewhere" && ln -s "$W/elsewhere" "$NOTICES/active"
before=$(ls -la "$W/elsewhere")
refused "active/ replaced by a link" 'active'
check "… what it points to is as it was" test "$before" = "$(ls -la "$W/elsewhere")"
rm "$NOTICES/active" && : >"$NOTICES/active"
refused "active/ replaced by a file" 'active'
rm "$NOTICES/active" && mv "$W/elsewhere" "$NOTICES/active"
chmod 755 "$NOTICES/queue"
leasewatch "${mode_args[@]}" --foreground >>"$W/daemon.log" 2>&1 &
D=$!
until_true 3 k list
check "the mode of a folder that is there is never changed (F12)" test "$(stat -c %a "$NOTICES/queue")" = 755
daemon_stop
chmod 700 "$NOTICES/queue"
if [ "$(id -u)" != 0 ]; then fails "system mode without root" 1 timeout 5 leasewatch --foreground; fi
check "… which says what to do" said '--user'
daemon && check "put right, it starts again" k run -- true
finish
