#!/bin/sh
# objects.sh: what the simulation says of the daemon counts only where it is the daemon. So: each function of the watcher's
# archives is in the program and in the simulation, of the same size, or in neither; the simulation's linker took them from
# these archives; and whatever their objects call beyond them is either wrapped or known to reach no kernel, clock or chance.
set -eu
archives='leasewatch/.libs/libwatcher.a leasewatch/.libs/librests.a leasewatch/.libs/libstore.a leasewatch/.libs/libconf.a
leasewatch/.libs/libos.a leasewatch/.libs/libwire.a leasewatch/.libs/libcore.a lease/.libs/liblease-files.a'
# What main() and the actor use.
not_ours='proc drop workdir house-paths door'
# What touches nothing but memory; getenv, whose answers are the world's; SQLite, whose disk is the machine's.
harmless='_GLOBAL_OFFSET_TABLE_ __ctype_b_loc __ctype_toupper_loc __errno_location __fprintf_chk __isoc99_sscanf __memcpy_chk __memmove_chk
__memset_chk __snprintf_chk __stack_chk_fail __vsnprintf_chk abort fprintf fputc fwrite getenv gmtime_r ini_parse_stream memchr
malloc_trim memcmp memcpy memmove memset qsort bsearch sigaddset sigemptyset snprintf vsnprintf sscanf strchr strcmp strcspn strerror strftime
strlcat strlcpy strlen strncmp strnlen strpbrk strrchr strspn strstr strtoll strtonum sysconf vis xdgDataHome xdgInitHandle'
# house_paths() asks for the current folder where it is given a relative path; mount(2) is for a tree in /run/leasewatch alone.
elsewhere='getcwd mount'

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
say() {
	echo "objects.sh: $*"
	bad=1
}

[ -x tests/sim/sim ] || { echo 'tests/sim/sim is not built'; exit 77; }
for a in $archives; do
	[ -f "$a" ] || { echo "$a is not there: built otherwise"; exit 77; }
	mkdir "$tmp/o"
	(here=$PWD && cd "$tmp/o" && ar x "$here/$a")
	for m in $not_ours; do rm -f "$tmp/o/"*"-$m.o"; done
	nm -S --defined-only "$tmp/o/"*.o | awk '$3 ~ /^[Tt]$/ && $4 !~ /^(_sub_|asan\.)/ { print $4, $2 }' >>"$tmp/functions"
	nm --defined-only "$tmp/o/"*.o | awk 'NF == 3 { print $3 }' >>"$tmp/defined"
	nm -u "$tmp/o/"*.o | awk 'NF == 2 { print $2 }' >>"$tmp/called"
	rm -r "$tmp/o"
done
sort -u -o "$tmp/functions" "$tmp/functions"
for p in leasewatch/leasewatch tests/sim/sim; do
	nm -S --defined-only "$p" | awk '$3 ~ /^[Tt]$/ { print $4, $2 }' | sort -u >"$tmp/all"
	comm -12 "$tmp/functions" "$tmp/all" >"$tmp/$(basename "$p")"
done
for f in $(comm -23 "$tmp/leasewatch" "$tmp/sim" | cut -d' ' -f1); do say "$f() of the daemon is another one in the simulation, or none"; done
for f in $(comm -13 "$tmp/leasewatch" "$tmp/sim" | cut -d' ' -f1); do say "$f() of the simulation is not the daemon's"; done
n=$(wc -l <"$tmp/sim")
[ "$n" -ge 400 ] || say "only $n functions are the daemon's"
for a in $archives; do
	case $a in */librests.a | */liblease-files.a) continue ;; esac # in libwatcher's and libcore's own archive
	grep -q "^$a(" tests/sim/sim.map || say "$a is not what the simulation was linked with"
done

tr ' ' '\n' <Makefile | grep -o 'wrap=[a-z0-9_]*' | sed 's/wrap=//' | sort -u >"$tmp/wrapped"
echo "$harmless $elsewhere" | tr ' ' '\n' >>"$tmp/defined"
sort -u "$tmp/defined" "$tmp/wrapped" >"$tmp/known"
for f in $(sort -u "$tmp/called" | comm -23 - "$tmp/known" | grep -Ev '^(sqlite3_|__(asan|ubsan|sanitizer)_)'); do
	say "$f() is called: wrap it in tests/sim/, or say here that it is harmless"
done
[ "$bad" = 0 ] && echo "$n functions are the daemon's own"
exit "$bad"
