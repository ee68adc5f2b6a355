# shellcheck shell=bash
# engine-kbox.sh: no kbox can be had for Debian. Its socket, which speaks a part of Docker's API, is proven by podman's real service, which
# has checkpoint and restore below another prefix; its commands by a stand-in that records what it was called with.
# shellcheck disable=SC2034,SC2154

# shellcheck source=tests/runtime/engine-podman.sh
. "${BASH_SOURCE[0]%/*}/engine-podman.sh"
image_is_its_own=1
service=

engine_again() {
	rm -f "$W/engine/s"
	PATH=$W/bin:$PATH CONTAINERS_CONF=$W/engine/containers.conf setsid podman --root "$W/engine/root" --runroot "$W/engine/run" system service \
		--time 0 "unix://$W/engine/s" </dev/null >>"$W/service.log" 2>&1 &
	service=$!
	disown $service
	within 100 curl -s --unix-socket "$W/engine/s" http://d/_ping >/dev/null
}
eval "podman_$(declare -f engine_up)"
eval "podman_$(declare -f engine_down)"
engine_up() {
	if ! command -v curl >/dev/null || ! command -v jq >/dev/null; then
		why="curl or jq is not installed"
		return 77
	fi
	podman_engine_up || return
	engine_again || return
	ENV=("LEASE_RUNTIME_PATH=$W/bin" "LEASE_RUNTIME_SOCKET=$W/engine/s" LEASE_RUNTIME_CHECKPOINT=/v4.3.1/libpod
		"LEASE_RUNTIME_ENTER=env PATH=$W/bin:$PATH CONTAINERS_CONF=$W/engine/containers.conf podman --root $W/engine/root --runroot $W/engine/run exec -i"
		LEASE_PROFILE_IMAGE=localhost/busybox:1 LEASE_PROFILE_COMMAND=/work LEASE_PROFILE_NET=none LEASE_PROFILE_CPU=500 LEASE_PROFILE_MEMORY=67108864)
}
engine_down() {
	[ -z "$service" ] || kill -9 "$service" 2>/dev/null
	podman_engine_down
}
engine_crash() {
	kill -9 "$service"
	within 50 gone "$service"
}
engine_hang() { kill -STOP "$service"; }
engine_wake() { kill -CONT "$service"; }
short_of_space() { skip "a disk that is full" "where kbox keeps an image is its own matter"; }

# called WORD…: the last call of the stand-in had just these words.
called() {
	printf '%s\n' "$@" >"$W/wanted"
	cmp -s "$W/wanted" "$W/argv" || { tr '\n' ' ' <"$W/argv" >"$W/err"; return 1; }
}
extra() {
	local n
	cat >"$W/bin/kbox" <<-STAND
	#!/bin/sh
	printf '%s\n' "\$@" >$W/argv
	if [ "\$1" != run ] && [ ! -e $W/box ]; then echo "Error: no such box: \$2" >&2; exit 1; fi
	case \$1 in
	run) : >$W/box ;;
	stats) echo cpu_usec=17 ;;
	rm) rm $W/box ;;
	suspend | resume) [ ! -e $W/no ] || { echo "Error: no" >&2; exit 1; } ;;
	esac
	STAND
	chmod 755 "$W/bin/kbox"
	ENV=("LEASE_RUNTIME_PATH=$W/bin" LEASE_PROFILE_IMAGE=im LEASE_PROFILE_CPU=1250 LEASE_PROFILE_MEMORY=4096 LEASE_PROFILE_NET=none
		"LEASE_PROFILE_COMMAND=a 'b' \$(c)" LEASE_PROFILE_PROFILE=small LEASE_PROFILE_STORAGE=8192 "LEASE_RUNTIME_ENTER=kbox exec")
	section="kbox, by command: "
	check "capabilities" eval 'exits 0 capabilities && says hibernate=disk && says snapshot=no && says enter=yes'
	fresh
	n=lease-$ID-7
	check "create runs a box" eval 'exits 0 create && called run --system --name $n --label leasewatch.id=$ID --label leasewatch.generation=7 --label leasewatch.uid=0 \
		--profile small --cpus 1.250 --memory 4096 --storage 8192 --network none -- im /bin/sh -c "a '\''b'\'' \$(c)"'
	check "create again looks whether it is there" eval 'exits 0 create && called stats $n'
	check "stat asks for its use" eval 'exits 0 stat && called stats $n && says state=running && says cpu_usec=17'
	check "hibernate suspends it" eval 'hibernated && called suspend $n && state_is disk'
	: >"$W/argv"
	check "hibernate again does nothing" eval 'hibernated && [ ! -s "$W/argv" ]'
	check "list has it" listed disk
	check "resume resumes it" eval 'exits 0 resume && called resume $n && state_is running'
	check "enter prints its words" eval 'exits 0 enter && [ "$(tr "\n" " " <"$W/out")" = "word=kbox word=exec word=$n " ]'
	: >"$W/no"
	check "a suspend that fails is said, and it runs on" eval 'exits 1 hibernate && complains "no" && state_is running'
	rm "$W/no"
	check "snapshot is not done" exits 1 snapshot
	check "another generation is absent" eval 'GEN=8 DIR=$WORK/$ID.8; mkdir "$DIR"; state_is absent && exits 3 hibernate && exits 3 resume && GEN=7 DIR=$WORK/$ID.7'
	GEN=7 DIR=$WORK/$ID.7
	check "destroy removes it" eval 'exits 0 destroy && called rm --force $n && state_is absent'
	check "destroy again is done" exits 0 destroy
	fresh
	check "removed behind our back, it is absent" eval 'rt create && rm "$W/box" && state_is absent && exits 3 hibernate && unlisted && exits 0 destroy'
}
