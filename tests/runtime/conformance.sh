#!/bin/bash
# What is checked stands in quotes, for eval to look at again and again (SC2016); lists of words are lists (SC2086).
# shellcheck disable=SC2016,SC2086
# conformance.sh [--user] NAME: one suite for every runtime of lease-runtime(7): `ok NAME`, `NOT NAME: why`, `skip NAME: why`; exit 0 or 1.
#
# Which program: $RUNTIME, else $PREFIX/libexec/leasewatch/runtimes/NAME. --user: only what needs no root (root then becomes nobody for it).
# An engine is driven by engine-NAME.sh (engines.sh says how); CRIU: a criu(8) that works; PARTS: only some parts of that suite.
# `process` is tried in each isolation the machine has, as root, and as a user. $KEEPER: the built tests/runtime/keeper.
set -u
only_user=
[ "${1:-}" = --user ] && { only_user=1; shift; }
NAME=${1:?usage: conformance.sh [--user] NAME}
RUNTIME=${RUNTIME:-${PREFIX:-/usr/local}/libexec/leasewatch/runtimes/$NAME}
KEEPER=${KEEPER:-$(dirname "$0")/keeper}
NOBODY=65534
failed=0 pids=() dirs=() section='' engine_disk='' ENV=()
W=$(mktemp -d "${TMPDIR:-/tmp}/lease-conformance.XXXXXX") || exit 1

# shellcheck source=tests/runtime/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/runtime/disk.sh
. "$(dirname "$0")/disk.sh"

verbs_of_every_runtime() {
	check "capabilities says its protocol" exits 0 capabilities
	check "and how it hibernates, snapshots and enters" eval 'says "protocol=1" && says "hibernate=(disk|frozen|none)" && says "snapshot=(yes|no)" && says "enter=(yes|no)"'
	local hibernates
	says hibernate=none && hibernates= || hibernates=1
	check "every line it prints is key=value" eval '! grep -qvE "^[a-z_]+=" "$W/out"'
	fresh
	check "stat of what was never made is absent" state_is absent
	check "destroy of what was never made succeeds" exits 0 destroy
	workload sleep 300
	check "create succeeds" exits 0 create
	check "create again, with the same generation, succeeds" exits 0 create
	open_gate
	check "stat says running" within 20 state_is running
	check "list has it with id, generation and state" listed running
	check "resume of a running one succeeds" exits 0 resume
	if [ "$hibernates" ]; then
		check "hibernate succeeds" exits 0 hibernate
		check "and says how" says 'hibernated=(frozen|disk)'
		check "stat agrees" eval 'rt stat && says "state=(frozen|disk)"'
		check "list agrees" eval 'PID= rt list && says "workload=$ID:$GEN:(frozen|disk)"'
		check "hibernate again succeeds" exits 0 hibernate
		check "resume succeeds" exits 0 resume
		check "stat says running again" within 20 state_is running
	fi
	check "destroy succeeds" exits 0 destroy
	check "stat is absent then" state_is absent
	check "destroy again succeeds" exits 0 destroy
	check "list has it no more" unlisted
	check "an unknown verb fails" eval '! rt frobnicate'
	check "and says so" complains .
}

# --- `process` alone.
counting() { # a counter in $DIR.d/count
	mkdir "$DIR.d" && chown "$LEASE_UID" "$DIR.d"
	workload sh -c "echo \$\$ >$DIR.d/pid; i=0; while :; do i=\$((i+1)); echo \$i >$DIR.d/c.new; mv $DIR.d/c.new $DIR.d/count; sleep 0.01; done"
}
count() { cat "$DIR.d/count" 2>/dev/null || echo 0; }
beyond() { [ "$(count)" -gt "$1" ]; }
stands_still() {
	local a
	a=$(count)
	sleep 0.3
	[ "$(count)" = "$a" ]
}
pidfile() { within 30 test -s "$DIR.d/$1" && cat "$DIR.d/$1"; }
cgroup_left() { find /sys/fs/cgroup -depth -type d -name "*$1*" 2>/dev/null | grep -q .; }
labelled() { grep -lzx "KLEASE_ID=$1" /proc/[0-9]*/environ 2>/dev/null | grep -q .; }
nothing_left() { ! cgroup_left "$ID" && ! labelled "$ID" && [ -z "$(ls -A "$DIR")" ]; }
scripted() { # a workload that runs the script on stdin, $D being its folder
	fresh
	mkdir "$DIR.d" && chown "$LEASE_UID" "$DIR.d"
	{ echo "D=$DIR.d"; cat; } >"$DIR.sh"
	chmod 644 "$DIR.sh"
	workload bash "$DIR.sh"
	rt create && open_gate
}

