/* wire.c: the one check of what passes between watcher and actor, and the names of verbs and outcomes. */
#include "config.h"

#include "wire.h"

#include <stdio.h>
#include <string.h>

#include "lease/duration.h"

/* A fixed field holds a string only when its NUL is inside. */
#define ENDED(field) (memchr(field, '\0', sizeof field) != NULL)

static bool takes_id(uint32_t verb)
{
	return verb != ACT_CAPABILITIES && verb != ACT_LIST && verb != ACT_PERMIT;
}

static bool printable(const char *s)
{
	for (; *s; s++)
		if (*s < 32 || *s > 126)
			return false;
	return true;
}

static bool id_valid(const char id[static LEASE_ID_SIZE], bool wanted)
{
	return wanted ? lease_id_valid(id) : !id[0];
}

bool wire_request_valid(const struct act_request *r)
{
	if (r->magic != WIRE_MAGIC || r->size != sizeof *r || r->verb <= ACT_NONE || r->verb >= ACT_VERBS)
		return false;
	if (!ENDED(r->id) || !ENDED(r->runtime) || !ENDED(r->profile))
		return false;
	if (!id_valid(r->id, takes_id(r->verb)) || (takes_id(r->verb) && !r->generation))
		return false;
	if (!lease_word_valid(r->runtime) || (r->profile[0] && !lease_word_valid(r->profile)))
		return false;
	if (!ENDED(r->about) || !id_valid(r->about, r->verb == ACT_WARN) || r->seconds < 0)
		return false;
	if (r->uid == UINT32_MAX || r->process.pid < 0 || r->tty > (r->verb == ACT_ENTER))
		return false;
	return r->deadline > 0 && r->deadline <= 3600 * LEASE_NS_PER_S;
}

/* Absolute, printable, no part of it "..": the watcher opens files below it. */
static bool cgroup_valid(const char *s)
{
	if (!s[0])
		return true;
	if (s[0] != '/' || !printable(s))
		return false;
	for (const char *p = s; (p = strstr(p, "/..")); p += 3)
		if (p[3] == '/' || !p[3])
			return false;
	return true;
}

/* Words, each ended by NUL, then an empty one. */
static bool argv_valid(const char *argv, size_t size)
{
	for (size_t at = 0; at < size;) {
		const char *nul = memchr(argv + at, '\0', size - at);

		if (!nul)
			return false;
		if (nul == argv + at)
			return true;
		at = (size_t)(nul - argv) + 1;
	}
	return false;
}

bool wire_answer_valid(const struct act_answer *a)
{
	if (a->magic != WIRE_MAGIC || a->size != sizeof *a || a->verb <= ACT_NONE || a->verb >= ACT_VERBS)
		return false;
	if (a->outcome <= ACT_UNKNOWN || a->outcome >= ACT_OUTCOMES || a->state >= ACT_STATES)
		return false;
	if (!ENDED(a->id) || !ENDED(a->cgroup) || !ENDED(a->line) || !argv_valid(a->argv, sizeof a->argv))
		return false;
	if (a->more > 1 || (a->more && (a->verb != ACT_LIST || a->outcome != ACT_DONE)))
		return false;
	if (!id_valid(a->id, takes_id(a->verb) || a->more) || (a->id[0] && !a->generation))
		return false;
	if (a->caps & ~ACT_CAPS || a->flags & ~ACT_FLAG_COLD)
		return false;
	if (a->cpu_usec < -1 || a->memory < -1 || a->net_bytes < -1 || a->tree.pid < 0)
		return false;
	return cgroup_valid(a->cgroup) && printable(a->line);
}

const char *act_verb_name(enum act_verb v)
{
	static const char *const name[ACT_VERBS] = {
	    [ACT_NONE] = "none",         [ACT_CAPABILITIES] = "capabilities", [ACT_CREATE] = "create",
	    [ACT_STAT] = "stat",         [ACT_HIBERNATE] = "hibernate",       [ACT_RESUME] = "resume",
	    [ACT_SNAPSHOT] = "snapshot", [ACT_DESTROY] = "destroy",           [ACT_LIST] = "list",
	    [ACT_ENTER] = "enter",       [ACT_WARN] = "warn",
	    [ACT_PERMIT] = "permit",
	};

	return (unsigned)v < ACT_VERBS ? name[v] : "?";
}

const char *act_outcome_name(enum act_outcome o)
{
	static const char *const name[ACT_OUTCOMES] = {
	    [ACT_UNKNOWN] = "unknown", [ACT_DONE] = "done",     [ACT_LATER] = "later",
	    [ACT_ABSENT] = "absent",   [ACT_FAILED] = "failed", [ACT_TIMEOUT] = "timeout",
	    [ACT_REFUSED] = "refused",
	};

	return (unsigned)o < ACT_OUTCOMES ? name[o] : "?";
}

void caps_words(uint32_t caps, const char *why, char *buf, size_t size)
{
	(void)snprintf(buf, size, "hibernate %s%s%.100s%s, snapshot %s, exec %s",
		       caps & ACT_CAP_HIBERNATE_DISK	 ? "to disk"
		       : caps & ACT_CAP_HIBERNATE_FROZEN ? "frozen"
							 : "none",
		       why[0] ? " (" : "", why, why[0] ? ")" : "", caps & ACT_CAP_SNAPSHOT ? "yes" : "no",
		       caps & ACT_CAP_ENTER ? "yes" : "no");
}
