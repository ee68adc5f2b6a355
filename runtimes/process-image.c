/*
 * process-image.c: a workload's image on disk, LEASE_DIR/image: what criu(8) wrote, root's, with a list of it:
 *
 *	uid=U gid=G	whose it is	group=G		another group of theirs
 *	pid=N		a number that they must have again
 *	file=SUM SIZE NAME
 *
 * It is written as image.new and renamed when it is whole, so under its name it is whole or has been damaged since.
 * The sum is Fletcher's, of 32-bit words (J. G. Fletcher, An arithmetic checksum for serial transmissions, 1982): it is
 * there for disks that forget, not against people, who can't come here.
 */
#include "config.h"

#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LIST "list"

struct sum {
	uint64_t a, b;
};

static void sum_words(struct sum *s, const uint32_t *word, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s->a += word[i];
		s->b += s->a;
		/* Both stay below 2^63: reduced before they could wrap. */
		if (s->b >> 62) {
			s->a %= UINT32_MAX;
			s->b %= UINT32_MAX;
		}
	}
}

static int sum_of(int dir, const char *name, uint64_t *ret_sum, int64_t *ret_size)
{
	static uint32_t buf[65536];
	struct sum s = {0, 0};
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int64_t size = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof buf)) > 0) {
		/* What doesn't fill a word is filled up with zeros; the size tells them from others. */
		memset((char *)buf + n, 0, -(size_t)n % sizeof *buf);
		sum_words(&s, buf, ((size_t)n + sizeof *buf - 1) / sizeof *buf);
		size += n;
	}
	close(fd);
	if (n < 0)
		return -EIO;
	*ret_sum = s.b % UINT32_MAX << 32 | s.a % UINT32_MAX;
	*ret_size = size;
	return 0;
}

/* Each name in there, but for the list. */
static int each_file(int dir, int (*each)(void *arg, int dir, const char *name), void *arg)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.' && strcmp(e->d_name, LIST))
			r = each(arg, dir, e->d_name);
	closedir(d);
	return r;
}

/* Root's from here on, on the disk, and in the list. */
static int seal_one(void *arg, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), r;
	uint64_t sum;
	int64_t size;

	if (fd < 0)
		return -errno;
	r = fchown(fd, 0, 0) < 0 || fchmod(fd, 0644) < 0 || fsync(fd) < 0 ? -errno : 0;
	close(fd);
	r = r ? r : sum_of(dir, name, &sum, &size);
	if (r == 0)
		fprintf(arg, "file=%016" PRIx64 " %" PRId64 " %s\n", sum, size, name);
	return r;
}

int image_seal(int dir, const struct owner *o, const struct members *l)
{
	int fd = openat(dir, LIST, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), r;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return -errno;
	fprintf(f, "uid=%u\ngid=%u\n", o->uid, o->gid);
	for (size_t i = 0; i < o->n_groups; i++)
		fprintf(f, "group=%u\n", o->groups[i]);
	for (size_t i = 0; i < l->n; i++)
		fprintf(f, "pid=%" PRId32 "\n", l->m[i].p.pid);
	r = each_file(dir, seal_one, f);
	if (r == 0 && (fflush(f) == EOF || fsync(fd) < 0 || fchown(dir, 0, 0) < 0 || fchmod(dir, 0755) < 0 || fsync(dir) < 0))
		r = -errno;
	if (fclose(f) == EOF && r == 0)
		r = -errno;
	return r;
}

static int take_owner(struct owner *o, const char *key, unsigned long long v)
{
	if (!strcmp(key, "uid"))
		o->uid = (uid_t)v;
	else if (!strcmp(key, "gid"))
		o->gid = (gid_t)v;
	else if (strcmp(key, "group") || o->n_groups == GROUPS_MAX)
		return -EINVAL;
	else
		o->groups[o->n_groups++] = (gid_t)v;
	return 0;
}

static int check_file(int dir, const char *line)
{
	uint64_t sum, is;
	int64_t size, is_size;
	char name[256];
	int r;

	if (sscanf(line, "%" SCNx64 " %" SCNd64 " %255s", &sum, &size, name) != 3 || strchr(name, '/'))
		return -EINVAL;
	r = sum_of(dir, name, &is, &is_size);
	return r ? r : (sum == is && size == is_size ? 0 : -EINVAL);
}

int image_check(int dir, struct owner *ret, int (*each)(void *arg, int32_t pid), void *arg)
{
	int fd = openat(dir, LIST, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct owner o = {.uid = (uid_t)-1};
	size_t files = 0;
	char line[512];

	if (!f)
		return -errno;
	while (r == 0 && fgets(line, sizeof line, f)) {
		char *value = strchr(line, '=');

		if (!value) {
			r = -EINVAL;
			break;
		}
		*value++ = '\0';
		if (!strcmp(line, "file")) {
			r = check_file(dir, value);
			files++;
		} else if (!strcmp(line, "pid")) {
			r = each(arg, (int32_t)strtol(value, NULL, 10));
		} else {
			r = take_owner(&o, line, strtoull(value, NULL, 10));
		}
	}
	fclose(f);
	if (r == 0 && (!files || o.uid == (uid_t)-1))
		r = -EINVAL;
	if (r == 0)
		*ret = o;
	return r;
}

static int remove_one(void *arg, int dir, const char *name)
{
	(void)arg;
	return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int image_remove(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	/* First the list: an image that is going is none. */
	r = unlinkat(fd, LIST, 0) < 0 && errno != ENOENT ? -errno : each_file(fd, remove_one, NULL);
	close(fd);
	return r ? r : (unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : 0);
}

int image_make(int dir, const char *name, const struct owner *o, int *ret)
{
	int fd;

	if (mkdirat(dir, name, 0700) < 0)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fchown(fd, o->uid, o->gid) < 0) {
		int e = -errno;

		close(fd);
		return e;
	}
	*ret = fd;
	return 0;
}

bool image_fits(int dir, int64_t memory)
{
	struct statvfs v;

	/* An image has little besides memory. */
	return fstatvfs(dir, &v) == 0 && (uint64_t)v.f_bavail * v.f_frsize > (uint64_t)memory + (uint64_t)memory / 10 + (1 << 20);
}
