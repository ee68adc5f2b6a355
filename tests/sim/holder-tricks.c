/* tests/sim/holder-tricks.c: what holders should not do to their own locks, and cannot do to others'. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

static void lost(struct truth *t)
{
	struct truth *b;

	t->where = W_NOWHERE;
	t->unsure = true;
	LIST_FOREACH(b, &t->bound, of_session)
		b->unsure = true;
	bound_changed(t);
}

static void stamp(struct truth *t, const char *path)
{
	static const int64_t offs[] = { SEC / 100, MINUTE, DAY, 3000 * DAY };
	int64_t off = between(0, offs[between(0, 3)]);
	struct lease_stat st;
	int r;

	if (one_in(4) && kernel_stat(path, &st) == 0)
		r = kernel_utime(path, st.mtime); /* the same again: nothing to be seen */
	else
		r = kernel_utime(path, one_in(6) ? -off : kernel_wall() + (one_in(2) ? off : -off));
	if (r == 0)
		truth_stamped(t);
}

static void new_name(struct holder *h, struct truth *t, const char *path)
{
	char name[LEASE_NAME_SIZE], to[PATH_SIZE];

	if (lease_name_make(name, one_in(2) ? "moved" : "other", one_in(2) ? "x" : "y", t->id) < 0)
		return;
	(void)snprintf(to, sizeof(to), ACTIVE "%s", name);
	kernel_as(h->uid);
	if (strcmp(name, t->name) == 0 || kernel_rename(path, to) < 0)
		return;
	memcpy(t->name, name, sizeof(t->name));
	t->unsure = t->strange = true;
}

void holder_trick(struct holder *h)
{
	struct truth *t = h->lease;
	char path[PATH_SIZE], other[PATH_SIZE];
	struct lease_stat st;
	static char big[5000];

	if (t->where != W_ACTIVE)
		return;
	truth_path(t, path);
	(void)snprintf(other, sizeof(other), ACTIVE "lock-x-y-%s", t->id);
	kernel_as(h->uid);
	int what = (int)between(0, 11);
	kernel_note("holder %d plays trick %d on %s", h->n, what, t->id);
	switch (what) {
	case 0:
		if (kernel_unlink(path) == 0)
			lost(t);
		break;
	case 1:
		new_name(h, t, path);
		break;
	case 2:
		(void)kernel_chmod(path, one_in(2) ? 0600 : 0444);
		break;
	case 3:
	case 4:
	case 5:
		stamp(t, path);
		break;
	case 6: /* one more link, by another name */
		(void)kernel_link(path, other);
		break;
	case 7:
		(void)kernel_symlink(path, other);
		break;
	case 8: /* what it writes into it counts for nothing, but it is a beat */
		memset(big, '#', sizeof(big));
		if (kernel_write(path, big, (size_t)between(0, sizeof(big))) == 0)
			truth_stamped(t);
		break;
	case 9: /* away, and back again before anybody may have looked */
		(void)snprintf(other, sizeof(other), one_in(2) ? ARCHIVE "%s" : QUEUE "%s", t->name);
		if (!t->record.is_session && kernel_rename(path, other) == 0) {
			truth_released(t);
			if (kernel_rename(other, path) == 0)
				t->where = W_ACTIVE;
			else
				lost(t);
		}
		break;
	case 10: /* out of the tree */
		if (kernel_rename(path, "/sim/tmp/lock") == 0)
			lost(t);
		break;
	default: /* another in its place, which is still its own */
		if (kernel_unlink(path) == 0) {
			lost(t);
			if (kernel_create(path, "#leasewatch 1\n", 14) == 0 && kernel_stat(path, &st) == 0) {
				t->where = W_ACTIVE;
				t->ino = st.ino;
				t->saved = now();
				t->strange = true;
				truth_stamped(t);
			}
		}
		break;
	}
}

/* Somebody else's lease that is seen in the tree. */
static struct truth *victim(const struct holder *h)
{
	struct truth *t = LIST_FIRST(&world.all);

	for (int i = (int)between(0, 60); t && i > 0; i--)
		t = LIST_NEXT(t, all);
	return t && t->uid != h->uid && t->state != P_NONE && (t->where == W_ACTIVE || t->where == W_QUEUE) ? t : NULL;
}

