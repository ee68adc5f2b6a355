# shellcheck shell=bash
# tests/session/lib.sh: sourced by the tests that drive an installed build (PREFIX): tests/session/*.sh and tests/runtime/*.sh.
#
#	#!/bin/bash
#	# t0100-reap.sh: what is promised, in a sentence.
#	. "$(dirname "$0")/../session/lib.sh"
#	world user			# or: world system (root only; others skip the whole file)
#	conf <<-C			# the daemon's configuration
#	[defaults]
#	ttl = 2s
#	C
#	daemon || finish
#	id=$(k create -- sleep 300)
#	within 5 "silence ends it" absent "$id"
#	finish
#
# Prints `ok NAME`, `NOT NAME: why` or `skip NAME: why`, a line a check; exits 0, or 1 when a check failed or none was made.
# A world is a folder of its own with its own HOME, XDG_* and notices tree. In user mode root becomes nobody first, since
# euid 0 ignores KLEASE_* and XDG_*. finish, which also runs on a signal, ends what was started and removes the folder.
# KEEP=1 leaves it.
set -u
: "${PREFIX:?names the installed build}"
passed=0 failed=0 skipped=0
W='' D='' MODE='' started=() mode_args=()

ok() { passed=$((passed + 1)); printf 'ok %s\n' "$1"; }
no() { failed=$((failed + 1)); printf 'NOT %s: %s\n' "$1" "${2:-no reason given}"; }
skip() { skipped=$((skipped + 1)); printf 'skip %s: %s\n' "$1" "$2"; }

