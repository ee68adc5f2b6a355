# shellcheck shell=sh
# tests/lint/lib.sh: sourced by the lints. Each is called as `NAME [ROOT [BUILD]]`: the tree to look at (default: the one it stands
# in) and, for lints that look at what was built, the build folder (default: the current one). `make check` gives neither;
# selftest gives trees of its own, made to break one rule.
#
# A violation is one line `file:line: what` on stdout; a lint exits 1 when it printed any, 77 with a reason when its tool is missing.
# shellcheck disable=SC2034 # root and build are for whoever sources this
set -eu
LC_ALL=C
export LC_ALL
lint=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${1:-$lint/../..}" && pwd)
build=$(cd "${2:-.}" && pwd)

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM HUP

# The project's own files, relative to root, one a line: what git knows or would add; in an unpacked tarball, all but what a build makes.
files() {
	if [ -e "$root/.git" ] && command -v git >/dev/null; then
		git -c safe.directory="$root" -C "$root" ls-files --cached --others --exclude-standard | sort -u |
			while IFS= read -r f; do
				if [ -f "$root/$f" ] && [ ! -L "$root/$f" ]; then printf '%s\n' "$f"; fi
			done
	else
		(cd "$root" && find . \( -name .git -o -name .deps -o -name .libs -o -name autom4te.cache -o -name build-aux -o -name m4 \
			-o -name _build -o -name _inst \) -prune -o -type f ! -name '*.o' ! -name '*.l[oa]' ! -name '*.log' ! -name '*.trs' \
			! -name configure ! -name aclocal.m4 ! -name Makefile ! -name Makefile.in ! -name 'config.*' ! -name libtool \
			! -name stamp-h1 -print) | sed 's|^\./||' | sort
	fi
}
# The files whose name matches an extended regular expression.
files_named() {
	files | grep -E "$1" || [ $? = 1 ]
}
# Shell scripts: by name, or by their first line.
shell_files() {
	files | while IFS= read -r f; do
		case $f in
		*.sh | *.bash) echo "$f" ;;
		*.c | *.h | *.am | *.awk | *.md | *.[1-9] | *.in) ;;
		*) if head -n 1 "$root/$f" | tr -d '\000' | grep -Eq '^#! ?(/usr)?/bin/(env )?(ba|da)?sh( |$)'; then echo "$f"; fi ;;
		esac
	done
}
# FILE<tab>LINE<tab>CODE of C files named on stdin, without comments and with empty strings.
code() {
	(cd "$root" && tr '\n' '\000' | xargs -0 -r awk -f "$lint/strip.awk")
}
need() {
	command -v "$1" >/dev/null || {
		echo "skipped: $1 is missing"
		exit 77
	}
}
# Prints what stdin says; exits 1 if that was anything. A lint's last command.
verdict() {
	cat >"$tmp/verdict"
	cat "$tmp/verdict"
	[ ! -s "$tmp/verdict" ]
}
