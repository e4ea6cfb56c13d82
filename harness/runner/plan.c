/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads plan.json; every defect is named with the place where it stands. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"

struct reader {
	const char *path;
	bool failed;
};

static void complain(struct reader *reader, const char *where, const char *what)
{
	fprintf(stderr, "scif-cts: %s: %s: %s\n", reader->path, where, what);
	reader->failed = true;
}

/* The string KEY of OBJECT; NULL where it is absent, null or empty. */
static const char *optional_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : NULL;
}

static const char *required_string(struct reader *reader, const json_t *object, const char *key,
				   const char *where)
{
	const char *text = optional_string(object, key);

	if (!text) {
		char *what = format_text("the string \"%s\" is missing", key);

		complain(reader, where, what);
		free(what);
	}
	return text;
}

static const char **string_array(const json_t *array, size_t *count)
{
	const char **strings;
	json_t *item;
	size_t i, length = json_array_size(array);

	strings = zeroed_array(length, sizeof(*strings));
	*count = 0;
	json_array_foreach(array, i, item)
	{
		if (json_is_string(item))
			strings[(*count)++] = json_string_value(item);
	}
	return strings;
}

static void read_outcomes(struct reader *reader, struct plan_function *function,
			  const json_t *array)
{
	json_t *item;
	size_t i;

	function->outcome_count = json_array_size(array);
	function->outcomes = zeroed_array(function->outcome_count, sizeof(*function->outcomes));
	json_array_foreach(array, i, item)
	{
		const char *kind = required_string(reader, item, "kind", function->name);

		function->outcomes[i] = (struct plan_outcome){
			.name = required_string(reader, item, "name", function->name),
			.text = optional_string(item, "text"),
			.is_error = kind && strcmp(kind, "success") != 0,
		};
	}
}

static void read_clause(struct reader *reader, struct plan_clause *clause, const json_t *item,
			const struct plan_function *function)
{
	const json_t *deviation = json_object_get(item, "knc");
	const char *id = required_string(reader, item, "id", function->name);

	*clause = (struct plan_clause){
		.function = function,
		.json = item,
		.id = id ? id : "?",
		.text = required_string(reader, item, "text", id ? id : function->name),
		.outcome = required_string(reader, item, "outcome", id ? id : function->name),
		.source = optional_string(item, "source"),
		.file = optional_string(item, "file"),
		.line = (int)json_integer_value(json_object_get(item, "line")),
		.is_long = json_is_true(json_object_get(item, "long")),
		.is_error = json_is_true(json_object_get(item, "is_error")),
		.provoker = optional_string(item, "provoker"),
		.scenario = optional_string(item, "scenario"),
		.call = optional_string(item, "call"),
		.untestable = optional_string(item, "untestable"),
		.ruled_out = optional_string(item, "ruled_out"),
		.deviation_tag = optional_string(deviation, "tag"),
		.deviation_where = optional_string(deviation, "where"),
	};
	clause->needs = string_array(json_object_get(item, "needs"), &clause->needs_count);
	clause->errata = string_array(json_object_get(item, "errata"), &clause->errata_count);
	clause->reports = string_array(json_object_get(item, "reports"), &clause->report_count);
	clause->errors = string_array(json_object_get(item, "errors"), &clause->errors_count);
}

static enum linkage read_linkage(struct reader *reader, const json_t *item, const char *where)
{
	const char *text = optional_string(item, "linkage");

	if (!text || strcmp(text, "required") == 0)
		return LINKAGE_REQUIRED;
	if (strcmp(text, "optional") == 0)
		return LINKAGE_OPTIONAL;
	if (strcmp(text, "inline") == 0)
		return LINKAGE_INLINE;
	complain(reader, where, "\"linkage\" is neither required, optional nor inline");
	return LINKAGE_REQUIRED;
}

