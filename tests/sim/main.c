/*
 * tests/sim/main.c: seeds, one after the other, each in a process of its own; and of one that fails, the smallest run
 * that still does.
 */
#include "config.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/world.h"

static const struct {
	const char *name;
	unsigned faults;
} profiles[] = {
	{ "calm", 0 },
	{ "all", F_ALL },
	{ "time", F_TIME | F_STALL },
	{ "crash", F_CRASH | F_BOOT },
	{ "tree", F_TREE | F_TRICKS },
	{ "engine", F_ENGINE | F_CRASH },
	{ "calls", F_CALLS },
	{ NULL, 0 },
}, classes[] = {
	{ "time", F_TIME },	{ "crash", F_CRASH }, { "boot", F_BOOT },   { "tree", F_TREE },	    { "engine", F_ENGINE },
	{ "calls", F_CALLS },	{ "stall", F_STALL }, { "tricks", F_TRICKS }, { NULL, 0 },
};

/* What a run told when it was good. */
struct told {
	uint64_t hash, calls, lines, reaps, turns;
	double simulated;
};

static void usage(FILE *out)
{
	fputs("usage: sim [--profile NAME] [--without CLASS] [--seed N] [--seeds N] [--seconds S | --days D] [--holders N]\n"
	      "           [--twice] [--shrink] [--verbose] [--trace S]\n"
	      "\n"
	      "The whole daemon in a simulated world, which breaks in every way but in what is promised.\n"
	      "\n"
	      "  --profile NAME   calm, all (default), time, crash, tree, engine, calls\n"
	      "  --without CLASS  of all: time, crash, boot, tree, engine, calls, stall or tricks; may repeat\n"
	      "  --seed N         the first seed (default: one is drawn, and printed)\n"
	      "  --seeds N        so many, one after the other\n"
	      "  --seconds S      seeds for so long, by the real clock\n"
	      "  --days D         simulated days a seed (default 1)\n"
	      "  --holders N      how many hold leases at a time (default 60)\n"
	      "  --twice          each seed twice: both runs must be the same to the last call\n"
	      "  --shrink         of a seed that fails: fewer holders, faults and days, until it no longer does\n"
	      "  --verbose        more of what came before\n"
	      "  --trace S        and each call of the daemon, from that second on\n",
	      out);
}

static unsigned find(const char *word, bool profile)
{
	for (int i = 0; profile ? profiles[i].name != NULL : classes[i].name != NULL; i++)
		if (strcmp(profile ? profiles[i].name : classes[i].name, word) == 0)
			return profile ? profiles[i].faults : classes[i].faults;
	errx(2, "%s: no such %s", word, profile ? "profile" : "class of faults");
}

