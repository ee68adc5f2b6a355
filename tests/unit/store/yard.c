#include "config.h"

#include "tests/unit/store/yard.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/lease/test.h"

int yard_setup(void **state)
{
	static struct yard y;
	char err[256];

	memset(&y, 0, sizeof(y));
	scratch_make(&y.s);
	struct house_paths p = { .user_mode = true, .uid = geteuid(), .gid = getegid() };
	char notices[512], st[512];
	assert_true(snprintf(notices, sizeof(notices), "%s/notices", y.s.path) < (int)sizeof(notices));
	assert_true(snprintf(st, sizeof(st), "%s/st", y.s.path) < (int)sizeof(st));
	assert_int_equal(house_paths(&p, notices, st, err), 0);
	assert_int_equal(house_open(&p, 0, &y.h, err), 0);
	scratch_write(y.h.tree.active, YARD_NAME, YARD_RECORD, strlen(YARD_RECORD));
	yard_age_and_look(&y);
	*state = &y;
	return 0;
}

int yard_teardown(void **state)
{
	struct yard *y = *state;

	house_close(&y->h);
	scratch_remove(&y->s);
	return 0;
}

void yard_age_and_look(struct yard *y)
{
	struct timespec ts[2];

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &ts[0]), 0);
	ts[0].tv_sec--;
	ts[1] = ts[0];
	assert_int_equal(utimensat(y->h.tree.active, YARD_NAME, ts, AT_SYMLINK_NOFOLLOW), 0);
	struct lease_stat st = yard_stat(y->h.tree.active, YARD_NAME);
	y->ref = (struct lock_ref){ .name = YARD_NAME, .uid = st.uid, .dev = st.dev, .ino = st.ino, .mtime = st.mtime };
}

struct lease_stat yard_stat(int dirfd, const char *name)
{
	struct lease_stat st;

	assert_int_equal(lease_stat(dirfd, name, &st), 0);
	return st;
}
