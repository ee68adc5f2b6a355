# shellcheck shell=bash
# engine-lxc.sh: LXC for conformance.sh, with a folder of its own. It has no daemon.
# shellcheck disable=SC2016,SC2034,SC2154

l() { local command=$1; shift; timeout 20 "lxc-$command" -P "$W/engine/lxc" "$@" </dev/null; }
engine_up() {
	if ! command -v lxc-start >/dev/null || ! command -v lxc-checkpoint >/dev/null; then
		why="lxc is not installed"
		return 77
	fi
	mkdir -m 755 "$W/engine/lxc"
	busybox_root "$W/rootfs"
	tar -C "$W/rootfs" -czf "$W/rootfs.tgz" .
	ENV+=("LEASE_RUNTIME_PATH=$W/bin" "LEASE_RUNTIME_DIR=$W/engine/lxc"
		"LEASE_PROFILE_IMAGE=$W/rootfs.tgz" LEASE_PROFILE_COMMAND=/work LEASE_PROFILE_NET=none LEASE_PROFILE_CPU=500 LEASE_PROFILE_MEMORY=67108864)
}
engine_down() {
	local one
	for one in "$W"/engine/lxc/*/config; do
		[ ! -e "$one" ] || l destroy -f -n "$(basename "${one%/config}")" >/dev/null 2>&1
	done
	pgrep -f "\[lxc monitor\] $W/engine/" | while read -r one; do kill -9 "$one"; done
}
engine_crash() { return 77; }
engine_again() { :; }
inventory() {
	{
		l ls -1 | sed 's/^/container /'
		find "$W/engine/lxc" -mindepth 1 -maxdepth 1 -printf 'kept %f\n'
		grep -o " $W/engine/[^ ]*" /proc/mounts | sed 's/^/mount/'
		pgrep -f "\[lxc monitor\] $W/engine/" | sed 's/^/process /'
		find /sys/fs/cgroup -mindepth 2 -maxdepth 2 -type d -name '*lease-kls-*' -path "*$ID*" -printf 'cgroup %P\n'
	} | sort
}
view() {
	case $1 in
	cpu) echo $(($(l cgroup -n "lease-$ID-$GEN" cpu.cfs_quota_us) * 1000 / $(l cgroup -n "lease-$ID-$GEN" cpu.cfs_period_us))) ;;
	memory) l cgroup -n "lease-$ID-$GEN" memory.limit_in_bytes ;;
	net) l info -n "lease-$ID-$GEN" -c lxc.net.0.type | sed 's/.*= //; s/empty/none/' ;;
	esac
}
peek() { cat "$W/engine/lxc/lease-$ID-$GEN/rootfs$1"; }
stop_behind() { l stop -k -n "lease-$ID-$GEN" >/dev/null 2>&1; }
remove_behind() { l destroy -f -n "lease-$ID-$GEN" >/dev/null 2>&1; }
host_pids() { cat /sys/fs/cgroup/*/"lxc.payload.lease-$ID-$GEN/cgroup.procs" 2>/dev/null | sort -un | tr '\n' ' '; }
drop_copy() { rm -rf "$W/engine/lxc/copy-$ID-$GEN"; }
extra() {
	while_busy
	fresh
	check "storage can't be limited, which is said" eval 'with LEASE_PROFILE_STORAGE=1073741824 exits 1 create && complains "limit storage"'
	checked_inventory "and nothing is left of it"
	mkdir -p "$W/engine/folder" && tar -C "$W/engine/folder" -xzf "$W/rootfs.tgz"
	fresh
	check "an image may be a folder" eval 'with "LEASE_PROFILE_IMAGE=$W/engine/folder" exits 0 create && within 100 past 2'
	check "which stays as it is" eval '[ ! -e "$W/engine/folder/count" ]'
	check "destroyed" exits 0 destroy
	checked_inventory "and nothing is left of it, either"
}
