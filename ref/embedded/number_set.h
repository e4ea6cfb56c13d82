/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of descriptor numbers that any thread may ask at any time. Numbers too
 * large for it are never members.
 */
#ifndef SCIF_EMBEDDED_NUMBER_SET_H
#define SCIF_EMBEDDED_NUMBER_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { NUMBER_SET_MEMBERS = 1 << 20 };

struct number_set {
	_Atomic uint8_t byte[NUMBER_SET_MEMBERS / 8];
};

static inline bool number_set_fits(int number)
{
	return number >= 0 && number < NUMBER_SET_MEMBERS;
}

/* False when it was a member before. */
static inline bool number_set_add(struct number_set *set, int number)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	return !number_set_fits(number) || !(atomic_fetch_or(&set->byte[number / 8], bit) & bit);
}

static inline void number_set_remove(struct number_set *set, int number)
{
	if (number_set_fits(number))
		atomic_fetch_and(&set->byte[number / 8], (uint8_t) ~(1u << number % 8));
}

static inline bool number_set_has(const struct number_set *set, int number)
{
	return number_set_fits(number) && (atomic_load(&set->byte[number / 8]) >> number % 8 & 1);
}

#endif
