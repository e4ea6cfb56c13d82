/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict of a case, decided anew from its raw log and the clause (docs/certificate.md). The
 * rules are those of harness/runtime, written a second time on purpose: one must not be able to
 * hide an error of the other.
 */
#ifndef CTS_RUNNER_JUDGE_H
#define CTS_RUNNER_JUDGE_H

#include <jansson.h>
#include <stdbool.h>

#include "plan.h"
#include "record.h"

struct judge_rules {
	const char *profile;
	bool runs_long;
	const json_t *exports; /* names of the functions of the API that the library exports */
};

struct judgement {
	struct record record; /* verdict, kind, expected, observed and choice */
	char *problem;	      /* why the log cannot be one of this clause; NULL: it can */
};

/* EVENTS is the array of the log's line; to be freed with judgement_free(). */
struct judgement judge(const struct plan_clause *clause, const struct judge_rules *rules,
		       const json_t *events);
void judgement_free(struct judgement *judgement);

#endif
