/*
 * conf/settings.h: leasewatch.conf, read whole or not at all. One table (options.c) holds each key's section,
 * name, type, range, default and sentence; parser, dump and manual test use it.
 *
 * Who calls: main.c before the fork (once), watcher and actor at SIGHUP, `leasewatch --check`. A file with an error
 * changes nothing: settings_load gives -EINVAL after it has reported every error (`file:line: what`), and the
 * old settings stay in force. INI by libinih. `never` is read here and only here. A section or key that is
 * not in the table is an error that names the nearest one.
 */
#ifndef CONF_SETTINGS_H
#define CONF_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/breaker.h"
#include "core/policy.h"

struct settings; /* opaque: freed whole */

struct settings_daemon {
	char user[LEASE_USER_SIZE]; /* leasewatch */
	int n_notices;
	char notices[8][512];  /* extra trees are a later issue: more than one is an error that says so */
	int64_t archive_keep;  /* 30d */
	bool network;          /* the tree may be on another machine's file system */
	int64_t queue_timeout; /* [admission] queue_timeout */
	int quota_leases;      /* a user's locks in queue/ and active/ together; -1 = none */
	int64_t observe_every; /* [observe] every */
	struct breaker_rule breaker; /* [breaker] */
};

/* line 0: the file as a whole. what is plain ASCII, without a newline. */
typedef void settings_error(void *arg, const char *file, int line, const char *what);

/*
 * path NULL: the defaults alone. A missing file: -ENOENT, not reported (the caller decides whether it was
 * asked for). A file that cannot be read or trusted (not regular, over 1 MiB, another user's, writable by
 * others): reported, -EACCES, -EINVAL, -EFBIG or -EPERM.
 */
int settings_load(const char *path, settings_error *report, void *arg, struct settings **ret);
/* The same for a file that need not be there unless it was named: 1 = there is none, and these are the defaults. */
int settings_load_or_default(const char *path, bool named, settings_error *report, void *arg, struct settings **ret);
void settings_free(struct settings *s);
const struct settings_daemon *settings_daemon(const struct settings *s);
/*
 * The numbers for a lease of this surface and profile ("" = none): defaults < [surface NAME] < [profile
 * NAME]. -ENOENT: no such profile. The record's wishes come on top, by policy_apply_record.
 */
int settings_policy(const struct settings *s, const char *surface, const char *profile, struct policy *ret);
/* Whether what is over is to be copied once more before it is destroyed. */
bool settings_snapshot(const struct settings *s, const char *surface, const char *profile);
bool settings_profile_known(const struct settings *s, const char *profile);
/* What a profile's key says, as it was written; NULL: it does not say it, or there is no such profile. */
const char *settings_profile_text(const struct settings *s, const char *profile, const char *key);
/*
 * What a runtime's program is told: of [profile NAME] (PROFILE_IMAGE, …, and its own RUNTIME.KEY as PROFILE_KEY) and of
 * [runtime NAME] (RUNTIME_KEY). Numbers are whole: cores in thousandths, sizes in bytes. profile "" = none; -ENOENT: there
 * is no such, and only the runtime's words were told.
 */
typedef void settings_word(void *arg, const char *key, const char *value);
int settings_runtime_words(const struct settings *s, const char *runtime, const char *profile, settings_word *each, void *arg);
/* True when a list such as `users` has that name, or that number. */
bool settings_list_has(const char *list, const char *name, uint32_t number);
/* Every key with the value in force, as a file that reads back the same (for --check -v and tests); defaults
 * are commented out. */
void settings_dump(const struct settings *s, FILE *out);

/* The table, for the manual's test and for completions. */
/* clang-format off */
enum option_type {
	OPT_DURATION, OPT_DURATION_OR_NEVER, OPT_INT, OPT_PERCENT, OPT_SHARE, OPT_BOOL, OPT_WORD, OPT_USAGE, OPT_PATH, OPT_TEXT,
	OPT_LINE, OPT_CORES, OPT_BYTES, OPT_NET, OPT_NAMES, OPT_ON_EXPIRE
};
/* clang-format on */
struct option_row {
	const char *section; /* "daemon", "defaults", "surface", "profile", … */
	const char *name;
	enum option_type type;
	const char *deflt; /* as written in a file; NULL = none */
	const char *range; /* for people: "> 0", "0-9", … */
	const char *sentence;
	int64_t min, max; /* durations in ns, percentages and shares in millionths, integers as they are; else 0, 0 */
	bool none;        /* the word `none` may stand for the number: a duration of 0, an integer of -1 */
};
extern const struct option_row option_table[]; /* ends with section NULL */

#endif
