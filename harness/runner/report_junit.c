/* SPDX-License-Identifier: BSD-2-Clause */
/* junit.xml: a test suite per function, a test case per clause. */
#include <errno.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "report.h"

struct suite_counts {
	size_t tests, failures, errors, skipped;
	double ms;
};

/* JUnit's failure is a FAIL, its error is everything that kept a verdict from being found. */
static void count_case(struct suite_counts *counts, const struct record *record)
{
	counts->tests++;
	counts->failures += record->verdict == VERDICT_FAIL;
	counts->errors +=
		record->verdict == VERDICT_UNRESOLVED || record->verdict == VERDICT_NOTRUN;
	counts->skipped += verdict_counts_as_skipped(record->verdict);
	counts->ms += record->ms;
}

static struct suite_counts count_cases(const struct session *session,
				       const struct plan_function *function)
{
	struct suite_counts counts = {0};
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		if (!function || session->cases[i].clause->function == function)
			count_case(&counts, &session->cases[i].record);
	}
	return counts;
}

static void write_text(xmlTextWriter *writer, const char *name, const char *text)
{
	xmlTextWriterWriteAttribute(writer, BAD_CAST name, BAD_CAST text);
}

static void write_counts(xmlTextWriter *writer, const struct suite_counts *counts)
{
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "tests", "%zu", counts->tests);
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "failures", "%zu", counts->failures);
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "errors", "%zu", counts->errors);
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "skipped", "%zu", counts->skipped);
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "time", "%.3f", counts->ms / 1000);
}

static char *findings(const struct record *record)
{
	size_t length;
	char *text;
	FILE *stream = text_stream(&text, &length);

	fputs(verdict_name(record->verdict), stream);
	report_print_findings(stream, record, "; ");
	fclose(stream);
	return text;
}

static void write_finding(xmlTextWriter *writer, const struct record *record)
{
	const char *element = "error";
	char *message;

	if (record->verdict == VERDICT_PASS)
		return;
	if (record->verdict == VERDICT_FAIL)
		element = "failure";
	else if (verdict_counts_as_skipped(record->verdict))
		element = "skipped";
	message = findings(record);
	xmlTextWriterStartElement(writer, BAD_CAST element);
	write_text(writer, "message", message);
	if (record->kind)
		write_text(writer, "type", record->kind);
	xmlTextWriterEndElement(writer);
	free(message);
}

static void write_case(xmlTextWriter *writer, const struct session *session,
		       const struct case_run *run)
{
	const struct plan_clause *clause = run->clause;

	xmlTextWriterStartElement(writer, BAD_CAST "testcase");
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "classname", "%s.%s", session->api,
					  clause->function->name);
	write_text(writer, "name", clause->id);
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "time", "%.3f", run->record.ms / 1000);
	write_finding(writer, &run->record);
	if (run->output && verdict_counts_as_failed(run->record.verdict))
		xmlTextWriterWriteElement(writer, BAD_CAST "system-out", BAD_CAST run->output);
	xmlTextWriterEndElement(writer);
}

static void write_suite(xmlTextWriter *writer, const struct session *session,
			const struct plan_function *function)
{
	struct suite_counts counts = count_cases(session, function);
	size_t i;

	if (!counts.tests)
		return;
	xmlTextWriterStartElement(writer, BAD_CAST "testsuite");
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "name", "%s.%s", session->api,
					  function->name);
	write_counts(writer, &counts);
	for (i = 0; i < session->case_count; i++) {
		if (session->cases[i].clause->function == function)
			write_case(writer, session, &session->cases[i]);
	}
	xmlTextWriterEndElement(writer);
}

/* One that is out of date is a failure of the run. */
static void write_waiver(xmlTextWriter *writer, const struct waivers *waivers,
			 const struct waiver *waiver)
{
	char *complaint;

	xmlTextWriterStartElement(writer, BAD_CAST "testcase");
	write_text(writer, "classname", "waivers");
	xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "name", "%s:%d", waivers->file,
					  waiver->line);
	if (waiver_is_out_of_date(waiver)) {
		complaint = waiver_complaint(waivers, waiver);
		xmlTextWriterStartElement(writer, BAD_CAST "failure");
		write_text(writer, "message", complaint);
		write_text(writer, "type", waiver_state_name(waiver->state));
		xmlTextWriterEndElement(writer);
		free(complaint);
	}
	xmlTextWriterEndElement(writer);
}

static void write_waivers(xmlTextWriter *writer, const struct session *session)
{
	const struct waivers *waivers = &session->waivers;
	struct suite_counts counts = {
		.tests = waivers->count,
		.failures = waivers_out_of_date(waivers),
	};
	size_t i;

	if (!waivers->count)
		return;
	xmlTextWriterStartElement(writer, BAD_CAST "testsuite");
	write_text(writer, "name", "waivers");
	write_counts(writer, &counts);
	for (i = 0; i < waivers->count; i++)
		write_waiver(writer, waivers, &waivers->entries[i]);
	xmlTextWriterEndElement(writer);
}

static void write_document(xmlTextWriter *writer, const struct session *session)
{
	struct suite_counts counts = count_cases(session, NULL);
	size_t f;

	counts.tests += session->waivers.count;
	counts.failures += waivers_out_of_date(&session->waivers);

	xmlTextWriterSetIndent(writer, 1);
	xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL);
	xmlTextWriterStartElement(writer, BAD_CAST "testsuites");
	write_text(writer, "name",
		   session->settings->label ? session->settings->label : "scif-cts");
	write_counts(writer, &counts);
	for (f = 0; f < session->plan->function_count; f++)
		write_suite(writer, session, &session->plan->functions[f]);
	write_waivers(writer, session);
	xmlTextWriterEndElement(writer);
}

int report_write_junit(const struct session *session, const char *path)
{
	xmlBuffer *buffer = xmlBufferCreate();
	xmlTextWriter *writer = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	bool ended;
	FILE *file;

	if (!writer) {
		xmlBufferFree(buffer);
		return -ENOMEM;
	}
	write_document(writer, session);
	ended = xmlTextWriterEndDocument(writer) >= 0;
	xmlFreeTextWriter(writer);
	file = ended ? fopen(path, "we") : NULL;
	if (!file) {
		xmlBufferFree(buffer);
		return ended ? -errno : -ENOMEM;
	}
	fwrite(xmlBufferContent(buffer), 1, xmlBufferLength(buffer), file);
	xmlBufferFree(buffer);
	return report_close(file);
}
