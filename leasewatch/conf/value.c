#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/value.h"
#include "lease/duration.h"

#define PPM 1000000
#define PPM_PER_PERCENT (PPM / 100)

const char *value_quote(char buf[VALUE_QUOTE_SIZE], const char *s)
{
	size_t i;

	for (i = 0; s[i] && i < VALUE_QUOTE_SIZE - 4; i++)
		buf[i] = s[i] >= ' ' && s[i] <= '~' ? s[i] : '?';
	if (s[i]) {
		memcpy(buf + i, "...", 3);
		i += 3;
	}
	buf[i] = '\0';
	return buf;
}

static int wrong(char what[VALUE_WHAT_SIZE], const char *text, const char *is, const char *right)
{
	char q[VALUE_QUOTE_SIZE];

	/* inih knows the comment after a value by ';' only: who writes '#' there would puzzle over "is no
	 * duration". */
	if (strstr(text, " #") || strstr(text, "\t#"))
		right = "a comment after a value begins with a blank and ;";
	snprintf(what, VALUE_WHAT_SIZE, "'%s' %s: %s", value_quote(q, text), is, right);
	return -EINVAL;
}

static int out_of_range(const struct option_row *row, const char *text, char what[VALUE_WHAT_SIZE])
{
	char q[VALUE_QUOTE_SIZE];

	snprintf(what, VALUE_WHAT_SIZE, "'%s' is out of range: it must be %s", value_quote(q, text),
		 row->range);
	return -EINVAL;
}

/* Zero without a unit, too: what it could mean is asked before how it is spelled. */
static int zero(const struct option_row *row, char what[VALUE_WHAT_SIZE])
{
	const char *word = row->type == OPT_DURATION_OR_NEVER ? "write never, or "
			   : row->none                        ? "write none, or "
							      : "write ";

	snprintf(what, VALUE_WHAT_SIZE, "0 could mean never or at once: %sa time longer than 0", word);
	return -EINVAL;
}

static int duration_value(const struct option_row *row, const char *text, int64_t *ret,
			  char what[VALUE_WHAT_SIZE])
{
	int64_t ns = 0;
	int r;

	if (!strcmp(text, "never")) {
		if (row->type != OPT_DURATION_OR_NEVER) {
			snprintf(what, VALUE_WHAT_SIZE, "never is not for this key: write a time %s",
				 row->range);
			return -EINVAL;
		}
		*ret = LEASE_NEVER;
		return 0;
	}
	if (strspn(text, "0") == strlen(text)) {
		if (row->min > 0)
			return zero(row, what);
		return wrong(what, text, "has no unit", "write 0s");
	}
	if (strspn(text, "0123456789") == strlen(text))
		return wrong(what, text, "has no unit", "write one behind it: ms, s, m, h or d");
	r = lease_duration_parse(text, &ns);
	if (r == -ERANGE)
		return wrong(what, text, "is longer than ten years", "is it a typing error?");
	if (r < 0)
		return wrong(what, text, "is no duration",
			     "write a whole number and a unit, like 500ms 90s 5m 2h 7d");
	/* The one check of a ttl; the other times have the same rule for zero. */
	if (row->min > 0 && lease_ttl_check(ns, 0, LEASE_NEVER, &ns) == LEASE_TTL_ZERO)
		return zero(row, what);
	if (ns < row->min || ns > row->max)
		return out_of_range(row, text, what);
	*ret = ns;
	return 0;
}

static int int_value(const struct option_row *row, const char *text, int64_t *ret, char what[VALUE_WHAT_SIZE])
{
	const char *error;
	int64_t n;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return wrong(what, text, "is no whole number", row->range);
	n = strtonum(text, row->min, row->max, &error);
	if (error && row->none && strspn(text, "0") == strlen(text)) {
		snprintf(what, VALUE_WHAT_SIZE,
			 "0 could mean no limit or nothing at all: write none, or a number above 0");
		return -EINVAL;
	}
	if (error)
		return out_of_range(row, text, what);
	*ret = n;
	return 0;
}

/* "1%", "0.5%": up to four digits behind the point, so that it comes out even in millionths. */
static int percent_value(const struct option_row *row, const char *text, int64_t *ret,
			 char what[VALUE_WHAT_SIZE])
{
	static const char right[] =
	    "write a number and %, like 1% or 0.5% (at most four digits behind the point)";
	const char *p = text;
	int64_t n = 0, unit = PPM_PER_PERCENT;

	if (!isdigit((unsigned char)*p))
		return wrong(what, text, "is no percentage", right);
	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (*p - '0');
		if (n > row->max)
			return out_of_range(row, text, what);
	}
	n *= PPM_PER_PERCENT;
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p) && unit > 1; p++) {
			unit /= 10;
			n += (*p - '0') * unit;
		}
		if (unit == PPM_PER_PERCENT)
			return wrong(what, text, "is no percentage", right);
	}
	if (strcmp(p, "%"))
		return wrong(what, text, "is no percentage", right);
	if (n < row->min || n > row->max)
		return out_of_range(row, text, what);
	*ret = n;
	return 0;
}

