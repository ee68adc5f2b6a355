#!/bin/bash
# t0400-hostile-users.sh: in system mode no user ends, renews, holds, reads or delays another's lease, and no file of theirs stops the daemon.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world system
conf <<-C
	[defaults]
	ttl = 60s
	renew_grace = 20s
C
conf <<-C
	[admission]
	quota_leases = 6
C
daemon || finish
A=$NOTICES/active Q=$NOTICES/queue S=$(beacon state) DB=$(beacon db)
# Two people without an entry in passwd: as A_U CMD…, as B_U CMD….
as_a() { setpriv --reuid=61001 --regid=61001 --clear-groups env HOME="$W/home" PATH="$PATH" KLEASE_NOTICES="$NOTICES" "$@"; }
as_b() { setpriv --reuid=61002 --regid=61002 --clear-groups env HOME="$W/home" PATH="$PATH" KLEASE_NOTICES="$NOTICES" "$@"; }
lease_of() { # lease_of as_a [ARG…]: makes one; sets id, L, P
	local who=$1
	shift
	rm -f "$W/pid"
	id=$("$who" timeout 20 klease create "$@" -- sh -c "echo \$\$ >/tmp/.lease-test-$$.pid; exec sleep 300")
	until_true 5 test -s "/tmp/.lease-test-$$.pid"
	P=$(cat "/tmp/.lease-test-$$.pid" 2>/dev/null) L=$(lock "$id")
	rm -f "/tmp/.lease-test-$$.pid"
	starts "$P"
}

check "the three folders are 1777 and the daemon's" test "$(stat -c '%a %U' "$A" "$Q" "$NOTICES/archive" | sort -u)" = "1777 nobody"
lease_of as_a --ttl 60s
check "a user's lease is admitted" is "$id" active
check "its command runs as the user" test "$(stat -c %u "/proc/$P")" = 61001
check "its lock is the user's, 0644" test "$(stat -c '%u %a' "$A/$L")" = "61001 644"

# Another user's hands.
fails "another cannot release it (4)" 4 as_b timeout 20 klease release "$id"
fails "nor renew it (4)" 4 as_b timeout 20 klease renew "$id"
fails "nor renew it with a ttl (4)" 4 as_b timeout 20 klease renew "$id" --ttl 1h
fails "nor run a command in it (4)" 4 as_b timeout 20 klease exec "$id" -- true
fails "nor hold the daemon (4)" 4 as_b timeout 20 klease hold
fails "nor lift a hold (4)" 4 as_b timeout 20 klease hold --lift
fails "nor touch its lock" 1 as_b touch -c "$A/$L"
fails "nor move it" 1 as_b mv "$A/$L" "$NOTICES/archive/"
fails "nor remove it" 1 as_b rm -f "$A/$L"
ask=$(new_id)
printf '#leasewatch 1\nverb=hibernate\nlease=%s\n' "$id" >"$W/ask" && chmod 644 "$W/ask"
as_b sh -c "umask 022; cat $W/ask >$Q/.tmp-$ask && mv -n $Q/.tmp-$ask $Q/ask-$ask"
within 3 "an ask for another's lease is refused" word_has "ask-$ask" result refused
check "and touches nothing of it" lived "$id" "requested admitted active"
check "everybody may look at it" sh -c "setpriv --reuid=61002 --regid=61002 --clear-groups env KLEASE_NOTICES=$NOTICES klease show $id --json | jq -e '.state == \"active\"'"

# What is the daemon's.
fails "a user cannot read the registry" 1 as_b cat "$DB"
fails "nor its companions" 1 as_b sh -c "cat $DB-wal || exit 1"
fails "nor list where it lies" 2 as_b ls "$(dirname "$DB")/tokens"
fails "nor write a state file" 1 as_b sh -c "echo x >>$S/$id || exit 1"
fails "nor make one" 2 as_b sh -c ": >$S/kls-aaaaaaaaaa || exit 1"
fails "nor look into .reap" 2 as_b ls "$NOTICES/.reap"
fails "nor into .quarantine" 2 as_b ls "$NOTICES/.quarantine"
fails "nor write the beacon" 1 as_b sh -c "echo x >>$NOTICES/.leasewatch || exit 1"
fails "nor make files beside the folders" 2 as_b sh -c ": >$NOTICES/x || exit 1"
check "the lock of the tree is 0600" test "$(stat -c %a "$NOTICES/.leasewatch.lock")" = 600

