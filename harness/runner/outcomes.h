/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coverage by observation: a documented outcome counts only when that very value or error came out
 * of the implementation in a case that passed and expected it.
 */
#ifndef CTS_RUNNER_OUTCOMES_H
#define CTS_RUNNER_OUTCOMES_H

#include <stdbool.h>
#include <stddef.h>

#include "session.h"

enum outcome_state {
	OUTCOME_OBSERVED,
	OUTCOME_MISSING,  /* documented, and not seen in this run */
	OUTCOME_RULED_OUT /* an errata entry says that it cannot occur */
};

struct outcome_tally {
	size_t documented, observed, ruled_out;
};

/* Whether an errata entry rules out each clause of the outcome. */
bool outcome_is_ruled_out(const struct plan_function *function, const struct plan_outcome *outcome);

enum outcome_state outcome_state(const struct session *session,
				 const struct plan_function *function,
				 const struct plan_outcome *outcome);

/* Counts the error pairs (or the success values) of one function, added to TALLY. */
void outcome_count(const struct session *session, const struct plan_function *function, bool errors,
		   struct outcome_tally *tally);

/* "n of 139, m ruled out"; "n of 139" where nothing is ruled out and it is no total. To be freed.
 */
char *outcome_tally_text(const struct outcome_tally *tally, bool is_total);

#endif