/* "0.5", or "50%": up to six digits behind the point. */
static int share_value(const struct option_row *row, const char *text, int64_t *ret, char what[VALUE_WHAT_SIZE])
{
	static const char right[] = "write a number up to 1, like 0.5, or a percentage, like 50%";
	const char *p = text;
	int64_t n = 0, unit = PPM;

	if (*text && text[strlen(text) - 1] == '%')
		return percent_value(row, text, ret, what);
	if (!isdigit((unsigned char)*p))
		return wrong(what, text, "is no share", right);
	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (*p - '0');
		if (n > row->max / PPM)
			return out_of_range(row, text, what);
	}
	n *= PPM;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p) && unit > 1; p++) {
			unit /= 10;
			n += (*p - '0') * unit;
		}
	if (*p || p[-1] == '.')
		return wrong(what, text, "is no share", right);
	if (n < row->min || n > row->max)
		return out_of_range(row, text, what);
	*ret = n;
	return 0;
}

/* A number with a fraction of up to three digits, in thousandths. */
static int cores_value(const struct option_row *row, const char *text, int64_t *ret, char what[VALUE_WHAT_SIZE])
{
	static const char right[] = "write a number such as 2 or 0.5 (at most three digits behind the point)";
	const char *p = text;
	int64_t n = 0, unit = 1000;

	if (!isdigit((unsigned char)*p))
		return wrong(what, text, "is no number of cores", right);
	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (*p - '0');
		if (n > row->max)
			return out_of_range(row, text, what);
	}
	n *= unit;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p) && unit > 1; p++) {
			unit /= 10;
			n += (*p - '0') * unit;
		}
	if (*p || p[-1] == '.')
		return wrong(what, text, "is no number of cores", right);
	if (n < row->min || n > row->max)
		return out_of_range(row, text, what);
	*ret = n;
	return 0;
}

static int bytes_value(const struct option_row *row, const char *text, int64_t *ret, char what[VALUE_WHAT_SIZE])
{
	static const char units[] = "KMGT";
	const char *p = text, *unit;
	int64_t n = 0;

	if (!isdigit((unsigned char)*p))
		return wrong(what, text, "is no size", "write a whole number and K, M, G or T, like 512M");
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
			return out_of_range(row, text, what);
	unit = *p ? strchr(units, *p) : NULL;
	if (*p && (!unit || p[1]))
		return wrong(what, text, "is no size", "write a whole number and K, M, G or T, like 512M");
	for (; unit && unit >= units; unit--)
		if (__builtin_mul_overflow(n, 1024, &n))
			return out_of_range(row, text, what);
	if (n < row->min)
		return out_of_range(row, text, what);
	*ret = n;
	return 0;
}

static bool name_valid(const char *s, size_t n)
{
	return n > 0 && n < LEASE_USER_SIZE && *s != '-' &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@+$\\-") >= n;
}

static int names_value(const char *text, char what[VALUE_WHAT_SIZE])
{
	size_t n;

	for (; *text; text += strspn(text, ", \t")) {
		n = strcspn(text, ", \t");
		if (!name_valid(text, n))
			return wrong(what, text, "is no list of names", "names with blanks or commas between them");
		text += n;
	}
	return 0;
}

static int path_value(const char *text, char what[VALUE_WHAT_SIZE])
{
	const struct settings_daemon *d = NULL;

	if (*text != '/')
		return wrong(what, text, "is not absolute",
			     "a path begins with / (~ and $HOME mean nothing here)");
	if (strlen(text) >= sizeof(d->notices[0]))
		return wrong(what, text, "is too long", "a path is at most 511 bytes");
	return 0;
}

int value_parse(const struct option_row *row, const char *text, int64_t *ret, char what[VALUE_WHAT_SIZE])
{
	enum lease_usage usage;

	if (row->none && !strcmp(text, "none")) {
		*ret = row->type == OPT_INT ? -1 : 0;
		return 0;
	}
	switch (row->type) {
	case OPT_DURATION:
	case OPT_DURATION_OR_NEVER:
		return duration_value(row, text, ret, what);
	case OPT_INT:
		return int_value(row, text, ret, what);
	case OPT_PERCENT:
		return percent_value(row, text, ret, what);
	case OPT_BOOL:
		if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
			return wrong(what, text, "is neither yes nor no", row->range);
		*ret = strcmp(text, "yes") == 0;
		return 0;
	case OPT_SHARE:
		return share_value(row, text, ret, what);
	case OPT_USAGE:
		if (lease_usage_parse(text, &usage) < 0)
			return wrong(what, text, "is no source of use", "write explicit, observed or hybrid");
		*ret = usage;
		return 0;
	case OPT_WORD:
		if (!lease_word_valid(text))
			return wrong(what, text, "is no name", row->range);
		break;
	case OPT_PATH:
		if (path_value(text, what) < 0)
			return -EINVAL;
		break;
	case OPT_LINE:
		break;
	case OPT_CORES:
		return cores_value(row, text, ret, what);
	case OPT_BYTES:
		return bytes_value(row, text, ret, what);
	case OPT_NET:
		if (!name_valid(text, strlen(text)))
			return wrong(what, text, "is no network's name", row->range);
		break;
	case OPT_NAMES:
		if (names_value(text, what) < 0)
			return -EINVAL;
		break;
	case OPT_ON_EXPIRE:
		if (strcmp(text, "reap") != 0 && strcmp(text, "snapshot") != 0)
			return wrong(what, text, "is neither reap nor snapshot", row->range);
		*ret = strcmp(text, "snapshot") == 0;
		return 0;
	case OPT_TEXT:
		if (strlen(text) >= LEASE_USER_SIZE || strpbrk(text, " \t:/") || *text == '-')
			return wrong(what, text, "is no user's name",
				     "1-64 bytes without blanks, ':' and '/'");
		break;
	}
	*ret = 0;
	return 0;
}
