/*
 * The files of ours beside the database, when the process dies before each of the calls that change them. They lie on
 * a tmpfs or belong to one boot, so they need not outlive a loss of power; but whoever reads sees the old one or the
 * new one, whole, and a lock is never nowhere. What the next daemon does then leads to the same end.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/locks.h"
#include "store/statefiles.h"
#include "tests/fault/fault.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define NAME "lock-cli-anna-kls-abcdefghij"
#define BODY "#leasewatch 1\nid=kls-abcdefghij\n"
#define DAY INT64_C(1700000000000000000) /* 2023-11-14 */

/* From the n-th call on nothing is changed any more: the process is dead. */
static struct fault dead_from(int n, const struct fault *way)
{
	struct fault f = *way;

	f.at = n;
	f.error = EIO;
	f.for_good = true;
	return f;
}

static bool keep_none(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "state") == 0;
}

static void a_state_file_is_the_old_one_or_the_new_one(void **state)
{
	static const char old[] = "what it was", new[] = "what it is now, and longer than before";
	static const struct fault ways[] = { { .at = 0 }, { .short_io = true } };

	(void)state;
	for (size_t w = 0; w < N_OF(ways); w++) {
		int seen_old = 0, seen_new = 0;

		for (int n = 1, failed = 1; failed; n++) {
			struct fault f = dead_from(n, &ways[w]);
			struct scratch s;

			scratch_make(&s);
			assert_int_equal(statefile_write(s.fd, "state", old, strlen(old)), 0);
			fault_arm(&f);
			(void)statefile_write(s.fd, "state", new, strlen(new));
			failed = fault_disarm();
			if (scratch_holds(s.fd, "state", old, strlen(old)))
				seen_old++;
			else if (scratch_holds(s.fd, "state", new, strlen(new)))
				seen_new++;
			else
				fail_msg("neither the old nor the new one, dead from call %d", n);
			/* The next daemon: its own write, and nothing half-made is left. */
			assert_int_equal(statefile_write(s.fd, "state", new, strlen(new)), 0);
			assert_true(statefile_prune(s.fd, DAY, 0, keep_none, NULL) >= 0);
			assert_true(scratch_holds(s.fd, "state", new, strlen(new)));
			assert_int_equal(scratch_count(s.fd), 1);
			scratch_remove(&s);
		}
		assert_true(seen_old >= 4 && seen_new == 1);
	}
}

static struct scratch dir;
static struct house house;

static int folder(const char *name)
{
	int fd;

	assert_int_equal(mkdirat(dir.fd, name, 0700), 0);
	fd = openat(dir.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void make_house(void)
{
	scratch_make(&dir);
	scratch_make_tree(&dir);
	house = (struct house){ .tree = LEASE_TREE_CLOSED,
				.reap = -1, .quarantine = -1, .state = -1, .sessions = -1, .lock = -1 };
	assert_int_equal(lease_tree_open(&house.tree, dir.path), 0);
	house.reap = folder(".reap");
	house.quarantine = folder(".quarantine");
}

static void remove_house(void)
{
	house_close(&house);
	scratch_remove(&dir);
}

static struct lock_ref make_lock(enum place at)
{
	int fd = at == AT_QUEUE ? house.tree.queue : at == AT_ACTIVE ? house.tree.active : house.reap;
	struct lease_stat st;

	scratch_write(fd, NAME, BODY, strlen(BODY));
	assert_int_equal(lease_stat(fd, NAME, &st), 0);
	return (struct lock_ref){ .name = NAME, .uid = st.uid, .dev = st.dev, .ino = st.ino, .mtime = st.mtime };
}

static int commit(const struct lock_ref *l)
{
	return locks_commit(&house, l, DAY);
}

static int take(const struct lock_ref *l)
{
	return locks_take(&house, l->name, AT_ACTIVE);
}

static int take_back(const struct lock_ref *l)
{
	return locks_take(&house, l->name, AT_QUEUE);
}

static int put_back(const struct lock_ref *l)
{
	return locks_put_back(&house, l->name, DAY);
}

static int move_in(const struct lock_ref *l)
{
	return locks_move_in(&house, l->name, DAY);
}

static int archive(const struct lock_ref *l)
{
	return locks_archive(&house, l->name, AT_REAP, DAY);
}

static const struct move {
	const char *name;
	int (*go)(const struct lock_ref *l);
	enum place from, to;
	bool leftover; /* of the same lease, from a crash before: in .reap */
} moves[] = {
	{ "commit", commit, AT_ACTIVE, AT_REAP, false },
	{ "commit over a leftover", commit, AT_ACTIVE, AT_REAP, true },
	{ "take", take, AT_ACTIVE, AT_REAP, false },
	{ "take over a leftover", take, AT_ACTIVE, AT_REAP, true },
	{ "take a request", take_back, AT_QUEUE, AT_REAP, false },
	{ "put back", put_back, AT_REAP, AT_ACTIVE, false },
	{ "move in", move_in, AT_QUEUE, AT_ACTIVE, false },
	{ "archive", archive, AT_REAP, AT_ARCHIVE, false },
};

/* What a sorted lock's place is: locks_place looks at archive/ itself only. */
static bool archived(const struct lock_ref *l)
{
	struct lease_stat st;
	int day = openat(house.tree.archive, "2023-11-14", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool there = day >= 0 && lease_stat(day, l->name, &st) == 0 && st.ino == l->ino && st.size == strlen(BODY);

	if (day >= 0)
		close(day);
	return there || (lease_stat(house.tree.archive, l->name, &st) == 0 && st.ino == l->ino);
}

/* Gives false when the process lived to the end. */
static bool dies_at(const struct move *m, const struct fault *way, int n)
{
	struct fault f = dead_from(n, way), alive = *way;
	struct lease_stat st;
	struct lock_ref l;
	enum place place;
	int failed;

	make_house();
	l = make_lock(m->from);
	if (m->leftover)
		scratch_write(house.reap, NAME, "old", 3);
	fault_arm(&f);
	(void)m->go(&l);
	failed = fault_disarm();
	place = locks_place(&house, &l, &st);
	if (place != m->from && place != m->to && !(m->to == AT_ARCHIVE && archived(&l)))
		fail_msg("%s, dead from call %d: the lock is nowhere (%d)", m->name, n, place);
	if (place != AT_NOWHERE && (st.ino != l.ino || st.size != strlen(BODY)))
		fail_msg("%s, dead from call %d: it is another one", m->name, n);
	/* The next daemon, where there is still something to do. */
	if (place == m->from) {
		fault_arm(&alive);
		(void)m->go(&l);
		(void)fault_disarm();
		place = locks_place(&house, &l, &st);
	}
	if (m->to == AT_ARCHIVE ? !archived(&l) : place != m->to)
		fail_msg("%s, dead from call %d: done again, it is not where it belongs (%d)", m->name, n, place);
	remove_house();
	return failed > 0;
}

static void a_lock_is_never_nowhere(void **state)
{
	static const struct fault ways[] = { { .at = 0 }, { .no_renameat2 = true } };

	(void)state;
	for (size_t w = 0; w < N_OF(ways); w++)
		for (size_t i = 0; i < N_OF(moves); i++) {
			int n = 1;

			while (dies_at(&moves[i], &ways[w], n))
				n++;
			assert_in_range(n, 2, 20);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_file_is_the_old_one_or_the_new_one),
		cmocka_unit_test(a_lock_is_never_nowhere),
	};

	return cmocka_run_group_tests_name("files of a process that was killed", tests, NULL, NULL);
}
