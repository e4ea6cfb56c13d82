/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts compare --html: what implementations are, what each function gave, every clause on which
 * they differ, and what they share.
 */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "compare_page.h"
#include "format.h"
#include "json_text.h"

const json_t *compare_record(const struct columns *columns, size_t column, const char *id)
{
	return json_object_get(columns->records[column], id);
}

static enum likeness compare_records(const json_t *a, const json_t *b)
{
	if (!same_text(json_text(a, "verdict"), json_text(b, "verdict")) ||
	    !same_text(json_text(a, "kind"), json_text(b, "kind")))
		return OTHER_VERDICT;
	return same_text(json_text(a, "observed"), json_text(b, "observed")) ? ALIKE : OTHER_RESULT;
}

enum likeness compare_likeness(const struct columns *columns, const char *id)
{
	const json_t *first = compare_record(columns, 0, id);
	enum likeness likeness = ALIKE, other;
	size_t i;

	for (i = 1; i < columns->count; i++) {
		other = compare_records(first, compare_record(columns, i, id));
		if (other > likeness)
			likeness = other;
	}
	return likeness;
}

size_t compare_count(const struct columns *columns, enum likeness likeness)
{
	size_t count = 0, i;
	json_t *id;

	json_array_foreach(columns->ids, i, id) count +=
		compare_likeness(columns, json_string_value(id)) == likeness;
	return count;
}

/* The numbers by which the other tables name the columns. */
void compare_heads(struct html_page *page, const struct columns *columns, const char *first)
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

void compare_start_table(struct html_page *page, const char *class)
{
	html_line(page);
	html_start(page, "div", "class", "wide", "tabindex", "0", NULL);
	html_start(page, "table", "class", class, NULL);
	html_start(page, "thead", NULL);
	html_start(page, "tr", NULL);
}

void compare_start_rows(struct html_page *page)
{
	html_end(page);
	html_end(page);
	html_start(page, "tbody", NULL);
}

static void index_records(struct columns *columns)
{
	json_t *record, *seen = json_object();
	size_t column, i;

	columns->records = zeroed_array(columns->count, sizeof(*columns->records));
	columns->verdicts = zeroed_array(columns->count, sizeof(*columns->verdicts));
	columns->ids = json_array();
	for (column = 0; column < columns->count; column++) {
		columns->records[column] = json_object();
		json_array_foreach(json_object_get(columns->results[column].root, "records"), i,
				   record)
		{
			const char *id = json_text(record, "id");

			columns->verdicts[column][verdict_by_name(json_text(record, "verdict"))]++;
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
	free(columns->verdicts);
	json_decref(columns->ids);
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
	html_element(page, "li", NULL,
		     "The verdicts are those that stand in each results.json; scif-cts verify says "
		     "of a folder whether they are right.");
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
		    json_array_size(columns->ids), compare_count(columns, ALIKE),
		    compare_count(columns, OTHER_VERDICT), compare_count(columns, OTHER_RESULT));
	html_end(page);
	write_notes(page, columns);
	html_end(page);
}

static int write_page(struct html_page *page, const struct columns *columns)
{
	html_open(page, "scif-cts-comparison/1", "scif-cts comparison");
	write_top(page, columns);
	compare_who(page, columns);
	compare_functions(page, columns);
	compare_differences(page, columns, OTHER_VERDICT, "verdicts", "Where verdicts differ");
	compare_differences(page, columns, OTHER_RESULT, "results",
			    "Where only what was observed differs");
	compare_shared(page, columns);
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
