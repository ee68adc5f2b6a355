#!/bin/bash
# t0310-sshd.sh: pam_lease in a real sshd on loopback: one lease a connection, whatever the client asks for, gone however it ends; and nothing of
# ours keeps anybody out.
# shellcheck disable=SC2016 # what the session's own shell is to expand
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
for c in sshd ssh ssh-keygen sftp pgrep; do
	command -v $c >/dev/null || PATH=$PATH:/usr/sbin command -v $c >/dev/null || { skip "t0310-sshd" "needs $c"; finish; }
done
private_etc || { skip "t0310-sshd" "needs mounts"; finish; }
mkdir -m 755 /run/sshd
U=lwuser N=sshd-$U-kls-
private_user $U || no "a user for the test" "useradd"
H=$W/home-$U
MODULE=$PREFIX/lib/security/pam_lease.so
[ -e "$MODULE" ] || MODULE=$(find "$PREFIX" -name pam_lease.so | head -n 1)
# The service is sshd's program name: in no way the machine's own sshd.
SVC=sshd-lw$$
ln -s /usr/sbin/sshd "$W/$SVC"
service() {
	printf '%s\n' 'auth required pam_deny.so' 'account required pam_permit.so' 'session optional pam_loginuid.so' "$1" \
		"session optional $MODULE notices=${2:-$NOTICES} linger=0s" >"/etc/pam.d/$SVC"
}
service ''
mkdir -m 700 "$W/ssh"
ssh-keygen -q -t ed25519 -N '' -f "$W/ssh/host"
ssh-keygen -q -t ed25519 -N '' -f "$W/ssh/key"
mkdir "$H/.ssh"
cp "$W/ssh/key.pub" "$H/.ssh/authorized_keys"
chown -R $U: "$H/.ssh"
PORT=$((21000 + $$ % 10000))
while grep -q ":$(printf '%04X' $PORT) " /proc/net/tcp; do PORT=$((PORT + 1)); done
printf '%s\n' "Port $PORT" 'ListenAddress 127.0.0.1' "HostKey $W/ssh/host" "PidFile $W/ssh/pid" 'UsePAM yes' "AllowUsers $U" 'PasswordAuthentication no' \
	'KbdInteractiveAuthentication no' 'AuthorizedKeysFile .ssh/authorized_keys' 'StrictModes no' 'Subsystem sftp internal-sftp' >"$W/ssh/conf"
master() {
	"$W/$SVC" -f "$W/ssh/conf" -D >>"$W/sshd.log" 2>&1 &
	SSHD=$!
	starts $SSHD
	until_true 5 grep -q ":$(printf '%04X' $PORT) .* 0A " /proc/net/tcp
}
opts=(-F /dev/null -q -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o IdentitiesOnly=yes -o ConnectTimeout=5 -i "$W/ssh/key")
SSH=(timeout 60 ssh "${opts[@]}" -p "$PORT")
sshx() { "${SSH[@]}" "$@"; }
in_() { sshx -n $U@127.0.0.1 "$@"; }
monitor() { pgrep -f "^$SVC: $U \[priv\]" | head -n 1; }
# The user's processes; by number, one by one.
theirs() { pgrep -u $USER_ID; }
end_theirs() {
	local p
	for p in $(theirs); do kill -KILL "$p" 2>/dev/null; done
	until_true 5 none_theirs
}
none_theirs() { ! theirs; }
count() { find "$NOTICES/active" -name "lock-$N*" 2>/dev/null | wc -l; }
counts() { [ "$(count)" = "$1" ]; }
id_of() { lock $N | grep -o 'kls-.*$'; }
told_closed() { [ -n "$(told "$STATE/sessions/$1" closed)" ] || [ ! -e "$STATE/sessions/$1" ]; }

# --- no daemon: the module by itself ---
private_tree
check "sshd is up" master
check "a command has a lease" in_ "[ -f \"\$KLEASE_LOCK\" ] && [ \"\$(stat -c '%U %a' \$KLEASE_LOCK)\" = '$U 644' ] && [ -n \"\$KLEASE_SESSION\" ]"
within 3 "and none when it is over" counts 0
check "archived" test "$(find "$NOTICES/archive" -user $U -name "lock-$N*" | wc -l)" = 1
id=$(basename "$(find "$STATE/sessions" -type f)")
check "by PAM's close, as the twin says" test -n "$(told "$STATE/sessions/$id" closed)"
check "a client cannot send another lease's name" sshx -n -o SetEnv=KLEASE_SESSION=kls-aaaaaaaaaa $U@127.0.0.1 '[ "$KLEASE_SESSION" != kls-aaaaaaaaaa ]'
# The leader is the monitor, the shell's grandparent.
in_ "cp $STATE/sessions/\$KLEASE_SESSION ~/twin; sed 's/.*) //' /proc/\$PPID/stat | cut -d' ' -f2 >~/leader; cat /proc/self/sessionid >~/audit"
check "its leader is sshd's monitor" test "$(told "$H/twin" leader)" = "$(cat "$H/leader")"
[ "$(cat "$H/audit")" = 4294967295 ] || check "and the audit session is the shell's" test "$(told "$H/twin" audit)" = "$(cat "$H/audit")"

