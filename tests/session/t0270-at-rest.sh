#!/bin/bash
# t0270-at-rest.sh: active leases that nothing happens to are at rest in the daemon's memory, and nobody can tell: each is found,
# judged, released, held and taken up again as any other. A restart writes nothing of them anew.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
if [ -z "${AT_REST_RUNTIMES:-}" ]; then
	: "${PREFIX:?names the installed build}"
	name=$(basename "$0" .sh)
	[ "$(id -u)" = 0 ] || { echo "skip $name: needs root"; exit 0; }
	unshare -m true 2>/dev/null || { echo "skip $name: needs a mount namespace"; exit 0; }
	r=$(mktemp -d /tmp/lease-test.XXXXXX) || exit 1
	trap 'rm -rf "$r"' EXIT
	chmod 755 "$r" && cp -R "$PREFIX/libexec/leasewatch/runtimes" "$r/runtimes" && mkdir -m 1777 "$r/calls" || exit 1
	# A runtime whose workloads are no processes of this host: its leases have nobody to follow, and rest.
	cat >"$r/runtimes/far" <<-S
	#!/bin/sh
	: >$r/calls/\$1-\$LEASE_ID
	case \$1 in
	capabilities) printf 'protocol=1\nhibernate=disk\nsnapshot=no\nenter=yes\nadopts=yes\n' ;;
	stat) echo state=running ;;
	hibernate) echo hibernated=disk ;;
	esac
	S
	chmod 755 "$r/runtimes/far"
	AT_REST_CALLS=$r/calls AT_REST_RUNTIMES=$r/runtimes unshare -m sh -c \
		'mount --make-rprivate / && mount --bind "$AT_REST_RUNTIMES" "$PREFIX/libexec/leasewatch/runtimes" && exec bash "$0"' "$0"
	exit
fi
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 10m
	renew_grace = 8m
	hibernate_after = 400ms
	warn_before = 300ms
	usage = explicit
	runtime = far
	[profile short]
	ttl = 4s
	renew_grace = 2s
C
daemon || finish
S=$(beacon state)
new() { # new [LINE…]: its id in id, its lock in L
	id=$(new_id) L=lock-cli-me-$id
	printf '%s\n' "#leasewatch 1" "id=$id" surface=cli "$@" | put queue "$L"
}
ask() { # ask VERB ID: by a file, as any program may
	local f
	f=$(new_id)
	printf '#leasewatch 1\nverb=%s\nlease=%s\n' "$1" "$2" | put queue "ask-$f"
}
# The registry's word for it: what is a row of rest is taken up at rest.
at_rest() { [ "$(raw "SELECT rest IS NOT NULL FROM lease WHERE id = '$1'")" = 1 ]; }
n_active() { [ "$(k list --json | jq '[.[] | select(.state == "active")] | length')" = "$1" ]; }
rows() { raw "SELECT * FROM lease WHERE rest IS NOT NULL ORDER BY id" | sha256sum; }
files() { (cd "$S" && stat -c '%n %i %Y' kls-* | sort); }
same() { [ "$("$1")" = "$2" ]; }
destroyed() { [ -e "$AT_REST_CALLS/destroy-$1" ]; }
why() { word_has "$1" why "$2"; }

for _ in $(seq 40); do new && ids+=("$id"); done
within 10 "forty leases are active" n_active 40
a=${ids[0]} b=${ids[1]} c=${ids[2]} d=${ids[3]}
check "at rest, each of them" test "$(raw "SELECT count(*) FROM lease WHERE rest IS NOT NULL")" = 40

# Beaten, silent.
new profile=short
s=$id
within 3 "a short one is active" is "$s" active
for _ in $(seq 12); do sleep 0.4; touch -c "$NOTICES/active/$L"; done
check "beaten by touch it outlives its ttl" is "$s" active
check "and was never idle" lived "$s" "requested admitted active"
within 5 "silence makes it idle" sh -c "klease ledger --json --lease $s | jq -r .to | grep -qx idle"
within 5 "and ends it" destroyed "$s"
within 2 "with one end" one_end "$s"

