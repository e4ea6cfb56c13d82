/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the clauses of an outcome and says what became of it. */
#include "cells.h"

#include <string.h>

static const struct {
	const char *name, *sign, *text;
} states[CELL_STATES] = {
	[CELL_OBSERVED] = {"observed", "\u2713", "observed"},
	[CELL_MISSING] = {"missing", "\u25cb", "not observed"},
	[CELL_RULED_OUT] = {"ruled-out", "\u2298", "ruled out: cannot occur"},
	[CELL_FAILED] = {"failed", "\u2717", "a clause failed"},
	[CELL_WAIVED] = {"waived", "\u2691", "failed, waived"},
	[CELL_LEFT_OUT] = {"left-out", "\u2013", "no clause of it in this run"},
};

const char *cell_name(enum cell_state state)
{
	return states[state].name;
}

const char *cell_text(enum cell_state state)
{
	return states[state].text;
}

const char *cell_sign(enum cell_state state)
{
	return states[state].sign;
}

struct cell cell_of(const struct session *session, const struct plan_function *function,
		    const struct plan_outcome *outcome)
{
	size_t verdicts[VERDICT_COUNT] = {0}, i;
	struct cell cell = {0};
	enum outcome_state state = outcome_state(session, function, outcome);

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (run->clause->function != function ||
		    strcmp(run->clause->outcome, outcome->name) != 0)
			continue;
		cell.planned++;
		verdicts[run->record.verdict]++;
	}
	cell.passed = verdicts[VERDICT_PASS];
	if (verdicts[VERDICT_FAIL])
		cell.state = CELL_FAILED;
	else if (verdicts[VERDICT_WAIVED])
		cell.state = CELL_WAIVED;
	else if (state == OUTCOME_OBSERVED)
		cell.state = CELL_OBSERVED;
	else if (state == OUTCOME_RULED_OUT)
		cell.state = CELL_RULED_OUT;
	else
		cell.state = cell.planned ? CELL_MISSING : CELL_LEFT_OUT;
	return cell;
}
