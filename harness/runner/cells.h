/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run says of one documented outcome, as a cell of a matrix has it. */
#ifndef CTS_RUNNER_CELLS_H
#define CTS_RUNNER_CELLS_H

#include "outcomes.h"

enum cell_state {
	CELL_OBSERVED,
	CELL_MISSING,
	CELL_RULED_OUT,
	CELL_FAILED,   /* a clause of it failed, whether or not another one observed it */
	CELL_WAIVED,   /* the same, excused */
	CELL_LEFT_OUT, /* the selection has no clause of it */
	CELL_STATES
};

struct cell {
	enum cell_state state;
	size_t passed, planned;
};

struct cell cell_of(const struct session *session, const struct plan_function *function,
		    const struct plan_outcome *outcome);
/* For programs, for people, and a sign that needs no colour. */
const char *cell_name(enum cell_state state);
const char *cell_text(enum cell_state state);
const char *cell_sign(enum cell_state state);

#endif
