#!/bin/sh
# create renew release list show wait events ledger init hold, by exit status and by what they print.
. "${srcdir:-.}/tests/unit/klease/lib.sh"

fails "list without a tree is 75" 75 k list
says "and says how to start a daemon" "leasewatch --user"
touch "$W/file"
fails "a tree that is none is said to be none" 1 k --notices "$W/file" list
says "and why" "Not a directory"
standin

# create
id=$(k create -- sh -c 'echo $$ >'"$W"'/pid; exec sleep 300')
check "create prints the id alone" sh -c "printf %s '$id' | grep -Eqx 'kls-[a-z2-7]{10}'"
within "its command runs" test -s "$W/pid"
P=$(cat "$W/pid")
check "away from our terminal" test "$(ps -o tty= -p "$P" | tr -d ' ')" = "?"
check "with nothing of ours open" test "$(readlink "/proc/$P/fd/1")" = /dev/null
check "the lock's name says where from and whose" sh -c "ls '$A' | grep -Eqx 'lock-cli-[^-]+-$id'"
check "the lock is 0644" test "$(stat -c %a "$A/$(only_lock "$A")")" = 644
fails "a denied create is 4" 4 k create --label test=deny
says "with the numbers" "3 of 3"
check "and prints no id" test ! -s "$W/out"
fails "a command that is not there is told at once: 127" 127 k create -- "$W/none"
fails "--wait gives up after its time: 5" 5 k create --label test=wait --wait=50ms
check "nothing is left in the queue" test -z "$(only_lock "$KLEASE_NOTICES/queue")"
check "--wait returns once it is active" sh -c "test \"\$('$top/klease/klease' --user show \$('$top/klease/klease' --user create --wait) --json | jq -r .state)\" = active"
k release "$(k list --json | jq -r ".[] | select(.id != \"$id\").id")"
k create --json --label project=kruze --label "note=two words" --priority 7 --ttl 2h --session kls-aaaaaaaaaa --surface ci >"$W/out"
check "create --json says what was asked" jq -e '.labels == {"project": "kruze", "note": "two words"} and .priority == 7 and .ttl == 7200000 and .session == "kls-aaaaaaaaaa" and .surface == "ci"' "$W/out"
k release "$(jq -r .id "$W/out")"
KLEASE_SESSION=kls-bbbbbbbbbb k create --json >"$W/out"
check "KLEASE_SESSION binds" jq -e '.session == "kls-bbbbbbbbbb"' "$W/out"
k release "$(jq -r .id "$W/out")"
KLEASE_SESSION=../x k create --json >"$W/out" 2>"$W/err"
check "one that is no id is not used" jq -e '.session == null' "$W/out"
says "and said to be so" "is no lease's id"
k release "$(jq -r .id "$W/out")"

# bad words: exit 2, and nothing in the tree
before=$(find "$KLEASE_NOTICES" | wc -l)
for bad in '--ttl 0s' '--ttl 5' '--ttl never' '--ttl -5m' '--priority 10' '--priority x' '--label nothing' '--session x' '--usage sometimes' \
	'--surface a/b' '--profile ../x' '--leader 0' '--leader 4194304999' '--linger 1y' '--wait=x' '--nonsense' '--json=yes' '--ttl'; do
	# shellcheck disable=SC2086
	fails "create $bad is a usage error" 2 k create $bad
done
for bad in 'renew ../../etc/passwd' 'renew' 'show kls-AAAAAAAAAA' "renew $id extra" "wait $id dead" 'wait' "exec $id" 'frobnicate' 'ledger --limit 0' \
	'ledger --since 0s' 'hold --for 1h --lift' '--nonsense list' 'list --notices'; do
	# shellcheck disable=SC2086
	fails "$bad is a usage error" 2 k $bad
done
check "and changed nothing" test "$(find "$KLEASE_NOTICES" | wc -l)" = "$before"

# renew
m=$(stat -c %y "$A/$(only_lock "$A")")
k renew "$id" >"$W/out"
check "renew says how long" grep -Eqx 'renewed, [0-9]+ (ms|s|m|h) left' "$W/out"
check "and has touched the lock" test "$m" != "$(stat -c %y "$A/$(only_lock "$A")")"
check "the lock's words are as they were" k show "$id"
k renew "$id" --ttl 3h >"$W/out"
check "renew --ttl asks for another one" grep -Eqx 'renewed, (2|3) h left' "$W/out"
fails "renew of an unknown lease is 3" 3 k renew kls-aaaaaaaaaa
says "and says what not to do" "lease lost: do not write"

