/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts compare --html: what implementations are, what each function gave, every clause on which
 * they differ, and what they share.
 */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "html_verdict.h"
#include "json_text.h"
#include "outcomes.h"

/* The results that are compared, each a column. */
struct columns {
	const struct results *results;
	char *const *places;
	size_t count;
	const struct plan *plan; /* NULL where it is not of the same spec */
	json_t **records;	 /* of each: its records by id */
	json_t *ids;		 /* of all, in the order of the plan */
};

enum likeness { ALIKE, OTHER_RESULT, OTHER_VERDICT };

static const json_t *record_of(const struct columns *columns, size_t column, const char *id)
{
	return json_object_get(columns->records[column], id);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static enum likeness compare_records(const json_t *a, const json_t *b)
{
	if (!same_text(json_text(a, "verdict"), json_text(b, "verdict")) ||
	    !same_text(json_text(a, "kind"), json_text(b, "kind")))
		return OTHER_VERDICT;
	return same_text(json_text(a, "observed"), json_text(b, "observed")) ? ALIKE : OTHER_RESULT;
}

static enum likeness likeness_of(const struct columns *columns, const char *id)
{
	const json_t *first = record_of(columns, 0, id);
	enum likeness likeness = ALIKE, other;
	size_t i;

	for (i = 1; i < columns->count; i++) {
		other = compare_records(first, record_of(columns, i, id));
		if (other > likeness)
			likeness = other;
	}
	return likeness;
}

static void index_records(struct columns *columns)
{
	json_t *record, *seen = json_object();
	size_t column, i;

	columns->records = zeroed_array(columns->count, sizeof(*columns->records));
	columns->ids = json_array();
	for (column = 0; column < columns->count; column++) {
		columns->records[column] = json_object();
		json_array_foreach(json_object_get(columns->results[column].root, "records"), i,
				   record)
		{
			const char *id = json_text(record, "id");

			json_object_set(columns->records[column], id, record);
			if (json_object_get(seen, id))
				continue;
			json_object_set_new(seen, id, json_true());
			json_array_append_new(columns->ids, json_string(id));
		}
	}
	json_decref(seen);
}

static void forget_records(struct columns *columns)
{
	size_t i;

	for (i = 0; i < columns->count; i++)
		json_decref(columns->records[i]);
	free(columns->records);
	json_decref(columns->ids);
}

/* As report_verdict() has it, from what results.json tells. */
static const char *headline(const json_t *root)
{
	const json_t *counts = json_object_get(root, "counts"), *entry;
	size_t i;

	if (json_integer_value(json_object_get(counts, "FAIL")))
		return "FAILED";
	json_array_foreach(json_object_get(json_object_get(root, "waivers"), "entries"), i, entry)
	{
		const char *state = json_text(entry, "state");

		if (state && strcmp(state, "active") != 0 && strcmp(state, "idle") != 0)
			return "FAILED";
	}
	if (json_integer_value(json_object_get(counts, "UNRESOLVED")) ||
	    json_integer_value(json_object_get(counts, "NOTRUN")))
		return "UNRESOLVED";
	return "PASSED";
}

/* --- the table of who is compared --- */

static const json_t *member(const json_t *root, const char *path)
{
	char *copy = copy_text(path), *rest = copy, *key;

	while ((key = strsep(&rest, ".")))
		root = json_object_get(root, key);
	free(copy);
	return root;
}

/* A row of texts that stand at PATH; nothing where no column has any. */
static void write_row(struct html_page *page, const struct columns *columns, const char *title,
		      const char *path, const char *element)
{
	bool any = false;
	size_t i;

	for (i = 0; i < columns->count; i++)
		any |= json_is_string(member(columns->results[i].root, path));
	if (!any)
		return;
	html_line(page);
	html_start(page, "tr", NULL);
	html_element(page, "th", NULL, title);
	for (i = 0; i < columns->count; i++) {
		const char *text = json_string_value(member(columns->results[i].root, path));

		html_start(page, "td", NULL);
		html_element(page, element, NULL, text ? text : "(none)");
		html_end(page);
	}
	html_end(page);
}

static void write_headlines(struct html_page *page, const struct columns *columns)
{
	size_t i;

	html_line(page);
	html_start(page, "tr", NULL);
	html_element(page, "th", NULL, "verdict");
	for (i = 0; i < columns->count; i++) {
		const char *verdict = headline(columns->results[i].root);

		html_start(page, "td", "data-headline", verdict, NULL);
		html_element(page, "b", "stamp", verdict);
		html_end(page);
	}
	html_end(page);
}

static void write_verdict_row(struct html_page *page, const struct columns *columns,
			      enum verdict verdict)
{
	size_t i, count = 0;

	for (i = 0; i < columns->count; i++)
		count += (size_t)json_integer_value(
			json_object_get(json_object_get(columns->results[i].root, "counts"),
					verdict_name(verdict)));
	if (!count)
		return;
	html_line(page);
	html_start(page, "tr", NULL);
	html_start(page, "th", NULL);
	html_verdict(page, verdict);
	html_end(page);
	for (i = 0; i < columns->count; i++) {
		const json_t *counts = json_object_get(columns->results[i].root, "counts");

		html_start(page, "td", "class", "number", NULL);
		html_format(page, "%lld",
			    (long long)json_integer_value(
				    json_object_get(counts, verdict_name(verdict))));
		html_end(page);
	}
	html_end(page);
}

static void add_group(struct outcome_tally *tally, const json_t *group)
{
	tally->documented += json_array_size(json_object_get(group, "documented"));
	tally->observed += json_array_size(json_object_get(group, "observed"));
	tally->ruled_out += json_array_size(json_object_get(group, "ruled_out"));
}

/* The outcomes of all functions that the API's own text documents. */
static void write_outcome_row(struct html_page *page, const struct columns *columns,
			      const char *title, const char *group)
{
	json_t *function;
	size_t i, f;

	html_line(page);
	html_start(page, "tr", NULL);
	html_element(page, "th", NULL, title);
	for (i = 0; i < columns->count; i++) {
		struct outcome_tally tally = {0};
		char *text;

		json_array_foreach(json_object_get(columns->results[i].root, "outcomes"), f,
				   function)
		{
			if (!json_text(function, "supplement"))
				add_group(&tally, json_object_get(function, group));
		}
		text = outcome_tally_text(&tally, strcmp(group, "errors") == 0);
		html_element(page, "td", NULL, text);
		free(text);
	}
	html_end(page);
}

static void write_environments(struct html_page *page, const struct columns *columns)
{
	size_t i;

	html_line(page);
	html_start(page, "tr", NULL);
	html_element(page, "th", NULL, "environment");
	for (i = 0; i < columns->count; i++) {
		char *class = environment_class_text(&columns->results[i].environment);

		html_element(page, "td", NULL, class);
		free(class);
	}
	html_end(page);
}

/* The numbers by which the other tables name the columns. */
static void write_column_heads(struct html_page *page, const struct columns *columns,
			       const char *first)
{
	size_t i;

	html_start(page, "th", NULL);
	html_text(page, first);
	html_end(page);
	for (i = 0; i < columns->count; i++) {
		const char *label = json_text(columns->results[i].root, "label");

		html_start(page, "th", "scope", "col", "title", columns->places[i], NULL);
		html_format(page, "%zu: %s", i + 1, label ? label : "(no label)");
		html_end(page);
	}
}

static void start_table(struct html_page *page, const char *class)
{
	html_line(page);
	html_start(page, "div", "class", "wide", "tabindex", "0", NULL);
	html_start(page, "table", "class", class, NULL);
	html_start(page, "thead", NULL);
	html_start(page, "tr", NULL);
}

static void start_rows(struct html_page *page)
{
	html_end(page);
	html_end(page);
	html_start(page, "tbody", NULL);
}

static void end_table(struct html_page *page)
{
	html_end(page);
	html_end(page);
	html_end(page);
}

static void write_who(struct html_page *page, const struct columns *columns)
{
	static const struct {
		const char *title, *path, *element;
	} rows[] = {
		{"library", "implementation.path", "code"},
		{"SHA-256", "implementation.sha256", "code"},
		{"build id", "implementation.build_id", "code"},
		{"soname", "implementation.soname", "code"},
		{"carried by", "carrier.path", "code"},
		{"its SHA-256", "carrier.sha256", "code"},
		{"profile", "profile", "span"},
		{"suite", "suite_version", "span"},
		{"started", "started", "span"},
		{"kernel", "platform.release", "span"},
		{"distribution", "platform.distribution", "span"},
		{"driver", "machine.driver_version", "span"},
		{"filter", "selection.filter", "span"},
	};
	int verdict;
	size_t i;

	html_section(page, "who", "Who is compared");
	start_table(page, "sides");
	write_column_heads(page, columns, "");
	start_rows(page);
	write_headlines(page, columns);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++)
		write_verdict_row(page, columns, verdict);
	write_outcome_row(page, columns, "errors observed", "errors");
	write_outcome_row(page, columns, "values observed", "values");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		write_row(page, columns, rows[i].title, rows[i].path, rows[i].element);
	write_environments(page, columns);
	end_table(page);
	html_end(page);
}

