#!/bin/bash
# t0450-attacks.sh: what a hostile user tried, in system mode: to delay others, to fill the disk or the log, to take others' names.
. "$(dirname "$0")/lib.sh"
world system
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 20s
C
daemon || finish
A=$NOTICES/active Q=$NOTICES/queue S=$(beacon state)
as() { # as UID CMD…: somebody without an entry in passwd
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups env HOME="$W/home" PATH="$PATH" KLEASE_NOTICES="$NOTICES" "$@"
}
ms() { echo $((($(date +%s%N) - $1) / 1000000)); }
# at_once MS NAME CMD…: CMD succeeds and takes less than that.
at_once() {
	local max=$1 name=$2 t0 t
	shift 2
	t0=$(date +%s%N)
	if "$@" >"$W/out" 2>&1; then
		t=$(ms "$t0")
		if [ "$t" -lt "$max" ]; then ok "$name"; else no "$name" "it took $t ms"; fi
	else
		no "$name" "exit $?: $(tail -n 1 "$W/out" | cut -c 1-200)"
	fi
}
mine() { find "$NOTICES/${2:-active}" -maxdepth 1 -uid "$1" -name 'lock-*' | wc -l; }

# The name that the archive will have for a day.
day=$(date -u +%F)
as 61003 mkdir -p "$NOTICES/archive/$day/full"
as 61002 timeout 20 klease run -- true
within 5 "a folder of a user's in a day's place makes room for the day" sh -c "find $NOTICES/archive/$day -maxdepth 0 -user nobody | grep -q ."
within 5 "… and what is over is sorted there" sh -c "ls $NOTICES/archive/$day | grep -q ^lock-"

# Acts that hang in one user's hands: TERM is ignored, so each destroy takes its whole grace.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	as 61003 timeout 20 klease create -- sh -c 'trap "" TERM; while :; do sleep 300; done' >>"$W/slow"
done
check "a user has a dozen leases that are slow to end" test "$(mine 61003)" = 12
as 61003 sh -c "mv $A/lock-*-kls-* $NOTICES/archive/"
at_once 2000 "a dozen slow ends of one user's hold up no other's start and end" as 61002 timeout 20 klease run -- true
check "… while they are still under way" sh -c "pgrep -u 61003 -x sh >/dev/null"
# Requests by the hundred: one turn among the others'.
setpriv --reuid=61003 --regid=61003 --clear-groups sleep 300 &
P=$!
starts "$P"
sleep 0.2
claim kls-aaaaaaaaaa "$P" | grep -v ^id= >"$W/rec" && chmod 644 "$W/rec"
as 61003 perl -e 'my ($q, $rec) = @ARGV; open(my $f, "<", $rec); local $/; my $text = <$f>; umask 022;
	for (1 .. 300) { my $n = sprintf("%05d", $_) =~ tr/0189/abcd/r; open(my $o, ">", "$q/.tmp-$n"); print $o $text; close $o;
		rename("$q/.tmp-$n", "$q/lock-cli-me-kls-${n}abcde") }' "$Q" "$W/rec"
