# shellcheck shell=bash
# engine-qemu.sh: qemu-system-x86_64 for conformance.sh: a VM whose whole system is a kernel and busybox, with a shell on its second
# serial line. KERNEL: a bzImage with its serial console built in.
# shellcheck disable=SC2013,SC2016,SC2034,SC2154

# It boots, under an emulated processor.
begins=400 wanted_cpu=1500 wanted_memory=134217728

kernel_here() {
	local k
	for k in ${KERNEL:+"$KERNEL"} /boot/vmlinuz-*cloud-amd64 /boot/vmlinuz-*-amd64; do [ -r "$k" ] && echo "$k" && return; done
	return 1
}
guest_init() {
	cat <<-'INIT'
	#!/bin/sh
	export PATH=/bin
	busybox mount -t proc proc /proc
	busybox mount -t sysfs sys /sys
	busybox mount -t devtmpfs dev /dev 2>/dev/null
	if [ -n "$LEASE_COMMAND" ]; then
		echo "$LEASE_COMMAND" | busybox base64 -d >/command
		/bin/sh /command &
	else
		/work &
	fi
	busybox stty -F /dev/ttyS1 raw -echo 115200
	exec 3<>/dev/ttyS1
	while read -r token line <&3; do
		echo "$line" | busybox base64 -d >/asked
		said=$(/bin/sh /asked 2>&1 </dev/null; echo "~$?")
		{ echo "$token"; echo "$said" | busybox base64; } | tr -d '\n' | busybox sed 's/$/./' >&3
	done
	INIT
}
# The words before a command: it goes in through the line, its output and its exit status come out.
line_run() {
	cat <<-'RUN'
	#!/usr/bin/perl
	use strict; use warnings; use IO::Socket::UNIX; use IO::Select; use MIME::Base64;
	my $line = IO::Socket::UNIX->new(Peer => shift) or die "no line: $!\n";
	my ($ready, $said) = (IO::Select->new($line), '');
	# A command to which that answer belongs; 0 seconds: for as long as it takes.
	sub ask {
		my ($token, $command, $seconds) = @_;
		syswrite $line, "$token " . encode_base64($command, '') . "\n";
		while ($ready->can_read($seconds || undef)) {
			sysread($line, $said, 4096, length $said) or die "it hung up\n";
			return decode_base64($1) if $said =~ /\Q$token\E([^.]*)\./;
		}
		return undef;
	}
	# What comes before it listens is lost: asked until it answers.
	my $tries = 10;
	until (defined ask("$$-a$tries-", ':', 0.5)) { $tries-- or die "nobody listens\n"; }
	$said = ask("$$-run-", join(' ', map { s/'/'\\''/g; "'$_'" } @ARGV), 0);
	$said =~ s/~(\d+)\n*\z// or die "no status\n";
	my $status = $1;
	print $said;
	exit $status;
	RUN
}
engine_up() {
	local kernel
	for kernel in qemu-system-x86_64 qemu-img busybox cpio perl; do
		command -v $kernel >/dev/null || { why="$kernel is not installed"; return 77; }
	done
	kernel=$(kernel_here) || { why="no kernel for a guest: KERNEL names none"; return 77; }
	cp "$kernel" "$W/vmlinuz" || return 1
	busybox_root "$W/rootfs"
	guest_init >"$W/rootfs/init"
	line_run >"$W/line-run"
	chmod 755 "$W/rootfs/init" "$W/line-run"
	(cd "$W/rootfs" && find . | cpio -o -H newc --quiet) | gzip -1 >"$W/initrd"
	qemu-img create -q -f qcow2 "$W/base.qcow2" 32M
	ENV+=("LEASE_RUNTIME_SNAPSHOTS=$W/engine/kept" LEASE_RUNTIME_USER=nobody "LEASE_PROFILE_KERNEL=$W/vmlinuz" "LEASE_PROFILE_INITRD=$W/initrd"
		"LEASE_PROFILE_APPEND=console=ttyS0 quiet panic=-1 rdinit=/init" "LEASE_PROFILE_IMAGE=$W/base.qcow2" "LEASE_PROFILE_ENTER=$W/line-run %d/line"
		LEASE_PROFILE_CPU=1500 LEASE_PROFILE_MEMORY=134217728 LEASE_PROFILE_STORAGE=67108864 LEASE_PROFILE_NET=none)
}
engine_down() {
	local p
	for p in $(our_vms); do kill -9 "$p"; done 2>/dev/null
	# They stand in a folder that is to be unmounted.
	within 50 eval '[ -z "$(our_vms)" ] && ! pgrep -f "$W/.*qemu-helper console" >/dev/null'
	for p in "$W"/engine/leases/kls-*; do find /sys/fs/cgroup -depth -name "${p##*/}" -type d -exec rmdir {} + 2>/dev/null; done
}
engine_crash() { return 77; }
engine_again() { :; }
# The initrd's path is this run's own.
our_vms() {
	local f
	for f in $(grep -lzxF -- "$W/initrd" /proc/[0-9]*/cmdline 2>/dev/null); do
		f=${f#/proc/}
		echo "${f%/cmdline}"
	done
}
inventory() {
	{
		our_vms | sed 's/.*/vm/'
		find "$W/engine/leases" -mindepth 2 2>/dev/null | sed 's/^/file /'
		find "$W/engine/kept" -mindepth 1 2>/dev/null | sed 's/^/kept /'
		find /sys/fs/cgroup -path '*/leasewatch/kls-*' 2>/dev/null | grep "$ID" | sed 's/^/cgroup /'
		pgrep -f "$W/.*qemu-helper console" | sed 's/.*/console/'
	} | sort
}
ask() { "$W/qemu-helper" qmp "$DIR/qmp" "$(vm_pid)" 3000 "{\"execute\":\"$1\"}"; }
vm_pid() { cut -d ' ' -f 1 "$DIR/vm" 2>/dev/null; }
view() {
	local cores quota f
	case $1 in
	cpu)
		cores=$(ask query-cpus-fast | grep -o '"cpu-index"' | wc -l)
		while read -r f; do
			[ ! -e "$f/cpu.cfs_quota_us" ] || quota=$(($(cat "$f/cpu.cfs_quota_us") / 100))
			[ ! -e "$f/cpu.max" ] || quota=$(($(cut -d ' ' -f 1 "$f/cpu.max") / 100))
		done <"$DIR/cgroups"
		echo $((${quota:-0} < cores * 1000 ? ${quota:-0} : cores * 1000))
		;;
	memory) ask query-memory-size-summary | grep -o '"base-memory": [0-9]*' | tr -dc 0-9 ;;
	storage) ask query-block | grep -o '"virtual-size": [0-9]*' | tr -dc '0-9\n' | sort -n | tail -n 1 ;; # its own, not its image's
	net) if ask query-rx-filter | grep -q '"return": \[\]'; then echo none; else echo some; fi ;;
	esac
}
stop_behind() { kill -9 "$(vm_pid)"; }
remove_behind() {
	kill -9 "$(vm_pid)"
	find "$DIR" -mindepth 1 ! -name cgroups -delete
}
host_pids() { vm_pid; }
drop_copy() { rm -rf "$W/engine/kept/lease-$ID-$GEN"; }
image_dir() { echo "$DIR/image"; }
# What can't be sent that way: to a file it must be one stream.
multifd() {
	"$W/qemu-helper" qmp "$DIR/qmp" "$(vm_pid)" 3000 \
		'{"execute":"migrate-set-capabilities","arguments":{"capabilities":[{"capability":"multifd","state":'"$1"'}]}}' >/dev/null
}
break_dump() { multifd true; }
break_restore() { printf rot | dd of="$DIR/image/state" bs=1 seek=100000 conv=notrunc status=none; }
mend() { if [ -S "$DIR/qmp" ]; then multifd false; fi; }
grows() { # FILE: no larger than it may be
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -le 131072 ]
}
extra() {
	local n
	counting_one || return
	check "it runs as the user that the configuration names" eval '[ "$(stat -c %U "/proc/$(vm_pid)")" = nobody ]'
	check "and can start nothing: its system calls are filtered" grep -q '^Seccomp:[[:space:]]*2' "/proc/$(vm_pid)/status"
	check "its disk is as large as the profile says" eval '[ "$(view storage)" = 67108864 ]'
	inside /bin/sh -c 'busybox yes 0123456789012345678901234567890123456789012345678901234567890123 | head -c 600000 >/dev/ttyS0'
	check "what it says on its console is kept, and no more than so much" eval 'grows "$DIR/console" && grows "$DIR/console.1" && [ -s "$DIR/console.1" ]'
	check "an image with a right sum that is no image begins anew as well" eval 'hibernated && head -c 200000 /dev/urandom >"$DIR/image/state" &&
		cksum <"$DIR/image/state" >"$DIR/image/sum" && exits 0 resume && says cold=yes && state_is running'
	kill -STOP "$(vm_pid)"
	check "one that does not answer is for later" eval 'WAIT=700 LIMIT="-k 1 2" exits 75 hibernate'
	kill -CONT "$(vm_pid)"
	check "and runs on" within 20 state_is running
	check "a copy of a hibernated one can be made" eval 'hibernated && exits 0 snapshot && state_is disk'
	drop_copy
	check "destroyed" exits 0 destroy
	checked_inventory "nothing is left of all that"
	fresh
	check "a storage that its image does not fit in is refused" eval 'with LEASE_PROFILE_STORAGE=1048576 exits 1 create && complains storage'
	checked_inventory "and leaves nothing"
	ENV+=(LEASE_PROFILE_MACHINE=microvm)
	check "a microvm is made as well" exits 0 create
	check "and hibernates" eval 'hibernated && exits 0 resume && ! says cold=yes && state_is running'
	check "and is destroyed" exits 0 destroy
	checked_inventory "and nothing is left of it"
}
