#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/beacon.h"
#include "tests/pam/session.h"

struct scratch dir;
struct lease_tree tree;
int sessions = -1;
static int fds_before;

int setup(void **state)
{
	(void)state;
	fds_before = scratch_open_fds();
	stack_log_clear();
	/* Ten thousand sessions on a disk that is busy take their time. */
	if (access("/dev/shm", W_OK) == 0)
		assert_int_equal(setenv("TMPDIR", "/dev/shm", 0), 0);
	scratch_make(&dir);
	scratch_make_tree(&dir);
	assert_int_equal(lease_tree_open(&tree, dir.path), 0);
	return 0;
}

/* No test may leave a descriptor behind, the module's in it. */
int teardown(void **state)
{
	(void)state;
	if (sessions >= 0)
		(void)close(sessions);
	sessions = -1;
	lease_tree_close(&tree);
	scratch_remove(&dir);
	return scratch_open_fds() == fds_before ? 0 : -1;
}

/* As the daemon does it: a folder for twins, and the beacon that names it. */
void make_house(mode_t mode)
{
	struct lease_beacon b = {0};
	char buf[LEASE_FILE_MAX];
	size_t len;

	assert_int_equal(mkdirat(dir.fd, "sessions", 0700), 0);
	assert_int_equal(fchmodat(dir.fd, "sessions", mode, 0), 0);
	sessions = openat(dir.fd, "sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(sessions >= 0);
	assert_true((size_t)snprintf(b.sessions, sizeof(b.sessions), "%s/sessions", dir.path) < sizeof(b.sessions));
	assert_true((size_t)snprintf(b.state, sizeof(b.state), "%s/state", dir.path) < sizeof(b.state));
	assert_int_equal(lease_beacon_format(&b, buf, sizeof(buf), &len), 0);
	assert_int_equal(lease_create(tree.root, LEASE_BEACON_NAME, buf, len), 0);
}

static int first(void *arg, const char *name)
{
	memcpy(arg, name, strlen(name) + 1);
	return 1;
}

/* The one file in a folder. */
const char *only(int dirfd)
{
	static char name[NAME_MAX + 1];

	assert_int_equal(scratch_count(dirfd), 1);
	assert_int_equal(lease_list(dirfd, first, name), 1);
	return name;
}

void read_record(const char *name, struct lease_record *r)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	size_t len;

	assert_int_equal(lease_read(tree.active, name, geteuid(), buf, sizeof(buf), &len, NULL), 0);
	assert_int_equal(lease_record_parse(buf, len, r, &err), 0);
}

void read_twin(struct lease_twin *t)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	struct lease_stat st;
	size_t len;

	assert_int_equal(lease_read(sessions, only(sessions), geteuid(), buf, sizeof(buf), &len, &st), 0);
	assert_int_equal(st.mode & 07777, 0644);
	assert_int_equal(lease_twin_parse(buf, len, t, &err), 0);
}

pam_handle_t *opened(const char *service)
{
	pam_handle_t *pamh = stack_start(&dir, service, stack_user());

	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	return pamh;
}

void closed(pam_handle_t *pamh)
{
	assert_int_equal(pam_close_session(pamh, 0), PAM_SUCCESS);
	assert_int_equal(pam_end(pamh, PAM_SUCCESS), PAM_SUCCESS);
}

/* A whole session with a stack of these lines, which has to go well; how many locks it had. */
int locks_of(const char *service, const char *lines)
{
	pam_handle_t *pamh;
	int n;

	stack_write(&dir, service, lines);
	pamh = opened(service);
	n = scratch_count(tree.active);
	closed(pamh);
	assert_int_equal(scratch_count(tree.active), 0);
	return n;
}
