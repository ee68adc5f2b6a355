#!/bin/bash
# t0866-connect.sh: klease connect joins with a port inside of a lease, and wakes it for that: ssh's ProxyCommand.
. "$(dirname "$0")/lib.sh"
world system
command -v sshd >/dev/null && command -v ssh >/dev/null && command -v jq >/dev/null && command -v busybox >/dev/null ||
	{ skip "ssh into a lease that sleeps" "sshd, ssh, jq or busybox is missing"; finish; }
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 500ms
	hibernate_after = 200ms
	usage = explicit
C
daemon || finish
mkdir -p /run/sshd "$W/ssh"
ssh-keygen -q -t ed25519 -N '' -f "$W/ssh/host" && ssh-keygen -q -t ed25519 -N '' -f "$W/ssh/key"
cp "$W/ssh/key.pub" "$W/ssh/keys"
port=$((20000 + $$ % 20000))
cat >"$W/ssh/sshd" <<C
Port $port
ListenAddress 127.0.0.1
HostKey $W/ssh/host
AuthorizedKeysFile $W/ssh/keys
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
C
id=$(k create --label machine=build --wait=10s -- "$(command -v sshd)" -D -e -f "$W/ssh/sshd")
within 10 "it sleeps when nobody is in it" is "$id" hibernated
# As the manual has it, but for this world's tree and this port.
line=$(sed -n 's/^\.Dl \(ProxyCommand .*\)/\1/p' "$(dirname "$0")/../../man/klease.1" | sed 's/\\(dq/"/g')
check "klease(1) has the line for ssh's configuration" test -n "$line"
{
	echo "Host build"
	sed "s,klease ,klease --notices $NOTICES ,g; s, 22\$, $port," <<<"$line"
	printf '%s\n' "User root" "IdentityFile $W/ssh/key" "StrictHostKeyChecking no" "UserKnownHostsFile /dev/null" "BatchMode yes" "LogLevel ERROR"
} >"$W/ssh/config"
check "ssh wakes it, and gets in" sh -c "[ \"\$(timeout 20 ssh -F $W/ssh/config build 'echo inside; cat /proc/\$PPID/cgroup >/dev/null')\" = inside ]"
check "… and its exit status" sh -c "timeout 20 ssh -F $W/ssh/config build exit 7; [ \$? = 7 ]"
timeout 20 ssh -F "$W/ssh/config" build sleep 3 &
starts $!
within 5 "a connection runs" is "$id" active
stays 2 "… and while it does, the lease doesn't sleep" is "$id" active
within 10 "then it does again" is "$id" hibernated
fails "no port is a usage error" 2 k connect "$id"
fails "nor is a word one" 2 k connect "$id" ssh
fails "where nobody listens it fails" 1 k connect "$id" 1
finish
