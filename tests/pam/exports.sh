#!/bin/sh
# pam_lease.so is a guest in sshd: two symbols out, libpam and libc in, no writable data of its own, and it calls only what stands here.
# A name that is new has to be thought about.
set -eu
so=pam_lease/.libs/pam_lease.so
[ -f "$so" ] || { echo "no $so" >&2; exit 1; }
if nm -D "$so" | grep -Eq '__(asan|ubsan|sanitizer|llvm|gcov)_'; then
	echo "instrumented: skipped"
	exit 77
fi
command -v readelf >/dev/null || { echo "no readelf: skipped"; exit 77; }
rc=0
# same WHAT WANTED FOUND
same() {
	[ "$2" = "$3" ] || { printf '%s: not\n%s\nbut\n%s\n' "$1" "$2" "$3" >&2; rc=1; }
}
same "exports" "pam_sm_close_session
pam_sm_open_session" "$(nm -D --defined-only "$so" | awk '{ print $NF }' | sort)"
same "needed libraries" "libc.so.6
libpam.so.0" "$(readelf -d "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)"

# What the compiler and the C library put there themselves.
data=$(nm "$so" | awk 'NF > 1 && $(NF - 1) ~ /^[BbCDdGgSs]$/ { print $NF }' |
	grep -Ev '^(completed\..*|__dso_handle|__TMC_END__|_DYNAMIC|_GLOBAL_OFFSET_TABLE_|__bss_start|_edata|_end|__(do_global_dtors_aux|frame_dummy)_.*)$' || :)
same "writable data" "" "$data"

allowed=' arc4random_buf calloc clock_gettime close fchmod free fstat getdents64 geteuid getgroups getpid getrlimit kill linkat open openat pidfd_open
poll read renameat2 setfsgid setfsuid setgroups snprintf statx strtoul syscall unlinkat utimensat write memchr memcmp memcpy memset strchr strcmp strcspn strlen
strncmp strnlen strrchr strstr pam_get_data pam_get_item pam_modutil_getpwnam
pam_modutil_user_in_group_uid_gid pam_putenv pam_set_data pam_syslog '
allowed=$(printf '%s' "$allowed" | tr '\n' ' ')
for name in $(nm -D -u "$so" | awk '$1 == "U" { print $2 }' | sed 's/@.*//' | sort -u); do
	case $name in
	__stack_chk_fail | __errno_location) continue ;;
	esac
	plain=$(echo "$name" | sed -E 's/^__isoc[0-9]+_//; s/^__(.*)_(chk|2)$/\1/; /^getdents64$/!s/64$//')
	case $allowed in
	*" $plain "*) ;;
	*) echo "the module calls $name, which is not on the list" >&2; rc=1 ;;
	esac
done
exit $rc
