#!/bin/bash
# t0340-session.sh: klease session and the hooks of coding agents: one lease a run, begun once, led by the agent, ended when told or when dead.
# shellcheck disable=SC2016,SC2153 # lines for other shells; what klease says to export
. "$(dirname "$0")/../session/lib.sh"
world user
mkdir -p "$NOTICES/queue" "$NOTICES/active" "$NOTICES/archive"
agents=$PREFIX/share/leasewatch/hooks/k-go
A=$NOTICES/active
json() { printf '{"session_id":"%s","cwd":"/home/u/kruze","hook_event_name":"%s","transcript_path":"/x"}\n' "$1" "${2-SessionStart}"; }
field() { sed -n "s/^$2=//p" "$A/$(lock "$1")"; }
count() { find "$NOTICES/${1:-active}" -name 'lock-*' | wc -l; }
none() { [ "$(count)" = 0 ] && [ "$(count archive)" = 0 ]; }

# By hand, without a daemon.
id=$(k session start </dev/null)
check "a session begins without a daemon" present "$id"
check "as a whole record" grep -qx kind=session "$A/$(lock "$id")"
check "0644" test "$(stat -c %a "$A/$(lock "$id")")" = 644
check "its surface is cli, where nothing else is said" test "$(field "$id" surface)" = cli
touch -d @1000 "$A/$(lock "$id")"
check "beat takes an id" k session beat "$id"
check "and is one" test "$(stat -c %Y "$A/$(lock "$id")")" -gt 1000
touch -d @1000 "$A/$(lock "$id")"
KLEASE_SESSION=$id k session beat </dev/null
check "or KLEASE_SESSION" test "$(stat -c %Y "$A/$(lock "$id")")" -gt 1000
check "list has it" sh -c "klease session list | grep -q '^$id '"
check "and as JSON" test "$(k session list --json | jq -r '.[0].id')" = "$id"
check "archive moves it away" k session archive "$id"
check "to archive/" archived "$id"
fails "a beat for one that is over is 3" 3 k session beat "$id"
fails "and makes none" 3 k session beat "$id"
check "nor does it fail with --quiet" k session beat --quiet "$id"
fails "an end that is over is 3" 3 k session archive "$id"
check "nothing is left in active/" test "$(count)" = 0
eval "$(k session start --shell --surface ci --label project=kruze --label 'note=a b' --ttl 90s --linger 2m </dev/null)"
check "--shell says the session" present "${KLEASE_SESSION-}"
check "and its lock" test -f "${KLEASE_LOCK-}"
check "with all that was asked for" test "$(grep -E '^(surface|ttl|linger|label)=' "$KLEASE_LOCK" | paste -sd ' ')" = \
	"surface=ci ttl=90s linger=2m label=project=kruze label=note=a b"
check "the session's own command ends it" k session archive
unset KLEASE_SESSION KLEASE_LOCK
odd="$W/it's a \\ tree"
mkdir -p "$odd/queue" "$odd/active" "$odd/archive"
for sh in bash zsh fish; do
	command -v $sh >/dev/null || continue
	klease session --notices "$odd" start --shell </dev/null >"$W/out.sh"
	check "$sh reads back a path with odd characters" $sh -c ". '$W/out.sh'"'; test -f "$KLEASE_LOCK"'
done
fails "a lease that is no session's is refused" 2 sh -c "printf '#leasewatch 1\nid=kls-aaaaaaaaaa\nsurface=cli\n' >'$A/lock-cli-x-kls-aaaaaaaaaa'; klease session archive kls-aaaaaaaaaa"
check "and stays" present kls-aaaaaaaaaa
rm -f "$A"/lock-* "$NOTICES"/archive/lock-*

# Wrong words.
for words in '' 'begin' 'start kls-aaaaaaaaaa' 'beat nonsense' 'list --agent' 'beat --json' 'start --shell --json' 'start --quiet' 'start --ttl 0s' \
	'start --surface a/b' 'start --leader 999999999' 'beat' 'archive'; do
	# shellcheck disable=SC2086
	fails "session $words is a usage error" 2 k session $words </dev/null
