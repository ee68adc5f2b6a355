#!/bin/bash
# t0360-hooks-manual.sh: what lease-hooks(7) and the part on sessions in klease(1) show works as it is shown.
. "$(dirname "$0")/../session/lib.sh"
. "$(dirname "$0")/../session/blocks.sh"
world user
man=$PREFIX/share/man
[ -r "$man/man7/lease-hooks.7" ] || { no "the manual is installed" "$man/man7/lease-hooks.7"; finish; }
conf <<<''
daemon || finish
cd "$W" || finish

# play NAME: each command of stdin prints what stands below it.
play() {
	local name=$1 line cmd='' want='' got
	while IFS= read -r line; do
		case $line in
		'$ '* | '#= '*)
			[ -z "$cmd" ] || play_one
			cmd='' want=''
			case $line in '$ '*) cmd=${line#'$ '} ;; esac
			;;
		*) want+=$line$'\n' ;;
		esac
	done < <(cat; echo '#= end')
}
play_one() {
	# Not in a subshell: what it sets, later lines use.
	eval "$cmd" >"$W/got" 2>&1 </dev/null
	got=$(cat "$W/got")
	if [ "$got" = "${want%$'\n'}" ]; then ok "$name: $cmd"; else no "$name: $cmd" "it says '$got'"; fi
}
examples <"$man/man7/lease-hooks.7" | sed "s|/usr/share/leasewatch|$PREFIX/share/leasewatch|g" >"$W/hooks"
check "lease-hooks(7) has examples" grep -q '^\$ ' "$W/hooks"
play "lease-hooks(7)" <"$W/hooks"
examples <"$man/man1/klease.1" | awk -v RS='#= ' '/klease session/ { print "#= " $0 }' >"$W/session"
check "klease(1) has one of a session" grep -q '^\$ ' "$W/session"
play "klease(1)" <"$W/session"
finish