# F07, F14, F09: what is no lock.
before=$(md5sum /etc/passwd)
n=0
evil() { as_b sh -c "$1"; }
for d in "$A" "$Q"; do
	evil "ln -s /etc/passwd $d/lock-x-y-kls-aaaaaaaa2a; ln -s $A/$L $d/lock-x-y-kls-aaaaaaaa2b; mkfifo $d/lock-x-y-kls-aaaaaaaa2c
		mkdir $d/lock-x-y-kls-aaaaaaaa2d; mkdir -p $d/lock-x-y-$id/deep; head -c 3000000 /dev/zero >$d/lock-x-y-kls-aaaaaaaa2e
		printf '#' >$d/lock-x-y-kls-aaaaaaaa2f; : >$d/ask-kls-aaaaaaaa2g; mkfifo $d/ask-kls-aaaaaaaa2h; ln -s /etc/passwd $d/ask-kls-aaaaaaaa2i
		mkdir $d/ask-kls-aaaaaaaa2j; : >\"$d/lock-
		x\"; : >\"$d/\$(printf 'lock-\\033[2J-y-kls-aaaaaaaa2')\"" 2>/dev/null
done
setpriv --reuid=61002 --regid=61002 --clear-groups perl -MIO::Socket::UNIX -e \
	'IO::Socket::UNIX->new(Local => shift, Listen => 1)' "$A/lock-x-y-kls-aaaaaaaa2k" 2>/dev/null || :
sleep 0.5
check "links, FIFOs, folders, sockets and rubbish leave the daemon alive (F07, F14)" runs "$D"
check "the linked file is as it was" test "$before" = "$(md5sum /etc/passwd)"
check "the user's lease as well" lived "$id" "requested admitted active"
check "none of it became a lease" sh -c "klease --notices $NOTICES list --json | jq -e 'length == 1'"
check "the log has no control bytes" sh -c "! grep -q \$'[\\001-\\010\\013-\\037]' $W/daemon.log"
check "and no more than a dozen lines about one user's rubbish" test "$(grep -c 'of uid 61002' "$W/daemon.log")" -le 12

# Hard links: of another user's making where the kernel lets him (fs.protected_hardlinks = 0), else made for him.
as_b ln "$A/$L" "$A/lock-x-y2-$id" 2>/dev/null || ln "$A/$L" "$A/lock-x-y2-$id"
as_a ln "$A/$L" "$NOTICES/archive/$L"
sleep 0.4
check "extra links end no admitted lease" lived "$id" "requested admitted active"
rm -f "$NOTICES/archive/$L"
as_a mv "$A/$L" "$NOTICES/archive/"
within 3 "and hold back no release" gone "$P"

# F_SETLEASE and flock on a lock: the daemon reads at receipt, and must not wait for either.
lease_of as_a --ttl 3s
as_a perl -e 'use Fcntl; $SIG{IO} = "IGNORE"; open(F, "<", shift); fcntl(F, 1024, 1) or die; sleep(300)' "$A/$L" 2>/dev/null &
starts $!
as_a flock "$A/$L" sleep 300 &
starts $!
qid=$(new_id)
as_b sh -c "printf '#leasewatch 1\nruntime=nosuch\n' >$Q/.tmp-x" && as_b perl -e '
	use Fcntl; $SIG{IO} = "IGNORE"; open(F, "+<", "$ARGV[0]/.tmp-x"); fcntl(F, 1024, 1) or die "lease: $!"; rename("$ARGV[0]/.tmp-x", "$ARGV[0]/lock-x-y-$ARGV[1]"); sleep(300)' "$Q" "$qid" &
starts $!
sleep 0.5
t0=$(date +%s%N)
check "with a file lease on a request (45 s for a plain open) others are served" as_a timeout 20 klease run -- true
t=$((($(date +%s%N) - t0) / 1000000))
if [ $t -lt 3000 ]; then ok "… at once"; else no "… at once" "$t ms"; fi
within 8 "a lock that its owner has locked and leased expires all the same" absent "$id"
within 5 "and is reaped" gone "$P"

