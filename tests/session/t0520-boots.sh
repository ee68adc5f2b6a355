#!/bin/bash
# t0520-boots.sh: the daemon after a reboot, as its boot id tells, and in a time namespace whose clock is hours off.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/private.sh"
. "$(dirname "$0")/lib.sh"
world system
conf <<-C
	[defaults]
	ttl = 2s
	renew_grace = 700ms
	hibernate_after = never
	warn_before = 10ms
C
A=$NOTICES/active
BOOT_ID=/proc/sys/kernel/random/boot_id
lease() {
	rm -f "$W/p"
	id=$(k create -- sh -c "echo \$\$ >$W/p; exec sleep 300")
	until_true 5 test -s "$W/p"
	P=$(cat "$W/p") L=$(lock "$id")
}

daemon || finish
sleeper
mine=$(new_id)
claim "$mine" "$P" | put queue "lock-cli-root-$mine"
until_true 5 is "$mine" active
other=$P
lease
crash
# The host boots. What ran before would be gone; here it runs on, so that it can be seen that nobody touches it.
echo 01234567-89ab-cdef-0123-456789abcdef >"$W/boot_id"
if mount --bind "$W/boot_id" $BOOT_ID; then
	daemon || finish
	within 4 "after a reboot, leases of before are over" absent "$id"
	within 2 "for that reason" sh -c "klease --notices '$NOTICES' ledger --json --lease $id | grep -q 'the host has booted since'"
	within 4 "each of them" absent "$mine"
	within 4 "with one end" one_end "$id"
	check "one" one_end "$mine"
	if runs "$other"; then ok "a process of another boot with the same number is not touched"; else
		no "a process of another boot with the same number is not touched" "$other was ended"
	fi
	umount $BOOT_ID
	daemon_stop
	daemon || finish
else
	skip "a reboot" "the boot id cannot be covered"
	daemon || finish
fi
lease
check "a lease of this boot is like any other" is "$id" active
daemon_stop

# In a time namespace: CLOCK_MONOTONIC is ten hours further than everybody else's, who go on as they do.
if ! unshare --time --fork --monotonic=36000 true 2>/dev/null; then
	skip "a time namespace" "the kernel or unshare(1) has none"
	finish
fi
# daemon_off HOURS
daemon_off() {
	unshare --time --fork --kill-child --monotonic=$(($1 * 3600)) leasewatch "${mode_args[@]}" --foreground >>"$W/daemon.log" 2>&1 &
	U=$!
	starts $U
	until_true 5 test -n "$(watcher_of $U)"
	D=$(watcher_of $U)
	until_true 5 daemon_settled
	runs "$D" || no "the daemon comes up in a time namespace" "$(tail -n 1 "$W/daemon.log")"
}
ms() { echo $(($(date +%s%N) / 1000000)); }
# Beaten until the daemon is there, however long that takes.
while touch -c "$A/$L" && sleep 0.2; do :; done &
beats=$!
starts $beats
daemon_off 10
check "ten hours later by its clock, what was beaten just now lives" lives "$id"
kill $beats
wait $beats 2>/dev/null
for _ in 1 2 3 4 5 6 7; do
	t0=$(ms)
	touch -c "$A/$L"
	sleep 0.4
done
check "and does, as long as it is beaten" lives "$id"
until_true 8 gone "$P"
t=$(($(ms) - t0))
if [ $t -ge 2000 ] && [ $t -le 4200 ]; then ok "silent, it ends after its ttl ($t ms)"; else no "silent, it ends after its ttl" "$t ms for 2 s"; fi
lease
check "a new one is admitted there" is "$id" active
crash
daemon_off 34
within 3 "one that was silent over a day of downtime, by its clock, has one grace at most" gone "$P"
within 2 "with one end" one_end "$id"
finish
