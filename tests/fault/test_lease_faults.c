/*
 * Every system call of lease/ fails once, then for good, in every way a tree can be worked on. Whatever
 * fails: an error comes back, no descriptor is lost, results are untouched, and the tree is as before or as
 * after, never between.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/kv.h"
#include "lease/process.h"
#include "lease/tree.h"
#include "tests/fault/fault.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define NAME "lock-cli-anna-kls-abcdefghij"
#define ANY ((uid_t)-1)

/* The ways, with the number of calls that each operation is expected to make on them. */
static const struct way {
	const char *name;
	struct fault missing;
	int create, move;
} ways[] = {
    /* getrlimit open write fchmod linkat */
    {"all there", {0}, 5, 1},
    /* getrlimit open write fchmod renameat2 */
    {"no O_TMPFILE", {.no_tmpfile = true}, 5, 1},
    /* …and linkat, unlinkat for renameat2 */
    {"no O_TMPFILE, no renameat2", {.no_tmpfile = true, .no_renameat2 = true}, 6, 2},
    /* what the first three did in vain, then open write fchmod renameat2 */
    {"no /proc", {.no_proc = true}, 8, 1},
    {"no openat2", {.no_openat2 = true}, 5, 1},
};

static const int errors[] = {EIO, ENOSPC, EACCES, ENOMEM};

static struct scratch dir;
static struct lease_tree tree;
static int fds;

static void begin(void)
{
	scratch_make(&dir);
	scratch_make_tree(&dir);
	assert_int_equal(lease_tree_open(&tree, dir.path), 0);
	fds = scratch_open_fds();
}

static void end(void)
{
	assert_int_equal(scratch_open_fds(), fds);
	lease_tree_close(&tree);
	scratch_remove(&dir);
}

/* What readers of a directory see: anything but the half-made. */
static int count_one(void *arg, const char *name)
{
	(void)name;
	++*(int *)arg;
	return 0;
}

static int visible(int dirfd)
{
	int n = 0;

	assert_int_equal(lease_list(dirfd, count_one, &n), 0);
	return n;
}

/* Fails the n-th call of a create. Gives false when there was no n-th. */
static bool create_with_fault(const struct fault *f)
{
	static const char body[] = "the whole body";
	int e, failed;

	begin();
	scratch_write(tree.active, "old", "old", 3);
	fault_arm(f);
	e = lease_create(tree.active, NAME, body, strlen(body));
	failed = fault_disarm();
	if (failed) {
		assert_int_equal(e, -f->error);
		if (f->for_good && scratch_exists(tree.active, NAME)) {
			/* Linked, and then no removal works any more, neither of the first name nor of the
			 * second. */
			assert_true(f->no_renameat2 && f->at == 6);
			assert_true(scratch_holds(tree.active, NAME, body, strlen(body)));
		} else {
			assert_int_equal(visible(tree.active), 1);
		}
		/* Where even the removal fails, the half-made file that readers skip may stay. */
		if (!f->for_good)
			assert_int_equal(scratch_count(tree.active), 1);
	} else {
		assert_int_equal(e, 0);
		assert_true(scratch_holds(tree.active, NAME, body, strlen(body)));
		assert_int_equal(scratch_count(tree.active), 2);
	}
	assert_true(scratch_holds(tree.active, "old", "old", 3));
	end();
	return failed;
}

static void a_create_that_fails_leaves_nothing(void **state)
{
	(void)state;
	for (size_t w = 0; w < N_OF(ways); w++)
		for (size_t i = 0; i < N_OF(errors); i++)
			for (int for_good = 0; for_good < 2; for_good++) {
				struct fault f = ways[w].missing;

				f.error = errors[i];
				f.for_good = for_good;
				f.at = 1;
				while (create_with_fault(&f))
					f.at++;
				if (f.at - 1 != ways[w].create)
					fail_msg("%s: %d calls were failed, not %d", ways[w].name, f.at - 1,
						 ways[w].create);
			}
}

static void a_create_that_fails_keeps_what_had_the_name(void **state)
{
	int n_failed = 0;

	(void)state;
	for (size_t w = 0; w < N_OF(ways); w++) {
		struct fault f = ways[w].missing;
		int failed = 1;

		f.error = EIO;
		for (f.at = 1; failed; f.at++) {
			int e;

			begin();
			scratch_write(tree.active, NAME, "old", 3);
			fault_arm(&f);
			e = lease_create(tree.active, NAME, "new body", 8);
			failed = fault_disarm();
			n_failed += failed;
			/* Where the cleanup was what failed, the reason to clean up is what is told. */
			assert_true(e == -EIO || e == -EEXIST);
			assert_true(failed || e == -EEXIST);
			assert_true(scratch_holds(tree.active, NAME, "old", 3));
			assert_int_equal(visible(tree.active), 1);
			end();
		}
	}
	/* The calls of a create on each way, and the removal of the half-made file where it has a name. */
	assert_int_equal(n_failed, 5 + (5 + 1) + (5 + 1) + (8 + 1) + 5);
}

