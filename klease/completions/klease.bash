# bash completion for klease(1). Installed as `klease`, bash loads it at the first completion.
_klease_ids()
{
	klease list --json 2>/dev/null | grep -o '"id":"kls-[a-z2-7]*"' | cut -d'"' -f4
}

_klease()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i at=0 cmd words
	cmd="" words="" COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--notices) ((i++)) ;;
		-*) ;;
		*) cmd=${COMP_WORDS[i]} at=$i; break ;;
		esac
	done
	# Behind "--" stands a command, with words of its own.
	for ((i = at; i > 0 && i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			fi
			return
		fi
	done
	case $prev in
	--notices) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	--usage) mapfile -t COMPREPLY < <(compgen -W 'explicit observed hybrid' -- "$cur"); return ;;
	--session | --lease) mapfile -t COMPREPLY < <(compgen -W "$(_klease_ids)" -- "$cur"); return ;;
	--leader) mapfile -t COMPREPLY < <(compgen -W "$(ps -o pid= -u "$(id -u)")" -- "$cur"); return ;;
	--ttl | --linger | --timeout | --since | --for) mapfile -t COMPREPLY < <(compgen -W '90s 5m 2h 1d' -- "$cur"); return ;;
	--priority) mapfile -t COMPREPLY < <(compgen -W '0 1 2 3 4 5 6 7 8 9' -- "$cur"); return ;;
	--user) [[ $cmd ]] && { mapfile -t COMPREPLY < <(compgen -u -- "$cur"); return; } ;;
	--profile | --label | --surface | --limit) return ;;
	esac
	case $cmd in
	'') words='create run exec connect renew release hibernate resume list show wait events ledger session init hold breaker help --notices --user --help --version' ;;
	create) words='--profile --ttl --session --priority --label --surface --leader --linger --usage --wait --json' ;;
	run) words='--profile --ttl --session --priority --label --surface --linger --usage --wait --no-daemon-ok' ;;
	exec) words="--timeout $(_klease_ids)" ;;
	connect) words="--timeout $(_klease_ids)" ;;
	hibernate) words="--timeout $(_klease_ids)" ;;
	resume) words="--timeout $(_klease_ids)" ;;
	renew) words="--ttl $(_klease_ids)" ;;
	release) words=$(_klease_ids) ;;
	list) words='--json --all --mine --user' ;;
	show) words="--json $(_klease_ids)" ;;
	wait) words="--timeout $(_klease_ids) requested denied admitted active idle hibernated expired failed reaped" ;;
	events) words='--json --lease' ;;
	ledger) words='--json --lease --since --user --limit' ;;
	session) words="start beat archive list --surface --leader --ttl --linger --label --agent --shell --json --quiet --verbose $(_klease_ids)" ;;
	init) words='--dry-run' ;;
	hold) words='--for --lift' ;;
	breaker) words='--release' ;;
	help) words='create run exec connect renew release hibernate resume list show wait events ledger session init hold breaker' ;;
	esac
	[[ $cmd && $cmd != help ]] && words+=' --notices --help'
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _klease klease
