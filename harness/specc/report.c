/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects complaints and prints them sorted; the same complaint about the same line once only. */
#include "report.h"

#include "pool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct complaint {
	const char *file;
	int line;
	const char *text;
};

static struct complaint *complaints;
static unsigned count, room;

static void grow(void)
{
	unsigned wanted = room ? 2 * room : 32;
	struct complaint *bigger = pool_alloc(wanted * sizeof *bigger);

	if (count)
		memcpy(bigger, complaints, count * sizeof *bigger);
	complaints = bigger;
	room = wanted;
}

void report(const char *file, int line, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (count == room)
		grow();
	complaints[count++] = (struct complaint){file, line, pool_text(text, strlen(text))};
}

unsigned report_count(void)
{
	return count;
}

unsigned report_count_of(const char *file)
{
	unsigned number = 0;

	for (unsigned i = 0; i < count; i++)
		number += !strcmp(complaints[i].file, file);
	return number;
}

static int by_place(const void *left, const void *right)
{
	const struct complaint *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->text, b->text);
}

void report_print(FILE *stream, const char *file)
{
	if (count)
		qsort(complaints, count, sizeof *complaints, by_place);
	for (unsigned i = 0; i < count; i++) {
		const struct complaint *c = &complaints[i];

		if (file && strcmp(c->file, file))
			continue;
		if (i && !by_place(c, c - 1))
			continue;
		fprintf(stream, "%s:%d: %s\n", c->file, c->line, c->text);
	}
}
