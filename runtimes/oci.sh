# shellcheck shell=sh disable=SC2015,SC2034,SC2086,SC2154
# oci.sh: what podman and docker, whose commands are nearly the same, have in common. Sourced after runtime.sh by a driver that has
#
#	engine ARG...		the engine's command, bounded
#	engine_up		whether it answers at all
#	engine_words		prints the words that `engine` begins with, for enter
#	probe			sets disk: 1 or "", and why
#	dump, restore		the engine's call: memory to and from $image, which is below $home
#	undump			what a dump left is not wanted: removed, and its list before it
#	places			sets, for $cid, homes and group_places: where home and the cgroup (below a hierarchy) are by default
#	home_format		what inspect is asked for home, the engine's folder of the workload
#	image_below		the image's folder below home
#	remove_options		of rm
#
# The record, LEASE_DIR/workload, spares the engine questions: the id that the engine gave it, home, its cgroup, its first process.

# ask ARG...: the engine's answer in out.
ask() { out=$(engine "$@" 2>"$LEASE_DIR/said"); }
# What the engine complained of, in line.
said() {
	last_line "$(grep -v "^See '" "$LEASE_DIR/said")"
	line=${line#Error response from daemon: }
	line=${line#Error: }
}
# failed STATUS WHAT: the engine said no, was late, or is not there.
failed() {
	failed_status=$1
	shift
	[ "$failed_status" != 124 ] || later "$*: the engine did not answer in time"
	said
	engine_up >/dev/null 2>&1 || later "$*: the engine does not answer: $line"
	die "$*: $line"
}

record() { printf '%s\n' "$cid" "$home" "$below" "$pid" "$start" >"$LEASE_DIR/workload.new" && mv -f "$LEASE_DIR/workload.new" "$LEASE_DIR/workload"; }
recall() {
	cid='' home='' below='' pid='' start=''
	[ -e "$LEASE_DIR/workload" ] || return 1
	{ read -r cid; read -r home; read -r below; read -r pid; read -r start; } <"$LEASE_DIR/workload"
	image=${home:-/nonexistent}/$image_below
	groups
}
# Sets start: of process pid, in ticks since boot.
start_of() {
	start=
	read -r start_line <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086
	set -- ${start_line##*) }
	shift 19
	start=$1
} 2>/dev/null

# Sets cgroup, memory_cgroup and freezer from below.
groups() {
	cgroup='' memory_cgroup='' freezer=''
	[ -n "$below" ] || return 1
	for groups_top in /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpuacct /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ ! -d "$groups_top$below" ] || { cgroup=$groups_top$below; break; }
	done
	memory_cgroup=$cgroup
	[ ! -d "/sys/fs/cgroup/memory$below" ] || memory_cgroup=/sys/fs/cgroup/memory$below
	freezer=$cgroup
	[ ! -d "/sys/fs/cgroup/freezer$below" ] || freezer=/sys/fs/cgroup/freezer$below
	[ -n "$cgroup" ]
}
# The same without a question to the engine, where it puts things where it does by default.
guess() {
	home='' below='' pid='' start=''
	places
	for guess_home in $homes; do
		[ ! -d "$guess_home" ] || home=$guess_home
	done
	for below in $group_places; do
		[ -z "$home" ] || ! groups || return 0
	done
	below=
	return 1
}
alive() {
	if [ -n "$below" ]; then groups && populated "$cgroup"; else
		alive_start=$start
		[ -n "$pid" ] && start_of "$pid" && [ "$start" = "$alive_start" ]
	fi
}
dead() { ! alive; }
# Sets pid and start: the container's first process.
first_process() {
	roots "$cgroup"
	pid=$root_pid start=$root_start
}

# What the verbs below ask of the engine, by commands. A driver may have its own instead: each ends as `ask` does.
#
# do_inspect: out is ID|STATUS|PID|LABEL id|LABEL generation|HOME, or "" when there is no such workload.
do_inspect() {
	! ask container inspect --format "$inspect_format|$home_format" "$name" || return 0
	mv -f "$LEASE_DIR/said" "$LEASE_DIR/said.look"
	ask ps --all --quiet --filter "name=^$name\$" || failed $? "asking for $name"
	[ -n "$out" ] || return 0
	mv -f "$LEASE_DIR/said.look" "$LEASE_DIR/said"
	failed 1 "asking for $name"
}
inspect_format='{{.Id}}|{{.State.Status}}|{{.State.Pid}}|{{index .Config.Labels "leasewatch.id"}}|{{index .Config.Labels "leasewatch.generation"}}'
do_pause() { ask pause "$cid"; }
do_unpause() { ask unpause "$cid"; }
do_start() { ask start "$cid"; }
do_stop() { ask stop --time 0 "$cid"; }
do_remove() { ask rm --force --volumes $remove_options "$1"; }
do_commit() { ask image inspect --format '{{.Id}}' "$1:$2" || ask commit "$cid" "$1:$2"; }
# NAME|STATUS, a line a workload.
do_list() { engine ps --all --filter label=leasewatch.id --format '{{.Names}}|{{.Status}}'; }
# Sets core: a number of cores as engines take it, from LEASE_PROFILE_CPU's thousandths.
cores() {
	core=$((LEASE_PROFILE_CPU % 1000 + 1000))
	core=$((LEASE_PROFILE_CPU / 1000)).${core#1}
}
do_run() {
	set -- run --detach --name "$name" --restart no --pull "${LEASE_PROFILE_PULL:-never}" --label "leasewatch.id=$LEASE_ID" \
		--label "leasewatch.generation=$LEASE_GENERATION" --label "leasewatch.uid=${LEASE_UID:-}"
	[ -z "${LEASE_PROFILE_CPU:-}" ] || { cores && set -- "$@" --cpus "$core"; }
	[ -z "${LEASE_PROFILE_MEMORY:-}" ] || set -- "$@" --memory "$LEASE_PROFILE_MEMORY"
	[ -z "${LEASE_PROFILE_STORAGE:-}" ] || set -- "$@" --storage-opt "size=$LEASE_PROFILE_STORAGE"
	case ${LEASE_PROFILE_NET:-engine} in
	engine) ;;
	*) set -- "$@" --network "$LEASE_PROFILE_NET" ;;
	esac
	set -- "$@" -- "$LEASE_PROFILE_IMAGE"
	[ -z "${LEASE_PROFILE_COMMAND:-}" ] || set -- "$@" /bin/sh -c "$LEASE_PROFILE_COMMAND"
	ask "$@"
}

# look: asks the engine. status is its word, "" when there is no such workload; the record is as the engine says.
look() {
	status=
	do_inspect
	[ -n "$out" ] || return 0
	recall
	look_cid=$cid look_below=$below
	IFS='|' read -r cid status pid look_id look_generation home <<-ANSWER
	$out
	ANSWER
	home=${home%/resolv.conf} image=${home:-/nonexistent}/$image_below
	[ "$look_id $look_generation" = "$LEASE_ID $LEASE_GENERATION" ] || die "the engine has a $name that is not ours"
	# Of one that does not run the engine doesn't tell where it was, and will be again.
	below='' start=''
	[ "$cid" != "$look_cid" ] || below=$look_below
	if [ "$pid" -gt 0 ] 2>/dev/null && start_of "$pid" && cgroup_of "$pid" "$cid"; then
		below=${cgroup#/sys/fs/cgroup/cpu,cpuacct}
		below=${below#/sys/fs/cgroup/cpuacct}
		below=${below#/sys/fs/cgroup/unified}
		below=${below#/sys/fs/cgroup}
	fi
	groups
	record
}

verb_capabilities() {
	probe
	probe_keep
	echo protocol=1
	if [ -n "$disk" ]; then echo hibernate=disk; elif [ -n "$freezes" ]; then echo hibernate=frozen; else echo hibernate=none; fi
	echo snapshot=yes
	echo enter=yes
	[ -z "$why" ] || echo "why=$why"
}

# Removes what is there under our name, and keeps what was said last.
remove() {
	mv "$LEASE_DIR/said" "$LEASE_DIR/said.kept"
	do_remove "$name"
	sweep
	mv "$LEASE_DIR/said.kept" "$LEASE_DIR/said"
}
# What an engine that was cut short in the middle of a create has left, and does not know of.
sweep() { :; }
verb_create() {
	no_process
	[ -n "${LEASE_PROFILE_IMAGE:-}" ] || die "the profile names no image"
	# Left half made by one that was cut short, or made already.
	if do_run; then create_status=0; else create_status=$?; fi
	if [ $create_status != 0 ] && grep -q 'already in use' "$LEASE_DIR/said"; then
		look
		case $status in
		running | paused) create_status=0 ;;
		exited) ! image_sealed || create_status=0 ;;
		esac
		if [ $create_status != 0 ]; then
			remove "$name"
			if do_run; then create_status=0 cid=$out; else create_status=$?; fi
		fi
	elif [ $create_status = 0 ]; then
		cid=$out
		guess && first_process && record || look
	fi
	if [ $create_status != 0 ]; then
		spend_all
		remove "$name"
		failed $create_status "creating it"
	fi
	answer_use
}
# Where the daemon can read what it uses, and the process whose death it sees at once.
answer_use() {
	[ -z "$cgroup" ] || echo "cgroup=$cgroup"
	[ -z "$pid" ] || [ -z "$start" ] || echo "tree=$pid:$start"
}

# Sets state: as lease-runtime(7) has it, from the engine's status, be it inspect's word or the text of ps.
state() {
	case $1 in
	'') state=absent ;;
	*[Pp]aused* | pausing) state=frozen ;;
	running | stopping | Up*) state=running ;;
	*)
		state=stopped
		! image_sealed || [ ! -d "$image" ] || state=disk
		;;
	esac
}
verb_stat() {
	look
	[ -n "$status" ] || gone
	state "$status"
	# Its memory is written and the engine has let go of it, but we were cut short before we could say so.
	if [ "$state" = stopped ] && [ -e "$LEASE_DIR/dumping" ] && dumped; then state=disk; fi
	echo "state=$state"
	case $state in
	running | frozen)
		answer_use
		memory_of "$memory_cgroup" && echo "memory=$memory"
		net_of "$pid" && echo "net_bytes=$net_bytes"
		;;
	esac
	return 0
}

