#!/bin/sh
# klease run and exec: status, signals, descriptors, the keeper.
. "${srcdir:-.}/tests/unit/klease/lib.sh"

fails "without a tree nothing runs and the status is 75" 75 k run -- touch "$W/ran"
check "really nothing" test ! -e "$W/ran"
standin
check "a command runs and its status is 0" k run -- true
fails "the command's status is run's" 7 k run -- sh -c 'exit 7'
# shellcheck disable=SC2016
fails "a command that a signal ends gives 128 and its number" 143 k run -- sh -c 'kill -TERM $$'
fails "no such command is 127" 127 k run -- "$W/none"
touch "$W/plain"
fails "a file that cannot be run is 126" 126 k run -- "$W/plain"
check "run says nothing on stdout" test -z "$(k run -- true)"
# shellcheck disable=SC2016
check "the command's own output passes" test "$(k run -- sh -c 'echo "$KLEASE_ID"' | cut -c1-4)" = kls-
# shellcheck disable=SC2016
check "KLEASE_LOCK is its lock while it runs" k run -- sh -c 'test -f "$KLEASE_LOCK"'
check "stdin is the caller's" test "$(echo word | k run -- cat)" = word
check "so are other descriptors" test "$(k run -- sh -c 'cat <&7' 7<"$W/standin.log" | wc -c)" = 0
check "no lock is left behind in active/" test -z "$(only_lock "$A")"
fails "a denied request is 4" 4 k run --label test=deny -- touch "$W/ran"
says "with the daemon's numbers" "3 of 3"
check "and nothing ran" test ! -e "$W/ran"
fails "a start that fails is 1" 1 k run --label test=fail -- touch "$W/ran"
fails "--wait bounds the wait: 5" 5 k run --label test=wait --wait=100ms -- touch "$W/ran"
check "and withdraws the request" test -z "$(only_lock "$KLEASE_NOTICES/queue")"
fails "a ttl of zero is a usage error" 2 k run --ttl 0s -- true
fails "no command is a usage error" 2 k run

# signals
"$top/klease/klease" --user run -- sh -c 'trap "echo usr1 >'"$W"'/usr1; exit 3" USR1; echo $$ >'"$W"'/pid; while :; do sleep 0.1; done' &
H=$!
within "a command starts" test -s "$W/pid"
kill -USR1 $H
wait $H; rc=$?
check "a signal sent to run is passed on" test -s "$W/usr1"
check "and the status that follows is run's" test $rc = 3

# a request that waits is withdrawn by TERM
"$top/klease/klease" --user run --label test=wait -- true 2>"$W/err" & H=$!
within "a request waits in the queue" sh -c "ls '$KLEASE_NOTICES/queue' | grep -q lock-"
kill -TERM $H
wait $H; rc=$?
check "TERM while waiting gives 143" test $rc = 143
check "and withdraws" test -z "$(only_lock "$KLEASE_NOTICES/queue")"

# the keeper outlives its klease, and keeps what forks away
rm -f "$W/pid"
k run -- sh -c 'setsid sleep 300 & echo $! >'"$W"'/away; echo $$ >'"$W"'/pid; exec sleep 300' &
H=$!
within "another starts" test -s "$W/pid"
P=$(cat "$W/pid"); K=$(awk '/^PPid/ { print $2 }' "/proc/$P/status")
check "its parent is the keeper" test "$(cat "/proc/$K/comm")" = klease-keeper
id=$(id_of "$A")
check "the lock names the keeper" grep -qx "pid=$K" "$A/$(only_lock "$A")"
mv "$A/$(only_lock "$A")" "$KLEASE_NOTICES/archive/"
wait $H 2>"$W/err"; rc=$?
check "released from outside, run ends with the command's status" test $rc = 143
check "and is reaped" is "$id" reaped
check "the keeper stays while what was forked away lives" kill -0 "$K"
kill "$(cat "$W/away")"
within "and goes once it is childless" gone "$K"

# job control, as an interactive shell does it
rm -f "$W/pid"
"$top/tests/unit/klease/standin" --job "$top/klease/klease" --user run -- sh -c 'echo $$ >'"$W"'/pid; exec sleep 300' >"$W/klease" & S=$!
within "a job of a shell" test -s "$W/pid"
P=$(cat "$W/pid"); G=$(cat "$W/klease")
kill -TSTP "-$G"
within "a stop reaches the command" grep -q '^State:.T' "/proc/$P/status"
within "and klease itself" grep -q '^State:.T' "/proc/$G/status"
kill -CONT "-$G"
within "it goes on" grep -q '^State:.S' "/proc/$P/status"
kill -TERM "$P"
wait $S; rc=$?
check "and ends with the command" test $rc = 143

# exec
id=$(k create -- sleep 300)
within "a lease to enter" is "$id" active
fails "exec gives the command's status" 9 k exec "$id" -- sh -c 'exit 9'
# shellcheck disable=SC2016
check "and tells it the lease" test "$(k exec "$id" -- sh -c 'echo $KLEASE_ID')" = "$id"
fails "exec of nothing is 127" 127 k exec "$id" -- "$W/none"
fails "exec of an unknown lease is 3" 3 k exec kls-aaaaaaaaaa -- true
k release "$id"; within "released" is "$id" reaped
fails "exec of a lease that is over is 3" 3 k exec "$id" -- true
id=$(k create --label test=words -- sleep 300)
# shellcheck disable=SC2016
check "the answer's words go before the command" test "$(k exec "$id" -- sh -c 'echo $WORDS')" = yes
k release "$id"

# no daemon
stop_standin
fails "no daemon: 75" 75 k run -- touch "$W/ran"
check "nothing ran" test ! -e "$W/ran"
fails "--no-daemon-ok runs all the same" 6 k run --no-daemon-ok -- sh -c 'exit 6'
check "and leaves no request" test -z "$(only_lock "$KLEASE_NOTICES/queue")"
rm -f "$W/pid"
"$top/klease/klease" --user run --no-daemon-ok -- sh -c 'echo $$ >'"$W"'/pid; exec sleep 300' & H=$!
within "one without a daemon" test -s "$W/pid"
kill -9 $H; wait $H 2>/dev/null
within "ends when its klease is killed: nobody else would end it" gone "$(cat "$W/pid")"
finish