static void read_function(struct reader *reader, struct plan_function *function, const json_t *item,
			  const struct plan_document *document)
{
	const json_t *clauses = json_object_get(item, "clauses");
	json_t *clause;
	size_t i;

	function->document = document;
	function->name = required_string(reader, item, "name", "functions");
	if (!function->name)
		function->name = "?";
	function->api = required_string(reader, item, "api", function->name);
	function->prototype = optional_string(item, "prototype");
	function->summary = optional_string(item, "summary");
	function->supplement = optional_string(item, "supplement");
	function->linkage = read_linkage(reader, item, function->name);
	read_outcomes(reader, function, json_object_get(item, "outcomes"));
	function->clause_count = json_array_size(clauses);
	function->clauses = zeroed_array(function->clause_count, sizeof(*function->clauses));
	json_array_foreach(clauses, i, clause)
		read_clause(reader, &function->clauses[i], clause, function);
}

/* An entry that several documents have is one entry. */
static void read_errata(struct reader *reader, struct plan *plan, const json_t *array)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		const char *id = required_string(reader, item, "id", "errata");

		if (!id || plan_errata(plan, id))
			continue;
		plan->errata[plan->errata_count++] = (struct plan_errata){
			.id = id,
			.kind = optional_string(item, "kind"),
			.clash = optional_string(item, "clash"),
			.ruling = optional_string(item, "ruling"),
			.why = optional_string(item, "why"),
		};
	}
}

static void read_reports(struct reader *reader, struct plan *plan, const json_t *array)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		const char *id = required_string(reader, item, "id", "reports");

		if (id && !plan_report(plan, id))
			plan->reports[plan->report_count++] = (struct plan_report){
				.id = id,
				.text = required_string(reader, item, "text", id),
			};
	}
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One clause, one record: the plan itself must not name a clause twice. */
static void refuse_duplicates(struct reader *reader, const struct plan *plan)
{
	const char **ids = zeroed_array(plan->clause_count, sizeof(*ids));
	size_t count = 0, f, c;

	for (f = 0; f < plan->function_count; f++) {
		for (c = 0; c < plan->functions[f].clause_count; c++)
			ids[count++] = plan->functions[f].clauses[c].id;
	}
	qsort(ids, count, sizeof(*ids), compare_ids);
	for (c = 1; c < count; c++) {
		if (strcmp(ids[c - 1], ids[c]) == 0)
			complain(reader, ids[c], "the clause is planned twice");
	}
	free(ids);
}

static void read_document(struct reader *reader, struct plan *plan, struct plan_document *document)
{
	json_t *item;
	size_t i;

	document->suite_version = required_string(reader, document->root, "suite_version", "plan");
	document->spec_hash = required_string(reader, document->root, "spec_hash", "plan");
	json_array_foreach(json_object_get(document->root, "functions"), i, item)
	{
		struct plan_function *function = &plan->functions[plan->function_count++];

		read_function(reader, function, item, document);
		plan->clause_count += function->clause_count;
	}
	if (!i)
		complain(reader, "functions", "there is no function in the plan");
	read_errata(reader, plan, json_object_get(document->root, "errata"));
	read_reports(reader, plan, json_object_get(document->root, "reports"));
}

static void open_document(struct reader *reader, struct plan_document *document)
{
	const char *format;
	json_error_t error;

	document->root = json_load_file(reader->path, JSON_REJECT_DUPLICATES, &error);
	if (!document->root) {
		fprintf(stderr, "scif-cts: %s:%d: %s\n", reader->path, error.line, error.text);
		reader->failed = true;
		return;
	}
	format = optional_string(document->root, "format");
	if (!format || strcmp(format, "scif-cts-plan/1") != 0)
		complain(reader, "format", "not \"scif-cts-plan/1\"");
}

/* Pointers into the arrays are kept, so each gets its full size before it is filled. */
static void make_room(struct plan *plan)
{
	size_t functions = 0, errata = 0, reports = 0, d;

	for (d = 0; d < plan->document_count; d++) {
		const json_t *root = plan->documents[d].root;

		functions += json_array_size(json_object_get(root, "functions"));
		errata += json_array_size(json_object_get(root, "errata"));
		reports += json_array_size(json_object_get(root, "reports"));
	}
	plan->functions = zeroed_array(functions, sizeof(*plan->functions));
	plan->errata = zeroed_array(errata, sizeof(*plan->errata));
	plan->reports = zeroed_array(reports, sizeof(*plan->reports));
}

