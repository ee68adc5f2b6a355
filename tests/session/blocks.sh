# shellcheck shell=bash
# tests/session/blocks.sh: sourced after lib.sh by the tests that run what the documents tell a reader to type.
#
#	blocks INFO <TEXT	the fenced blocks of Markdown that begin with ```INFO, one after the other
#	examples <TEXT		the literal displays of a manual's EXAMPLES
#	both print each block behind a line of its own, `#= N: first line of it`
#	typed NAME <BLOCKS	runs them all in one shell that ends at the first failure; a check a block
blocks() {
	awk -v info="\`\`\`$1" '
		$0 == info { inside = fresh = 1; next }
		/^```$/ { inside = 0 }
		inside && fresh { print "#= " ++n ": " $0; fresh = 0 }
		inside'
}
examples() {
	awk '
		/^\.Sh / { in_examples = /EXAMPLES/ }
		/^\.Ed/ { inside = 0 }
		inside { gsub(/\\e/, "\\"); gsub(/\\&/, ""); gsub(/\\-/, "-") }
		inside && fresh { print "#= " ++n ": " $0; fresh = 0 }
		inside
		in_examples && /^\.Bd -literal/ { inside = fresh = 1 }'
}
typed() {
	local name=$1 line title
	cat >"$W/blocks"
	# What a block is followed by says that it was reached: with set -e, by its success.
	awk -v q="'" '
		/^#= / { if (n) print "echo " n " >&3"; n = $2 + 0 }
		{ print }
		END { if (n) print "echo " n " >&3" }' "$W/blocks" >"$W/typed"
	(cd "$HOME" && exec timeout 60 bash -eu "$W/typed") 3>"$W/reached" >"$W/said" 2>"$W/said.err" </dev/null
	check "$name: there are blocks" grep -q '^#= ' "$W/blocks"
	while read -r line; do
		title=${line#\#= }
		if grep -qx "${title%%:*}" "$W/reached"; then ok "$name ${title}"; else
			no "$name ${title}" "$(tail -n 2 "$W/said.err" | tr '\n' ' ')"
		fi
	done < <(grep '^#= ' "$W/blocks")
}