"${SSH[@]}" -tt $U@127.0.0.1 'tty >~/tty; sleep 30' >/dev/null 2>&1 </dev/null &
C=$!
starts $C
within 5 "a terminal has a lease" counts 1
until_true 5 test -s "$H/tty"
check "and is one" grep -q ^/dev/ "$H/tty"
kill -KILL "$(pgrep -P $C -x ssh)"
within 10 "the client killed: no lease" counts 0
end_theirs
printf 'ls\n' >"$W/batch"
check "sftp" timeout 30 sftp "${opts[@]}" -P $PORT -b "$W/batch" $U@127.0.0.1
within 3 "leaves none" counts 0

"${SSH[@]}" -N $U@127.0.0.1 &
C=$!
starts $C
within 5 "-N, without a command: a lease" counts 1
kill $C
wait $C 2>/dev/null
within 5 "and none when it is over" counts 0

sshx -fN -o ControlMaster=yes -o ControlPath="$W/ssh/cm" $U@127.0.0.1
within 5 "a shared connection: a lease" counts 1
for _ in 1 2 3; do sshx -n -o ControlPath="$W/ssh/cm" $U@127.0.0.1 true; done
check "three sessions in it: still one" counts 1
sshx -O exit -o ControlPath="$W/ssh/cm" $U@127.0.0.1
within 5 "and none when it is over" counts 0

"${SSH[@]}" -n $U@127.0.0.1 "sleep 300" 2>/dev/null &
C=$!
starts $C
within 5 "a session while sshd is restarted" counts 1
id=$(id_of)
kill "$SSHD"
wait "$SSHD" 2>/dev/null
master
check "keeps its lease" present "$id"
check "and others come in" in_ true
end_theirs
wait $C 2>/dev/null
within 5 "and it is closed" absent "$id"

in_ 'nohup sleep 300 >/dev/null 2>&1 & echo' >/dev/null
within 3 "what is left behind in the background is no session" counts 0
end_theirs

"${SSH[@]}" -n $U@127.0.0.1 "sleep 300" 2>/dev/null &
C=$!
starts $C
until_true 5 counts 1
id=$(id_of)
until_true 5 theirs
kill -KILL "$(monitor)"
sleep 0.5
check "the monitor killed: the session goes on" theirs
check "and PAM has not closed it" present "$id"
check "as its twin says" test -z "$(told "$STATE/sessions/$id" closed)"
end_theirs
wait $C 2>/dev/null

# --- never in the way ---
service '' "$W/nowhere"
check "no tree: the login works" in_ true
service ''
chmod 700 "$NOTICES/active"
check "a tree that nobody can write: the login works" in_ true
chmod 1777 "$NOTICES/active"
mkdir "$W/small"
mount -t tmpfs -o size=64k,nr_inodes=8,mode=755 lease-test "$W/small"
mkdir "$W/small/queue" "$W/small/active" "$W/small/archive"
chmod 1777 "$W"/small/*
{ for i in 1 2 3 4 5; do : >"$W/small/x$i"; done; } 2>/dev/null
service '' "$W/small"
check "a full disk: the login works" in_ true
check "and without a lock" test -z "$(ls -A "$W/small/active")"
until_true 5 umount "$W/small"
printf '%s hard fsize 0\n' $U >"$W/limits"
service "session required pam_limits.so conf=$W/limits"
check "a file-size limit of 0: the login works" in_ true
service "" "$NOTICES colour=red"
check "a wrong option: the login works, with a lease" in_ '[ -f "$KLEASE_LOCK" ]'
sed -i '/pam_loginuid/d' "/etc/pam.d/$SVC"
check "alone in its stack: the login works" in_ true
service ''

# --- with the daemon ---
rm -rf "$NOTICES" "$STATE"
conf <<C
[defaults]
ttl = 60s
renew_grace = 20s
C
daemon || finish
"${SSH[@]}" -n $U@127.0.0.1 "env | grep ^KLEASE_ >~/env; sleep 300" 2>/dev/null &
C=$!
starts $C
within 5 "with the daemon: a lease" counts 1
id=$(id_of)
within 5 "which the daemon knows" is "$id" active
within 5 "and where its warning would be" grep -q '^KLEASE_NOTICE=' "$H/env"
until_true 5 theirs
kill -KILL "$(monitor)"
sleep 1
check "only the monitor killed: it lives" is "$id" active
end_theirs
wait $C 2>/dev/null
within 10 "its last process dead: archived" absent "$id"
"${SSH[@]}" -n $U@127.0.0.1 "sleep 300" 2>/dev/null &
C=$!
starts $C
within 5 "another one" counts 1
id=$(id_of)
within 5 "known" is "$id" active
end_theirs
wait $C 2>/dev/null
within 5 "closed by PAM: out of active/" absent "$id"
within 5 "into archive/" archived "$id"
within 5 "and its twin is said to be closed, or removed" told_closed "$id"
kill -STOP "$D"
check "the daemon hangs: the login works at once" timeout 10 ssh "${opts[@]}" -n -p $PORT $U@127.0.0.1 '[ -f "$KLEASE_LOCK" ]'
kill -CONT "$D"
finish
