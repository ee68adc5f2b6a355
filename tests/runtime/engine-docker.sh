# shellcheck shell=bash
# engine-docker.sh: dockerd(8) for conformance.sh, with a folder of its own, its networks switched off.
# shellcheck disable=SC2034,SC2154

d() { timeout 20 docker --host "unix://$W/engine/s" "$@"; }
engine_again() {
	# What was killed has left its number, and that of its containerd, which ended with it but may be unreaped.
	rm -f "$W/engine/pid" "$W/engine/exec/containerd/containerd.pid"
	PATH=$W/bin:$PATH setsid dockerd --data-root "$W/engine/root" --exec-root "$W/engine/exec" -H "unix://$W/engine/s" --pidfile "$W/engine/pid" \
		--iptables=false --ip6tables=false --bridge=none --storage-driver=overlay2 --experimental --live-restore \
		--default-ulimit nofile=20000:20000 --exec-opt native.cgroupdriver=cgroupfs </dev/null >>"$W/dockerd.log" 2>&1 &
	disown $!
	within 200 d version >/dev/null 2>&1
}
engine_up() {
	if ! [ -x /usr/sbin/dockerd ] || ! [ -x /usr/bin/docker ]; then
		why="dockerd or docker is not installed"
		return 77
	fi
	PATH=/usr/sbin:/usr/bin:/sbin:/bin
	if ! engine_again; then
		why="dockerd does not come up: $(tail -n 1 "$W/dockerd.log")"
		return 1
	fi
	busybox_root "$W/rootfs"
	tar -C "$W/rootfs" -cf "$W/rootfs.tar" .
	d import "$W/rootfs.tar" busybox:1 >/dev/null || return
	ENV+=("LEASE_RUNTIME_PATH=$W/bin" "LEASE_RUNTIME_SOCKET=$W/engine/s" "LEASE_RUNTIME_DIR=$W/engine/root"
		LEASE_PROFILE_IMAGE=busybox:1 LEASE_PROFILE_COMMAND=/work LEASE_PROFILE_NET=none LEASE_PROFILE_CPU=500 LEASE_PROFILE_MEMORY=67108864)
}
# dockerd, its containerd, and the shims of its containers.
engine_pids() { pgrep -f "(dockerd|containerd).* $W/engine/|containerd-shim.* $W/engine/"; }
engine_down() {
	local pid
	d ps --all --quiet 2>/dev/null | while read -r pid; do d rm --force --volumes "$pid"; done >/dev/null 2>&1
	[ ! -s "$W/engine/pid" ] || kill "$(cat "$W/engine/pid")" 2>/dev/null
	within 100 eval '[ -z "$(engine_pids)" ]' || engine_pids | while read -r pid; do kill -9 "$pid"; done
	grep -o " $W/engine/[^ ]*" /proc/mounts | sort -r | while read -r pid; do umount "$pid"; done
}
engine_crash() {
	local pid
	pid=$(cat "$W/engine/pid")
	kill -9 "$pid"
	within 50 gone "$pid"
}
engine_hang() { kill -STOP "$(cat "$W/engine/pid")"; }
engine_wake() { kill -CONT "$(cat "$W/engine/pid")"; }
inventory() {
	{
		d ps --all --format 'container {{.Names}}'
		d volume ls --format 'volume {{.Name}}'
		d network ls --format 'network {{.Name}}'
		d images --all --format 'image {{.Repository}}:{{.Tag}}'
		find "$W/engine/root/containers" "$W/engine/root/overlay2" -mindepth 1 -maxdepth 1 -type d -printf 'kept %f\n'
		grep -o " $W/engine/[^ ]*" /proc/mounts | sed 's/^/mount/'
		pgrep -f "containerd-shim.* $W/engine/" | sed 's/^/process /'
	} | sort
}
ours() { d container inspect --format "$1" "lease-$ID-$GEN" 2>/dev/null; }
view() {
	case $1 in
	cpu) echo $(($(ours '{{.HostConfig.NanoCpus}}') / 1000000)) ;;
	memory) ours '{{.HostConfig.Memory}}' ;;
	net) ours '{{.HostConfig.NetworkMode}}' ;;
	esac
}
stop_behind() { d stop --time 0 "lease-$ID-$GEN" >/dev/null 2>&1; }
remove_behind() { d rm --force "lease-$ID-$GEN" >/dev/null 2>&1; }
host_pids() { d top "lease-$ID-$GEN" -o pid 2>/dev/null | sed 1d | tr '\n' ' '; }
# What the session tests and the bench do by themselves.
peek() { d exec "lease-$ID-$GEN" cat "$1"; }
own_create() { d run --detach --name "$1" --network none --cpus 0.5 --memory 67108864 busybox:1 /bin/sh -c /work >/dev/null; }
own_delete() { d rm --force --volumes "$1" >/dev/null; }
drop_copy() { d rmi "localhost/leasewatch/$ID:$GEN" >/dev/null; }
image_dir() { echo "$W/engine/root/containers/$(ours '{{.Id}}')/checkpoints/lease"; }
extra() { while_busy; }
