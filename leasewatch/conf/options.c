/*
 * conf/options.c: the table: every key that leasewatch.conf knows. A key is here when something obeys it, not
 * before.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "conf/options.h"
#include "lease/duration.h"

#define D_MAX LEASE_DURATION_MAX

/* Rows are rows: */
/* clang-format off */

/* What [defaults], [surface NAME] and [profile NAME] share. D: its default, in [defaults] alone. */
#define LEASE_ROWS(SECTION, D) \
	{ SECTION, "ttl", OPT_DURATION, D("5m"), "> 0", \
	  "How long a lease stands without a renewal, where its record does not say.", 1, D_MAX, false }, \
	{ SECTION, "renew_grace", OPT_DURATION, D("90s"), "> 0", \
	  "How long every sign of use must be absent before a lease is idle.", 1, D_MAX, false }, \
	{ SECTION, "hibernate_after", OPT_DURATION_OR_NEVER, D("30m"), "> 0, or never", \
	  "How long an idle lease waits before it is hibernated.", 1, D_MAX, false }, \
	{ SECTION, "warn_before", OPT_DURATION, D("60s"), "> 0", \
	  "How long before its end a lease is warned.", 1, D_MAX, false }, \
	{ SECTION, "linger", OPT_DURATION, D("0s"), ">= 0", \
	  "How long a lease outlives the end of its session.", 0, D_MAX, false }, \
	{ SECTION, "usage", OPT_USAGE, D("hybrid"), "explicit, observed or hybrid", \
	  "What counts as use: beats and commands, what is measured, or either.", 0, 0, false }, \
	{ SECTION, "priority", OPT_INT, D("5"), "0-9", \
	  "What is kept longest: 9 rather than 0.", 0, 9, false }, \
	{ SECTION, "max_priority", OPT_INT, D("7"), "0-9", \
	  "The highest priority that a user may claim.", 0, 9, false }, \
	{ SECTION, "min_ttl", OPT_DURATION, D("none"), "> 0, or none", \
	  "A shorter ttl is raised to this.", 1, D_MAX, true }, \
	{ SECTION, "max_ttl", OPT_DURATION_OR_NEVER, D("7d"), "> 0, or never", \
	  "A longer ttl is capped to this.", 1, D_MAX, false }, \
	{ SECTION, "max_lifetime", OPT_DURATION_OR_NEVER, D("7d"), "> 0, or never", \
	  "How long a lease may live however often it is renewed.", 1, D_MAX, false }, \
	{ SECTION, "hibernated_retention", OPT_DURATION_OR_NEVER, D("7d"), "> 0, or never", \
	  "How long a hibernated lease is kept however often it is renewed.", 1, D_MAX, false }, \
	{ SECTION, "on_expire", OPT_ON_EXPIRE, D("reap"), "reap or snapshot", \
	  "What is done with the workload of a lease that is over, before it is destroyed.", 0, 0, false }

#define RUNTIME_ROW(SECTION, D) \
	{ SECTION, "runtime", OPT_WORD, D("process"), "1-32 of a-z 0-9 _ -, begins with a letter", \
	  "The program that makes, hibernates and removes the workload.", 0, 0, false }

#define CPU_FLOOR_ROW(SECTION, D) \
	{ SECTION, "cpu_floor", OPT_PERCENT, D("1%"), "> 0%, at most 100000%", \
	  "How much of one core, on average between two samples, counts as use.", 1, 1000000000, false }

#define GIVEN(x) x
#define INHERITED(x) NULL

const struct section_kind section_kinds[] = {
	{ "daemon", false, false },
	{ "defaults", false, false },
	{ "surface", true, false },
	{ "profile", true, false },
	{ "runtime", true, true },
	{ "observe", false, false },
	{ "admission", false, false },
	{ "breaker", false, false },
	{ NULL, false, false },
};

