# shellcheck shell=sh disable=SC2034,SC2013
# Sourced by the tests of klease. A world of its own for each: a folder, a tree, a stand-in daemon. Prints TAP-like lines, exits 1 when one is "not ok".
set -u
top=$(pwd)
src=${srcdir:-.}
here=$(cd "$src" && pwd)
W=$(mktemp -d "${TMPDIR:-/tmp}/klease-test.XXXXXX") || exit 99
for v in $(env | sed -n 's/^\(KLEASE_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
export HOME="$W/home" XDG_DATA_HOME="$W/data" XDG_CONFIG_HOME="$W/config" XDG_RUNTIME_DIR="$W/run"
export KLEASE_NOTICES="$W/notices" LC_ALL=C.UTF-8
mkdir "$HOME"
A=$KLEASE_NOTICES/active
failed=0
D=
# --user: the tests may run as root, who believes no environment else.
k() { timeout 20 "$top/klease/klease" --user "$@"; }
ok() { echo "ok - $1"; }
no() { failed=1; echo "not ok - $1${2:+: $2}"; }
check() { what=$1; shift; if "$@" >"$W/check" 2>&1; then ok "$what"; else no "$what" "status $?: $(tail -1 "$W/check")"; fi; }
fails() { what=$1 want=$2; shift 2; "$@" >"$W/out" 2>"$W/err"; rc=$?; if [ "$rc" = "$want" ]; then ok "$what"; else no "$what" "status $rc, not $want: $(tail -1 "$W/err")"; fi; }
says() { if grep -q -- "$2" "$W/err" "$W/out"; then ok "$1"; else no "$1" "$(cat "$W/err" "$W/out")"; fi; }
within() { what=$1; shift; n=0; while [ $n -lt 200 ]; do if "$@" >/dev/null 2>&1; then ok "$what"; return 0; fi; n=$((n + 1)); sleep 0.05; done; no "$what" "not within 10 s"; return 1; }
state() { k show "$1" --json 2>/dev/null | jq -r .state; }
is() { [ "$(state "$1")" = "$2" ]; }
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null; }
only_lock() { find "$1" -name 'lock-*' -printf '%f\n' | head -1; }
id_of() { only_lock "$1" | grep -o 'kls-[a-z2-7]*$'; }
standin() {
	mkfifo "$W/ready"
	"$top/tests/unit/klease/standin" "$KLEASE_NOTICES" "$W/state" >"$W/ready" 2>"$W/standin.log" &
	D=$!
	read -r _ <"$W/ready"
	rm -f "$W/ready"
}
stop_standin() { [ -z "$D" ] || { kill "$D"; wait "$D"; } 2>/dev/null; D=; }
finish() {
	stop_standin
	for e in $(grep -lzFx -- "HOME=$W/home" /proc/[0-9]*/environ 2>/dev/null); do
		p=${e#/proc/}; p=${p%/environ}
		[ "$p" = $$ ] || kill -9 "$p" 2>/dev/null
	done
	rm -rf "$W"
	exit $failed
}
trap 'failed=1; finish' INT TERM HUP
command -v jq >/dev/null || { echo "skipped: needs jq"; rm -rf "$W"; exit 77; }
