/* SPDX-License-Identifier: BSD-2-Clause */
/* summary.txt: the certification as a person reads it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "outcomes.h"
#include "report.h"

static const char *headline(const struct session *session)
{
	if (session->verdicts[VERDICT_FAIL])
		return "FAILED: the implementation departs from the text";
	if (session->interrupted)
		return "UNRESOLVED: the run was interrupted";
	if (session_failed(session))
		return "UNRESOLVED: some cases could not be judged";
	return "PASSED: nothing that was tested departs from the text";
}

static void print_line(FILE *stream, const char *name, const char *value)
{
	fprintf(stream, "  %-14s %s\n", name, value ? value : "(none)");
}

static void print_identity(FILE *stream, const struct session *session)
{
	const struct platform *platform = &session->platform;
	char *class = environment_class_text(&session->environment);
	char *system = format_text("%s %s %s, %s, %s, %d processors", platform->system,
				   platform->release, platform->machine, platform->distribution,
				   platform->c_library, platform->processors);
	char *suite = format_text("scif-cts %s, API %s, profile %s", session->plan->suite_version,
				  session->api, session->settings->profile);

	fputs("\nImplementation\n", stream);
	print_line(stream, "path", session->library.path);
	print_line(stream, "SHA-256", session->library.sha256);
	print_line(stream, "build id", session->library.build_id);
	print_line(stream, "soname", session->library.soname);
	fputs("\nTested with\n", stream);
	print_line(stream, "suite", suite);
	print_line(stream, "spec hash", session->plan->spec_hash);
	print_line(stream, "platform", system);
	print_line(stream, "environment", class);
	if (session->settings->filter)
		print_line(stream, "filter", session->settings->filter);
	print_line(stream, "long cases", session->settings->all ? "run" : "not run");
	free(class);
	free(system);
	free(suite);
}

static void print_verdicts(FILE *stream, const struct session *session)
{
	int verdict;

	fprintf(stream, "\nVerdicts (%zu clauses, %.1f s)\n", session->case_count,
		session->duration_ms / 1000);
	for (verdict = 0; verdict < VERDICT_COUNT; verdict++)
		fprintf(stream, "  %-14s %zu\n", verdict_name(verdict), session->verdicts[verdict]);
}

/* The names of the outcomes of a function that are in STATE, each after a space. */
static char *outcome_names(const struct session *session, const struct plan_function *function,
			   enum outcome_state state)
{
	size_t length, i;
	char *text;
	FILE *stream = text_stream(&text, &length);

	for (i = 0; i < function->outcome_count; i++) {
		if (outcome_state(session, function, &function->outcomes[i]) == state)
			fprintf(stream, " %s", function->outcomes[i].name);
	}
	fclose(stream);
	return text;
}

static void print_outcome_row(FILE *stream, const struct session *session,
			      const struct plan_function *function)
{
	struct outcome_tally values = {0}, errors = {0};
	char *missing = outcome_names(session, function, OUTCOME_MISSING);
	char *ruled_out = outcome_names(session, function, OUTCOME_RULED_OUT);
	char *values_text, *errors_text;

	outcome_count(session, function, false, &values);
	outcome_count(session, function, true, &errors);
	values_text = outcome_tally_text(&values, false);
	errors_text = outcome_tally_text(&errors, false);
	fprintf(stream, "  %-22s %-10s %s", function->name, values_text, errors_text);
	if (*missing)
		fprintf(stream, "; not observed:%s", missing);
	if (*ruled_out)
		fprintf(stream, "; ruled out:%s", ruled_out);
	putc('\n', stream);
	free(missing);
	free(ruled_out);
	free(values_text);
	free(errors_text);
}

