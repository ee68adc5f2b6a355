# shellcheck shell=bash
# disk.sh: sourced by conformance.sh: `process` to disk and back, as root and with a criu(8) that works (CRIU names it, or it is in PATH).
# shellcheck disable=SC2016,SC2034,SC2154

# A criu that does as it is told by $W/criu.does: fail (it does nothing), half (it stops all, writes, and fails).
criu_that_obeys() {
	mkdir -p "$W/criu"
	cat >"$W/criu/criu" <<-STAND
	#!/bin/sh
	does=\$(cat $W/criu.does 2>/dev/null)
	[ "\$1.\$does" != dump.fail ] || { echo "(00.1) Error (criu/stand-in.c:1): it was told to" >&2; exit 1; }
	[ "\$1.\$does" != dump.half ] || { $CRIU "\$@"; exit 1; }
	exec $CRIU "\$@"
	STAND
	chmod 755 "$W/criu" "$W/criu/criu"
}
told() { echo "$1" >"$W/criu.does" && chmod 644 "$W/criu.does"; }
# A workload that counts, and has forked away somebody who does, too.
counting_two() {
	scripted <<-'S'
	count() { i=0; while :; do i=$((i + 1)); echo $i >$D/$1.new; mv $D/$1.new $D/$1; sleep 0.02; done; }
	export -f count
	export D
	(setsid bash -c 'echo $BASHPID >$D/away; count count2' &)
	echo $$ >$D/pid
	count count
	S
	P=$(pidfile pid) Q=$(pidfile away)
	pids+=("$P" "$Q")
	within 20 beyond 5
	C=$(count)
}
beyond2() { [ "$(cat "$DIR.d/count2" 2>/dev/null || echo 0)" -gt "$1" ]; }
at_rest() { exits 0 hibernate && says "hibernated=$1"; }
sums() { find "$DIR/image" -type f -exec cksum {} + | sort; }
# somebody NUMBER: a process that has it. The kernel gives the next one that is free.
somebody() {
	local n
	for n in {1..100}; do
		echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid 2>/dev/null || return 1
		sleep 308 &
		[ $! != "$1" ] || { disown $!; pids+=("$1"); return; }
		disown $!
		kill -9 $!
	done
	return 1
}
# The top of its tree, born again under its number.
reborn() { START=$(start_of "$PID") && says "tree=$PID:$START"; }

