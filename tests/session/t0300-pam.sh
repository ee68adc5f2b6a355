#!/bin/bash
# t0300-pam.sh: pam_lease as root loads it, by su(1): the lock is the user's, the twin is root's, the privilege is dropped between; switched on
# and off by pam-auth-update. No daemon runs.
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
private_etc || { skip "t0300-pam" "needs mounts"; finish; }
private_tree
private_user lwuser || no "a user for the test" "useradd"
MODULE=$PREFIX/lib/security/pam_lease.so
[ -e "$MODULE" ] || MODULE=$(find "$PREFIX" -name pam_lease.so | head -n 1)

# service OPTION…: su's own file, with our line and these options.
service() {
	printf '%s\n' 'auth sufficient pam_permit.so' 'account sufficient pam_permit.so' \
		"session optional $MODULE notices=$NOTICES surfaces=su $*" >/etc/pam.d/su
}
# in_session CMD: as the user, in a session of its own.
in_session() { su -s /bin/bash lwuser -c "$1"; }
locks() { find "$NOTICES/active" -name 'lock-*' | wc -l; }
twins() { find "$STATE/sessions" -mindepth 1 | wc -l; }
clean() { find "$NOTICES/active" "$NOTICES/archive" "$STATE/sessions" -mindepth 1 -delete; }

service
in_session "env | grep ^KLEASE_ >$W/home-lwuser/env; cp -p \$KLEASE_LOCK $W/home-lwuser/lock; cp $STATE/sessions/\$KLEASE_SESSION $W/home-lwuser/twin
	stat -c '%U %G %a %h' \$KLEASE_LOCK $STATE/sessions/\$KLEASE_SESSION >$W/home-lwuser/stat; echo \$PPID >$W/home-lwuser/ppid
	sed 's/.*) //' /proc/\$PPID/stat | cut -d' ' -f20 >$W/home-lwuser/start"
H=$W/home-lwuser
id=$(told "$H/twin" id)
check "the session knows its lease" grep -qx "KLEASE_SESSION=$id" "$H/env"
check "and its lock" grep -qx "KLEASE_LOCK=$NOTICES/active/lock-su-lwuser-$id" "$H/env"
check "and where a warning would be" grep -qx "KLEASE_NOTICE=$STATE/state/notice-$id" "$H/env"
check "the lock is the user's, 0644, with one link" test "$(sed -n 1p "$H/stat")" = "lwuser lwuser 644 1"
check "the twin is root's, 0644" test "$(sed -n 2p "$H/stat")" = "root root 644 1"
check "the twin names the process that opened the session" test "$(told "$H/twin" leader)" = "$(cat "$H/ppid")"
check "and when it was started" test "$(told "$H/twin" leader_start)" = "$(cat "$H/start")"
check "and the boot" test "$(told "$H/twin" boot)" = "$(cat /proc/sys/kernel/random/boot_id)"
check "and the user" test "$(told "$H/twin" uid)" = "$USER_ID"
check "and no close yet" test -z "$(told "$H/twin" closed)"
check "the lock claims no leader, since that is not the user's process" test -z "$(told "$H/lock" leader)"
check "the lock is a session's" test "$(told "$H/lock" kind)" = session
check "close archives it" test "$(find "$NOTICES/archive" -name "lock-su-lwuser-$id" -user lwuser | wc -l)" = 1
check "nothing is left in active/" test "$(locks)" = 0
check "the twin then says when it was closed" test "$(told "$STATE/sessions/$id" closed)" -gt 1600000000000
check "and is still root's, 0644" test "$(stat -c '%U %a %h' "$STATE/sessions/$id")" = "root 644 1"
check "and no other file is there" test "$(twins)" = 1
clean

# Run by a user, su has the user's real uid.
check "su by a user: the lock is the new user's" setpriv --reuid=nobody --regid=nogroup --clear-groups \
	env KLEASE_NOTICES=/nowhere su -s /bin/sh lwuser -c "[ \"\$(stat -c %U \$KLEASE_LOCK)\" = lwuser ] && [ \"\$(stat -c %U $STATE/sessions/\$KLEASE_SESSION)\" = root ]"
check "and archived" test "$(find "$NOTICES/archive" -user lwuser -name 'lock-su-*' | wc -l)" = 1
clean
printf 'session optional %s notices=%s surfaces=su,su-l\n@include su\n' "$MODULE" "$NOTICES" >/etc/pam.d/su-l
check "twice in one handle (su-l includes su): one lock" su -l lwuser -c "[ \$(ls $NOTICES/active | wc -l) = 1 ]"
check "and one in archive/" test "$(locks).$(find "$NOTICES/archive" -type f | wc -l).$(twins)" = 0.1.1
clean

chmod 755 "$NOTICES/active"
check "what the user may not write, root does not write for him" in_session "[ -z \"\$KLEASE_LOCK\" ] && [ -z \"\$(ls $NOTICES/active)\" ]"
check "and no twin is left of it" test "$(twins)" = 0
chmod 1777 "$NOTICES/active"