/* --- functions --- */

static bool is_of(const struct columns *columns, const char *id, const char *function)
{
	size_t i;

	for (i = 0; i < columns->count; i++) {
		const json_t *record = record_of(columns, i, id);

		if (record)
			return same_text(json_text(record, "function"), function);
	}
	return false;
}

static void write_function_cell(struct html_page *page, const struct columns *columns,
				size_t column, const char *function)
{
	size_t verdicts[VERDICT_COUNT] = {0}, count = 0, i;
	json_t *record;

	json_array_foreach(json_object_get(columns->results[column].root, "records"), i, record)
	{
		if (!same_text(json_text(record, "function"), function))
			continue;
		verdicts[verdict_by_name(json_text(record, "verdict"))]++;
		count++;
	}
	html_start(page, "td", "class", "function-result", NULL);
	html_format(page, "%zu/%zu ", verdicts[VERDICT_PASS], count);
	if (verdicts[VERDICT_PASS] == count)
		verdicts[VERDICT_PASS] = 0;
	html_verdict_counts(page, verdicts);
	html_end(page);
}

static void write_function(struct html_page *page, const struct columns *columns,
			   const char *function)
{
	size_t counts[OTHER_VERDICT + 1] = {0}, i;
	json_t *id;

	json_array_foreach(columns->ids, i, id)
	{
		if (is_of(columns, json_string_value(id), function))
			counts[likeness_of(columns, json_string_value(id))]++;
	}
	html_line(page);
	html_start(page, "tr", NULL);
	html_start(page, "th", "scope", "row", NULL);
	html_element(page, "code", NULL, function);
	html_end(page);
	for (i = 0; i < columns->count; i++)
		write_function_cell(page, columns, i, function);
	html_start(page, "td", "class", "number", NULL);
	html_format(page, "%zu", counts[OTHER_VERDICT]);
	html_end(page);
	html_start(page, "td", "class", "number", NULL);
	html_format(page, "%zu", counts[OTHER_RESULT]);
	html_end(page);
	html_end(page);
}

