/* SPDX-License-Identifier: BSD-2-Clause */
/* A few cases of one function that one program runs, one after the other. */
#ifndef CTS_RUNNER_BATCH_H
#define CTS_RUNNER_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "session.h"

#define BATCH_LIMIT 8

struct batch {
	struct case_run *runs[BATCH_LIMIT];
	const struct plan_clause *clauses[BATCH_LIMIT];
	const char *ids[BATCH_LIMIT];
	size_t count;
};

/* Whether a case may run in the program of the batch; a long case has a program of its own. */
bool batch_fits(const struct batch *batch, const struct case_run *run);
void batch_add(struct batch *batch, struct case_run *run);

/*
 * The part of the program's output that belongs to the case at INDEX: what stands behind the line
 * "== ID" that the program writes when it begins with a case.  NULL where that is empty.
 */
char *batch_output(const struct batch *batch, size_t index, const char *bytes, size_t length);

#endif
