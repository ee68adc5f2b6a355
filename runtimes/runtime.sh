# shellcheck shell=sh disable=SC2015,SC2034
# runtime.sh: what the runtimes written in shell share; see lease-runtime(7). A runtime is a program like this:
#
#	#!/bin/sh
#	. "${0%/*}/../runtime.sh"
#	verb_create() { … }		# one function a verb; $name is the workload's name in the engine
#	dispatch "$@"
#
# On the way that succeeds few processes are started: what /proc and the cgroups tell is read by the shell itself.
set -u
umask 077
me=${0##*/}
[ -z "${LEASE_RUNTIME_PATH:-}" ] || PATH=$LEASE_RUNTIME_PATH:$PATH
export PATH

die() {
	printf '%s: %s\n' "$me" "$*" >&2
	exit 1
}
later() {
	printf '%s: %s\n' "$me" "$*" >&2
	exit 75
}
gone() { exit 3; }

# need WORD...: these programs are there.
need() {
	for need_word; do
		command -v "$need_word" >/dev/null && continue
		case $need_word in
		docker | dockerd) need_package=docker.io ;;
		incus) need_package=incus-client ;;
		lxc-*) need_package=lxc ;;
		qemu-system-x86_64) need_package=qemu-system-x86 ;;
		*) need_package=$need_word ;;
		esac
		die "$need_word is not there (Debian: apt-get install $need_package)"
	done
}

# Sets name: the workload's in the engine.
# shellcheck disable=SC2153
name() { name=lease-$LEASE_ID-$LEASE_GENERATION; }

# What becomes part of a name or a path has the shape that the daemon gives it, and the folder is this workload's.
own_only() {
	case ${LEASE_ID:-} in
	kls-*[!a-z2-7]* | kls-) die "LEASE_ID is not the id of a lease" ;;
	kls-*) [ "${#LEASE_ID}" = 14 ] || die "LEASE_ID is not the id of a lease" ;;
	*) die "LEASE_ID is not the id of a lease" ;;
	esac
	case ${LEASE_GENERATION:-} in
	'' | 0* | *[!0-9]*) die "LEASE_GENERATION is not a number from 1 on" ;;
	esac
	[ -d "${LEASE_DIR:-}" ] || die "there is no folder LEASE_DIR"
	[ "${LEASE_DIR##*/}" = "$LEASE_ID.$LEASE_GENERATION" ] || die "LEASE_DIR is another workload's"
}