done
KLEASE_SESSION=../../x fails "so is a KLEASE_SESSION that is no id" 2 k session beat </dev/null
check "and nothing is made by any" none
fails "no tree is 75" 75 klease session --notices "$W/nowhere" start </dev/null

# What agents send.
for bad in 'no json' '{' '[]' '[{"session_id":"a"}]' '"a"' '{}' '{"session_id":null}' '{"session_id":7}' '{"session_id":""}' '{"session_id":"a/b"}' \
	'{"session_id":"../../etc/passwd"}' '{"session_id":"a b"}' '{"session_id":"a\nb"}' '{"session_id":"a\u0000b"}' '{"session_id":"ä"}' \
	'{"session_id":"a","session_id":"b"}' '{"session_id":"a"} and more' '{"session_id":"a",}' ''; do
	for verb in start beat archive; do
		fails "$verb: $bad" 2 sh -c 'printf "%s\n" "$1" | klease session "$2" --agent' sh "$bad" $verb
		if [ -s "$W/out" ]; then ok "$verb: $bad: with a word on it"; else no "$verb: $bad: with a word on it" "there was none"; fi
	done
done
long=$(printf '%0121d' 7)
fails "a session_id of 121 characters" 2 sh -c 'printf "{\"session_id\":\"%s\"}" "$1" | klease session start --agent' sh "$long"
fails "10 MB of it" 2 sh -c '{ printf "{\"session_id\":\"a\",\"x\":\""; head -c 10000000 /dev/zero | tr "\0" x; printf "\"}"; } | klease session start --agent'
fails "10 MB of zeros" 2 sh -c 'head -c 10000000 /dev/zero | klease session start --agent'
fails "a hundred thousand brackets" 2 sh -c '{ printf "{\"session_id\":\"a\",\"x\":"; head -c 100000 /dev/zero | tr "\0" "["; } | klease session start --agent'
fails "what is no JSON, without --agent" 2 sh -c 'echo no json | klease session start'
mkfifo "$W/never"
exec 8<>"$W/never"
fails "an agent that never says anything is not waited for" 2 timeout 5 klease session start --agent <"$W/never"
exec 8>&-
check "nothing is made by any" none

id=$(json run-1 | k session start --agent)
check "an agent's session begins" present "$id"
check "on the surface k-go" test "$(field "$id" surface)" = k-go
check "with its id and project as labels" test "$(field "$id" label | paste -sd ' ')" = "agent=run-1 project=kruze"
check "begun again it is the same" test "$(json run-1 | k session start --agent)" = "$id"
check "and so without --agent" test "$(json run-1 | k session start)" = "$id"
for _ in 1 2 3 4 5 6 7 8; do json run-2 | k session start --agent >>"$W/ids" & done
wait
check "eight at once begin one" test "$(sort -u "$W/ids" | wc -l) $(wc -l <"$W/ids") $(count)" = "1 8 2"
touch -d @1000 "$A/$(lock "$id")"
json run-1 PostToolUse | k session beat --agent
check "its beat is one" test "$(stat -c %Y "$A/$(lock "$id")")" -gt 1000
big() { printf '{"session_id":"run-1","tool_response":"'; head -c 500000 /dev/zero | tr '\0' x; printf '"}'; }
check "with half a megabyte of a tool's answer, too" sh -c "$(declare -f big); big | klease session beat --agent"
fails "a beat for one that never began is 3" 3 sh -c "$(declare -f json); json run-9 | klease session beat --agent"
check "and makes none" test "$(count)" = 2
json run-1 | k session archive --agent
check "its end archives it" archived "$id"
check "and no other" test "$(count)" = 1
new=$(json run-1 | k session start --agent)
check "begun after its end it is a new one" test "$new" != "$id"
check "its cwd may be anything" test -n "$(printf '{"session_id":"run-3","cwd":"/a/\\u0007\\n"}' | k session start --agent)"
echo '{"session_id":"led"}' >"$W/led.json"
awk -v cmd="timeout 9 sh -c 'klease session start --agent <$W/led.json >$W/led'" 'BEGIN { system(cmd); system("sleep 300") }' &
agent=$!
starts $agent
within 5 "an agent starts one" test -s "$W/led"
check "the leader is the agent, not what stands between" test "$(field "$(cat "$W/led")" leader)" = "$agent"
kill -KILL $agent
wait $agent 2>/dev/null
check "when it has died, its run begins anew" test "$(k session start --agent <"$W/led.json")" != "$(cat "$W/led")"

