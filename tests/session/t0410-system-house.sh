#!/bin/bash
# t0410-system-house.sh: system mode: who the two processes are, what they may do, and which trees are refused.
# Functions are called by their names, and what is quoted is another shell's.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
world system
conf <<-C
	[defaults]
	ttl = 20s
	renew_grace = 8s
	hibernate_after = 500ms
C
status() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"; }
daemon || finish
w=$(watcher_of "$D") nobody=$(id -u nobody)
check "the actor is root" test "$(status "$D" Uid | cut -f 1)" = 0
check "the watcher is not: real, effective, saved and filesystem's user" test "$(status "$w" Uid | tr '\t' ' ')" = "$nobody $nobody $nobody $nobody"
check "nor in any group of root's" test -z "$(status "$w" Groups | tr -d ' ')"
for c in CapInh CapPrm CapEff CapAmb; do check "the watcher has no capability ($c)" test "$(status "$w" $c | tr -d 0)" = ""; done
check "and can get none" test "$(status "$w" NoNewPrivs)" = 1
check "it is one process without children" test -z "$(watcher_of "$w")"
check "its memory is not to be read by its own user" setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c "! cat /proc/$w/environ >/dev/null 2>&1"
check "the registry is the daemon's alone" test "$(stat -c %a "$(beacon db)")" = 600
check "the state folder is for all to read" test "$(stat -c %a "$(beacon state)")" = 755
check "tokens/ is for nobody to list" test "$(stat -c %a "$STATE/tokens")" = 711
check "sessions/ is root's, and for nobody to list" test "$(stat -c '%u %a' "$STATE/sessions")" = "0 711"
check "work/ is root's alone" test "$(stat -c '%u %a' "$STATE/work")" = "0 700"
check "the actor holds no descriptor of the tree but its lock" sh -c "! ls -l /proc/$D/fd | grep -E '$NOTICES/(active|queue|archive)/lock'"

# A hostile name and record goes through all of a life; the actor opens nothing below notices/.
if command -v strace >/dev/null; then
	strace -f -qq -e trace=%file,openat2 -p "$D" -o "$W/strace" 2>"$W/strace.err" &
	s=$!
	starts $s
	sleep 0.5
	as_user() { setpriv --reuid=61001 --regid=61001 --clear-groups env HOME="$W/home" PATH="$PATH" KLEASE_NOTICES="$NOTICES" "$@"; }
	id=$(as_user timeout 20 klease create -- sleep 300)
	until_true 5 is "$id" active
	as_user timeout 20 klease exec "$id" -- true
	as_user timeout 20 klease release "$id"
	within 8 "a user's lease lives and ends under strace" is "$id" reaped
	kill -INT $s
	until_true 3 gone $s
	if [ -s "$W/strace" ]; then
		check "meanwhile the actor and its programs opened nothing below notices/" sh -c "! grep -F '$NOTICES/' $W/strace"
		check "nor a state file" sh -c "! grep -F '$STATE/state' $W/strace"
	else
		skip "the actor opens nothing below notices/" "strace: $(tail -n 1 "$W/strace.err")"
	fi

	# I12: nothing due, no work.
	idle() { # idle NAME SECONDS MOST
		local n
		for p in "$D" "$w"; do timeout -s INT "$2" strace -qq -p "$p" -o "$W/idle.$p" 2>"$W/strace.err" & done
		wait %% 2>/dev/null
		sleep "$2"
		sleep 0.3
		# A wait that gave something; the rest of a turn that strace came into is none.
		n=$(cat "$W/idle.$D" "$W/idle.$w" | grep -cE 'epoll_p?wait.*\) = [1-9]')
		if [ "$n" -le "$3" ]; then ok "$1 ($n calls)"; else no "$1" "$n calls: $(tail -n 2 "$W/idle.$w" | tr '\n' ' ')"; fi
	}
	idle "with no lease neither process wakes in 4 s (I12)" 4 0
	as_user klease run -- sleep 300 &
	starts $!
	until_true 5 present cli
	sleep 1
	# Its one due thing is the checkpoint, every renew_grace: 8 s here.
	idle "with one silent run neither wakes but for a checkpoint" 4 1
else
	skip "strace of the two processes" "needs strace"
fi
daemon_stop

# Trees and users that are refused.
refused() {
	local name=$1 regex=$2
	shift 2
	fails "$name is refused" 1 timeout 10 leasewatch --config "$CONF" --foreground "$@"
	check "… and says why" said "$regex"
}
mkdir -m 777 "$W/open"
refused "a tree whose parent everybody can write" 'write|open' --notices "$W/open/notices" --state "$W/var2"
check "… nothing is made there" test ! -e "$W/open/notices/active"
chmod 1777 "$W/open"
chown 61002 "$W/open"
refused "one whose parent is a user's" 'owner|belongs|write|root|user|uid' --notices "$W/open/notices" --state "$W/var2"
chown 0 "$W/open"
mkdir "$W/open/theirs" && chown 61002 "$W/open/theirs"
refused "a tree that a user has made" '.' --notices "$W/open/theirs" --state "$W/var2"
refused "a state folder below what a user can write" '.' --notices "$W/n3" --state "$W/open/theirs/var"
ln -s "$W/open/theirs" "$W/open/ln"
refused "a tree that is a link" '.' --notices "$W/open/ln" --state "$W/var2"
printf '[daemon]\nuser = root\n' >"$CONF"
refused "[daemon] user = root" 'root' --notices "$W/n4" --state "$W/v4"
printf '[daemon]\nuser = lease-test-nobody\n' >"$CONF"
refused "a user that there is not" 'klease init' --notices "$W/n4" --state "$W/v4"
if ! getent passwd leasewatch >/dev/null; then
	: >"$CONF"
	refused "the default user, where it is missing" 'leasewatch.*klease init' --notices "$W/n4" --state "$W/v4"
fi
check "… and no tree is made" test ! -e "$W/n4"
printf '[daemon]\nuser = nobody\n' >"$CONF"
chown 61002 "$CONF"
refused "a configuration that is a user's" '.' --notices "$W/n4" --state "$W/v4"
check "klease init --dry-run as root changes nothing" sh -c "md5sum /etc/passwd >$W/a; klease --notices $W/n5 init --dry-run; md5sum /etc/passwd | cmp - $W/a && [ ! -e $W/n5 ]"
finish
