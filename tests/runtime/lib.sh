# shellcheck shell=bash
# tests/runtime/lib.sh: sourced by conformance.sh: verdicts, processes, and a lease as a runtime sees one. It uses what that has set:
# RUNTIME, NAME, KEEPER, W, AS, KEEPER_AS, KEEPER_UID (who runs what), and of an engine ENV (what its program gets besides).
# shellcheck disable=SC2086,SC2034,SC2153,SC2154

cleanup() {
	trap - EXIT INT TERM HUP
	local d p
	# What a failed test left: by the runtime where it still can, then by number.
	for d in "${dirs[@]}"; do
		[ -e "$d/process" ] || continue
		DIR=$d GRACE=50 WAIT=3000 rt_in "$d" destroy >/dev/null 2>&1
	done
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null; done
	if [ -n "$engine_disk" ] && [ -d "$W/engine" ]; then
		engine_down
		umount "$W/engine"
	fi
	rm -rf "$W"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

ok() { echo "ok $section$1"; }
no() { echo "NOT $section$1: ${2:-}"; failed=1; }
skip() { echo "skip $section$1: $2"; }
# check NAME COMMAND…: the promise, and what holds when it is kept.
check() {
	local name=$1
	shift
	if "$@"; then ok "$name"; else no "$name" "\`$*' (exit $st, stdout: $(tr '\n' ' ' <"$W/out" | head -c 200), stderr: $(tr '\n' ' ' <"$W/err" | head -c 300))"; fi
}
within() { # TENTHS COMMAND…
	local end=$((${EPOCHREALTIME/./} + $1 * 100000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || return 1
		sleep 0.02
	done
}

new_id() { printf 'kls-%s' "$(tr -dc a-z2-7 </dev/urandom | head -c 10)"; }
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
state_letter() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1; }
lives() { [ -e "/proc/$1" ] && ! state_letter "$1" | grep -q '[ZX]'; }
gone() { ! lives "$1"; }

# A lease: its id, its generation, the daemon's private directory.
fresh() {
	ID=$(new_id) GEN=7 PID='' START=''
	DIR=$WORK/$ID.$GEN
	mkdir -m 700 "$DIR" && chown "$RUN_UID" "$DIR"
	dirs+=("$DIR")
}

# rt VERB: runs it as the actor would. st is its status, $W/out and $W/err what it said.
rt() {
	local word=()
	[ -n "$PID" ] && word+=("LEASE_PID=$PID" "LEASE_PID_START=$START")
	[ -n "${ISOLATION:-}" ] && word+=("LEASE_PROFILE_ISOLATION=$ISOLATION")
	(
		cd "$DIR" 2>/dev/null || cd / || exit 99
		exec timeout ${LIMIT:--k 1 20} $AS env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 LEASE_PROTOCOL=1 LEASE_ID="$ID" \
			LEASE_GENERATION="$GEN" LEASE_UID="$LEASE_UID" LEASE_DIR="$DIR" LEASE_WORK="$WORK" LEASE_BOOT="$BOOT" \
			LEASE_DEADLINE_MS="${WAIT:-10000}" LEASE_STOP_GRACE_MS="${GRACE:-1500}" "${word[@]}" \
			${ENV[@]+"${ENV[@]}"} "$RUNTIME" "$1" </dev/null >"$W/out" 2>"$W/err"
	)
	st=$?
	return $st
}
rt_in() { # a directory of an earlier test
	local base=${1##*/}
	ID=${base%.*} GEN=${base##*.} PID=
	AS=${AS:-} rt "$2"
}
says() { grep -qxE "$1" "$W/out"; }
complains() { grep -qE "$1" "$W/err"; }
exits() { # STATUS VERB
	rt "$2"
	[ $st = "$1" ]
}
state_is() {
	if [ "$1" = absent ]; then
		rt stat
		[ $st = 3 ] || says state=absent
	else
		rt stat && says "state=$1"
	fi
}
listed() { PID='' rt list && says "workload=$ID:$GEN:$1"; }
unlisted() { PID='' rt list && ! grep "^workload=$ID:" "$W/out" | grep -qv ':absent$'; }

# --- What a workload of this runtime is made of. `process` adopts a keeper; the others need nothing but the call.
workload() { # COMMAND…: to be created; NAME process: gated until open_gate
	[ "$NAME" = process ] || return 0
	mkfifo "$DIR.gate" && chown "$LEASE_UID" "$DIR.gate"
	$KEEPER_AS "$KEEPER" $KEEPER_UID "$DIR.gate" "$ID" "$@" >/dev/null 2>&1 </dev/null &
	PID=$!
	disown $PID
	pids+=("$PID")
	within 20 keeper_waits
	START=$(start_of "$PID")
}
# It has become its user, and stands at the gate.
keeper_waits() { grep -qE "^SigIgn:.*[1-9a-f]" "/proc/$PID/status" 2>/dev/null && tr '\0' ' ' <"/proc/$PID/cmdline" | grep -q "^$KEEPER "; }
open_gate() {
	if [ "$NAME" = process ]; then echo >"$DIR.gate"; fi
}
made() { # COMMAND…: a running workload
	fresh
	workload "$@"
	rt create || return
	open_gate
}
