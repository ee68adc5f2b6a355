#!/bin/bash
# t0340-hooks-manual.sh: what lease-hooks(7) and the part on sessions in klease(1) show works as it is shown.
. "$(dirname "$0")/../session/lib.sh"
world user
man=$PREFIX/share/man
[ -r "$man/man7/lease-hooks.7" ] || { no "the manual is installed" "$man/man7/lease-hooks.7"; finish; }
conf <<<''
daemon || finish
cd "$W" || finish

# examples FILE: the blocks of EXAMPLES as commands and what they print, mdoc taken off.
examples() {
	awk '/^\.Sh / { in_it = $2 == "EXAMPLES" } in_it && /^\.Bd/ { block = 1; print "# " ++n; next } /^\.Ed/ { block = 0 } in_it && block' "$1" |
		sed -e 's/\\&//g' -e 's/\\e/\\/g' -e "s|/usr/share/leasewatch|$PREFIX/share/leasewatch|g"
}
# play NAME: each command of stdin prints what stands below it.
play() {
	local name=$1 line cmd='' want='' got
	while IFS= read -r line; do
		case $line in
		'$ '* | '# '*)
			[ -z "$cmd" ] || play_one
			cmd='' want=''
			case $line in '$ '*) cmd=${line#'$ '} ;; esac
			;;
		*) want+=$line$'\n' ;;
		esac
	done < <(cat; echo '# end')
}
play_one() {
	# Not in a subshell: what it sets, later lines use.
	eval "$cmd" >"$W/got" 2>&1 </dev/null
	got=$(cat "$W/got")
	if [ "$got" = "${want%$'\n'}" ]; then ok "$name: $cmd"; else no "$name: $cmd" "it says '$got'"; fi
}
examples "$man/man7/lease-hooks.7" >"$W/hooks"
check "lease-hooks(7) has examples" grep -q '^\$ ' "$W/hooks"
play "lease-hooks(7)" <"$W/hooks"
examples "$man/man1/klease.1" | awk -v RS='# [0-9]+\n' '/klease session/' >"$W/session"
check "klease(1) has one of a session" grep -q '^\$ ' "$W/session"
play "klease(1)" <"$W/session"
finish