static void write_functions(struct html_page *page, const struct columns *columns)
{
	json_t *function;
	size_t i;

	html_section(page, "functions", "Functions");
	html_element(page, "p", NULL,
		     "How many of a function's clauses passed, and what became of the others.");
	start_table(page, "functions");
	write_column_heads(page, columns, "function");
	html_element(page, "th", NULL, "verdict differs");
	html_element(page, "th", NULL, "only the result differs");
	start_rows(page);
	json_array_foreach(json_object_get(columns->results[0].root, "outcomes"), i, function)
	{
		if (json_text(function, "function"))
			write_function(page, columns, json_text(function, "function"));
	}
	end_table(page);
	html_end(page);
}

/* --- clauses --- */

static void write_result(struct html_page *page, const json_t *record)
{
	const char *kind = json_text(record, "kind"), *observed = json_text(record, "observed");
	enum verdict verdict = verdict_by_name(json_text(record, "verdict"));

	if (!record) {
		html_element(page, "td", NULL, "not in this run");
		return;
	}
	html_start(page, "td", "class", "difference", "data-verdict", verdict_name(verdict), NULL);
	html_verdict(page, verdict);
	if (kind)
		html_format(page, " %s", kind);
	if (observed) {
		html_text(page, " ");
		html_element(page, "code", NULL, observed);
	}
	if (json_text(record, "reason"))
		html_element(page, "small", NULL, json_text(record, "reason"));
	html_end(page);
}

static void write_clause(struct html_page *page, const struct columns *columns, const char *id)
{
	const struct plan_clause *clause = columns->plan ? plan_clause(columns->plan, id) : NULL;
	const char *expected = NULL;
	size_t i;

	html_line(page);
	html_start(page, "tr", "id", id, NULL);
	html_start(page, "th", "scope", "row", NULL);
	html_link(page, "", id, id);
	if (clause)
		html_element(page, "p", NULL, clause->text);
	for (i = 0; i < columns->count && !expected; i++)
		expected = json_text(record_of(columns, i, id), "expected");
	if (expected) {
		html_start(page, "small", NULL);
		html_text(page, "expected ");
		html_element(page, "code", NULL, expected);
		html_end(page);
	}
	html_end(page);
	for (i = 0; i < columns->count; i++)
		write_result(page, record_of(columns, i, id));
	html_end(page);
}

static size_t count_clauses(const struct columns *columns, enum likeness likeness)
{
	size_t count = 0, i;
	json_t *id;

	json_array_foreach(columns->ids, i, id) count +=
		likeness_of(columns, json_string_value(id)) == likeness;
	return count;
}

static void write_differences(struct html_page *page, const struct columns *columns,
			      enum likeness likeness, const char *section, const char *title)
{
	size_t count = count_clauses(columns, likeness), i;
	json_t *id;

	html_section(page, section, title);
	html_start(page, "p", NULL);
	html_format(page, "%zu of %zu clauses.", count, json_array_size(columns->ids));
	html_end(page);
	if (count) {
		start_table(page, "differences");
		write_column_heads(page, columns, "clause");
		start_rows(page);
		json_array_foreach(columns->ids, i, id)
		{
			if (likeness_of(columns, json_string_value(id)) == likeness)
				write_clause(page, columns, json_string_value(id));
		}
		end_table(page);
	}
	html_end(page);
}

