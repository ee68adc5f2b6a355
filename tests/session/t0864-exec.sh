#!/bin/bash
# t0864-exec.sh: klease exec in what only root can enter: the porter runs the command, for who was let in and nobody else.
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
. "$(dirname "$0")/engine.sh"
engine_install
conf <<-C
	[profile box]
	runtime = standin
	ttl = 60s
	renew_grace = 30s
C
daemon || finish
id=$(as daemon create --profile box --wait=10s)
socket=$(beacon sessions)/.exec
check "everybody may come to the porter's door" sh -c "[ \$(stat -c '%u %a' $socket) = '0 666' ] 2>/dev/null || stat -c '%u %A' $socket | grep -qx '0 srw-rw-rw-'"
as daemon exec "$id" -- sh -c "id -u; echo \$INSIDE; tty; env | cut -d = -f 1 | sort | paste -sd ' '; readlink /proc/self/cwd" >"$W/said" </dev/null
cat >"$W/want" <<C
0
$id
not a tty
HOME INSIDE LEASE_ID PATH PWD
/
C
check "its words are run as root, with a clean environment" sh -c "grep -v '^OLDPWD' $W/said | sed 's/ SHLVL//; s/ _\$//' | diff - $W/want"
fails "the exit status comes back" 7 as daemon exec "$id" -- sh -c 'exit 7'
fails "… and a signal's" 137 as daemon exec "$id" -- sh -c 'kill -KILL $$'
check "standard input and output are the caller's" sh -c "[ \"\$(echo hello | setpriv --reuid=daemon --regid=daemon --clear-groups klease --notices $NOTICES exec $id -- cat)\" = hello ]"
check "root's own goes that way, too" sh -c "[ \"\$(klease --notices $NOTICES exec $id -- id -u)\" = 0 ]"
fails "another user's lease is not entered" 4 as games exec "$id" -- true
check "a closed descriptor is nothing bad" sh -c "setpriv --reuid=daemon --regid=daemon --clear-groups klease --notices $NOTICES exec $id -- true 0<&- 1>&- 2>&-"
fails "words in thousands are refused, not cut" 125 as daemon exec "$id" -- echo $(seq 1 20000)
check "… in a sentence" said 'longer than'
fails "a command does not begin like an option" 125 as daemon exec "$id" -- -c true
fails "what is not there cannot be run" 127 as daemon exec "$id" -- /no/such/command

# Signals, and the end of klease.
as daemon exec "$id" -- sh -c "trap 'echo term >$W/term; exit 3' TERM; echo up >$W/up; while :; do sleep 0.05; done" &
e=$!
starts $e
within 5 "a command runs" test -s "$W/up"
kill -TERM "$(pgrep -f "^klease --notices $NOTICES exec $id" | head -n 1)"
within 5 "a signal is passed on" test -s "$W/term"
rm -f "$W/up"
as daemon exec "$id" -- sh -c "trap '' HUP; echo \$\$ >$W/up; while :; do sleep 0.05; done" &
starts $!
within 5 "another runs" test -s "$W/up"
p=$(cat "$W/up")
kill -KILL "$(pgrep -f "^klease --notices $NOTICES exec $id" | head -n 1)"
stays 1 "klease gone, it has a moment" runs "$p"
within 8 "… and then is ended" gone "$p"

# A real terminal.
if command -v script >/dev/null; then
	script -qec "setpriv --reuid=daemon --regid=daemon --clear-groups klease --notices $NOTICES exec $id -- sh -c 'test -t 0 && test -t 1 && stty size && echo \$TERM'" /dev/null </dev/null >"$W/tty" 2>&1
	check "a terminal is passed through" grep -q '^[0-9]* [0-9]*' "$W/tty"
	check "… and its kind" grep -q "${TERM:-dumb}\|xterm\|dumb" "$W/tty"
else
	skip "a terminal is passed through" "script is missing"
fi

# Who was not let in.
knock() { setpriv --reuid="$1" --regid="$(id -g "$1")" --clear-groups "$PORTER_KNOCK" "$socket" "${@:2}"; }
PORTER_KNOCK=$W/knock
if command -v cc >/dev/null && cc -O1 -o "$PORTER_KNOCK" "$(dirname "$0")/../tools/knock.c" -I"$(dirname "$0")/../../leasewatch" -I"$(dirname "$0")/../.." 2>"$W/cc"; then
	check "without a ticket nobody gets in" sh -c "! [ -e $W/pwned ]"
	knock daemon plain touch "$W/pwned" >"$W/said" 2>&1
	check "… he is told so" said 'has not let this process in'
	check "… and nothing is run" test ! -e "$W/pwned"
	knock daemon nofds touch "$W/pwned" >"$W/said" 2>&1
	check "without descriptors" said 'no request'
	knock daemon manyfds touch "$W/pwned" >"$W/said" 2>&1
	check "with too many" said 'no request'
	knock daemon short touch "$W/pwned" >"$W/said" 2>&1
	check "with half a message" said 'no request'
	knock daemon unended touch "$W/pwned" >"$W/said" 2>&1
	check "with words that have no end" said 'no command'
	knock games flood >"$W/said" 2>&1
	check "a thousand connections of one user are sixteen" grep -qx '16 open' "$W/said"
	knock games sleep &
	quiet=$!
	starts $quiet
	check "… and another user's command gets in meanwhile" as daemon exec "$id" -- true
	knock daemon replay "$NOTICES" "$id" touch "$W/once" >"$W/said" 2>&1 || cat "$W/said"
	check "a ticket is good once" said 'second: .*has not let this process in'
	check "… the first time it was" test -e "$W/once"
	within 10 "who says nothing is shown out" gone "$quiet"
else
	skip "who was not let in" "no compiler"
fi
kill -0 "$D" && check "after all of it the daemon stands" as daemon exec "$id" -- true

# The daemon may end; what runs in a lease goes on.
rm -f "$W/up"
as daemon exec "$id" -- sh -c "echo \$\$ >$W/up; sleep 3; echo done >$W/done" &
starts $!
within 5 "a command runs" test -s "$W/up"
daemon_stop
daemon || finish
within 8 "a restart of the daemon ends no command" test -s "$W/done"
check "… and the new porter serves" as daemon exec "$id" -- true
finish
