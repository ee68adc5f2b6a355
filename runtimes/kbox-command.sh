# shellcheck shell=sh disable=SC2154,SC2034
# kbox-command.sh: sourced by kbox: the verbs by kbox's commands run --system, suspend, resume, stats and rm. There is none that lists,
# nor one that says whether a box is suspended: LEASE_DIR/box says what was done last, and stats whether the box is there.
need "$program"

engine() { bounded "$program" "$@"; }
engine_up() { :; }
box() { [ -r "$LEASE_DIR/box" ] && read -r box <"$LEASE_DIR/box"; }
is_now() { echo "$1" | put "$LEASE_DIR/box"; }
probe() { disk=1 freezes='' why='' hibernates=disk snapshots=no; }

# there: 0, or 1 when kbox says that it has no such box. Anything else is for later.
there() {
	! ask stats "$name" || return 0
	there_status=$?
	case $(cat "$LEASE_DIR/said") in
	*[Nn]'o such'* | *'not found'*) return 1 ;;
	esac
	said
	later "asking for $name: $line"
}
do_run() {
	set -- run --system --name "$name" --label "leasewatch.id=$LEASE_ID" --label "leasewatch.generation=$LEASE_GENERATION" \
		--label "leasewatch.uid=${LEASE_UID:-}"
	[ -z "${LEASE_PROFILE_PROFILE:-}" ] || set -- "$@" --profile "$LEASE_PROFILE_PROFILE"
	[ -z "${LEASE_PROFILE_CPU:-}" ] || { cores && set -- "$@" --cpus "$core"; }
	[ -z "${LEASE_PROFILE_MEMORY:-}" ] || set -- "$@" --memory "$LEASE_PROFILE_MEMORY"
	[ -z "${LEASE_PROFILE_STORAGE:-}" ] || set -- "$@" --storage "$LEASE_PROFILE_STORAGE"
	case ${LEASE_PROFILE_NET:-engine} in
	engine) ;;
	*) set -- "$@" --network "$LEASE_PROFILE_NET" ;;
	esac
	set -- "$@" -- "$LEASE_PROFILE_IMAGE"
	[ -z "${LEASE_PROFILE_COMMAND:-}" ] || set -- "$@" /bin/sh -c "$LEASE_PROFILE_COMMAND"
	ask "$@"
}
verb_create() {
	no_process
	[ -n "${LEASE_PROFILE_IMAGE:-}" ] || die "the profile names no image"
	if box && there; then return 0; fi
	do_run || {
		create_status=$?
		spend_all
		mv "$LEASE_DIR/said" "$LEASE_DIR/said.kept"
		ask rm --force "$name"
		mv "$LEASE_DIR/said.kept" "$LEASE_DIR/said"
		failed $create_status "creating it"
	}
	is_now running
}
verb_stat() {
	box || gone
	there || gone
	echo "state=$box"
	[ "$box" != running ] || printf '%s\n' "$out" | grep -E '^(cpu_usec|memory|net_bytes)=[0-9]+$' || :
}
verb_hibernate() {
	box || gone
	if [ "$box" = running ]; then
		ask suspend "$name" || hibernate_failed $?
		is_now disk
	fi
	echo hibernated=disk
}
hibernate_failed() {
	mv "$LEASE_DIR/said" "$LEASE_DIR/said.kept"
	there || gone
	mv "$LEASE_DIR/said.kept" "$LEASE_DIR/said"
	failed "$1" "suspending it failed and it runs on"
}
verb_resume() {
	box || gone
	[ "$box" != running ] || return 0
	ask resume "$name" || {
		resume_status=$?
		mv "$LEASE_DIR/said" "$LEASE_DIR/said.kept"
		there || gone
		mv "$LEASE_DIR/said.kept" "$LEASE_DIR/said"
		failed $resume_status "resuming it"
	}
	is_now running
}
verb_destroy() {
	if ! ask rm --force "$name"; then
		destroy_status=$?
		mv "$LEASE_DIR/said" "$LEASE_DIR/said.kept"
		! there || {
			mv "$LEASE_DIR/said.kept" "$LEASE_DIR/said"
			failed $destroy_status "removing it"
		}
	fi
	rm -f "$LEASE_DIR/box"
}
verb_snapshot() { die "kbox has no command that makes a copy"; }
verb_enter() {
	box || gone
	[ "$box" = running ] || gone
	engine_words
	words "$name"
}
verb_list() {
	for LEASE_DIR in "${LEASE_WORK:?}"/kls-*.*; do
		box || continue
		list_name=${LEASE_DIR##*/}
		LEASE_ID=${list_name%.*} LEASE_GENERATION=${list_name##*.}
		name
		! there || echo "workload=$LEASE_ID:$LEASE_GENERATION:$box"
	done
}
