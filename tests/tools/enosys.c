/*
 * enosys [tmpfile] [openat2] [renameat2] -- PROGRAM [ARG...]
 *
 * Runs a program as an older kernel or a lesser filesystem would have it: the calls named fail with ENOSYS,
 * O_TMPFILE with EOPNOTSUPP. A fallback that no test reaches is none. After crun's tests/no_openat2.c. Exit
 * 77 where the kernel lets no filter be set, which Automake counts as skipped.
 *
 * The filter does not look at the architecture: it is for programs built like this one.
 */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOW_HALF(n) (offsetof(struct seccomp_data, args[n]) + (BYTE_ORDER == BIG_ENDIAN ? 4 : 0))
#define SKIPPED 77

static struct sock_filter filter[16];
static unsigned short n_filter;

static void add(struct sock_filter f)
{
	filter[n_filter++] = f;
}

static void load(size_t offset)
{
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void fail_with(int error)
{
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error));
}

static void fail_call(unsigned nr)
{
	load(offsetof(struct seccomp_data, nr));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
	fail_with(ENOSYS);
}

static void fail_tmpfile(void)
{
	load(offsetof(struct seccomp_data, nr));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3));
	load(LOW_HALF(2));
	add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1));
	fail_with(EOPNOTSUPP);
}

int main(int argc, char **argv)
{
	struct sock_fprog program = {.filter = filter};
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (n_filter > 10)
			break;
		if (strcmp(argv[i], "tmpfile") == 0)
			fail_tmpfile();
		else if (strcmp(argv[i], "openat2") == 0)
			fail_call(SYS_openat2);
		else if (strcmp(argv[i], "renameat2") == 0)
			fail_call(SYS_renameat2);
		else
			break;
	}
	if (i + 1 >= argc || strcmp(argv[i], "--") != 0) {
		fputs("usage: enosys [tmpfile] [openat2] [renameat2] -- PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	program.len = n_filter;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("enosys: no filter can be set here");
		return SKIPPED;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
