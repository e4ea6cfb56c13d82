/* SPDX-License-Identifier: BSD-2-Clause */
/* What a clause expects, with the defaults that it need not write: for the tests and the plan. */
#ifndef SPECC_EXPECT_H
#define SPECC_EXPECT_H

#include "spec.h"

#include <jansson.h>
#include <stdbool.h>

bool function_is_void(const struct function *function);

/* The value that a condition compares with, and the operator; `==` where it names none. */
const char *condition_split(const char *condition, const char **operator);

/* The condition on the returned value; "any" where there is none. */
const char *expected_return(const struct spec *spec, const struct function *function,
			    const struct clause *clause, const struct then *then);
/* The same as reports show it: "" where the errors say it all. */
const char *expected_text(const struct spec *spec, const struct function *function,
			  const struct clause *clause, const struct then *then);
struct names expected_errors(const struct clause *clause, const struct then *then);

/* Whether an error clause is called again. */
bool clause_repeats(const struct clause *clause);

/* A list of texts. */
json_t *json_strings(const char *const *at, unsigned count);

/* Everything that a verifier needs to judge a raw log of the clause; null for a clause without a
 * call. */
json_t *expect_object(const struct spec *spec, const struct function *function,
		      const struct clause *clause);

#endif