# Names that the daemon needs.
day=$(date -u +%F)
if [ ! -e "$NOTICES/archive/$day" ]; then as_b mkdir "$NOTICES/archive/$day"; fi
lease_of as_a --ttl 3s
as_b sh -c ": >$NOTICES/archive/$L" # squat the name in archive/
check "a squatted name in archive/ is no release" is "$id" active
within 2 "and makes room for one" test ! -e "$NOTICES/archive/$L"
as_b sh -c "mkdir $NOTICES/archive/$L"
within 2 "so does a folder" test ! -e "$NOTICES/archive/$L"
# A request with another's id is found before the lock by who looks in queue/ first.
as_b sh -c "cp $A/$L $Q/.tmp-squat && mv $Q/.tmp-squat $Q/$L"
check "another's request with its id and name holds back no release" as_a timeout 20 klease release "$id"
within 2 "which counts" gone "$P"
within 4 "its lock is gone from active/" absent "$id"
lease_of as_a --ttl 20s
as_b sh -c "cp $A/$L $Q/.tmp-squat && mv $Q/.tmp-squat $Q/$L"
within 2 "nor does it stay in queue/" test ! -e "$Q/$L"
check "... and ends nothing" is "$id" active
as_a mv "$A/$L" "$NOTICES/archive/"
within 4 "... and a release by hand counts, too" gone "$P"
# F09: the name that a request will have in active/.
for squat in "mkdir" "touch" "mkdir -p" "ln -s /etc/passwd" "mkfifo"; do
	setpriv --reuid=61001 --regid=61001 --clear-groups sleep 300 &
	P=$!
	starts "$P"
	id=$(new_id)
	[ "$squat" != "mkdir -p" ] || as_b mkdir -p "$A/lock-cli-me-$id/full"
	as_b sh -c "$squat $A/lock-cli-me-$id"
	sleep 0.05
	claim "$id" "$P" >"$W/rec" && chmod 644 "$W/rec"
	as_a sh -c "umask 022; cat $W/rec >$Q/.tmp-$id && mv -n $Q/.tmp-$id $Q/lock-cli-me-$id"
	within 4 "a name squatted in active/ by $squat keeps nobody out (F09)" is "$id" active
	as_a timeout 20 klease release "$id" >/dev/null 2>&1
	until_true 4 gone "$P"
done

# Quota. Whatever of 61002 lies about goes first.
for _ in 1 2 3 4 5 6 7 8; do
	as_b timeout 20 klease create --ttl 3s -- sleep 300 >>"$W/ids" 2>>"$W/refusals" || :
done
check "a user gets quota_leases leases and no more" test "$(grep -c kls "$W/ids")" -le 6
check "the refusal has the numbers" grep -Eq 'quota_leases is 6' "$W/refusals"
check "another user is not touched by it" as_a timeout 20 klease run -- true

# I9: a flood by one delays nobody's end.
lease_of as_a --ttl 2s
P1=$P
as_b perl -e 'chdir shift; for (1 .. 5000) { my $n = sprintf("%05d", $_) =~ tr/0189/abcd/r; open(my $f, ">", "lock-x-y-kls-${n}abcde") }' "$A" &
flood=$!
starts "$flood"
within 7 "5,000 files by one user do not stop another's reaping (I9)" gone "$P1"
until_true 30 gone "$flood"
within 20 "nor a new lease of another's" as_a timeout 15 klease run -- true
check "the daemon lives" runs "$D"

# One process, a great many execs and leaders: no descriptor of the daemon's is left for others otherwise.
as_b sh -c "rm -rf $A/lock-x-y-*"
until_true 5 test -z "$(lock 61002)"
lease_of as_b --ttl 30s
if [ -n "$L" ]; then
	setpriv --reuid=61002 --regid=61002 --clear-groups sleep 300 &
	p=$!
	starts "$p"
	as_b perl -e 'my ($q, $lease, $p, $s, $b) = @ARGV;
		for (1 .. 1500) {
			my $n = sprintf("%05d", $_) =~ tr/0189/abcd/r;
			open(my $f, ">", "$q/.tmp-$n");
			print $f "#leasewatch 1\nverb=exec\nlease=$lease\npid=$p\npid_start=$s\nboot=$b\n";
			close $f;
			rename("$q/.tmp-$n", "$q/ask-kls-${n}abcde");
			select(undef, undef, undef, 0.001);
		}' "$Q" "$id" "$p" "$(cut -d ' ' -f 22 "/proc/$p/stat")" "$(cat /proc/sys/kernel/random/boot_id)"
	n=0
	for p in "$D" $(cat "/proc/$D/task/$D/children"); do n=$((n + $(find "/proc/$p/fd" -mindepth 1 2>/dev/null | wc -l))); done
	if [ "$n" -lt 400 ]; then ok "asks of one user take up few descriptors"; else no "asks of one user take up few descriptors" "$n are open"; fi
	check "and others are served" as_a timeout 15 klease run -- true
fi
check "the daemon is still the first one" runs "$D"
finish
