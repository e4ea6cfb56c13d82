/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts diff-verdicts and scif-cts verdicts.  Results of one environment class must agree in
 * every verdict; where the classes differ, a clause may be UNTESTED on one side.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "format.h"
#include "results.h"

static bool is_untested(const struct result *result)
{
	return result && result->verdict == VERDICT_UNTESTED;
}

/* Prints how one clause differs; returns 1 where that is a difference that counts. */
static size_t compare_clause(const struct result *a, const struct result *b, bool same_class)
{
	char *text_a = a ? result_text(a) : copy_text("(no record)");
	char *text_b = b ? result_text(b) : copy_text("(no record)");
	bool differs = strcmp(text_a, text_b) != 0;
	bool excused = differs && !same_class && a && b && (is_untested(a) || is_untested(b));

	if (differs && !excused)
		printf("%s: %s, now %s\n", a ? a->id : b->id, text_a, text_b);
	free(text_a);
	free(text_b);
	return differs && !excused;
}

static size_t compare_all(const struct results *a, const struct results *b, bool same_class)
{
	size_t differences = 0, i;

	for (i = 0; i < a->count; i++)
		differences += compare_clause(&a->results[i], results_find(b, a->results[i].id),
					      same_class);
	for (i = 0; i < b->count; i++) {
		if (!results_find(a, b->results[i].id))
			differences += compare_clause(NULL, &b->results[i], same_class);
	}
	return differences;
}

static void note_classes(const struct results *a, const struct results *b)
{
	char *text_a = environment_class_text(&a->environment);
	char *text_b = environment_class_text(&b->environment);

	printf("environment classes differ (%s; %s): UNTESTED is allowed on either side\n", text_a,
	       text_b);
	free(text_a);
	free(text_b);
}

static int compare_files(const struct results *a, const struct results *b)
{
	bool same_class = environment_class_equal(&a->environment, &b->environment);
	size_t differences;

	if (strcmp(a->profile, b->profile) != 0) {
		fprintf(stderr, "scif-cts: results of the profiles %s and %s cannot be compared\n",
			a->profile, b->profile);
		return EXIT_USAGE;
	}
	if (!same_class)
		note_classes(a, b);
	differences = compare_all(a, b, same_class);
	printf("%zu of %zu verdicts differ\n", differences, b->count);
	return differences ? EXIT_FAILED : EXIT_PASSED;
}

int command_diff_verdicts(const struct settings *settings, const struct plan *plan)
{
	struct results a = {0}, b = {0};
	int status = results_load(&a, settings->operands[0]);

	(void)plan;
	if (!status)
		status = results_load(&b, settings->operands[1]);
	if (!status)
		status = compare_files(&a, &b);
	results_free(&a);
	results_free(&b);
	return status;
}

int command_verdicts(const struct settings *settings, const struct plan *plan)
{
	struct results results;
	int status;

	(void)plan;
	status = results_load(&results, settings->operands[0]);
	if (!status)
		results_print_verdicts(stdout, &results);
	results_free(&results);
	return status;
}