freezing() {
	fresh
	counting
	rt create
	check "create says pid and start" eval 'says "pid=$PID" && says "pid_start=$START"'
	check "create says where its use is read" says '(cgroup=/.*|tree=[0-9]+:[0-9]+)'
	check "nothing runs before the gate is opened" eval '[ ! -e "$DIR.d/pid" ]'
	open_gate
	local p c
	p=$(pidfile pid)
	within 20 beyond 1
	check "it is in the isolation asked for" isolated "$p"
	rt hibernate
	check "hibernated, a counter stands still" stands_still
	c=$(count)
	check "and its process is there" lives "$p"
	rt resume
	check "resumed, the counter goes on" within 20 beyond "$c"
	check "in the same process" lives "$p"
	rt stat
	check "stat says memory" says 'memory=[1-9][0-9]*'
	check "another generation's destroy is refused" eval 'GEN=8 exits 1 destroy'
	check "another lease's hibernate is refused" eval 'ID=$(new_id) exits 1 hibernate'
	check "another user's resume is refused" eval 'LEASE_UID=12345 exits 1 resume'
	check "and it still runs" lives "$p"
	check "create for another process is refused" eval 'PID=$p START=$(start_of $p) exits 1 create'
	check "snapshot says there are none" eval 'exits 1 snapshot && complains "no snapshots"'
	sed 's/^boot=.*/boot=00000000-0000-0000-0000-000000000000/' "$DIR/process" >"$DIR/other" && cp "$DIR/process" "$W/saved"
	as_runtime cp "$DIR/other" "$DIR/process"
	rm -f "$DIR/other"
	check "of another boot: absent" state_is absent
	check "of another boot: destroy succeeds" exits 0 destroy
	check "and touches nobody who has the number now" lives "$p"
	cp "$W/saved" "$DIR/process" && chown "$RUN_UID" "$DIR/process"
	check "destroy ends it" eval 'exits 0 destroy && gone $p && gone $PID'
	check "nothing is left behind" nothing_left
}
as_runtime() { $AS "$@"; }
isolated() {
	case ${ISOLATION:-subreaper} in
	cgroup2) grep -q "^0::/leasewatch/$ID.$GEN\$" "/proc/$1/cgroup" ;;
	cgroup1) grep -q ":freezer:/leasewatch/$ID.$GEN\$" "/proc/$1/cgroup" ;;
	subreaper) ! grep -q "$ID" "/proc/$1/cgroup" ;;
	esac
}

ending() {
	local p q
	scripted <<'S'
setsid bash -c "sleep 301 & echo \$! >$D/away" &
(setsid sleep 302 & echo $! >$D/deeper)
echo $$ >$D/pid
exec sleep 300
S
	p=$(pidfile away) q=$(pidfile deeper)
	pids+=("$p" "$q")
	check "destroy reaches what forked twice and left the session" eval 'exits 0 destroy && gone $p && gone $q && gone $PID'
	check "and leaves nothing behind" nothing_left

	scripted <<'S'
trap "" TERM
echo $$ >$D/pid
while :; do sleep 0.05; done
S
	p=$(pidfile pid)
	pids+=("$p")
	check "what ignores TERM is killed" eval 'GRACE=150 exits 0 destroy && gone $p'

	scripted <<'S'
trap 'echo bye >$D/bye; exit 0' TERM
echo $$ >$D/pid
while :; do sleep 0.02; done
S
	p=$(pidfile pid)
	pids+=("$p")
	check "what heeds TERM has time to say goodbye" eval 'exits 0 destroy && [ -s "$DIR.d/bye" ]'

	scripted <<'S'
trap 'echo bye >$D/bye; exit 0' TERM
echo $$ >$D/pid
while :; do sleep 0.02; done
S
	p=$(pidfile pid)
	pids+=("$p")
	rt hibernate
	check "a frozen one is destroyed" eval 'exits 0 destroy && gone $p'
	check "having been asked first" test -s "$DIR.d/bye"
	check "and nothing is left behind" nothing_left

	scripted <<'S'
trap "" TERM
echo $$ >$D/pid
while :; do sleep 0.05; done
S
	p=$(pidfile pid)
	pids+=("$p")
	check "a short deadline is kept" eval 'GRACE=5000 WAIT=800 exits 0 destroy && gone $p'

	scripted <<'S'
trap "" TERM
f() { while :; do sleep 0.01 & wait; done; }
for i in 1 2 3 4 5 6 7 8; do f & done
echo $$ >$D/pid
wait
S
	p=$(pidfile pid)
	pids+=("$p")
	check "one that forks all the time is destroyed" eval 'GRACE=100 exits 0 destroy && gone $p && nothing_left'

	fresh
	workload sleep 300
	rt create
	check "one whose gate never opened is destroyed at once" eval 'WAIT=20000 GRACE=9000 timeout 5 true && exits 0 destroy && gone $PID && nothing_left'
}