# The dump is there and complete.
dumped() { [ -s "$image/inventory.img" ]; }
say_disk() {
	image_seal "$image" inventory.img || die "the engine wrote no image to $image"
	echo hibernated=disk
}
verb_hibernate() {
	recall && alive || look
	if dead; then
		[ -n "${status-}" ] || look
		[ -n "$status" ] || gone
		! image_sealed || { [ -d "$image" ] && echo hibernated=disk && return 0; }
		[ -e "$LEASE_DIR/dumping" ] && dumped && say_disk && return 0
		die "it has stopped"
	fi
	if frozen; then
		echo hibernated=frozen
		return 0
	fi
	probe_once
	if [ -n "$disk" ]; then to_disk; else
		[ -n "$freezes" ] || die "can't hibernate: $why"
		freeze
	fi
}
freeze() {
	do_pause || failed $? "freezing it"
	within 2000 frozen || die "the engine says that it is frozen, and it is not"
	echo hibernated=frozen
}
# Whether what was said means that this container, unlike others, can never be dumped.
undumpable() { false; }
to_disk() {
	[ -d "$home" ] || look
	[ -z "$cgroup" ] || ! entered "$cgroup" || later "a command runs inside, and would be ended by a dump"
	if memory_of "$memory_cgroup"; then room_for "$home" "$memory"; fi
	# An image that was resumed from is of the past.
	[ ! -e "$LEASE_DIR/image" ] || rm "$LEASE_DIR/image"
	: >"$LEASE_DIR/dumping"
	if dump; then dump_status=0; else dump_status=$?; fi
	if [ $dump_status = 0 ] && within 2000 dead; then
		say_disk
		return 0
	fi
	spend_all
	mv "$LEASE_DIR/said" "$LEASE_DIR/said.dump"
	look
	case $status in
	'') gone ;;
	paused) do_unpause ;;
	running) ;;
	*) if dumped; then say_disk && return 0; fi ;;
	esac
	mv "$LEASE_DIR/said.dump" "$LEASE_DIR/said"
	undump
	rm -f "$LEASE_DIR/dumping"
	if undumpable; then
		freeze
		return 0
	fi
	failed $dump_status "the dump failed and it runs on"
}