# looking
k list >"$W/out"
check "list has a line for it" grep -Eq "^$id +active +cli " "$W/out"
check "and a head" grep -Eq '^ID +STATE +SURFACE +USER +AGE +LAST-BEAT +EXPIRES-IN +RUNTIME +WHY' "$W/out"
m=$(stat -c %y "$A/$(only_lock "$A")")
k list --json >"$W/out"
check "looking renews nothing" test "$m" = "$(stat -c %y "$A/$(only_lock "$A")")"
check "list --json is an array of objects with the fields' names" jq -e 'length == 1 and (.[0] | .id and .requester.uid != null and .requester.user and .surface == "cli" and .created_at > 1e12 and .expires_at > 1e12 and .ttl == 10800000 and .state == "active" and .priority == 5 and .generation > 0 and has("last_beat") and has("last_use") and has("linger") and has("usage") and has("renew_grace") and has("labels") and has("why") and has("session") and has("profile") and .runtime == "process")' "$W/out"
check "what is over is shown with --all only" test "$(k list --all --json | jq length)" -gt 1
check "--mine and --user choose" test "$(k list --user nobody-at-all --json | jq length) $(k list --mine --json | jq length)" = "0 1"
check "the last_beat is fresh" sh -c "test \$(($(date +%s%3N) - $(k show "$id" --json | jq .last_beat))) -lt 60000"
k show --json "$id" >"$W/out"
check "show --json has the history" jq -e '[.history[].to][0:3] == ["requested", "admitted", "active"]' "$W/out"
k show "$id" >"$W/out"
check "show prints it for people" grep -q '^requester .*uid' "$W/out"
fails "show of an unknown lease is 3" 3 k show kls-aaaaaaaaaa
ln -s /etc/passwd "$A/lock-x-y-kls-aaaaaaaaab"; mkfifo "$A/lock-x-y-kls-aaaaaaaaac"; mkdir "$A/lock-x-y-kls-aaaaaaaaad"; printf '#' >"$A/lock-x-y-kls-aaaaaaaaaf"
check "rubbish in the tree is no lease, and stops nothing" test "$(k list --json | jq length)" = 1
fails "not even when asked for by name" 3 k show kls-aaaaaaaaac
rm -r "$A"/lock-x-*
printf '#leasewatch 1\nid=kls-ccccccccccc\n' >"$W/state/kls-cccccccccc"
k list >"$W/out" 2>"$W/err"
says "a state file that cannot be read is counted" "1 state files"
rm "$W/state/kls-cccccccccc"

# wait
check "wait is over at once when it is so" k wait "$id" active
fails "wait gives up: 5" 5 k wait "$id" reaped --timeout 50ms
(sleep 0.3; k release "$id") &
check "wait sees it come" k wait "$id" reaped --timeout 10s
fails "wait for what will never come again is 3" 3 k wait "$id" hibernated
fails "renew of what is over is 3" 3 k renew "$id"
fails "release of what is over is 3" 3 k release "$id"
says "with a word" "over already"
within "its command is gone" gone "$P"

# events
"$top/klease/klease" --user events --json >"$W/events" & E=$!
n=0
while [ ! -s "$W/events" ] && [ $n -lt 100 ]; do k run -- true; n=$((n + 1)); done
for _ in 1 2 3 4 5 6 7 8 9 10; do k run --label count=me -- true; done
told() { jq -es 'map(select(.labels.count == "me")) | group_by(.id) | map(map(.to) | join(" ")) | length == 10 and unique == ["requested admitted active expired reaped"]' "$W/events"; }
within "events tells each step of each lease once, in order" told
kill -TERM $E; wait $E
check "and ends quietly" test $? = 0
# shellcheck disable=SC2016
check "events into a closed pipe ends" sh -c '"$1" --user events | true & p=$!; sleep 0.2; "$1" --user run -- true; "$1" --user run -- true; wait $p' sh "$top/klease/klease"