static void write_shared_verdict(struct html_page *page, const struct columns *columns,
				 enum verdict verdict)
{
	size_t count = 0, i;
	json_t *id, *ids = json_array();

	json_array_foreach(columns->ids, i, id)
	{
		const char *text = json_string_value(id);

		if (likeness_of(columns, text) == ALIKE &&
		    verdict_by_name(json_text(record_of(columns, 0, text), "verdict")) == verdict)
			json_array_append(ids, id);
	}
	count = json_array_size(ids);
	if (count) {
		html_line(page);
		html_start(page, "article", "class", "finding", "data-verdict",
			   verdict_name(verdict), NULL);
		html_start(page, "details", "open", "open", NULL);
		html_start(page, "summary", NULL);
		html_verdict(page, verdict);
		html_format(page, " %zu clauses: %s, everywhere with the same result", count,
			    verdict_meaning(verdict));
		html_end(page);
		html_start(page, "ul", "class", "ids", NULL);
		json_array_foreach(ids, i, id)
			html_element(page, "li", NULL, json_string_value(id));
		html_end(page);
		html_end(page);
		html_end(page);
	}
	json_decref(ids);
}

static void write_shared(struct html_page *page, const struct columns *columns)
{
	int verdict;

	html_section(page, "shared", "What all share");
	for (verdict = VERDICT_COUNT - 1; verdict >= 0; verdict--)
		write_shared_verdict(page, columns, verdict);
	html_end(page);
}

static void write_notes(struct html_page *page, const struct columns *columns)
{
	const struct results *first = &columns->results[0];
	bool same_profile = true, same_environment = true;
	size_t i;

	for (i = 1; i < columns->count; i++) {
		const struct results *other = &columns->results[i];

		same_profile &= strcmp(first->profile, other->profile) == 0;
		same_environment &=
			environment_class_equal(&first->environment, &other->environment);
	}
	html_start(page, "ul", "class", "notes", NULL);
	if (!same_profile)
		html_element(page, "li", NULL,
			     "The profiles differ: what one accepts another may not.");
	if (!same_environment)
		html_element(page, "li", NULL,
			     "The environment classes differ: what can be tested differs too.");
	if (!columns->plan)
		html_element(page, "li", NULL,
			     "The texts of the clauses are left out: this suite has another spec.");
	html_end(page);
}

static void write_top(struct html_page *page, const struct columns *columns)
{
	const json_t *root = columns->results[0].root;

	html_line(page);
	html_start(page, "header", NULL);
	html_start(page, "p", "class", "kind", NULL);
	html_format(page, "scif-cts comparison, API %s, spec %.12s", json_text(root, "api"),
		    json_text(root, "spec_hash"));
	html_end(page);
	html_start(page, "h1", NULL);
	html_format(page, "%zu implementations side by side", columns->count);
	html_end(page);
	html_start(page, "p", "class", "lead", NULL);
	html_format(page,
		    "%zu clauses: %zu alike everywhere, %zu with another verdict, %zu with "
		    "the same verdict and another result.",
		    json_array_size(columns->ids), count_clauses(columns, ALIKE),
		    count_clauses(columns, OTHER_VERDICT), count_clauses(columns, OTHER_RESULT));
	html_end(page);
	write_notes(page, columns);
	html_end(page);
}

static int write_page(struct html_page *page, const struct columns *columns)
{
	html_open(page, "scif-cts-comparison/1", "scif-cts comparison");
	write_top(page, columns);
	write_who(page, columns);
	write_functions(page, columns);
	write_differences(page, columns, OTHER_VERDICT, "verdicts", "Where verdicts differ");
	write_differences(page, columns, OTHER_RESULT, "results",
			  "Where only what was observed differs");
	write_shared(page, columns);
	return html_close(page);
}

/* Whether the plan at hand is the one that the results are of. */
static bool has_texts(const struct plan *plan, const json_t *root)
{
	const struct plan_function *function = plan_api(plan, json_text(root, "api"));

	return function && strcmp(function->document->spec_hash, json_text(root, "spec_hash")) == 0;
}

int compare_write_html(const struct results *results, char *const *places, size_t count,
		       const struct plan *plan, const char *file)
{
	struct columns columns = {
		.results = results,
		.places = places,
		.count = count,
		.plan = has_texts(plan, results->root) ? plan : NULL,
	};
	struct html_page page;
	int status;

	index_records(&columns);
	status = write_page(&page, &columns);
	if (!status)
		status = html_save(&page, file);
	html_free(&page);
	forget_records(&columns);
	return status;
}