losing_the_keeper() {
	local p
	scripted <<'S'
setsid bash -c "sleep 303 & echo \$! >$D/away" &
wait
exec sleep 300
S
	p=$(pidfile away)
	pids+=("$p")
	kill -9 "$PID"
	within 20 gone "$PID"
	check "its keeper killed, it still runs" state_is running
	[ "${ISOLATION:-subreaper}" = subreaper ] && check "and is said to have escaped" complains "escaped: pid $p "
	check "hibernate reaches the escape" eval 'rt hibernate && state_is frozen'
	rt resume
	check "destroy finds the escape" eval 'exits 0 destroy && gone $p && nothing_left'

	made sleep 0.05
	within 30 gone "$PID"
	check "a workload that has ended is absent" state_is absent
	check "hibernate of it is absent" exits 3 hibernate
	check "resume of it is absent" exits 3 resume
	check "enter of it is absent" exits 3 enter
	check "list calls it absent or nothing" unlisted
	check "destroy of it tidies up" eval 'exits 0 destroy && nothing_left'

	fresh
	workload sleep 300
	kill -9 "$PID"
	within 20 gone "$PID"
	check "create for a process that has gone is absent" eval 'exits 3 create && [ -z "$(ls -A "$DIR")" ]'
	fresh
	workload sleep 300
	check "create for a number with another start is absent" eval 'START=$((START + 1)) exits 3 create'
	check "create for pid 1 is refused" eval 'PID=1 START=0 exits 1 create || [ $st = 3 ]'
	check "create without a process is refused" eval 'PID= exits 1 create'
	check "what is refused leaves nothing" eval '[ -z "$(ls -A "$DIR")" ] && ! cgroup_left "$ID"'
	kill -9 "$PID"
}

nesting() {
	local outer_id outer_dir outer_pid outer_start inner inner_id inner_dir inner_pid q
	inner_id=$(new_id)
	fresh
	mkdir "$DIR.d" && chown "$LEASE_UID" "$DIR.d"
	workload sh -c "$KEEPER - $inner_id sh -c 'echo \$\$ >$DIR.d/inner; exec sleep 304' & echo \$! >$DIR.d/keeper; echo \$\$ >$DIR.d/pid; wait"
	rt create && open_gate
	inner_pid=$(pidfile keeper) inner=$(pidfile inner) q=$(pidfile pid)
	pids+=("$inner_pid" "$inner" "$q")
	outer_id=$ID outer_dir=$DIR outer_pid=$PID outer_start=$START
	ID=$inner_id DIR=$WORK/$inner_id.$GEN PID=$inner_pid START=$(start_of "$inner_pid")
	mkdir -m 700 "$DIR" && chown "$RUN_UID" "$DIR"
	dirs+=("$DIR")
	check "create takes what the keeper has begun along" eval 'exits 0 create && isolated $inner'
	inner_dir=$DIR
	ID=$outer_id DIR=$outer_dir PID=$outer_pid START=$outer_start
	rt hibernate
	check "hibernate leaves a lease nested in it running" eval 'grep -q "[SR]" <<<"$(state_letter $inner)" && ID=$inner_id DIR=$inner_dir PID=$inner_pid state_is running'
	rt resume
	check "destroy leaves a lease nested in it alone" eval 'exits 0 destroy && gone $q && lives $inner && lives $inner_pid'
	ID=$inner_id DIR=$inner_dir PID=$inner_pid
	check "which can be destroyed after it" eval 'exits 0 destroy && gone $inner && gone $inner_pid && nothing_left'
}

