#!/bin/bash
# lease-pam-check says what PAM will do: on, off, and why pam-auth-update may have changed nothing.
set -u
check=${srcdir:-.}/pam_lease/lease-pam-check
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
rc=0
# says STATUS TEXT ARG…
says() {
	local want=$1 text=$2 got
	shift 2
	"$check" -d "$t" "$@" >"$t/.out" 2>&1
	got=$?
	if [ $got != "$want" ] || ! grep -qF -- "$text" "$t/.out"; then
		echo "lease-pam-check $*: exit $got, not $want with '$text':"
		cat "$t/.out"
		rc=1
	fi
}
printf 'session required pam_permit.so\n' >"$t/common-session"
printf 'auth required pam_deny.so\nsession required pam_loginuid.so\n@include common-session\n' >"$t/sshd"
printf 'session include common-session\n' >"$t/login"

says 1 "sshd: off" on
says 1 "it has changed nothing and said nothing"
says 0 "login: off" off
printf 'session\toptional\tpam_lease.so # ours\n' >>"$t/common-session"
says 0 "sshd: on ($t/common-session:2)"
says 0 "login: on"
says 1 "still there" off
says 1 "cron: no such service" on cron
says 0 "cron: no such service" off cron
# A line without the module is a login without a lease.
says 1 "but there is no $t/pam_lease.so" -m "$t" on sshd
: >"$t/pam_lease.so"
says 0 "sshd: on" -m "$t" on sshd
# A comment, another type of line, or a module of a similar name is none.
printf '# session optional pam_lease.so\nauth optional pam_lease.so\nsession optional pam_lease.so.old\n' >"$t/common-session"
says 1 "sshd: off"
# A full path, brackets, a dash, and a line that goes on are one.
printf -- '-session [success=ok default=ignore] /x/pam_lease.so notices=/y\n' >"$t/common-session"
says 0 "sshd: on"
says 1 "but there is no /x/pam_lease.so" -m "$t" on sshd
printf 'session \\\n optional pam_lease.so\n' >"$t/common-session"
says 0 "sshd: on ($t/common-session:1)" on sshd
printf 'session optional pam_lease.so\nsession required pam_loginuid.so\n' >"$t/login"
says 0 "login: pam_loginuid comes after" on login
# Files that include each other end.
printf '@include sshd\n' >"$t/common-session"
says 1 "sshd: off" on sshd
says 2 "usage" -x
exit $rc
