#!/bin/bash
# t0330-shell-habits.sh: the hooks live with what users have in their shells: prompts, traps, options, an old tmux; and nothing is forked.
# shellcheck disable=SC2016 # lines for other shells
. "$(dirname "$0")/../session/lib.sh"
world user
. "$(dirname "$0")/../session/terminal.sh"

# fork_free SHELL: between two changes of folder come three prompts and two commands that are the shell's own.
fork_free() {
	local sh=$1
	new_lock
	rc <<<". $hooks/lease.$sh"
	shell "$sh" strace -f -qq -e trace=chdir,clone,clone3,fork,vfork,execve -o "$W/strace"
	sync
	if ! grep -q execve "$W/strace"; then
		skip "$sh: no fork at a prompt" "strace is not allowed here"
		close
		return
	fi
	enter ""
	enter "cd /tmp"
	enter ""
	old
	enter ": a command"
	within 5 "$sh: beats under strace" fresh
	enter ": another"
	enter "cd /"
	sync
	close
	sed -n '/chdir("\/tmp")/,/chdir("\/")/p' "$W/strace" >"$W/between"
	check "$sh: both changes of folder are there" test "$(grep -c chdir "$W/between")" = 2
	check "$sh: no fork at a prompt or a command" sh -c "! grep -E 'clone|fork|execve' '$W/between'"
}
if command -v strace >/dev/null; then
	fork_free bash
	! command -v zsh >/dev/null || fork_free zsh
else
	skip "no fork at a prompt" "strace is missing"
fi

# bash: the user's own.
rc <<E
PROMPT_COMMAND='said=\$?; echo mine >>$W/pc'
PS1='<\$?:\${said-}>'
. $hooks/lease.bash
. $hooks/lease.bash
PROMPT_COMMAND='said=\$?; echo mine >>$W/pc'
PS1='<\$?:\${said-}>'
. $hooks/lease.bash
. $hooks/lease.bash
E
new_lock
shell bash
within 5 "PROMPT_COMMAND is a string: a prompt beats" fresh
sync
enter "(exit 7)"
within 5 "the status is the command's, at the prompt and in the user's own" shows '<7:7>'
sync
check "the user's own still runs" test -s "$W/pc"
enter 'echo "$PROMPT_COMMAND" | grep -c __lease_call; true one two; echo "last:$_:"; true | false | true; echo "pipe:${PIPESTATUS[*]}:"'
within 5 "sourced twice is once" shows '^1$'
within 5 "\$_ is the user's" shows '^last:two:'
within 5 "PIPESTATUS is the user's" shows '^pipe:0 1 0:'
enter 'false'
enter 'echo "before:$?:"'
within 5 "and \$? too" shows '^before:1:'
sync
old
enter "stat -c %Y \$KLEASE_LOCK >$W/seen"
within 5 "with a beat before the command" grep -qvx 1000 "$W/seen"
close

rc <<E
PROMPT_COMMAND=('said=\$?' 'echo second >>$W/pc2')
PS1='<\${said-}>'
trap 'echo mine >>$W/trap' DEBUG
trap 'echo bye >>$W/bye' EXIT
. $hooks/lease.bash
E
new_lock
shell bash env -u KLEASE_LOCK -u KLEASE_SESSION KLEASE_HOOK_SESSION=yes
sync
enter 'export KLEASE_LOCK='"$L"
sync
old
enter "(exit 9)"
within 5 "PROMPT_COMMAND is an array: a prompt beats" fresh
within 5 "with the status of the command" shows '<9>'
check "all of it runs" test -s "$W/pc2"
enter 'echo "${#PROMPT_COMMAND[@]} elements"'
within 5 "and stays two" shows '^2 elements'
rm -f "$W/trap"
enter 'true'
within 5 "the user's DEBUG trap stays" test -s "$W/trap"
enter "trap -p DEBUG >$W/debug"
within 5 "and only his" grep -q 'echo mine' "$W/debug"
check "with nothing of ours" sh -c "! grep __lease '$W/debug'"
check "a session of its own" present shell-
close
within 5 "the user's EXIT trap runs" grep -qx bye "$W/bye"
within 5 "and the session is archived" absent shell-

# shell_under NAME OPTIONS: options that make a careless line fail, or end the shell.
shell_under() {
	local sh=$1 options=$2
	rc <<-E
	$options
	. $hooks/lease.$sh
	$options
	E
	new_lock
	rm -f "$W/seen2"
	shell "$sh"
	within 5 "$sh, $options: a prompt beats" fresh
	sync
	old
	enter "stat -c %Y \"\$KLEASE_LOCK\" >|$W/seen.new; mv $W/seen.new $W/seen2"
	within 5 "$sh, $options: and a command" test -s "$W/seen2"
	check "$sh, $options: before it runs" test "$(cat "$W/seen2")" -gt 1000
	sync
	enter "unset KLEASE_LOCK"
	sync
	check "$sh, $options: silently, with a lock and without" silent
	check "$sh, $options: and the record stays whole" whole
	close
}
for options in 'set -u' 'set -o noclobber' 'set -e' 'set -eu; set -o pipefail; IFS=:/' 'set -o posix' 'SECONDS=0; LC_ALL=C' \
	'set -f; shopt -s nullglob failglob nocasematch extdebug' 'alias printf=false trap=false read=false command=false'; do
	shell_under bash "$options"
