/* SPDX-License-Identifier: BSD-2-Clause */
/* The defaults of expectations, and their form in plan.json (docs/clauses.md). */
#include "expect.h"

#include <string.h>

bool function_is_void(const struct function *function)
{
	return !strcmp(function->prototype.returns, "void");
}

const char *condition_split(const char *condition, const char **operator)
{
	static const char *const operators[] = {">=", "<=", "!=", "==", ">", "<"};

	while (*condition == ' ')
		condition++;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t length = strlen(operators[i]);

		if (strncmp(condition, operators[i], length))
			continue;
		*operator= operators[i];
		condition += length;
		return condition + strspn(condition, " ");
	}
	*operator= "==";
	return condition;
}

const char *expected_return(const struct spec *spec, const struct function *function,
			    const struct clause *clause, const struct then *then)
{
	bool errors = clause->is_error || (then && then->errnos.count);

	if (then && then->returns)
		return then->returns;
	/* Where the code itself is what is returned, the set of errors says it all. */
	if (function_is_void(function) || (errors && spec_returns_errors(spec)))
		return "any";
	return errors ? function_failure(spec, function) : "any";
}

struct names expected_errors(const struct clause *clause, const struct then *then)
{
	struct names errors = {0};

	if (then && then->errnos.count)
		return then->errnos;
	if (clause->is_error && (!then || then == clause->then))
		names_add(&errors, clause->outcome);
	return errors;
}

const char *expected_text(const struct spec *spec, const struct function *function,
			  const struct clause *clause, const struct then *then)
{
	bool errors_say_it = expected_errors(clause, then).count && spec_returns_errors(spec);

	return errors_say_it && !(then && then->returns)
		       ? ""
		       : expected_return(spec, function, clause, then);
}

bool clause_repeats(const struct clause *clause)
{
	if (clause->repeat)
		return *clause->repeat;
	return clause->is_error && clause->call && !clause->provoke_kind && !clause->during_count;
}

json_t *json_strings(const char *const *at, unsigned count)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, json_string(at[i]));
	return list;
}

static json_t *profile_object(const struct spec *spec, const struct function *function,
			      const struct clause *clause, const struct then *then,
			      const struct override *override)
{
	struct names errors = expected_errors(clause, then);
	json_t *object = json_object();

	json_object_set_new(object, "returns",
			    json_string(expected_return(spec, function, clause, then)));
	json_object_set_new(object, "shown",
			    json_string(expected_text(spec, function, clause, then)));
	json_object_set_new(object, "errors", json_strings(errors.at, errors.count));
	json_object_set_new(object, "check",
			    json_strings(then ? (const char *const *)then->check : NULL,
					 then ? then->check_count : 0));
	json_object_set_new(object, "accepts_text",
			    json_boolean(override && (override->accepts_text ||
						      !strcmp(override->tag, "read"))));
	json_object_set_new(object, "oracle", json_boolean(!override));
	return object;
}

json_t *expect_object(const struct spec *spec, const struct function *function,
		      const struct clause *clause)
{
	const struct then *then = clause->then;
	json_t *object;

	if (!clause->call)
		return json_null();
	object = json_object();
	json_object_set_new(object, "documented",
			    profile_object(spec, function, clause, then, NULL));
	if (clause->override)
		json_object_set_new(object, clause->override->profile,
				    profile_object(spec, function, clause, clause->override->then,
						   clause->override));
	json_object_set_new(object, "unchanged",
			    json_strings(then ? (const char *const *)then->unchanged : NULL,
					 then ? then->unchanged_count : 0));
	json_object_set_new(object, "repeat", json_boolean(clause_repeats(clause)));
	json_object_set_new(
		object, "failure",
		json_string(function_is_void(function) ? "" : function_failure(spec, function)));
	json_object_set_new(object, "control_returns",
			    clause->control_returns ? json_string(clause->control_returns)
						    : json_null());
	return object;
}
