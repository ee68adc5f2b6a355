# shellcheck shell=bash
# engine-incus.sh: incusd(1) for conformance.sh, with a folder of its own, on its unix socket only.
# shellcheck disable=SC2016,SC2034,SC2154

incusd=/usr/libexec/incus/incusd
i() { INCUS_DIR=$W/engine/i HOME=$W timeout 20 incus "$@"; }
engine_again() {
	PATH=$W/bin:$PATH INCUS_DIR=$W/engine/i INCUS_IDMAPPED_MOUNTS_DISABLE=1 setsid "$incusd" --group root --logfile "$W/incusd.log" \
		</dev/null >/dev/null 2>&1 &
	echo $! >"$W/incusd.pid"
	disown $!
	INCUS_DIR=$W/engine/i "$incusd" waitready --timeout=30 2>"$W/up"
}
engine_up() {
	if ! [ -x "$incusd" ] || ! command -v incus >/dev/null; then
		why="incus is not installed"
		return 77
	fi
	PATH=/usr/sbin:/usr/bin:/sbin:/bin
	# A container's root is nobody on the host, and has to get to its files.
	mkdir -m 711 "$W/engine/i"
	mkdir -p /var/log/incus
	if ! engine_again; then
		why="incusd does not come up: $(tail -n 1 "$W/incusd.log")"
		return 1
	fi
	i admin init --preseed <<-P || return
	config: {images.auto_update_interval: "0"}
	storage_pools: [{name: default, driver: dir}]
	profiles: [{name: default, devices: {root: {type: disk, path: /, pool: default}}}]
	P
	busybox_root "$W/image/rootfs"
	printf 'architecture: %s\ncreation_date: 1700000000\n' "$(uname -m)" >"$W/image/metadata.yaml"
	tar -C "$W/image" -czf "$W/image.tgz" metadata.yaml rootfs
	i image import --quiet "$W/image.tgz" --alias busybox || return
	ENV+=("LEASE_RUNTIME_PATH=$W/bin" "LEASE_RUNTIME_DIR=$W/engine/i"
		LEASE_PROFILE_IMAGE=busybox LEASE_PROFILE_COMMAND=/work LEASE_PROFILE_NET=none LEASE_PROFILE_CPU=500 LEASE_PROFILE_MEMORY=67108864)
}
engine_pids() { pgrep -f "\[lxc monitor\] $W/engine/|incusd .* $W/(engine|incusd)|dnsmasq.*$W/engine/"; }
engine_down() {
	local one
	i list --format csv --columns n 2>/dev/null | while read -r one; do i delete --force "$one" </dev/null; done >/dev/null 2>&1
	[ ! -s "$W/incusd.pid" ] || kill "$(cat "$W/incusd.pid")" 2>/dev/null
	within 100 eval '[ -z "$(engine_pids)" ]' || engine_pids | while read -r one; do kill -9 "$one"; done
	grep -o " $W/engine/[^ ]*" /proc/mounts | sort -r | while read -r one; do umount "$one"; done
}
engine_crash() {
	local pid
	pid=$(cat "$W/incusd.pid")
	kill -9 "$pid"
	within 50 gone "$pid"
}
engine_hang() { kill -STOP "$(cat "$W/incusd.pid")"; }
engine_wake() { kill -CONT "$(cat "$W/incusd.pid")"; }
inventory() {
	{
		i list --format csv --columns n | sed 's/^/container /'
		i storage volume list default --format csv --columns tn | sed 's/^/volume /'
		i network list --format csv | sed 's/^/network /'
		i image list --format csv --columns lf | sed 's/^/image /'
		find "$W"/engine/i/storage-pools/default -mindepth 2 -maxdepth 2 -printf 'kept %P\n'
		grep -o " $W/engine/[^ ]*" /proc/mounts | sed 's/^/mount/'
		pgrep -f "\[lxc monitor\] $W/engine/" | sed 's/^/process /'
	} | sort
}
view() {
	case $1 in
	cpu) i config get "lease-$ID-$GEN" limits.cpu.allowance | sed -n 's|ms/100ms||p' | sed 's/$/0/' ;;
	memory) i config get "lease-$ID-$GEN" limits.memory ;;
	net) i query "/1.0/instances/lease-$ID-$GEN" | grep -q '"type": "nic"' && echo engine || echo none ;;
	esac
}
peek() { cat "$W/engine/i/containers/lease-$ID-$GEN/rootfs$1"; }
stop_behind() { i stop --force "lease-$ID-$GEN" >/dev/null 2>&1; }
remove_behind() { i delete --force "lease-$ID-$GEN" >/dev/null 2>&1; }
host_pids() { cat "/sys/fs/cgroup/"*"/lxc.payload.lease-$ID-$GEN/cgroup.procs" 2>/dev/null | sort -un | tr '\n' ' '; }
drop_copy() { i image delete "leasewatch-$ID-$GEN" >/dev/null; }
image_dir() { echo "$W/engine/i/containers/lease-$ID-$GEN/state"; }
extra() {
	while_busy
	fresh
	check "storage that the pool can't limit is refused" eval 'with LEASE_PROFILE_STORAGE=1073741824 exits 1 create && complains "limit storage"'
	checked_inventory "and nothing is left of it"
}
