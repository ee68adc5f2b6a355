#!/bin/sh
# Every subcommand, option and exit status that klease has is in the manual and in the three completions, and the manual has no others.
. "${srcdir:-.}/tests/unit/klease/lib.sh"
man=$here/man/klease.1
comp=$here/klease/completions

k help --words >"$W/words"
check "there are words" test "$(grep -c ^command "$W/words")" -ge 12

# A command's part of the manual: from its own .It Cm to the next one's; lists inside it are of it.
part() { awk -v c="$1" '/^\.Bl/ { deep++ } /^\.El/ { deep-- } /^\.It Cm / && deep < 2 { in_it = $3 == c } /^\.Ss|^\.Sh/ { in_it = 0 } in_it' "$man"; }
bash_part() { awk -v c="$1)" '$1 == c' "$comp/klease.bash"; }
zsh_part() { awk -v c="$1)" '$1 == c, /;;$/' "$comp/_klease"; grep -q "^	$1) .*_klease_asking" "$comp/_klease" && sed -n '/^_klease_asking/,/^)/p' "$comp/_klease"; }
fish_part() { grep -E "__klease_is [^']*\b$1\b" "$comp/klease.fish"; }

while read -r what a b; do
	case $what in
	command)
		for f in man bash zsh fish; do
			case $f in
			man) part "$a" ;;
			bash) grep -E "words='create .*\b$a\b" "$comp/klease.bash"; bash_part "$a" ;;
			zsh) grep "'$a:" "$comp/_klease" && zsh_part "$a" ;;
			fish) grep -- "-a $a " "$comp/klease.fish" ;;
			esac | grep -q . || no "$a is missing in $f"
		done
		k help "$a" | grep -q "^usage: klease $a" || no "help $a"
		k "$a" --help | grep -q "^usage: klease $a" || no "$a --help"
		;;
	option)
		o=${b#--}
		part "$a" | grep -Eq "Fl Fl $o\b|Fl Fl .*\| $o\b" || no "$a $b is missing in the manual"
		bash_part "$a" | grep -q -- "$b\b" || no "$a $b is missing in klease.bash"
		zsh_part "$a" | grep -q -e "$b\\[" -e "$b=" || no "$a $b is missing in _klease"
		fish_part "$a" | grep -q -- "-l $o\b" || no "$a $b is missing in klease.fish"
		;;
	exit) grep -qx "\.It $a" "$man" || no "exit status $a is missing in the manual" ;;
	esac
done <"$W/words"
[ $failed = 0 ] && ok "every command, option and exit status is in manual and completions"

grep -o 'Fl Fl [a-z][a-z-]*' "$man" | cut -d' ' -f3 | sort -u >"$W/options"
while read -r o; do
	case $o in notices | user | help | version) continue ;; esac
	grep -q -- " --$o$" "$W/words" || no "the manual's --$o is none of klease's"
done <"$W/options"
grep -oE -- "--[a-z][a-z-]+" "$comp/klease.bash" | sort -u >"$W/options"
while read -r o; do
	case $o in --notices | --user | --help | --version | --json) continue ;; esac
	grep -q -- " $o$" "$W/words" || no "klease.bash's $o is none of klease's"
done <"$W/options"
[ $failed = 0 ] && ok "and no others"

check "--help names every command" sh -c "for c in \$(awk '/^command/ { print \$2 }' '$W/words'); do '$top/klease/klease' --help | grep -q \"^  \$c \" || exit 1; done"
fails "a mistyped command is none" 2 k relase
says "and the nearest is named" "there is no command 'relase': the nearest is release"
fails "a word that is near to none is only none" 2 k frobnicate
says "and says only that" "there is no command 'frobnicate' (see"
fails "a folder without a command is wrong usage" 2 k --notices list
says "and says so" "which command"
fails "a wrong option is one of its command" 2 k create --tll 5m
says "whose help is pointed at" "see .klease help create."
check "--version says one" sh -c "'$top/klease/klease' --version | grep -Eqx 'klease \(leasewatch\) [0-9.]+'"
if command -v mandoc >/dev/null; then
	check "the manual is clean mdoc" sh -c "test -z \"\$(mandoc -T lint -W warning '$man' 2>&1)\""
fi
for sh in bash zsh fish; do
	command -v $sh >/dev/null || continue
	case $sh in bash) f=klease.bash ;; zsh) f=_klease ;; fish) f=klease.fish ;; esac
	check "$sh reads its completion" $sh -n "$comp/$f"
done
if command -v bash >/dev/null; then
	# shellcheck disable=SC2016
	check "bash completes an option" test "$(bash -c '. "$1"; COMP_WORDS=(klease run --no-d); COMP_CWORD=2; _klease; echo "${COMPREPLY[@]}"' bash "$comp/klease.bash")" = --no-daemon-ok
fi
# Real completion, where the shell can be asked for it.
if command -v fish >/dev/null; then
	check "fish completes the command behind --" sh -c "fish --no-config -c 'source \$argv[1]; complete -C \"klease run -- tru\"' '$comp/klease.fish' | grep -q '^true'"
	check "fish completes an option" sh -c "fish --no-config -c 'source \$argv[1]; complete -C \"klease run --no-d\"' '$comp/klease.fish' | grep -q -- '--no-daemon-ok'"
fi
finish
