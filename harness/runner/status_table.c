/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts status-table: a results.json as the Markdown table of the README. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "outcomes.h"
#include "results.h"

struct row {
	size_t clauses, passed, failed, skipped;
	struct outcome_tally values, errors;
};

static void add_group(struct outcome_tally *tally, const json_t *group)
{
	tally->documented += json_array_size(json_object_get(group, "documented"));
	tally->observed += json_array_size(json_object_get(group, "observed"));
	tally->ruled_out += json_array_size(json_object_get(group, "ruled_out"));
}

static void add_records(struct row *row, const struct results *results, const char *function)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(results->root, "records"), i, record)
	{
		const char *of = json_string_value(json_object_get(record, "function"));
		enum verdict verdict =
			verdict_by_name(json_string_value(json_object_get(record, "verdict")));

		if (!of || strcmp(of, function) != 0)
			continue;
		row->clauses++;
		row->passed += verdict == VERDICT_PASS;
		row->failed += verdict_counts_as_failed(verdict);
		row->skipped += verdict_counts_as_skipped(verdict);
	}
}

static void print_row(const char *name, const struct row *row, bool is_total)
{
	char *values = outcome_tally_text(&row->values, false);
	char *errors = outcome_tally_text(&row->errors, is_total);

	printf("| %s | %zu | %zu | %zu | %zu | %s | %s |\n", name, row->clauses, row->passed,
	       row->failed, row->skipped, values, errors);
	free(values);
	free(errors);
}

/* Below the table: functions that the API's text does not document. */
static void print_supplement(const char *function, const char *supplement)
{
	printf("\n`%s` is documented elsewhere (%s); its outcomes are not in the last line.\n",
	       function, supplement);
}

static void print_supplements(const struct results *results)
{
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(results->root, "outcomes"), i, entry)
	{
		const char *function = json_string_value(json_object_get(entry, "function"));
		const char *supplement = json_string_value(json_object_get(entry, "supplement"));

		if (function && supplement)
			print_supplement(function, supplement);
	}
}

static void print_table(const struct results *results)
{
	struct row total = {0};
	json_t *entry;
	size_t i;

	puts("| function | clauses | passed | failed | skipped | values observed | errors observed "
	     "|");
	puts("|---|--:|--:|--:|--:|--:|--:|");
	json_array_foreach(json_object_get(results->root, "outcomes"), i, entry)
	{
		const char *function = json_string_value(json_object_get(entry, "function"));
		const json_t *values = json_object_get(entry, "values");
		const json_t *errors = json_object_get(entry, "errors");
		struct row row = {0};

		if (!function)
			continue;
		add_records(&row, results, function);
		add_records(&total, results, function);
		add_group(&row.values, values);
		add_group(&row.errors, errors);
		print_row(function, &row, false);
		if (json_is_string(json_object_get(entry, "supplement")))
			continue;
		add_group(&total.values, values);
		add_group(&total.errors, errors);
	}
	print_row("**all**", &total, true);
	print_supplements(results);
}

int command_status_table(const struct settings *settings, const struct plan *plan)
{
	struct results results;
	int status = results_load(&results, settings->operands[0]);

	(void)plan;
	if (!status && !results.root) {
		fprintf(stderr, "scif-cts: %s: a list of verdicts has no outcomes\n",
			settings->operands[0]);
		status = EXIT_USAGE;
	}
	if (!status)
		print_table(&results);
	results_free(&results);
	return status;
}