done
if command -v zsh >/dev/null; then
	for options in 'setopt nounset' 'setopt noclobber' 'setopt errexit' 'setopt ksharrays shwordsplit nounset noclobber; IFS=:/' 'SECONDS=0' \
		'emulate sh' 'emulate ksh' 'alias print=false trap=false read=false command=false'; do
		shell_under zsh "$options"
	done
	rc <<-E
	precmd() { said=\$?; echo mine >>$W/pc3 }
	preexec() { echo mine >>$W/pe3 }
	setopt promptsubst
	PS1='<%?:\$said>'
	. $hooks/lease.zsh
	. $hooks/lease.zsh
	E
	new_lock
	shell zsh
	within 5 "zsh with precmd and preexec: a prompt beats" fresh
	enter "(exit 7)"
	within 5 "zsh: the status is the command's" shows '<7:7>'
	enter 'echo "$#precmd_functions $#preexec_functions hooks"'
	within 5 "zsh: sourced twice is once" shows '^1 1 hooks'
	check "zsh: precmd and preexec run" sh -c "test -s '$W/pc3' && test -s '$W/pe3'"
	close
fi
if command -v fish >/dev/null; then
	rc <<-E
	function fish_prompt; echo "<\$status>"; end
	function mine --on-event fish_preexec; echo mine >>$W/pe4; end
	source $hooks/lease.fish
	source $hooks/lease.fish
	E
	new_lock
	shell fish
	within 5 "fish with a prompt of the user's: it beats" fresh
	enter "sh -c 'exit 7'"
	within 5 "fish: the status is the command's" shows '<7>'
	check "fish: the user's own event runs" test -s "$W/pe4"
	close
fi

# The signal of a file size limit is as it was: a user's trap stays, and commands don't find it ignored.
for sh in bash zsh; do
	command -v $sh >/dev/null || continue
	rc <<<". $hooks/lease.$sh"
	new_lock
	shell $sh
	within 5 "$sh beats" fresh
	sync
	enter "grep SigIgn: /proc/self/status >$W/ignored.$sh"
	within 5 "$sh: a command tells what it ignores" test -s "$W/ignored.$sh"
	ignored=$(tr -cd '0-9a-f' <<<"$(cut -f 2 "$W/ignored.$sh")")
	check "$sh: SIGXFSZ is not among it" test $((16#$ignored >> 24 & 1)) = 0
	close
	rc <<-E
	trap 'echo mine' XFSZ
	. $hooks/lease.$sh
	E
	new_lock
	shell $sh
	within 5 "$sh with a trap for it beats" fresh
	sync
	enter "trap >$W/traps.$sh"
	within 5 "$sh: and it stays" grep -q 'echo mine.*XFSZ' "$W/traps.$sh"
	close
done

# A restricted shell may redirect nothing.
rc <<<". $hooks/lease.bash"
new_lock
term "bash --noprofile --rcfile $W/rc -r -i"
within 5 "a restricted bash beats" fresh
enter ""
enter "echo so"
within 5 "and works" shows '^so'
check "and says nothing" silent
close

# A script that sources it by mistake.
# shellcheck disable=SC2016
check "a shell that is not interactive is left alone" bash -euc '. "$1"; [ -z "${PROMPT_COMMAND-}" ]' bash "$hooks/lease.bash"

# tmux keeps the environment of the login that started it, for as long as it lives.
if command -v tmux >/dev/null; then
	rm -f "$L"
	mux() { tmux -S "$W/tmux" "$@" 9>&-; }
	env -u TMUX tmux -f /dev/null -S "$W/tmux" new-session -d -x 80 -y 24 "bash --noprofile --rcfile $W/rc -i" 9>&-
	mux send-keys "echo \$KLEASE_LOCK >$W/mux" Enter
	within 5 "a shell in an old tmux has the lock of a session that is over" grep -qx "$L" "$W/mux"
	mux send-keys "" Enter "true" Enter "echo so >$W/mux2" Enter
	within 5 "it works" test -s "$W/mux2"
	check "it makes no lock again" test ! -e "$L"
	mux capture-pane -p >"$W/tty"
	check "and says nothing" silent
	new_lock
	mux send-keys "" Enter
	within 5 "where the session lives on, it beats" fresh
	mux kill-server
else
	skip "an old tmux" "tmux is missing"
fi
finish
