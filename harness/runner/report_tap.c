/* SPDX-License-Identifier: BSD-2-Clause */
/* results.tap, and the pieces of text that several reports share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

static void print_finding(FILE *stream, const char *separator, const char *name, const char *text)
{
	if (!text)
		return;
	fputs(separator, stream);
	fputs(name, stream);
	/* One finding, one line, whatever the implementation made of it. */
	for (; *text; text++)
		putc(*text == '\n' ? ' ' : *text, stream);
}

void report_print_findings(FILE *stream, const struct record *record, const char *separator)
{
	const char *first = *separator == '\n' ? separator : ": ";

	if (record->kind) {
		print_finding(stream, first, "", record->kind);
		first = separator;
	}
	if (record->expected) {
		print_finding(stream, first, "expected ", record->expected);
		first = separator;
	}
	if (record->observed) {
		print_finding(stream, first, "observed ", record->observed);
		first = separator;
	}
	print_finding(stream, first, "", record->reason);
}

/* TAP's word for a failure that is known. */
static void print_waived(FILE *stream, const struct session *session, const struct case_run *run)
{
	const struct waiver *waiver = waivers_find(&session->waivers, run->clause->id);

	fprintf(stream, " # TODO WAIVED until %s: ", waiver->expires);
	print_finding(stream, "", "", waiver->reason);
	fprintf(stream, " (%s)", waiver->link);
}

void report_print_tap_line(FILE *stream, const struct session *session, const struct case_run *run,
			   size_t number)
{
	const struct record *record = &run->record;

	if (verdict_counts_as_failed(record->verdict) || record->verdict == VERDICT_WAIVED) {
		fprintf(stream, "not ok %zu - %s", number, run->clause->id);
		if (record->verdict == VERDICT_WAIVED)
			print_waived(stream, session, run);
		fprintf(stream, "\n# %s %s", verdict_name(record->verdict), run->clause->id);
		report_print_findings(stream, record, "\n#   ");
	} else {
		fprintf(stream, "ok %zu - %s", number, run->clause->id);
		if (verdict_counts_as_skipped(record->verdict)) {
			fprintf(stream, " # SKIP %s", verdict_name(record->verdict));
			print_finding(stream, ": ", "", record->reason);
		}
	}
	putc('\n', stream);
}

void report_print_tap_waivers(FILE *stream, const struct session *session)
{
	const struct waivers *waivers = &session->waivers;
	size_t i;

	for (i = 0; i < waivers->count; i++) {
		const struct waiver *waiver = &waivers->entries[i];
		bool bad = waiver_is_out_of_date(waiver);
		char *complaint = bad ? waiver_complaint(waivers, waiver) : NULL;

		fprintf(stream, "%sok %zu - waiver %s:%d: %s\n", bad ? "not " : "",
			session->case_count + i + 1, waivers->file, waiver->line,
			waiver_state_name(waiver->state));
		if (bad)
			fprintf(stream, "# %s\n", complaint);
		free(complaint);
	}
}

void report_print_waiver_complaints(FILE *stream, const struct session *session, const char *prefix)
{
	const struct waivers *waivers = &session->waivers;
	size_t i;

	for (i = 0; i < waivers->count; i++) {
		char *complaint;

		if (!waiver_is_out_of_date(&waivers->entries[i]))
			continue;
		complaint = waiver_complaint(waivers, &waivers->entries[i]);
		fprintf(stream, "%s%s\n", prefix, complaint);
		free(complaint);
	}
}

void report_print_totals(FILE *stream, const struct session *session)
{
	if (session->verdicts[VERDICT_WAIVED])
		fprintf(stream, "WAIVED: %zu failures are excused by %s\n",
			session->verdicts[VERDICT_WAIVED], session->waivers.file);
	report_print_waiver_complaints(stream, session, "");
	if (session->interrupted)
		fprintf(stream, "interrupted: %zu clauses were not run\n",
			session->verdicts[VERDICT_NOTRUN]);
	fprintf(stream, "%zu passed, %zu failed, %zu skipped\n", session->verdicts[VERDICT_PASS],
		session_failed(session), session_skipped(session));
}

int report_write_tap(const struct session *session, const char *path)
{
	FILE *file = fopen(path, "we");
	size_t i;

	if (!file)
		return -errno;
	fprintf(file, "1..%zu\n", session->case_count + session->waivers.count);
	for (i = 0; i < session->case_count; i++)
		report_print_tap_line(file, session, &session->cases[i], i + 1);
	report_print_tap_waivers(file, session);
	return report_close(file);
}

int report_write_failure(const struct session *session, const struct case_run *run,
			 const char *path)
{
	FILE *file = fopen(path, "we");
	char *replay;

	if (!file)
		return -errno;
	replay = session_replay_command(session, run);
	fprintf(file, "%s %s", verdict_name(run->record.verdict), run->clause->id);
	report_print_findings(file, &run->record, "\n  ");
	fprintf(file, "\n\n%s\n\nreplay: %s\n\noutput:\n%s", run->clause->text, replay,
		run->output ? run->output : "(none)\n");
	free(replay);
	return report_close(file);
}