static void a_short_or_interrupted_write_goes_on(void **state)
{
	const struct fault one_byte = {.short_io = true};
	static const char body[] = "byte by byte";

	(void)state;
	begin();
	fault_arm(&one_byte);
	assert_int_equal(lease_create(tree.active, NAME, body, strlen(body)), 0);
	fault_disarm();
	/* getrlimit open fchmod linkat, and a write for each byte */
	assert_int_equal(fault_calls(), 4 + strlen(body));
	assert_true(scratch_holds(tree.active, NAME, body, strlen(body)));
	/* The third call is the write. */
	fault_arm(&(struct fault){.at = 3, .error = EINTR});
	assert_int_equal(lease_create(tree.active, "again", body, strlen(body)), 0);
	assert_int_equal(fault_disarm(), 1);
	assert_true(scratch_holds(tree.active, "again", body, strlen(body)));
	end();
}

static bool move_with_fault(const struct fault *f)
{
	struct lease_stat st;
	int e, failed;

	begin();
	scratch_write(tree.active, NAME, "body", 4);
	fault_arm(f);
	e = lease_move(tree.active, NAME, tree.archive, NAME);
	failed = fault_disarm();
	assert_int_equal(e, failed ? -f->error : 0);
	if (failed && f->for_good && scratch_exists(tree.archive, NAME)) {
		/* Neither half of the move by links could be undone: in both is what readers take for "still
		 * active". */
		assert_true(f->no_renameat2 && f->at == 2);
		assert_true(scratch_holds(tree.active, NAME, "body", 4));
	} else {
		assert_int_equal(scratch_exists(tree.active, NAME), failed != 0);
		assert_int_equal(scratch_exists(tree.archive, NAME), failed == 0);
		assert_int_equal(lease_stat(failed ? tree.active : tree.archive, NAME, &st), 0);
		assert_int_equal(st.nlink, 1);
	}
	end();
	return failed;
}

static void a_move_that_fails_leaves_the_file_where_it_was(void **state)
{
	(void)state;
	for (size_t w = 0; w < N_OF(ways); w++)
		for (int for_good = 0; for_good < 2; for_good++) {
			struct fault f = ways[w].missing;

			f.error = EIO;
			f.for_good = for_good;
			f.at = 1;
			while (move_with_fault(&f))
				f.at++;
			if (f.at - 1 != ways[w].move)
				fail_msg("%s: %d calls were failed, not %d", ways[w].name, f.at - 1,
					 ways[w].move);
		}
}

/* Operations that change no names: each must tell, and keep its hands off the result. */
static int do_open(void)
{
	struct lease_tree t = {77, 77, 77, 77};
	int e = lease_tree_open(&t, dir.path);

	if (e == 0)
		lease_tree_close(&t);
	else
		assert_true(t.root == 77 && t.queue == 77 && t.active == 77 && t.archive == 77);
	return e;
}

static int do_touch(void)
{
	struct lease_stat st = {.ino = 77};
	int e = lease_touch(tree.active, NAME, &st);

	assert_int_equal(st.ino == 77, e != 0);
	return e;
}

static int do_read(void)
{
	struct lease_stat st = {.ino = 77};
	char buf[LEASE_FILE_MAX];
	size_t len = 77;
	int e = lease_read(tree.active, NAME, ANY, buf, sizeof(buf), &len, &st);

	assert_int_equal(len, e ? 77 : 4);
	assert_int_equal(st.ino == 77, e != 0);
	return e;
}

static int do_stat(void)
{
	struct lease_stat st = {.ino = 77};
	int e = lease_stat(tree.active, NAME, &st);

	assert_int_equal(st.ino == 77, e != 0);
	return e;
}

static int do_find(void)
{
	char name[LEASE_NAME_SIZE] = "untouched";
	int e = lease_find(tree.active, "kls-abcdefghij", name);

	assert_string_equal(name, e ? "untouched" : NAME);
	return e;
}

static int do_list(void)
{
	int n = 0;

	return lease_list(tree.active, count_one, &n);
}

static int do_self(void)
{
	struct lease_process p = {.pid = 77};
	int e = lease_process_self(&p);

	assert_int_equal(p.pid, e ? 77 : getpid());
	return e;
}

static struct lease_process self;

static int do_process(void)
{
	int fd = 77, e = lease_process_open(&self, getuid(), &fd);

	assert_int_equal(fd == 77, e != 0);
	if (e == 0)
		close(fd);
	return e;
}

static int do_boot_id(void)
{
	char boot[LEASE_BOOT_SIZE] = "untouched";
	int e = lease_boot_id(boot);

	assert_int_equal(strcmp(boot, "untouched") == 0, e != 0);
	return e;
}

