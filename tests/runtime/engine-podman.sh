# shellcheck shell=bash
# engine-podman.sh: podman(1) for conformance.sh, with a storage of its own and runc(8).
# shellcheck disable=SC2034,SC2154

p() { PATH=$W/bin:$PATH CONTAINERS_CONF=$W/engine/containers.conf podman --root "$W/engine/root" --runroot "$W/engine/run" "$@"; }
engine_up() {
	if ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
		why="podman or runc is not installed"
		return 77
	fi
	cat >"$W/engine/containers.conf" <<-C
	[containers]
	default_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]
	[engine]
	cgroup_manager = "cgroupfs"
	runtime = "runc"
	events_logger = "file"
	C
	busybox_root "$W/rootfs"
	tar -C "$W/rootfs" -cf "$W/rootfs.tar" .
	if ! p import "$W/rootfs.tar" busybox:1 >"$W/up" 2>&1; then
		why=$(tail -n 1 "$W/up")
		return 1
	fi
	ENV+=("LEASE_RUNTIME_PATH=$W/bin" "LEASE_RUNTIME_CONF=$W/engine/containers.conf" "LEASE_RUNTIME_DIR=$W/engine"
		LEASE_PROFILE_IMAGE=localhost/busybox:1 LEASE_PROFILE_COMMAND=/work LEASE_PROFILE_NET=none LEASE_PROFILE_CPU=500 LEASE_PROFILE_MEMORY=67108864)
}
engine_down() {
	p rm --all --force --time 0 >/dev/null 2>&1
	grep " $W/engine/" /proc/mounts | cut -d ' ' -f 2 | sort -r | xargs -r umount
}
engine_crash() { return 77; }
engine_again() { :; }
inventory() {
	{
		p ps --all --format 'container {{.Names}}'
		p volume ls --format 'volume {{.Name}}'
		p network ls --format 'network {{.Name}}'
		p images --all --format 'image {{.Repository}}:{{.Tag}}'
		find "$W/engine/root/overlay-containers" -mindepth 1 -maxdepth 1 -type d -printf 'kept %f\n'
		grep -o " $W/engine/[^ ]*" /proc/mounts | sed 's/^/mount/'
		pgrep -f "conmon.*$W/engine/" | sed 's/^/process /'
	} | sort
}
ours() { p container inspect --format "$1" "lease-$ID-$GEN" 2>/dev/null; }
view() {
	case $1 in
	cpu) echo $(($(ours '{{.HostConfig.NanoCpus}}') / 1000000)) ;;
	memory) ours '{{.HostConfig.Memory}}' ;;
	net) ours '{{.HostConfig.NetworkMode}}' ;;
	esac
}
stop_behind() { p stop --time 0 "lease-$ID-$GEN" >/dev/null 2>&1; }
remove_behind() { p rm --force --time 0 "lease-$ID-$GEN" >/dev/null 2>&1; }
host_pids() { p top "lease-$ID-$GEN" hpid 2>/dev/null | sed 1d | tr '\n' ' '; }
# What the session tests and the bench do by themselves.
peek() { p exec "lease-$ID-$GEN" cat "$1"; }
own_create() { p run --detach --name "$1" --network none --cpus 0.5 --memory 67108864 localhost/busybox:1 /bin/sh -c /work >/dev/null; }
own_delete() { p rm --force --volumes --time 0 "$1" >/dev/null; }
drop_copy() { p rmi "localhost/leasewatch/$ID:$GEN" >/dev/null; }
image_dir() { echo "$(ours '{{.StaticDir}}')/checkpoint"; }
rootless() {
	local AS="setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups" home=$W/engine/home old=("${ENV[@]}") WORK=$W/engine/user
	section="$NAME, nobody: "
	mkdir "$home" "$WORK" && mkdir -m 700 "$home/run" && chown -R "$NOBODY" "$home" "$WORK"
	ENV=("HOME=$home" "XDG_RUNTIME_DIR=$home/run" "LEASE_RUNTIME_CONF=$W/engine/containers.conf"
		LEASE_PROFILE_IMAGE=localhost/busybox:1 LEASE_PROFILE_COMMAND=/work LEASE_PROFILE_NET=none)
	as_nobody() { (cd / && $AS env -i PATH="$PATH" "${ENV[@]}" CONTAINERS_CONF="$W/engine/containers.conf" podman "$@"); }
	chmod 644 "$W/rootfs.tar" "$W/engine/containers.conf"
	if ! as_nobody import "$W/rootfs.tar" busybox:1 >"$W/up" 2>&1; then
		skip "podman without root" "$(tail -n 1 "$W/up")"
	else
		RUN_UID=$NOBODY LEASE_UID=$NOBODY
		# As klease has them in a user's session.
		counter() { rt enter && mapfile -t words < <(sed -n 's/^word=//p' "$W/out") && (cd / && $AS env -i "${ENV[@]}" "${words[@]}" cat /count); }
		fresh
		check "capabilities say how it hibernates, and why" eval 'exits 0 capabilities && says "hibernate=(none|frozen)" && says "why=.*without root.*"'
		fresh
		check "create succeeds" exits 0 create
		check "and says which tree to watch" says 'tree=[0-9]+:[0-9]+'
		check "create again as well" eval 'exits 0 create && state_is running'
		check "its counter runs" within 50 past 3
		check "list has it" listed running
		[ -e /sys/fs/cgroup/cgroup.controllers ] || check "what can't be hibernated says why" eval 'exits 1 hibernate && complains "without root"'
		check "resume of a running one is done" exits 0 resume
		check "destroy ends it" eval 'exits 0 destroy && state_is absent'
		check "destroy again is done" exits 0 destroy
		check "limits that would not hold are refused" eval '[ -e /sys/fs/cgroup/cgroup.controllers ] || with LEASE_PROFILE_CPU=500 exits 1 create'
	fi
	as_nobody system reset --force >/dev/null 2>&1
	RUN_UID=0 LEASE_UID=0 ENV=("${old[@]}")
}
extra() {
	while_busy
	fresh
	check "storage that can't be limited is refused" eval 'with LEASE_PROFILE_STORAGE=1073741824 exits 1 create && complains size'
	checked_inventory "and nothing is left of it"
	rootless
}
