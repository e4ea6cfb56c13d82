/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the plan says of a function, as the model asks it: the errors that are documented, the
 * answer in each state of the matrix, and numbers that clauses name. Nothing is written down a
 * second time.
 */
#ifndef CTS_MODEL_TABLES_H
#define CTS_MODEL_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../runner/plan.h"

struct tables {
	const struct plan *plan;
	const char *api, *profile;
};

const struct plan_function *tables_function(const struct tables *tables, const char *name);
/* The place of a parameter of that name; -1: there is none. */
int tables_parameter(const struct plan_function *function, const char *name);
/* The type of a parameter, as the prototype has it; static memory. */
const char *tables_type(const struct plan_function *function, size_t parameter);

/* The clause of a cell of the state matrix; NULL where the function has no such row or column. */
const struct plan_clause *tables_cell(const struct plan_function *function, const char *state);
/* Whether a clause lets its call fail with that error, under the profile. */
bool tables_allows(const struct tables *tables, const struct plan_clause *clause,
		   const char *error);
/* Whether the text or any clause knows of that error. */
bool tables_documented(const struct tables *tables, const struct plan_function *function,
		       const char *error);
/* Whether the profile knows of an implementation that departs from the text in that outcome. */
bool tables_deviates(const struct tables *tables, const struct plan_function *function,
		     const char *outcome);
/* The ids of the clauses of a function and an outcome, with blanks between them; to be freed. */
char *tables_clauses(const struct tables *tables, const struct plan_function *function,
		     const char *outcome);
/* The number that a clause demands as the result; OTHERWISE where there is no such clause. */
intptr_t tables_number(const struct tables *tables, const char *clause, intptr_t otherwise);

#endif
