#!/bin/sh
# The conformance suite on the process runtime just built, as far as it needs no root.
top=${abs_top_builddir:-$(pwd)}
export RUNTIME="$top/runtimes/process" KEEPER="$top/tests/runtime/keeper"
exec bash "${srcdir:-.}/tests/runtime/conformance.sh" --user process
