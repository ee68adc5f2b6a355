#include "config.h"

#include "actor-permit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHY 160

static enum permit no(const struct act_request *r, const char *what, const char *list, char why[WHY])
{
	(void)snprintf(why, WHY, "profile %s is for %s %.80s", r->profile, what, list);
	return PERMIT_NO;
}

enum permit permit_look(const struct actor *x, const struct act_request *r, char why[WHY])
{
	const char *users, *groups;

	if (!r->profile[0])
		return PERMIT_YES;
	if (!settings_profile_known(x->settings, r->profile)) {
		(void)snprintf(why, WHY, "the configuration has no profile %s (any more)", r->profile);
		return PERMIT_NO;
	}
	users = settings_profile_text(x->settings, r->profile, "users");
	groups = settings_profile_text(x->settings, r->profile, "groups");
	if ((!users && !groups) || r->uid == 0 || (users && settings_list_has(users, "", r->uid)))
		return PERMIT_YES;
	return PERMIT_ASK;
}

void permit_argv(const struct act_request *r, char uid[16], char *argv[3])
{
	static char name[] = "id";

	/* With the sign it is a number, whatever users are called. */
	(void)snprintf(uid, 16, "+%u", r->uid);
	argv[0] = name;
	argv[1] = uid;
	argv[2] = NULL;
}

/* The next NUMBER(NAME) of what id printed, from *at on. */
static bool next_name(const char **at, uint32_t *ret_number, char name[LEASE_USER_SIZE])
{
	const char *p = *at, *end;
	char *rest;

	while (*p && !isdigit((unsigned char)*p))
		p++;
	if (!*p)
		return false;
	*ret_number = (uint32_t)strtoul(p, &rest, 10);
	name[0] = '\0';
	*at = rest;
	if (*rest != '(')
		return true;
	end = strchr(rest, ')');
	if (!end)
		return false;
	if ((size_t)(end - rest) <= LEASE_USER_SIZE)
		(void)snprintf(name, LEASE_USER_SIZE, "%.*s", (int)(end - rest - 1), rest + 1);
	*at = end + 1;
	return true;
}

/* uid=1000(bob) gid=100(users) groups=100(users),27(sudo) */
bool permit_told(const struct actor *x, const struct act_request *r, const char *out, char why[WHY])
{
	const char *users = settings_profile_text(x->settings, r->profile, "users");
	const char *groups = settings_profile_text(x->settings, r->profile, "groups");
	const char *at = out, *of_groups = strstr(out, " gid=");
	char name[LEASE_USER_SIZE];
	uint32_t number;

	if (strncmp(out, "uid=", 4) != 0 || !of_groups || !next_name(&at, &number, name) || number != r->uid) {
		(void)snprintf(why, WHY, "id(1) does not know uid %u", r->uid);
		return false;
	}
	if (users && name[0] && settings_list_has(users, name, number))
		return true;
	for (at = of_groups; groups && next_name(&at, &number, name);)
		if (settings_list_has(groups, name, number))
			return true;
	if (groups)
		(void)no(r, users ? "other users, and for groups" : "groups", groups, why);
	else
		(void)no(r, "users", users ? users : "", why);
	return false;
}
