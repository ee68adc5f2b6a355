/*
 * lease/record.h: what a lock file says. All of it is a claim by the file's owner: the daemon reads it once,
 * caps it and freezes it.
 *
 * Keys: id surface session profile runtime ttl linger usage priority pid pid_start leader leader_start boot run
 * kind waiter waiter_start label (k=v, may repeat). notices(5) has a sentence for each. An unknown key, a key
 * twice (but label), a bad value: an error with its line. Nothing is guessed.
 */
#ifndef LEASE_RECORD_H
#define LEASE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "lease/id.h"
#include "lease/kv.h"
#include "lease/name.h"

#define LEASE_WORD_SIZE 33 /* runtime, profile: 1-32 of [a-z0-9_-], begins with a letter */
#define LEASE_BOOT_SIZE 37
#define LEASE_LABELS_MAX 16
/* "key=value": key 1-31 of [a-z0-9_.-] beginning with a letter; value free text without control bytes */
#define LEASE_LABEL_SIZE 128

enum lease_usage { LEASE_USAGE_UNSET, LEASE_USAGE_EXPLICIT, LEASE_USAGE_OBSERVED, LEASE_USAGE_HYBRID };

/* A process as it is named on disk: its number alone proves nothing, with its start time and the boot id it does. */
struct lease_process {
	int32_t pid;	/* 0 = none */
	uint64_t start; /* field 22 of /proc/PID/stat, clock ticks since boot */
};

struct lease_record {
	char id[LEASE_ID_SIZE];
	char surface[LEASE_SURFACE_SIZE];
	char session[LEASE_ID_SIZE];	/* "" = bound to none */
	char profile[LEASE_WORD_SIZE];	/* "" = not said */
	char runtime[LEASE_WORD_SIZE];	/* "" = not said */
	int64_t ttl;			/* ns; 0 = not said */
	int64_t linger;			/* ns; -1 = not said */
	enum lease_usage usage;
	int priority;			/* 0-9; -1 = not said */
	struct lease_process workload;	/* runtime process: the gated child that create adopts */
	struct lease_process leader;	/* while it lives, it renews */
	struct lease_process waiter;	/* `create --wait`: dies => the request is withdrawn */
	char boot[LEASE_BOOT_SIZE];	/* the boot the processes belong to */
	bool is_session;		/* kind=session: a login's or an agent's own lease; it has no workload */
	bool run;			/* klease run: the command's life is use, the leader's death ends the lease */
	int n_labels;
	char labels[LEASE_LABELS_MAX][LEASE_LABEL_SIZE];
};

/* All fields "not said". */
void lease_record_init(struct lease_record *r);
bool lease_word_valid(const char *s);  /* a runtime's or profile's name */
bool lease_label_valid(const char *s); /* "key=value" */
const char *lease_usage_name(enum lease_usage u);	   /* "explicit", …; "" for UNSET */
int lease_usage_parse(const char *s, enum lease_usage *ret); /* -EINVAL */
/* 0 and the length, or -EINVAL (a field that parse would refuse) or -ENOSPC. Writes only what was said. */
int lease_record_format(const struct lease_record *r, char *buf, size_t size, size_t *ret_len);
/*
 * -ENODATA: no header of ours (a bare lock or rubbish); -EINVAL: ours, but wrong, and err says where and what
 * to do. *r is filled on success only. A record without id is fine (the name has it); with one that differs
 * from the name's, the caller refuses.
 */
int lease_record_parse(const char *buf, size_t len, struct lease_record *r, struct lease_error *err);

#endif
