#!/bin/sh
# Every option that leasewatch has is in its --help and in leasewatch(8), and they have no others; its exit statuses and the words of
# `--check` are what the manual says. Needs no daemon.
set -u
src=${srcdir:-.}
man=$src/man/leasewatch.8
leasewatch=./leasewatch/leasewatch
T=$(mktemp -d "${TMPDIR:-/tmp}/leasewatch-manual.XXXXXX") || exit 99
trap 'rm -rf "$T"' EXIT
failed=0
check() {
	what=$1
	shift
	if "$@" >"$T/out" 2>&1; then echo "ok - $what"; else
		failed=1
		echo "not ok - $what: $(tail -n 3 "$T/out")"
	fi
}
# status N COMMAND…: it exits with just that; what it says is in said.
status() {
	want=$1 rc=0
	shift
	"$@" >"$T/said" 2>&1 || rc=$?
	[ "$rc" = "$want" ] || {
		echo "exit $rc"
		cat "$T/said"
		return 1
	}
}

"$leasewatch" --help >"$T/help" || exit 99
grep -oE -e '--[a-z]+' "$T/help" | sort -u >"$T/options"
sed -n 's/^\.It Fl Fl \([a-z]*\).*/--\1/p' "$man" | sort -u >"$T/told"
check "help and manual have the same options" diff "$T/options" "$T/told"
sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$man" | grep -oE 'Fl Fl [a-z]+' | sed 's/Fl Fl /--/' | sort -u >"$T/synopsis"
check "and so has the synopsis" diff "$T/options" "$T/synopsis"
sed -n 's/.*{ "\([a-z]*\)", *\(no\|required\)_argument.*/--\1/p; s/.*{ "[a-z]*", .*{ "\([a-z]*\)", *\(no\|required\)_argument.*/--\1/p' \
	"$src/leasewatch/main.c" >"$T/code"
sed -n 's/.*\t{ "\([a-z]*\)", *\(no\|required\)_argument.*/--\1/p' "$src/leasewatch/main.c" >>"$T/code"
sort -u "$T/code" >"$T/known"
check "and so has the program" diff "$T/known" "$T/options"

check "--version is 0" status 0 "$leasewatch" --version
check "an unknown option is 2" status 2 "$leasewatch" --no-such-option
check "an operand is 2" status 2 "$leasewatch" operand
echo '[defaults]' >"$T/good"
check "--check of a good file is 0" status 0 "$leasewatch" --check --config "$T/good"
check "and says so" grep -qx 'configuration OK' "$T/said"
check "--check --verbose prints every setting" status 0 "$leasewatch" --check --verbose --config "$T/good"
check "as leasewatch.conf(5) has them" grep -q 'renew_grace' "$T/said"
printf '[defaults]\nttl = soon\n' >"$T/bad"
check "--check of a bad one is 1" status 1 "$leasewatch" --check --config "$T/bad"
check "and says file:line: what" grep -q "^$T/bad:2: " "$T/said"
check "where there is no file the defaults are good" status 0 env XDG_CONFIG_HOME="$T/nowhere" "$leasewatch" --user --check
check "but it is said which file is not there" grep -q "there is no $T/nowhere/leasewatch/leasewatch.conf" "$T/said"
check "a file that is not there is 1" status 1 "$leasewatch" --check --config "$T/none"
# shellcheck disable=SC2046 # numbers
check "the manual has these statuses and no others" [ "$(sed -n '/^\.Sh EXIT STATUS/,/^\.El/s/^\.It //p' "$man" | tr '\n' ' ')" = "0 1 2 " ]
for s in HUP TERM INT; do
	check "the manual tells of SIG$s" grep -q "SIG$s" "$man"
done
sed -n 's/^\.Xr \([a-z.-]*\) \([1-9]\).*/\1.\2/p' "$man" | grep -E '^(klease|lease|notices)' | sort -u >"$T/named"
while read -r name; do
	check "there is a manual $name" test -s "$src/man/$name"
done <"$T/named"
exit $failed
