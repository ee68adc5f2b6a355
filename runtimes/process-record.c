#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lease/kv.h"
#include "lease/tree.h"

#define RECORD "process"
#define RECORD_NEW "process.new"

static const char *const names[] = {
    [MODE_NONE] = "none",
    [MODE_CGROUP2] = "cgroup2",
    [MODE_CGROUP1] = "cgroup1",
    [MODE_SUBREAPER] = "subreaper",
};

const char *mode_name(enum mode m)
{
	return names[m];
}

enum mode mode_parse(const char *s)
{
	for (enum mode m = MODE_CGROUP2; m <= MODE_SUBREAPER; m++)
		if (!strcmp(s, names[m]))
			return m;
	return MODE_NONE;
}

static int copy(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size)
		return -EINVAL;
	memcpy(to, from, n + 1);
	return 0;
}

static int number(const char *s, uint64_t max, uint64_t *ret)
{
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(s, &end, 10);
	return errno || *end || *ret > max ? -EINVAL : 0;
}

static int take(struct workload *w, const struct lease_pair *p)
{
	uint64_t v = 0;
	int r;

	if (!strcmp(p->key, "id"))
		return lease_id_valid(p->value) ? copy(w->id, sizeof w->id, p->value) : -EINVAL;
	if (!strcmp(p->key, "boot"))
		return copy(w->boot, sizeof w->boot, p->value);
	if (!strcmp(p->key, "cgroup"))
		return copy(w->cgroup, sizeof w->cgroup, p->value);
	if (!strcmp(p->key, "cpuacct"))
		return copy(w->cpuacct, sizeof w->cpuacct, p->value);
	if (!strcmp(p->key, "mode")) {
		w->mode = mode_parse(p->value);
		return w->mode == MODE_NONE ? -EINVAL : 0;
	}
	if (!strcmp(p->key, "generation"))
		return number(p->value, UINT64_MAX, &w->generation);
	if (!strcmp(p->key, "pid_start"))
		return number(p->value, UINT64_MAX, &w->keeper.start);
	if (!strcmp(p->key, "uid")) {
		r = number(p->value, UINT32_MAX - 1, &v);
		w->uid = (uid_t)v;
	} else if (!strcmp(p->key, "pid")) {
		r = number(p->value, INT32_MAX, &v);
		w->keeper.pid = (int32_t)v;
	} else if (!strcmp(p->key, "frozen")) {
		r = number(p->value, 1, &v);
		w->frozen = v;
	} else if (!strcmp(p->key, "disk")) {
		r = number(p->value, 1, &v);
		w->disk = v;
	} else {
		return -EINVAL;
	}
	return r;
}

int record_read(int dir, struct workload *ret)
{
	struct workload w = {.uid = (uid_t)-1};
	char buf[LEASE_FILE_MAX];
	struct lease_error err = {0, "a value is wrong"};
	struct lease_pair pair = {.line = 0};
	struct lease_kv kv;
	size_t len;
	int r;

	r = lease_read(dir, RECORD, geteuid(), buf, sizeof buf, &len, NULL);
	if (r == -ENOENT)
		return r;
	if (r < 0) {
		say("record: %s", strerror(-r));
		return -EINVAL;
	}
	r = lease_kv_begin(&kv, buf, len, LEASE_FILE_MAX, &err);
	while (r >= 0 && (r = lease_kv_next(&kv, &pair, &err)) > 0) {
		r = take(&w, &pair);
		if (r < 0)
			err.line = pair.line;
	}
	if (r >= 0 && (!w.id[0] || !w.generation || w.mode == MODE_NONE || w.keeper.pid <= 1 ||
		       w.uid == (uid_t)-1 || !w.boot[0] || (w.mode != MODE_SUBREAPER && w.cgroup[0] != '/')))
		r = -EINVAL;
	if (r < 0) {
		say("record:%d: %s", err.line, err.what);
		return -EINVAL;
	}
	*ret = w;
	return 0;
}

int record_write(int dir, const struct workload *w)
{
	char buf[LEASE_FILE_MAX];
	struct lease_kv_out o;
	size_t len;
	int r;

	lease_kv_out_begin(&o, buf, sizeof buf);
	lease_kv_out_str(&o, "id", w->id);
	lease_kv_out_int(&o, "generation", (long long)w->generation);
	lease_kv_out_int(&o, "uid", w->uid);
	lease_kv_out_int(&o, "pid", w->keeper.pid);
	lease_kv_out_int(&o, "pid_start", (long long)w->keeper.start);
	lease_kv_out_str(&o, "boot", w->boot);
	lease_kv_out_str(&o, "mode", mode_name(w->mode));
	lease_kv_out_int(&o, "frozen", w->frozen);
	if (w->disk)
		lease_kv_out_int(&o, "disk", 1);
	if (w->cgroup[0])
		lease_kv_out_str(&o, "cgroup", w->cgroup);
	if (w->cpuacct[0])
		lease_kv_out_str(&o, "cpuacct", w->cpuacct);
	r = lease_kv_out_end(&o, &len);
	if (r < 0)
		return r;
	/* We hold the directory's lock: what lies there is from one that was cut off. */
	if (unlinkat(dir, RECORD_NEW, 0) < 0 && errno != ENOENT)
		return -errno;
	r = lease_create(dir, RECORD_NEW, buf, len);
	if (r < 0)
		return r;
	return renameat(dir, RECORD_NEW, dir, RECORD) < 0 ? -errno : 0;
}