# Sets now: milliseconds since boot, to the 10 that the kernel tells.
clock() {
	read -r now _ </proc/uptime
	clock_part=${now#*.}
	now=$((${now%.*} * 1000 + 1${clock_part}0 - 1000))
}
clock
began=$now spare_most=500
# Tidying up has begun.
spend_all() { spare_most=20; }
# Sets left, and seconds, which is the same with three decimals: milliseconds until the deadline, of which the last quarter (at most 500) is for tidying up.
time_left() {
	clock
	left=${LEASE_DEADLINE_MS:-60000}
	time_spare=$((left / 4))
	[ $time_spare -le $spare_most ] || time_spare=$spare_most
	left=$((left - time_spare - (now - began)))
	[ $left -gt 0 ] || left=1
	seconds=$((left % 1000 + 1000))
	seconds=$((left / 1000)).${seconds#1}
}
# Without asking id(1).
is_root() { [ -r /proc/1/environ ]; }

# within MS COMMAND...: until it is true; false once MS, or what the deadline leaves, are over.
within() {
	time_left
	within_end=$((now + ($1 < left ? $1 : left)))
	within_nap=0.01
	shift
	until "$@"; do
		clock
		[ "$now" -lt $within_end ] || return 1
		sleep $within_nap
		within_nap=0.03
	done
}

# bounded COMMAND...: ended when the deadline is near; 124 then.
bounded() {
	time_left
	timeout --foreground -k 0.2 "$seconds" "$@"
}

# put FILE: stdin to the file, whole or not at all.
put() { cat >"$1.new" && mv -f "$1.new" "$1"; }

# Sets line: the last line of a text that has something in it, for people.
last_line() {
	# shellcheck disable=SC2016 # sed's $
	line=$(printf '%s\n' "$1" | tr -d '\r' | tr -c '[:print:]\n' ' ' | sed -n '/[^ ]/h; ${g;p;}' | cut -c 1-600)
}

# words WORD...: each as an answer of `enter`.
words() {
	for words_one; do printf 'word=%s\n' "$words_one"; done
}

# What a process is accounted to. Sets cgroup, the folder whose CPU the daemon can read, and memory_cgroup; "" where there is none.
# cgroup_of PID [PART]: the folder is the one whose name has PART in it, whatever is nested below.
cgroup_of() {
	cgroup='' memory_cgroup='' cgroup_2=''
	[ -r "/proc/$1/cgroup" ] || return 1
	while IFS=: read -r _ cgroup_hold cgroup_path; do
		if [ -n "${2:-}" ]; then
			cgroup_rest=${cgroup_path#*"$2"}
			[ "$cgroup_rest" != "$cgroup_path" ] || continue
			cgroup_path=${cgroup_path%%"$2"*}$2${cgroup_rest%%/*}
		fi
		case ,$cgroup_hold, in
		,,)
			for cgroup_top in /sys/fs/cgroup /sys/fs/cgroup/unified; do
				[ ! -e "$cgroup_top$cgroup_path/cpu.stat" ] || cgroup_2=$cgroup_top$cgroup_path
			done
			;;
		*,cpuacct,*) [ ! -e "/sys/fs/cgroup/$cgroup_hold$cgroup_path/cpuacct.usage" ] || cgroup=/sys/fs/cgroup/$cgroup_hold$cgroup_path ;;
		*,memory,*) memory_cgroup=/sys/fs/cgroup/$cgroup_hold$cgroup_path ;;
		esac
	done <"/proc/$1/cgroup"
	: "${cgroup:=$cgroup_2}" "${memory_cgroup:=$cgroup_2}"
	[ -n "$cgroup" ]
}
# Whether a process is in the cgroup folder, or in one below it.
populated() {
	[ -d "$1" ] || return 1
	if [ -r "$1/cgroup.events" ]; then
		while read -r populated_key populated_value; do
			[ "$populated_key $populated_value" != "populated 1" ] || return 0
		done <"$1/cgroup.events"
		return 1
	fi
	read -r _ <"$1/cgroup.procs" && return 0
	for populated_below in "$1"/*/; do
		[ ! -d "$populated_below" ] || populated "${populated_below%/}" && return 0
	done
	return 1
}
empty() { ! populated "$1"; }
# Whether what is in the driver's $freezer, a folder of either version, stands still.
# shellcheck disable=SC2154
frozen() {
	if [ -r "$freezer/freezer.state" ]; then
		read -r frozen_word <"$freezer/freezer.state" && [ "$frozen_word" = FROZEN ]
	else
		while read -r frozen_key frozen_word; do
			[ "$frozen_key $frozen_word" != "frozen 1" ] || return 0
		done <"$freezer/cgroup.events"
		return 1
	fi
} 2>/dev/null
thawed() { ! frozen; }
# Sets memory: the bytes that an image of what is in the cgroup would have to hold, "" where that can't be read.
memory_of() {
	memory='' memory_kind=
	[ -n "$1" ] && [ -r "$1/memory.stat" ] || return 1
	[ ! -e "$1/memory.usage_in_bytes" ] || memory_kind=total_
	memory=0
	while read -r memory_key memory_bytes; do
		case $memory_kind$memory_key in
		anon | shmem | total_total_rss | total_total_shmem) memory=$((memory + memory_bytes)) ;;
		esac
	done <"$1/memory.stat"
}
# Sets net_bytes: received and sent by the network that the process is in, but for its loopback.
net_of() {
	net_bytes=0
	[ -r "/proc/$1/net/dev" ] || return 1
	while read -r net_dev net_in _ _ _ _ _ _ _ net_out _; do
		case $net_dev in
		*:) [ "$net_dev" = lo: ] || net_bytes=$((net_bytes + net_in + net_out)) ;;
		esac
	done <"/proc/$1/net/dev"
}

# Sets roots: how many processes in the cgroup's folder have their parent outside; of the first of them root_pid and root_start (ticks since boot).
roots() {
	roots_pids=' ' roots=0 root_pid='' root_start=''
	while read -r roots_pid; do roots_pids="$roots_pids$roots_pid "; done <"$1/cgroup.procs"
	for roots_pid in $roots_pids; do
		read -r roots_line <"/proc/$roots_pid/stat" || continue
		# shellcheck disable=SC2086 # fields
		set -- ${roots_line##*) }
		case $roots_pids in *" $2 "*) continue ;; esac
		roots=$((roots + 1))
		[ $roots -gt 1 ] || { shift 19; root_pid=$roots_pid root_start=$1; }
	done
} 2>/dev/null
# A command that runs inside by `enter` is no child of the container's first process, and a dump would end it without a word.
# entered FOLDER: there is one in this cgroup.
entered() {
	roots "$1"
	[ $roots -gt 1 ]
}

# An image of memory on disk. It is as good as its list of files and sizes, LEASE_DIR/image, whose last line is written last and which is
# removed first.
image_list() { find "$1" -type f -printf '%s %P\n'; }
# room_for FOLDER BYTES: a tenth more than that, and a MiB, are free there. Else: says so and fails.
room_for() {
	# shellcheck disable=SC2046
	set -- "$1" "$(($2 + $2 / 10 + 1048576))" $(stat -f -c '%a %S' "$1")
	[ $# = 4 ] || die "can't tell how much room is left in $1"
	[ $(($3 * $4)) -ge "$2" ] || die "no room for an image: $(($2 / 1048576)) MiB wanted, $(($3 * $4 / 1048576)) MiB left in $1"
}
# image_seal FOLDER [FILE]: it is complete; FILE must be in it and have something in it.
image_seal() {
	image_lines=
	[ -z "${2:-}" ] || [ -s "$1/$2" ] || return 1
	image_list "$1" >"$LEASE_DIR/image" && [ -s "$LEASE_DIR/image" ] && echo sealed >>"$LEASE_DIR/image"
}
# Sets image_lines: what was sealed.
image_sealed() {
	image_lines=''
	[ -s "$LEASE_DIR/image" ] || return 1
	while read -r image_line; do
		[ "$image_line" != sealed ] || return 0
		image_lines="$image_lines$image_line
"
	done <"$LEASE_DIR/image"
	return 1
}
# image_good FOLDER: nothing of it is lost. A folder lists its files in the same order as before, unless it was copied.
image_good() {
	[ -d "$1" ] || return 1
	[ -n "${image_lines:-}" ] || image_sealed || return 1
	image_now=$(image_list "$1")
	[ "$image_now" != "${image_lines%?}" ] || return 0
	[ "$(printf '%s\n' "$image_now" | sort)" = "$(printf %s "$image_lines" | sort)" ]
}
# Of the past: it was resumed from.
image_drop() {
	[ ! -e "$LEASE_DIR/image" ] && [ ! -d "$1" ] || rm -rf "$LEASE_DIR/image" "$1"
}
# image_aside FOLDER: kept, for people, as LEASE_DIR/image.failed-N. Sets image_kept, which says so.
image_aside() {
	image_n=1
	while [ -e "$LEASE_DIR/image.failed-$image_n" ]; do image_n=$((image_n + 1)); done
	rm -f "$LEASE_DIR/image"
	image_kept=" (kept as image.failed-$image_n)"
	mv "$1" "$LEASE_DIR/image.failed-$image_n"
}

# criu_works: criu(8) is there and says that this kernel has what it needs; else criu_why.
criu_works() {
	if ! command -v criu >/dev/null; then
		criu_why="no CRIU (Debian: apt-get install criu)"
		return 1
	fi
	if criu_why=$(criu check 2>&1); then return 0; fi
	last_line "$criu_why"
	criu_why="CRIU $(criu --version 2>/dev/null | sed -n 's/^Version: *//p'): ${line#Error *: }"
	return 1
}
# What the driver's probe found at the daemon's start (capabilities), or else now. It sets disk, freezes and why, and takes its time.
probe_once() {
	probe_file=${LEASE_WORK:-/nonexistent}/probed
	if [ -r "$probe_file" ]; then
		{ read -r probe_of; read -r disk; read -r freezes; read -r why; } <"$probe_file"
		[ "$probe_of" != "${LEASE_BOOT:-} $PATH" ] || return 0
	fi
	probe
	probe_keep
}
probe_keep() {
	[ -d "${LEASE_WORK:-}" ] || return 0
	printf '%s\n' "${LEASE_BOOT:-} $PATH" "$disk" "$freezes" "$why" | put "$LEASE_WORK/probed"
}

# A request to keep a process of klease's: an engine makes its own.
no_process() {
	[ -z "${LEASE_PID:-}" ] || die "makes its own processes; run a command in it: klease exec $LEASE_ID -- COMMAND"
}

# dispatch VERB: the driver's last line.
dispatch() {
	[ $# = 1 ] || die "usage: $me VERB"
	case $1 in
	capabilities | list) ;;
	create | stat | hibernate | resume | snapshot | destroy | enter)
		own_only
		name
		;;
	*) die "can't $1" ;;
	esac
	command -v "verb_$1" >/dev/null || die "does no $1"
	"verb_$1"
}
