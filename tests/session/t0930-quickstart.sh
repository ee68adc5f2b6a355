#!/bin/bash
# t0930-quickstart.sh: ./quickstart keeps its promises, two at a time, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
W=$(mktemp -d /tmp/lease-test.XXXXXX) || exit 1
chmod 1777 "$W"
trap 'no "the test runs to its end" "stopped by a signal"; finish' INT TERM HUP
sum() { (cd "$top" && find . -path ./.git -prune -o -type f -newer "$W/began" -print); }
touch "$W/began"
mkdir -m 1777 "$W/a" "$W/b"
TMPDIR=$W/a "$top/quickstart" >"$W/a.out" 2>&1 &
a=$!
TMPDIR=$W/b "$top/quickstart" >"$W/b.out" 2>&1
b=$?
wait "$a"
a=$?
check "one run of it succeeds" test "$a" = 0
check "and another one beside it" test "$b" = 0
[ "$a$b" = 00 ] || tail -n 15 "$W/a.out" "$W/b.out" | sed 's/^/# /'
check "it says so" grep -q '^All as promised' "$W/b.out"
seconds=$(sed -n 's/^All as promised, in \([0-9]*\) s.*/\1/p' "$W/b.out")
check "the life of a lease takes less than a minute ($seconds s)" test "${seconds:-99}" -lt 60
check "it leaves no file" test -z "$(find "$W/a" "$W/b" -mindepth 1)"
check "nor anything in the checkout" test -z "$(sum)"
processes() { grep -lzs -- "HOME=$W/[ab]/" /proc/[0-9]*/environ; }
check "nor any process" test -z "$(processes)"
fails "an argument that it does not know is a usage error" 2 "$top/quickstart" --fast
finish
