/* SPDX-License-Identifier: BSD-2-Clause */
/* What was not tested and why; what failed or could not be judged, alike findings together. */
#include <stdlib.h>
#include <string.h>

#include "alike.h"
#include "format.h"
#include "html_verdict.h"
#include "report.h"
#include "report_html.h"

/* So many ids are shown without being asked for. */
#define SHOWN_IDS 12

static void write_ids(struct html_page *page, const struct alike *alike)
{
	bool many = alike->count > SHOWN_IDS;
	size_t i;

	html_line(page);
	if (many) {
		html_start(page, "details", "open", "open", NULL);
		html_start(page, "summary", NULL);
		html_format(page, "%zu clauses", alike->count);
		html_end(page);
	}
	html_start(page, "ul", "class", "ids", NULL);
	for (i = 0; i < alike->count; i++) {
		html_start(page, "li", NULL);
		html_link(page, "", alike->runs[i]->clause->id, alike->runs[i]->clause->id);
		html_end(page);
	}
	html_end(page);
	if (many)
		html_end(page);
}

static void start_group(struct html_page *page, const struct alike *alike)
{
	html_line(page);
	html_start(page, "article", "class", "finding", "data-verdict",
		   verdict_name(alike->verdict), NULL);
	html_start(page, "h3", NULL);
	html_verdict(page, alike->verdict);
}

static bool verdict_is_untested(enum verdict verdict)
{
	return verdict == VERDICT_UNTESTED || verdict == VERDICT_UNSUPPORTED ||
	       verdict == VERDICT_NOTRUN;
}

static char *why_not_tested(const struct case_run *run)
{
	if (!verdict_is_untested(run->record.verdict))
		return NULL;
	return copy_text(run->record.reason ? run->record.reason : "no reason was given");
}

static void write_untested_count(struct html_page *page, const struct session *session,
				 size_t count)
{
	size_t unresolved = session->verdicts[VERDICT_UNRESOLVED];

	html_start(page, "p", NULL);
	if (count)
		html_format(page, "Of %zu clauses these %zu say nothing about the library.",
			    session->case_count, count);
	else
		html_text(page, "Every clause of this run was tested.");
	if (unresolved) {
		html_format(page, " %zu more do not either, since they ", unresolved);
		html_link(page, "", "unresolved", "could not be judged");
		html_text(page, ".");
	}
	html_end(page);
}

void html_not_tested(struct html_page *page, const struct session *session)
{
	struct alike_list list = alike_find(session, why_not_tested);
	size_t count = 0, i;

	for (i = 0; i < list.count; i++)
		count += list.groups[i].count;
	html_section(page, "not-tested", "What was not tested, and why");
	write_untested_count(page, session, count);
	for (i = 0; i < list.count; i++) {
		start_group(page, &list.groups[i]);
		html_format(page, " %zu: %s", list.groups[i].count, list.groups[i].text);
		html_end(page);
		write_ids(page, &list.groups[i]);
		html_end(page);
	}
	html_end(page);
	alike_free(&list);
}

/* All that was found, as one text: what makes failures alike. */
static char *failure(const struct case_run *run)
{
	const struct record *record = &run->record;
	size_t length;
	char *text;
	FILE *stream;

	if (record->verdict == VERDICT_PASS || verdict_is_untested(record->verdict))
		return NULL;
	stream = text_stream(&text, &length);
	report_print_findings(stream, record, "; ");
	fclose(stream);
	return text;
}

/* The clauses, with what they say where they are few. */
static void write_failed_clauses(struct html_page *page, const struct alike *alike)
{
	size_t i;

	if (alike->count > SHOWN_IDS) {
		write_ids(page, alike);
		return;
	}
	for (i = 0; i < alike->count; i++) {
		const struct plan_clause *clause = alike->runs[i]->clause;

		html_line(page);
		html_start(page, "p", NULL);
		html_link(page, "", clause->id, clause->id);
		html_format(page, " %s", clause->text);
		html_end(page);
	}
}

static void write_failure(struct html_page *page, const struct session *session,
			  const struct alike *alike)
{
	const struct case_run *first = alike->runs[0];
	const struct record *record = &first->record;
	char *replay = session_replay_command(session, first);
	char *output = format_text("failures/%s.txt", first->clause->id);

	start_group(page, alike);
	html_format(page, " %s", record->kind ? record->kind : verdict_meaning(alike->verdict));
	if (alike->count > 1)
		html_format(page, ", %zu alike", alike->count);
	html_end(page);
	write_failed_clauses(page, alike);
	html_start(page, "dl", NULL);
	html_code_pair(page, "expected", record->expected);
	html_code_pair(page, "observed",
		       record->observed || !record->expected ? record->observed : "(nothing)");
	html_pair(page, "reason", record->reason);
	html_code_pair(page, alike->count > 1 ? "replay the first" : "replay", replay);
	html_element(page, "dt", NULL, alike->count > 1 ? "the first printed" : "it printed");
	html_start(page, "dd", NULL);
	html_start(page, "a", "href", output, NULL);
	html_text(page, output);
	html_end(page);
	html_end(page);
	html_end(page);
	html_end(page);
	free(output);
	free(replay);
}

static size_t write_all(struct html_page *page, const struct session *session,
			const struct alike_list *list, bool (*is_meant)(enum verdict verdict))
{
	size_t count = 0, i;

	for (i = 0; i < list->count; i++) {
		if (!is_meant(list->groups[i].verdict))
			continue;
		write_failure(page, session, &list->groups[i]);
		count++;
	}
	return count;
}

/* Where failures are: the functions that have any, with their numbers. */
static void write_failed_functions(struct html_page *page, const struct session *session)
{
	size_t verdicts[VERDICT_COUNT], f;

	html_start(page, "ul", "class", "ids", NULL);
	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		html_count_verdicts(session, function, verdicts);
		verdicts[VERDICT_PASS] = verdicts[VERDICT_UNTESTED] = 0;
		verdicts[VERDICT_UNSUPPORTED] = verdicts[VERDICT_NOTRUN] = 0;
		if (!verdicts[VERDICT_FAIL] && !verdicts[VERDICT_WAIVED])
			continue;
		html_start(page, "li", NULL);
		html_link(page, "", function->name, function->name);
		html_text(page, " ");
		html_verdict_counts(page, verdicts);
		html_end(page);
	}
	html_end(page);
}

static bool is_failure(enum verdict verdict)
{
	return verdict == VERDICT_FAIL || verdict == VERDICT_WAIVED;
}

static bool is_unresolved(enum verdict verdict)
{
	return verdict == VERDICT_UNRESOLVED;
}

void html_failures(struct html_page *page, const struct session *session)
{
	struct alike_list list = alike_find(session, failure);

	html_section(page, "failures", "Failures");
	write_failed_functions(page, session);
	if (!write_all(page, session, &list, is_failure))
		html_element(page, "p", NULL, "None.");
	html_end(page);
	if (session->verdicts[VERDICT_UNRESOLVED]) {
		html_section(page, "unresolved", "Could not be judged");
		html_element(page, "p", NULL,
			     "The set-up of these broke, so they say nothing about the library.");
		html_start(page, "details", "open", "open", NULL);
		html_start(page, "summary", NULL);
		html_format(page, "%zu clauses", session->verdicts[VERDICT_UNRESOLVED]);
		html_end(page);
		write_all(page, session, &list, is_unresolved);
		html_end(page);
		html_end(page);
	}
	alike_free(&list);
}
