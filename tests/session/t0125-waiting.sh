#!/bin/bash
# t0125-waiting.sh: whoever waits may give up: a timeout, Ctrl-C, kill -9, a daemon that goes; what was asked for is then withdrawn.
# The queue is held by a runtime that does not answer, in a mount namespace of this test.
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
	echo "\$1 \$LEASE_ID" >>$r/book/calls
	while [ -e $r/book/hold-\$1 ]; do sleep 0.05; done
	case \$1 in
	capabilities) printf 'protocol=1\nhibernate=disk\nsnapshot=no\nenter=yes\nadopts=yes\n' ;;
	stat) echo state=running ;;
	hibernate) echo hibernated=disk ;;
	esac
	S
	chmod 755 "$r/runtimes/slow"
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
	ttl = 30s
	renew_grace = 10s
	usage = explicit
	[profile slow]
	runtime = slow
	[admission]
	queue_timeout = 4s
C
daemon || finish
: >"$B/hold-create"
empty() { [ -z "$(find "$NOTICES/queue" "$NOTICES/active" -name 'lock-*' -print -quit)" ]; }
one() { lock "" queue; lock ""; }
the_id() { one | grep -o 'kls-.*' | head -n 1; }

fails "create --wait=300ms that gets no turn is 5" 5 k create --profile slow --wait=300ms
check "… and says that it is withdrawn" said 'withdrawn'
within 5 "… which it is" empty
fails "run --wait=300ms as well" 5 k run --profile slow --wait=300ms -- touch "$W/ran"
within 5 "… and leaves nothing" empty
klease create --profile slow --wait >"$W/created" 2>&1 &
h=$!
until_true 5 test -n "$(the_id)"
until_true 5 sh -c "ls $NOTICES/active $NOTICES/queue | grep -q kls-"
id=$(the_id)
kill -TERM $h
wait $h
rc=$?
if [ $rc = 143 ]; then ok "create --wait ended by SIGTERM says so (143)"; else no "create --wait ended by SIGTERM says so" "$rc"; fi
within 5 "… and withdraws its request" empty
klease create --profile slow --wait >/dev/null 2>&1 &
h=$!
until_true 5 sh -c "ls $NOTICES/active $NOTICES/queue | grep -q kls-"
id=$(the_id)
kill -KILL $h
wait $h 2>/dev/null
within 5 "a waiter that is killed outright is a request withdrawn" empty
rm -f "$B/hold-create"
within 5 "… with one end" one_end "$id"
if command -v script >/dev/null; then
	: >"$B/hold-create"
	{
		until_true 5 sh -c "ls $NOTICES/active $NOTICES/queue | grep -q kls-"
		sleep 0.3
		printf '\003'
		sleep 0.5
	} | SHELL=/bin/bash script -qefc "klease create --profile slow --wait" /dev/null >"$W/tty" 2>&1
	rc=$?
	if [ $rc = 130 ]; then ok "Ctrl-C of a waiting create is 130"; else no "Ctrl-C of a waiting create is 130" "$rc: $(tail -n 1 "$W/tty")"; fi
	within 5 "… and withdraws its request" empty
	rm -f "$B/hold-create"
else
	skip "Ctrl-C of a waiting create" "needs script(1)"
fi

# Without --wait the request stands when its shell is gone.
: >"$B/hold-create"
id=$(k create --profile slow)
check "create without --wait prints its id though it has no turn yet" sh -c "printf %s '$id' | grep -q kls-"
sleep 0.5
check "… and stands when its shell is gone" lives "$id"
fails "wait for it with a timeout is 5" 5 k wait "$id" active --timeout 300ms
klease wait "$id" active &
h=$!
klease wait "$id" active --timeout 20s &
h2=$!
sleep 0.3
rm -f "$B/hold-create"
wait $h
rc=$?
wait $h2
rc=$rc$?
if [ $rc = 00 ]; then ok "who waits is told at once"; else no "who waits is told at once" "$rc"; fi
klease wait "$id" reaped --timeout 20s &
h=$!
klease events --json >"$W/events" &
e=$!
starts $e
sleep 0.3
daemon_stop TERM
sleep 0.3
daemon || finish
k release "$id"
within 5 "a lease is released by the next daemon" one_end "$id"
wait $h
rc=$?
if [ $rc = 0 ]; then ok "a restart is invisible to who waits"; else no "a restart is invisible to who waits" "$rc"; fi
within 3 "and to who follows events" grep -q reaped "$W/events"

# queue_timeout: a runtime that never says what it can.
daemon_stop
: >"$B/hold-capabilities"
daemon || finish
t0=$(date +%s%N)
fails "a request that waits for queue_timeout is denied (4)" 4 k create --profile slow --wait
check "… with the reason" said 'queue_timeout'
t=$((($(date +%s%N) - t0) / 1000000))
if [ $t -ge 3500 ] && [ $t -le 9000 ]; then ok "… when it is over ($t ms)"; else no "… when it is over" "$t ms"; fi
check "others are admitted meanwhile" k run -- true
rm -f "$B"/hold-*

# exec: whoever wakes something may give up too.
id=$(k create --profile slow --wait=10s)
: >"$B/hold-hibernate"
: >"$B/hold-resume"
rm -f "$B/hold-hibernate"
a=$(new_id)
printf '#leasewatch 1\nverb=hibernate\nlease=%s\n' "$id" | put queue "ask-$a"
within 5 "it hibernates when asked to" is "$id" hibernated
fails "exec --timeout of what does not wake is 5" 5 k exec "$id" --timeout 500ms -- touch "$W/ran"
check "… and its command never ran" test ! -e "$W/ran"
rm -f "$B/hold-resume"
within 5 "it wakes all the same" is "$id" active
finish
