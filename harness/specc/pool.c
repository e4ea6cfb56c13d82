/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list of blocks is all a program needs that runs for a fraction of a second: allocation never
 * fails for the caller and nothing is freed one by one.
 */
#include "pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
	struct block *next;
	max_align_t data[];
};

static struct block *blocks;

void *pool_alloc(size_t size)
{
	struct block *block = calloc(1, sizeof *block + size);

	if (!block) {
		fputs("specc: out of memory\n", stderr);
		exit(2);
	}
	block->next = blocks;
	blocks = block;
	return block->data;
}

char *pool_text(const char *text, size_t length)
{
	char *copy = pool_alloc(length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *pool_printf(const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = pool_alloc((size_t)length + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

void pool_free(void)
{
	while (blocks) {
		struct block *next = blocks->next;

		free(blocks);
		blocks = next;
	}
}

void names_add(struct names *names, const char *name)
{
	if (names->count == names->room) {
		unsigned room = names->room ? 2 * names->room : 8;
		const char **at = pool_alloc(room * sizeof *at);

		if (names->count)
			memcpy(at, names->at, names->count * sizeof *at);
		names->at = at;
		names->room = room;
	}
	names->at[names->count++] = name;
}

int names_find(const struct names *names, const char *name)
{
	for (unsigned i = 0; i < names->count; i++)
		if (!strcmp(names->at[i], name))
			return (int)i;
	return -1;
}

char *names_join(const struct names *names, const char *separator)
{
	char *text = pool_text("", 0);

	for (unsigned i = 0; i < names->count; i++)
		text = pool_printf("%s%s%s", text, i ? separator : "", names->at[i]);
	return text;
}