# ledger
sqlite3 "$W/lease.db" "PRAGMA journal_mode=wal; CREATE TABLE ledger (seq INTEGER PRIMARY KEY, at INTEGER, id TEXT, generation INTEGER, from_state TEXT, to_state TEXT, requester INTEGER, user TEXT, surface TEXT, runtime TEXT, profile TEXT, session TEXT, labels TEXT, zombie_ms INTEGER, lateness_ms INTEGER, why TEXT);
INSERT INTO ledger VALUES (1, 1700000000000, 'kls-dddddddddd', 1, '-', 'requested', 1000, 'ann', 'cli', 'process', '', '', 'a=b' || char(10) || 'c=d', -1, -1, 'asked');
INSERT INTO ledger VALUES (2, 1700000001000, 'kls-dddddddddd', 1, 'requested', 'reaped', 1000, 'ann', 'cli', 'process', '', '', '', 12, -1, 'silence');
INSERT INTO ledger VALUES (3, 1700000002000, 'kls-eeeeeeeeee', 2, '-', 'requested', 1001, 'bob', 'ci', 'process', '', '', '', -1, -1, 'asked');" >/dev/null
check "the ledger is printed oldest first" test "$(k ledger --json | jq -r .seq | tr '\n' ' ')" = "1 2 3 "
check "a line has the fields' names" sh -c "'$top/klease/klease' --user ledger --json | head -1 | jq -e '.at == 1700000000000 and .id == \"kls-dddddddddd\" and .from == \"-\" and .to == \"requested\" and .why == \"asked\" and .requester == {\"uid\": 1000, \"user\": \"ann\"} and .generation == 1 and .labels == {\"a\": \"b\", \"c\": \"d\"} and .zombie_ms == null'"
check "--lease, --user, --limit, --since choose" test "$(k ledger --json --lease kls-dddddddddd | wc -l) $(k ledger --json --user bob | wc -l) $(k ledger --json --limit 2 | head -1 | jq .seq) $(k ledger --since 1d --json | wc -l)" = "2 1 2 0"
check "it is a table for people" sh -c "'$top/klease/klease' --user ledger | grep -q 'requested -> reaped.*silence (gone 12 ms after it was last wanted)'"
check "show of a lease whose state file is gone asks the ledger" test "$(state kls-dddddddddd)" = reaped
chmod 0 "$W/lease.db"
if [ "$(id -u)" != 0 ]; then
	k ledger --json >"$W/out" 2>"$W/err"
	says "who may not read it is told" "root's to read"
	check "and gets what state files tell" test -s "$W/out"
fi

# hold
fails "hold is the daemon's to refuse" 4 k hold
says "with its reason" "only root may"

# breaker
fails "the beacon tells of the breaker" 0 k breaker
says "it has not tripped" "^not tripped"
fails "to let it go is the daemon's to refuse" 4 k breaker --release
says "with its reason" "only root may"

# names of others on a terminal
id=$(k create --label "x=$(printf 'a\302\2332Jb')" --surface cli)
k list >"$W/out"
check "a control character in a label does not reach the terminal" sh -c "! LC_ALL=C grep -q \"\$(printf '\\302\\233')\" '$W/out'"
k release "$id"

# no daemon
id=$(k create); within "one more" is "$id" active
stop_standin
fails "list without a daemon prints, and is 75" 75 k list
check "what the files say" grep -q "$id" "$W/out"
fails "create without a daemon is 75" 75 k create
check "renew is a touch: it works" k renew "$id"
check "release is a move: it works" k release "$id"
check "and has moved" sh -c "ls '$KLEASE_NOTICES/archive' | grep -q '$id'"
fails "wait without a daemon is 75" 75 k wait "$id" reaped

# init
check "init --dry-run makes nothing" sh -c "'$top/klease/klease' --user init --dry-run && test ! -e '$XDG_CONFIG_HOME/leasewatch'"
check "init makes the configuration" sh -c "'$top/klease/klease' --user init && test -s '$XDG_CONFIG_HOME/leasewatch/leasewatch.conf'"
echo mine >"$XDG_CONFIG_HOME/leasewatch/leasewatch.conf"
check "and leaves what is there" sh -c "'$top/klease/klease' --user init && grep -qx mine '$XDG_CONFIG_HOME/leasewatch/leasewatch.conf'"

# another name
ln -s "$top/klease/klease" "$W/kbox-lease"
check "kbox-lease has list" sh -c "KLEASE_NOTICES='$KLEASE_NOTICES' '$W/kbox-lease' --user help list"
fails "and only its own four" 2 "$W/kbox-lease" --user run -- true
finish
