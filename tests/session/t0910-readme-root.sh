#!/bin/bash
# t0910-readme-root.sh: what README.md tells root to type works as it stands there, without systemd, and undoing it leaves nothing. In
# a mount namespace with an /etc, /run and /var/lib of its own: the host's stay as they are.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"
if [ "$(id -u)" = 0 ] && [ -z "${OWN_MOUNTS:-}" ]; then
	unshare -m true 2>/dev/null || { skip "README for root" "no mount namespace can be made here"; exit 0; }
	OWN_MOUNTS=yes exec unshare -m --propagation private bash "$0"
fi
world system
unset XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR
before=$(id -un leasewatch 2>/dev/null)
if [ -n "$before" ] || [ -e /etc/leasewatch ]; then
	skip "README for root" "this host has leasewatch set up already"
	finish
fi
mkdir "$W/etc"
own_folders() {
	mount -t tmpfs -o mode=755 tmpfs "$W/etc" && cp -a /etc/. "$W/etc/" && mount --bind "$W/etc" /etc &&
		mount -t tmpfs -o mode=755 tmpfs /run && mount -t tmpfs -o mode=755 tmpfs /var/lib &&
		mount -t tmpfs -o mode=755 tmpfs /var/log
}
if ! own_folders; then
	skip "README for root" "no file systems can be mounted here"
	finish
fi
typed "README, root" < <(blocks 'sh run root' <"$(dirname "$0")/../../README.md")
check "nobody's command ran as nobody" grep -qx nobody "$W/said"
fails "the user leasewatch is gone" 1 id leasewatch
nothing_left() { [ -z "$(find /run /var/lib /etc -name 'leasewatch*')" ]; }
check "what it says of undoing leaves nothing" nothing_left
nobody_left() { ! env -u HOME grep -lzFx -- "HOME=$HOME" /proc/[0-9]*/environ 2>/dev/null | grep -Ev "^/proc/($$|$BASHPID|self)/"; }
within 5 "and no process" nobody_left
# Lazily: whatever the blocks left is ended after this.
umount -l /var/log /var/lib /run /etc "$W/etc"
finish
