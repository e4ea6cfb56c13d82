/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks the plan up for the model. */
#include "tables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runner/format.h"
#include "../runner/json_text.h"

const struct plan_function *tables_function(const struct tables *tables, const char *name)
{
	size_t i;

	for (i = 0; i < tables->plan->function_count; i++) {
		const struct plan_function *function = &tables->plan->functions[i];

		if (same_text(function->api, tables->api) && !strcmp(function->name, name))
			return function;
	}
	return NULL;
}

/* The text of a parameter within the prototype; NULL where there are fewer. */
static const char *parameter_text(const struct plan_function *function, size_t parameter,
				  size_t *length)
{
	const char *at = strchr(function->prototype ? function->prototype : "", '('), *end;

	while (at && parameter--)
		at = strchr(at + 1, ',');
	if (!at)
		return NULL;
	at += 1 + strspn(at + 1, " ");
	end = at + strcspn(at, ",)");
	*length = (size_t)(end - at);
	return at;
}

/* Where the name begins: the last identifier in front of a bracket. */
static size_t name_start(const char *text, size_t *length)
{
	const char *bracket = memchr(text, '[', *length);
	size_t start;

	if (bracket)
		*length = (size_t)(bracket - text);
	for (start = *length; start > 0; start--) {
		if (!isalnum((unsigned char)text[start - 1]) && text[start - 1] != '_')
			break;
	}
	return start;
}

int tables_parameter(const struct plan_function *function, const char *name)
{
	const char *text;
	size_t length, start;
	int i;

	for (i = 0; (text = parameter_text(function, (size_t)i, &length)); i++) {
		start = name_start(text, &length);
		if (length - start == strlen(name) && !memcmp(text + start, name, length - start))
			return i;
	}
	return -1;
}

const char *tables_type(const struct plan_function *function, size_t parameter)
{
	static char type[96];
	const char *text;
	size_t length;

	*type = '\0';
	text = parameter_text(function, parameter, &length);
	if (text)
		snprintf(type, sizeof(type), "%.*s", (int)name_start(text, &length), text);
	return type;
}

const struct plan_clause *tables_cell(const struct plan_function *function, const char *state)
{
	size_t i;

	for (i = 0; i < function->clause_count; i++) {
		if (same_text(json_text(function->clauses[i].json, "state"), state))
			return &function->clauses[i];
	}
	return NULL;
}

static bool has_string(const json_t *array, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)array, i, item)
	{
		if (same_text(json_string_value(item), text))
			return true;
	}
	return false;
}

bool tables_allows(const struct tables *tables, const struct plan_clause *clause, const char *error)
{
	const json_t *expect = json_object_get(clause->json, "expect");
	const json_t *other = json_object_get(expect, tables->profile);
	size_t i;

	if (has_string(json_object_get(other, "errors"), error))
		return true;
	/* What a profile does not say is as the text has it; some accept both. */
	if (other && strcmp(tables->profile, "documented") &&
	    !json_is_true(json_object_get(other, "accepts_text")))
		return false;
	for (i = 0; i < clause->errors_count; i++) {
		if (!strcmp(clause->errors[i], error))
			return true;
	}
	return false;
}

bool tables_documented(const struct tables *tables, const struct plan_function *function,
		       const char *error)
{
	const struct plan_outcome *outcome = plan_outcome(function, error);
	size_t i;

	if (outcome && outcome->is_error)
		return true;
	for (i = 0; i < function->clause_count; i++) {
		if (tables_allows(tables, &function->clauses[i], error))
			return true;
	}
	return false;
}

bool tables_deviates(const struct tables *tables, const struct plan_function *function,
		     const char *outcome)
{
	size_t i;

	if (!strcmp(tables->profile, "documented"))
		return false;
	for (i = 0; i < function->clause_count; i++) {
		const struct plan_clause *clause = &function->clauses[i];

		if (clause->deviation_tag &&
		    (!strcmp(clause->outcome, outcome) || tables_allows(tables, clause, outcome)))
			return true;
	}
	return false;
}

char *tables_clauses(const struct tables *tables, const struct plan_function *function,
		     const char *outcome)
{
	char *text;
	size_t length, i, count = 0;
	FILE *out = text_stream(&text, &length);

	for (i = 0; i < function->clause_count; i++) {
		const struct plan_clause *clause = &function->clauses[i];

		if (json_text(clause->json, "state") ||
		    (strcmp(clause->outcome, outcome) && !tables_allows(tables, clause, outcome)))
			continue;
		fprintf(out, "%s%s", count++ ? " " : "", clause->id);
	}
	fclose(out);
	return text;
}

intptr_t tables_number(const struct tables *tables, const char *id, intptr_t otherwise)
{
	const struct plan_clause *clause = plan_clause(tables->plan, id);
	const json_t *expect = clause ? json_object_get(clause->json, "expect") : NULL;
	const char *text = json_text(json_object_get(expect, tables->profile), "returns");
	char *end;
	intptr_t number;

	if (!text)
		text = json_text(json_object_get(expect, "documented"), "returns");
	if (!text)
		return otherwise;
	text += strcspn(text, "0123456789");
	number = strtol(text, &end, 0);
	return end == text ? otherwise : number;
}
