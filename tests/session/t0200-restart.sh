#!/bin/bash
# t0200-restart.sh: the daemon may be killed and started at any time: no lease notices, and silence gains one grace at most.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 3s
	renew_grace = 700ms
	hibernate_after = 500ms
	warn_before = 300ms
	[observe]
	every = 100ms
	cpu_floor = 20%
	[surface doze]
	ttl = 1m
	hibernate_after = never
C
daemon || finish
A=$NOTICES/active
now() { date +%s%N; }

check "the daemon is two processes" test -n "$(watcher_of "$D")"
# D10, C03: held while it is down.
klease run -- sh -c "echo \$\$ >$W/held; exec sleep 300" &
starts $!
until_true 5 test -s "$W/held"
held=$(cat "$W/held") hid=$(lock cli | grep -o 'kls-.*')
id=$(k create -- sh -c "echo \$\$ >$W/beaten; exec sleep 300")
until_true 5 test -s "$W/beaten"
beaten=$(cat "$W/beaten") L=$(lock "$id")
crash
for _ in 1 2 3 4 5 6 7 8 9; do touch -c "$A/$L"; sleep 0.4; done
daemon || finish
check "beaten while the daemon was down longer than its ttl, a lease is active" is "$id" active
check "its process runs" runs "$beaten"
check "and a run's as well (C03, D10)" runs "$held"
check "which was never anything but active" lived "$hid" "requested admitted active"
# Down while silence goes on: downtime is not charged to holders, but for one grace and no more.
crash
sleep 0.5
daemon || finish
t0=$(now)
within 6 "silent from then on, it is reaped" gone "$beaten"
t=$((($(now) - t0) / 1000000))
if [ $t -le 5500 ]; then ok "within ttl and one grace ($t ms)"; else no "within ttl and one grace" "$t ms"; fi

# D10: what is idle stays idle, and what is warned of nothing stays so.
id=$(k create --surface doze -- sleep 300)
within 4 "one is idle" is "$id" idle
crash
daemon || finish
sleep 0.5
check "a restart wakes nothing that is idle (D10)" lived "$id" "requested admitted active idle"
check "and takes its CPU for readable" sh -c "! grep -q 'cannot be read' $W/daemon.log"

# C01: twenty restarts in a row.
id=$(k create -- sh -c "echo \$\$ >$W/p; exec sleep 300")
until_true 5 test -s "$W/p"
P=$(cat "$W/p")
t0=$(now)
for _ in $(seq 20); do
	crash
	daemon || finish
	runs "$P" || break
	sleep 0.15
done
within 5 "twenty restarts in a row keep no silent lease alive (C01)" gone "$P"
t=$((($(now) - t0) / 1000000))
if [ $t -le 8000 ]; then ok "they gave it one grace at most ($t ms)"; else no "they gave it one grace at most" "$t ms for ttl 3000 and grace 700"; fi
within 3 "it has one end" one_end "$id"
check "the run is still held" runs "$held"

# One of the two.
w=$(watcher_of "$D")
kill -KILL "$w"
within 5 "without its watcher the actor ends, for its supervisor to see" gone "$D"
wait "$D"
rc=$?
if [ $rc != 0 ]; then ok "and not with success ($rc)"; else no "and not with success" "exit 0"; fi
D=''
check "the run's process lives" runs "$held"
daemon || finish
check "and is known again" is "$hid" active
w=$(watcher_of "$D")
crash
within 5 "without its actor the watcher ends" gone "$w"
daemon || finish
check "the run is active" is "$hid" active
kill -STOP "$D"
kill -STOP "$(watcher_of "$D")"
stays 4 "with the daemon stopped, what is held runs on" runs "$held"
kill -CONT "$(watcher_of "$D")"
kill -CONT "$D"
id=$(k create -- sleep 300)
check "a daemon that was stopped goes on" lives "$id"
check "and has reaped nothing that is held" runs "$held"

# Two daemons.
fails "a second daemon on the tree is refused" 1 timeout 10 leasewatch "${mode_args[@]}" --foreground
check "and says why" said "already|another|other"
check "the first goes on" k run -- true

# SIGTERM ends the daemon and no workload.
w=$(watcher_of "$D")
kill -TERM "$D"
wait "$D"
rc=$?
D=''
if [ $rc = 0 ]; then ok "SIGTERM ends it with 0"; else no "SIGTERM ends it with 0" "$rc"; fi
check "both of it" gone "$w"
check "and no workload" runs "$held"
# D15, B17: no daemon.
fails "klease create without a daemon is 75" 75 k create -- true
fails "klease run as well, and nothing runs (B17)" 75 k run -- touch "$W/ran"
check "… really nothing" test ! -e "$W/ran"
fails "with --no-daemon-ok it runs the command" 7 k run --no-daemon-ok -- sh -c 'exit 7'
fails "klease wait is 75" 75 k wait "$hid" active
fails "klease exec is 75" 75 k exec "$hid" -- true
fails "klease hold is 75" 75 k hold
fails "klease list shows what lies there, and says so with 75" 75 k list
check "… it does show it" sh -c "klease list --json 2>/dev/null | grep -q $hid"
t0=$(now)
k list >/dev/null 2>&1
k create -- true >/dev/null 2>&1
t=$((($(now) - t0) / 1000000))
if [ $t -lt 1500 ]; then ok "no command waits for a daemon that is not there (D15, $t ms)"; else no "no command waits for a daemon that is not there" "$t ms"; fi
mv "$A/$(lock "$hid")" "$NOTICES/archive/"
daemon || finish
within 4 "what was released while nobody looked is reaped at the next start" gone "$held"
check "as released" sh -c "klease ledger --json --lease $hid | jq -r .why | grep -q released"
within 4 "with one end" one_end "$hid"

# A process that died while nobody looked.
id=$(k create -- sh -c "echo \$\$ >$W/q; exec sleep 300")
until_true 5 test -s "$W/q"
crash
kill -KILL "$(cat "$W/q")"
daemon || finish
within 4 "a process that died meanwhile ends its lease" absent "$id"
within 3 "with one end" one_end "$id"
# A run that died while nobody looked.
rm -f "$W/held"
klease run -- sh -c "echo \$\$ >$W/held; exec sleep 300" &
h=$!
until_true 5 test -s "$W/held"
hid=$(lock cli | grep -o 'kls-.*')
crash
kill -KILL "$h"
daemon || finish
within 6 "a run whose klease died meanwhile is reaped" gone "$(cat "$W/held")"
# Made while nobody looked.
crash
sleeper
id=$(new_id)
claim "$id" "$P" | sed "s,^surface=.*,surface=doze," | put queue "lock-cli-me-$id"
daemon || finish
within 4 "a request made while the daemon was down is admitted at its start" is "$id" active
# E06: the folder is exchanged under it.
mv "$A" "$NOTICES/old"
mkdir -m 700 "$A"
sleep 0.5
check "active/ moved away: nothing is reaped at once (E06)" runs "$P"
check "and the log says so" sh -c "grep -Eiq 'active|anew|moved|folder' $W/daemon.log"
if runs "$D"; then
	mv "$NOTICES/old/"lock-* "$A/" 2>/dev/null
	rmdir "$NOTICES/old"
	touch -c "$A/lock-cli-me-$id"
	within 4 "put into the new folder, its lock is found again" is "$id" active
fi
finish
