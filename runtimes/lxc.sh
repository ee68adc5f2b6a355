# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# lxc.sh: what the runtimes incus and lxc share: a container of liblxc, its cgroup and its command. Sourced after runtime.sh; what
# $lxc_name says is the container's name for liblxc.

# lxc.init.cmd is cut at blanks and knows no quotes. So the command is handed over in the environment, and this is one word to be read by
# the container's shell.
command_line='lxc.init.cmd = /bin/sh -c eval${IFS}"$LEASE_COMMAND"'
# one_line TEXT: what becomes part of a line of configuration is one.
one_line() {
	case $1 in
	*'
'*) die "command is more than one line" ;;
	esac
}

# Sets cgroup, memory_cgroup and freezer: the container's. What was left of one of the same name makes liblxc add a number.
payload() {
	cgroup='' memory_cgroup='' freezer=''
	for payload_top in /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpuacct /sys/fs/cgroup /sys/fs/cgroup/unified; do
		for payload_dir in "$payload_top/lxc.payload.$lxc_name" "$payload_top/lxc.payload.$lxc_name"-[0-9]*; do
			if [ -d "$payload_dir" ] && populated "$payload_dir"; then
				cgroup=$payload_dir
				break 2
			fi
		done
	done
	[ -n "$cgroup" ] || return 1
	memory_cgroup=$cgroup freezer=$cgroup
	[ ! -d "/sys/fs/cgroup/memory/${cgroup##*/}" ] || memory_cgroup=/sys/fs/cgroup/memory/${cgroup##*/}
	[ ! -d "/sys/fs/cgroup/freezer/${cgroup##*/}" ] || freezer=/sys/fs/cgroup/freezer/${cgroup##*/}
}
alive() { payload; }
dead() { ! payload; }
# Where the daemon can read what it uses, and whose end it is to watch for.
answer_use() {
	payload || return 0
	echo "cgroup=$cgroup"
	roots "$cgroup"
	[ -z "$root_start" ] || echo "tree=$root_pid:$root_start"
}
