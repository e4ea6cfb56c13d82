/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts list: functions, outcomes or clauses, as tab-separated lines or JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "format.h"
#include "plan.h"
#include "session.h"

#define COLUMNS 8

/* A table of strings; NULL is an empty field. */
struct table {
	const char *const *names;
	json_t *rows; /* NULL for tab-separated lines */
};

static const char *const function_columns[COLUMNS] = {"function", "api", "linkage", "prototype",
						      "summary"};
static const char *const outcome_columns[COLUMNS] = {"function", "outcome", "kind", "text"};
static const char *const clause_columns[COLUMNS] = {"id",	"function", "outcome", "length",
						    "provoker", "source",   "text",    "reports"};

static void print_field(const char *text)
{
	for (; text && *text; text++)
		putchar(*text == '\t' || *text == '\n' ? ' ' : *text);
}

static void add_row(struct table *table, const char *const values[COLUMNS])
{
	json_t *row = table->rows ? json_object() : NULL;
	int i;

	for (i = 0; i < COLUMNS && table->names[i]; i++) {
		if (row) {
			json_object_set_new(row, table->names[i],
					    values[i] ? json_string(values[i]) : json_null());
			continue;
		}
		if (i)
			putchar('\t');
		print_field(values[i]);
	}
	if (row)
		json_array_append_new(table->rows, row);
	else
		putchar('\n');
}

static bool is_listed(const struct settings *settings, const struct plan_function *function)
{
	return !settings->api || strcmp(settings->api, function->api) == 0;
}

/* A function or outcome is listed with --filter where at least one of its clauses is picked. */
static bool has_picked_clause(const struct settings *settings, const struct plan_function *function,
			      const char *outcome)
{
	size_t c;

	for (c = 0; c < function->clause_count; c++) {
		const struct plan_clause *clause = &function->clauses[c];

		if ((!outcome || strcmp(clause->outcome, outcome) == 0) &&
		    session_filter_picks(settings, clause))
			return true;
	}
	return !settings->filter;
}

static void list_function(const struct settings *settings, struct table *table,
			  const struct plan_function *function)
{
	static const char *const linkages[] = {"required", "optional", "inline"};
	const char *const row[COLUMNS] = {function->name, function->api,
					  linkages[function->linkage], function->prototype,
					  function->summary};

	if (has_picked_clause(settings, function, NULL))
		add_row(table, row);
}

static void list_outcomes(const struct settings *settings, struct table *table,
			  const struct plan_function *function)
{
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		const struct plan_outcome *outcome = &function->outcomes[i];
		const char *const row[COLUMNS] = {function->name, outcome->name,
						  outcome->is_error ? "error" : "success",
						  outcome->text};

		if (has_picked_clause(settings, function, outcome->name))
			add_row(table, row);
	}
}

static char *joined(const char *const *names, size_t count)
{
	char *text = copy_text("");
	size_t i;

	for (i = 0; i < count; i++) {
		char *longer = format_text("%s%s%s", text, i ? " " : "", names[i]);

		free(text);
		text = longer;
	}
	return text;
}

static void list_clauses(const struct settings *settings, struct table *table,
			 const struct plan_function *function)
{
	size_t i;

	for (i = 0; i < function->clause_count; i++) {
		const struct plan_clause *clause = &function->clauses[i];
		char *reports = joined(clause->reports, clause->report_count);
		const char *const row[COLUMNS] = {
			clause->id,	  function->name,
			clause->outcome,  clause->is_long ? "long" : "short",
			clause->provoker, clause->source,
			clause->text,	  reports};

		if (session_filter_picks(settings, clause))
			add_row(table, row);
		free(reports);
	}
}

static const struct listing {
	const char *name;
	const char *const *columns;
	void (*list)(const struct settings *settings, struct table *table,
		     const struct plan_function *function);
} listings[] = {
	{"functions", function_columns, list_function},
	{"outcomes", outcome_columns, list_outcomes},
	{"clauses", clause_columns, list_clauses},
};

static const struct listing *find_listing(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(listings) / sizeof(*listings); i++) {
		if (strcmp(listings[i].name, name) == 0)
			return &listings[i];
	}
	return NULL;
}

static int finish_table(struct table *table, const char *name)
{
	json_t *document;

	if (table->rows) {
		document = json_pack("{s:s, s:o}", "format", "scif-cts-list/1", name, table->rows);
		json_dumpf(document, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(document);
	}
	return EXIT_PASSED;
}

int command_list(const struct settings *settings, const struct plan *plan)
{
	const struct listing *listing =
		find_listing(settings->operand_count ? settings->operands[0] : "clauses");
	struct table table = {0};
	size_t f;

	if (!listing) {
		fprintf(stderr, "scif-cts: list: unexpected argument '%s'\n",
			settings->operands[0]);
		return commands_usage("list");
	}
	if (settings->api && !session_api(settings, plan))
		return EXIT_USAGE;
	table.names = listing->columns;
	if (settings->format && strcmp(settings->format, "json") == 0)
		table.rows = json_array();
	else
		add_row(&table, listing->columns);
	for (f = 0; f < plan->function_count; f++) {
		if (is_listed(settings, &plan->functions[f]))
			listing->list(settings, &table, &plan->functions[f]);
	}
	return finish_table(&table, listing->name);
}