# The hooks: silent, and never in the agent's way.
rm -f "$A"/lock-*
hook() { json run-5 "$2" | "$agents/$1" >"$W/hook.out" 2>"$W/hook.err" && ! [ -s "$W/hook.out" ] && ! [ -s "$W/hook.err" ]; }
check "start, silently" hook start SessionStart
check "makes one" present k-go
check "beat, silently" hook beat UserPromptSubmit
check "archive, silently" hook archive SessionEnd
check "ends it" absent k-go
check "beat after that, silently" hook beat PostToolUse
check "makes none" absent k-go
check "archive again, silently" hook archive SessionEnd
for v in start beat archive; do
	check "$v: what is no JSON doesn't stop the agent" sh -c "echo no | '$agents/$v' 2>'$W/hook.err'"
	check "$v: and is told on stderr" test -s "$W/hook.err"
	check "$v: nor does a klease that is missing" sh -c "PATH=/usr/bin:/bin; echo no | '$agents/$v'"
	check "$v: nor a tree that is" sh -c "$(declare -f json); json run-5 | KLEASE_NOTICES=$W/nowhere '$agents/$v'"
done
json run-6 | "$agents/start" "$W/env"
check "start FILE says what a shell should evaluate" sh -c ". '$W/env'; test -f \"\$KLEASE_LOCK\" && klease session beat \"\$KLEASE_SESSION\""
check "the settings are JSON" jq -e '.hooks | .SessionStart and .UserPromptSubmit and .PostToolUse and .SessionEnd' "$agents/settings.json"
for c in $(jq -r '.hooks[][].hooks[].command' "$agents/settings.json"); do check "and name a program: ${c##*/}" test -x "$c"; done
rm -f "$A"/lock-*

# With the daemon: the session lives as its leader does, and what is bound to it with it.
daemon || finish
eval "$(k session start --shell --surface ci --leader $$ </dev/null)"
within 5 "the daemon takes it" is "$KLEASE_SESSION" active
check "the notice is beside its state" test "${KLEASE_NOTICE##*/}" = "notice-$KLEASE_SESSION"
lease=$(k create --wait=10s -- sleep 300)
check "what is created is bound to it" test "$(k show "$lease" --json | jq -r .session)" = "$KLEASE_SESSION"
check "list tells its state" sh -c "klease session list | grep -q '^$KLEASE_SESSION  *active'"
check "it is archived" k session archive
within 10 "what is bound to it ends with it" is "$lease" reaped
unset KLEASE_SESSION KLEASE_LOCK KLEASE_NOTICE
# shellcheck source=tests/session/terminal.sh
. "$(dirname "$0")/../session/terminal.sh"
rc <<<". $hooks/lease.bash"
shell bash env -u KLEASE_LOCK -u KLEASE_SESSION KLEASE_HOOK_SESSION=yes
within 10 "a shell's own session" present shell-
id=$(lock shell-)
id=${id: -14}
within 5 "is the daemon's, too" is "$id" active
pid=$(field "$id" leader)
check "led by the shell" grep -qz "^bash" "/proc/$pid/cmdline"
kill -KILL "$pid"
within 10 "a shell that is killed leaves none behind" absent "$id"
finish
