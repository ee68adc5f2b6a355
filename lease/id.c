#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lease/id.h"
#include "lease/text.h"

#define PREFIX "kls-"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

void lease_id_make(char id[LEASE_ID_SIZE])
{
	/* 32 letters: five bits of each byte pick one, so all are equally likely. */
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char random[LEASE_ID_SIZE - 1 - PREFIX_LEN];

	arc4random_buf(random, sizeof(random));
	memcpy(id, PREFIX, PREFIX_LEN);
	for (size_t i = 0; i < sizeof(random); i++)
		id[PREFIX_LEN + i] = alphabet[random[i] & 31];
	id[LEASE_ID_SIZE - 1] = '\0';
}

bool lease_id_valid(const char *s)
{
	if (strncmp(s, PREFIX, PREFIX_LEN) != 0)
		return false;
	for (size_t i = PREFIX_LEN; i < LEASE_ID_SIZE - 1; i++)
		if (!lease_is_lower(s[i]) && !(s[i] >= '2' && s[i] <= '7'))
			return false;
	return s[LEASE_ID_SIZE - 1] == '\0';
}
