# shellcheck shell=sh disable=SC2034,SC2154
# qemu-machine.sh: of the qemu runtime, the machine: whether it can be had, what it is made of, its start and its end. What its files
# in LEASE_DIR are says runtimes/qemu.
console_max=262144

# --- Which accelerator works: a machine is started with it. Some hosts have /dev/kvm and fail at the first register.
# probing COMMAND…: in $probe, a folder that is gone afterwards, as is $vm, the machine that was started there.
probing() {
	probe=$(mktemp -d) || die "no folder to probe in"
	vm=''
	"$@"
	st=$?
	probe_end
	rm -rf "$probe"
	return $st
}
probe_end() {
	[ -z "$vm" ] || { kill -KILL "$vm" && wait "$vm"; } 2>/dev/null
	vm=''
	rm -f "$probe/qmp"
}
cpu_of() { if [ "$1" = kvm ]; then echo host; else echo max; fi; }
starts_with() { # ACCEL [WORD…]
	with=$1
	shift
	"$qemu" -accel "$with" -M q35 -cpu "$(cpu_of "$with")" -m 16 -S -nodefaults -no-user-config -display none \
		-qmp "unix:$probe/qmp,server=on,wait=off" "$@" </dev/null >/dev/null 2>"$probe/why" &
	vm=$!
	# A broken accelerator fails only when the first processor runs.
	probe_ask "$(do_ query-status)" 'until="(paused|prelaunch|postmigrate)"' "$(do_ cont)" "$(do_ query-status)" "until=$running" \
		"$(do_ stop)" "$(do_ query-status)" 'until="paused"' >/dev/null
}
probe_ask() { "$helper" qmp "$probe/qmp" "$vm" 5000 "$@" 2>>"$probe/why"; }
# A machine is put to disk and woken, for real.
sleeps() { # ACCEL
	starts_with "$1" && probe_ask "fd=$probe/state" "$(migrate)" "$(do_ query-migrate)" "until=$settled" >"$probe/said" &&
		grep -q '"completed"' "$probe/said" && [ -s "$probe/state" ] || return 1
	probe_end
	starts_with "$1" -incoming fd:3 3<"$probe/state"
}
find_accel() { # prints kvm or tcg; kept for this boot and this QEMU
	case ${LEASE_RUNTIME_ACCEL:-} in
	kvm | tcg) echo "$LEASE_RUNTIME_ACCEL"; return ;;
	'') ;;
	*) die "accel is kvm or tcg, not $LEASE_RUNTIME_ACCEL" ;;
	esac
	kept=$LEASE_WORK/.accel key="$(boot_now) $(stat -Lc '%i.%Y' "$(command -v "$qemu")")"
	if [ -f "$kept" ] && read -r boot file accel <"$kept" && [ "$boot $file" = "$key" ]; then
		echo "$accel"
		return
	fi
	accel=tcg
	if [ -w /dev/kvm ] && probing starts_with kvm; then accel=kvm; fi
	if [ -d "$LEASE_WORK" ]; then echo "$key $accel" >"$kept.$$" && mv "$kept.$$" "$kept"; fi
	echo "$accel"
}

