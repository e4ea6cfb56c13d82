/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.html: the certification as one page, for whoever looks at it first.  It follows from the
 * session alone, so that `verify` can write it again and compare.
 */
#include "report_html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "html_verdict.h"
#include "outcomes.h"
#include "report.h"

/* To be counted up when the page of a session becomes another one. */
#define FORMAT "scif-cts-report/1"

static const char *label_of(const struct session *session)
{
	return session->settings->label ? session->settings->label : "(no label)";
}

static void write_note(struct html_page *page, const char *class, char *text)
{
	html_line(page);
	html_element(page, "li", class, text);
	free(text);
}

/* What a reader of the verdict must not overlook. */
static void write_notes(struct html_page *page, const struct session *session)
{
	const struct settings *settings = session->settings;
	const struct waivers *waivers = &session->waivers;
	size_t i;

	html_start(page, "ul", "class", "notes", NULL);
	for (i = 0; i < waivers->count; i++) {
		if (waiver_is_out_of_date(&waivers->entries[i]))
			write_note(page, "bad", waiver_complaint(waivers, &waivers->entries[i]));
	}
	if (session->interrupted)
		write_note(page, "bad",
			   format_text("The run was interrupted: %zu clauses were not run.",
				       session->verdicts[VERDICT_NOTRUN]));
	if (session->verdicts[VERDICT_WAIVED])
		write_note(page, "waived",
			   format_text("WAIVED: %zu failures are excused by %s.",
				       session->verdicts[VERDICT_WAIVED], waivers->file));
	if (settings->shards)
		write_note(page, NULL,
			   format_text("Shard %d of %d: the other shards' clauses are not in this "
				       "report.",
				       settings->shard, settings->shards));
	if (settings->filter)
		write_note(page, NULL,
			   format_text("Only a part was run: the clauses of the filter %s.",
				       settings->filter));
	if (strcmp(settings->profile, "documented") != 0)
		write_note(page, NULL,
			   format_text("Judged by the profile %s, which accepts the deviations "
				       "listed below.",
				       settings->profile));
	html_end(page);
}

static void add_outcomes(const struct session *session, struct outcome_tally *values,
			 struct outcome_tally *errors)
{
	size_t f;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) != 0 || function->supplement)
			continue;
		outcome_count(session, function, false, values);
		outcome_count(session, function, true, errors);
	}
}

static void write_outcome_figures(struct html_page *page, const struct session *session)
{
	struct outcome_tally values = {0}, errors = {0};
	char *values_text, *errors_text;

	add_outcomes(session, &values, &errors);
	values_text = outcome_tally_text(&values, false);
	errors_text = outcome_tally_text(&errors, true);
	html_line(page);
	html_start(page, "p", NULL);
	html_text(page, "Documented errors observed: ");
	html_element(page, "b", NULL, errors_text);
	html_text(page, ". Documented success values observed: ");
	html_element(page, "b", NULL, values_text);
	html_text(page, ".");
	html_end(page);
	free(values_text);
	free(errors_text);
}

void html_headline(struct html_page *page, const struct session *session)
{
	const char *verdict = report_verdict(session);
	size_t waived = session->verdicts[VERDICT_WAIVED];

	html_line(page);
	html_start(page, "header", "data-headline", verdict, NULL);
	html_start(page, "p", "class", "kind", NULL);
	html_format(page, "scif-cts certification, API %s", session->api);
	html_end(page);
	html_start(page, "h1", NULL);
	html_start(page, "span", "class", "stamp", NULL);
	html_format(page, "%s %s",
		    strcmp(verdict, "PASSED") == 0   ? "\u2713"
		    : strcmp(verdict, "FAILED") == 0 ? "\u2717"
						     : "?",
		    verdict);
	html_end(page);
	if (waived) {
		html_start(page, "span", "class", "stamp waived", NULL);
		html_format(page, "\u2691 %zu WAIVED", waived);
		html_end(page);
	}
	html_text(page, " ");
	html_element(page, "span", "label", label_of(session));
	html_end(page);
	html_start(page, "p", "class", "lead", NULL);
	html_format(page, "%zu clauses: %s.", session->case_count, report_headline(session));
	html_end(page);
	write_notes(page, session);
	html_verdict_bar(page, session->verdicts);
	write_outcome_figures(page, session);
	html_end(page);
}

/* Where the parts of the page are; those that say nothing are left out. */
static void write_contents(struct html_page *page, const struct session *session)
{
	const struct {
		const char *id, *text;
		bool is_there;
	} parts[] = {
		{"identity", "Who, what, when", true},
		{"not-tested", "Not tested", true},
		{"failures", "Failures", true},
		{"unresolved", "Not judged", session->verdicts[VERDICT_UNRESOLVED] != 0},
		{"matrix", "Functions and errors", true},
		{"clauses", "Clauses", true},
		{"choices", "Choices", true},
		{"deviations", "Deviations", strcmp(session->settings->profile, "documented") != 0},
		{"waivers", "Waivers", session->waivers.file != NULL},
		{"rulings", "Rulings", true},
	};
	size_t i;

	html_line(page);
	html_start(page, "nav", "aria-label", "Contents", NULL);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].is_there)
			continue;
		html_link(page, "", parts[i].id, parts[i].text);
		html_text(page, " ");
	}
	html_end(page);
}

size_t html_count_verdicts(const struct session *session, const struct plan_function *function,
			   size_t verdicts[VERDICT_COUNT])
{
	size_t count = 0, i;

	memset(verdicts, 0, VERDICT_COUNT * sizeof(*verdicts));
	for (i = 0; i < session->case_count; i++) {
		if (session->cases[i].clause->function != function)
			continue;
		verdicts[session->cases[i].record.verdict]++;
		count++;
	}
	return count;
}

static int make_page(struct html_page *page, const struct session *session)
{
	char *title =
		format_text("%s: %s, %s", label_of(session), report_verdict(session), session->api);

	html_open(page, FORMAT, title);
	free(title);
	html_headline(page, session);
	write_contents(page, session);
	html_identity(page, session);
	html_not_tested(page, session);
	html_failures(page, session);
	html_matrix(page, session);
	html_functions(page, session);
	html_choices(page, session);
	html_deviations(page, session);
	html_waivers(page, session);
	html_rulings(page, session);
	return html_close(page);
}

int report_write_html(const struct session *session, const char *path)
{
	struct html_page page;
	int status = make_page(&page, session);

	if (!status)
		status = html_save(&page, path);
	html_free(&page);
	return status;
}

/* The line on which two texts begin to differ; 0 where they do not. */
static size_t first_difference(const char *a, size_t length_a, const char *b, size_t length_b)
{
	size_t line = 1, i;

	for (i = 0; i < length_a && i < length_b && a[i] == b[i]; i++)
		line += a[i] == '\n';
	return i == length_a && i == length_b ? 0 : line;
}

enum report_page report_compare_html(const struct session *session, const char *path, size_t *line)
{
	size_t length;
	char *told = file_text(path, &length);
	enum report_page result = PAGE_FOLLOWS;
	struct html_page page;

	if (!told)
		return PAGE_ABSENT;
	if (make_page(&page, session) != 0)
		abort();
	*line = first_difference(told, length, (const char *)xmlBufferContent(page.buffer),
				 (size_t)xmlBufferLength(page.buffer));
	if (*line)
		result = html_is_alike(told, FORMAT) ? PAGE_DIFFERS : PAGE_OF_ANOTHER_SUITE;
	html_free(&page);
	free(told);
	return result;
}