entering() {
	local p guest by
	made sleep 300
	check "enter without a process prints no words" eval 'PID= exits 0 enter && [ ! -s "$W/out" ]'
	by=$KEEPER_AS
	[ -n "$KEEPER_UID" ] && by="setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups"
	$by sleep 305 &
	guest=$!
	disown $guest
	pids+=("$guest")
	within 20 eval 'grep -q "^Uid:.$LEASE_UID" /proc/$guest/status'
	check "enter takes a process of the requester's in" eval 'PID=$guest START=$(start_of $guest) exits 0 enter && isolated $guest'
	if [ "$(id -u)" = 0 ] && [ "${ISOLATION:-subreaper}" != subreaper ]; then
		sleep 306 &
		p=$!
		disown $p
		pids+=("$p")
		check "and refuses another user's" eval 'PID=$p START=$(start_of $p) exits 1 enter && ! isolated $p'
		check "destroy ends who entered" eval 'exits 0 destroy && gone $guest && lives $p'
		kill "$p"
	else
		rt destroy
		kill "$guest" 2>/dev/null
	fi
}

stubborn() {
	local p
	if [ "${ISOLATION:-subreaper}" = subreaper ]; then
		fresh
		mkdir "$DIR.d" && chown "$LEASE_UID" "$DIR.d"
		workload sh -c "echo \$\$ >$DIR.d/pid; $KEEPER vfork & while :; do date +%N >$DIR.d/count; sleep 0.01; done"
		rt create && open_gate
		p=$(pidfile pid)
		pids+=("$p")
		within 20 eval 'pgrep -P $p -f vfork >/dev/null'
		sleep 0.1
		check "what can't hear SIGSTOP in a vfork is hibernated as well" eval 'WAIT=2000 exits 0 hibernate && stands_still && state_is frozen'
		check "and resumed" eval 'exits 0 resume && ! stands_still && state_is running'
		check "without the time to stop, hibernate fails" eval 'WAIT=1 exits 1 hibernate && complains "time given"'
		check "and it runs on, as it was" eval '! stands_still && state_is running'
		check "and can be destroyed" eval 'GRACE=100 exits 0 destroy && nothing_left'
	fi
	fresh
	workload sleep 300
	rt create && open_gate
	exec 9<"$DIR"
	flock -x 9
	check "while another works on the lease: try later" eval 'WAIT=300 exits 75 hibernate'
	check "stat doesn't wait for it" eval 'WAIT=300 state_is running'
	exec 9<&-
	printf 'rubbish\n' >"$DIR/process.rubbish"
	as_runtime cp "$DIR/process" "$DIR/kept" && as_runtime cp "$DIR/process.rubbish" "$DIR/process"
	check "a record that can't be read is an error, not an absence" eval 'exits 1 stat && exits 1 destroy && lives $PID'
	check "and makes list fail loudly" eval 'PID= exits 1 list'
	as_runtime cp "$DIR/kept" "$DIR/process"
	rm -f "$DIR/kept" "$DIR/process.rubbish"
	check "a wrong id is refused" eval 'ID=../../etc exits 1 stat'
	check "generation 0 is refused" eval 'GEN=0 exits 1 stat'
	check "another boot's request is refused" eval 'BOOT=00000000-0000-0000-0000-000000000000 exits 1 stat'
	rt destroy
	check "destroyed after all that, nothing is left" nothing_left
	check "--help and --version are there" eval '"$RUNTIME" --help | grep -q ^usage: && "$RUNTIME" --version | grep -q .'
}

# Somebody else has moved a process of ours to another cgroup.
moved_away() {
	local p q file
	case ${ISOLATION:-subreaper} in
	cgroup2) file=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup2 .*/\1/p' /proc/self/mountinfo | head -n 1)/cgroup.procs ;;
	cgroup1) file=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup .*freezer.*/\1/p' /proc/self/mountinfo | head -n 1)/cgroup.procs ;;
	*) return ;;
	esac
	scripted <<'S'
sleep 307 &
echo $! >$D/child
echo $$ >$D/pid
wait
S
	p=$(pidfile child) q=$(pidfile pid)
	pids+=("$p" "$q")
	echo "$p" >"$file" && echo "$PID" >"$file"
	check "what was moved out of its cgroup is still its own" eval '! isolated $p && state_is running'
	rt hibernate
	check "hibernate fetches it back" eval '[ $st = 0 ] && isolated $p'
	rt resume
	echo "$p" >"$file" && echo "$PID" >"$file"
	check "moved out again, it ends with it" eval 'exits 0 destroy && gone $p && gone $q && gone $PID && nothing_left'
}

