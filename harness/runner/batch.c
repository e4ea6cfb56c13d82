/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts cases into batches and takes the output of a batch apart. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"

/* What is kept of a case's output: its beginning. */
#define OUTPUT_LIMIT 65536

bool batch_fits(const struct batch *batch, const struct case_run *run)
{
	return !batch->count || (run->clause->function == batch->clauses[0]->function &&
				 !run->clause->is_long && !batch->clauses[0]->is_long);
}

void batch_add(struct batch *batch, struct case_run *run)
{
	batch->runs[batch->count] = run;
	batch->clauses[batch->count] = run->clause;
	batch->ids[batch->count] = run->clause->id;
	batch->count++;
}

/* Where the output of a case begins, behind the line "== ID"; NULL where there is no such line. */
static const char *find_marker(const char *bytes, size_t length, const char *id)
{
	char *marker = format_text("== %s\n", id);
	const char *found = memmem(bytes, length, marker, strlen(marker));

	if (found)
		found += strlen(marker);
	free(marker);
	return found;
}

char *batch_output(const struct batch *batch, size_t index, const char *bytes, size_t length)
{
	const char *start, *end = bytes + length;
	size_t i;

	if (!length)
		return NULL;
	start = find_marker(bytes, length, batch->ids[index]);
	if (!start)
		start = bytes;
	for (i = 0; i < batch->count; i++) {
		const char *other = find_marker(start, end - start, batch->ids[i]);

		if (other)
			end = other - strlen(batch->ids[i]) - strlen("== \n");
	}
	if (end - start > OUTPUT_LIMIT)
		end = start + OUTPUT_LIMIT;
	return end > start ? printable_text(start, end - start) : NULL;
}
