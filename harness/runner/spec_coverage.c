/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts spec-coverage: how much of what is documented has a case, and how much of that was
 * observed in the results that are named (docs/results-format.md, format spec-coverage/1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "format.h"
#include "json_text.h"
#include "outcomes.h"
#include "results.h"

struct tally {
	size_t documented, planned, observed, ruled_out;
};

struct row {
	struct tally values, errors, clauses;
};

struct coverage {
	const struct plan *plan;
	struct results *sources;
	size_t source_count;
};

static bool has_case(const struct plan_clause *clause)
{
	return !clause->ruled_out && !clause->untestable;
}

static bool expects(const struct plan_clause *clause, const struct plan_outcome *outcome)
{
	size_t i;

	for (i = 0; i < clause->errors_count; i++) {
		if (strcmp(clause->errors[i], outcome->name) == 0)
			return true;
	}
	return strcmp(clause->outcome, outcome->name) == 0;
}

static bool is_planned(const struct plan_function *function, const struct plan_outcome *outcome)
{
	size_t c;

	for (c = 0; c < function->clause_count; c++) {
		if (has_case(&function->clauses[c]) && expects(&function->clauses[c], outcome))
			return true;
	}
	return false;
}

static bool lists(const json_t *names, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach(names, i, item)
	{
		if (json_is_string(item) && strcmp(json_string_value(item), name) == 0)
			return true;
	}
	return false;
}

static bool source_observed(const struct results *source, const struct plan_function *function,
			    const struct plan_outcome *outcome)
{
	const char *group = outcome->is_error ? "errors" : "values";
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(source->root, "outcomes"), i, entry)
	{
		const char *name = json_text(entry, "function");

		if (name && strcmp(name, function->name) == 0)
			return lists(json_object_get(json_object_get(entry, group), "observed"),
				     outcome->name);
	}
	return false;
}

static bool outcome_is_observed(const struct coverage *coverage,
				const struct plan_function *function,
				const struct plan_outcome *outcome)
{
	size_t s;

	for (s = 0; s < coverage->source_count; s++) {
		if (source_observed(&coverage->sources[s], function, outcome))
			return true;
	}
	return false;
}

static bool clause_is_observed(const struct coverage *coverage, const struct plan_clause *clause)
{
	size_t s;

	for (s = 0; s < coverage->source_count; s++) {
		const struct result *result = results_find(&coverage->sources[s], clause->id);

		if (result && result->verdict == VERDICT_PASS)
			return true;
	}
	return false;
}

static void count_outcomes(const struct coverage *coverage, const struct plan_function *function,
			   struct row *row)
{
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		const struct plan_outcome *outcome = &function->outcomes[i];
		struct tally *tally = outcome->is_error ? &row->errors : &row->values;
		bool observed = outcome_is_observed(coverage, function, outcome);

		tally->documented++;
		tally->planned += is_planned(function, outcome);
		tally->observed += observed;
		tally->ruled_out += !observed && outcome_is_ruled_out(function, outcome);
	}
}

static void count_clauses(const struct coverage *coverage, const struct plan_function *function,
			  struct tally *tally)
{
	size_t c;

	for (c = 0; c < function->clause_count; c++) {
		const struct plan_clause *clause = &function->clauses[c];

		tally->documented++;
		tally->planned += has_case(clause);
		tally->observed += clause_is_observed(coverage, clause);
		tally->ruled_out += clause->ruled_out != NULL;
	}
}

static bool is_of(const struct plan_function *function, const char *api)
{
	return strcmp(function->api, api) == 0;
}

/* All functions of the API; outcomes only of those that its own text documents. */
static struct row count_api(const struct coverage *coverage, const char *api)
{
	struct row total = {0};
	size_t f;

	for (f = 0; f < coverage->plan->function_count; f++) {
		const struct plan_function *function = &coverage->plan->functions[f];

		if (!is_of(function, api))
			continue;
		if (!function->supplement)
			count_outcomes(coverage, function, &total);
		count_clauses(coverage, function, &total.clauses);
	}
	return total;
}

static struct row count_function(const struct coverage *coverage,
				 const struct plan_function *function)
{
	struct row row = {0};

	count_outcomes(coverage, function, &row);
	count_clauses(coverage, function, &row.clauses);
	return row;
}

/* What the record of a clause says; NULL where there is none. */
static char *absence_in(const struct results *source, const struct plan_clause *clause)
{
	const json_t *record;
	size_t i;

	json_array_foreach(json_object_get(source->root, "records"), i, record)
	{
		const char *id = json_text(record, "id"), *reason = json_text(record, "reason");

		if (!id || strcmp(id, clause->id) != 0)
			continue;
		return format_text("%s%s%s", json_text(record, "verdict"), reason ? ": " : "",
				   reason ? reason : "");
	}
	return NULL;
}