static void must_fail(int r, const char *what, const struct truth *t)
{
	if (r >= 0)
		broken("I9", "another user could %s the lock of %s", what, t->id);
}

static void attack(struct holder *h, struct truth *t)
{
	char path[PATH_SIZE], mine[PATH_SIZE], buf[LEASE_FILE_MAX];
	int n;

	truth_path(t, path);
	kernel_as(h->uid);
	switch (between(0, 8)) {
	case 0:
		must_fail(kernel_unlink(path), "remove", t);
		break;
	case 1:
		(void)snprintf(mine, sizeof(mine), ARCHIVE "%s", t->name);
		must_fail(kernel_rename(path, mine), "release", t);
		break;
	case 2:
		must_fail(kernel_beat(path), "beat", t);
		break;
	case 3: /* its name in the other folder */
		n = kernel_read(path, buf, sizeof(buf));
		(void)snprintf(mine, sizeof(mine), "%s%s", t->where == W_QUEUE ? ACTIVE : QUEUE, t->name);
		if (n > 0)
			(void)kernel_create(mine, buf, (size_t)n);
		break;
	case 4: /* its id by another name */
		(void)snprintf(mine, sizeof(mine), "%slock-cli-evil-%s", one_in(2) ? ACTIVE : QUEUE, t->id);
		(void)kernel_create(mine, "#leasewatch 1\nttl=5m\n", 21);
		break;
	case 5: /* where it is to be put when it is over */
		(void)snprintf(mine, sizeof(mine), ARCHIVE "%s", t->name);
		(void)kernel_create(mine, "x", 1);
		break;
	case 6:
		(void)snprintf(mine, sizeof(mine), ACTIVE "lock-cli-evil-%s", t->id);
		(void)kernel_symlink(path, mine);
		break;
	case 7:
		(void)snprintf(mine, sizeof(mine), ACTIVE "%s", t->name);
		(void)kernel_mkfifo(mine);
		break;
	default: /* protected_hardlinks may forbid it: either way */
		(void)snprintf(mine, sizeof(mine), ACTIVE "lock-cli-evil-%s", t->id);
		(void)kernel_link(path, mine);
		break;
	}
}

static void rubbish(struct holder *h)
{
	static const char *const folders[] = { QUEUE, ACTIVE, ARCHIVE };
	char path[PATH_SIZE], id[LEASE_ID_SIZE];

	kernel_as(h->uid);
	for (int64_t i = one_in(20) ? 60 : between(1, 3); i > 0; i--) {
		const char *in = folders[between(0, 2)];
		truth_make_id(id);
		switch (between(0, 7)) {
		case 0:
			(void)snprintf(path, sizeof(path), "%sREADME-%s", in, id);
			(void)kernel_create(path, "hello\n", 6);
			break;
		case 1:
			(void)snprintf(path, sizeof(path), "%slock-cli-u-%s", in, id);
			(void)kernel_mkfifo(path);
			break;
		case 2:
			(void)snprintf(path, sizeof(path), "%slock-cli-u-%s", in, id);
			(void)kernel_symlink("/etc/passwd", path);
			break;
		case 3:
			(void)snprintf(path, sizeof(path), "%slock-cli-u-%s", in, id);
			(void)kernel_mkdirs(path, h->uid, 0755);
			break;
		case 4:
			(void)snprintf(path, sizeof(path), "%s.tmp-%s", in, id);
			(void)kernel_create(path, "x", 1);
			break;
		case 5:
			(void)snprintf(path, sizeof(path), "%s2026-%02d-%02d", ARCHIVE, (int)between(1, 12), (int)between(1, 28));
			(void)kernel_create(path, "x", 1);
			break;
		case 6:
			(void)snprintf(path, sizeof(path), "%sask-%s", in, id);
			(void)kernel_mkfifo(path);
			break;
		default:
			(void)snprintf(path, sizeof(path), "%slock-cli-u-%s", in, id);
			(void)kernel_create_empty(path);
			break;
		}
	}
}

void holder_cheat(struct holder *h)
{
	struct truth *t = victim(h);

	if (t && one_in(2))
		attack(h, t);
	else
		rubbish(h);
}
