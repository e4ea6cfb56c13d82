/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte patterns: see pattern.h. */
#include "pattern.h"

#define FNV_START 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/* 251 is prime, so a block that lands at a wrong page, line or word boundary does not match by
 * luck. */
unsigned char cts_pattern(unsigned seed, size_t at)
{
	return (unsigned char)(seed * 37 + at % 251 + at / 251 * 7);
}

void cts_fill_at(void *p, size_t n, unsigned seed, size_t from)
{
	unsigned char *bytes = p;

	for (size_t i = 0; i < n; i++)
		bytes[i] = cts_pattern(seed, from + i);
}

bool cts_is_pattern_at(const void *p, size_t n, unsigned seed, size_t from)
{
	const unsigned char *bytes = p;

	for (size_t i = 0; i < n; i++)
		if (bytes[i] != cts_pattern(seed, from + i))
			return false;
	return true;
}

bool cts_is_byte(const void *p, size_t n, int value)
{
	const unsigned char *bytes = p;

	for (size_t i = 0; i < n; i++)
		if (bytes[i] != (unsigned char)value)
			return false;
	return true;
}

uint64_t cts_hash(const void *p, size_t n)
{
	const unsigned char *bytes = p;
	uint64_t hash = FNV_START;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * FNV_PRIME;
	return hash;
}

uint64_t cts_hash_pattern(size_t n, unsigned seed, size_t from)
{
	uint64_t hash = FNV_START;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ cts_pattern(seed, from + i)) * FNV_PRIME;
	return hash;
}