/* Why a clause was not observed. */
static char *absence_of_clause(const struct coverage *coverage, const struct plan_clause *clause)
{
	char *absence = NULL;
	size_t s;

	if (clause->ruled_out)
		return format_text("ruled out by %s", clause->ruled_out);
	if (clause->untestable)
		return format_text("untestable: %s", clause->untestable);
	for (s = 0; s < coverage->source_count && !absence; s++)
		absence = absence_in(&coverage->sources[s], clause);
	return absence ? absence : copy_text("not in the results");
}

static const char *absence_of_outcome(const struct plan_function *function,
				      const struct plan_outcome *outcome)
{
	if (outcome_is_ruled_out(function, outcome))
		return "ruled out";
	return is_planned(function, outcome) ? "not observed" : "no case expects it";
}

static json_t *tally_json(const struct tally *tally)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "documented", (json_int_t)tally->documented,
			 "planned", (json_int_t)tally->planned, "observed",
			 (json_int_t)tally->observed, "ruled_out", (json_int_t)tally->ruled_out);
}

static json_t *missing_outcomes(const struct coverage *coverage,
				const struct plan_function *function)
{
	json_t *missing = json_array();
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		const struct plan_outcome *outcome = &function->outcomes[i];

		if (!outcome_is_observed(coverage, function, outcome))
			json_array_append_new(
				missing, json_pack("{s:s, s:s}", "outcome", outcome->name, "why",
						   absence_of_outcome(function, outcome)));
	}
	return missing;
}

static json_t *missing_clauses(const struct coverage *coverage,
			       const struct plan_function *function)
{
	json_t *missing = json_array();
	size_t c;

	for (c = 0; c < function->clause_count; c++) {
		const struct plan_clause *clause = &function->clauses[c];
		char *why;

		if (clause_is_observed(coverage, clause))
			continue;
		why = absence_of_clause(coverage, clause);
		json_array_append_new(missing,
				      json_pack("{s:s, s:s}", "id", clause->id, "why", why));
		free(why);
	}
	return missing;
}

static void set_row(json_t *json, const struct row *row)
{
	json_object_set_new(json, "values", tally_json(&row->values));
	json_object_set_new(json, "errors", tally_json(&row->errors));
	json_object_set_new(json, "clauses", tally_json(&row->clauses));
}

static json_t *function_json(const struct coverage *coverage, const struct plan_function *function)
{
	struct row row = count_function(coverage, function);
	json_t *json = json_pack("{s:s, s:s?}", "function", function->name, "supplement",
				 function->supplement);

	set_row(json, &row);
	json_object_set_new(json, "missing_outcomes", missing_outcomes(coverage, function));
	json_object_set_new(json, "missing_clauses", missing_clauses(coverage, function));
	return json;
}

/* The results of an API, by their labels: a path would not mean anything elsewhere. */
static json_t *sources_json(const struct coverage *coverage, const char *api)
{
	json_t *sources = json_array();
	size_t s;

	for (s = 0; s < coverage->source_count; s++) {
		const json_t *root = coverage->sources[s].root;

		if (strcmp(json_text(root, "api"), api) == 0)
			json_array_append_new(sources,
					      json_pack("{s:O, s:O}", "label",
							json_object_get(root, "label"), "profile",
							json_object_get(root, "profile")));
	}
	return sources;
}

static json_t *api_json(const struct coverage *coverage, const struct plan_function *first)
{
	struct row total = count_api(coverage, first->api);
	json_t *json = json_pack("{s:s, s:s, s:o}", "api", first->api, "spec_hash",
				 first->document->spec_hash, "results",
				 sources_json(coverage, first->api));
	json_t *functions = json_array();
	size_t f;

	set_row(json, &total);
	for (f = 0; f < coverage->plan->function_count; f++) {
		const struct plan_function *function = &coverage->plan->functions[f];

		if (is_of(function, first->api))
			json_array_append_new(functions, function_json(coverage, function));
	}
	json_object_set_new(json, "functions", functions);
	return json;
}

/* The first function of each API begins it. */
static bool begins_api(const struct plan *plan, size_t f)
{
	return plan_api(plan, plan->functions[f].api) == &plan->functions[f];
}

