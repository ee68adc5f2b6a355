/*
 * rig.h: an actor to talk to: its own process over a socketpair, stub runtimes in a scratch folder, a stub
 * watcher to be signalled.
 */
#ifndef TESTS_OS_RIG_H
#define TESTS_OS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actor.h"
#include "wire.h"

#define MS INT64_C(1000000)
#define PATIENCE_MS 10000 /* what is waited for comes much earlier, or the test fails */

struct rig {
	char top[64];
	pid_t actor;
	int peer;  /* the watcher's end */
	int heard; /* the stub watcher writes a byte here for each signal: 'h' SIGHUP, 't' SIGTERM */
	uint64_t serial;
	bool user_mode;
	int watcher_exit; /* what the stub does by itself: -1 nothing, else exits with it at once */
};

int rig_setup(void **state);
int rig_teardown(void **state);
void rig_start(struct rig *g);
/* The actor's exit status; waits. */
int rig_end(struct rig *g);
/* runtimes/NAME, a shell script with this body. */
void rig_runtime(const struct rig *g, const char *name, const char *body);
/* The configuration, read at rig_start and again at SIGHUP. */
void rig_conf(const struct rig *g, const char *text);
void rig_path(const struct rig *g, char path[256], const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool rig_exists(const struct rig *g, const char *name);
void rig_read(const struct rig *g, const char *name, char *buf, size_t size);

/* A good request, for one lease and runtime; send it with rig_send. */
struct act_request rig_request(struct rig *g, enum act_verb verb, const char *runtime, const char *id);
void rig_send(const struct rig *g, const struct act_request *r);
/* The next answer. false: end of file. */
bool rig_answer(const struct rig *g, struct act_answer *a);
/* Both, for one act: the answer must be its own. */
void rig_act(struct rig *g, enum act_verb verb, const char *runtime, const char *id, struct act_answer *a);

/* A runtime of this body, its outcome of a resume, and what the answer's line says. */
void rig_expect(struct rig *g, const char *runtime, const char *body, enum act_outcome outcome,
		const char *line);

#define ID_A "kls-aaaaaaaaaa"
#define ID_B "kls-bbbbbbbbbb"

#endif
