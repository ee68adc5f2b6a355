#!/bin/bash
# t0900-readme.sh: what README.md tells a user to type works as it stands there, in order, in a home with nothing set but what a login
# sets, and what it says of undoing leaves nothing. (Blocks marked ```sh run; t0910-readme-root.sh has those for root.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"
# As text: who we become may not be able to read the file.
export README_TEXT=${README_TEXT:-$(cat "$(dirname "$0")/../../README.md")}
world user
unset KLEASE_NOTICES XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME
typed README < <(blocks 'sh run' <<<"$README_TEXT")
check "klease run printed what its command printed" grep -qx building "$W/said"
check "klease exec was inside" grep -Eqx 'inside kls-[a-z2-7]{10}' "$W/said"
check "renew said how long" grep -Eq '^renewed, .* left$' "$W/said"
check "ls showed a lock" grep -Eqx 'lock-cli-.*-kls-[a-z2-7]{10}' "$W/said"
nothing_left() { [ -z "$(find "$HOME" "$XDG_RUNTIME_DIR" -name 'leasewatch*')" ]; }
check "what it says of undoing leaves nothing in the home" nothing_left
nobody_left() { ! env -u HOME grep -lzFx -- "HOME=$HOME" /proc/[0-9]*/environ 2>/dev/null | grep -Ev "^/proc/($$|$BASHPID|self)/"; }
within 5 "and no process" nobody_left
finish