static void what_only_looks_tells_every_failure(void **state)
{
	static const struct {
		const char *name;
		int (*run)(void);
		int calls;          /* openat2 openat2 openat2 and such */
		int calls_fallback; /* openat and the two looks at the device for each of them */
	} operations[] = {
	    {"lease_tree_open", do_open, 4, 1 + 3 * 3},
	    {"lease_touch", do_touch, 4, 4 + 2},
	    {"lease_read", do_read, 4, 4 + 2},
	    {"lease_stat", do_stat, 1, 1},
	    {"lease_find", do_find, 2, 2},
	    {"lease_list", do_list, 3, 3},
	    {"lease_process_self", do_self, 2, 2},
	    {"lease_process_open", do_process, 6, 6},
	    {"lease_boot_id", do_boot_id, 2, 2},
	};

	(void)state;
	assert_int_equal(lease_process_self(&self), 0);
	for (size_t i = 0; i < N_OF(operations); i++)
		for (int fallback = 0; fallback < 2; fallback++) {
			int want = fallback ? operations[i].calls_fallback : operations[i].calls;
			struct fault f = {.error = EIO, .no_openat2 = fallback};
			int failed = 1;

			begin();
			scratch_write(tree.active, NAME, "body", 4);
			for (f.at = 1; failed; f.at++) {
				int e;

				fault_arm(&f);
				e = operations[i].run();
				failed = fault_disarm();
				if (e != (failed ? -EIO : 0))
					fail_msg("%s, call %d: %d", operations[i].name, f.at, e);
				assert_int_equal(scratch_open_fds(), fds);
				assert_true(scratch_holds(tree.active, NAME, "body", 4));
				assert_int_equal(scratch_count(tree.active), 1);
			}
			if (f.at - 2 != want)
				fail_msg("%s: %d calls were failed, not %d", operations[i].name, f.at - 2,
					 want);
			end();
		}
}

static void a_read_that_comes_short_is_a_file_that_changed(void **state)
{
	char buf[LEASE_FILE_MAX];
	size_t len = 77;

	(void)state;
	begin();
	scratch_write(tree.active, NAME, "body", 4);
	fault_arm(&(struct fault){.short_io = true});
	assert_int_equal(lease_read(tree.active, NAME, ANY, buf, sizeof(buf), &len, NULL), -EAGAIN);
	fault_disarm();
	assert_int_equal(len, 77);
	end();
}

static void set_mtime(time_t seconds)
{
	const struct timespec times[2] = {{seconds, 0}, {seconds, 0}};

	assert_int_equal(utimensat(tree.active, NAME, times, 0), 0);
}

/* Two writes within a tick of the kernel's clock have one stamp: then only the size tells. */
static void grow_within_the_tick(void)
{
	scratch_write(tree.active, NAME, "bodymore", 8);
	set_mtime(1000);
}

static void rewrite(void)
{
	scratch_write(tree.active, NAME, "BODY", 4);
	set_mtime(2000);
}

static void a_file_that_changes_while_it_is_read_is_read_again_by_the_caller(void **state)
{
	static void (*const changes[])(void) = {grow_within_the_tick, rewrite};
	char buf[LEASE_FILE_MAX];
	size_t len = 77;

	(void)state;
	for (size_t i = 0; i < N_OF(changes); i++) {
		begin();
		scratch_write(tree.active, NAME, "body", 4);
		set_mtime(1000);
		fault_arm(&(struct fault){.after_read = changes[i]});
		assert_int_equal(lease_read(tree.active, NAME, ANY, buf, sizeof(buf), &len, NULL), -EAGAIN);
		fault_disarm();
		assert_int_equal(len, 77);
		end();
	}
}

/* Its number may have been another's by the time /proc was read. */
static void a_process_that_ends_while_it_is_looked_at_is_gone(void **state)
{
	int fd = 77;

	(void)state;
	begin();
	assert_int_equal(lease_process_self(&self), 0);
	fault_arm(&(struct fault){.ended = true});
	assert_int_equal(lease_process_open(&self, getuid(), &fd), -ESRCH);
	fault_disarm();
	assert_int_equal(fd, 77);
	end();
}

/* hidepid, or no /proc: a process that lives must not pass for a dead one. */
static void what_proc_hides_is_not_taken_for_dead(void **state)
{
	int fd = 77;

	(void)state;
	begin();
	assert_int_equal(lease_process_self(&self), 0);
	fault_arm(&(struct fault){.at = 1, .error = ENOENT});
	assert_int_equal(lease_process_stat(getpid(), NULL, NULL, NULL), -EACCES);
	assert_int_equal(fault_disarm(), 1);
	fault_arm(&(struct fault){.at = 2, .error = ENOENT, .for_good = true});
	assert_int_equal(lease_process_open(&self, getuid(), &fd), -EACCES);
	assert_true(fault_disarm() > 0);
	assert_int_equal(fd, 77);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_create_that_fails_leaves_nothing),
	    cmocka_unit_test(a_create_that_fails_keeps_what_had_the_name),
	    cmocka_unit_test(a_short_or_interrupted_write_goes_on),
	    cmocka_unit_test(a_move_that_fails_leaves_the_file_where_it_was),
	    cmocka_unit_test(what_only_looks_tells_every_failure),
	    cmocka_unit_test(a_read_that_comes_short_is_a_file_that_changed),
	    cmocka_unit_test(a_file_that_changes_while_it_is_read_is_read_again_by_the_caller),
	    cmocka_unit_test(a_process_that_ends_while_it_is_looked_at_is_gone),
	    cmocka_unit_test(what_proc_hides_is_not_taken_for_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
