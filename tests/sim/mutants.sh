#!/bin/bash
# mutants.sh SOURCE [NAME...]: whether the simulation bites. Each patch in mutants/ makes one small mistake in the daemon (the first line
# of the patch says which); with it in, the simulation alone has to find a broken invariant within MUTANT_SECONDS (120).
# Works on copies of SOURCE, a worker a core; prints `ok`, `NOT` or `skip` lines as tests/session/lib.sh does, and as the last
# line how many were killed. One that is known to survive stands in mutants/survivors, with why: it is tried nevertheless.
set -u
source=$(cd "${1:?the folder of the source}" && pwd) || exit 2
shift
seconds=${MUTANT_SECONDS:-120}
here=$source/tests/sim/mutants
work=$(mktemp -d "${TMPDIR:-/tmp}/leasewatch-mutants.XXXXXX") || exit 2
workers=${MUTANT_WORKERS:-$(nproc)}
trap 'rm -rf "$work"' EXIT

# prepare N: a copy of its own, built once without any mutant.
prepare() {
	mkdir -p "$work/$1/b" && cp -R "$source" "$work/$1/s" || return 1
	# The copy may have been configured in place, which a build elsewhere does not stand.
	if [ -e "$work/$1/s/config.status" ]; then make -s -C "$work/$1/s" distclean; fi
	[ -x "$work/$1/s/configure" ] || (cd "$work/$1/s" && ./bootstrap) || return 1
	(cd "$work/$1/b" && "../s/configure" -q --disable-dependency-tracking CFLAGS=-O1 && make -s tests/sim/sim)
}

# try N NAME: one line on stdout. `seed N` at the end of a patch's first line: where the mistake shows soon.
try() {
	local patch=$here/$2.patch dir=$work/$1 began=$SECONDS what rc seed known for=$seconds
	if ! patch -p1 -s -f --no-backup-if-mismatch -d "$dir/s" <"$patch" >"$dir/log" 2>&1; then
		echo "NOT $2: the patch does not fit the source"
		return
	fi
	seed=$(sed -n '1s/.*; seed \([0-9]*\)$/\1/p' "$patch")
	known=$(sed -n "s/^$2: *//p" "$here/survivors")
	[ -z "$known" ] || for=10
	# Of sources alone: no header is ever patched. What the one before it touched has its old text, and a new time.
	if ! make -s -C "$dir/b" tests/sim/sim >"$dir/log" 2>&1; then
		echo "NOT $2: does not compile: $(grep -m 1 error: "$dir/log")"
	else
		timeout --kill-after=5 $((for + 60)) \
			"$dir/b/tests/sim/sim" --seed "${seed:-1}" --seconds "$for" --holders 60 >"$dir/out" 2>&1
		rc=$?
		what=$(grep -m 1 -E '^BROKEN' "$dir/out" | cut -c 1-150)
		seed=$(sed -n 's/^  seed \([0-9]*\),.*/\1/p' "$dir/out" | head -n 1)
		if [ $rc = 1 ] && [ -n "$what" ]; then
			echo "ok $2: killed in $((SECONDS - began)) s, seed ${seed:-?}: $what"
		elif [ $rc != 0 ]; then
			echo "NOT $2: the simulation ended with $rc and found nothing: $(tail -n 1 "$dir/out")"
		elif [ -n "$known" ]; then
			echo "skip $2: survives: $known"
		else
			echo "NOT $2: survived $for s: $(head -n 1 "$patch")"
		fi
	fi
	patch -p1 -s -R -f --no-backup-if-mismatch -d "$dir/s" <"$patch" >>"$dir/log" 2>&1
}

if [ $# = 0 ]; then
	for p in "$here"/*.patch; do
		p=${p##*/}
		set -- "$@" "${p%.patch}"
	done
fi
for ((i = 0; i < workers; i++)); do prepare $i >"$work/prepare.$i" 2>&1 & done
wait
for ((i = 0; i < workers; i++)); do
	[ -x "$work/$i/b/tests/sim/sim" ] || {
		echo "NOT mutants: no build"
		tail -n 5 "$work/prepare.$i"
		exit 1
	}
done
# Without a mutant all must be well, else a kill would prove nothing.
if ! "$work/0/b/tests/sim/sim" --seed 1 --seconds 10 --holders 60 >"$work/control" 2>&1; then
	echo "NOT control: the simulation fails without any mutant: $(grep -m 1 -E '^BROKEN' "$work/control")"
	exit 1
fi
echo "ok control: without a mutant, ten seconds are in order"
# A slot a worker, so that each has a copy to itself.
export -f try
export work here seconds
# shellcheck disable=SC2016 # $SLOT and $1 are the inner bash's
printf '%s\n' "$@" | xargs -P "$workers" -n 1 --process-slot-var=SLOT bash -c 'try "$SLOT" "$1"' try | tee "$work/said"
killed=$(grep -c '^ok ' "$work/said")
echo "$killed of $# mutants killed by the simulation"
! grep -q '^NOT ' "$work/said"
