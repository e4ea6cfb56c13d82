/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan: every function, documented outcome, clause and errata entry of the suite, as the
 * spec compiler wrote it, a document per API (format scif-cts-plan/1).
 */
#ifndef CTS_RUNNER_PLAN_H
#define CTS_RUNNER_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* How a function reaches a program. */
enum linkage {
	LINKAGE_REQUIRED, /* exported by every implementation */
	LINKAGE_OPTIONAL, /* may be absent: its cases are UNSUPPORTED then */
	LINKAGE_INLINE	  /* defined by the header, never looked up in a library */
};

struct plan_outcome {
	const char *name, *text;
	bool is_error;
};

struct plan_errata {
	const char *id, *kind, *clash, *ruling, *why;
};

/* A fault that was reported of some implementation. */
struct plan_report {
	const char *id, *text;
};

struct plan_clause {
	const struct plan_function *function;
	const json_t *json; /* all of it */
	const char *id, *text, *outcome, *source, *file, *provoker, *scenario, *call;
	const char *untestable;			     /* reason, or NULL */
	const char *ruled_out;			     /* id of an errata entry, or NULL */
	const char *deviation_tag, *deviation_where; /* what the knc profile accepts, or NULL */
	const char **needs, **errata, **reports,
		**errors; /* errors: what an error clause accepts by the text */
	size_t needs_count, errata_count, report_count, errors_count;
	int line;
	bool is_long, is_error;
};

/* What the spec compiler wrote in one run. */
struct plan_document {
	json_t *root; /* owns every string that was read from it */
	const char *suite_version, *spec_hash;
};

struct plan_function {
	const struct plan_document *document;
	const char *name, *api, *prototype, *summary;
	const char *supplement; /* where else it is documented; NULL: by the text of the API */
	enum linkage linkage;
	struct plan_outcome *outcomes;
	struct plan_clause *clauses;
	size_t outcome_count, clause_count;
};

struct plan {
	struct plan_document *documents;
	struct plan_function *functions;
	struct plan_errata *errata;
	struct plan_report *reports;
	size_t document_count, function_count, clause_count, errata_count, report_count;
};

/* Reads a NULL-terminated list of files; prints what is wrong and returns NULL where one is no
 * plan. */
struct plan *plan_load(char *const *paths);
void plan_free(struct plan *plan);

const struct plan_clause *plan_clause(const struct plan *plan, const char *id);
bool plan_has_function(const struct plan *plan, const char *name);
const struct plan_errata *plan_errata(const struct plan *plan, const char *id);
const struct plan_outcome *plan_outcome(const struct plan_function *function, const char *name);
/* Whether an entry of the errata settles what the clause says, or rules it out. */
bool plan_depends_on(const struct plan_clause *clause, const char *errata);
const struct plan_report *plan_report(const struct plan *plan, const char *id);
/* Whether the clause would show the fault of that report. */
bool plan_shows(const struct plan_clause *clause, const char *report);
/* The first function of an API; NULL where the plan has none. */
const struct plan_function *plan_api(const struct plan *plan, const char *api);

#endif
