#!/bin/bash
# t0210-every-state.sh: kill -9 of the daemon in each state of a lease's life, and runtimes that fail, hang and half succeed.
# A runtime of our own, that can be held and made to fail, stands among the installed ones in a mount namespace of this test.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
if [ -z "${SLOW_BOOK:-}" ]; then
	: "${PREFIX:?names the installed build}"
	name=$(basename "$0" .sh)
	[ "$(id -u)" = 0 ] || { echo "skip $name: needs root"; exit 0; }
	unshare -m true 2>/dev/null || { echo "skip $name: needs a mount namespace"; exit 0; }
	r=$(mktemp -d /tmp/lease-test.XXXXXX) || exit 1
	trap 'rm -rf "$r"' EXIT
	chmod 755 "$r" && mkdir -m 1777 "$r/book" && cp -R "$PREFIX/libexec/leasewatch/runtimes" "$r/runtimes" || exit 1
	cat >"$r/runtimes/slow" <<-S
	#!/bin/sh
	# slow: its workloads are files. hold-VERB in its book makes a verb wait, fail-VERB makes it fail.
	B=$r/book
	w=\$B/work-\$LEASE_ID.\$LEASE_GENERATION
	echo "\$1 \$LEASE_ID \$LEASE_GENERATION" >>\$B/calls
	while [ -e \$B/hold-\$1 ] || [ -e \$B/hold-\$1-\$LEASE_ID ]; do sleep 0.05; done
	[ ! -e \$B/fail-\$1 ] || { echo "\$1 fails, as told to" >&2; exit 1; }
	[ ! -e \$B/busy-\$1 ] || { echo "\$1 is busy" >&2; exit 75; }
	case \$1 in
	capabilities) printf 'protocol=1\nhibernate=disk\nsnapshot=no\nenter=yes\nadopts=yes\n' ;;
	create) : >\$w ;;
	stat) if [ -e \$w.disk ]; then echo state=disk; elif [ -e \$w ]; then echo state=running; else echo state=absent; fi ;;
	hibernate) [ -e \$w ] && : >\$w.disk && echo hibernated=disk ;;
	resume) [ -e \$w ] && rm -f \$w.disk ;;
	destroy) [ -e \$B/lie-destroy ] || rm -f \$w \$w.disk ;;
	list | enter) ;;
	*) exit 1 ;;
	esac
	S
	chmod 755 "$r/runtimes/slow"
	chmod 666 "$r/book"/* 2>/dev/null
	# shellcheck disable=SC2016
	SLOW_BOOK=$r/book SLOW_RUNTIMES=$r/runtimes unshare -m sh -c \
		'mount --make-rprivate / && mount --bind "$SLOW_RUNTIMES" "$PREFIX/libexec/leasewatch/runtimes" && exec bash "$0"' "$0"
	exit
fi
. "$(dirname "$0")/lib.sh"
world user
B=$SLOW_BOOK
conf <<-C
	[defaults]
	ttl = 6s
	renew_grace = 500ms
	hibernate_after = 300ms
	warn_before = 300ms
	usage = explicit
	[profile slow]
	runtime = slow
	[profile long]
	runtime = slow
	ttl = 60s
	renew_grace = 30s
C
works() { compgen -G "$B/work-$1.*" >/dev/null; }
left() { ! works "$1"; }
called() { grep -q "^$1 $2" "$B/calls"; }
times() { grep -c "^$1 $2" "$B/calls"; }
hold() { : >"$B/hold-$1"; }
go() { rm -f "$B"/hold-* "$B"/fail-* "$B"/busy-* "$B"/lie-*; }
again() { crash && daemon; }
# The daemon's own word for a state, from the registry: the public ones hide work in flight.
inner() { [ "$(raw "SELECT state FROM lease WHERE id = '$1'")" = "$2" ]; }
# ask VERB ID: by a file, as any program may.
ask() {
	local a
	a=$(new_id)
	printf '#leasewatch 1\nverb=%s\nlease=%s\n' "$1" "$2" | put queue "ask-$a"
}
new() { # new PROFILE: a lease whose start may take as long as it likes
	id=$(new_id) L=lock-cli-me-$id
	printf '#leasewatch 1\nid=%s\nprofile=%s\n' "$id" "$1" | put queue "$L"
}
over() { one_end "$id" && left "$id"; }
beat() { touch -c "$NOTICES/active/$L"; }

# requested: the runtime has not said yet what it can.
hold capabilities
daemon || finish
new slow
within 4 "a request waits for its runtime" is "$id" requested
again || finish
go
within 5 "killed in requested: it is admitted by the next daemon" is "$id" active
check "and made" works "$id"
beat

# active
again || finish
check "killed in active: it is active" is "$id" active
check "and its workload the same one" works "$id"
# idle
within 3 "silence makes it idle or more" sh -c "klease ledger --json --lease $id | jq -r .to | grep -qx idle"
again || finish
# hibernating
go
new slow
hold hibernate
within 6 "a hibernate is under way" inner "$id" hibernating
again || finish
check "killed in hibernating: its workload is there" works "$id"
check "and it is no further by that alone" inner "$id" hibernating
go
within 5 "… the next daemon sees it through" is "$id" hibernated
# hibernated
again || finish
check "killed in hibernated: it is hibernated" is "$id" hibernated
check "on disk, as before" sh -c "klease show $id | grep -q disk"
# resuming
hold resume
beat
within 4 "a resume is under way" inner "$id" resuming
again || finish
check "killed in resuming: it is resuming" inner "$id" resuming
go
within 5 "… and seen through" is "$id" active
# a beat while the resume and the daemon are away
within 5 "it hibernates again" is "$id" hibernated
crash
beat
daemon || finish
within 5 "a beat on a hibernated lease while the daemon was down wakes it" is "$id" active
# reaping
hold destroy
mv "$NOTICES/active/$L" "$NOTICES/archive/"
within 4 "a destroy is under way" inner "$id" reaping
again || finish
check "killed in reaping: no end is written yet" test "$(ends "$id")" = 0
fails "and nobody renews it" 3 k renew "$id"
check "the reap waits for what the runtime says (B12)" works "$id"
go
within 6 "… and is seen through (D08)" over

# starting
hold create
new slow
within 4 "a create is under way" inner "$id" starting
again || finish
check "killed in starting: it is starting" inner "$id" starting
check "which people see as admitted" is "$id" admitted
g=$(raw "SELECT generation FROM lease WHERE id = '$id'")
go
within 5 "… and becomes active" is "$id" active
check "under the same generation (D09)" word_has "$id" generation "^$g\$"
check "with one workload" test "$(find "$B" -name "work-$id.*" | wc -l)" = 1
hold create
new long
until_true 4 inner "$id" starting
mv "$NOTICES/active/$L" "$NOTICES/archive/"
within 4 "released while it starts, it waits for the start's answer" is "$id" expired
again || finish
go
within 6 "… and leaves nothing" over

# rollback
go
: >"$B/fail-create"
hold destroy
new slow
within 4 "a start that failed is rolled back" inner "$id" rollback
check "which people see as failed" is "$id" failed
check "with the runtime's own words" word_has "$id" why 'fails, as told to'
again || finish
check "killed in rollback: it is rolled back" inner "$id" rollback
go
within 6 "… and seen through" over

# expired, with a destroy that fails: retried, visible, no end before it is true (B12, B23, I03, I07)
new long
until_true 4 is "$id" active
: >"$B/fail-destroy"
mv "$NOTICES/active/$L" "$NOTICES/archive/"
within 6 "a destroy that fails is tried again" sh -c "[ \$(grep -c '^destroy $id' $B/calls) -ge 2 ]"
check "the lease is expired, not reaped" is "$id" expired
check "without an end" test "$(ends "$id")" = 0
again || finish
check "killed in expired: it is expired" is "$id" expired
go
: >"$B/busy-destroy"
sleep 0.5
check "'try later' is no end either (I02)" test "$(ends "$id")" = 0
go
within 15 "the next try ends it" over

# One that hangs delays nobody else (I06).
new long
hung=$id
until_true 4 is "$id" active
: >"$B/hold-destroy-$hung"
mv "$NOTICES/active/$L" "$NOTICES/archive/"
within 4 "one destroy hangs" inner "$hung" reaping
for i in 1 2 3 4; do
	new long
	until_true 4 is "$id" active
	mv "$NOTICES/active/$L" "$NOTICES/archive/"
	within 4 "another lease is reaped beside it ($i, I06)" over
done
check "and requests are served" k run -- true
check "the one that hangs is visible" is "$hung" expired
rm -f "$B/hold-destroy-$hung"
id=$hung
within 6 "it ends when its runtime answers" over

# A request that is beaten at its last moment (A20), and a lease id that lives twice is never made (I05).
new slow
until_true 4 is "$id" hibernated
end=$(word "$id" expires_at)
while [ "$(date +%s%3N)" -lt $((end - 150)) ]; do sleep 0.02; done
beat
sleep 0.5
check "a beat at the last moment counts (A20)" sh -c "klease show $id --json | jq -r .state | grep -Eqx 'active|hibernated|idle'"
check "it was resumed by it" called resume "$id"
within 20 "and later ends once" over

# Frozen under a hold: nothing destructive, expiry included, and then it goes on.
new slow
until_true 4 is "$id" active
check "hold" k hold --for 1h
until_true 4 is "$id" hibernated
again || finish
end=$(word "$id" expires_at)
while [ "$(date +%s%3N)" -lt $((end + 700)) ]; do sleep 0.1; done
check "under a hold nothing expires, across a restart" is "$id" hibernated
check "and the workload stands" works "$id"
check "klease show says who holds it" sh -c "klease show $id | grep -q 'held'"
check "the hold is lifted" k hold --lift
within 5 "then it ends" over
new long
until_true 4 is "$id" active
k hold --for 800ms >/dev/null
mv "$NOTICES/active/$L" "$NOTICES/archive/"
sleep 0.3
check "a release under a hold destroys nothing" works "$id"
within 5 "a hold that is over lets go by itself" over
check "no row is left of what ended" test "$(raw 'SELECT count(*) FROM lease WHERE id IN (SELECT id FROM ledger WHERE to_state IN ("reaped", "denied"))')" = 0

# One that does not work is found out once, and asked again when the administrator says so.
: >"$B/fail-capabilities"
again || finish
new slow
within 5 "a runtime that does not work denies" is "$id" denied
go
kill -HUP "$D"
within 3 "SIGHUP is heard" grep -q "configuration reloaded" "$W/daemon.log"
new slow
within 5 "mended, and after SIGHUP, it is asked again" is "$id" active
k release "$id"
finish