# What is asked for.
ask hibernate "$a"
within 3 "an ask finds one at rest" is "$a" hibernated
touch -c "$NOTICES/active/$(lock "$a")"
within 3 "a touch wakes it" is "$a" active
check "klease renew changes its ttl" k renew --ttl 50s "$a"
within 3 "which stands in its state file" word_has "$a" ttl '^50s$'
check "klease exec runs in one at rest" k exec "$b" -- true
within 3 "its record is shown whole" sh -c "klease show $b --json | jq -e '.surface == \"cli\" and .runtime == \"far\"'"
mv "$NOTICES/active/$(lock "$b")" "$NOTICES/archive/"
within 3 "released, it is over" destroyed "$b"
within 2 "with one end" one_end "$b"
rm "$NOTICES/active/$(lock "$c")"
within 3 "a removed lock is lost, not released" why "$c" 'lock lost'
check "and its workload is let be" test ! -e "$AT_REST_CALLS/destroy-$c"
L=$(lock "$d")
mv "$NOTICES/active/$L" "$NOTICES/active/lock-cli-other-$d"
within 3 "a renamed lock is still its lease's" word_has "$d" lock "^lock-cli-other-$d\$"
k hold --for 1m >/dev/null
within 3 "a hold stands in the state file of one at rest" word_has "${ids[9]}" held 'held by'
k hold --lift >/dev/null
within 3 "and lifted it stands there no more" sh -c "! grep -q ^held= $S/${ids[9]}"
sed -i 's/^ttl = 10m/ttl = 11m/' "$CONF"
kill -HUP "$(watcher_of "$D")"
within 3 "new settings reach one at rest" word_has "${ids[9]}" ttl '^11m$'
within 3 "and its row" sh -c "[ \"\$(sqlite3 $(beacon db) \"SELECT ttl_ns FROM lease WHERE id = '${ids[9]}'\")\" = 660000000000 ]"

# A restart.
none_awake() { [ "$(raw "SELECT count(*) FROM lease WHERE rest IS NULL AND id NOT IN ('$c', '$d')")" = 0 ]; }
within 5 "all that live are at rest again" none_awake
rm -f "$AT_REST_CALLS"/*
before_rows=$(rows) before_files=$(files)
daemon_stop
daemon || finish
within 5 "after a stop all are there" n_active 37
stays 1 "and no row was written" same rows "$before_rows"
check "nor was a state file, but of those that do not rest" \
	sh -c "[ \"\$(printf '%s\n' \"$before_files\" | grep -Ev '$c|$d')\" = \"\$(cd $S && stat -c '%n %i %Y' kls-* | sort | grep -Ev '$c|$d')\" ]"
check "and no program was run" sh -c "! ls $AT_REST_CALLS | grep -Ev 'capabilities|hibernate'"
ask hibernate "$a"
within 5 "an ask finds one that was taken up at rest" is "$a" hibernated
daemon_stop
f=${ids[20]} g=${ids[21]} h=${ids[22]}
rm "$S/$f"
sed "s/$f/kls-aaaaaaaaaa/" "$S/$g" >"$S/kls-aaaaaaaaaa"
mv "$NOTICES/active/$(lock "$g")" "$NOTICES/archive/"
mv "$NOTICES/active/$(lock "$h")" "$NOTICES/.reap/"
daemon || finish
within 5 "a state file that was lost is written anew" word_has "$f" state '^active$'
within 5 "one of nobody goes" test ! -e "$S/kls-aaaaaaaaaa"
within 5 "released while there was no daemon, it is over" destroyed "$g"
within 5 "a lock that a crash left on its way out is put back" present "$h"
check "and its lease lives" is "$h" active
crash
daemon || finish
within 5 "after kill -9 all are there" n_active 35
new profile=short
until_true 3 is "$id" active
crash
stays 5 "without a daemon nothing of it ends" present "$id"
rm -f "$AT_REST_CALLS"/*
daemon || finish
within 5 "one that ran out meanwhile gets its credit, and then ends" destroyed "$id"
within 2 "with one end" one_end "$id"
check "no more of them ended" sh -c "! ls $AT_REST_CALLS | grep destroy- | grep -v $id"
finish