check "another's request does not wait for three hundred of one user's" as 61002 timeout 20 klease run -- true
left=$(mine 61003 queue)
if [ "$left" -gt 100 ]; then ok "… which still wait themselves"; else no "… which still wait themselves" "$left are left"; fi
as 61003 find "$Q" "$A" -uid 61003 -name 'lock-*' -exec mv -t "$NOTICES/archive" {} +
# Asks and requests without end: what they leave in state/, the ledger, the log and the archive is bounded.
flood() { # flood KIND N TEXT
	as 61003 perl -e 'my ($q, $kind, $n, $text) = @ARGV; umask 022; my $salt = join("", map { ("a" .. "z")[rand 26] } 1 .. 5);
		for (1 .. $n) { my $s = sprintf("%05d", $_) =~ tr/0189/abcd/r; open(my $o, ">", "$q/.tmp-$s"); print $o $text; close $o;
			my $r = $text =~ /runtime/ && $text =~ s/runtime=\w+/runtime=x$s/r; rename("$q/.tmp-$s", "$q/$kind-kls-$s$salt");
			select(undef, undef, undef, 0.0005) }' "$Q" "$@"
	until_true 20 sh -c "! find $Q -uid 61003 -name '$1-*' | grep -q ."
}
settled() { [ "$(raw 'SELECT count(*) FROM lease WHERE uid = 61003')" = 0 ]; }
until_true 60 settled
before=$(raw 'SELECT count(*) FROM ledger') lines=$(wc -l <"$W/daemon.log") archived=$(find "$NOTICES/archive" -type f | wc -l)
flood lock-cli-me $'1500' $'#leasewatch 1\nruntime=process\n'
flood ask 1500 $'#leasewatch 1\nverb=resume\nlease=kls-aaaaaaaaaa\n'
sleep 0.5
n=$(($(raw 'SELECT count(*) FROM ledger') - before))
if [ "$n" -lt 300 ]; then ok "1,500 requests that come to nothing leave few lines in the ledger"; else no "1,500 requests that come to nothing leave few lines in the ledger" "$n"; fi
n=$(($(wc -l <"$W/daemon.log") - lines))
if [ "$n" -lt 400 ]; then ok "… and in the log"; else no "… and in the log" "$n"; fi
n=$(($(find "$NOTICES/archive" -type f | wc -l) - archived))
if [ "$n" -lt 300 ]; then ok "… and few files in the archive"; else no "… and few files in the archive" "$n"; fi
n=$(find "$S" -type f | wc -l)
if [ "$n" -lt 1200 ]; then ok "… and with 1,500 asks few state files"; else no "… and with 1,500 asks few state files" "$n"; fi
id=$(as 61003 timeout 20 klease create -- sleep 300)
within 5 "such a user's good request is admitted all the same" is "$id" active
check "… and recorded from its beginning" lived "$id" "requested admitted active"
as 61003 timeout 20 klease release "$id" >/dev/null
# A lock that comes and goes is a line each time.
id=$(as 61004 timeout 20 klease create --wait -- sleep 300)
lines=$(wc -l <"$W/daemon.log")
as 61004 timeout 5 perl -e 'while (1) { for (@ARGV[0, 1]) { rename($_, $_ eq $ARGV[0] ? $ARGV[1] : $ARGV[0]); select(undef, undef, undef, 0.002) } }' \
	"$A/$(lock "$id")" "$A/.tmp-hidden"
n=$(($(wc -l <"$W/daemon.log") - lines))
if [ "$n" -lt 300 ] && [ "$n" -gt 100 ]; then ok "a lock that is hidden and put back without end leaves few lines in the log"; else
	no "a lock that is hidden and put back without end leaves few lines in the log" "$n"
fi
as 61004 find "$A" -uid 61004 -delete
lines=$(wc -l <"$W/daemon.log")
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do flood lock-cli-me 1 $'#leasewatch 1\nruntime=no'"$i"$'\n'; done
n=$(($(wc -l <"$W/daemon.log") - lines))
if [ "$n" -lt 12 ]; then ok "runtimes that he makes up are not tried"; else no "runtimes that he makes up are not tried" "$n lines"; fi
check "and others' requests are what they were" as 61002 timeout 20 klease run -- true

# Another's ask of the same id, as soon as the name is free: while an exec waits to be let in, and after.
id=$(as 61002 timeout 20 klease create -- sleep 300)
setpriv --reuid=61002 --regid=61002 --clear-groups sleep 300 &
P=$!
starts "$P"
sleep 0.2
ask=$(new_id)
claim "$ask" "$P" verb=exec "lease=$id" | grep -Ev '^(id|surface|runtime)=' >"$W/ask" && chmod 644 "$W/ask"
as 61002 sh -c "umask 022; cat $W/ask >$Q/.tmp-$ask && mv -n $Q/.tmp-$ask $Q/ask-$ask"
within 5 "an exec is let in" word_has "ask-$ask" result 'done'
as 61003 sh -c "umask 022; printf '#leasewatch 1\nverb=resume\nlease=kls-aaaaaaaaaa\n' >$Q/.tmp-x && mv $Q/.tmp-x $Q/ask-$ask"
within 5 "another's ask of its id is taken away" test ! -e "$Q/ask-$ask"
check "… and the answer is as it was" word_has "ask-$ask" result 'done'

