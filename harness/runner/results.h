/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of an earlier run, as a results.json or as a list of verdicts. */
#ifndef CTS_RUNNER_RESULTS_H
#define CTS_RUNNER_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "environment.h"
#include "record.h"

struct result {
	char *id, *kind; /* kind is "" unless the verdict is FAIL */
	enum verdict verdict;
};

struct results {
	json_t *root; /* NULL for a list of verdicts */
	char *profile;
	struct environment_class environment;
	struct result *results; /* sorted by id */
	size_t count;
};

/* PATH may be the folder of a results.json.  Returns 0, or EXIT_USAGE after a line on stderr; to be
 * freed either way. */
int results_load(struct results *results, const char *path);
const struct result *results_find(const struct results *results, const char *id);
/* The verdict, and the kind of a FAIL behind it; to be freed. */
char *result_text(const struct result *result);
void results_free(struct results *results);

/* Prints the list of verdicts that results_load() reads. */
void results_print_verdicts(FILE *stream, const struct results *results);

#endif