to_disk() {
	local P Q C ENV=("LEASE_RUNTIME_PATH=$W/criu") n KEEPER_UID="-s $KEEPER_UID"
	n=${CRIU:-}
	local CRIU=${CRIU:-$(command -v criu)}
	[ -n "$CRIU" ] || { skip "to disk" "no criu(8)"; return; }
	criu_that_obeys
	rt capabilities
	# One that the caller named has to work.
	[ -z "$n" ] || check "$CRIU works" says hibernate=disk
	says hibernate=disk || { skip "to disk" "$(sed -n 's/^why=//p' "$W/out")"; return; }
	counting_two
	check "it goes to disk" at_rest disk
	check "and nothing of it is left" eval 'gone $P && gone $Q && gone $PID'
	check "stat says so" state_is disk
	check "list says so" listed disk
	sums >"$W/sums"
	check "to disk again is done, and the image is as it was" eval 'at_rest disk && sums | cmp -s - "$W/sums"'
	check "nobody but root can read it" eval '[ "$(stat -c %a.%U "$DIR")" = 700.root ] && ! find "$DIR/image" ! -user root | grep -q .'
	C=$(count)
	# Until the dead has been buried nobody gets it.
	within 50 eval '[ ! -e /proc/$PID ]'
	if somebody "$PID"; then
		check "while another has its number, it is for later" eval 'exits 75 resume && complains "another"'
		kill -9 "$PID"
		within 30 gone "$PID"
	fi
	check "resume brings it back" eval 'exits 0 resume && reborn'
	check "in the same processes" eval 'lives $P && lives $Q && lives $PID'
	check "and both go on from where they were" eval 'within 20 beyond $C && [ "$(count)" -lt $((C + 500)) ] && within 20 beyond2 $((C / 2))'
	check "in the isolation asked for" isolated "$P"
	check "as who they were" eval '[ "$(stat -c %u /proc/$P)" = "$LEASE_UID" ] && grep -q "^CapEff:.0*\$" /proc/$P/status'
	check "the image is gone" eval '[ ! -e "$DIR/image" ]'
	check "and the next one is as good" eval 'C=$(count); at_rest disk && exits 0 resume && reborn && within 20 beyond $C'
	check "destroy ends it" eval 'exits 0 destroy && gone $P && gone $Q && gone $PID && nothing_left'

	counting_two
	at_rest disk
	sed -i 's/^boot=.*/boot=00000000-0000-0000-0000-000000000000/' "$DIR/process"
	check "on disk it outlives a reboot" eval 'state_is disk && exits 0 resume && reborn && within 20 beyond $C'
	check "destroyed on disk, nothing is left" eval 'at_rest disk && exits 0 destroy && nothing_left'

	counting_two
	told fail
	check "a dump that fails is said, and it is frozen instead" eval 'at_rest frozen && complains "told to"'
	check "it is all there" eval 'lives $P && lives $Q && [ ! -e "$DIR/image" ] && [ ! -e "$DIR/image.new" ]'
	check "resumed, it goes on" eval 'exits 0 resume && within 20 beyond $((C + 20)) && within 20 state_is running'
	told half
	check "one that fails in the end as well" eval 'at_rest frozen && exits 0 resume && C=$(count) && within 20 beyond $C && lives $Q'
	told ''
	check "and the next one succeeds" at_rest disk
	n=$(find "$DIR/image" -name 'pages-*' | head -n 1)
	printf rot | dd of="$n" bs=1 seek=4000 conv=notrunc status=none
	check "a damaged image is said, and brings nobody back" eval 'exits 3 resume && complains damaged && gone $PID'
	check "destroyed, nothing is left of it" eval 'exits 0 destroy && nothing_left'

	counting_two
	at_rest disk
	rm -rf "$DIR/image"
	check "a lost image is said" eval 'exits 3 resume && complains "image is lost"'
	check "and it is absent" state_is absent
	check "destroyed, nothing is left of that" eval 'exits 0 destroy && nothing_left'
	staying
}
# What can't go to disk.
staying() {
	local guest
	if [ "${ISOLATION:-}" != subreaper ]; then
		counting_two
		$KEEPER_AS setpriv --reuid="$NOBODY" --regid="$NOBODY" --clear-groups sleep 305 &
		guest=$!
		disown $guest
		pids+=("$guest")
		within 20 eval 'grep -q "^Uid:.$LEASE_UID" /proc/$guest/status'
		PID=$guest START=$(start_of "$guest") rt enter
		check "with somebody in it who came from outside it is frozen" eval 'at_rest frozen && complains "from outside" && exits 0 resume'
		rt destroy
	fi
	fresh
	mkfifo "$DIR.gate" && chown "$LEASE_UID" "$DIR.gate"
	script -qec "exec $KEEPER -u $NOBODY $DIR.gate $ID sleep 309" /dev/null </dev/null >/dev/null 2>&1 &
	disown $!
	within 30 eval 'PID=$(pgrep -f "^$KEEPER.*$ID sleep 309")'
	pids+=("$!" "$PID")
	START=$(start_of "$PID")
	rt create && open_gate
	check "on a terminal it is frozen, and why is said" eval 'at_rest frozen && complains "on a terminal" && exits 0 resume && within 20 state_is running'
	check "destroyed, nothing is left on it" eval 'exits 0 destroy && nothing_left'
	mkdir "$WORK/small"
	mount -t tmpfs -o size=200k,mode=755 none "$WORK/small" 2>/dev/null || { skip "without room" "no disk of its own can be mounted here"; return; }
	local WORK=$WORK/small
	counting_two
	check "without room for an image it is frozen, and says so" eval 'at_rest frozen && complains "no room" && exits 0 resume && C=$(count) && within 20 beyond $C'
	rt destroy
	for guest in "${pids[@]}"; do kill -9 "$guest" 2>/dev/null; done
	within 20 umount "$WORK"
}