const struct option_row option_table[] = {
	{ "daemon", "user", OPT_TEXT, "leasewatch", "a user's name",
	  "The user that the watcher runs as in system mode.", 0, 0, false },
	{ "daemon", "notices", OPT_PATH, NULL, "an absolute path",
	  "The notices tree, where the command line does not say.", 0, 0, false },
	{ "daemon", "archive_keep", OPT_DURATION, "30d", "> 0",
	  "How long locks of leases that are over stay in archive/.", 1, D_MAX, false },
	{ "daemon", "network", OPT_BOOL, "no", "yes or no",
	  "Whether the tree may be on a network file system; it is read every second then.", 0, 0, false },
	LEASE_ROWS("defaults", GIVEN),
	RUNTIME_ROW("defaults", GIVEN),
	LEASE_ROWS("surface", INHERITED),
	LEASE_ROWS("profile", INHERITED),
	RUNTIME_ROW("profile", INHERITED),
	CPU_FLOOR_ROW("profile", INHERITED),
	{ "profile", "image", OPT_LINE, NULL, "what its runtime takes for one",
	  "What the workload is made from, in its runtime's words.", 0, 0, false },
	{ "profile", "command", OPT_LINE, NULL, "a line for /bin/sh -c",
	  "What is run inside, where it is not the image's own.", 0, 0, false },
	{ "profile", "cpu", OPT_CORES, NULL, "0.001-10000 cores",
	  "How many cores it may use at most.", 1, 10000000, false },
	{ "profile", "memory", OPT_BYTES, NULL, "bytes, or with K, M, G or T",
	  "How much memory it may use at most.", 1, INT64_MAX, false },
	{ "profile", "storage", OPT_BYTES, NULL, "bytes, or with K, M, G or T",
	  "How large what it writes to disk may become.", 1, INT64_MAX, false },
	{ "profile", "net", OPT_NET, NULL, "none, engine, or a network's name",
	  "Which network it is on.", 0, 0, false },
	{ "profile", "users", OPT_NAMES, NULL, "names of users",
	  "The users who may name this profile.", 0, 0, false },
	{ "profile", "groups", OPT_NAMES, NULL, "names of groups",
	  "The groups whose members may name this profile.", 0, 0, false },
	{ "observe", "every", OPT_DURATION, "30s", ">= 10ms",
	  "How often use is sampled, while it can change a verdict.", 10 * LEASE_NS_PER_MS, D_MAX, false },
	CPU_FLOOR_ROW("observe", GIVEN),
	{ "admission", "queue_timeout", OPT_DURATION, "10m", "> 0",
	  "How long a request may wait before it is denied.", 1, D_MAX, false },
	{ "admission", "quota_leases", OPT_INT, "1000", "1-1000000, or none",
	  "How many locks a user may have in queue/ and active/ together.", 1, 1000000, true },
	{ "breaker", "share", OPT_SHARE, "0.5", "> 0, at most 1; or a percentage",
	  "No lease is reaped for a silence that more than this share of all sessions share.", 1, 1000000, false },
	{ "breaker", "minimum", OPT_INT, "5", "1-1000000",
	  "Fewer silent sessions than this are reaped, whatever their share.", 1, 1000000, false },
	{ "breaker", "window", OPT_DURATION, "1m", "> 0",
	  "Sessions that would end within this time are silent together.", 1, D_MAX, false },
	{ "breaker", "hold", OPT_DURATION, NULL, "> 0",
	  "How long they are held at most; where it is not said, the ttl of [defaults].", 1, D_MAX, false },
	{ NULL, NULL, OPT_TEXT, NULL, NULL, NULL, 0, 0, false },
};

/* clang-format on */

const struct section_kind *section_kind_find(const char *word)
{
	const struct section_kind *k;

	for (k = section_kinds; k->word; k++)
		if (!strcmp(k->word, word))
			return k;
	return NULL;
}

const struct option_row *option_rows(const char *section, size_t *ret_n)
{
	const struct option_row *row = option_table;
	size_t n = 0;

	while (row->section && strcmp(row->section, section))
		row++;
	while (row[n].section && !strcmp(row[n].section, section))
		n++;
	*ret_n = n;
	return row;
}

const struct option_row *option_find(const char *section, const char *name)
{
	const struct option_row *row;

	for (row = option_table; row->section; row++)
		if (!strcmp(row->section, section) && !strcmp(row->name, name))
			return row;
	return NULL;
}

const struct option_row *option_elsewhere(const char *name)
{
	const struct option_row *row;

	for (row = option_table; row->section; row++)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

/* Levenshtein's distance, over the first WORD bytes of each. */
#define WORD 40

static size_t distance(const char *a, const char *b)
{
	size_t row[WORD + 1], la = strnlen(a, WORD), lb = strnlen(b, WORD), i, j;

	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

const struct section_kind *section_kind_nearest(const char *word)
{
	const struct section_kind *k, *best = section_kinds;

	for (k = section_kinds; k->word; k++)
		if (distance(word, k->word) < distance(word, best->word))
			best = k;
	return best;
}

const struct option_row *option_nearest(const char *section, const char *name)
{
	size_t n, i;
	const struct option_row *rows = option_rows(section, &n), *best = rows;

	for (i = 1; i < n; i++)
		if (distance(name, rows[i].name) < distance(name, best->name))
			best = &rows[i];
	return best;
}
