# shellcheck shell=bash
# engines.sh: sourced by conformance.sh: what is asked of a runtime that has an engine, with the real engine. engine-NAME.sh defines
#
#	engine_up		starts the engine, below $W/engine where it has a daemon, with $W/bin before its PATH (CRIU is there); imports
#				an image of busybox_root's; appends to ENV the LEASE_RUNTIME_… and LEASE_PROFILE_… words of a workload that
#				runs /work with half a core and 64 MiB. 77, with $why, when it is not installed
#	engine_down		ends it
#	engine_crash		kill -9 of the engine's daemon; 77: it has none. engine_again: starts it anew
#	inventory		a sorted line for each container, volume, network, image, snapshot, mount and process that it has
#	view KEY		cpu, memory, storage, net as the engine tells them of the workload: thousandths, bytes, none
#	stop_behind, remove_behind	behind our back
#	host_pids		the workload's processes, by the host's numbers
#	peek FILE		what is in a file of the workload's, by the engine itself
#	own_create NAME, own_delete NAME	the same workload, by the engine itself, for the bench
#	drop_copy		removes what `snapshot` kept
#
# and may define
#	image_dir		prints where the image on disk is; lose_image: removes it behind our back. Default: LEASE_DIR/image.d
#	image_is_its_own	not empty: where the image is is the engine's matter alone
#	engine_hang, engine_wake	it does not answer
#	inside CMD…, counter	when the words of `enter` won't do
#	break_dump, break_restore, mend		default: CRIU fails
#	extra			checks of its own
# shellcheck disable=SC2016,SC2034,SC2154

# Tenths of a second until a workload counts; what the profile says of it. An engine's own file may say otherwise.
begins=100 wanted_cpu=500 wanted_memory=67108864
image_is_its_own=
CRIU=${CRIU:-$(command -v criu || echo /usr/sbin/criu)}

# busybox_root DIR: the files of an image whose /work counts into /count, and has a child, forked twice and in a session of its own, that
# counts into /count2. It holds 8 MiB, so that a disk can be too full for it.
busybox_root() {
	local tool
	mkdir -p "$1"/{bin,sbin,dev,proc,sys,tmp,etc,root,run,var}
	cp "$(command -v busybox)" "$1/bin/busybox"
	for tool in sh sleep cat mv ps setsid head tr flock kill mount umount; do ln -sf busybox "$1/bin/$tool"; done
	cat >"$1/work" <<-'WORK'
	#!/bin/sh
	count() {
		i=0
		while :; do
			i=$((i + 1))
			echo $i >"$1.new"
			mv "$1.new" "$1"
			sleep 0.1
		done
	}
	if [ "$1" = away ]; then count /count2; fi
	(setsid /work away &)
	ballast=$(head -c 8388608 /dev/zero | tr '\0' x)
	count /count
	WORK
	chmod 755 "$1/work"
	: >"$1/etc/resolv.conf"
	echo root:x:0:0:root:/root:/bin/sh >"$1/etc/passwd"
}

inside() {
	rt enter || return
	local words
	mapfile -t words < <(sed -n 's/^word=//p' "$W/out")
	timeout 20 "${words[@]}" "$@" </dev/null
}
counter() { inside cat "/count${1:-}"; }
image_dir() { echo "${DIR:?}/image.d"; }
lose_image() {
	local image
	image=$(image_dir) && [ -n "$image" ] && rm -rf "$image"
}
criu_stand_in() {
	mkdir -p "$W/bin"
	cat >"$W/bin/criu" <<-STAND
	#!/bin/sh
	[ "\$1" = check ] || [ "\$1" = --version ] || [ ! -e $W/criu.broken ] || exit 1
	exec $CRIU "\$@"
	STAND
	chmod 755 "$W/bin/criu"
}
break_dump() { : >"$W/criu.broken"; }
break_restore() { : >"$W/criu.broken"; }
mend() { rm -f "$W/criu.broken"; }

