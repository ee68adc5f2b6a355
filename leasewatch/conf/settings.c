#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conf/file.h"
#include "conf/parse.h"
#include "lease/duration.h"

int settings_load(const char *path, settings_error *report, void *arg, struct settings **ret)
{
	char *buf = NULL, what[200];
	size_t len = 0;
	int r;

	if (!path)
		return settings_parse("", "", 0, report, arg, ret);
	r = conf_file_read(path, &buf, &len, what);
	if (r < 0) {
		if (r != -ENOENT)
			report(arg, path, 0, what);
		return r;
	}
	r = settings_parse(path, buf, len, report, arg, ret);
	free(buf);
	return r;
}

int settings_load_or_default(const char *path, bool named, settings_error *report, void *arg, struct settings **ret)
{
	int r = settings_load(path, report, arg, ret);

	if (r != -ENOENT || named)
		return r;
	r = settings_load(NULL, report, arg, ret);
	return r < 0 ? r : 1;
}

const struct settings_daemon *settings_daemon(const struct settings *s)
{
	return &s->daemon;
}

static const struct {
	const char *key;
	size_t offset;
} times[] = {
    {"ttl", offsetof(struct policy, ttl)},
    {"renew_grace", offsetof(struct policy, renew_grace)},
    {"hibernate_after", offsetof(struct policy, hibernate_after)},
    {"warn_before", offsetof(struct policy, warn_before)},
    {"linger", offsetof(struct policy, linger)},
    {"min_ttl", offsetof(struct policy, min_ttl)},
    {"max_ttl", offsetof(struct policy, max_ttl)},
    {"max_lifetime", offsetof(struct policy, max_lifetime)},
    {"hibernated_retention", offsetof(struct policy, hibernated_retention)},
    {"cpu_floor", offsetof(struct policy, cpu_floor_ppm)},
};

/*
 * A dropped line can't be told from a logout, so what is bound to a login outlives it for a while, unless the
 * file says otherwise.
 */
#define LOGIN_LINGER (INT64_C(300) * LEASE_NS_PER_S)

static bool is_login(const char *surface)
{
	return strcmp(surface, "sshd") == 0 || strcmp(surface, "login") == 0;
}

int settings_policy(const struct settings *s, const char *surface, const char *profile, struct policy *ret)
{
	struct section *sur = *surface ? section_find(s, "surface", surface) : NULL;
	struct section *pro = *profile ? section_find(s, "profile", profile) : NULL;
	struct policy p = {0};
	size_t i;

	if (*profile && !pro)
		return -ENOENT;
	for (i = 0; i < sizeof(times) / sizeof(*times); i++)
		memcpy((char *)&p + times[i].offset, &value_in_force(s, sur, pro, times[i].key, NULL)->num,
		       sizeof(int64_t));
	if (is_login(surface) && value_in_force(s, sur, pro, "linger", NULL)->line == 0)
		p.linger = LOGIN_LINGER;
	p.priority = (int)value_in_force(s, sur, pro, "priority", NULL)->num;
	p.max_priority = (int)value_in_force(s, sur, pro, "max_priority", NULL)->num;
	p.usage = (enum lease_usage)value_in_force(s, sur, pro, "usage", NULL)->num;
	snprintf(p.runtime, sizeof(p.runtime), "%s", value_in_force(s, sur, pro, "runtime", NULL)->text);
	/* A limit of a nearer section cuts off the ttl of a more general one. */
	(void)lease_ttl_check(p.ttl, p.min_ttl, p.max_ttl, &p.ttl);
	*ret = p;
	return 0;
}

bool settings_snapshot(const struct settings *s, const char *surface, const char *profile)
{
	return value_in_force(s, *surface ? section_find(s, "surface", surface) : NULL,
			      *profile ? section_find(s, "profile", profile) : NULL, "on_expire", NULL)->num != 0;
}

bool settings_profile_known(const struct settings *s, const char *profile)
{
	return section_find(s, "profile", profile) != NULL;
}

const char *settings_profile_text(const struct settings *s, const char *profile, const char *key)
{
	struct section *pro = section_find(s, "profile", profile);

	return pro ? section_value(pro, key)->text : NULL;
}

/* PREFIX_KEY, as the environment has it. */
static void tell_own(const struct section *sec, const char *runtime, const char *prefix, settings_word *each, void *arg)
{
	char key[LEASE_WORD_SIZE + 16];

	for (size_t i = 0; i < sec->n_own; i++) {
		if (strcmp(sec->own[i].runtime, runtime) != 0)
			continue;
		snprintf(key, sizeof(key), "%s_%s", prefix, sec->own[i].key);
		for (char *c = key; *c; c++)
			*c = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
		each(arg, key, sec->own[i].text);
	}
}

int settings_runtime_words(const struct settings *s, const char *runtime, const char *profile, settings_word *each, void *arg)
{
	static const struct {
		const char *key, *name;
		bool number;
	} words[] = {
	    {"image", "PROFILE_IMAGE", false}, {"command", "PROFILE_COMMAND", false}, {"cpu", "PROFILE_CPU", true},
	    {"memory", "PROFILE_MEMORY", true}, {"storage", "PROFILE_STORAGE", true}, {"net", "PROFILE_NET", false},
	};
	struct section *run = section_find(s, "runtime", runtime), *pro = *profile ? section_find(s, "profile", profile) : NULL;
	char number[24];

	if (run)
		tell_own(run, "", "RUNTIME", each, arg);
	if (*profile && !pro)
		return -ENOENT;
	for (size_t i = 0; pro && i < sizeof(words) / sizeof(*words); i++) {
		const struct value *v = section_value(pro, words[i].key);

		snprintf(number, sizeof(number), "%lld", (long long)v->num);
		if (v->text)
			each(arg, words[i].name, words[i].number ? number : v->text);
	}
	if (pro)
		tell_own(pro, runtime, "PROFILE", each, arg);
	return 0;
}

bool settings_list_has(const char *list, const char *name, uint32_t number)
{
	char digits[16];
	size_t n;

	snprintf(digits, sizeof(digits), "%u", number);
	for (; *list; list += strspn(list, ", \t")) {
		n = strcspn(list, ", \t");
		if ((strlen(name) == n && !strncmp(list, name, n)) || (strlen(digits) == n && !strncmp(list, digits, n)))
			return true;
		list += n;
	}
	return false;
}

static void dump_section(const struct section *sec, FILE *out)
{
	size_t n, i;
	const struct option_row *rows = option_rows(sec->kind->word, &n);

	fprintf(out, "[%s%s%s]\n", sec->kind->word, *sec->name ? " " : "", sec->name);
	/* A default stands there as a comment: it gives way to a ttl or limit that the file says, a written
	 * value contradicts it. */
	for (i = 0; i < n; i++)
		if (sec->values[i].text)
			fprintf(out, "%s%s = %s\n", sec->values[i].line > 0 ? "" : "; ", rows[i].name,
				sec->values[i].text);
	for (i = 0; i < sec->n_own; i++)
		fprintf(out, "%s%s%s = %s\n", sec->own[i].runtime, *sec->own[i].runtime ? "." : "", sec->own[i].key,
			sec->own[i].text);
}

void settings_dump(const struct settings *s, FILE *out)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (i > 0)
			fputc('\n', out);
		dump_section(s->sections[i], out);
	}
}