static void read_plan(struct reader *reader, struct plan *plan, char *const *paths)
{
	size_t d;

	while (paths[plan->document_count])
		plan->document_count++;
	plan->documents = zeroed_array(plan->document_count, sizeof(*plan->documents));
	for (d = 0; d < plan->document_count; d++) {
		reader->path = paths[d];
		open_document(reader, &plan->documents[d]);
	}
	if (reader->failed)
		return;
	make_room(plan);
	for (d = 0; d < plan->document_count; d++) {
		reader->path = paths[d];
		read_document(reader, plan, &plan->documents[d]);
	}
	if (!plan->clause_count)
		complain(reader, "functions", "there is no clause in the plan");
	refuse_duplicates(reader, plan);
}

struct plan *plan_load(char *const *paths)
{
	struct plan *plan = zeroed_array(1, sizeof(*plan));
	struct reader reader = {0};

	read_plan(&reader, plan, paths);
	if (!reader.failed)
		return plan;
	plan_free(plan);
	return NULL;
}

static void free_function(struct plan_function *function)
{
	size_t c;

	for (c = 0; c < function->clause_count; c++) {
		free(function->clauses[c].needs);
		free(function->clauses[c].errata);
		free(function->clauses[c].reports);
		free(function->clauses[c].errors);
	}
	free(function->clauses);
	free(function->outcomes);
}

void plan_free(struct plan *plan)
{
	size_t f, d;

	if (!plan)
		return;
	for (f = 0; f < plan->function_count; f++)
		free_function(&plan->functions[f]);
	free(plan->functions);
	free(plan->errata);
	free(plan->reports);
	for (d = 0; d < plan->document_count; d++)
		json_decref(plan->documents[d].root);
	free(plan->documents);
	free(plan);
}

const struct plan_clause *plan_clause(const struct plan *plan, const char *id)
{
	size_t f, c;

	for (f = 0; f < plan->function_count; f++) {
		for (c = 0; c < plan->functions[f].clause_count; c++) {
			if (strcmp(plan->functions[f].clauses[c].id, id) == 0)
				return &plan->functions[f].clauses[c];
		}
	}
	return NULL;
}

bool plan_has_function(const struct plan *plan, const char *name)
{
	size_t f;

	for (f = 0; f < plan->function_count; f++) {
		if (strcmp(plan->functions[f].name, name) == 0)
			return true;
	}
	return false;
}

const struct plan_errata *plan_errata(const struct plan *plan, const char *id)
{
	size_t i;

	for (i = 0; i < plan->errata_count; i++) {
		if (strcmp(plan->errata[i].id, id) == 0)
			return &plan->errata[i];
	}
	return NULL;
}

const struct plan_outcome *plan_outcome(const struct plan_function *function, const char *name)
{
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		if (strcmp(function->outcomes[i].name, name) == 0)
			return &function->outcomes[i];
	}
	return NULL;
}

const struct plan_function *plan_api(const struct plan *plan, const char *api)
{
	size_t f;

	for (f = 0; f < plan->function_count; f++) {
		if (strcmp(plan->functions[f].api, api) == 0)
			return &plan->functions[f];
	}
	return NULL;
}

const struct plan_report *plan_report(const struct plan *plan, const char *id)
{
	size_t i;

	for (i = 0; i < plan->report_count; i++) {
		if (strcmp(plan->reports[i].id, id) == 0)
			return &plan->reports[i];
	}
	return NULL;
}

static bool is_among(const char **words, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0)
			return true;
	}
	return false;
}

bool plan_shows(const struct plan_clause *clause, const char *report)
{
	return is_among(clause->reports, clause->report_count, report);
}

bool plan_depends_on(const struct plan_clause *clause, const char *errata)
{
	return is_among(clause->errata, clause->errata_count, errata) ||
	       (clause->ruled_out && strcmp(clause->ruled_out, errata) == 0);
}
