#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/duration.h"
#include "lease/text.h"

#define MINUTE (60 * LEASE_NS_PER_S)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* The name is an array, not a pointer: no relocation, so the table stays in read-only memory of a shared
 * object too. */
struct unit {
	char name[4];
	int64_t ns;
};

static const struct unit units[] = {
    {"d", DAY}, {"h", HOUR}, {"m", MINUTE}, {"s", LEASE_NS_PER_S}, {"ms", LEASE_NS_PER_MS},
};
#define N_UNITS (sizeof(units) / sizeof(units[0]))

int lease_duration_parse(const char *s, int64_t *ret)
{
	int64_t n = 0;
	const char *p = s;

	/* Past the maximum the digits no longer matter, but what follows them still has to be a unit. */
	for (; lease_is_digit(*p); p++)
		if (n <= LEASE_DURATION_MAX)
			n = n * 10 + (*p - '0');
	if (p == s)
		return -EINVAL;
	for (size_t i = 0; i < N_UNITS; i++) {
		if (strcmp(p, units[i].name) != 0)
			continue;
		if (n > LEASE_DURATION_MAX / units[i].ns)
			return -ERANGE;
		*ret = n * units[i].ns;
		return 0;
	}
	return -EINVAL;
}

static void format(char buf[LEASE_DURATION_SIZE], int64_t n, const char *blank, const char *unit)
{
	struct lease_text t;

	lease_text_begin(&t, buf, LEASE_DURATION_SIZE);
	lease_text_add_number(&t, (uint64_t)n);
	lease_text_add(&t, blank);
	lease_text_add(&t, unit);
}

static void format_never(char buf[LEASE_DURATION_SIZE])
{
	struct lease_text t;

	lease_text_begin(&t, buf, LEASE_DURATION_SIZE);
	lease_text_add(&t, "never");
}

void lease_duration_format(char buf[LEASE_DURATION_SIZE], int64_t ns)
{
	int64_t ms;
	size_t i = 0;

	if (ns == LEASE_NEVER) {
		format_never(buf);
		return;
	}
	if (ns <= 0) {
		format(buf, 0, "", "s");
		return;
	}
	/* Up, not down: a promise read back must not be shorter than the one that was made. */
	ms = ns / LEASE_NS_PER_MS + (ns % LEASE_NS_PER_MS != 0);
	/* The largest unit that divides it gives the shortest spelling; the last one, ms, always does. */
	while (ms % (units[i].ns / LEASE_NS_PER_MS) != 0)
		i++;
	format(buf, ms / (units[i].ns / LEASE_NS_PER_MS), "", units[i].name);
}

void lease_duration_human(char buf[LEASE_DURATION_SIZE], int64_t ns)
{
	if (ns == LEASE_NEVER)
		format_never(buf);
	else if (ns <= 0)
		format(buf, 0, " ", "s");
	/* A larger unit only where the part that is cut off no longer matters to a reader. */
	else if (ns < LEASE_NS_PER_S)
		format(buf, ns / LEASE_NS_PER_MS, " ", "ms");
	else if (ns < 10 * MINUTE)
		format(buf, ns / LEASE_NS_PER_S, " ", "s");
	else if (ns < 2 * HOUR)
		format(buf, ns / MINUTE, " ", "m");
	else if (ns < 2 * DAY)
		format(buf, ns / HOUR, " ", "h");
	else
		format(buf, ns / DAY, " ", "d");
}

enum lease_ttl_verdict lease_ttl_check(int64_t ttl, int64_t min, int64_t max, int64_t *ret)
{
	if (ttl <= 0)
		return LEASE_TTL_ZERO;
	if (ttl > max) {
		*ret = max;
		return LEASE_TTL_CAPPED;
	}
	/* Where an administrator's min and max contradict each other, the cap wins. */
	if (min > max)
		min = max;
	if (ttl < min) {
		*ret = min;
		return LEASE_TTL_RAISED;
	}
	*ret = ttl;
	return LEASE_TTL_OK;
}
