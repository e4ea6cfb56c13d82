/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The matrix of functions and errors.  A cell is an outcome that the text documents; sign and
 * numbers say the same as its colour.
 */
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "format.h"
#include "html_verdict.h"
#include "report_html.h"

/* With more, paper needs a smaller type. */
#define MANY_COLUMNS 25

struct column {
	const char *name;
	size_t functions; /* that document the error */
};

struct matrix {
	const struct session *session;
	struct column *columns;
	size_t column_count, value_columns;
	size_t states[CELL_STATES];
};

static bool is_in(const struct session *session, const struct plan_function *function)
{
	return strcmp(function->api, session->api) == 0;
}

static void count_error(struct matrix *matrix, const char *name)
{
	size_t i;

	for (i = 0; i < matrix->column_count; i++) {
		if (strcmp(matrix->columns[i].name, name) == 0)
			break;
	}
	if (i == matrix->column_count) {
		matrix->columns = grown_array(matrix->columns, i + 1, sizeof(*matrix->columns));
		matrix->columns[i] = (struct column){.name = name};
		matrix->column_count++;
	}
	matrix->columns[i].functions++;
}

static void count_function(struct matrix *matrix, const struct plan_function *function)
{
	size_t values = 0, i;

	for (i = 0; i < function->outcome_count; i++) {
		const struct plan_outcome *outcome = &function->outcomes[i];

		matrix->states[cell_of(matrix->session, function, outcome).state]++;
		if (outcome->is_error)
			count_error(matrix, outcome->name);
		else
			values++;
	}
	if (values > matrix->value_columns)
		matrix->value_columns = values;
}

/* The errors that most functions document come first, so that the cells lie close together. */
static int compare_columns(const void *a, const void *b)
{
	const struct column *first = a, *second = b;

	if (first->functions != second->functions)
		return first->functions < second->functions ? 1 : -1;
	return strcmp(first->name, second->name);
}

static void count_columns(struct matrix *matrix)
{
	const struct plan *plan = matrix->session->plan;
	size_t f;

	for (f = 0; f < plan->function_count; f++) {
		if (is_in(matrix->session, &plan->functions[f]))
			count_function(matrix, &plan->functions[f]);
	}
	if (matrix->column_count)
		qsort(matrix->columns, matrix->column_count, sizeof(*matrix->columns),
		      compare_columns);
}

/* What all names of errors begin with is said once, in the corner. */
static size_t common_prefix(const struct matrix *matrix)
{
	const char *first = matrix->column_count ? matrix->columns[0].name : "";
	const char *end = strchr(first, '_');
	size_t length = end ? (size_t)(end - first) + 1 : 0, i;

	for (i = 0; i < matrix->column_count; i++) {
		if (strncmp(matrix->columns[i].name, first, length) != 0)
			return 0;
	}
	return length;
}

static void write_head(struct html_page *page, const struct matrix *matrix)
{
	size_t prefix = common_prefix(matrix), i;
	char *values = format_text("%zu", matrix->value_columns);

	html_start(page, "thead", NULL);
	html_start(page, "tr", NULL);
	html_start(page, "th", "scope", "col", NULL);
	html_text(page, "function");
	html_end(page);
	html_element(page, "th", NULL, "clauses");
	html_start(page, "th", "colspan", values, NULL);
	html_text(page, "success");
	html_end(page);
	for (i = 0; i < matrix->column_count; i++) {
		const char *name = matrix->columns[i].name;

		html_start(page, "th", "scope", "col", "class", "error", "title", name, NULL);
		html_element(page, "span", NULL, name + prefix);
		html_end(page);
	}
	html_end(page);
	html_end(page);
	free(values);
}

/* Only then there is a place to lead to. */
static bool is_in_run(const struct session *session, const struct plan_function *function)
{
	size_t verdicts[VERDICT_COUNT];

	return html_count_verdicts(session, function, verdicts) > 0;
}

static void write_cell(struct html_page *page, const struct session *session,
		       const struct plan_function *function, const struct plan_outcome *outcome)
{
	struct cell cell = cell_of(session, function, outcome);
	char *passed = format_text("%zu", cell.passed), *planned = format_text("%zu", cell.planned);
	char *title = format_text("%s %s: %s; %zu of %zu clauses passed", function->name,
				  outcome->name, cell_text(cell.state), cell.passed, cell.planned);
	char *target = format_text("#%s.%s", function->name, outcome->name);

	html_start(page, "td", "class", "outcome", "data-function", function->name, "data-outcome",
		   outcome->name, "data-kind", outcome->is_error ? "error" : "value", "data-state",
		   cell_name(cell.state), "data-passed", passed, "data-planned", planned, NULL);
	html_start(page, "a", "href", is_in_run(session, function) ? target : NULL, "title", title,
		   NULL);
	html_element(page, "b", NULL, cell_sign(cell.state));
	html_format(page, "%zu/%zu", cell.passed, cell.planned);
	if (!outcome->is_error)
		html_element(page, "small", NULL, outcome->name);
	html_end(page);
	html_end(page);
	free(passed);
	free(planned);
	free(title);
	free(target);
}

