/* SPDX-License-Identifier: BSD-2-Clause */
/* summary.txt: the certification as a person reads it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alike.h"
#include "format.h"
#include "locate.h"
#include "machine.h"
#include "outcomes.h"
#include "report.h"

/* Of failures with the same findings so many are named. */
#define NAMED_ALIKE 3

const char *report_verdict(const struct session *session)
{
	switch (session_exit_status(session)) {
	case EXIT_PASSED:
		return "PASSED";
	case EXIT_FAILED:
		return "FAILED";
	default:
		return "UNRESOLVED";
	}
}

const char *report_headline(const struct session *session)
{
	if (session->verdicts[VERDICT_FAIL])
		return "the implementation departs from the text";
	if (waivers_out_of_date(&session->waivers))
		return "a waiver is out of date";
	if (session->interrupted)
		return "the run was interrupted";
	if (session_failed(session))
		return "some cases could not be judged";
	if (session->verdicts[VERDICT_WAIVED])
		return "what departs from the text is waived";
	return "nothing that was tested departs from the text";
}

static void print_headline(FILE *stream, const struct session *session)
{
	const struct settings *settings = session->settings;

	fprintf(stream, "Certification: %s\n\n%s", settings->label ? settings->label : "(no label)",
		report_verdict(session));
	if (session->verdicts[VERDICT_WAIVED])
		fprintf(stream, ", %zu WAIVED", session->verdicts[VERDICT_WAIVED]);
	fprintf(stream, ": %s\n", report_headline(session));
	if (settings->filter)
		fprintf(stream, "Only a part was run, %zu clauses: --filter '%s'\n",
			session->case_count, settings->filter);
	if (settings->shards)
		fprintf(stream,
			"Shard %d of %d: the other shards' clauses are not in this folder\n",
			settings->shard, settings->shards);
	report_print_waiver_complaints(stream, session, "");
}

static void print_waiver(FILE *stream, const struct session *session, const struct waiver *waiver)
{
	size_t i;

	fprintf(stream, "  line %d, %s, %s until %s: %s (%s)\n", waiver->line, waiver->clause,
		waiver_state_name(waiver->state), waiver->expires, waiver->reason, waiver->link);
	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (run->record.verdict != VERDICT_WAIVED ||
		    waivers_find(&session->waivers, run->clause->id) != waiver)
			continue;
		fprintf(stream, "    WAIVED %s", run->clause->id);
		report_print_findings(stream, &run->record, "; ");
		putc('\n', stream);
	}
}

static void print_waivers(FILE *stream, const struct session *session)
{
	const struct waivers *waivers = &session->waivers;
	size_t i;

	if (!waivers->file)
		return;
	fprintf(stream, "\nWaivers (%s)\n", waivers->file);
	for (i = 0; i < waivers->count; i++)
		print_waiver(stream, session, &waivers->entries[i]);
	if (!waivers->count)
		fputs("  (none)\n", stream);
}

static void print_line(FILE *stream, const char *name, const char *value)
{
	fprintf(stream, "  %-14s %s\n", name, value ? value : "(none)");
}

static void print_library(FILE *stream, const char *title, const struct library *library)
{
	fprintf(stream, "\n%s\n", title);
	print_line(stream, "path", library->path);
	print_line(stream, "SHA-256", library->sha256);
	print_line(stream, "build id", library->build_id);
	print_line(stream, "soname", library->soname);
}

static void print_carrier(FILE *stream, const struct session *session)
{
	const char *below = locate_carrier(session->api);
	char *title;

	if (!below)
		return;
	title = format_text("Carried by lib%s", below);
	if (session->carrier.path)
		print_library(stream, title, &session->carrier);
	else
		fprintf(stream, "\n%s\n  not named: whatever the loader found\n", title);
	free(title);
}

static void print_identity(FILE *stream, const struct session *session)
{
	const struct platform *platform = &session->platform;
	char *class = environment_class_text(&session->environment);
	char *system = format_text("%s %s %s, %s, %s, %d processors", platform->system,
				   platform->release, platform->machine, platform->distribution,
				   platform->c_library, platform->processors);
	char *suite =
		format_text("scif-cts %s, API %s, profile %s", session->document->suite_version,
			    session->api, session->settings->profile);

	print_library(stream, "Implementation", &session->library);
	print_carrier(stream, session);
	fputs("\nTested with\n", stream);
	print_line(stream, "suite", suite);
	print_line(stream, "spec hash", session->document->spec_hash);
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

/* The column of the functions: as wide as the longest name. */
static int name_width(const struct session *session)
{
	size_t width = 0, f;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) == 0 && strlen(function->name) > width)
			width = strlen(function->name);
	}
	return (int)width + 2;
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
	fprintf(stream, "  %-*s %-10s %s", name_width(session), function->name, values_text,
		errors_text);
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

