/* SPDX-License-Identifier: BSD-2-Clause */
/* What implementations gave, function by function, and clause by clause where they differ. */
#include "compare_page.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "html_verdict.h"
#include "json_text.h"

static bool is_of(const struct columns *columns, const char *id, const char *function)
{
	size_t i;

	for (i = 0; i < columns->count; i++) {
		const json_t *record = compare_record(columns, i, id);

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
	html_start(page, "td", "class", "given", NULL);
	if (!count) {
		html_text(page, "\u2013");
		html_end(page);
		return;
	}
	html_format(page, "%s%zu/%zu ", verdicts[VERDICT_PASS] == count ? "\u2713 " : "",
		    verdicts[VERDICT_PASS], count);
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
			counts[compare_likeness(columns, json_string_value(id))]++;
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

void compare_functions(struct html_page *page, const struct columns *columns)
{
	json_t *function;
	size_t i;

	html_section(page, "functions", "Functions");
	html_element(page, "p", NULL,
		     "How many of a function's clauses passed, and what became of the others.");
	compare_start_table(page, "functions");
	compare_heads(page, columns, "function");
	html_element(page, "th", NULL, "verdict differs");
	html_element(page, "th", NULL, "only the result differs");
	compare_start_rows(page);
	json_array_foreach(json_object_get(columns->results[0].root, "outcomes"), i, function)
	{
		if (json_text(function, "function"))
			write_function(page, columns, json_text(function, "function"));
	}
	html_end_table(page);
	html_end(page);
}

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
		expected = json_text(compare_record(columns, i, id), "expected");
	if (expected) {
		html_start(page, "small", NULL);
		html_text(page, "expected ");
		html_element(page, "code", NULL, expected);
		html_end(page);
	}
	html_end(page);
	for (i = 0; i < columns->count; i++)
		write_result(page, compare_record(columns, i, id));
	html_end(page);
}

void compare_differences(struct html_page *page, const struct columns *columns,
			 enum likeness likeness, const char *section, const char *title)
{
	size_t count = compare_count(columns, likeness), i;
	json_t *id;

	html_section(page, section, title);
	html_start(page, "p", NULL);
	html_format(page, "%zu of %zu clauses.", count, json_array_size(columns->ids));
	html_end(page);
	if (count) {
		compare_start_table(page, "differences");
		compare_heads(page, columns, "clause");
		compare_start_rows(page);
		json_array_foreach(columns->ids, i, id)
		{
			if (compare_likeness(columns, json_string_value(id)) == likeness)
				write_clause(page, columns, json_string_value(id));
		}
		html_end_table(page);
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

		if (compare_likeness(columns, text) == ALIKE &&
		    verdict_by_name(json_text(compare_record(columns, 0, text), "verdict")) ==
			    verdict)
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

void compare_shared(struct html_page *page, const struct columns *columns)
{
	int verdict;

	html_section(page, "shared", "What all share");
	for (verdict = VERDICT_COUNT - 1; verdict >= 0; verdict--)
		write_shared_verdict(page, columns, verdict);
	html_end(page);
}