sleeps_said() {
	sleeps "$1" && return
	last_line "$(cat "$probe/why")"
	echo "why=QEMU: $line"
	return 1
}
# --- The cgroup: below the one for leases, where root can make it. Version 2 counts the CPU; a part of a core needs a
# controller, of either version.
mounted() { # cgroup2, or a controller of version 1: where
	while read -r _ _ _ _ at rest; do
		case $1:${rest#*- } in
		cgroup2:cgroup2\ *) ;;
		cgroup2:*) continue ;;
		*:cgroup\ *) case ,${rest##* }, in *,"$1",*) ;; *) continue ;; esac ;;
		*) continue ;;
		esac
		echo "$at"
		return
	done </proc/self/mountinfo
	return 1
}
own_folder() { # MOUNT
	folder=$1/leasewatch/$LEASE_ID.$LEASE_GENERATION
	mkdir -p "$folder" 2>/dev/null && echo "$folder" | tee -a "$LEASE_DIR/cgroups"
}
make_cgroups() { # MILLICORES or nothing
	[ "$(id -u)" = 0 ] || { share_of_none "$1"; return; }
	v2=$(mounted cgroup2) && v2=$(own_folder "$v2") || v2=''
	[ -n "$1" ] || return 0
	if [ -n "$v2" ]; then
		top=${v2%/leasewatch/*}
		{ echo +cpu >"$top/cgroup.subtree_control" && echo +cpu >"$top/leasewatch/cgroup.subtree_control"; } 2>/dev/null
		{ echo "$(($1 * 100)) 100000" >"$v2/cpu.max"; } 2>/dev/null && return
	fi
	v1=$(mounted cpu) && v1=$(own_folder "$v1") && { echo "$(($1 * 100))" >"$v1/cpu.cfs_quota_us"; } 2>/dev/null && return
	share_of_none "$1"
}
# Whole cores are as many as the machine has.
share_of_none() { [ -z "$1" ] || [ $(($1 % 1000)) = 0 ] || die "cpu: no cgroup here that could give a part of a core"; }
drop_cgroups() {
	[ -f "$LEASE_DIR/cgroups" ] || return 0
	while read -r folder; do
		if [ -w "$folder/cgroup.kill" ]; then echo 1 >"$folder/cgroup.kill"; fi
		within 2000 removed "$folder" || die "$folder can't be removed"
		rmdir "${folder%/*}" 2>/dev/null
	done <"$LEASE_DIR/cgroups"
	rm -f "$LEASE_DIR/cgroups"
}
removed() { rmdir "$1" 2>/dev/null || [ ! -d "$1" ]; }

# --- Its command line, as the profile wants it.
plain() { # a value between QEMU's commas
	printf '%s' "$1" | sed 's/,/,,/g'
}
word() { for w; do printf '%s\n' "$w"; done >>"$LEASE_DIR/argv.new"; }
# Its sandbox lets it become somebody else where it is to.
confine() {
	sandbox=on,obsolete=deny,spawn=deny,resourcecontrol=deny
	if [ "$(id -u)" != 0 ]; then
		sandbox=$sandbox,elevateprivileges=deny
	elif [ -n "${LEASE_RUNTIME_USER:-}" ]; then
		u=$(id -u "$LEASE_RUNTIME_USER" 2>/dev/null) || die "user: there is no $LEASE_RUNTIME_USER"
		word -runas "$u:$(id -g "$LEASE_RUNTIME_USER")"
	elif [ "${LEASE_UID:-0}" != 0 ]; then
		g=$(getent passwd "$LEASE_UID" | cut -d: -f4)
		word -runas "$LEASE_UID:${g:-$LEASE_UID}"
	else
		sandbox=$sandbox,elevateprivileges=deny
	fi
	word -sandbox "$sandbox"
}
network() { # the kind of bus its devices have
	case ${LEASE_PROFILE_NET:-none} in
	none) word -nic none ;;
	user | engine)
		word -netdev "user,id=net${LEASE_PROFILE_FORWARD:+,hostfwd=$(plain "$LEASE_PROFILE_FORWARD")}"
		word -device "virtio-net-$1,netdev=net"
		;;
	*) die "net: none or user, not $LEASE_PROFILE_NET" ;;
	esac
}
make_argv() { # ACCEL MILLICORES
	machine=${LEASE_PROFILE_MACHINE:-q35} bus=pci
	case $machine in
	q35) ;;
	# With its ACPI it has no clock that a kernel could measure by, unless KVM gives it one.
	microvm) bus=device machine=microvm,acpi=off ;;
	*) die "qemu.machine: q35 or microvm, not $machine" ;;
	esac
	hash=$(printf '%s' "$name" | sha256sum)
	uuid=$(echo "$hash" | sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\).*/\1-\2-4\3-8\4-\5/')
	rm -f "$LEASE_DIR/argv.new"
	word -name "guest=$name,process=$name" -uuid "$uuid" -fw_cfg "name=opt/leasewatch/id,string=$LEASE_ID.$LEASE_GENERATION" \
		-M "$machine" -accel "$1" -cpu "$(cpu_of "$1")" -smp $((($2 + 999) / 1000)) \
		-m "$((${LEASE_PROFILE_MEMORY:-268435456} / 1048576))M" \
		-nodefaults -no-user-config -display none \
		-qmp unix:qmp,server=on,wait=off -chardev file,id=console,path=fifo -serial chardev:console
	[ "$machine" != q35 ] || word -smbios "type=1,serial=$LEASE_ID.$LEASE_GENERATION" \
		-chardev socket,id=line,path=line,server=on,wait=off -serial chardev:line
	[ -z "${LEASE_PROFILE_KERNEL:-}" ] || word -kernel "$LEASE_PROFILE_KERNEL"
	[ -z "${LEASE_PROFILE_INITRD:-}" ] || word -initrd "$LEASE_PROFILE_INITRD"
	append=${LEASE_PROFILE_APPEND:-}
	# What the kernel doesn't know becomes a variable of the guest's init.
	[ -z "${LEASE_PROFILE_COMMAND:-}" ] || append="$append LEASE_COMMAND=$(printf '%s' "$LEASE_PROFILE_COMMAND" | base64 -w 0)"
	[ -z "$append" ] || word -append "$append"
	# Opened by us: hibernating, it opens its disk anew, as a user who can't come here.
	[ ! -f "$LEASE_DIR/disk.qcow2" ] || word -add-fd fd=4,set=1 -add-fd fd=5,set=1 \
		-drive if=none,id=disk,file=/dev/fdset/1,file.locking=off,format=qcow2,discard=unmap -device "virtio-blk-$bus,drive=disk"
	network "$bus"
	confine
	mv "$LEASE_DIR/argv.new" "$LEASE_DIR/argv"
}
# image_says KEY: one of the numbers or words that qemu-img tells of it.
image_says() { sed -n "s/^    \"$1\": \"\\{0,1\\}\\([^\",]*\\).*/\\1/p" "$LEASE_DIR/info" | head -n 1; }
make_disk() {
	size=${LEASE_PROFILE_STORAGE:-} image=${LEASE_PROFILE_IMAGE:-}
	rm -f "$LEASE_DIR/disk.qcow2"
	[ -n "$image$size" ] || return 0
	[ -n "$image" ] || {
		qemu-img create -q -f qcow2 "$LEASE_DIR/disk.qcow2" "$size" >&2 || die "no disk of $size bytes"
		return
	}
	case $image in /*) ;; *) die "image: an absolute path, not $image" ;; esac
	[ -r "$image" ] || die "there is no image $image"
	qemu-img info -U --output=json "$image" >"$LEASE_DIR/info" || die "$image is no image"
	format=$(image_says format) least=$(image_says virtual-size)
	rm -f "$LEASE_DIR/info"
	case $format in raw | qcow2) ;; *) die "$image: raw or qcow2, not $format" ;; esac
	[ -z "$size" ] || [ "$size" -ge "$least" ] || die "storage: $image alone has $least bytes"
	# shellcheck disable=SC2086
	qemu-img create -q -f qcow2 -F "$format" -b "$image" "$LEASE_DIR/disk.qcow2" $size >&2 || die "no disk over $image"
}

# --- Start and end.
launch() { # [WORD…]: its own words and these; 3 is the image it wakes from
	rm -f "$LEASE_DIR/qmp" "$LEASE_DIR/line" "$LEASE_DIR/vm" "$LEASE_DIR/fifo"
	mkfifo -m 600 "$LEASE_DIR/fifo" && : >"$LEASE_DIR/starting" || return 1
	(
		cd "$LEASE_DIR" || exit 1
		if [ -f cgroups ]; then while read -r folder; do echo 0 >"$folder/cgroup.procs" || exit 1; done <cgroups; fi
		"$helper" console fifo console $console_max 3<&- || exit 1
		while IFS= read -r w; do set -- "$@" "$w"; done <argv
		# shellcheck disable=SC2094
		if [ -f disk.qcow2 ]; then exec 4<>disk.qcow2 5<disk.qcow2; fi
		exec setsid "$qemu" "$@" </dev/null >/dev/null 2>said
	) &
	pid=$!
	if start=$(start_of "$pid") && echo "$pid $start $(boot_now)" | put "$LEASE_DIR/vm" &&
		monitor "$(do_ query-status)" >/dev/null; then
		rm -f "$LEASE_DIR/fifo" "$LEASE_DIR/starting"
		return
	fi
	# With nobody left who writes, who reads the console ends.
	: 1<>"$LEASE_DIR/fifo"
	last_line "$(cat "$LEASE_DIR/said")"
	echo "${line:-the VM does not start}" >&2
	return 1
}
finish() { # its process goes, for certain
	if alive; then "$helper" end "$pid" "$start" 5000 || die "the VM's process $pid doesn't end"; fi
	rm -f "$LEASE_DIR/vm" "$LEASE_DIR/qmp" "$LEASE_DIR/line" "$LEASE_DIR/fifo" "$LEASE_DIR/starting"
}
remove_all() {
	finish
	drop_cgroups
	# image.failed-N stays no longer than its lease.
	for file in argv argv.new said said.new disk.qcow2 info asleep lost console console.1 image "$LEASE_DIR"/image.*; do
		rm -rf "${LEASE_DIR:?}/${file##*/}"
	done
}
say_place() {
	alive || return 0
	if [ -f "$LEASE_DIR/cgroups" ] && read -r folder <"$LEASE_DIR/cgroups" && [ -r "$folder/cpu.stat" ]; then
		echo "cgroup=$folder"
	else
		echo "tree=$pid:$start"
	fi
}
cold_start() { launch && monitor "$(do_ query-status)" "until=$running" >/dev/null; }

# In a shell of its own, so that whatever fails is taken back in one place.
make_all() {
	exec 2>&1
	accel=$(find_accel) && make_disk && make_cgroups "${LEASE_PROFILE_CPU:-}" && make_argv "$accel" "${LEASE_PROFILE_CPU:-1000}" &&
		cold_start && pin_machine
}
# It wakes as the machine it was made as, whatever q35 means to a later QEMU.
pin_machine() {
	type=$(monitor '{"execute":"qom-get","arguments":{"path":"/machine","property":"type"}}') || return 1
	case $type in
	*'"pc-q35-'*-machine*)
		type=pc-q35-${type#*'"pc-q35-'}
		sed "s/^q35\$/${type%%-machine*}/" "$LEASE_DIR/argv" | put "$LEASE_DIR/argv"
		;;
	esac
}

