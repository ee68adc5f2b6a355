#!/bin/bash
# t0250-registry.sh: a row that cannot be read, a shell that holds the file, a damaged page: each is told, and ends no lease.
# Functions are called by their names.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
world user
short_times
daemon || finish

# lease FILE: one with a process of its own, whose pid is then in $W/FILE.
lease() {
	k create -- sh -c "echo \$\$ >$W/$1; exec sleep 300"
	until_true 5 test -s "$W/$1"
}
told() { [ "$(grep -c "$1" "$W/daemon.log")" = "$2" ]; }

# One row of somebody's making.
a=$(lease a) b=$(lease b)
crash
raw "UPDATE lease SET state = 'asleep' WHERE id = '$a'"
daemon || finish
check "a row that cannot be read does not keep the daemon from starting" runs "$D"
check "it is named, with its column, once" told "$a (state: " 1
within 2 "klease list says that there is one" sh -c "klease list 2>&1 >/dev/null | grep -q 'degraded: leases cannot be read in the registry'"
within 8 "the other lease is judged, and ends by its silence" gone "$(cat "$W/b")"
within 3 "with one end" one_end "$b"
check "the one without a row to read keeps its process" runs "$(cat "$W/a")"
check "and its lock" present "$a"
check "and its state file" test -e "$(beacon state)/$a"
check "its row is as it was" test "$(raw "SELECT state FROM lease WHERE id = '$a'")" = asleep
sleeper
claim "$a" "$P" | put queue "$(lock "$a")"
stays 2 "its id is not free for another" test "$(raw "SELECT count(*) FROM ledger WHERE id = '$a' AND to_state = 'requested'")" = 1
rm "$NOTICES/queue/$(lock "$a")"
# The same where not even the id can be told.
crash
raw "UPDATE lease SET id = id || ' ' WHERE id = '$a'"
daemon || finish
stays 1 "with its id damaged as well the lock stays" present "$a"
check "and the process" runs "$(cat "$W/a")"
check "others are served" k run -- true
crash
raw "UPDATE lease SET id = trim(id), state = 'active' WHERE id LIKE '$a%'"
daemon || finish
check "once mended klease list says nothing of it" sh -c "! klease list 2>&1 >/dev/null | grep degraded"
within 8 "once mended it is judged again, and ends by its silence" gone "$(cat "$W/a")"
within 3 "with one end" one_end "$a"

# A shell with an open transaction.
c=$(lease c)
exec 7> >(exec sqlite3 "$(beacon db)")
starts $!
echo "BEGIN IMMEDIATE;" >&7
within 10 "who holds the file for writing is told of" told "somebody else holds it for writing" 1
stays 3 "no lock is taken meanwhile" present "$c"
check "and nothing ends" runs "$(cat "$W/c")"
check "the daemon waits" runs "$D"
echo "COMMIT;" >&7
within 5 "then it goes on" told "waited for it for" 1
exec 7>&-
within 8 "and the silent lease ends" gone "$(cat "$W/c")"
within 3 "with one end" one_end "$c"

# A damaged page.
d=$(lease d)
crash
raw "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
cp "$(beacon db)" "$W/good.db"
page=$(raw "SELECT rootpage FROM sqlite_schema WHERE name = 'lease'")
head -c 4096 /dev/zero | tr '\0' '\245' | dd of="$(beacon db)" bs=4096 seek=$((page - 1)) conv=notrunc 2>/dev/null
fails "a damaged registry is refused" 1 timeout 10 leasewatch "${mode_args[@]}" --foreground
check "with what it is, and where to read on" said "lease.db.*damaged.*runbook"
check "nothing is ended for it" runs "$(cat "$W/d")"
# As the runbook says, of a file that has lost an index.
cp "$W/good.db" "$(beacon db)"
page=$(raw "SELECT rootpage FROM sqlite_schema WHERE name = 'ledger_generation'")
head -c 4096 /dev/zero | tr '\0' '\245' | dd of="$(beacon db)" bs=4096 seek=$((page - 1)) conv=notrunc 2>/dev/null
fails "so is one whose index is" 1 timeout 10 leasewatch "${mode_args[@]}" --foreground
raw .dump 2>/dev/null | sed 's/^ROLLBACK;.*/COMMIT;/' | sqlite3 "$W/recovered.db"
sqlite3 "$W/recovered.db" "PRAGMA application_id = $(raw 'PRAGMA application_id'); PRAGMA user_version = $(raw 'PRAGMA user_version')"
rm -f "$(beacon db)" "$(beacon db)-wal" "$(beacon db)-shm"
(umask 077; cp "$W/recovered.db" "$(beacon db)")
chmod 600 "$(beacon db)"
daemon || finish
within 8 "recovered as the runbook says, all goes on" gone "$(cat "$W/d")"
within 3 "with one end" one_end "$d"
check "and nothing of the ledger is lost" test "$(raw 'SELECT count(*) FROM ledger')" -gt "$(sqlite3 "$W/good.db" 'SELECT count(*) FROM ledger')"
finish
