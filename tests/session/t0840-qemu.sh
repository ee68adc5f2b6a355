#!/bin/bash
# t0840-qemu.sh: a lease that is a virtual machine: made from a profile, put to disk, woken by a touch with all that it had in memory,
# and gone when it is over. KERNEL: what it boots.
. "$(dirname "$0")/lib.sh"
world system
work=$STATE/work
for tool in qemu-system-x86_64 qemu-img busybox cpio; do
	command -v $tool >/dev/null || { skip "a lease that is a virtual machine" "no $tool"; finish; }
done
[ -r "${KERNEL:-}" ] || { skip "a lease that is a virtual machine" "no kernel for it: KERNEL names none"; finish; }
mkdir -p "$W/root"/{bin,dev}
cp "$(command -v busybox)" "$W/root/bin/busybox"
cat >"$W/root/init" <<-'INIT'
	#!/bin/busybox sh
	n=0
	while :; do
		n=$((n + 1))
		echo "count $n."
		/bin/busybox sleep 0.1
	done
INIT
chmod 755 "$W/root/init"
(cd "$W/root" && find . | cpio -o -H newc --quiet) | gzip -1 >"$W/initrd"
conf <<-C
	[defaults]
	ttl = 30s
	renew_grace = 25s
	hibernate_after = never
	warn_before = 1s
	usage = explicit
	[profile vm]
	runtime = qemu
	memory = 128M
	qemu.kernel = $KERNEL
	qemu.initrd = $W/initrd
	qemu.append = console=ttyS0 quiet panic=-1
	[profile nothing]
	runtime = qemu
	qemu.kernel = $W/none
C
daemon || finish
vms() { pgrep -f "guest=lease-$1-" >/dev/null; }
no_vms() { ! vms "$1"; }
ask() { printf '#leasewatch 1\nverb=%s\nlease=%s\n' "$1" "$2" | put queue "ask-$(new_id)"; }
console() { cat "$work"/qemu/"$1".*/console 2>/dev/null; }
counted() {
	local n
	n=$(console "$1" | tr -d '\r' | sed -n 's/^count \([0-9]*\)\.$/\1/p' | tail -n 1)
	echo "${n:-0}"
}
beyond() { [ "$(counted "$1")" -gt "$2" ]; }
beat() { touch "$NOTICES/active/$(lock "$1")"; }
begun_once() { [ "$(console "$1" | tr -d '\r' | grep -c '^count 1\.$')" = 1 ]; }

fails "a machine without its kernel fails" 1 k create --profile nothing --wait=20s
check "… and why is said" said "there is no $W/none"
id=$(k create --profile vm --wait=20s)
check "a lease of a profile is a machine" is "$id" active
check "… which carries its id" vms "$id"
starts "$(pgrep -f "guest=lease-$id-")"
while sleep 2; do beat "$id" 2>/dev/null; done &
holder=$!
starts "$holder"
within 90 "it boots and counts" beyond "$id" 20
kill "$holder"
beat "$id"
ask hibernate "$id"
within 20 "asked to, it is hibernated" is "$id" hibernated
check "… to disk" word_has "$id" hibernated '^disk$'
check "… and no process is left" no_vms "$id"
n=$(counted "$id")
daemon_stop
daemon || finish
check "it is hibernated under the next daemon as well" is "$id" hibernated
check "… and nothing has woken it" no_vms "$id"
beat "$id"
within 20 "a touch wakes it" is "$id" active
within 20 "it goes on from where it was" beyond "$id" "$n"
check "… and has not begun anew" begun_once "$id"
starts "$(pgrep -f "guest=lease-$id-")"
beat "$id"
ask hibernate "$id"
within 20 "once more to disk" is "$id" hibernated
printf rot | dd of="$(echo "$work"/qemu/"$id".*/image/state)" bs=1 seek=70000 conv=notrunc status=none
beat "$id"
within 20 "with a damaged image it wakes all the same" is "$id" active
check "… and its owner is told that its memory was lost" sh -c "grep -q '$id: .*memory' '$W/daemon.log'"
check "… by its life as well" sh -c "$(declare -f k); MODE=system NOTICES='$NOTICES' PATH='$PATH'; k ledger --json --lease $id | jq -r .why | grep -q 'damaged'"
starts "$(pgrep -f "guest=lease-$id-")"
within 60 "silence ends it" absent "$id"
within 20 "and the machine is gone" no_vms "$id"
within 20 "to the end" is "$id" reaped
check "nothing of it is left" sh -c "! ls -d '$work'/qemu/$id.* 2>/dev/null && ! find /sys/fs/cgroup -name '$id.*' | grep ."
finish
