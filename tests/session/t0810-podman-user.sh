#!/bin/bash
# t0810-podman-user.sh: a daemon of one's own keeps containers of podman without root; klease runs commands in them as the user.
. "$(dirname "$0")/lib.sh"
world user
command -v podman >/dev/null || { skip "podman without root" "podman is not installed"; finish; }
# shellcheck source=tests/runtime/engines.sh
. "$(dirname "$0")/../runtime/engines.sh"
# Where the daemon's looks.
podman() { env -u XDG_DATA_HOME -u XDG_CONFIG_HOME podman "$@"; }
before_the_end() { podman system reset --force; } >/dev/null 2>&1
cat >"$W/containers.conf" <<-C
	[containers]
	default_ulimits = ["nofile=1024:1024"]
	[engine]
	cgroup_manager = "cgroupfs"
	runtime = "runc"
	events_logger = "file"
C
export CONTAINERS_CONF=$W/containers.conf
busybox_root "$W/rootfs"
tar --owner=0 --group=0 -C "$W/rootfs" -cf "$W/rootfs.tar" .
if ! podman import "$W/rootfs.tar" busybox:1 >"$W/up" 2>&1 || ! podman run --rm --network none localhost/busybox:1 /bin/sh -c true >"$W/up" 2>&1; then
	skip "podman without root" "$(tail -n 1 "$W/up")"
	finish
fi
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 500ms
	hibernate_after = 500ms
	[runtime podman]
	conf = $W/containers.conf
	[profile small]
	runtime = podman
	image = localhost/busybox:1
	command = /work
	net = none
	[profile limited]
	runtime = podman
	image = localhost/busybox:1
	cpu = 0.5
	[observe]
	every = 100ms
	cpu_floor = 100%
C
daemon || finish
fails "create succeeds" 0 k create --profile small --wait
id=$(cat "$W/said")
check "the user has a container of that name" eval 'podman ps --format "{{.Names}}" | grep -q "^lease-$id-"'
within 10 "a command runs inside, as the user's own" eval '[ "$(k exec "$id" -- cat /count)" -gt 3 ]'
fails "its exit status comes out" 9 k exec "$id" -- sh -c 'exit 9'
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
	stays 2 "what can't be hibernated stays awake" eval 'lives "$id" && ! is "$id" hibernated'
	check "klease show says why" eval 'k show "$id" | grep -q "without root"'
	fails "a limit that would not hold is refused" 1 k create --profile limited --wait
	check "and said" said 'cgroup 1'
fi
check "release ends it" k release "$id"
within 15 "it is over" absent "$id"
within 15 "and podman has it no more" eval '! podman ps --all --format "{{.Names}}" | grep -q .'
finish
