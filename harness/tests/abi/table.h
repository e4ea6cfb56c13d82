/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows that compare what the headers give with what they must give.
 */
#ifndef ABI_TABLE_H
#define ABI_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct row {
	const char *what;
	long long is, must_be;
};

#define SIZE(type, bytes)                                                                          \
	{                                                                                          \
		"sizeof(" #type ")", (long long)sizeof(type), bytes                                \
	}
#define OFFSET(type, member, at)                                                                   \
	{                                                                                          \
		"offsetof(" #type ", " #member ")", (long long)offsetof(type, member), at          \
	}
#define MEMBER(type, member, bytes)                                                                \
	{                                                                                          \
		"sizeof(" #type "." #member ")", (long long)sizeof(((type *)NULL)->member), bytes  \
	}
#define FACT(expression)                                                                           \
	{                                                                                          \
#expression, !!(expression), 1                                                     \
	}
#define SAME(left, right)                                                                          \
	{                                                                                          \
#left " is " #right, __builtin_types_compatible_p(left, right), 1                  \
	}

static inline unsigned compare(const struct row *rows, size_t count)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].is == rows[i].must_be)
			continue;
		wrong++;
		printf("%s is %lld, must be %lld\n", rows[i].what, rows[i].is, rows[i].must_be);
	}
	printf("%zu rows, %u wrong\n", count, wrong);
	return wrong;
}

#endif