ticks() {
	local n
	n=$(counter "${1:-}" 2>/dev/null | tr -dc 0-9)
	echo "${n:-0}"
}
past() { [ "$(ticks "${2:-}")" -gt "$1" ]; }
below() {
	local n
	n=$(ticks)
	[ "$n" -gt 0 ] && [ "$n" -lt "$1" ]
}
# with WORD=VALUE COMMAND…: in its environment as well.
with() {
	local ENV=("${ENV[@]}" "$1")
	shift
	"$@"
}
all_gone() {
	local p
	for p in $1; do gone "$p" || return; done
}
all_live() {
	local p
	[ -n "$1" ] || return
	for p in $1; do lives "$p" || return; done
}
same_inventory() {
	inventory >"$W/now" 2>&1
	cmp -s "$W/before" "$W/now" || { diff "$W/before" "$W/now" | tr '\n' '~' | tail -c 300 >"$W/err"; return 1; }
}
checked_inventory() { check "$1" within 30 same_inventory; }
unmounted() { ! grep -qE "$ID|$1" /proc/mounts; }
# A running workload that has counted for a while: PIDS its processes, CGROUP where it is read, C how far it was.
counting_one() {
	fresh
	if ! rt create; then
		check "create succeeds" false
		return 1
	fi
	if ! within "$begins" past 30 || ! within 100 past 10 2; then
		check "it counts" false
		return 1
	fi
	rt stat
	CGROUP=$(sed -n 's/^cgroup=//p' "$W/out")
	PIDS=$(steady) C=$(ticks)
}
# The workload's processes but for those that come and go.
steady() {
	local p comm
	for p in $(host_pids); do
		read -r comm <"/proc/$p/comm" || continue
		case $comm in sleep | mv | cat | head | tr) ;; *) printf '%s ' "$p" ;; esac
	done 2>/dev/null
}
hibernated() { rt hibernate && says "hibernated=$HOW"; }
# Resumed, and not begun anew: cold, it would have to count up to C for seconds.
goes_on() { within 20 past $((C + 3)) && ! below "$C"; }
over() { exits 0 destroy && within 30 all_gone "$PIDS"; }

living() {
	counting_one || return
	check "create says where its use is read" eval 'rt create && says "(cgroup=/.*|tree=[0-9]+:[0-9]+)"'
	check "made twice, it is the same one" eval 'all_live "$PIDS" && goes_on'
	[ -z "$CGROUP" ] || check "its cgroup is there and can be read" eval '[ -r "$CGROUP/cpu.stat" ] || [ -r "$CGROUP/cpuacct.usage" ]'
	check "stat says memory" eval 'rt stat && says "memory=[1-9][0-9]*"'
	check "a command runs inside" eval '[ "$(inside /bin/sh -c "echo \$((6 * 7))" | tr -d "\r")" = 42 ]'
	check "and its exit status comes out" eval 'inside /bin/sh -c "exit 7"; [ $? = 7 ]'
	check "the engine limits its cpu" eval '[ "$(view cpu)" = $wanted_cpu ]'
	check "and its memory" eval '[ "$(view memory)" = $wanted_memory ]'
	check "and gives it the network that the profile says" eval '[ "$(view net)" = none ]'
	other_generation
	check "resume of a running one leaves it be" eval 'exits 0 resume && all_live "$PIDS"'
	check "destroy ends it with all its processes" over
	check "and its cgroup" eval '[ -z "$CGROUP" ] || [ ! -d "$CGROUP" ]'
	check "and its mounts" unmounted "$name_of_it"
	check "stat is absent then" state_is absent
	checked_inventory "the engine has what it had before"
}
other_generation() {
	local dir=$DIR id=$ID
	name_of_it=lease-$ID-$GEN
	GEN=8 DIR=$WORK/$ID.8
	mkdir -m 700 "$DIR"
	check "another generation is absent" state_is absent
	for verb in hibernate resume enter; do check "its $verb is told so" exits 3 $verb; done
	check "its destroy is done" exits 0 destroy
	GEN=7 DIR=$dir ID=$(new_id)
	check "a folder that is another's is refused" exits 1 hibernate
	ID=$id
	check "and this one runs on" eval 'state_is running && all_live "$PIDS"'
	check "a wrong id is refused" eval 'ID="kls-;touch $W" exits 1 stat'
	check "a process of klease's is refused" eval 'PID=$$ START=1 exits 1 create && complains "klease exec"'
}

