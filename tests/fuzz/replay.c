/*
 * The main of a fuzz target where there is no fuzzer: runs every file of a corpus through it, once.
 *
 *	fuzz_record [FILE | DIRECTORY]...	without arguments: FUZZ_CORPUS below $srcdir
 */
#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX (1 << 20)

static int replayed;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rbe");
	uint8_t *buf = malloc(INPUT_MAX);
	size_t n;

	if (!f || !buf)
		die(path);
	n = fread(buf, 1, INPUT_MAX, f);
	if (ferror(f))
		die(path);
	fclose(f);
	/* Said before it is run: the last line names the input that crashed. */
	printf("%s\n", path);
	fflush(stdout);
	(void)LLVMFuzzerTestOneInput(buf, n);
	free(buf);
	replayed++;
}

static void replay(const char *path)
{
	char child[PATH_MAX];
	struct dirent *d;
	DIR *dir = opendir(path);

	if (!dir) {
		replay_file(path);
		return;
	}
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		if (snprintf(child, sizeof(child), "%s/%s", path, d->d_name) >= (int)sizeof(child))
			continue;
		replay_file(child);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");
	char corpus[PATH_MAX];

	snprintf(corpus, sizeof(corpus), "%s/%s", srcdir ? srcdir : ".", FUZZ_CORPUS);
	if (argc == 1)
		replay(corpus);
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%d inputs\n", replayed);
	/* An empty corpus would prove nothing. */
	return replayed ? 0 : 1;
}
