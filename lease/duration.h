/*
 * lease/duration.h: durations as people write them (`500ms 90s 5m 2h 7d`), and the one check of a ttl.
 *
 * Units inside the program: nanoseconds in an int64_t, always. LEASE_NEVER stands for the word `never`, which only an
 * administrator's file may say: lease_duration_parse refuses it, conf/ reads it by itself.
 */
#ifndef LEASE_DURATION_H
#define LEASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#define LEASE_NS_PER_MS INT64_C(1000000)
#define LEASE_NS_PER_S INT64_C(1000000000)
#define LEASE_NEVER INT64_MAX
#define LEASE_DURATION_MAX (INT64_C(3650) * 86400 * LEASE_NS_PER_S) /* ten years: what is longer is a typing error */
#define LEASE_DURATION_SIZE 32

/*
 * "1500ms", "90s", "5m", "2h", "7d", "0s": digits (no sign, no fraction, no blank), then a unit. A bare number
 * is refused: nobody knows its unit. 0, or -EINVAL (not a duration), -ERANGE (longer than LEASE_DURATION_MAX);
 * *ret is set on success only.
 */
int lease_duration_parse(const char *s, int64_t *ret);
/*
 * The shortest exact spelling that parse reads back ("90s", "5m", "800ms"; below 1 ms is rounded up to 1 ms),
 * or "never".
 */
void lease_duration_format(char buf[LEASE_DURATION_SIZE], int64_t ns);
/*
 * For people, after a verb ("287 s", "800 ms", "12 m", "3 h", "2 d"): a whole number, a blank, a unit; rounded
 * down, never below 0.
 */
void lease_duration_human(char buf[LEASE_DURATION_SIZE], int64_t ns);

enum lease_ttl_verdict {
	LEASE_TTL_OK,	  /* *ret is the ttl asked for */
	LEASE_TTL_CAPPED, /* longer than max: *ret is max */
	LEASE_TTL_RAISED, /* shorter than min: *ret is min */
	LEASE_TTL_ZERO,	  /* zero or less: refused, *ret untouched */
};
/*
 * The one check of a ttl, for every way in (a record, an option of klease or pam_lease, a key of the configuration):
 * 0 < ttl, min <= ttl <= max. min 0 = none; max LEASE_NEVER = none.
 */
enum lease_ttl_verdict lease_ttl_check(int64_t ttl, int64_t min, int64_t max, int64_t *ret);

#endif
