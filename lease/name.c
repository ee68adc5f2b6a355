#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/name.h"
#include "lease/text.h"

#define LOCK_PREFIX "lock-"
#define ASK_PREFIX "ask-"

static bool plain(char c)
{
	return lease_is_lower(c) || lease_is_upper(c) || lease_is_digit(c) || c == '_' || c == '.' ||
	       c == '-';
}

bool lease_surface_valid(const char *s)
{
	size_t n = 0;

	if (!plain(s[0]) || s[0] == '_' || s[0] == '.' || s[0] == '-')
		return false;
	while (n < LEASE_SURFACE_SIZE && plain(s[n]))
		n++;
	return n < LEASE_SURFACE_SIZE && s[n] == '\0';
}

/* Appends what fits of user, whole bytes or whole %XX only, and leaves `room` bytes for the rest. */
static void add_user(struct lease_text *t, const char *user, size_t room)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *user; user++) {
		unsigned char c = (unsigned char)*user;
		char out[4] = {*user, '\0'};

		if (!plain(*user) && *user != '@' && *user != '+') {
			out[0] = '%';
			out[1] = hex[c >> 4];
			out[2] = hex[c & 15];
		}
		if (t->len + strlen(out) + room >= t->size)
			return;
		lease_text_add(t, out);
	}
}

int lease_name_make(char name[LEASE_NAME_SIZE], const char *surface, const char *user, const char *id)
{
	char buf[LEASE_NAME_SIZE];
	struct lease_text t;

	if (!lease_surface_valid(surface) || !lease_id_valid(id))
		return -EINVAL;
	lease_text_begin(&t, buf, sizeof(buf));
	lease_text_add(&t, LOCK_PREFIX);
	lease_text_add(&t, surface);
	lease_text_add(&t, "-");
	add_user(&t, user, 1 + strlen(id));
	lease_text_add(&t, "-");
	lease_text_add(&t, id);
	if (t.cut)
		return -ENAMETOOLONG;
	memcpy(name, buf, t.len + 1);
	return 0;
}

/* The id that name ends in, when at least min bytes and a '-' come before it and no byte is one we never
 * write. */
static const char *trailing_id(const char *name, size_t min)
{
	size_t len = 0;

	while (len < LEASE_NAME_SIZE && name[len] > ' ' && name[len] <= '~' && name[len] != '/')
		len++;
	if (len == LEASE_NAME_SIZE || name[len] != '\0' || len < min + LEASE_ID_SIZE)
		return NULL;
	name += len - (LEASE_ID_SIZE - 1);
	return name[-1] == '-' && lease_id_valid(name) ? name : NULL;
}

const char *lease_name_lock_id(const char *name)
{
	if (strncmp(name, LOCK_PREFIX, strlen(LOCK_PREFIX)) != 0)
		return NULL;
	return trailing_id(name, strlen(LOCK_PREFIX) + 1);
}

const char *lease_name_ask_id(const char *name)
{
	if (strncmp(name, ASK_PREFIX, strlen(ASK_PREFIX)) != 0)
		return NULL;
	name += strlen(ASK_PREFIX);
	return lease_id_valid(name) ? name : NULL;
}

void lease_name_user(char user[LEASE_USER_SIZE], const char *name, const char *surface)
{
	const size_t head = strlen(LOCK_PREFIX), skip = head + strlen(surface) + 1, len = strlen(name);
	size_t n;

	user[0] = '\0';
	if (!*surface || len <= skip + LEASE_ID_SIZE || name[skip - 1] != '-' ||
	    strncmp(name + head, surface, strlen(surface)) != 0)
		return;
	n = len - skip - LEASE_ID_SIZE;
	n = n < LEASE_USER_SIZE ? n : LEASE_USER_SIZE - 1;
	memcpy(user, name + skip, n);
	user[n] = '\0';
}
