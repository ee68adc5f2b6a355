# fish completion for klease(1).
function __klease_ids
	klease list --json 2>/dev/null | string match -ar 'kls-[a-z2-7]{10}(?=",")' | sort -u
end
function __klease_is
	set -l words (commandline -opc)
	set -e words[1]
	set -l skip 0
	for w in $words
		if test $skip = 1
			set skip 0
			continue
		end
		switch $w
		case --notices
			set skip 1
		case '-*'
			continue
		case '*'
			contains -- $w $argv
			return
		end
	end
	test (count $argv) = 0
end

# Behind "--" stands a command, with words of its own.
function __klease_inner
	set -l words (commandline -opc)
	set -l at (contains -i -- -- $words)
	or return
	set -e words[1..$at]
	complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c klease -f
complete -c klease -n '__klease_is create run exec' -a '(__klease_inner)'
complete -c klease -l notices -x -a '(__fish_complete_directories)' -d 'The notices tree'
complete -c klease -l help -d 'Help'
complete -c klease -n __klease_is -l user -d 'Your own tree'
complete -c klease -n __klease_is -l version -d 'Print the version'
complete -c klease -n __klease_is -a create -d 'Ask for a lease and print its id'
complete -c klease -n __klease_is -a run -d 'Run a command in a lease of its own'
complete -c klease -n __klease_is -a exec -d 'Run a command inside a lease'
complete -c klease -n __klease_is -a connect -d 'Join with a port inside a lease'
complete -c klease -n __klease_is -a hibernate -d 'Hibernate a lease now'
complete -c klease -n __klease_is -a resume -d 'Wake a hibernated lease'
complete -c klease -n __klease_is -a renew -d 'Push its end away by one ttl'
complete -c klease -n __klease_is -a release -d 'End a lease now'
complete -c klease -n __klease_is -a list -d 'Show leases and requests'
complete -c klease -n __klease_is -a show -d 'Show all of one lease'
complete -c klease -n __klease_is -a wait -d 'Wait until a lease is in a state'
complete -c klease -n __klease_is -a events -d 'Follow what happens'
complete -c klease -n __klease_is -a ledger -d 'Print what has happened'
complete -c klease -n __klease_is -a session -d 'Begin, renew, end or show sessions'
complete -c klease -n __klease_is -a init -d 'Make what the daemon needs'
complete -c klease -n __klease_is -a hold -d 'Stop every destructive act'
complete -c klease -n __klease_is -a breaker -d 'Show or end the hold of mass silence'
complete -c klease -n __klease_is -a help -d 'Show the commands'

complete -c klease -n '__klease_is help' -a 'create run exec connect renew release hibernate resume list show wait events ledger session init hold breaker'
complete -c klease -n '__klease_is exec connect renew release hibernate resume show wait' -a '(__klease_ids)'
complete -c klease -n '__klease_is wait' -a 'requested denied admitted active idle hibernated expired failed reaped'
complete -c klease -n '__klease_is create run' -l profile -x -d 'What to make'
complete -c klease -n '__klease_is create run renew session' -l ttl -x -a '90s 5m 2h' -d 'How long it lasts without a renewal'
complete -c klease -n '__klease_is create run' -l session -x -a '(__klease_ids)' -d 'Bind to this session'
complete -c klease -n '__klease_is create run' -l priority -x -a '0 1 2 3 4 5 6 7 8 9' -d '9 is kept longest'
complete -c klease -n '__klease_is create run session' -l label -x -d 'A label for reports: key=value'
complete -c klease -n '__klease_is create run session' -l surface -x -d 'Where the lease comes from'
complete -c klease -n '__klease_is create session' -l leader -x -a '(__fish_complete_pids)' -d 'It renews while it lives'
complete -c klease -n '__klease_is create run session' -l linger -x -a '5m 1h' -d 'How long it stays when its session has ended'
complete -c klease -n '__klease_is create run' -l usage -x -a 'explicit observed hybrid' -d 'Where use is read from'
complete -c klease -n '__klease_is create run' -l wait -d 'Wait until active'
complete -c klease -n '__klease_is run' -l no-daemon-ok -d 'Run without a daemon, too'
complete -c klease -n '__klease_is exec connect hibernate resume wait' -l timeout -x -a '30s 5m' -d 'Give up after this long'
complete -c klease -n '__klease_is create list show events ledger session' -l json -d 'Print JSON'
complete -c klease -n '__klease_is list' -l all -d 'What is over, too'
complete -c klease -n '__klease_is list' -l mine -d 'Only your own'
complete -c klease -n '__klease_is list ledger' -l user -x -a '(__fish_complete_users)' -d 'Only of one user'
complete -c klease -n '__klease_is events ledger' -l lease -x -a '(__klease_ids)' -d 'Only of one lease'
complete -c klease -n '__klease_is ledger' -l since -x -a '1h 1d 7d' -d 'Only what is younger'
complete -c klease -n '__klease_is ledger' -l limit -x -d 'Only the last'
complete -c klease -n '__klease_is session' -a 'start beat archive list'
complete -c klease -n '__klease_is session' -l agent -d 'Take a coding agent\'s JSON on standard input'
complete -c klease -n '__klease_is session' -l shell -d 'Print what a shell should evaluate'
complete -c klease -n '__klease_is session' -l quiet -d 'A session that is over is no failure'
complete -c klease -n '__klease_is session' -l verbose -d 'Say when no daemon watches'
complete -c klease -n '__klease_is init' -l dry-run -d 'Only say what would be done'
complete -c klease -n '__klease_is hold' -l for -x -a '1h 1d' -d 'How long'
complete -c klease -n '__klease_is hold' -l lift -d 'End the hold'
complete -c klease -n '__klease_is breaker' -l release -d 'Let reaping go on'
