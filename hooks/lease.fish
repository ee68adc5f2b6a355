# lease.fish: beats the session's lock at a prompt and before a command, when the last beat is KLEASE_BEAT seconds old. Sourced by an
# interactive fish:
#
#	source /usr/share/leasewatch/hooks/lease.fish
#
# fish can't open a file without emptying or growing it, so a beat is a touch(1): one process in KLEASE_BEAT seconds of use, none when
# there is no lock. It looks at KLEASE_LOCK, KLEASE_NOTICE and KLEASE_BEAT each time. Sourcing it again does nothing. lease-hooks(7).
if status is-interactive
	set -g __lease_last -1
	set -g __lease_said ''

	# The time without a process: seconds since boot.
	function __lease_due
		set -l now ''
		set -l rest
		test -r /proc/uptime; and read -d . now rest </proc/uptime
		test -n "$now"; or set now (command date +%s)
		set -l every 5
		string match -qr '^[0-9]{1,9}$' -- "$KLEASE_BEAT"; and set every $KLEASE_BEAT
		if test $__lease_last -ge 0 -a $now -ge $__lease_last
			test (math $now - $__lease_last) -ge $every; or return 1
		end
		set -g __lease_last $now
	end

	# A link is nobody's lock: another user may have taken the name of one that has gone.
	function __lease_beat --on-event fish_preexec
		test -f "$KLEASE_LOCK" -a -w "$KLEASE_LOCK" -a ! -L "$KLEASE_LOCK"; or return 0
		__lease_due; or return 0
		command touch -c -- $KLEASE_LOCK 2>/dev/null
		return 0
	end
	function __lease_prompt --on-event fish_prompt
		if test -s "$KLEASE_NOTICE" -a -f "$KLEASE_NOTICE" -a -r "$KLEASE_NOTICE"
			read -l line <$KLEASE_NOTICE
			if test "$line" != "$__lease_said"
				set -g __lease_said $line
				string sub -l 200 -- (string replace -ar '[^[:print:]]' '?' -- $line)
			end
		else
			set -g __lease_said ''
		end
		__lease_beat
	end

	# With KLEASE_HOOK_SESSION=yes a shell that belongs to no session makes one of its own, and archives it when it exits. The shell is
	# its leader: when it is killed, the daemon sees that.
	function __lease_exit --on-event fish_exit
		set -q __lease_own; and command klease session archive --quiet $__lease_own </dev/null >/dev/null 2>&1
	end
	if test "$KLEASE_HOOK_SESSION" = yes
		if test -z "$KLEASE_SESSION"; or begin; test -n "$KLEASE_LOCK"; and not test -e "$KLEASE_LOCK"; end
			if command klease session start --shell --surface shell --leader $fish_pid </dev/null 2>/dev/null | source
				set -g __lease_own $KLEASE_SESSION
			end
		end
	end
end