verb_resume() {
	recall && alive || look
	if alive; then
		if frozen; then
			do_unpause || failed $? "thawing it"
			within 2000 thawed || die "the engine says that it runs, and it is still frozen"
		fi
		answer_use
		return 0
	fi
	if ! image_sealed; then
		[ -n "${status-}" ] || look
		[ -n "$status" ] || gone
		if [ -e "$LEASE_DIR/dumping" ] && dumped; then image_seal "$image" inventory.img; else
			if [ -e "$LEASE_DIR/image.lost" ]; then cold "its image was lost"; else cold "it had stopped"; fi
			return 0
		fi
	fi
	if ! image_good "$image"; then
		mv -f "$LEASE_DIR/image" "$LEASE_DIR/image.lost"
		die "the hibernated image is lost"
	fi
	if restore; then restore_status=0; else restore_status=$?; fi
	[ $restore_status != 0 ] || [ -n "$below" ] || look
	if [ $restore_status = 0 ] && within 3000 alive; then
		undump
		[ -z "$cgroup" ] || first_process
		answer_use
		return 0
	fi
	spend_all
	mv "$LEASE_DIR/said" "$LEASE_DIR/said.restore"
	look
	[ -n "$status" ] || gone
	mv "$LEASE_DIR/said.restore" "$LEASE_DIR/said"
	# One that ran out of time is tried again from the same image.
	[ $restore_status != 124 ] || failed 124 "resuming it"
	said
	[ "$status" != running ] || do_stop
	image_aside "$image" || die "its image can't be resumed from, nor be put aside: $line"
	cold "its image can't be resumed from$image_kept: $line"
}
# cold WHY: it begins anew, and its memory is lost.
cold() {
	do_start || failed $? "starting it"
	look
	rm -f "$LEASE_DIR/dumping" "$LEASE_DIR/image.lost"
	printf '%s: %s\n' "$me" "$*" >&2
	printf '%s\n' cold=yes "why=$*"
	answer_use
}