static void print_json(const struct coverage *coverage)
{
	json_t *document = json_pack("{s:s}", "format", "spec-coverage/1"), *apis = json_array();
	size_t f;

	for (f = 0; f < coverage->plan->function_count; f++) {
		if (begins_api(coverage->plan, f))
			json_array_append_new(apis,
					      api_json(coverage, &coverage->plan->functions[f]));
	}
	json_object_set_new(document, "apis", apis);
	json_dumpf(document, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(document);
}

static void print_row(const char *name, const struct row *row)
{
	const struct tally *const groups[] = {&row->values, &row->errors, &row->clauses};
	size_t g;

	printf("%-35s", name);
	for (g = 0; g < 3; g++)
		printf(" %5zu %5zu %5zu %5zu%s", groups[g]->documented, groups[g]->planned,
		       groups[g]->observed, groups[g]->ruled_out, g < 2 ? "   " : "\n");
}

static void print_heading(const struct coverage *coverage, const char *api)
{
	size_t s;
	int g;

	printf("%s, observed in", api);
	for (s = 0; s < coverage->source_count; s++) {
		const json_t *root = coverage->sources[s].root;

		if (strcmp(json_text(root, "api"), api) == 0)
			printf(" %s (profile %s)", json_text(root, "label"),
			       json_text(root, "profile"));
	}
	printf("\n\n%-35s %-23s    %-23s    clauses\nfunction%27s", "", "values", "errors", "");
	for (g = 0; g < 3; g++)
		printf("   doc.  plan  obs.   out%s", g < 2 ? "  " : "\n");
}

static void print_absences(const struct coverage *coverage, const struct plan_function *function)
{
	json_t *missing = missing_outcomes(coverage, function), *item;
	size_t i;

	json_array_foreach(missing, i, item)
		printf("  %s %s: %s\n", function->name, json_text(item, "outcome"),
		       json_text(item, "why"));
	json_decref(missing);
	missing = missing_clauses(coverage, function);
	json_array_foreach(missing, i, item)
		printf("  %s: %s\n", json_text(item, "id"), json_text(item, "why"));
	json_decref(missing);
}

static void print_api(const struct coverage *coverage, const char *api)
{
	struct row row;
	size_t f;

	print_heading(coverage, api);
	for (f = 0; f < coverage->plan->function_count; f++) {
		const struct plan_function *function = &coverage->plan->functions[f];

		if (!is_of(function, api))
			continue;
		row = count_function(coverage, function);
		print_row(function->name, &row);
	}
	row = count_api(coverage, api);
	print_row("all", &row);
	puts("\nnot observed:");
	for (f = 0; f < coverage->plan->function_count; f++) {
		if (is_of(&coverage->plan->functions[f], api))
			print_absences(coverage, &coverage->plan->functions[f]);
	}
}

static void print_table(const struct coverage *coverage)
{
	size_t f;

	for (f = 0; f < coverage->plan->function_count; f++) {
		if (!begins_api(coverage->plan, f))
			continue;
		if (f)
			putchar('\n');
		print_api(coverage, coverage->plan->functions[f].api);
	}
}

/* Results of other clauses would be counted under ids that may mean something else. */
static int check_spec(const struct results *results, const struct plan *plan, const char *path)
{
	const char *api = json_text(results->root, "api");
	const char *hash = json_text(results->root, "spec_hash");
	const struct plan_function *function = api ? plan_api(plan, api) : NULL;

	if (function && hash && strcmp(hash, function->document->spec_hash) == 0)
		return 0;
	fprintf(stderr, "scif-cts: %s: these results are of another spec: %s, this suite has %s\n",
		path, hash ? hash : "(none)", function ? function->document->spec_hash : "(none)");
	return EXIT_USAGE;
}

int command_spec_coverage(const struct settings *settings, const struct plan *plan)
{
	struct coverage coverage = {.plan = plan};
	int status = 0, i;

	if (settings->format && strcmp(settings->format, "json") != 0) {
		fputs("scif-cts: spec-coverage prints a table, or --format json\n", stderr);
		return EXIT_USAGE;
	}
	coverage.sources = zeroed_array((size_t)settings->operand_count, sizeof(*coverage.sources));
	for (i = 0; i < settings->operand_count && !status; i++) {
		struct results *source = &coverage.sources[coverage.source_count++];

		status = results_load(source, settings->operands[i]);
		if (!status)
			status = check_spec(source, plan, settings->operands[i]);
	}
	if (!status && settings->format)
		print_json(&coverage);
	else if (!status)
		print_table(&coverage);
	while (coverage.source_count)
		results_free(&coverage.sources[--coverage.source_count]);
	free(coverage.sources);
	return status;
}
