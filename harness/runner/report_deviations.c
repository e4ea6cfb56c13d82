/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a profile accepts beside the text, clause by clause: how the driver was measured to depart
 * from it, and apart from that what was only read of and is confirmed or refuted by nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "report.h"

static bool is_read(const struct plan_clause *clause)
{
	return strcmp(clause->deviation_tag, "read") == 0;
}

/* Whether a result is one that the text itself gives: 1, 0, or -1 where the result does not tell.
 */
static int as_documented(const struct case_run *run)
{
	const struct plan_clause *clause = run->clause;
	const char *observed = run->record.observed;
	bool failed;
	size_t i;

	if (!observed || clause->scenario)
		return -1;
	failed = strncmp(observed, "-1 E", 4) == 0 || strncmp(observed, "RSMERR_", 7) == 0;
	if (!clause->is_error)
		return failed ? 0 : -1;
	for (i = 0; failed && i < clause->errors_count; i++) {
		if (has_word(observed, clause->errors[i]))
			return 1;
	}
	return 0;
}

static void print_entry(FILE *stream, const struct case_run *run)
{
	static const char *const told[] = {"", ", which is not the text's",
					   ", which is the text's"};
	const struct plan_clause *clause = run->clause;

	fprintf(stream, "  %s: %s\n    the text: %s; answered: %s%s\n    source: %s\n", clause->id,
		clause->text, clause->outcome,
		run->record.observed ? run->record.observed : "(a scenario)",
		told[as_documented(run) + 1],
		clause->deviation_where ? clause->deviation_where : "none");
}

/* The passed clauses with an entry of one kind; returns how many. */
static size_t print_passed(FILE *stream, const struct session *session, bool read)
{
	size_t count = 0, i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (!run->clause->deviation_tag || is_read(run->clause) != read ||
		    run->record.verdict != VERDICT_PASS)
			continue;
		print_entry(stream, run);
		count++;
	}
	if (!count)
		fputs("  (none)\n", stream);
	return count;
}

static void print_others(FILE *stream, const struct session *session)
{
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (run->clause->deviation_tag && run->record.verdict != VERDICT_PASS)
			fprintf(stream, "  %s %s (%s: %s)\n", verdict_name(run->record.verdict),
				run->clause->id, run->clause->deviation_tag,
				run->clause->deviation_where ? run->clause->deviation_where
							     : "none");
	}
}

static size_t others(const struct session *session)
{
	size_t count = 0, i;

	for (i = 0; i < session->case_count; i++)
		count += session->cases[i].clause->deviation_tag &&
			 session->cases[i].record.verdict != VERDICT_PASS;
	return count;
}

void report_print_deviations(FILE *stream, const struct session *session)
{
	const char *profile = session->settings->profile;

	if (strcmp(profile, "documented") == 0)
		return;
	fprintf(stream, "\nDepartures from the text that the profile %s accepts, as measured\n",
		profile);
	print_passed(stream, session, false);
	fprintf(stream, "\nAccepted by the profile %s without confirmation: read, not measured\n",
		profile);
	print_passed(stream, session, true);
	if (!others(session))
		return;
	fprintf(stream, "\nEntries of the profile %s that this run did not meet\n", profile);
	print_others(stream, session);
}

static json_t *entry_json(const struct case_run *run)
{
	const struct plan_clause *clause = run->clause;
	int documented = as_documented(run);

	return json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s, s:s?, s:o}", "id", clause->id, "tag",
			 clause->deviation_tag, "where", clause->deviation_where, "text",
			 clause->text, "outcome", clause->outcome, "verdict",
			 verdict_name(run->record.verdict), "observed", run->record.observed,
			 "as_documented", documented < 0 ? json_null() : json_boolean(documented));
}

json_t *report_deviations_json(const struct session *session)
{
	json_t *entries = json_array();
	size_t i;

	if (strcmp(session->settings->profile, "documented") == 0)
		return entries;
	for (i = 0; i < session->case_count; i++) {
		if (session->cases[i].clause->deviation_tag)
			json_array_append_new(entries, entry_json(&session->cases[i]));
	}
	return entries;
}
