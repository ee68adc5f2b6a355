#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lease/process.h"
#include "pam_lease/login.h"

/* The audit session, which su, sudo and tmux inherit: set by pam_loginuid. 0 = not set, or no such kernel. */
static uint32_t audit_session(void)
{
	char text[16];
	unsigned long n;
	ssize_t len;
	int fd;

	fd = open("/proc/self/sessionid", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	n = strtoul(text, NULL, 10);
	return n < UINT32_MAX ? (uint32_t)n : 0;
}

static int name_it(struct login *l, const struct options *o, const struct passwd *pw, const char *service,
		   const char *surface)
{
	struct lease_twin *t = &l->twin;
	int e;

	*l = (struct login){.uid = pw->pw_uid, .gid = pw->pw_gid};
	memcpy(l->notices, o->notices, strlen(o->notices) + 1);
	lease_id_make(t->id);
	t->uid = pw->pw_uid;
	memcpy(t->surface, surface, strlen(surface) + 1);
	if (lease_surface_valid(service))
		memcpy(t->service, service, strlen(service) + 1);
	t->audit = audit_session();
	e = lease_process_self(&t->leader);
	if (e == 0)
		e = lease_boot_id(t->boot);
	/* A session without a known leader is followed by its processes, so this is no failure. */
	if (e < 0)
		t->leader = (struct lease_process){0};
	return lease_name_make(l->name, surface, pw->pw_name, t->id);
}

static int record(const struct login *l, const struct options *o, char *buf, size_t size, size_t *ret_len)
{
	struct lease_record r;

	lease_record_init(&r);
	memcpy(r.id, l->twin.id, sizeof(r.id));
	memcpy(r.surface, l->twin.surface, sizeof(r.surface));
	r.is_session = true;
	r.ttl = o->ttl;
	r.linger = o->linger;
	/* The user's own claim is believed of the user's own process only; of root's, what the twin says. */
	if (l->twin.leader.pid && geteuid() == l->uid) {
		r.leader = l->twin.leader;
		memcpy(r.boot, l->twin.boot, sizeof(r.boot));
	}
	return lease_record_format(&r, buf, size, ret_len);
}

int login_open(struct login *ret, pam_handle_t *pamh, const struct options *o, const struct passwd *pw,
	       const char *service, const char *surface)
{
	struct lease_tree tree = LEASE_TREE_CLOSED;
	char buf[LEASE_FILE_MAX];
	size_t len;
	int e;

	e = name_it(ret, o, pw, service, surface);
	if (e == 0)
		e = record(ret, o, buf, sizeof(buf), &len);
	if (e == 0)
		e = lease_tree_open(&tree, o->notices);
	if (e < 0)
		return e;
	house_find(&tree, ret);
	/* First the twin: the daemon looks for it when it sees the lock. Without one the lock is good, too. */
	ret->twin_error = twin_write(&tree, ret);
	e = user_create(ret, pamh, tree.active, buf, len);
	if (e < 0 && ret->twin_error == 0)
		twin_remove(&tree, ret);
	lease_tree_close(&tree);
	return e;
}

void login_tell(const struct login *l, pam_handle_t *pamh)
{
	char text[2 * LEASE_PATH_SIZE];

	(void)snprintf(text, sizeof(text), "KLEASE_SESSION=%s", l->twin.id);
	(void)pam_putenv(pamh, text);
	(void)snprintf(text, sizeof(text), "KLEASE_LOCK=%s/active/%s", l->notices, l->name);
	(void)pam_putenv(pamh, text);
	if (!l->state[0])
		return;
	(void)snprintf(text, sizeof(text), "KLEASE_NOTICE=%s/notice-%s", l->state, l->twin.id);
	(void)pam_putenv(pamh, text);
}