sleeping() {
	counting_one || return
	check "hibernate succeeds, and says $HOW" hibernated
	if [ "$HOW" = disk ]; then
		check "its processes are gone" within 20 all_gone "$PIDS"
		check "its memory is given back" eval '[ -z "$CGROUP" ] || ! [ -s "$CGROUP/cgroup.procs" ] || ! read -r _ <"$CGROUP/cgroup.procs"'
	fi
	check "stat says $HOW" state_is "$HOW"
	check "list says $HOW" listed "$HOW"
	find "$(image_dir)" -type f -exec cksum {} + 2>/dev/null | sort >"$W/image.before"
	check "hibernate again is done" hibernated
	find "$(image_dir)" -type f -exec cksum {} + 2>/dev/null | sort >"$W/image.after"
	[ "$HOW" != disk ] || [ -n "$image_is_its_own" ] || check "and leaves the image as it was" eval '[ -s "$W/image.before" ] && cmp "$W/image.before" "$W/image.after"'
	if engine_crash; then
		engine_again
		check "the image outlives the engine" within 50 state_is "$HOW"
	fi
	check "resume succeeds" exits 0 resume
	check "and lost nothing" eval '! says cold=yes'
	check "the counter goes on from where it was" goes_on
	check "and so does the one that forked away" within 20 past "$C" 2
	PIDS=$(steady) C=$(ticks)
	check "once more: hibernate" hibernated
	check "once more: resume" eval 'exits 0 resume && goes_on'
	check "a hibernated one can be destroyed" eval 'hibernated && exits 0 destroy && state_is absent'
	checked_inventory "and leaves nothing"
}

keeping_a_copy() {
	rt capabilities
	says snapshot=yes || return
	counting_one || return
	check "snapshot succeeds" exits 0 snapshot
	check "and again" exits 0 snapshot
	check "it runs on" goes_on
	check "destroyed, the copy is there" eval 'over && inventory | grep -q "$ID"'
	drop_copy
	checked_inventory "and nothing else is"
}

not_made() {
	fresh
	check "an image that does not exist is said" eval 'with LEASE_PROFILE_IMAGE=nosuch-image exits 1 create && complains .'
	checked_inventory "and leaves nothing"
	check "an image whose name is a command as well" eval 'with "LEASE_PROFILE_IMAGE=x;touch $W/pwned;\$(touch $W/pwned)" exits 1 create && [ ! -e "$W/pwned" ]'
	checked_inventory "leaves nothing either"
	check "destroy of what was not made is done" exits 0 destroy
	fresh
	check "quotes in a command are its own" eval 'with "LEASE_PROFILE_COMMAND=echo \"it'\''s \$((1 + 1)); a  b\" >/said; exec /work" exits 0 create &&
		within $begins eval "inside cat /said | grep -qxF \"it'\''s 2; a  b\""'
	check "destroyed" exits 0 destroy
	fresh
	check "a deadline that has passed is kept" eval 'local from=${EPOCHREALTIME/./}; WAIT=60 rt_deadline create; [ $((${EPOCHREALTIME/./} - from)) -lt 2500000 ]'
	check "and destroyed" exits 0 destroy
	checked_inventory "nothing is left of it"
}
# As the daemon ends it: TERM to the group when the time is over, KILL a second later.
rt_deadline() { LIMIT="-k 1 $(awk "BEGIN { print $WAIT / 1000 }")" rt "$1"; }