# A daemon that sits in a workload's cgroup is never frozen or killed with it.
guarding() {
	case ${ISOLATION:-subreaper} in
	cgroup2) : ;;
	*) return ;;
	esac
	local procs old
	made sleep 300
	rt stat
	procs=$(sed -n 's/^cgroup=//p' "$W/out")/cgroup.procs
	old=${procs%/leasewatch/*}/cgroup.procs
	echo $$ >"$procs"
	check "with the caller in its cgroup, hibernate refuses" eval 'exits 1 hibernate && complains "move it out"'
	check "and destroy as well" eval 'exits 1 destroy && lives $PID'
	echo $$ >"$old"
	check "moved out, it is destroyed" eval 'exits 0 destroy && nothing_left'
}

all_of_process() {
	freezing
	ending
	losing_the_keeper
	nesting
	entering
	stubborn
	moved_away
	guarding
	[ "$RUN_UID" != 0 ] || to_disk
}

prepare() { # RUN_UID LEASE_UID
	RUN_UID=$1 LEASE_UID=$2
	WORK=$W/work.$RANDOM
	mkdir -m 755 "$WORK" && chown "$RUN_UID" "$WORK"
	dirs=()
	fresh
}
end_section() {
	local p
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null; done
	pids=()
}

: >"$W/out"
: >"$W/err"
st=0 AS='' KEEPER_AS='' KEEPER_UID=''
BOOT=$(cat /proc/sys/kernel/random/boot_id)
[ -x "$RUNTIME" ] || { no "there is a program" "$RUNTIME isn't executable"; exit 1; }
chmod 755 "$W"
# Whoever it runs as must be able to reach it.
mkdir "$W/runtimes" && cp "$RUNTIME" "$W/runtimes/$NAME"
for shared in "${RUNTIME%/*}"/*.sh "${RUNTIME%/*}"/../*.sh "${RUNTIME%/*}"/*-helper "${RUNTIME%/*}"/../*-helper; do [ ! -e "$shared" ] || cp "$shared" "$W/"; done
RUNTIME=$W/runtimes/$NAME
if [ "$NAME" = process ]; then
	if [ -x "$KEEPER" ]; then
		cp "$KEEPER" "$W/keeper"
	else
		"${CC:-cc}" -D_GNU_SOURCE -o "$W/keeper" "$(dirname "$0")/keeper.c" || { no "a keeper to test with" "set KEEPER"; exit 1; }
	fi
	KEEPER=$W/keeper
fi

if [ -e "$(dirname "$0")/engine-$NAME.sh" ]; then
	section="$NAME: "
	if [ "$(id -u)" != 0 ] || [ -n "$only_user" ]; then
		skip "all" "its engine needs root"
		exit 0
	fi
	RUN_UID=0 LEASE_UID=0
	# shellcheck source=tests/runtime/engines.sh
	. "$(dirname "$0")/engines.sh"
	# shellcheck source=/dev/null
	. "$(dirname "$0")/engine-$NAME.sh"
	all_of_engine
	exit $failed
fi
if [ "$(id -u)" = 0 ] && [ -z "$only_user" ]; then
	if [ "$NAME" = process ]; then
		for ISOLATION in cgroup2 cgroup1 subreaper; do
			section="$NAME, root, $ISOLATION: "
			KEEPER_UID="-u $NOBODY"
			prepare 0 $NOBODY
			if ! rt capabilities; then
				skip "all" "$(cat "$W/err")"
				continue
			fi
			verbs_of_every_runtime
			all_of_process
			end_section
		done
		ISOLATION='' KEEPER_UID=''
	else
		section="$NAME, root: "
		prepare 0 0
		verbs_of_every_runtime
	fi
fi
if [ "$(id -u)" != 0 ]; then
	section="$NAME, user: "
	prepare "$(id -u)" "$(id -u)"
else
	section="$NAME, nobody: "
	AS="setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups" KEEPER_AS=$AS
	prepare $NOBODY $NOBODY
fi
verbs_of_every_runtime
if [ "$NAME" = process ]; then
	rt capabilities
	ISOLATION=$(sed -n 's/^isolation=//p' "$W/out")
	# A user's own cgroup: where it lies is the machine's matter, so the folders of root aren't looked for.
	[ "$ISOLATION" = subreaper ] || ISOLATION=subreaper
	all_of_process
fi
end_section
exit $failed
