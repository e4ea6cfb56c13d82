/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte patterns that both sides of a test can make and recognise, and the hash by which a side
 * tells the other what it got without sending it.
 */
#ifndef CTS_PATTERN_H
#define CTS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

unsigned char cts_pattern(unsigned seed, size_t at);
void cts_fill_at(void *p, size_t n, unsigned seed, size_t from);
bool cts_is_pattern_at(const void *p, size_t n, unsigned seed, size_t from);
bool cts_is_byte(const void *p, size_t n, int value);
uint64_t cts_hash(const void *p, size_t n); /* FNV-1a */
uint64_t cts_hash_pattern(size_t n, unsigned seed, size_t from);

#endif
