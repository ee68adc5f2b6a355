# shellcheck shell=bash
# tests/session/terminal.sh: sourced behind lib.sh and `world user`: shells on a real terminal, a lock made by hand, and what it says.
#
#	rc <<<". $hooks/lease.bash"	# what the shell reads first
#	new_lock
#	shell bash [WORD…]		# starts it; the words stand before the command: env -u KLEASE_LOCK
#	enter "echo hello"		# into it; what it shows is in $W/tty
#	sync				# what was typed has been done, and it prompts again
#	close
# shellcheck disable=SC2034 # for those who source this
hooks=$PREFIX/share/leasewatch/hooks
mkdir -p "$NOTICES/queue" "$NOTICES/active" "$NOTICES/archive"
L=$NOTICES/active/lock-sshd-user-kls-abcdefghij
# For those who source this.
record=$'#leasewatch 1\nid=kls-abcdefghij\nsurface=sshd\nkind=session\n'
export KLEASE_LOCK=$L KLEASE_SESSION=kls-abcdefghij KLEASE_BEAT=0 TERM=xterm SHELL=/bin/sh LC_ALL=C.UTF-8
command -v script >/dev/null || { skip "a real terminal" "script is missing"; finish; }

new_lock() { rm -f "$L"; printf '%s' "$record" >"$L"; touch -d @1000 "$L"; }
old() { touch -d @1000 "$L"; }
fresh() { [ "$(stat -c %Y "$L")" -gt 1000 ]; }
whole() { [ "$(cat "$L")" = "${record%$'\n'}" ] && [ -f "$L" ] && [ ! -L "$L" ]; }

# term COMMAND: a terminal with COMMAND in it.
n=0
term() {
	n=$((n + 1))
	mkfifo "$W/keys.$n"
	script -qfec "$1" /dev/null <"$W/keys.$n" >"$W/tty" 2>&1 &
	T=$!
	starts "$T"
	exec 9>"$W/keys.$n"
}
# Into a shell that has gone it is nothing.
enter() { (trap '' PIPE; printf '%s\n' "$1" >&9) 2>/dev/null; }
sync() {
	n=$((n + 1))
	enter ": >$W/mark.$n"
	until_true 10 test -e "$W/mark.$n" || no "the shell answers" "$(shown | tail -n 3 | tr '\n' ' ')"
	sleep 0.1 # the prompt behind it
}
close() {
	enter exit
	until_true 5 gone "$T" || kill -KILL "$T" 2>/dev/null
	exec 9>&-
}
shown() { sed -E 's/\x1b\[[0-9;?]*[a-zA-Z]//g' "$W/tty" | tr -d '\r'; }
shows() { shown | grep -q -e "$1"; }
# Nothing of ours, and no complaint of the shell's.
silent() { ! shown | grep -v "$W/mark" | grep -E "lease_|denied|Read-only|unbound|cannot overwrite|not found|syntax|No such"; }

# shell NAME [WORD…]
shell() {
	local sh=$1
	shift
	case $sh in
	bash) term "$* bash --noprofile --rcfile $W/rc -i" ;;
	zsh) mkdir -p "$W/zdot" && cp "$W/rc" "$W/zdot/.zshrc" && term "env ZDOTDIR=$W/zdot $* zsh -d -i" ;;
	fish) term "$* fish --no-config -i -C 'source $W/rc'" ;;
	esac
}
rc() { cat >"$W/rc"; }
