/* What lease/tree.h promises of a folder that is read in pieces, while others change it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/tree.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define STAY 2000

struct seen {
	int n[STAY];
	int calls, stop_at;
};

static int setup(void **state)
{
	static struct scratch s;

	scratch_make(&s);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

static int see(void *arg, const char *name)
{
	struct seen *s = arg;
	int i;

	if (sscanf(name, "stays-%d", &i) == 1)
		s->n[i]++;
	return ++s->calls == s->stop_at ? -4711 : 0;
}

static void name_of(char *buf, size_t size, const char *kind, int i)
{
	(void)snprintf(buf, size, "%s-%d-and-so-much-more-that-few-of-them-fit-into-one-buffer-of-the-kernel", kind, i);
}

static void fill(int dirfd, const char *kind, int n)
{
	char name[100];

	for (int i = 0; i < n; i++) {
		name_of(name, sizeof(name), kind, i);
		assert_int_equal(mkfifoat(dirfd, name, 0644), 0);
	}
}

static void what_stays_is_seen_whatever_comes_and_goes(void **state)
{
	struct scratch *s = *state;
	static struct seen seen;
	char from[100], to[100];
	bool more = true;
	int parts = 0, fd;

	fill(s->fd, "stays", STAY);
	fill(s->fd, "moves", 500);
	fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (; more; parts++) {
		assert_int_equal(lease_list_part(fd, see, &seen, &more), 0);
		for (int i = 0; i < 500; i++) {
			name_of(from, sizeof(from), parts % 2 ? "moved" : "moves", i);
			name_of(to, sizeof(to), parts % 2 ? "moves" : "moved", i);
			assert_int_equal(renameat(s->fd, from, s->fd, to), 0);
		}
	}
	close(fd);
	assert_true(parts > 5);
	for (int i = 0; i < STAY; i++)
		assert_int_equal(seen.n[i], 1);
}

static void a_piece_is_a_bounded_number_of_names(void **state)
{
	struct scratch *s = *state;
	static struct seen seen;
	bool more;

	fill(s->fd, "stays", STAY);
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(lease_list_part(fd, see, &seen, &more), 0);
	assert_true(more && seen.calls > 10 && seen.calls < 800);
	close(fd);
}

static void it_stops_when_it_is_told_to(void **state)
{
	struct scratch *s = *state;
	struct seen seen = { .stop_at = 3 };
	bool more = false;

	fill(s->fd, "stays", 10);
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(lease_list_part(fd, see, &seen, &more), -4711);
	assert_int_equal(seen.calls, 3);
	close(fd);
	assert_int_equal(lease_list_part(fd, see, &seen, &more), -EBADF);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_stays_is_seen_whatever_comes_and_goes),
		T(a_piece_is_a_bounded_number_of_names),
		T(it_stops_when_it_is_told_to),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
