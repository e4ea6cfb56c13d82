/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder of a certification, as somebody else may have it. */
#ifndef CTS_RUNNER_BUNDLE_H
#define CTS_RUNNER_BUNDLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "report.h"
#include "session.h"
#include "settings.h"

struct bundle {
	char *folder;
	json_t *certificate, *results;
	char **lines;  /* of the raw log, behind its first */
	json_t **logs; /* the same, read; NULL where one is no JSON */
	size_t line_count;
	json_t *record_of,
		*line_of; /* by the clause's id: its first record, the index of its first line */
	bool was_cut_off; /* the last line has no end */
	char *log_damage; /* of the log's file; NULL: none */
	struct settings settings; /* of the run, as the certificate tells them */
	char *certificate_hash;
};

/* Where a mismatch is told; counts them. */
struct mismatches {
	FILE *stream;
	const char *folder; /* said in front of each; NULL: not */
	size_t count;
};

void mismatch(struct mismatches *mismatches, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns 0, or EXIT_USAGE after a line on stderr where the folder is no certification at all. */
int bundle_open(struct bundle *bundle, const char *folder);
void bundle_close(struct bundle *bundle);

/*
 * The session that the certificate tells of, without records: its clauses are those that PLAN,
 * filter and shard pick.  The waivers are read from the folder.  Returns 0, or EXIT_USAGE after a
 * line on stderr.
 */
int bundle_session(struct session *session, const struct bundle *bundle, const struct plan *plan);

/* The record of a clause in results.json; NULL where it has none. */
const json_t *bundle_record(const struct bundle *bundle, const char *id);
/* The index of a clause's line; line_count where it has none. */
size_t bundle_line(const struct bundle *bundle, const char *id);

/* What the case printed, from its file in failures/; NULL where there is none.  To be freed. */
char *bundle_output(const struct bundle *bundle, const char *id);

/*
 * Recomputes everything; SESSION has the records that follow from the logs afterwards.  Tells each
 * thing that does not match, and returns how the page compares.
 */
enum report_page bundle_verify(const struct bundle *bundle, struct session *session,
			       struct mismatches *mismatches);
/* The same but for the page, which another version of the suite words otherwise. */
void bundle_verify_records(const struct bundle *bundle, struct session *session,
			   struct mismatches *mismatches);

/* The plan's part for the certificate's API, with its spec hash; false after a mismatch was told.
 */
bool bundle_has_plan(const struct bundle *bundle, const struct plan *plan,
		     struct mismatches *mismatches);

#endif
