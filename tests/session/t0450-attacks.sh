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
finish
