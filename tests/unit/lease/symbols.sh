#!/bin/sh
# lease/ runs inside sshd: it may have no writable data, and call nothing of stdio, of the allocator, or that changes the process
# it is a guest of. The list names what it may call; a name that is new here has to be thought about.
set -eu

archive=lease/.libs/liblease-files.a
[ -f "$archive" ] || { echo "no $archive" >&2; exit 1; }

allowed='arc4random_buf close fchmod getdents64 getpid getrlimit kill linkat openat pidfd_open poll read renameat2 statx syscall
unlinkat utimensat write memchr memcmp memcpy memset strchr strcmp strcspn strlen strncmp strnlen strrchr strstr'

# Instrumented objects carry data and calls of the sanitizer's own.
if ${NM:-nm} "$archive" | grep -Eq '__(asan|ubsan|sanitizer|llvm|gcov)_'; then
	echo "instrumented: skipped"
	exit 77
fi

status=0
data=$(${NM:-nm} "$archive" | awk 'NF > 1 && $(NF - 1) ~ /^[BbCDdGgSs]$/ { print $NF }')
if [ -n "$data" ]; then
	echo "writable static data in lease/: $data" >&2
	status=1
fi
# The same call goes by other names with _FORTIFY_SOURCE (__read_chk, __openat_2) and 64-bit offsets (openat64).
for name in $(${NM:-nm} -u "$archive" | awk 'NF == 2 { print $2 }' | sort -u); do
	case $name in
	lease_* | __stack_chk_fail* | __errno_location | _GLOBAL_OFFSET_TABLE_) continue ;;
	esac
	plain=$(echo "$name" | sed -E 's/^__(.*)_(chk|2)$/\1/; s/^__(.*64)_2$/\1/; /^getdents64$/!s/64$//')
	# shellcheck disable=SC2086,SC2116 # the list is written over several lines
	case " $(echo $allowed) " in
	*" $plain "*) ;;
	*)
		echo "lease/ calls $name, which is not on the list" >&2
		status=1
		;;
	esac
done
exit $status