static void print_outcomes(FILE *stream, const struct session *session)
{
	struct outcome_tally values = {0}, errors = {0};
	char *values_text, *errors_text;
	size_t f;

	fputs("\nOutcomes observed of those documented\n", stream);
	fprintf(stream, "  %-22s %-10s %s\n", "function", "values", "errors");
	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) != 0)
			continue;
		print_outcome_row(stream, session, function);
		outcome_count(session, function, false, &values);
		outcome_count(session, function, true, &errors);
	}
	values_text = outcome_tally_text(&values, false);
	errors_text = outcome_tally_text(&errors, true);
	fprintf(stream, "  %-22s %-10s %s\n", "all", values_text, errors_text);
	free(values_text);
	free(errors_text);
}

static void print_choices(FILE *stream, const struct session *session)
{
	size_t i;

	fputs("\nChoices made where the text leaves one\n", stream);
	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (!run->record.choice || run->record.verdict != VERDICT_PASS)
			continue;
		fprintf(stream, "  %-40s %s", run->record.choice,
			run->record.observed ? run->record.observed : "(none)");
		if (strcmp(run->record.choice, run->clause->id) != 0)
			fprintf(stream, " (%s)", run->clause->id);
		putc('\n', stream);
	}
}

/* Profile knc: where the driver is known to depart from the text, and how sure that is. */
static void print_deviations(FILE *stream, const struct session *session)
{
	size_t i;

	if (strcmp(session->settings->profile, "documented") == 0)
		return;
	fprintf(stream, "\nAccepted by the profile %s beside the text\n",
		session->settings->profile);
	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];
		const struct plan_clause *clause = run->clause;

		if (!clause->deviation_tag || run->record.verdict != VERDICT_PASS)
			continue;
		fprintf(stream, "  %s: %s (%s%s%s)\n", clause->id,
			run->record.observed ? run->record.observed : "(none)",
			strcmp(clause->deviation_tag, "read") == 0 ? "unconfirmed, read"
								   : clause->deviation_tag,
			clause->deviation_where ? ": " : "",
			clause->deviation_where ? clause->deviation_where : "");
	}
}

static void print_failures(FILE *stream, const struct session *session)
{
	size_t i;

	if (!session_failed(session))
		return;
	fputs("\nFailed or not judged\n", stream);
	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (!verdict_counts_as_failed(run->record.verdict))
			continue;
		fprintf(stream, "  %s %s", verdict_name(run->record.verdict), run->clause->id);
		report_print_findings(stream, &run->record, "; ");
		putc('\n', stream);
	}
}

static const char *skip_reason(const struct case_run *run)
{
	return run->record.reason ? run->record.reason : "no reason was given";
}

static bool is_first_of_its_reason(const struct session *session, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++) {
		if (verdict_counts_as_skipped(session->cases[i].record.verdict) &&
		    strcmp(skip_reason(&session->cases[i]), skip_reason(&session->cases[index])) ==
			    0)
			return false;
	}
	return true;
}

static void print_skipped(FILE *stream, const struct session *session)
{
	size_t i, j;

	fputs("\nNot tested, and why\n", stream);
	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (!verdict_counts_as_skipped(run->record.verdict) ||
		    !is_first_of_its_reason(session, i))
			continue;
		fprintf(stream, "  %s\n", skip_reason(run));
		for (j = i; j < session->case_count; j++) {
			const struct case_run *other = &session->cases[j];

			if (verdict_counts_as_skipped(other->record.verdict) &&
			    strcmp(skip_reason(other), skip_reason(run)) == 0)
				fprintf(stream, "    %s\n", other->clause->id);
		}
	}
	if (!session_skipped(session))
		fputs("  (nothing)\n", stream);
}

void report_print_summary(FILE *stream, const struct session *session)
{
	fprintf(stream, "Certification: %s\n\n%s\n",
		session->settings->label ? session->settings->label : "(no label)",
		headline(session));
	print_identity(stream, session);
	print_verdicts(stream, session);
	print_outcomes(stream, session);
	print_failures(stream, session);
	print_choices(stream, session);
	print_deviations(stream, session);
	print_skipped(stream, session);
	putc('\n', stream);
	report_print_totals(stream, session);
}

int report_write_summary(const struct session *session, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	report_print_summary(file, session);
	return report_close(file);
}
