/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generate FOLDER PLAN...: the mutants that follow from the clauses, as lines of tab-separated
 * fields.  Of every documented (function, error) pair: a pair mutant, in which the error comes back
 * as another one that no clause of the pair allows, and a check mutant, in which the call goes
 * through instead. The fields are those of docs/mutation.md.  FOLDER gets a plan for every function
 * that holds nothing else, since each mutant is a run of its own and the runner reads its plan each
 * time.
 */
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/errname.h"
#include "../runtime/rsm_errname.h"

/* What a library might say where the function documents nothing else. */
static const char *const scif_plausible[] = {"EIO", "EPERM", "ENODEV", "EINVAL", NULL};
static const char *const rsm_plausible[] = {"RSMERR_INTERNAL_ERROR", "RSMERR_PERM_DENIED",
					    "RSMERR_BAD_CONF", NULL};

struct pair {
	const json_t *function;
	const char *api, *name, *error;
};

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool is_rsm(const struct pair *pair)
{
	return strcmp(pair->api, "rsm") == 0;
}

static int error_number(const struct pair *pair, const char *name)
{
	int number = is_rsm(pair) ? rsm_errnumber(name) : cts_errnumber(name);

	if (!number) {
		fprintf(stderr, "generate: %s: no number of the error %s\n", pair->name, name);
		exit(1);
	}
	return number;
}

static bool is_of_pair(const json_t *clause, const struct pair *pair)
{
	return json_is_true(json_object_get(clause, "is_error")) &&
	       strcmp(text_of(clause, "outcome"), pair->error) == 0;
}

/* A clause that can be run at all. */
static bool can_kill(const json_t *clause)
{
	return !text_of(clause, "ruled_out") && !text_of(clause, "untestable");
}

static bool names_error(const json_t *errors, const char *name)
{
	size_t i;
	json_t *error;

	json_array_foreach(errors, i, error)
	{
		if (strcmp(json_string_value(error), name) == 0)
			return true;
	}
	return false;
}

static bool is_allowed(const struct pair *pair, const char *name)
{
	size_t i;
	json_t *clause;

	json_array_foreach(json_object_get(pair->function, "clauses"), i, clause)
	{
		if (is_of_pair(clause, pair) &&
		    names_error(json_object_get(clause, "errors"), name))
			return true;
	}
	return false;
}

/* The next error that the function documents and that would be wrong here, NULL if there is none.
 */
static const char *another_documented(const struct pair *pair)
{
	const json_t *outcomes = json_object_get(pair->function, "outcomes");
	size_t count = json_array_size(outcomes), at = 0, i;

	while (at < count &&
	       strcmp(text_of(json_array_get(outcomes, at), "name"), pair->error) != 0)
		at++;
	for (i = 1; i < count; i++) {
		const json_t *outcome = json_array_get(outcomes, (at + i) % count);
		const char *name = text_of(outcome, "name");

		if (strcmp(text_of(outcome, "kind"), "error") == 0 && !is_allowed(pair, name))
			return name;
	}
	return NULL;
}

static const char *replacement_of(const struct pair *pair)
{
	const char *const *name = is_rsm(pair) ? rsm_plausible : scif_plausible;
	const char *documented = another_documented(pair);

	if (documented)
		return documented;
	while (*name && is_allowed(pair, *name))
		name++;
	if (!*name) {
		fprintf(stderr, "generate: %s: every error is allowed for %s\n", pair->name,
			pair->error);
		exit(1);
	}
	return *name;
}

/* The clauses of the pair that can be run, with commas; of those that allow the same errors if told
 * to. */
static void print_clauses(const struct pair *pair, const json_t *errors)
{
	size_t i;
	json_t *clause;
	int count = 0;

	json_array_foreach(json_object_get(pair->function, "clauses"), i, clause)
	{
		if (is_of_pair(clause, pair) && can_kill(clause) &&
		    (!errors || json_equal(errors, json_object_get(clause, "errors"))))
			printf("%s%s", count++ ? "," : "", text_of(clause, "id"));
	}
}

static bool has_clauses(const struct pair *pair)
{
	size_t i;
	json_t *clause;

	json_array_foreach(json_object_get(pair->function, "clauses"), i, clause)
	{
		if (is_of_pair(clause, pair) && can_kill(clause))
			return true;
	}
	return false;
}

/* Why the pair has no clause to run: the erratum that rules it out, or the reason of the clause. */
static void print_exempt(const struct pair *pair)
{
	size_t i;
	json_t *clause;

	json_array_foreach(json_object_get(pair->function, "clauses"), i, clause)
	{
		const char *erratum = text_of(clause, "ruled_out");

		if (!is_of_pair(clause, pair))
			continue;
		printf("%s:%s\texempt\t%s\t%s\t%s\t-\t%s\t%s%s\n", pair->name, pair->error,
		       pair->api, pair->name, pair->error, text_of(clause, "id"),
		       erratum ? "ruled out by " : "",
		       erratum ? erratum : text_of(clause, "untestable"));
		return;
	}
}