verb_snapshot() {
	look
	[ -n "$status" ] || gone
	do_commit "localhost/leasewatch/$LEASE_ID" "$LEASE_GENERATION" || failed $? "copying it"
}

verb_destroy() {
	if ! recall; then
		look
		if [ -z "$status" ]; then
			sweep
			return 0
		fi
		cut_short=1
	fi
	if do_remove "$cid"; then destroy_status=0; else destroy_status=$?; fi
	if [ $destroy_status != 0 ]; then
		mv "$LEASE_DIR/said" "$LEASE_DIR/said.remove"
		look
		mv "$LEASE_DIR/said.remove" "$LEASE_DIR/said"
		[ -z "$status" ] || failed $destroy_status "removing it"
	fi
	[ -z "${cut_short:-}" ] || sweep
	within 2000 dead || die "the engine has removed it, and its processes are still there"
	rm -f "$LEASE_DIR/workload" "$LEASE_DIR/image" "$LEASE_DIR/dumping"
}

verb_list() {
	list_out=$(do_list) || {
		[ $? != 124 ] && engine_up >/dev/null 2>&1 || later "the engine does not answer"
		die "the engine does not list its containers"
	}
	printf '%s\n' "$list_out" | while IFS='|' read -r list_name status; do
		case $list_name in
		lease-kls-*-[1-9]*) list_name=${list_name#lease-} ;;
		*) continue ;;
		esac
		LEASE_ID=${list_name%-*} LEASE_GENERATION=${list_name##*-}
		LEASE_DIR=$LEASE_WORK/$LEASE_ID.$LEASE_GENERATION
		recall
		state "$status"
		echo "workload=$LEASE_ID:$LEASE_GENERATION:$state"
	done
}

verb_enter() {
	recall && alive || look
	alive || gone
	engine_words
	# Few and short: klease takes so many.
	if [ "${LEASE_TTY:-}" = 1 ]; then words exec -it "$name"; else words exec -i "$name"; fi
}
