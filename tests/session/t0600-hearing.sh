#!/bin/bash
# t0600-hearing.sh: whatever becomes of inotify, what changes in the tree is found, the log says once what is wrong, and silence still ends
# a lease in its time. ear.c is what goes wrong.
# Functions are called by their names.
# shellcheck disable=SC2317
ear=$(cd "$(dirname "$0")" && pwd)/ear.c
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 1s
	hibernate_after = never
	warn_before = 1s
C
mkdir "$W/ear"
if cc -shared -fPIC -O1 -o "$W/ear.so" "$ear" -ldl >"$W/out" 2>&1; then
	export EAR=$W/ear
	deaf_daemon() { LD_PRELOAD=$W/ear.so daemon; }
else
	deaf_daemon() { daemon; }
	EAR=
fi
deaf_daemon || finish
lines() { grep -c -- "$1" "$W/daemon.log"; }
says() { [ "$(lines "$1")" = "$2" ]; }
list_says() { k list 2>&1 >/dev/null | grep -q -- "$1"; }
list_is_silent() { [ -z "$(k list 2>&1 >/dev/null)" ]; }
# by_hand FOLDER: makes a request there, for a process of its own; its id in `made`.
by_hand() {
	sleeper
	made=$(new_id)
	claim "$made" "$P" | put "$1" "lock-cli-me-$made"
}

# More than is read in one turn, in one gulp, and the one that counts is the last of it.
watcher=$(watcher_of "$D")
kill -STOP "$watcher"
(cd "$NOTICES/queue" && seq -f .tmp-%g 600 | xargs touch)
by_hand queue
burst=$made
kill -CONT "$watcher"
within 2 "a request behind 600 other names is read, too" is "$burst" active
rm -f "$NOTICES/queue/".tmp-*
k release "$burst"
check "no canary is left, and nobody has heard of one" sh -c "! find '$NOTICES' -name '.tmp-canary*' | grep . && ! grep canary '$W/daemon.log'"

if [ -z "$EAR" ]; then
	skip "inotify on a bad day" "needs a C compiler: $(head -n 1 "$W/out")"
	finish
fi

# Silence that is none: the daemon finds out by itself, at a wake-up that was due anyway.
by_hand queue
held=$made
within 3 "a lease is active" is "$held" active
touch "$EAR/deaf"
within 5 "a queue that tells nothing is noticed" says 'degraded: inotify is silent' 1
within 1 "... and said to whoever lists" list_says 'degraded: inotify is silent'
check "... and to whoever shows one" sh -c "klease show $held 2>&1 >/dev/null | grep -q 'degraded: inotify is silent'"
check "... and stands in the beacon" sh -c "beacon() { sed -n 's/^degraded=//p' '$NOTICES/.leasewatch'; }; beacon | grep -q 'inotify is silent'"
by_hand queue
id=$made
within 3 "a request is found all the same" is "$id" active
within 4 "it goes idle" is "$id" idle
touch -c "$NOTICES/active/$(lock "$id")"
within 2 "a beat that is waited for is found" is "$id" active
mv "$NOTICES/active/$(lock "$id")" "$NOTICES/archive/"
within 3 "a release is found" is "$id" reaped
by_hand active
id=$made
within 3 "a lock made in active/ is found" is "$id" active
k release "$id"
check "all that is one line" says 'degraded: inotify' 1
rm "$EAR/deaf"
within 9 "when events come again, it is said" says 'no longer degraded: inotify is silent' 1
within 1 "... and the list is silent again" list_is_silent
by_hand queue
id=$made
within 1 "... and requests are seen at once" is "$id" active
k release "$id"

# No watch is left for a single lock.
touch -c "$NOTICES/active/$(lock "$held")"
until_true 2 is "$held" active
touch "$EAR/nowatch"
within 4 "a lease that goes idle without a watch is polled" word_has "$held" degraded 'its lock cannot be watched'
check "... which the list shows" sh -c "klease list | grep $held | grep -q degraded"
check "... and JSON" sh -c "klease show $held --json | jq -r .degraded | grep -q 'cannot be watched'"
within 2 "... and is said once for all of them" says 'degraded: locks that should be watched' 1
touch -c "$NOTICES/active/$(lock "$held")"
within 2 "its beat is found within a second or so" is "$held" active
rm "$EAR/nowatch"
within 4 "idle again, it is watched" is "$held" idle
within 2 "... and the trouble is over" says 'no longer degraded: locks that' 1
check "... for the lease as well" test -z "$(word "$held" degraded)"
daemon_stop

# No instance is left, from the start.
touch "$EAR/noinstance"
deaf_daemon || finish
within 2 "a daemon without inotify says so" says 'degraded: inotify cannot be had (Too many open files; see fs.inotify.max_user_instances)' 1
by_hand queue
id=$made
within 3 "... and admits" is "$id" active
ln -s nowhere "$NOTICES/active/lock-cli-me-$(new_id)"
mv "$NOTICES/active/$(lock "$id")" "$NOTICES/archive/"
within 3 "... and reaps" is "$id" reaped
check "what lies about is said once, not every second" says 'a link: skipped' 1
mv "$NOTICES/active" "$W/old"
within 3 "... and notices a folder that was moved away" test -d "$NOTICES/active"
within 3 "... and the locks that went with it" grep -q "$held.*lock lost" "$W/daemon.log"
mv "$W/old/"* "$NOTICES/active/"
rmdir "$W/old"
within 3 "what is put back is found" grep -q "$held.*its lock is back" "$W/daemon.log"
rm "$EAR/noinstance"
within 9 "one that is to be had again is taken" says 'no longer degraded: inotify cannot be had' 1
by_hand queue
id=$made
within 1 "... and tells at once" is "$id" active
finish
