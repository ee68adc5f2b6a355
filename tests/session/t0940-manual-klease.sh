#!/bin/bash
# t0940-manual-klease.sh: the EXAMPLES of klease(1) and notices(5) do and print what they say.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317,SC1091,SC2154,SC2034,SC2001
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"
man=$(dirname "$0")/../../man
export MANUAL_KLEASE=${MANUAL_KLEASE:-$(cat "$man/klease.1")} MANUAL_NOTICES=${MANUAL_NOTICES:-$(cat "$man/notices.5")}
world user
daemon || finish
# klease(1): "$ " is typed, the rest is printed. A block without a prompt is for a shell's hook.
printed=$(examples <<<"$MANUAL_KLEASE" | grep -v '^#= ' | grep -v '^\$ ' | grep -v '^\[')
# A command that the text shows to fail ends no shell here; whether all was as shown, the output tells.
examples <<<"$MANUAL_KLEASE" | sed -n 's/^\$ //p' >"$W/typed"
(cd "$HOME" && timeout 60 bash -u "$W/typed") >"$W/printed" 2>"$W/err" </dev/null
check "klease(1): there are examples" test "$(wc -l <"$W/typed")" -ge 5
same() { diff <(sed 's/^renewed, [0-9]* s left$/renewed, N s left/' "$W/printed" | grep -v '^kls-') <(sed 's/^renewed, [0-9]* s left$/renewed, N s left/' <<<"$printed"); }
check "klease(1): they print what the manual shows" same
check "… and nothing on stderr" test ! -s "$W/err"
# The hook's line, on a lock of ours.
id=$(k create --wait=5s -- sleep 300)
hook=$(examples <<<"$MANUAL_KLEASE" | grep '^\[ -f' | head -n 1)
before=$(stat -c %y "$NOTICES/active/$(lock "$id")")
sleep 0.05
KLEASE_LOCK=$NOTICES/active/$(lock "$id") bash -euc "$hook"
check "klease(1): the hook's line beats" test "$before" != "$(stat -c %y "$NOTICES/active/$(lock "$id")")"

# notices(5): one shell types all of it; between its steps the daemon has its turn.
examples <<<"$MANUAL_NOTICES" >"$W/blocks.5"
awk '/^#= / { n = $2 + 0 } n >= 1 { print >("'"$W"'/block." n) }' "$W/blocks.5"
run_notices() {
	(
		cd "$HOME" || exit 1
		set -eu
		. "$W/block.1"
		until_true 5 test -f "$tree/active/$name"
		. "$W/block.2"
		until_true 5 is "$id" active
		. "$W/block.3" | grep -qx 'state=active'
		. "$W/block.4"
		until_true 5 is "$id" hibernated
		lock=$tree/active/$name
		. "$W/block.5"
		until_true 8 is "$id" reaped
		until_true 5 gone "$pid"
	)
}
check "notices(5): made, beaten, looked at, hibernated and released by hand as shown" run_notices
finish
