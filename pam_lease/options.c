#include "config.h"

#include <string.h>
#include <syslog.h>

#include <security/pam_ext.h>

#include "lease/beacon.h"
#include "lease/duration.h"
#include "pam_lease/options.h"

/* What stands behind `key=`, or NULL when arg is another option. */
static const char *value_of(const char *arg, const char *key)
{
	size_t n = strlen(key);

	return strncmp(arg, key, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool list_valid(const char *list)
{
	char surface[LEASE_SURFACE_SIZE];

	for (;;) {
		size_t n = strcspn(list, ",");

		if (n >= sizeof(surface))
			return false;
		memcpy(surface, list, n);
		surface[n] = '\0';
		if (!lease_surface_valid(surface))
			return false;
		if (!list[n])
			return true;
		list += n + 1;
	}
}

static bool list_has(const char *list, const char *name)
{
	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == strlen(name) && memcmp(list, name, n) == 0)
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

/* NULL, or what is wrong with it. */
static const char *read_one(struct options *o, const char *arg)
{
	const char *v;
	int64_t t;

	if (strcmp(arg, "debug") == 0) {
		o->debug = true;
	} else if (strcmp(arg, "root") == 0) {
		o->root = true;
	} else if ((v = value_of(arg, "notices"))) {
		if (*v != '/' || strlen(v) >= LEASE_PATH_SIZE)
			return "not an absolute path";
		o->notices = v;
	} else if ((v = value_of(arg, "surfaces"))) {
		if (!list_valid(v))
			return "not a list of names with commas between them";
		o->surfaces = v;
	} else if ((v = value_of(arg, "surface"))) {
		if (!lease_surface_valid(v))
			return "not a name of 1 to 32 letters, digits, '_', '.' or '-'";
		o->surface = v;
	} else if ((v = value_of(arg, "ttl"))) {
		if (lease_duration_parse(v, &t) < 0 || lease_ttl_check(t, 0, LEASE_NEVER, &t) != LEASE_TTL_OK)
			return "not a duration longer than 0, such as 90s or 5m";
		o->ttl = t;
	} else if ((v = value_of(arg, "linger"))) {
		if (lease_duration_parse(v, &t) < 0)
			return "not a duration, such as 0s or 5m";
		o->linger = t;
	} else {
		return "no such option";
	}
	return NULL;
}

void options_read(struct options *ret, pam_handle_t *pamh, int argc, const char **argv)
{
	*ret = (struct options){
	    .notices = RUNDIR "/leasewatch/notices",
	    .surfaces = "sshd,login",
	    .linger = -1,
	};
	for (int i = 0; i < argc; i++) {
		const char *wrong = read_one(ret, argv[i]);

		if (wrong)
			pam_syslog(pamh, LOG_ERR, "option %s is ignored: %s", argv[i], wrong);
	}
}

bool options_surface(const struct options *o, const char *service, char ret[LEASE_SURFACE_SIZE])
{
	size_t n = strlen(service);

	if (o->surface) {
		service = o->surface;
		n = strlen(service);
	} else if (!list_has(o->surfaces, service)) {
		n = strcspn(service, "-");
	}
	if (n >= LEASE_SURFACE_SIZE)
		return false;
	memcpy(ret, service, n);
	ret[n] = '\0';
	return o->surface || list_has(o->surfaces, ret);
}