# Files that wait for their second look: one user's fill no other's.
as 61003 perl -e 'for (1 .. 3000) { my $n = sprintf("%05d", $_) =~ tr/0189/abcd/r; open(my $f, ">", "$ARGV[0]/lock-x-y-kls-${n}ddddd") }' "$Q"
id=$(new_id)
as 61002 sh -c ": >$Q/lock-cli-me-$id"
sleep 0.3
check "an empty file that is to become a request is not taken away at once, whatever another floods" test -e "$Q/lock-cli-me-$id"

# Names that are not out yet.
fails "nobody learns a login's id from its twin, before its lock stands" 2 as 61003 ls "$STATE/sessions"

# What is no lock, by the thousand, in each folder.
for d in "$Q" "$A" "$NOTICES/archive"; do
	as 61003 perl -e 'chdir $ARGV[0]; for (1 .. 1500) { symlink("/etc/passwd", "x$_"); mkdir("y$_") if $_ % 3 == 0 }' "$d"
done
few() { [ "$(find "$NOTICES" -maxdepth 2 -uid 61003 | wc -l)" -lt 1000 ]; }
within 10 "of thousands of a user's files that are no locks some hundreds are left" few
check "the daemon is still the first one" runs "$D"

# A tree of a user's that root is told to look into: its daemon has no words for root to run.
id=$(timeout 20 klease --notices "$NOTICES" create -- sleep 300)
within 15 "root has a lease" is "$id" active
F=$W/false
mkdir -p "$F/notices/queue" "$F/notices/active" "$F/notices/archive" "$F/state"
cp "$A/$(lock "$id")" "$F/notices/active/"
cp "$S/$id" "$F/state/"
sed "s|^state=.*|state=$F/state|" "$NOTICES/.leasewatch" >"$F/notices/.leasewatch"
chown -R 61003 "$F"
(
	until_true 10 sh -c "ls $F/notices/queue | grep -q '^ask-'"
	ask=$(find "$F/notices/queue" -name 'ask-*' -printf '%f\n')
	printf '#leasewatch 1\nresult=done\nwhat=active\nword=/usr/bin/env\nword=OWNED=1\n' >"$F/state/.tmp"
	chown 61003 "$F/state/.tmp" && mv "$F/state/.tmp" "$F/state/$ask"
) &
starts $!
fails "root runs no words of a user's daemon (4)" 4 timeout 20 klease --notices "$F/notices" exec "$id" -- sh -c 'echo "owned: $OWNED"'
check "… and says whose they were" said 'uid 61003'

# A request is there for all to see; who makes another lock of its id comes later, also for a daemon that comes later still.
daemon_stop
for way in "queue active" "active queue"; do
	# shellcheck disable=SC2086 # two words
	set -- $way
	setpriv --reuid=61002 --regid=61002 --clear-groups sleep 300 &
	P=$!
	starts "$P"
	id=$(new_id)
	sleep 0.2
	claim "$id" "$P" >"$W/rec" && chmod 644 "$W/rec"
	as 61002 sh -c "umask 022; cat $W/rec >$NOTICES/$1/.tmp-$id && mv -n $NOTICES/$1/.tmp-$id $NOTICES/$1/lock-cli-me-$id"
	sleep 0.05
	as 61003 sh -c "umask 022; sed s/^pid=.*/pid=2/ $W/rec >$NOTICES/$2/lock-cli-you-$id"
	echo "$id" >>"$W/early"
done
daemon || finish
while read -r id; do
	within 5 "the earlier of two locks with one id is the lease, whatever folder is read first" word_has "$id" requester '^61002$'
done <"$W/early"
finish