/* The call goes through where one of the errors is due that a clause allows; one row for all
 * clauses alike. */
static void print_check(const struct pair *pair, const json_t *errors)
{
	size_t i;
	json_t *error;

	printf("%s", pair->name);
	json_array_foreach(errors, i, error)
		printf("%c%s", i ? ',' : ':', json_string_value(error));
	printf(":missing\tcheck\t%s\t%s\t%s\t%s", pair->api, pair->name, pair->error, pair->name);
	json_array_foreach(errors, i, error)
		printf("%c%d", i ? ',' : ':', error_number(pair, json_string_value(error)));
	putchar('\t');
	print_clauses(pair, errors);
	printf("\tthe call goes through where %s is due\n", pair->error);
}

static void print_checks(const struct pair *pair)
{
	const json_t *clauses = json_object_get(pair->function, "clauses");
	size_t i, before;

	for (i = 0; i < json_array_size(clauses); i++) {
		const json_t *clause = json_array_get(clauses, i);
		const json_t *errors = json_object_get(clause, "errors");

		if (!is_of_pair(clause, pair) || !can_kill(clause))
			continue;
		for (before = 0; before < i; before++) {
			const json_t *earlier = json_array_get(clauses, before);

			if (is_of_pair(earlier, pair) && can_kill(earlier) &&
			    json_equal(json_object_get(earlier, "errors"), errors))
				break;
		}
		if (before == i)
			print_check(pair, errors);
	}
}

static void print_mutants(const struct pair *pair, bool documented)
{
	int number = error_number(pair, pair->error);

	if (!has_clauses(pair)) {
		if (documented)
			print_exempt(pair);
		return;
	}
	if (documented) {
		const char *other = replacement_of(pair);

		printf("%s:%s\tpair\t%s\t%s\t%s\t%s:%d:%d\t", pair->name, pair->error, pair->api,
		       pair->name, pair->error, pair->name, number, error_number(pair, other));
		print_clauses(pair, NULL);
		printf("\t%s comes back as %s\n", pair->error, other);
	}
	print_checks(pair);
}

static bool is_documented(const json_t *function, const char *error)
{
	size_t i;
	json_t *outcome;

	json_array_foreach(json_object_get(function, "outcomes"), i, outcome)
	{
		if (strcmp(text_of(outcome, "name"), error) == 0)
			return true;
	}
	return false;
}

/* Errors that clauses expect by an erratum, each once. */
static void print_undocumented(struct pair *pair)
{
	const json_t *clauses = json_object_get(pair->function, "clauses");
	size_t i, before;

	for (i = 0; i < json_array_size(clauses); i++) {
		const json_t *clause = json_array_get(clauses, i);

		pair->error = text_of(clause, "outcome");
		if (!json_is_true(json_object_get(clause, "is_error")) ||
		    is_documented(pair->function, pair->error))
			continue;
		for (before = 0; before < i; before++) {
			if (is_of_pair(json_array_get(clauses, before), pair))
				break;
		}
		if (before == i)
			print_mutants(pair, false);
	}
}

static void print_function(const json_t *function)
{
	struct pair pair = {.function = function,
			    .api = text_of(function, "api"),
			    .name = text_of(function, "name")};
	size_t i;
	json_t *outcome;

	json_array_foreach(json_object_get(function, "outcomes"), i, outcome)
	{
		pair.error = text_of(outcome, "name");
		if (strcmp(text_of(outcome, "kind"), "error") == 0)
			print_mutants(&pair, true);
	}
	print_undocumented(&pair);
}

static void write_plan(const json_t *document, json_t *function, const char *folder)
{
	json_t *plan = json_copy((json_t *)document);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.json", folder, text_of(function, "name"));
	json_object_set_new(plan, "functions", json_pack("[O]", function));
	json_object_set_new(plan, "errata", json_array());
	if (json_dump_file(plan, path, 0) != 0) {
		fprintf(stderr, "generate: %s cannot be written\n", path);
		exit(1);
	}
	json_decref(plan);
}

int main(int argc, char **argv)
{
	int plan;

	for (plan = 2; plan < argc; plan++) {
		json_error_t error;
		json_t *document = json_load_file(argv[plan], 0, &error);
		json_t *function;
		size_t i;

		if (!document) {
			fprintf(stderr, "generate: %s: %s\n", argv[plan], error.text);
			return 1;
		}
		json_array_foreach(json_object_get(document, "functions"), i, function)
		{
			print_function(function);
			write_plan(document, function, argv[1]);
		}
		json_decref(document);
	}
	return 0;
}
