# shellcheck shell=bash
# tests/session/engine.sh: sourced behind private.sh, lib.sh and `world system`: a stand-in for an engine, for what a real one cannot be
# brought to do at a wish: to hang, to lose an image, to be down. What real engines do is tests/runtime/'s to show.
#
#	engine_install		# the runtime `standin`, its engine in $E, and its section of the configuration
#	engine_fail VERB STATUS [LINE…]	# until engine_well VERB
#	engine_hang VERB ID	# that lease's alone
#	engine_has ID		# running, frozen, disk, stopped, or nothing
# shellcheck disable=SC2034 # for those who source this
E=$W/engine
standin=$PREFIX/libexec/leasewatch/runtimes/standin
engine_install() {
	private_copy "$PREFIX/libexec/leasewatch/runtimes" || exit 1
	mkdir -p "$E/all"
	printf 'protocol=1\nhibernate=disk\nsnapshot=yes\nenter=yes\n' >"$E/caps"
	conf <<-C
	[runtime standin]
	dir = $E
	C
	cat >"$standin.new" <<'S'
#!/bin/sh
# All that it has is a file a workload, with its state in it; beside it what it was told, and what is to go wrong.
set -u
dir=$LEASE_RUNTIME_DIR verb=$1
w=$dir/all/${LEASE_ID:-none}.${LEASE_GENERATION:-0}
echo "$verb ${LEASE_ID:--} ${LEASE_PROFILE:--} ${LEASE_PROFILE_IMAGE:--}" >>"$dir/log"
if [ -f "$dir/hang-$verb" ] && grep -qx "${LEASE_ID:-}" "$dir/hang-$verb"; then exec sleep 600; fi
if [ -f "$dir/fail-$verb" ]; then
	read -r status line <"$dir/fail-$verb"
	echo "$line" >&2
	exit "$status"
fi
state() { [ -f "$w" ] && cat "$w"; }
say() { [ ! -f "$dir/say-$verb" ] || cat "$dir/say-$verb"; }
case $verb in
capabilities) cat "$dir/caps" ;;
create)
	env | grep '^LEASE_' | sort >"$dir/env"
	echo running >"$w"
	;;
stat)
	state >/dev/null || exit 3
	echo "state=$(state)"
	;;
hibernate)
	state >/dev/null || exit 3
	echo disk >"$w"
	echo hibernated=disk
	;;
resume)
	state >/dev/null || exit 3
	echo running >"$w"
	;;
snapshot) : >"$dir/copy-$LEASE_ID" ;;
destroy) rm -f "$w" ;;
list)
	for w in "$dir"/all/*; do
		[ ! -f "$w" ] || { l=${w##*/} && echo "workload=${l%.*}:${l##*.}:$(cat "$w")"; }
	done
	;;
enter)
	state | grep -qx running || exit 3
	printf 'word=%s\n' /usr/bin/env "INSIDE=$LEASE_ID"
	;;
*) exit 1 ;;
esac
say
S
	chmod 755 "$standin.new" && mv "$standin.new" "$standin"
}
engine_fail() {
	local verb=$1
	shift
	echo "$*" >"$E/fail-$verb"
}
engine_well() { rm -f "$E/fail-$1" "$E/hang-$1"; }
engine_hang() { echo "$2" >>"$E/hang-$1"; }
engine_has() { cat "$E/all/$1".* 2>/dev/null; }
engine_is() { [ "$(engine_has "$1")" = "$2" ]; }
engine_did() { grep -q "^$1 $2 " "$E/log"; }
# as USER CMD…: klease of another user in this world.
as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups timeout 20 klease --notices "$NOTICES" "$@"
}
