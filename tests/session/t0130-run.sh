#!/bin/bash
# t0130-run.sh: klease run is the command, as far as its caller can tell: status, signals, terminal, streams; and what it starts ends with it.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 2s
	renew_grace = 600ms
	hibernate_after = 400ms
	[observe]
	every = 100ms
	cpu_floor = 20%
C
daemon || finish
none_left() { absent cli && [ -z "$(k list --json | jq -r '.[].id')" ]; }
pid_in() { until_true 5 test -s "$1" && cat "$1"; }

# Status and streams.
for s in 0 1 7 75 125 255; do fails "the command's exit status, $s" $s k run -- sh -c "exit $s"; done
for s in HUP INT QUIT TERM KILL USR1 SEGV; do
	fails "a command killed by SIG$s is 128 + it" $((128 + $(kill -l $s))) k run -- sh -c "kill -$s \$\$"
done
fails "a command that is not there is 127" 127 k run -- /nonexistent/command
fails "one that cannot be run is 126" 126 k run -- /etc/passwd
fails "a refused lease runs nothing, and is told as such" 4 k run --priority 9 -- touch "$W/ran"
check "… really nothing" test ! -e "$W/ran"
within 5 "nothing of all that is left" none_left
head -c 300000 /dev/urandom >"$W/in"
k run -- cat <"$W/in" >"$W/copy"
check "stdin reaches it, and its stdout is untouched" cmp "$W/in" "$W/copy"
check "klease prints nothing of its own there" test "$(k run -- echo hello)" = hello
check "nor on stderr" test -z "$(k run -- true 2>&1)"
check "the command's stderr is its own" test "$(k run -- sh -c 'echo e >&2' 2>&1 >/dev/null)" = e
check "a closed stdin is closed" k run -- true <&-
check "the environment names the lease and its lock" k run -- sh -c '[ -f "$KLEASE_LOCK" ] && printf %s "$KLEASE_LOCK" | grep -q "$KLEASE_ID"'
check "the folder is the caller's" test "$(cd "$W/home" && klease run -- pwd)" = "$W/home"
check "arguments arrive as they are" test "$(k run -- printf '%s|' 'a b' '' '*' '$x')" = 'a b||*|$x|'
check "options behind the command are the command's" test "$(k run -- echo --ttl 5)" = "--ttl 5"
check "descriptors of klease's do not leak into it" test "$(k run -- sh -c 'ls /proc/self/fd | wc -l')" = "$(sh -c 'ls /proc/self/fd | wc -l')"
check "no signal is blocked or ignored in it" k run -- sh -c 'grep -q "^SigBlk:[[:space:]]*0*$" /proc/self/status && grep -q "^SigIgn:[[:space:]]*0*$" /proc/self/status'
check "a command that closes its streams at once" k run -- sh -c 'exec >&- 2>&- <&-; sleep 0.2'
check "nested runs are two leases" test "$(k run -- sh -c 'echo $KLEASE_ID; klease run -- sh -c "echo \$KLEASE_ID"' | sort -u | wc -l)" = 2
fails "the inner one's status comes out" 5 k run -- klease run -- sh -c 'exit 5'

# Signals are passed on, all of them, and the lease goes with the command.
for s in TERM HUP USR1; do
	rm -f "$W/p" "$W/got"
	klease run -- sh -c "trap 'echo $s >$W/got; exit 3' $s; echo \$\$ >$W/p; while :; do sleep 0.1; done" &
	h=$!
	pid_in "$W/p" >/dev/null
	kill -s $s $h
	wait $h
	rc=$?
	check "SIG$s to klease run reaches the command" grep -qx $s "$W/got"
	if [ $rc = 3 ]; then ok "… whose status is klease's"; else no "… whose status is klease's" "$rc"; fi
done
rm -f "$W/p"
klease run -- sh -c "trap '' TERM; echo \$\$ >$W/p; while :; do sleep 0.1; done" &
h=$!
P=$(pid_in "$W/p")
kill -TERM $h
sleep 0.7
check "a command that ignores TERM lives on, and klease with it" sh -c "kill -0 $P && kill -0 $h"
k release "$(lock cli | grep -o 'kls-.*')" >/dev/null
within 12 "a release ends even that" gone "$P"
within 3 "and klease run" gone $h
wait $h
rc=$?
if [ $rc != 0 ]; then ok "which does not call it a success ($rc)"; else no "which does not call it a success" 0; fi

# A stopped command is no dead one (A15).
rm -f "$W/p"
klease run -- sh -c "echo \$\$ >$W/p; exec sleep 300" &
h=$!
P=$(pid_in "$W/p")
id=$(lock cli | grep -o 'kls-.*')
kill -STOP "$P" $h
stays 3 "stopped in a debugger for longer than its ttl it is not reaped (A15)" runs "$P"
check "nor is its lease idle" is "$id" active
kill -CONT $h "$P"
kill -TERM "$P"
wait $h

