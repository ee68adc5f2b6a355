# shellcheck shell=bash disable=SC2209,SC2119,SC2120,SC2154
# lease.bash: beats the session's lock at each prompt and before each command, without a fork. Sourced by an interactive bash:
#
#	. /usr/share/leasewatch/hooks/lease.bash
#
# It looks at KLEASE_LOCK, KLEASE_NOTICE and KLEASE_BEAT each time, so a shell that has none, or whose lock has gone (a tmux older than
# its login), stays silent. The user's own PROMPT_COMMAND and traps stay as they are. Sourcing it again does nothing. lease-hooks(7).
[[ $- == *i* ]] || return 0

# How to beat: write = the lock's first byte, which is a '#', over itself; touch = by touch(1); try = write, if that works.
__lease_how=try
# Root must not open what others own in a sticky folder with O_CREAT (fs.protected_regular); a restricted shell may not redirect. A file
# size limit of 0 raises a signal that would end the shell; it is ignored for the one write, and a user's own trap for it is not ours.
# In posix mode `trap -p` prints a dash for a trap that is none.
__lease_trap=$(trap -p XFSZ)
if [[ $EUID == 0 || ${__lease_trap##trap -- - *} ]]; then __lease_how=touch; fi
if shopt -q restricted_shell; then __lease_how=restricted; fi
# Arithmetic finds the time in what the name stands for. What counts seconds since 1970 no user sets to 0; before bash 5 there was none.
__lease_clock=SECONDS
if [[ ${EPOCHSECONDS-} ]]; then __lease_clock=EPOCHSECONDS; fi
__lease_every=5 __lease_read=
__lease_last=0 __lease_next=0
__lease_said=

# Called with the user's $_ by the DEBUG trap, which so stays what it was.
__lease_beat()
{
	((__lease_next = (__lease_last = __lease_clock) + __lease_every, 1))
	# A link is nobody's lock: another user may have taken the name of one that has gone.
	if [[ -f ${KLEASE_LOCK-} && -w $KLEASE_LOCK && ! -L $KLEASE_LOCK ]]; then
		if [[ $__lease_how == write ]]; then
			\trap '' XFSZ
			\printf '#' 1<>"$KLEASE_LOCK" || __lease_how=touch
			\trap - XFSZ
		else
			__lease_beat_else
		fi
	fi
}
__lease_beat_else()
{
	case $__lease_how in
	try)
		__lease_how=write
		{ __lease_beat; } 2>/dev/null
		[[ $__lease_how == write ]] || __lease_beat_else
		;;
	touch) \command touch -c -- "$KLEASE_LOCK" 2>/dev/null || : ;;
	restricted) \command touch -c -- "$KLEASE_LOCK" || : ;;
	esac
}
__lease_read_beat()
{
	__lease_read=${KLEASE_BEAT-}
	case $__lease_read in
	'' | *[!0-9]* | ??????????*) __lease_every=5 ;;
	*) __lease_every=$((10#$__lease_read)) ;;
	esac
	__lease_next=0
}
__lease_notice()
{
	local __lease_line=
	IFS= \read -r __lease_line <"$KLEASE_NOTICE" || :
	[[ $__lease_line != "$__lease_said" ]] || return 0
	__lease_said=$__lease_line
	__lease_line=${__lease_line:0:200}
	[[ ! $__lease_line ]] || \printf '%s\n' "${__lease_line//[![:print:]]/?}"
}
# $1: the DEBUG trap as it was at the first prompt. A function and a sourced file can't see it, the prompt's own line can.
__lease_prompt()
{
	if [[ $__lease_fresh ]]; then
		__lease_fresh=
		# It is run before our own line of PROMPT_COMMAND, too, which beats by itself.
		[[ ${1##trap -- - *} ]] ||
			\trap '((__lease_clock<__lease_next))||[[ $BASH_COMMAND == *__lease_call* ]]||__lease_beat "$_"' DEBUG
	fi
	if [[ ! ${KLEASE_NOTICE-} || ! -s $KLEASE_NOTICE ]]; then
		__lease_said=
	elif [[ -f $KLEASE_NOTICE && -r $KLEASE_NOTICE ]]; then
		__lease_notice
	fi
	[[ ${KLEASE_BEAT-} == "$__lease_read" ]] || __lease_read_beat
	# A clock that was set back makes it due, too.
	((__lease_clock < __lease_next && __lease_clock >= __lease_last)) || __lease_beat
	return 0
}

# With KLEASE_HOOK_SESSION=yes a shell that belongs to no session makes one of its own, and archives it when it exits. The shell is its
# leader: when it is killed, the daemon sees that.
__lease_exit()
{
	[[ ${__lease_own-} && ${BASHPID-$$} == "$$" ]] || return 0
	\command klease session archive --quiet "$__lease_own" </dev/null >/dev/null 2>&1 || :
}
__lease_start()
{
	local __lease_out
	__lease_out=$(\command klease session start --shell --surface shell --leader $$ </dev/null 2>/dev/null) || return 0
	\eval "$__lease_out"
	__lease_own=$KLEASE_SESSION
	# The user's own trap runs first: trap -- '…' EXIT
	\eval "set -- $(trap -p EXIT)"
	if [[ ${3--} == - ]]; then
		\trap __lease_exit EXIT
	else
		# shellcheck disable=SC2064 # his, as it is now
		\trap "$3"$'\n'__lease_exit EXIT
	fi
}
if [[ ${KLEASE_HOOK_SESSION-} == yes && $__lease_how != restricted ]]; then
	if [[ ! ${KLEASE_SESSION-} || (${KLEASE_LOCK-} && ! -e $KLEASE_LOCK) ]]; then __lease_start; fi
fi

# A PROMPT_COMMAND that is exported reaches shells that have no hook, where this does nothing.
__lease_call=__lease_prompt
if [[ ${PROMPT_COMMAND[*]-} != *__lease_call* ]]; then
	__lease_fresh=1
	# Last of the user's first line, so that his own finds $? as it was.
	# shellcheck disable=SC2128,SC2178,SC2016
	PROMPT_COMMAND+=${PROMPT_COMMAND:+$'\n'}'"${__lease_call-:}" "${__lease_debug=$(trap -p DEBUG)}"'
fi
