#!/bin/bash
# t0230-storm.sh: 300 leases, released, killed, lost, beaten and left alone, while the daemon is killed at random: one end each, nothing left.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world user
conf <<-C
	[defaults]
	ttl = 1500ms
	renew_grace = 400ms
	hibernate_after = 300ms
	warn_before = 100ms
	max_lifetime = 20s
	[observe]
	every = 100ms
	cpu_floor = 20%
C
daemon || finish
A=$NOTICES/active
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "# SEED=$seed"
# By hand, since 300 of klease would be 300 keepers: each lease is a sleep of its own, of which some leave by themselves.
made=0
names=()
while [ $made -lt 300 ]; do
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		made=$((made + 1))
		setsid sleep $((1 + RANDOM % 60)) </dev/null >/dev/null 2>&1 &
		starts $!
		id=$(new_id)
		case $((RANDOM % 12)) in
		0) claim "$id" $! colour=red | put queue "lock-cli-me-$id" ;;
		1) claim "$id" $! | put active "lock-cli-me-$id" ;;
		*) claim "$id" $! | put queue "lock-cli-me-$id" ;;
		esac
		names+=("lock-cli-me-$id:$!")
	done
	for _ in 1 2 3 4 5 6; do
		n=${names[RANDOM % ${#names[@]}]}
		case $((RANDOM % 6)) in
		0) mv "$A/${n%:*}" "$NOTICES/archive/" 2>/dev/null ;;
		1) rm -f "$A/${n%:*}" ;;
		2) kill -KILL "${n#*:}" 2>/dev/null ;;
		3) rm -f "$NOTICES/queue/${n%:*}" ;;
		*) touch -c "$A/${n%:*}" ;;
		esac
	done
	case $((RANDOM % 6)) in
	0)
		crash
		daemon || finish
		;;
	1)
		kill -KILL "$(watcher_of "$D")"
		until_true 10 gone "$D"
		daemon || finish
		;;
	2)
		daemon_stop TERM
		daemon || finish
		;;
	esac
done
count() { raw "SELECT count(*) FROM $1"; }
settled() { [ "$(count lease)" = 0 ] && [ -z "$(find "$A" "$NOTICES/queue" -name 'lock-*' -print -quit)" ]; }
within 60 "300 leases and a daemon killed at random: all come to an end" settled
check "each that was heard of has exactly one end" test "$(raw "SELECT count(*) FROM (SELECT id FROM ledger GROUP BY id HAVING sum(to_state IN ('reaped', 'denied')) != 1)")" = 0
# Whoever's request was removed before anybody saw it was never heard of.
n=$(raw 'SELECT count(DISTINCT id) FROM ledger')
if [ "$n" -gt 250 ] && [ "$n" -le 300 ]; then ok "and nearly all were ($n)"; else no "and nearly all were" "$n of 300"; fi
check "none ended before it began" test "$(raw "SELECT count(*) FROM ledger a WHERE to_state IN ('reaped', 'denied') AND EXISTS (SELECT 1 FROM ledger b WHERE b.id = a.id AND b.seq > a.seq)")" = 0
check "the chain of each has no gap: from is the last to" test "$(raw "SELECT count(*) FROM (SELECT from_state f, lag(to_state, 1, '-') OVER (PARTITION BY id ORDER BY seq) t FROM ledger) WHERE f != t")" = 0
check "generations are each lease's own" test "$(raw "SELECT count(*) FROM (SELECT generation FROM ledger WHERE generation > 0 GROUP BY generation HAVING count(DISTINCT id) > 1)")" = 0
check "and only grow" test "$(raw "SELECT count(*) FROM (SELECT generation g, lag(generation) OVER (ORDER BY seq) l FROM ledger WHERE to_state = 'admitted') WHERE g <= l")" = 0
check "the registry has no row left" test "$(count lease)" = 0
check "nothing is left in .reap" test -z "$(find "$NOTICES/.reap" -type f -print -quit)"
# One that was over before it began was never taken over: its process is its maker's, and klease's own leave by themselves.
taken() { [ "$(raw "SELECT count(*) FROM ledger WHERE id = '$1' AND to_state = 'active'")" -gt 0 ]; }
alive=0
for n in "${names[@]}"; do
	id=$(grep -o 'kls-.*:' <<<"$n")
	# Of ours: the number may be another's by now.
	if runs "${n#*:}" && grep -qzFx "HOME=$HOME" "/proc/${n#*:}/environ" 2>/dev/null && [ "$(raw "SELECT to_state FROM ledger WHERE id = '${id%:}' ORDER BY seq DESC LIMIT 1")" = reaped ] && taken "${id%:}"; then alive=$((alive + 1)) left=$id; fi
done
if [ $alive = 0 ]; then ok "no process outlives its reaped lease"; else no "no process outlives its reaped lease" "$alive do, the last of $left"; fi
check "the work folder is empty" test -z "$(find "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" -path '*work/process/*' -name 'kls-*' -print -quit)"
check "the daemon serves on" k run -- true

# Append-only, whoever tries.
refused() { ! sqlite3 "$@"; }
check "the ledger takes no UPDATE" refused "$(beacon db)" "UPDATE ledger SET why = 'x'"
check "no DELETE" refused "$(beacon db)" "DELETE FROM ledger"
check "no REPLACE" refused "$(beacon db)" "INSERT OR REPLACE INTO ledger SELECT * FROM ledger LIMIT 1"
id=$(raw "SELECT id FROM ledger WHERE to_state = 'reaped' LIMIT 1")
check "no second end" refused "$(beacon db)" "INSERT INTO ledger SELECT seq + 1000000, at, id, generation, from_state, to_state, requester, user, surface, runtime, profile, session, labels, zombie_ms, lateness_ms, why FROM ledger WHERE id = '$id' AND to_state = 'reaped'"
finish
