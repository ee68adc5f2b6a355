# lease.zsh: beats the session's lock at each prompt and before each command, without a fork. Sourced by an interactive zsh:
#
#	. /usr/share/leasewatch/hooks/lease.zsh
#
# It looks at KLEASE_LOCK, KLEASE_NOTICE and KLEASE_BEAT each time, so a shell that has none, or whose lock has gone (a tmux older than
# its login), stays silent. precmd, preexec and zshexit of the user's stay as they are. Sourcing it again does nothing. lease-hooks(7).
[[ -o interactive ]] || return 0

# How to beat: write = the lock's first byte, which is a '#', over itself; touch = by touch(1); try = write, if that works.
typeset -g __lease_how=try
# Root must not open what others own in a sticky folder with O_CREAT (fs.protected_regular); a restricted shell may not redirect.
if (( EUID == 0 )); then __lease_how=touch; fi
if [[ -o restricted ]]; then __lease_how=restricted; fi
# What counts seconds since 1970 no user sets to 0.
typeset -g __lease_clock=SECONDS
if \zmodload zsh/datetime 2>/dev/null && (( ${+EPOCHSECONDS} )); then __lease_clock=EPOCHSECONDS; fi
typeset -gi __lease_every=5 __lease_last=0 __lease_next=0
typeset -g __lease_read= __lease_said=

# Options and traps of the user's are as they were when a function has ended (emulate -L). A file size limit of 0 raises a signal that
# would end the shell: ignored for the one write.
__lease_beat() {
	(( __lease_next = (__lease_last = __lease_clock) + __lease_every ))
	# A link is nobody's lock: another user may have taken the name of one that has gone.
	[[ -f ${KLEASE_LOCK-} && -w $KLEASE_LOCK && ! -L $KLEASE_LOCK ]] || return 0
	if [[ $__lease_how == write ]]; then
		\trap '' XFSZ
		\print -n '#' 1<>"$KLEASE_LOCK" || __lease_how=touch
	elif [[ $__lease_how == try ]]; then
		__lease_how=write
		{ __lease_beat; } 2>/dev/null
		[[ $__lease_how == write ]] || \command touch -c -- "$KLEASE_LOCK" 2>/dev/null
	elif [[ $__lease_how == touch ]]; then
		\command touch -c -- "$KLEASE_LOCK" 2>/dev/null
	else
		\command touch -c -- "$KLEASE_LOCK"
	fi
	return 0
}
__lease_notice() {
	local line=
	IFS= \read -r line <"$KLEASE_NOTICE"
	[[ $line != "$__lease_said" ]] || return 0
	__lease_said=$line
	line=${line[1,200]}
	[[ -z $line ]] || \print -r -- "${line//[^[:print:]]/?}"
}
__lease_prompt() {
	\emulate -L zsh
	if [[ ! -s ${KLEASE_NOTICE-} ]]; then
		__lease_said=
	elif [[ -f $KLEASE_NOTICE && -r $KLEASE_NOTICE ]]; then
		__lease_notice
	fi
	if [[ ${KLEASE_BEAT-} != "$__lease_read" ]]; then
		__lease_read=${KLEASE_BEAT-}
		case $__lease_read in
		'' | *[^0-9]* | ??????????*) __lease_every=5 ;;
		*) __lease_every=$(( 10#$__lease_read )) ;;
		esac
		__lease_next=0
	fi
	# A clock that was set back makes it due, too.
	(( __lease_clock < __lease_next && __lease_clock >= __lease_last )) || __lease_beat
	return 0
}
__lease_preexec() {
	\emulate -L zsh
	(( __lease_clock < __lease_next )) || __lease_beat
}

# With KLEASE_HOOK_SESSION=yes a shell that belongs to no session makes one of its own, and archives it when it exits. The shell is its
# leader: when it is killed, the daemon sees that.
__lease_exit() {
	\emulate -L zsh
	\command klease session archive --quiet "$__lease_own" </dev/null >/dev/null 2>&1
	return 0
}
__lease_start() {
	\emulate -L zsh
	local out
	out=$(\command klease session start --shell --surface shell --leader $$ </dev/null 2>/dev/null) || return 0
	\eval "$out"
	typeset -g __lease_own=$KLEASE_SESSION
	add-zsh-hook zshexit __lease_exit
}
\autoload -Uz add-zsh-hook
add-zsh-hook precmd __lease_prompt
add-zsh-hook preexec __lease_preexec
if [[ ${KLEASE_HOOK_SESSION-} == yes && $__lease_how != restricted ]]; then
	if [[ -z ${KLEASE_SESSION-} || ( -n ${KLEASE_LOCK-} && ! -e $KLEASE_LOCK ) ]]; then __lease_start; fi
fi
