#!/bin/bash
# t0630-noise.sh: one who makes more changes than inotify can keep costs nobody a lease, and spares nobody.
# Functions are called by their names.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 3s
	renew_grace = 10s
	warn_before = 100ms
	hibernate_after = never
C
daemon || finish
# by_hand: a request for a process of its own; its id in `made`.
by_hand() {
	sleeper
	made=$(new_id)
	claim "$made" "$P" | put queue "lock-cli-me-$made"
}
late() { raw "SELECT lateness_ms FROM ledger WHERE id = '$1' AND to_state = 'expired'"; }
lines() { grep -c -- "$1" "$W/daemon.log"; }
# Twice as many as a queue holds while the daemon may not read: events are lost for certain. Then on and on.
noise() {
	perl -e 'chdir $ARGV[0] or die; open F, ">", ".noise-$ARGV[1]"; $n = 0;
		while ($ARGV[2] == 0 || $n++ < $ARGV[2]) { rename ".noise-$ARGV[1]", ".esion-$ARGV[1]"; rename ".esion-$ARGV[1]", ".noise-$ARGV[1]" }' \
		"$NOTICES/queue" "$1" "$2"
}
by_hand
silent=$made
by_hand
beaten=$made
within 3 "a lease is active" is "$silent" active
within 3 "so is another" is "$beaten" active
limit=$(cat /proc/sys/fs/inotify/max_queued_events)
watcher=$(watcher_of "$D")
kill -STOP "$watcher"
noise gulp $((limit / 2))
by_hand
mv "$NOTICES/active/$(lock "$beaten")" "$NOTICES/archive/"
kill -CONT "$watcher"
within 2 "a request among lost events is found" is "$made" active
within 2 "so is a release" is "$beaten" reaped
check "the log says that events were lost" test "$(lines 'events were lost')" -ge 1
beaten=$made
noise one 0 &
starts $!
noise two 0 &
starts $!
for _ in 1 2 3 4 5 6 7 8; do
	touch -c "$NOTICES/active/$(lock "$beaten")"
	sleep 0.5
done
within 3 "in noise silence ends a lease" is "$silent" reaped
check "... in its time ($(late "$silent") ms late)" test "$(late "$silent")" -lt 500
check "... and nobody who is beaten" is "$beaten" active
by_hand
within 6 "in noise a request is found" is "$made" active
mv "$NOTICES/active/$(lock "$made")" "$NOTICES/archive/"
within 6 "... and its release" is "$made" reaped
check "the log is not filled" test "$(lines 'events were lost')" -le 6
finish