# The supervisor is killed.
rm -f "$W"/p?
klease run -- sh -c "
	setsid sh -c 'echo \$\$ >$W/p2; setsid sh -c \"echo \\\$\\\$ >$W/p3; exec sleep 300\" & exec sleep 300' &
	(trap '' TERM HUP; echo \$BASHPID >$W/p4; sh -c 'trap \"\" TERM HUP; echo \$\$ >$W/p5; while :; do sleep 0.2; done' & wait) &
	echo \$\$ >$W/p1; exec sleep 300" &
h=$!
for i in 1 2 3 5; do pid_in "$W/p$i" >/dev/null; done
id=$(lock cli | grep -o 'kls-.*')
kill -KILL $h
wait $h 2>/dev/null
within 12 "klease run killed: its command is gone" gone "$(cat "$W/p1")"
within 2 "what went into a session of its own" gone "$(cat "$W/p2")"
within 2 "what forked twice" gone "$(cat "$W/p3")"
within 8 "what ignores TERM" gone "$(cat "$W/p5")"
within 8 "the lease has one end" one_end "$id"
check "proven, not by silence" sh -c "klease ledger --json --lease $id | jq -r 'select(.to == \"expired\").why' | grep -q died"

# The command ends first: what it left behind is the lease's, and goes.
rm -f "$W/q"
fails "a command that leaves something behind gives its own status" 6 k run -- sh -c "setsid sleep 300 & echo \$! >$W/q; exit 6"
within 8 "… and what it left is gone" gone "$(cat "$W/q")"
within 5 "nothing is left" none_left

# A terminal.
if command -v script >/dev/null; then
	# typed COMMAND: runs it on a terminal of its own; what is typed comes from stdin, with its own pauses.
	typed() { SHELL=/bin/bash script -qefc "$1" /dev/null; }
	rm -f "$W/p" "$W/got"
	{
		until_true 5 test -s "$W/p"
		printf '\003'
		sleep 1
	} | typed "klease run -- sh -c 'trap \"echo INT >>$W/got; exit 4\" INT; echo \$\$ >$W/p; while :; do sleep 0.1; done'" >/dev/null
	rc=$?
	check "Ctrl-C at a terminal reaches the command" test -s "$W/got"
	check "… once, not twice" test "$(wc -l <"$W/got")" = 1
	if [ $rc = 4 ]; then ok "… and its status comes back"; else no "… and its status comes back" "$rc"; fi
	check "the command has the terminal" sh -c "SHELL=/bin/bash script -qefc 'klease run -- sh -c \"test -t 0 && test -t 1 && stty size\"' /dev/null </dev/null | grep -Eq '^[0-9]+ [0-9]+'"
	rm -f "$W/p"
	{
		until_true 5 test -s "$W/p"
		echo 'words'
		sleep 0.5
		printf '\004'
		sleep 0.3
	} | typed "klease run -- sh -c 'echo \$\$ >$W/p; cat >$W/got'" >/dev/null
	check "what is typed is the command's to read" grep -q words "$W/got"
	# Job control, in an interactive shell.
	rm -f "$W/p" "$W/after"
	{
		sleep 0.5
		echo "klease run -- sh -c 'echo \$\$ >$W/p; while :; do sleep 0.1; done'"
		until_true 5 test -s "$W/p"
		sleep 0.3
		printf '\032'
		sleep 1
		echo "jobs >$W/jobs; grep State /proc/\$(cat $W/p)/status >$W/stopped"
		sleep 0.5
		echo 'fg'
		sleep 0.7
		printf '\003'
		sleep 0.7
		echo "echo \$? >$W/after"
		echo exit
		sleep 0.5
	} | timeout 30 script -qefc "bash --norc --noprofile -i" /dev/null >"$W/tty" 2>&1
	check "Ctrl-Z stops the job" grep -qi stopped "$W/jobs"
	check "… the command too" grep -q 'T' "$W/stopped"
	check "fg and Ctrl-C end it" grep -qx 130 "$W/after"
	within 4 "… and its lease" none_left
	rm -f "$W/p"
	tail -f /dev/null | script -qefc "klease run -- sh -c 'echo \$\$ >$W/p; exec sleep 300'" /dev/null >/dev/null 2>&1 &
	s=$!
	starts $s
	P=$(pid_in "$W/p")
	kill -KILL $s
	within 12 "a terminal that hangs up ends the command" gone "$P"
else
	skip "Ctrl-C, Ctrl-Z and a terminal" "needs script(1)"
fi

# Fifty at once.
for i in $(seq 50); do klease run -- sh -c "echo \$KLEASE_ID >>$W/fifty; exit $((i % 3))" && echo 0 >>"$W/codes" || echo $? >>"$W/codes" & done
until_true 40 sh -c "[ \$(wc -l <$W/codes) = 50 ]"
check "fifty runs at once each have a lease" test "$(sort -u "$W/fifty" | wc -l)" = 50
check "and each its own status" test "$(sort "$W/codes" | uniq -c | tr -s ' \n' ' ')" = " 16 0 17 1 17 2 "
within 15 "none is left" none_left
check "each has one end" test "$(raw "SELECT count(*) FROM (SELECT id FROM ledger GROUP BY id HAVING sum(to_state IN ('reaped', 'denied')) != 1)")" = 0
finish
