#!/bin/bash
# t0620-file-systems.sh: trees where not every change makes an event: what is done in a layer below, behind a FUSE mount or on another
# machine is found all the same, and the log says where that is so. The mounts are in a namespace of this test.
# Functions are called by their names.
# shellcheck disable=SC2317
ear=$(cd "$(dirname "$0")" && pwd)/ear.c
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" = 0 ]; then world system; else world user; fi
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 1s
	hibernate_after = never
C
lines() { grep -c -- "$1" "$W/daemon.log"; }
says() { [ "$(lines "$1")" = "$2" ]; }
list_says() { k list 2>&1 >/dev/null | grep -q -- "$1"; }
list_is_silent() { [ -z "$(k list 2>&1 >/dev/null)" ]; }
# by_hand TREE: makes a request there, for a process of its own; its id in `made`. As nobody, since a FUSE without RENAME_NOREPLACE lets a
# daemon that is not root move its own files only.
plainly() { if [ "$MODE" = system ]; then setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; else "$@"; fi; }
by_hand() {
	if [ "$MODE" = system ]; then
		setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups setsid sleep 300 </dev/null >/dev/null 2>&1 &
	else
		setsid sleep 300 </dev/null >/dev/null 2>&1 &
	fi
	P=$!
	starts "$P"
	until_true 2 grep -q "^Name:.sleep" "/proc/$P/status"
	made=$(new_id)
	claim "$made" "$P" >"$W/claim"
	plainly sh -c "umask 022; cat '$W/claim' >'$1/queue/.tmp-$made' && mv '$1/queue/.tmp-$made' '$1/queue/lock-cli-me-$made'"
}

# Another machine's.
mkdir "$W/ear"
if cc -shared -fPIC -O1 -o "$W/ear.so" "$ear" -ldl >"$W/out" 2>&1; then
	touch "$W/ear/nfs"
	EAR=$W/ear LD_PRELOAD=$W/ear.so leasewatch "${mode_args[@]}" --foreground >"$W/refusal" 2>&1
	check "a tree on a network file system is refused, with what to do" grep -q 'notices: is on a network file system (NFS).*\[daemon\] network = yes' "$W/refusal"
	cp "$CONF" "$W/conf.local"
	if [ "$MODE" = user ]; then echo '[daemon]' >>"$CONF"; fi
	sed -i 's/^\[daemon\]$/&\nnetwork = yes/' "$CONF"
	EAR=$W/ear LD_PRELOAD=$W/ear.so daemon || finish
	check "unless the configuration allows it: then it is read every second" says 'degraded: the tree is on NFS.*every 1 s' 1
	check "... which the list says" list_says 'degraded: the tree is on NFS'
	by_hand "$NOTICES"
	within 2 "... and works" is "$made" active
	k release "$made"
	daemon_stop
	cp "$W/conf.local" "$CONF"
else
	skip "a tree on a network file system" "needs a C compiler: $(head -n 1 "$W/out")"
fi
if [ "$MODE" = user ]; then
	skip "overlays and FUSE" "needs root"
	finish
fi

# behind NAME BELOW: what is done in BELOW, which the tree shows, without the tree's file system.
behind() {
	local name=$1 below=$2
	by_hand "$NOTICES"
	id=$made
	within 2 "$name: a request is seen at once" is "$id" active
	by_hand "$below"
	within 7 "$name: one that is made behind it is found" is "$made" active
	within 4 "$name: a lease goes idle" is "$id" idle
	touch -c "$below/active/$(lock "$id")"
	within 3 "$name: a beat behind it is found while it is waited for" is "$id" active
	k release "$made"
}
tree_on() { mv "$NOTICES" "$W/last-$1" && mkdir "$NOTICES" "$W/$1" && chown nobody "$NOTICES" "$W/$1" && : >"$W/daemon.log"; }

tree_on upper
mkdir "$W/lower" "$W/work"
if mount -t overlay lease-test -o "lowerdir=$W/lower,upperdir=$W/upper,workdir=$W/work" "$NOTICES" 2>"$W/out"; then
	daemon || finish
	check "an overlay: the log says what is not seen" says 'the tree is on overlayfs: what changes in a layer below' 1
	check "... which is no trouble" list_is_silent
	behind "an overlay" "$W/upper"
	daemon_stop
	umount "$NOTICES"
else
	skip "a tree on an overlay" "$(head -n 1 "$W/out")"
fi
tree_on below
if ! command -v bindfs >/dev/null; then
	skip "a tree on FUSE" "needs bindfs"
elif bindfs "$W/below" "$NOTICES" 2>"$W/out"; then
	daemon || finish
	check "FUSE: it is said" says 'degraded: the tree is on FUSE.*every 5 s' 1
	check "... to whoever lists, too" list_says 'degraded: the tree is on FUSE'
	behind FUSE "$W/below"
	mv "$W/below/active/$(lock "$id")" "$W/below/archive/"
	within 7 "FUSE: a release behind it is found" is "$id" reaped
	daemon_stop
	umount "$NOTICES"
else
	skip "a tree on FUSE" "$(head -n 1 "$W/out")"
fi
finish
