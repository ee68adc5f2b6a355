/*
 * Fuzzes lease_record_parse: what users write is read by the daemon.
 *
 * Properties: no crash and no byte read beyond the text; a refusal has a sentence in plain ASCII and a line
 * that exists; what is taken can be written, is read back as the same record, and is then written as the
 * same bytes.
 *
 * `make check` replays corpus/record through replay.c, with any compiler. To look for more, with clang, from
 * the top folder:
 *
 *	clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
 *		-iquote . -iquote BUILD tests/fuzz/fuzz_record.c \
 *		lease/record.c lease/kv.c lease/text.c lease/duration.c lease/id.c lease/name.c -o fuzz
 *	./fuzz -dict=tests/fuzz/record.dict -max_len=4200 new-corpus tests/fuzz/corpus/record
 *
 * BUILD is where config.h is. What it finds goes into corpus/record under a name that says what it is.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lease/record.h"
#include "tests/fuzz/fuzz.h"

static void need(int ok)
{
	if (!ok)
		abort();
}

static void check_error(const char *text, size_t len, const struct lease_error *err)
{
	size_t n = strnlen(err->what, sizeof(err->what));
	int lines = 1;

	need(n > 0 && n < sizeof(err->what));
	for (size_t i = 0; i < n; i++)
		need(err->what[i] >= ' ' && err->what[i] <= '~');
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	need(err->line >= 0 && err->line <= lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char first[LEASE_FILE_MAX], second[LEASE_FILE_MAX];
	struct lease_record r, back;
	struct lease_error err;
	size_t first_len, second_len;
	char *text = malloc(len ? len : 1); /* of the very size, so that a sanitizer sees a byte too many */
	int e;

	need(text != NULL);
	memcpy(text, data, len);
	memset(&err, 0, sizeof(err));
	e = lease_record_parse(text, len, &r, &err);
	need(e == 0 || e == -EINVAL || e == -ENODATA || e == -EPROTO);
	if (e < 0) {
		check_error(text, len, &err);
		free(text);
		return 0;
	}
	need(lease_record_format(&r, first, sizeof(first), &first_len) == 0);
	need(lease_record_parse(first, first_len, &back, &err) == 0);
	need(memcmp(&r, &back, sizeof(r)) == 0);
	need(lease_record_format(&back, second, sizeof(second), &second_len) == 0);
	need(first_len == second_len && memcmp(first, second, first_len) == 0);
	free(text);
	return 0;
}