# check NAME CMD…: CMD succeeds. fails NAME STATUS CMD…: it exits with just that.
check() {
	local name=$1
	shift
	if "$@" >"$W/out" 2>&1; then ok "$name"; else no "$name" "exit $?: $(tail -n 1 "$W/out" | cut -c 1-200)"; fi
}
fails() {
	local name=$1 want=$2 rc=0
	shift 2
	"$@" >"$W/out" 2>&1 || rc=$?
	cp "$W/out" "$W/said"
	if [ "$rc" = "$want" ]; then ok "$name"; else no "$name" "exit $rc, not $want: $(tail -n 1 "$W/out" | cut -c 1-200)"; fi
}
# within SECONDS NAME CMD…: CMD succeeds before so many seconds are over. until_true SECONDS CMD… is the same without a verdict.
until_true() {
	local end=$(($(date +%s%N) + $1 * 1000000000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s%N)" -lt "$end" ] || return 1
		sleep 0.05
	done
}
within() {
	local seconds=$1 name=$2
	shift 2
	if until_true "$seconds" "$@"; then ok "$name"; else
		no "$name" "not within $seconds s: $*"
		return 1
	fi
}

# stays SECONDS NAME CMD…: CMD succeeds at every look for so long.
stays() {
	local end=$(($(date +%s%N) + $1 * 1000000000)) name=$2
	shift 2
	while [ "$(date +%s%N)" -lt "$end" ]; do
		"$@" >/dev/null 2>&1 || {
			no "$name" "no longer: $*"
			return 1
		}
		sleep 0.1
	done
	ok "$name"
}

# world user|system
world() {
	MODE=$1
	local v me
	if [ "$MODE" = user ] && [ "$(id -u)" = 0 ]; then
		# nobody may not be able to read the folder that the tests stand in.
		me=$(basename "$(cd "$(dirname "$0")" && pwd)")/$(basename "$0")
		v=$(mktemp -d /tmp/lease-test.XXXXXX) || exit 1
		cp -R "$(dirname "${BASH_SOURCE[0]}")/.." "$v/tests" && chown -R nobody "$v" && cd / || exit 1
		LEASE_TEST_COPY=$v exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
			env PREFIX="$PREFIX" bash "$v/tests/$me"
	fi
	if [ "$MODE" = system ] && [ "$(id -u)" != 0 ]; then
		skip "$(basename "$0" .sh)" "needs root"
		exit 0
	fi
	for v in $(compgen -e | grep -E '^K?LEASE_' | grep -vx 'LEASE_TEST_COPY'); do unset "$v"; done
	W=$(mktemp -d /tmp/lease-test.XXXXXX) || exit 1
	chmod 755 "$W"
	trap 'no "the test runs to its end" "stopped by a signal"; finish' INT TERM HUP
	trap 'no "the test runs to its end" "it left with $? and without finish"; finish' EXIT
	export HOME=$W/home XDG_DATA_HOME=$W/data XDG_STATE_HOME=$W/state XDG_CONFIG_HOME=$W/config XDG_RUNTIME_DIR=$W/run
	export PATH=$PREFIX/bin:$PREFIX/sbin:$PATH
	mkdir -p "$HOME" "$XDG_DATA_HOME" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"
	chmod 700 "$XDG_RUNTIME_DIR"
	NOTICES=$W/notices STATE=$W/var CONF=$W/leasewatch.conf
	if [ "$MODE" = user ]; then
		export KLEASE_NOTICES=$NOTICES
		mode_args=(--user --config "$CONF")
		echo >"$CONF"
	else
		mode_args=(--notices "$NOTICES" --state "$STATE" --config "$CONF")
		printf '[daemon]\nuser = nobody\n' >"$CONF"
	fi
}
# Adds stdin to the configuration.
conf() { cat >>"$CONF"; }

# k: klease in this world, never longer than 20 s.
k() {
	if [ "$MODE" = system ]; then timeout 20 klease --notices "$NOTICES" "$@"; else timeout 20 klease "$@"; fi
}
# daemon [OPTION…]: starts leasewatch and waits until it answers. Its pid is D.
daemon() {
	leasewatch "${mode_args[@]}" --foreground "$@" >>"$W/daemon.log" 2>&1 &
	D=$!
	# One that has died is no reason to wait.
	if until_true 5 daemon_settled && runs "$D"; then return 0; fi
	no "the daemon comes up" "$(tail -n 3 "$W/daemon.log" | tr '\n' ' ')"
	return 1
}
# The beacon of a predecessor may stand for a moment yet.
daemon_settled() { gone "$D" || { [ "$(beacon pid)" = "$(watcher_of "$D")" ] && [ -d "$NOTICES/active" ] && k list; }; }
# daemon_stop [SIGNAL]: TERM, then KILL after 10 s.
daemon_stop() {
	[ -n "$D" ] || return 0
	kill -s "${1:-TERM}" "$D" 2>/dev/null
	until_true 10 gone "$D" || kill -KILL "$D" 2>/dev/null
	wait "$D" 2>/dev/null
	D=''
}
# The watcher of the daemon PID. crash: kill -9 of the daemon, and no watcher that still goes down when the next one starts.
watcher_of() { cut -d " " -f 1 "/proc/$1/task/$1/children" 2>/dev/null; }
crash() {
	local w
	w=$(watcher_of "$D")
	kill -KILL "$D"
	wait "$D" 2>/dev/null
	until_true 10 gone "$w"
	D=''
}
# starts PID…: finish ends these too.
starts() {
	started+=("$@")
	disown "$@" 2>/dev/null # their end is no news for the shell to print
}

runs() { [ "${1:-0}" -gt 1 ] && grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }
gone() { [ "${1:-0}" -gt 1 ] && ! runs "$1"; }
# The lock's name in active/ (or another folder) by id or part of a name; "" when there is none.
lock() { find "$NOTICES/${2:-active}" -type f -name "lock-*$1*" -printf '%f\n' 2>/dev/null | head -n 1; }
present() { [ -n "$1" ] && [ -n "$(lock "$1")" ]; }
absent() { [ -n "$1" ] && [ -d "$NOTICES/active" ] && [ -z "$(lock "$1")" ]; }
archived() { [ -n "$1" ] && [ -n "$(lock "$1" archive)" ]; }
state() { k show "$1" --json 2>/dev/null | jq -r '.state // empty'; }
is() { [ "$(state "$1")" = "$2" ]; }
# Not over, nor on its way there.
lives() { state "$1" | grep -Eqx "admitted|active|idle|hibernated"; }
# All states that the ledger says a lease went through, in one line.
life() { k ledger --json --lease "$1" 2>/dev/null | jq -r .to | paste -sd ' '; }
lived() { [ "$(life "$1")" = "$2" ]; }

# What a daemon of this world serves: its state folder, its registry, a key of a lease's state file, SQL over the raw registry.
beacon() { sed -n "s/^$1=//p" "$NOTICES/.leasewatch"; }
word() { sed -n "s/^$2=//p" "$(beacon state)/$1" 2>/dev/null | tail -n 1; }
word_has() { word "$1" "$2" | grep -Eq -- "$3"; }
raw() { sqlite3 -cmd '.timeout 5000' "$(beacon db)" "$1"; }
ends() { raw "SELECT count(*) FROM ledger WHERE id = '$1' AND to_state IN ('reaped', 'denied')"; }
one_end() { [ "$(ends "$1")" = 1 ]; }
# said REGEX: what the command of the last `fails` printed has it.
said() { grep -Eiq -- "$1" "$W/said"; }
# Short times: silence is idle after 0.6 s, hibernated 0.4 s later, over after 2.4 s.
short_times() {
	conf <<-C
	[defaults]
	ttl = 2400ms
	renew_grace = 600ms
	hibernate_after = 400ms
	warn_before = 300ms
	[observe]
	every = 100ms
	cpu_floor = 20%
	C
}
# By hand, as a shell would. new_id; claim ID PID [LINE…]: a record for a process; put FOLDER NAME: stdin whole under that name.
new_id() { printf 'kls-%s\n' "$(LC_ALL=C tr -dc a-z2-7 </dev/urandom | head -c 10)"; }
claim() {
	local id=$1 pid=$2
	shift 2
	printf '#leasewatch 1\n'
	printf '%s\n' "id=$id" surface=cli runtime=process "pid=$pid" "pid_start=$(cut -d ' ' -f 22 "/proc/$pid/stat")" \
		"boot=$(cat /proc/sys/kernel/random/boot_id)" "$@"
}
put() { (umask 022; cat >"$NOTICES/$1/.tmp-$2" && mv -n "$NOTICES/$1/.tmp-$2" "$NOTICES/$1/$2"); }
# sleeper: a process of its own session that nobody waits for; its pid in P.
sleeper() {
	setsid sleep 300 </dev/null >/dev/null 2>&1 &
	P=$!
	starts "$P"
	disown "$P" 2>/dev/null
}

# Whatever still carries this world's HOME was started here, whoever its parent is by now.
sweep() {
	local f
	for f in $(env -u HOME grep -lzFx -- "HOME=$W/home" /proc/[0-9]*/environ 2>/dev/null); do
		f=${f#/proc/}
		[ "${f%/environ}" = $$ ] || kill -KILL "${f%/environ}" 2>/dev/null
	done
}
finish() {
	trap '' INT TERM HUP
	trap - EXIT
	local p
	if [ -n "$W" ]; then
		daemon_stop TERM
		if declare -F before_the_end >/dev/null; then before_the_end; fi
		for p in ${started[@]+"${started[@]}"}; do kill -KILL "$p" 2>/dev/null; done
		export HOME=/
		sweep
		sleep 0.1
		sweep
		if [ "$failed" != 0 ] && [ -s "$W/daemon.log" ]; then
			echo "# the daemon's last words:"
			tail -n 20 "$W/daemon.log" | sed 's/^/#   /'
		fi
		if [ "${KEEP:-}" = 1 ]; then echo "# left: $W"; else rm -rf "$W"; fi
	fi
	[ -z "${LEASE_TEST_COPY:-}" ] || rm -rf "$LEASE_TEST_COPY" 2>/dev/null
	[ "$failed" = 0 ] && [ $((passed + skipped)) -gt 0 ]
	exit
}
