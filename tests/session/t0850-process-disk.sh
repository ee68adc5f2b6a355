#!/bin/bash
# t0850-process-disk.sh: the processes of a detached lease go to disk where CRIU works, and come back by a touch as they were.
. "$(dirname "$0")/lib.sh"
world system
work=$STATE/work
criu=${CRIU:-$(command -v criu)}
[ -n "$criu" ] || { skip "processes on disk" "no criu(8)"; finish; }
conf <<-C
	[defaults]
	ttl = 12s
	renew_grace = 10s
	hibernate_after = never
	warn_before = 1s
	usage = explicit
	[runtime process]
	path = ${criu%/*}
C
daemon || finish
as() { setpriv --reuid=61007 --regid=61007 --clear-groups env HOME="$W/home" PATH="$PATH" KLEASE_NOTICES="$NOTICES" timeout 20 klease --notices "$NOTICES" "$@"; }
ask() { printf '#leasewatch 1\nverb=%s\nlease=%s\n' "$1" "$2" | put queue "ask-$(new_id)"; }
beat() { touch "$NOTICES/active/$(lock "$1")"; }
number() { cat "$W/count/$1" 2>/dev/null || echo 0; }
beyond() { [ "$(number "$1")" -gt "$2" ]; }
mkdir "$W/count" && chown 61007 "$W/count"
cat >"$W/counts" <<-S
	count() { n=0; while :; do n=\$((n + 1)); echo \$n >$W/count/.\$1; mv $W/count/.\$1 $W/count/\$1; sleep 0.02; done; }
	case \$1 in away) count away ;; esac
	(setsid sh $W/counts away &)
	echo \$\$ >$W/count/pid
	count here
S
id=$(cd / && as create --wait=10s -- sh "$W/counts")
check "a detached lease of a user" is "$id" active
within 10 "it counts" beyond away 20
P=$(cat "$W/count/pid")
starts "$P"
if ! grep -q 'runtime process: .*disk' "$W/daemon.log" && [ -z "${CRIU:-}" ]; then
	skip "processes on disk" "$(grep -m 1 'runtime process' "$W/daemon.log")"
	finish
fi
ask hibernate "$id"
within 10 "asked to, it is hibernated" is "$id" hibernated
check "… to disk" word_has "$id" hibernated '^disk$'
check "… and its processes are gone" gone "$P"
n=$(number here)
stays 1 "… and that is not its end" is "$id" hibernated
daemon_stop
daemon || finish
stays 1 "nor is a restart of the daemon" is "$id" hibernated
beat "$id"
within 10 "a touch wakes it" is "$id" active
check "… in the same process" runs "$P"
within 10 "it goes on from where it was" beyond here "$n"
check "… and did not begin anew" test "$(number here)" -lt $((n + 400))
ask hibernate "$id"
within 10 "hibernated once more" is "$id" hibernated
crash
daemon || finish
beat "$id"
within 10 "after a crash of the daemon, a touch wakes it as well" is "$id" active
check "… in the same process" runs "$P"
kill "$P"
kill "$(pgrep -u 61007 -f "$W/counts away")"
within 10 "that it ends by itself is seen of one that came back, too" absent "$id"

id=$(cd / && as create --wait=10s -- sh "$W/counts")
within 10 "another counts" beyond away 20
ask hibernate "$id"
within 10 "it goes to disk" word_has "$id" hibernated '^disk$'
find "$work/process" -path "*$id*" -name 'pages-*' | while read -r f; do printf rot | dd of="$f" bs=1 seek=100 conv=notrunc status=none; done
beat "$id"
within 10 "with a damaged image it is over" absent "$id"
within 10 "… to the end" is "$id" reaped
check "… and its owner is told why" sh -c "PATH='$PATH' klease --notices '$NOTICES' ledger --json --lease $id | jq -r .why | grep -q damaged"

id=$(cd / && as create --wait=10s -- sh "$W/counts")
within 10 "a third one counts" beyond away 20
P=$(cat "$W/count/pid")
ask hibernate "$id"
within 10 "it goes to disk as well" word_has "$id" hibernated '^disk$'
within 30 "silence ends it there" absent "$id"
within 10 "… to the end" is "$id" reaped
check "… and nothing of it is left" sh -c "! ls -d '$work'/process/$id.* 2>/dev/null && ! find /sys/fs/cgroup -name '$id.*' | grep . && ! [ -e /proc/$P ]"
finish
