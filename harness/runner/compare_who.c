/* SPDX-License-Identifier: BSD-2-Clause */
/* A column per implementation: what it is, what it was tested with, how it fared. */
#include "compare_page.h"

#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "html_verdict.h"
#include "json_text.h"
#include "outcomes.h"

/* As report_verdict() has it, from what results.json tells. */
static const char *headline(const json_t *root, const size_t verdicts[VERDICT_COUNT])
{
	const json_t *entry;
	size_t i;

	if (verdicts[VERDICT_FAIL])
		return "FAILED";
	json_array_foreach(json_object_get(json_object_get(root, "waivers"), "entries"), i, entry)
	{
		const char *state = json_text(entry, "state");

		if (state && strcmp(state, "active") != 0 && strcmp(state, "idle") != 0)
			return "FAILED";
	}
	if (verdicts[VERDICT_UNRESOLVED] || verdicts[VERDICT_NOTRUN])
		return "UNRESOLVED";
	return "PASSED";
}

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
		const char *verdict = headline(columns->results[i].root, columns->verdicts[i]);

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
		count += columns->verdicts[i][verdict];
	if (!count)
		return;
	html_line(page);
	html_start(page, "tr", NULL);
	html_start(page, "th", NULL);
	html_verdict(page, verdict);
	html_end(page);
	for (i = 0; i < columns->count; i++) {
		html_start(page, "td", "class", "number", NULL);
		html_format(page, "%zu", columns->verdicts[i][verdict]);
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

void compare_who(struct html_page *page, const struct columns *columns)
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
	compare_start_table(page, "sides");
	compare_heads(page, columns, "");
	compare_start_rows(page);
	write_headlines(page, columns);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++)
		write_verdict_row(page, columns, verdict);
	write_outcome_row(page, columns, "errors observed", "errors");
	write_outcome_row(page, columns, "values observed", "values");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		write_row(page, columns, rows[i].title, rows[i].path, rows[i].element);
	write_environments(page, columns);
	html_end_table(page);
	html_end(page);
}
