/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of one clause: its verdict and what led to it. */
#ifndef CTS_RUNNER_RECORD_H
#define CTS_RUNNER_RECORD_H

#include <stdbool.h>
#include <stddef.h>

enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_WAIVED, /* a FAIL that a waiver excuses */
	VERDICT_UNSUPPORTED,
	VERDICT_UNTESTED,
	VERDICT_UNRESOLVED,
	VERDICT_NOTRUN,
	VERDICT_COUNT
};

struct record {
	enum verdict verdict;
	/* FAIL and WAIVED only: value, errno, side effect, crash or timeout; NULL otherwise. */
	char *kind;
	char *expected, *observed, *reason, *choice; /* NULL where there is nothing to say */
	double ms;
};

const char *verdict_name(enum verdict verdict);
/* VERDICT_COUNT for a name that is none. */
enum verdict verdict_by_name(const char *name);
/* How the continuous integration line counts a verdict. */
bool verdict_counts_as_failed(enum verdict verdict);
bool verdict_counts_as_skipped(enum verdict verdict);

/* A record made by the runner itself; takes ownership of REASON. */
struct record record_make(enum verdict verdict, const char *kind, char *reason);

/*
 * What keeps the lines that a program wrote from being records of the clauses IDS, and of no
 * others; to be freed.  NULL where nothing does.
 */
char *records_objection(const char *text, size_t length, const char *const *ids, size_t count);

/*
 * Reads the record of the clause ID from lines to which there is no objection.  Returns false where
 * there is none; a clause with two is UNRESOLVED.
 */
bool record_find(struct record *record, const char *text, size_t length, const char *id);

void record_free(struct record *record);

#endif
