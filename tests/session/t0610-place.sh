#!/bin/bash
# t0610-place.sh: folders and trees that are moved, removed, mounted over and unmounted while leases live: nobody ends by a silence that
# could not be heard, the log says what is wrong, and what comes back is found. The mounts are in a namespace of this test.
# Functions are called by their names.
# shellcheck disable=SC2317
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" = 0 ]; then world system; else world user; fi
conf <<-C
	[defaults]
	ttl = 1s
	renew_grace = 5s
	hibernate_after = never
	warn_before = 500ms
C
lines() { grep -c -- "$1" "$W/daemon.log"; }
says() { [ "$(lines "$1")" = "$2" ]; }
list_says() { k list 2>&1 >/dev/null | grep -q -- "$1"; }
# by_hand FOLDER: makes a request there, for a process of its own; its id in `made`.
by_hand() {
	sleeper
	made=$(new_id)
	claim "$made" "$P" | put "$1" "lock-cli-me-$made"
}
still() { runs "$1" && ! grep -q "$2.*-> expired" "$W/daemon.log"; }
daemon || finish

# The tree as a whole, for longer than the ttl.
by_hand queue
id=$made
within 3 "a lease is active" is "$id" active
mv "$NOTICES" "$W/away"
within 2 "a tree that was moved is noticed" says 'degraded: .*was moved, removed or mounted over: no lease ends by silence' 1
check "the daemon waits for it" runs "$D"
stays 2 "... for longer than the ttl nobody ends by silence" still "$P" "$id"
mv "$W/away" "$NOTICES"
within 3 "put back, it is found" says 'no longer degraded: .*was moved' 1
check "... and so is the lease" lives "$id"
by_hand queue
within 1 "... and events come again" is "$made" active
within 12 "silence ends a lease again, one renew_grace later" is "$id" reaped
daemon_stop
if [ "$MODE" = user ]; then
	skip "trees that are mounted and unmounted" "needs root"
	finish
fi

# Mounted over, as a whole and in part: mount(2) tells of it, so nothing has to be due.
: >"$W/daemon.log"
daemon || finish
by_hand queue
id=$made
within 3 "a lease is active, again" is "$id" active
mount -t tmpfs lease-test "$NOTICES"
within 1 "a tree that is mounted over is noticed at once" says 'degraded: .*was moved, removed or mounted over' 1
stays 2 "... for longer than the ttl nobody ends by silence" still "$P" "$id"
umount "$NOTICES"
within 2 "unmounted, what was below is found" says 'no longer degraded: .*was moved' 1
check "... and so is the lease" lives "$id"
touch -c "$NOTICES/active/$(lock "$id")"
mount -t tmpfs -o mode=1777,uid=nobody lease-test "$NOTICES/active"
within 1 "so is a folder that is mounted over" says 'degraded: .*active: is on another file system' 1
stays 2 "... and nobody ends by silence" still "$P" "$id"
umount "$NOTICES/active"
within 2 "... until it is unmounted" says 'no longer degraded: .*active' 1
by_hand queue
within 2 "... and requests are admitted" is "$made" active
k release "$id" && k release "$made"
daemon_stop

# A tree that is a file system of its own, taken away under its daemon (umount -l) and mounted again.
: >"$W/daemon.log"
mv "$NOTICES" "$W/old"
mkdir "$NOTICES" "$W/other"
mount -t tmpfs -o mode=755,uid=nobody lease-test "$NOTICES"
mount --bind "$NOTICES" "$W/other"
daemon || finish
by_hand queue
id=$made
within 3 "on a file system of its own a lease is active" is "$id" active
umount -l "$NOTICES"
within 1 "a tree that is unmounted lazily is noticed at once" says 'degraded: .*was moved, removed or mounted over' 1
stays 2 "... for longer than the ttl nobody ends by silence" still "$P" "$id"
mount --bind "$W/other" "$NOTICES"
within 2 "mounted again, it is found" says 'no longer degraded: .*was moved' 1
check "... and so is the lease" lives "$id"
umount -l "$NOTICES"
within 12 "gone for good, its daemon ends" gone "$D"
check "... and says why" grep -q 'has not come back: ending' "$W/daemon.log"
check "... and ends nobody" runs "$P"
mount -t tmpfs -o mode=755,uid=nobody lease-test "$NOTICES"
daemon || finish
by_hand queue
within 2 "the next one serves the tree that is there now" is "$made" active
within 12 "what lost its lock with the old one ends by its ttl" is "$id" reaped
k release "$made"
daemon_stop
umount "$W/other"
umount "$NOTICES"
finish
