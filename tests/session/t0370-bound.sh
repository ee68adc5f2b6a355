#!/bin/bash
# t0370-bound.sh: what is bound to a session lives and ends with it: renewed by its life, lingering after its close, ended by a
# release, taken over by the next one; and its user is told before it hurts, on the session's own terminals only.
. "$(dirname "$0")/lib.sh"
world user
short_times
conf <<C
[surface sshd]
linger = 1500ms
C
daemon || finish

# leader: a process that leads a session and is told from what is started beside it. Its pid in P.
leader() { sleeper; }
begin() { k session start --surface "${1:-sshd}" --leader "$P" "${@:2}" </dev/null; }
# A lease bound to session $1 whose workload carries no trace of it.
bound() { k create --session "$1" "${@:2}" -- sleep 300; }
# In $1's archive: by hand, or as PAM says it (in user mode the twin is ours to write).
close_by_pam() {
	local t
	t=$(beacon sessions)/$1
	printf '#leasewatch 1\nid=%s\nuid=%s\nclosed=%s\n' "$1" "$(id -u)" "$(date +%s%3N)" >"$t.new" && mv "$t.new" "$t"
	mv "$NOTICES/active/$(lock "$1")" "$NOTICES/archive/"
}

fails "a session that is not there is none to bind to" 3 k create --session kls-aaaaaaaaaa -- true
leader
s=$(begin) b=$(bound "$s")
within 5 "a session is active, with a leader" is "$s" active
within 5 "what is bound to it hibernates, for a session's life is not its use" is "$b" hibernated
older() { [ $(($(date +%s%3N) - $(word "$b" created_at))) -gt 3000 ] && lives "$b"; }
within 5 "but outlives its ttl while the session lives" older
check "renewed by the session" word_has "$b" renewed_by session
check "the session itself was never hibernated" lived "$s" "requested admitted active idle"
fails "and can't be asked to" 4 k exec "$s" -- true
check "a session that is to be hibernated is left alone" is "$s" idle

# Its leader dies, yet another process of it lives.
env KLEASE_SESSION="$s" setsid sleep 300 </dev/null >/dev/null 2>&1 &
survivor=$!
starts $survivor
until_true 5 grep -qzx sleep "/proc/$survivor/cmdline"
kill "$P"
within 5 "the leader's death orphans nothing while a process of the session lives" \
	sh -c "grep -q 'goes on by process $survivor' $W/daemon.log"
sleep 0.5
check "and the session lives on" lives "$s"
kill $survivor
within 5 "with its last process it ends" absent "$s"
check "as orphaned" sh -c "klease ledger --json --lease $s | jq -r .why | grep -q orphaned"
check "into the archive" archived "$s"
within 5 "what was bound ends after its linger" absent "$b"
check "by lingering, not at once" sh -c "klease ledger --json --lease $b | jq -r .why | grep -Eq 'lingered|no renewal'"
check "each has one end" one_end "$s"
check "… and so has what was bound" one_end "$b"

# A hand's release ends what is bound at once; PAM's close lets it linger.
leader
s=$(begin) b=$(bound "$s")
within 5 "another session" is "$b" active
k session archive "$s" </dev/null
within 1 "a release by hand ends what is bound at once" absent "$b"

leader
s=$(begin) b=$(bound "$s")
within 5 "a session that PAM will close" is "$b" active
close_by_pam "$s"
within 2 "PAM's close ends the session" absent "$s"
check "what is bound lingers" lives "$b"
# A new session of the same user and surface takes over; one of another surface does not.
leader
begin ci >/dev/null
sleep 0.3
check "a session of another surface is no heir" sh -c "! klease show $b --json | jq -r .session | grep -qx '$(k session list --json </dev/null | jq -r '.[] | select(.surface == "ci").id')'"
leader
heir=$(begin)
within 2 "a new session of the same user and surface takes it over" sh -c "[ \$(klease show $b --json | jq -r .session) = $heir ]"
stays 2 "and keeps it beyond the linger" lives "$b"
close_by_pam "$heir"
within 6 "without another heir it ends" absent "$b"

# A lease's own linger is its own.
leader
s=$(begin) b=$(bound "$s" --linger 0s)
within 5 "one with a linger of its own" is "$b" active
close_by_pam "$s"
within 1 "has just that" absent "$b"

# A restart keeps who is bound to whom.
leader
s=$(begin) b=$(bound "$s")
within 5 "a session before a restart" is "$b" active
daemon_stop KILL
daemon || finish
stays 3 "after kill -9 of the daemon the session still keeps it" lives "$b"
kill "$P"
within 8 "and its end still ends it" absent "$b"

leader
s=$(begin) b=$(bound "$s" --linger 20s)
within 5 "one with a long linger" is "$b" active
close_by_pam "$s"
within 2 "whose session is closed" absent "$s"
daemon_stop KILL
daemon || finish
leader
heir=$(begin)
within 3 "lingers over a restart, and is taken over after it" sh -c "[ \$(klease show $b --json | jq -r .session) = $heir ]"
k session archive "$heir" </dev/null

# A daemon that was started from a session is no sign of its life.
leader
s=$(begin)
within 5 "a session from which the daemon is started" is "$s" active
daemon_stop
KLEASE_SESSION=$s daemon || finish
kill "$P"
within 5 "ends with its leader all the same" absent "$s"

# The warning: on the terminal of the session, at the prompt, once.
if command -v script >/dev/null; then
	leader
	s=$(begin)
	within 5 "a session with a terminal" is "$s" active
	mesg() { KLEASE_SESSION=$s script -qfec "mesg $1; exec sleep 300" /dev/null </dev/null >"$W/tty.$1" 2>&1 & starts $!; }
	mesg y
	mesg n
	b=$(bound "$s")
	within 5 "and a lease" is "$b" active
	check "no warning stands while the session keeps it" sh -c "! grep -q 'expires in' $W/tty.y"
	# A session without a leader is kept by beats alone, and so is what is bound to it.
	s=$(new_id)
	printf '#leasewatch 1\nsurface=ci\nkind=session\nttl=4s\n' | put active "lock-ci-me-$s"
	mesg y
	mesg n
	b=$(bound "$s" --ttl 4s)
	within 8 "before silence ends it, the session's terminal says so" grep -q "$b expires in" "$W/tty.y"
	check "and how to keep it" grep -q "klease renew $b" "$W/tty.y"
	check "so does the notice that shells show" grep -q "klease renew" "$(beacon state)/notice-$s"
	check "a terminal that takes no messages (mesg n) is left alone" sh -c "! grep -q 'expires in' $W/tty.n"
	touch "$NOTICES/active/$(lock "$b")" && touch "$NOTICES/active/$(lock "$s")"
	within 3 "a beat takes the notice away" test ! -e "$(beacon state)/notice-$s"
else
	skip "the warning on a terminal" "script is missing"
fi
finish
