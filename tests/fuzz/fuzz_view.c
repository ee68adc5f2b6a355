/*
 * Fuzzes the parsers of the small files beside the locks: a view (state/ID), an answer (state/ask-ID), an ask
 * (queue/ask-ID, which any user writes), a beacon (notices/.leasewatch), a twin (sessions/ID).
 *
 * Properties, for each of them: no crash and no byte read beyond the text; a refusal has a sentence in plain ASCII and a
 * line that exists; what is taken can be written, is read back as the same struct, and is then written as the same bytes.
 *
 * `make check` replays corpus/view through replay.c, with any compiler. To look for more, with clang, from the top folder:
 *
 *	clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
 *		-iquote . -iquote leasewatch -iquote BUILD tests/fuzz/fuzz_view.c leasewatch/core/?*.c \
 *		lease/record.c lease/kv.c lease/text.c lease/duration.c lease/id.c lease/name.c lease/beacon.c \
 *		lease/twin.c lease/fields.c -o fuzz
 *	./fuzz -dict=tests/fuzz/view.dict -max_len=16500 new-corpus tests/fuzz/corpus/view
 *
 * BUILD is where config.h is. What it finds goes into corpus/view under a name that says what it is.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/view.h"
#include "lease/beacon.h"
#include "lease/twin.h"
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

#define ROUND_TRIP(type, parse, format, max)                                                                 \
	static void round_trip_##type(const char *text, size_t len)                                          \
	{                                                                                                    \
		static char first[max], second[max];                                                         \
		static struct type one, two;                                                                 \
		struct lease_error err = { .line = -1 };                                                     \
		size_t first_len, second_len;                                                                \
                                                                                                             \
		int r = parse(text, len, &one, &err);                                                        \
		need(r == 0 || r == -EINVAL || r == -ENODATA || r == -EPROTO);                               \
		if (r < 0) {                                                                                 \
			check_error(text, len, &err);                                                        \
			return;                                                                              \
		}                                                                                            \
		need(format(&one, first, sizeof(first), &first_len) == 0);                                   \
		need(parse(first, first_len, &two, &err) == 0);                                              \
		need(format(&two, second, sizeof(second), &second_len) == 0);                                \
		need(first_len == second_len && memcmp(first, second, first_len) == 0);                      \
	}

ROUND_TRIP(view, view_parse, view_format, LEASE_STATE_FILE_MAX)
ROUND_TRIP(ask_answer, ask_answer_parse, ask_answer_format, LEASE_FILE_MAX)
ROUND_TRIP(ask, ask_parse, ask_format, LEASE_FILE_MAX)
ROUND_TRIP(lease_beacon, lease_beacon_parse, lease_beacon_format, LEASE_FILE_MAX)
ROUND_TRIP(lease_twin, lease_twin_parse, lease_twin_format, LEASE_FILE_MAX)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len ? len : 1); /* of the very size, so that a sanitizer sees a byte too many */

	need(text != NULL);
	memcpy(text, data, len);
	round_trip_view(text, len);
	round_trip_ask_answer(text, len);
	round_trip_ask(text, len);
	round_trip_lease_beacon(text, len);
	round_trip_lease_twin(text, len);
	free(text);
	return 0;
}