groupadd -g $((USER_ID + 1)) lwgroup
chgrp lwgroup "$NOTICES/active" "$NOTICES/archive"
chmod 1770 "$NOTICES/active" "$NOTICES/archive"
check "a tree for a group: none for others" in_session "[ -z \"\$KLEASE_LOCK\" ]"
usermod -aG lwgroup lwuser
check "a tree for a group: a lock for its members" in_session "[ -f \"\$KLEASE_LOCK\" ]"
check "and archived" test "$(locks).$(find "$NOTICES/archive" -user lwuser | wc -l)" = 0.1
chmod 1777 "$NOTICES/active" "$NOTICES/archive"
clean

check "root's own session: none" su root -c "[ -z \"\$KLEASE_LOCK\" ]"
service root
check "root's own session with the option: one" su root -c "[ \"\$(stat -c %U \$KLEASE_LOCK)\" = root ]"
clean
service surfaces=sshd
check "a service that is not listed: none" in_session "[ -z \"\$KLEASE_LOCK\" ]"
service surface=ci
check "surface= names it" in_session "case \$KLEASE_LOCK in */lock-ci-lwuser-kls-*) ;; *) exit 1 ;; esac"
clean

# never in the way
service
check "a file-size limit of 0: the session is there" bash -c "ulimit -f 0; su -s /bin/bash lwuser -c true"
check "no descriptor but ten: the session is there" bash -c "ulimit -n 10; su -s /bin/bash lwuser -c true"
mkdir "$W/small"
mount -t tmpfs -o size=64k,nr_inodes=6,mode=755 lease-test "$W/small"
mkdir "$W/small/queue" "$W/small/active" "$W/small/archive"
chmod 1777 "$W"/small/*
{ for i in 1 2 3 4; do : >"$W/small/x$i"; done; } 2>/dev/null
service "notices=$W/small"
check "a full tree: the session is there" in_session "[ -z \"\$KLEASE_LOCK\" ]"
rm -f "$W"/small/x*
mount -o remount,ro "$W/small"
check "a read-only tree: the session is there" in_session "[ -z \"\$KLEASE_LOCK\" ]"
umount "$W/small"
mount -t tmpfs -o size=64k,nr_inodes=1,mode=755 lease-test "$STATE/sessions"
service
check "a full folder of twins: the lock is there all the same" in_session "[ -f \"\$KLEASE_LOCK\" ]"
check "but its close cannot be said, so that it stays for the daemon" test "$(locks)" = 1
umount "$STATE/sessions"
clean
chmod 777 "$STATE/sessions"
check "a folder of twins that all can write is not believed" in_session "[ -z \"\$(ls $STATE/sessions)\" ]"
chmod 755 "$STATE/sessions"
clean
sed -i "s|^sessions=.*|sessions=/etc/cron.d|" "$NOTICES/.leasewatch"
ls /etc/cron.d >"$W/before" 2>/dev/null
in_session true
check "a beacon cannot have root write into other folders" test "$(ls /etc/cron.d 2>/dev/null)" = "$(cat "$W/before")"
clean

# pam-auth-update
if command -v pam-auth-update >/dev/null && private_copy /usr/share/pam-configs /var/lib/pam /var/cache/debconf; then
	export DEBIAN_FRONTEND=noninteractive
	pamcheck=$PREFIX/libexec/leasewatch/lease-pam-check
	cp "$PREFIX/share/pam-configs/lease" /usr/share/pam-configs/
	pam-auth-update --force >/dev/null 2>&1
	printf '@include common-session\n' >/etc/pam.d/login
	cp /etc/pam.d/login /etc/pam.d/sshd
	cp -a /etc/pam.d "$W/pam.d"
	check "it is off before" "$pamcheck" off
	check "pam-auth-update --enable lease" pam-auth-update --enable lease
	check "switches it on" "$pamcheck" -m "${MODULE%/*}" on
	check "for interactive sessions" grep -q 'session.*optional.*pam_lease.so' /etc/pam.d/common-session
	fails "and for no others" 1 grep -q pam_lease /etc/pam.d/common-session-noninteractive
	check "pam-auth-update --disable lease" pam-auth-update --disable lease
	check "switches it off" "$pamcheck" off
	check "and leaves every file as it was" diff -r "$W/pam.d" /etc/pam.d
	sed -i '/^session.*pam_unix.so/i session optional pam_umask.so' /etc/pam.d/common-session
	cp /etc/pam.d/common-session "$W/edited"
	check "with local edits, pam-auth-update --enable lease says that all is well" pam-auth-update --enable lease
	check "and has changed nothing" cmp "$W/edited" /etc/pam.d/common-session
	fails "which lease-pam-check sees" 1 "$pamcheck"
	mv "$W/out" "$W/why"
	check "and says why" grep -q 'changed nothing' "$W/why"
else
	skip "pam-auth-update" "not here"
fi
finish
