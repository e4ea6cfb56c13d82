/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The annotated text: per function and outcome what is asked of an implementation, and what this
 * one did.
 */
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "format.h"
#include "html_verdict.h"
#include "report.h"
#include "report_html.h"

static void write_result(struct html_page *page, const struct record *record)
{
	if (!record->expected && !record->observed)
		return;
	html_start(page, "p", "class", "result", NULL);
	if (record->expected) {
		html_text(page, "expected ");
		html_element(page, "code", NULL, record->expected);
	}
	if (record->expected && record->observed)
		html_text(page, ", ");
	if (record->observed) {
		html_text(page, "observed ");
		html_element(page, "code", NULL, record->observed);
	}
	if (record->kind)
		html_format(page, " (%s)", record->kind);
	html_end(page);
}

static void write_errata(struct html_page *page, const struct plan_clause *clause)
{
	size_t i;

	for (i = 0; i < clause->errata_count; i++) {
		html_text(page, i ? ", " : " \u00b7 ruling ");
		html_link(page, "", clause->errata[i], clause->errata[i]);
	}
	if (clause->ruled_out) {
		html_text(page, " \u00b7 ruled out by ");
		html_link(page, "", clause->ruled_out, clause->ruled_out);
	}
}

/* Where the clause comes from, how it is provoked, how long that took. */
static void write_origin(struct html_page *page, const struct case_run *run)
{
	const struct plan_clause *clause = run->clause;
	double ms = report_ms(&run->record);
	size_t i;

	html_start(page, "p", "class", "origin", NULL);
	html_text(page, clause->source ? clause->source : "no source");
	if (clause->provoker)
		html_format(page, " \u00b7 provoker: %s", clause->provoker);
	for (i = 0; i < clause->needs_count; i++)
		html_format(page, "%s%s", i ? ", " : " \u00b7 needs ", clause->needs[i]);
	if (clause->is_long)
		html_text(page, " \u00b7 long");
	if (clause->deviation_tag)
		html_format(page, " \u00b7 knc deviates (%s)", clause->deviation_tag);
	write_errata(page, clause);
	for (i = 0; i < clause->report_count; i++)
		html_format(page, "%s%s", i ? ", " : " \u00b7 would show ", clause->reports[i]);
	if (ms > 0)
		html_format(page, " \u00b7 %.1f ms", ms);
	html_end(page);
}

static void write_call(struct html_page *page, const struct plan_clause *clause)
{
	if (clause->call)
		html_element(page, "code", "call", clause->call);
	else if (clause->scenario)
		html_element(page, "code", "call", clause->scenario);
}

/* What stands behind the id in the command that replays a case; to be freed. */
static char *replay_options(const struct session *session, const struct case_run *run)
{
	char *command = session_replay_command(session, run);
	char *id = strstr(command, run->clause->id);
	char *options = copy_text(id ? id + strlen(run->clause->id) : "");

	free(command);
	return options;
}

/* Nearly all commands end alike, in what the shell was given at the head of the section. */
static void write_replay(struct html_page *page, const struct session *session,
			 const struct case_run *run, const char *common)
{
	char *options = replay_options(session, run);

	html_start(page, "code", "class", "replay", NULL);
	html_format(page, "scif-cts replay %s ", run->clause->id);
	if (strcmp(options, common) == 0)
		html_link(page, "", "replay", "\"$@\"");
	else
		html_text(page, options + strspn(options, " "));
	html_end(page);
	free(options);
}

static void write_clause(struct html_page *page, const struct session *session,
			 const struct case_run *run, const char *common)
{
	const struct record *record = &run->record;

	html_line(page);
	html_start(page, "article", "class", "clause", "id", run->clause->id, "data-verdict",
		   verdict_name(record->verdict), NULL);
	html_start(page, "h5", NULL);
	html_start(page, "b", NULL);
	html_format(page, "%s %s", verdict_sign(record->verdict), verdict_name(record->verdict));
	html_end(page);
	html_link(page, "", run->clause->id, run->clause->id);
	html_end(page);
	html_element(page, "p", NULL, run->clause->text);
	write_call(page, run->clause);
	write_result(page, record);
	if (record->reason)
		html_element(page, "p", "reason", record->reason);
	write_origin(page, run);
	write_replay(page, session, run, common);
	html_end(page);
}

/* The clauses of a function that have an outcome. */
static void write_clauses(struct html_page *page, const struct session *session,
			  const struct plan_function *function, const char *outcome)
{
	char *common = replay_options(session, &session->cases[0]);
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct plan_clause *clause = session->cases[i].clause;

		if (clause->function != function || strcmp(clause->outcome, outcome) != 0)
			continue;
		write_clause(page, session, &session->cases[i], common);
	}
	free(common);
}