/* What the API's text does not document is no part of its totals. */
static void print_supplements(FILE *stream, const struct session *session)
{
	size_t f;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) != 0 || !function->supplement)
			continue;
		fprintf(stream, "\nCounted apart, since documented elsewhere: %s\n",
			function->supplement);
		print_outcome_row(stream, session, function);
	}
}

static void print_outcomes(FILE *stream, const struct session *session)
{
	struct outcome_tally values = {0}, errors = {0};
	char *values_text, *errors_text;
	int width = name_width(session);
	size_t f;

	fputs("\nOutcomes observed of those documented\n", stream);
	fprintf(stream, "  %-*s %-10s %s\n", width, "function", "values", "errors");
	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) != 0 || function->supplement)
			continue;
		print_outcome_row(stream, session, function);
		outcome_count(session, function, false, &values);
		outcome_count(session, function, true, &errors);
	}
	values_text = outcome_tally_text(&values, false);
	errors_text = outcome_tally_text(&errors, true);
	fprintf(stream, "  %-*s %-10s %s\n", width, "all", values_text, errors_text);
	free(values_text);
	free(errors_text);
	print_supplements(stream, session);
}

static void print_choices(FILE *stream, const struct session *session)
{
	bool any = false;
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
		any = true;
	}
	if (!any)
		fputs("  (none)\n", stream);
}

/* What was found, as text; NULL where that is no failure. To be freed. */
static char *failure_text(const struct case_run *run)
{
	const struct record *record = &run->record;
	size_t length;
	char *text;
	FILE *stream;

	if (record->verdict != VERDICT_FAIL && record->verdict != VERDICT_UNRESOLVED)
		return NULL;
	stream = text_stream(&text, &length);
	report_print_findings(stream, record, "; ");
	fclose(stream);
	return text;
}

/* Failures with the same findings, in a line. */
static void print_alike_failures(FILE *stream, const struct alike *alike)
{
	size_t i;

	fprintf(stream, "  %s %s", verdict_name(alike->verdict), alike->runs[0]->clause->id);
	for (i = 1; i < alike->count && i < NAMED_ALIKE; i++)
		fprintf(stream, ", %s", alike->runs[i]->clause->id);
	if (alike->count > NAMED_ALIKE)
		fprintf(stream, " and %zu more", alike->count - NAMED_ALIKE);
	if (alike->count > 1)
		fprintf(stream, " (%zu alike)", alike->count);
	fprintf(stream, "%s\n", alike->text);
}

static void print_failures(FILE *stream, const struct session *session)
{
	struct alike_list list = alike_find(session, failure_text);
	size_t i;

	if (list.count)
		fputs("\nFailed or not judged\n", stream);
	for (i = 0; i < list.count; i++)
		print_alike_failures(stream, &list.groups[i]);
	alike_free(&list);
}

/* The clauses that were left out in one way, under the reasons that their records give. */
static void print_by_reason(FILE *stream, const struct session *session,
			    char *(*reason)(const struct case_run *run))
{
	struct alike_list list = alike_find(session, reason);
	size_t i, c;

	for (i = 0; i < list.count; i++) {
		fprintf(stream, "  %s\n", list.groups[i].text);
		for (c = 0; c < list.groups[i].count; c++)
			fprintf(stream, "    %s\n", list.groups[i].runs[c]->clause->id);
	}
	alike_free(&list);
}

static char *reason_of(const struct case_run *run)
{
	return copy_text(run->record.reason ? run->record.reason : "no reason was given");
}

static char *why_not_tested(const struct case_run *run)
{
	enum verdict verdict = run->record.verdict;

	return verdict == VERDICT_UNTESTED || verdict == VERDICT_UNSUPPORTED ? reason_of(run)
									     : NULL;
}

static char *why_not_run(const struct case_run *run)
{
	return run->record.verdict == VERDICT_NOTRUN ? reason_of(run) : NULL;
}

static void print_not_tested(FILE *stream, const struct session *session)
{
	fputs("\nNot tested, and why\n", stream);
	if (!session->verdicts[VERDICT_UNTESTED] && !session->verdicts[VERDICT_UNSUPPORTED])
		fputs("  (none)\n", stream);
	print_by_reason(stream, session, why_not_tested);
	if (!session->verdicts[VERDICT_NOTRUN])
		return;
	fputs("\nNot run, and why\n", stream);
	print_by_reason(stream, session, why_not_run);
}

void report_print_summary(FILE *stream, const struct session *session)
{
	print_headline(stream, session);
	print_identity(stream, session);
	if (session->machine)
		machine_print(stream, session->machine);
	print_verdicts(stream, session);
	print_outcomes(stream, session);
	print_failures(stream, session);
	print_waivers(stream, session);
	print_choices(stream, session);
	report_print_deviations(stream, session);
	print_not_tested(stream, session);
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