/* 0 = every invariant held. */
static int run(const struct options *o, bool silent, struct told *ret)
{
	struct told t = { 0 };
	int pair[2], status;

	fflush(NULL);
	if (pipe(pair) < 0)
		err(2, "pipe");
	pid_t pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (pid == 0) {
		close(pair[0]);
		if (silent && !freopen("/dev/null", "w", stderr))
			_exit(2);
		int r = world_run(o);
		t = (struct told){ .hash = world.hash, .calls = kernel_calls(), .lines = world.lines, .reaps = world.reaps,
				   .turns = world.turns, .simulated = (double)o->for_ns / SEC };
		if (write(pair[1], &t, sizeof(t)) != (ssize_t)sizeof(t))
			_exit(2);
		exit(r);
	}
	close(pair[1]);
	ssize_t n = read(pair[0], &t, sizeof(t));
	close(pair[0]);
	if (waitpid(pid, &status, 0) != pid)
		err(2, "waitpid");
	if (n == (ssize_t)sizeof(t))
		*ret = t;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_command(const struct options *o)
{
	printf("  tests/sim/sim --seed %llu --holders %d --seconds-simulated %lld", (unsigned long long)o->seed, o->holders,
	       (long long)(o->for_ns / SEC));
	for (int i = 0; classes[i].name; i++)
		if (!(o->faults & classes[i].faults))
			printf(" --without %s", classes[i].name);
	putchar('\n');
}

/* Takes away what the failure does not need. */
static void shrink(struct options *o)
{
	struct told t;
	bool smaller;

	do {
		smaller = false;
		for (int i = 0; classes[i].name; i++) {
			struct options less = *o;
			less.faults &= ~classes[i].faults;
			if (less.faults != o->faults && run(&less, true, &t) != 0) {
				*o = less;
				smaller = true;
			}
		}
		struct options less = *o;
		less.holders = o->holders / 2;
		if (less.holders > 0 && run(&less, true, &t) != 0) {
			*o = less;
			smaller = true;
		}
		less = *o;
		less.for_ns = o->for_ns / 2;
		if (less.for_ns > MINUTE && run(&less, true, &t) != 0) {
			*o = less;
			smaller = true;
		}
		printf("still fails:");
		print_command(o);
		fflush(stdout);
	} while (smaller);
}

static int one(struct options o, bool twice, bool shrinks, struct told *sum)
{
	struct told t = { 0 }, again = { 0 };
	int r = run(&o, false, &t);

	if (r == 0 && twice && (r = run(&o, false, &again)) == 0 && memcmp(&t, &again, sizeof(t)) != 0) {
		fprintf(stderr, "BROKEN determinism: seed %llu: hash %llx and %llx, calls %llu and %llu\n",
			(unsigned long long)o.seed, (unsigned long long)t.hash, (unsigned long long)again.hash,
			(unsigned long long)t.calls, (unsigned long long)again.calls);
		r = 1;
	}
	sum->calls += t.calls;
	sum->lines += t.lines;
	sum->reaps += t.reaps;
	sum->simulated += t.simulated;
	if (r == 0)
		return 0;
	printf("FAILED (%d); again:", r);
	print_command(&o);
	if (shrinks) {
		shrink(&o);
		(void)run(&o, false, &t);
	}
	return r;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "profile", required_argument, NULL, 'p' },  { "without", required_argument, NULL, 'w' },
		{ "seed", required_argument, NULL, 's' },     { "seeds", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 'S' },  { "days", required_argument, NULL, 'd' },
		{ "holders", required_argument, NULL, 'H' },  { "seconds-simulated", required_argument, NULL, 'x' },
		{ "twice", no_argument, NULL, '2' },	      { "shrink", no_argument, NULL, 'k' },
		{ "verbose", no_argument, NULL, 'v' },	      { "help", no_argument, NULL, 'h' },
		{ "trace", required_argument, NULL, 't' },
		{ 0 },
	};
	struct options o = { .holders = 60, .for_ns = DAY, .faults = F_ALL, .trace = NEVER };
	struct timespec begin, t;
	struct told sum = { 0 };
	bool seeded = false, twice = false, shrinks = false;
	long seeds = 1, seconds = 0;
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'p': o.faults = find(optarg, true); break;
		case 'w': o.faults &= ~find(optarg, false); break;
		case 's': o.seed = strtoull(optarg, NULL, 10); seeded = true; break;
		case 'n': seeds = strtol(optarg, NULL, 10); break;
		case 'S': seconds = strtol(optarg, NULL, 10); break;
		case 'd': o.for_ns = (int64_t)(strtod(optarg, NULL) * (double)DAY); break;
		case 'x': o.for_ns = strtoll(optarg, NULL, 10) * SEC; break;
		case 'H': o.holders = (int)strtol(optarg, NULL, 10); break;
		case '2': twice = true; break;
		case 'k': shrinks = true; break;
		case 'v': o.verbose = true; break;
		case 't': o.trace = strtoll(optarg, NULL, 10) * SEC; break;
		case 'h': usage(stdout); return 0;
		default: usage(stderr); return 2;
		}
	}
	if (optind < argc || o.holders < 1 || o.for_ns < MINUTE)
		errx(2, "see --help");
	if (!seeded && getrandom(&o.seed, sizeof(o.seed), 0) == (ssize_t)sizeof(o.seed))
		o.seed %= 1000000000;
	printf("sim: seed %llu, %d holders, %.2f days a seed, faults %#x\n", (unsigned long long)o.seed, o.holders,
	       (double)o.for_ns / DAY, o.faults);
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0;; i++, o.seed++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		if (seconds > 0 ? t.tv_sec - begin.tv_sec >= seconds : i >= seeds) {
			printf("sim: %ld seeds, %.1f days, %llu leases ended, %llu lines, %llu calls: every invariant held\n", i,
			       sum.simulated * SEC / DAY, (unsigned long long)sum.reaps, (unsigned long long)sum.lines,
			       (unsigned long long)sum.calls);
			return 0;
		}
		int r = one(o, twice, shrinks, &sum);
		if (r != 0)
			return r;
	}
}