static void write_outcome(struct html_page *page, const struct session *session,
			  const struct plan_function *function, const struct plan_outcome *outcome)
{
	struct cell cell = cell_of(session, function, outcome);
	char *id = format_text("%s.%s", function->name, outcome->name);

	html_line(page);
	html_start(page, "section", "id", id, NULL);
	html_start(page, "h4", NULL);
	html_start(page, "span", "class", "sample", "data-state", cell_name(cell.state), "title",
		   cell_text(cell.state), NULL);
	html_text(page, cell_sign(cell.state));
	html_end(page);
	html_element(page, "code", NULL, outcome->name);
	html_format(page, " %s", outcome->text ? outcome->text : "");
	html_start(page, "small", NULL);
	html_format(page, "%s, %zu of %zu passed", cell_text(cell.state), cell.passed,
		    cell.planned);
	html_end(page);
	html_end(page);
	write_clauses(page, session, function, outcome->name);
	html_end(page);
	free(id);
}

static bool has_earlier(const struct session *session, size_t index)
{
	const struct plan_clause *clause = session->cases[index].clause;
	size_t i;

	for (i = 0; i < index; i++) {
		if (session->cases[i].clause->function == clause->function &&
		    strcmp(session->cases[i].clause->outcome, clause->outcome) == 0)
			return true;
	}
	return false;
}

/* Clauses about results that the text does not list for the function. */
static void write_others(struct html_page *page, const struct session *session,
			 const struct plan_function *function)
{
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct plan_clause *clause = session->cases[i].clause;

		if (clause->function != function || plan_outcome(function, clause->outcome) ||
		    has_earlier(session, i))
			continue;
		html_line(page);
		html_start(page, "section", NULL);
		html_start(page, "h4", NULL);
		html_element(page, "code", NULL, clause->outcome);
		html_text(page, " not among the documented outcomes of the function");
		html_end(page);
		write_clauses(page, session, function, clause->outcome);
		html_end(page);
	}
}

static void write_function(struct html_page *page, const struct session *session,
			   const struct plan_function *function)
{
	size_t verdicts[VERDICT_COUNT], i;

	if (!html_count_verdicts(session, function, verdicts))
		return;
	html_line(page);
	html_start(page, "details", "class", "function", "id", function->name, "open", "open",
		   NULL);
	html_start(page, "summary", NULL);
	html_element(page, "h3", NULL, function->name);
	html_verdict_counts(page, verdicts);
	if (function->summary)
		html_element(page, "small", NULL, function->summary);
	html_end(page);
	if (function->prototype)
		html_element(page, "code", "prototype", function->prototype);
	for (i = 0; i < function->outcome_count; i++)
		write_outcome(page, session, function, &function->outcomes[i]);
	write_others(page, session, function);
	html_end(page);
}

/* Filled in and shown by the script: without it there is nothing to filter with. */
static void write_filter(struct html_page *page)
{
	html_line(page);
	html_start(page, "form", "id", "filter", "hidden", "hidden", NULL);
	html_start(page, "span", "class", "verdicts", NULL);
	html_end(page);
	html_start(page, "select", "aria-label", "Function", NULL);
	html_end(page);
	html_void(page, "input", "type", "search", "placeholder", "text, id or call", "aria-label",
		  "Text to look for", NULL);
	html_start(page, "button", "type", "button", NULL);
	html_text(page, "Open all");
	html_end(page);
	html_start(page, "output", NULL);
	html_end(page);
	html_end(page);
}

static void write_how_to_replay(struct html_page *page, const struct session *session)
{
	char *common;

	if (!session->case_count)
		return;
	common = replay_options(session, &session->cases[0]);
	html_start(page, "p", "id", "replay", NULL);
	html_text(page, "To replay clauses, give the shell their options once: ");
	html_start(page, "code", NULL);
	html_format(page, "set --%s", common);
	html_end(page);
	html_end(page);
	free(common);
}

void html_functions(struct html_page *page, const struct session *session)
{
	size_t f;

	html_section(page, "clauses", "Clauses");
	html_element(page, "p", NULL,
		     "What the text asks of each function, and what this implementation did.");
	write_how_to_replay(page, session);
	write_filter(page);
	for (f = 0; f < session->plan->function_count; f++)
		write_function(page, session, &session->plan->functions[f]);
	html_end(page);
}