failing() {
	[ "$HOW" = disk ] || { skip "dumps that fail" "hibernates by $HOW only"; return; }
	counting_one || return
	break_dump
	check "a dump that fails is said" eval '! rt hibernate && [ $st = 1 ] && complains .'
	check "and it runs on" eval 'state_is running && all_live "$PIDS" && goes_on'
	mend
	check "the next one succeeds" hibernated
	break_restore
	check "a restore that fails begins anew" eval 'exits 0 resume && says cold=yes && complains .'
	mend
	check "its counter as well" within "$begins" below "$C"
	[ -n "$image_is_its_own" ] || check "the image is kept aside" eval 'compgen -G "$DIR/image.failed-*" >/dev/null'
	check "it can be hibernated again" eval 'within $begins past 3; hibernated && exits 0 resume && ! says cold=yes'
	if [ -n "$image_is_its_own" ]; then
		check "of a lost image only the engine can tell" hibernated
		lose_image
	else
		check "a lost image is said" eval 'hibernated && lose_image && exits 1 resume && complains "image is lost"'
	fi
	check "and the next resume begins anew" eval 'exits 0 resume && says cold=yes && within 30 state_is running'
	check "destroyed" exits 0 destroy
	checked_inventory "nothing is left of all that"
}
short_of_space() {
	[ "$HOW" = disk ] || return
	mountpoint -q "$W/engine" || { skip "a disk that is full" "no disk of its own can be mounted here"; return; }
	counting_one || return
	head -c $(($(stat -f -c '%a * %S' "$W/engine") - 4 * 1048576)) /dev/zero >"$W/engine/filler"
	check "without room for an image, hibernate says so" eval 'exits 1 hibernate && complains "no room"'
	rm -f "$W/engine/filler"
	check "and it runs on" eval 'state_is running && goes_on'
	check "destroyed" exits 0 destroy
	checked_inventory "nothing is left of it"
}
behind_our_back() {
	counting_one || return
	stop_behind
	check "stopped behind our back is seen" eval 'within 50 state_is stopped || state_is absent'
	check "hibernate does not pretend" eval '! rt hibernate'
	check "destroy tidies up" exits 0 destroy
	checked_inventory "nothing is left of it"
	counting_one || return
	remove_behind
	check "removed behind our back is seen" state_is absent
	for verb in hibernate resume enter; do check "$verb says so" exits 3 $verb; done
	check "list has it no more" unlisted
	check "destroy is done" exits 0 destroy
	checked_inventory "nothing is left of that"
}
without_the_engine() {
	counting_one || return
	engine_crash || { skip "the engine gone" "it has no daemon"; over; return; }
	for verb in stat hibernate destroy create; do check "with the engine down, $verb is for later" exits 75 $verb; done
	check "list fails" eval '! rt list'
	check "its processes live" all_live "$PIDS"
	engine_again
	check "the engine back, it runs on" eval 'within 50 state_is running && goes_on'
	C=$(ticks)
	check "it hibernates, if not to disk" eval 'exits 0 hibernate && says "hibernated=(disk|frozen)" && exits 0 resume && goes_on'
	if declare -F engine_hang >/dev/null; then
		engine_hang
		check "an engine that hangs is for later" eval 'WAIT=600 exits 75 stat'
		engine_wake
	fi
	check "destroyed" over
	checked_inventory "nothing is left of it"
}

busy_inside() {
	inside sleep 100 >/dev/null 2>&1 &
	disown $!
	within 50 eval 'inside ps | grep -q "[s]leep 100"'
}
# For an engine whose dump ends what `enter` runs: the runtime has to look.
while_busy() {
	[ "$HOW" = disk ] || return 0
	counting_one || return
	check "a command runs inside" busy_inside
	check "a dump, which would end it, is for later" eval 'exits 75 hibernate && complains "runs inside" && state_is running'
	inside kill -9 "$(inside ps | awk '/[s]leep 100/ { print $1; exit }')"
	check "then it hibernates" within 50 hibernated
	check "and is destroyed" exits 0 destroy
	checked_inventory "and nothing is left"
}

all_of_engine() {
	local why='' rc=0 verb part PIDS='' CGROUP='' C=0 HOW name_of_it=''
	mkdir "$W/engine"
	mount -t tmpfs -o size=900m,mode=755 none "$W/engine" 2>/dev/null && engine_disk=1
	criu_stand_in
	engine_up || rc=$?
	if [ $rc != 0 ]; then
		engine_down
		[ $rc = 77 ] && { skip "all" "${why:-not installed}"; return; }
		no "the engine starts" "${why:-exit $rc}"
		return
	fi
	WORK=$W/engine/leases
	mkdir -m 755 "$WORK"
	dirs=()
	fresh
	rt capabilities
	HOW=$(sed -n 's/^hibernate=//p' "$W/out")
	inventory >"$W/before"
	verbs_of_every_runtime
	checked_inventory "after all verbs the engine has what it had"
	for part in ${PARTS:-living sleeping keeping_a_copy not_made failing short_of_space behind_our_back without_the_engine}; do $part; done
	if declare -F extra >/dev/null; then extra; fi
	engine_down
}
