#!/bin/sh
# The runtime in lease-runtime(7)'s EXAMPLES is a runtime: taken out of the manual, it passes the suite that all must pass.
set -eu
src=${srcdir:-.}
W=$(mktemp -d "${TMPDIR:-/tmp}/lease-manual.XXXXXX")
trap 'rm -rf "$W"' EXIT
chmod 755 "$W"
# The first literal block that begins a script; mdoc's \e is a backslash.
awk '/^\.Bd -literal$/ { inside = 1; next } /^\.Ed$/ { if (n) exit; inside = 0 } inside { n++; gsub(/\\e/, "\\"); print }' \
	"$src/man/lease-runtime.7" >"$W/nap"
head -n 1 "$W/nap" | grep -qx '#!/bin/sh' || { echo "NOT the manual has a runtime in EXAMPLES: none found"; exit 1; }
chmod 755 "$W/nap"
RUNTIME=$W/nap bash "$src/tests/runtime/conformance.sh" --user nap
