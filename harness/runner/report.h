/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a finished run. */
#ifndef CTS_RUNNER_REPORT_H
#define CTS_RUNNER_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "session.h"

/* Each returns 0 or a negative errno. */
/* All of results.json; NULL without memory. */
json_t *report_results(const struct session *session);
/* What the first line of a report says. */
const char *report_verdict(const struct session *session);
/* Why it says so. */
const char *report_headline(const struct session *session);
/* A time in UTC, as all reports write it. */
enum { REPORT_TIME = 32 };
void report_time(time_t time, char text[REPORT_TIME]);
/* How long a case took, as exactly as all reports tell it. */
double report_ms(const struct record *record);
/* "FILE:LINE: ..." about each waiver that is out of date, each after PREFIX. */
void report_print_waiver_complaints(FILE *stream, const struct session *session,
				    const char *prefix);
/* A document in a file. */
int report_dump(const json_t *json, const char *path);
int report_write_json(const struct session *session, const char *path);
int report_write_junit(const struct session *session, const char *path);
int report_write_tap(const struct session *session, const char *path);
int report_write_summary(const struct session *session, const char *path);
int report_write_html(const struct session *session, const char *path);
enum report_page {
	PAGE_FOLLOWS, /* it is what the session gives */
	PAGE_DIFFERS,
	PAGE_OF_ANOTHER_SUITE, /* it may look otherwise, so there is nothing to compare */
	PAGE_ABSENT
};
/* Compares a page with the one that SESSION gives; LINE is where the first difference is. */
enum report_page report_compare_html(const struct session *session, const char *path, size_t *line);
int report_write_observations(const struct session *session, const char *path);
/* certificate.json in FOLDER, over everything that is there. */
int report_write_certificate(const struct session *session, const char *folder);
int report_write_waivers(const struct session *session, const char *path);
int report_write_failure(const struct session *session, const struct case_run *run,
			 const char *path);

/* Flushes and closes a report; returns 0 or a negative errno. */
int report_close(FILE *file);

/* Kind, expected, observed and reason as far as there are any, each after SEPARATOR. */
void report_print_findings(FILE *stream, const struct record *record, const char *separator);
void report_print_tap_line(FILE *stream, const struct session *session, const struct case_run *run,
			   size_t number);
/* A line for each waiver, behind those of the clauses. */
void report_print_tap_waivers(FILE *stream, const struct session *session);
void report_print_summary(FILE *stream, const struct session *session);
/* What the profile of the run accepts beside the text; nothing where that is the text itself. */
void report_print_deviations(FILE *stream, const struct session *session);
json_t *report_deviations_json(const struct session *session);
/*
 * The line that continuous integration reads: N passed, N failed, N skipped; before it, for an
 * interrupted run, how much of that was not run.
 */
void report_print_totals(FILE *stream, const struct session *session);

/* Writes all of the above into a new folder ROOT/LABEL, or leaves what was there as it was. */
struct publication;
struct publication *report_open(const char *root, const char *label);
int report_publish(struct publication *publication, const struct session *session);
/* Gives up a publication that was opened; report_publish() has done so itself. */
void report_abandon(struct publication *publication);

#endif