static void write_no_cell(struct html_page *page)
{
	html_element(page, "td", NULL, "\u00b7");
}

static void write_values(struct html_page *page, const struct matrix *matrix,
			 const struct plan_function *function)
{
	size_t written = 0, i;

	for (i = 0; i < function->outcome_count; i++) {
		if (function->outcomes[i].is_error)
			continue;
		write_cell(page, matrix->session, function, &function->outcomes[i]);
		written++;
	}
	for (; written < matrix->value_columns; written++)
		write_no_cell(page);
}

static void write_errors(struct html_page *page, const struct matrix *matrix,
			 const struct plan_function *function)
{
	size_t i;

	for (i = 0; i < matrix->column_count; i++) {
		const struct plan_outcome *outcome =
			plan_outcome(function, matrix->columns[i].name);

		if (outcome && outcome->is_error)
			write_cell(page, matrix->session, function, outcome);
		else
			write_no_cell(page);
	}
}

static void write_row(struct html_page *page, const struct matrix *matrix,
		      const struct plan_function *function)
{
	size_t verdicts[VERDICT_COUNT];
	size_t planned = html_count_verdicts(matrix->session, function, verdicts);

	html_line(page);
	html_start(page, "tr", NULL);
	html_start(page, "th", "scope", "row", NULL);
	if (planned)
		html_link(page, "", function->name, function->name);
	else
		html_text(page, function->name);
	if (function->supplement)
		html_element(page, "sup", NULL, "*");
	html_end(page);
	html_start(page, "td", "class", "sum", NULL);
	html_format(page, "%zu/%zu", verdicts[VERDICT_PASS], planned);
	html_end(page);
	write_values(page, matrix, function);
	write_errors(page, matrix, function);
	html_end(page);
}

static void write_legend(struct html_page *page, const struct matrix *matrix)
{
	int state;

	html_line(page);
	html_start(page, "ul", "class", "legend", NULL);
	for (state = 0; state < CELL_STATES; state++) {
		html_start(page, "li", NULL);
		html_start(page, "span", "class", "sample", "data-state", cell_name(state), NULL);
		html_text(page, cell_sign(state));
		html_end(page);
		html_format(page, " %s: %zu", cell_text(state), matrix->states[state]);
		html_end(page);
	}
	html_start(page, "li", NULL);
	html_element(page, "span", "sample", "\u00b7");
	html_text(page, " not documented");
	html_end(page);
	html_end(page);
}

static void write_explanation(struct html_page *page, const struct matrix *matrix)
{
	size_t prefix = common_prefix(matrix);

	html_start(page, "p", NULL);
	html_text(page, "Each cell is an outcome that the text documents for a function, with how "
			"many of its clauses passed of those in this run. An error is observed "
			"only when it came out itself.");
	if (prefix) {
		html_text(page, " All errors begin with ");
		html_start(page, "code", NULL);
		html_format(page, "%.*s", (int)prefix, matrix->columns[0].name);
		html_end(page);
		html_text(page, ", which the heads leave out.");
	}
	html_end(page);
}

static void write_supplements(struct html_page *page, const struct session *session)
{
	size_t f;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (!is_in(session, function) || !function->supplement)
			continue;
		html_start(page, "p", "class", "hint", NULL);
		html_format(page,
			    "* %s is documented elsewhere (%s); its outcomes are no part of "
			    "the totals.",
			    function->name, function->supplement);
		html_end(page);
	}
}

void html_matrix(struct html_page *page, const struct session *session)
{
	struct matrix matrix = {.session = session};
	size_t f;

	count_columns(&matrix);
	html_section(page, "matrix", "Functions and errors");
	write_explanation(page, &matrix);
	write_legend(page, &matrix);
	html_line(page);
	html_start(page, "div", "class", "wide", "tabindex", "0", "role", "region", "aria-label",
		   "Matrix of functions and errors", NULL);
	html_start(page, "table", "class",
		   matrix.column_count > MANY_COLUMNS ? "matrix many" : "matrix", NULL);
	write_head(page, &matrix);
	html_start(page, "tbody", NULL);
	for (f = 0; f < session->plan->function_count; f++) {
		if (is_in(session, &session->plan->functions[f]))
			write_row(page, &matrix, &session->plan->functions[f]);
	}
	html_end(page);
	html_end(page);
	html_end(page);
	write_supplements(page, session);
	html_end(page);
	free(matrix.columns);
}
