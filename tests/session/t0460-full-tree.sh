#!/bin/bash
# t0460-full-tree.sh: a tree on a file system of its own that a user fills up is made usable again, for the others.
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 1s
C
mkdir "$NOTICES"
mount -t tmpfs -o size=2m,nr_inodes=600,mode=755,uid="$(id -u nobody)" lease-test "$NOTICES" || { skip "a full tree" "no tmpfs here"; finish; }
daemon || finish
as() {
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups env HOME="$W/home" PATH="$PATH" KLEASE_NOTICES="$NOTICES" "$@"
}
run() { as 61002 timeout 5 klease run -- true; }
id=$(as 61002 timeout 20 klease create -- sleep 300)
within 5 "a lease of another user's lives" is "$id" active
as 61003 sh -c "head -c 4m /dev/zero >$NOTICES/archive/big" 2>/dev/null
within 10 "with the next checkpoint there is room again: what is longer than a lock has gone" run
as 61003 perl -e 'chdir $ARGV[0]; for (1 .. 700) { open(my $f, ">", "lock-x-y-$_") or last }' "$NOTICES/archive"
within 15 "a tree without inodes as well" run
check "and the lease was left alone" present "$id"
as 61002 timeout 20 klease release "$id" >/dev/null
until_true 5 is "$id" reaped
daemon_stop
umount "$NOTICES"
finish
