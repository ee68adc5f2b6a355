# shellcheck shell=bash
# tests/session/private.sh: sourced before lib.sh by tests that change /etc, /run or what dpkg keeps in /var. It runs the test again in a
# mount namespace of its own; private_etc then puts copies there, so that users, PAM services and profiles are made for this test only, and
# end with it. Without root the test goes on, and lib.sh leaves it out.
set -u
if [ "$(id -u)" = 0 ] && [ -z "${PRIVATE:-}" ]; then
	unshare -m --propagation private true 2>/dev/null || {
		echo "skip $(basename "$0" .sh): needs a mount namespace"
		exit 77
	}
	PRIVATE=1 exec unshare -m --propagation private bash "$0" "$@"
fi

# private_etc: after world. /etc is a copy, /run and /var/log are empty.
private_etc() {
	cp -a /etc "$W/etc" && mount --bind "$W/etc" /etc && mount -t tmpfs -o mode=755 lease-test /run &&
		mount -t tmpfs -o mode=755 lease-test /var/log
}
# private_copy DIR…: these too.
private_copy() {
	local d copy
	for d; do
		copy=$W/copy$(tr / - <<<"$d")
		cp -a "$d" "$copy" && mount --bind "$copy" "$d" || return 1
	done
}
# private_user NAME: sets USER_ID. Far from what useradd gives by itself: another test may make a user at this moment.
private_user() {
	USER_ID=$((50000 + $$ % 10000))
	useradd -M -d "$W/home-$1" -s /bin/bash -u "$USER_ID" "$1" && mkdir "$W/home-$1" && chown "$USER_ID" "$W/home-$1"
}
# private_tree: a tree and the folders of a daemon that is not there, as the daemon makes them.
private_tree() {
	mkdir -p "$NOTICES/queue" "$NOTICES/active" "$NOTICES/archive" "$STATE/sessions" "$STATE/state"
	chmod 1777 "$NOTICES/queue" "$NOTICES/active" "$NOTICES/archive"
	chmod 755 "$NOTICES" "$STATE" "$STATE/sessions"
	printf '#leasewatch 1\nstate=%s\nsessions=%s\n' "$STATE/state" "$STATE/sessions" >"$NOTICES/.leasewatch"
}
# Looks of a lease by its lock's name: told FILE KEY gives the value that stands there.
told() { sed -n "s/^$2=//p" "$1" 2>/dev/null; }
