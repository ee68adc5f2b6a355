/*
 * stub: what the benches start. It says when its main() was reached, and does nothing else.
 *
 *	stub stamp FILE TAG	as a command: "TAG NS\n" is added to FILE
 *	stub sleep		as a leader: it lives until it is killed
 *	stub VERB		as the runtime `bench` (lease-runtime(7)): a workload that always runs; destroy and resume add
 *				"ID NS\n" to $HOME/stamps
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int stamp(const char *path, const char *tag, const struct timespec *t)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %" PRId64 "\n", tag, (int64_t)t->tv_sec * 1000000000 + t->tv_nsec);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	return fd < 0 || n < 0 || n >= (int)sizeof(line) || write(fd, line, (size_t)n) != n;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "", *home = getenv("HOME"), *id = getenv("LEASE_ID");
	struct timespec now;
	char path[512];

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (!strcmp(verb, "stamp") && argc == 4)
		return stamp(argv[2], argv[3], &now);
	if (!strcmp(verb, "sleep"))
		return pause();
	if (!strcmp(verb, "capabilities"))
		return puts("protocol=1\nhibernate=frozen\nsnapshot=no") == EOF;
	if (!strcmp(verb, "stat"))
		return puts("state=running") == EOF;
	if (!strcmp(verb, "hibernate"))
		return puts("hibernated=frozen") == EOF;
	if (strcmp(verb, "destroy") != 0 && strcmp(verb, "resume") != 0)
		return 0;
	if (!home || !id || snprintf(path, sizeof(path), "%s/stamps", home) >= (int)sizeof(path))
		return 1;
	return stamp(path, id, &now);
}
