#!/bin/bash
# t0920-manual-leasewatch.sh: the EXAMPLES of leasewatch(8) work as they stand there.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/blocks.sh"
export MANUAL_TEXT=${MANUAL_TEXT:-$(cat "$(dirname "$0")/../../man/leasewatch.8")}
world user
unset KLEASE_NOTICES XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME
typed "leasewatch(8)" < <(examples <<<"$MANUAL_TEXT")
check "the ledger gave its reasons" grep -Eq '^kls-[a-z2-7]{10}\|expired\|no renewal for' "$W/said"
finish
