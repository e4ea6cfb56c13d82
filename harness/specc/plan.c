/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes plan.json: every clause there is, so the runner knows what must have a record before any
 * test has run.  docs/clauses.md describes the members.
 */
#include "emit.h"

#include "expect.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unversioned"
#endif

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *pair_object(const struct pairs *pairs)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < pairs->count; i++)
		set(object, pairs->at[i].key, text_or_null(pairs->at[i].value));
	return object;
}

static json_t *override_object(const struct override *override)
{
	json_t *object;

	if (!override)
		return json_null();
	object = json_object();
	set(object, "tag", json_string(override->tag));
	set(object, "where", json_string(override->where));
	return object;
}

/* What an error clause accepts, by the text; of a scenario the outcome alone is known. */
static json_t *accepted_errors(const struct clause *clause)
{
	struct names errors = {0};

	if (clause->is_error)
		errors = expected_errors(clause, clause->then);
	return json_strings(errors.at, errors.count);
}

static json_t *clause_object(const struct spec *spec, const struct function *function,
			     const struct clause *clause)
{
	json_t *object = json_object();

	set(object, "id", json_string(clause->id));
	set(object, "text", json_string(clause->text));
	set(object, "outcome", json_string(clause->outcome));
	set(object, "is_error", json_boolean(clause->is_error));
	set(object, "errors", accepted_errors(clause));
	set(object, "source", json_string(clause_source(function, clause)));
	set(object, "file", json_string(spec_file_name(spec, clause->document->file)));
	set(object, "line", json_integer(clause->line));
	set(object, "long", json_boolean(clause->is_long));
	set(object, "provoker", json_string(clause_provoker(clause)));
	if (clause->provoke.count)
		set(object, "provoke", pair_object(&clause->provoke));
	set(object, "state", text_or_null(clause->state));
	set(object, "needs", json_strings(clause->all_needs.at, clause->all_needs.count));
	set(object, "errata",
	    json_strings((const char *const *)clause->errata, clause->errata_count));
	set(object, "reports",
	    json_strings((const char *const *)clause->reports, clause->report_count));
	set(object, "untestable", text_or_null(clause->untestable));
	set(object, "ruled_out", text_or_null(clause->ruled_out));
	set(object, "scenario", text_or_null(clause->scenario));
	set(object, "call", text_or_null(clause->call));
	set(object, "control", text_or_null(clause->control));
	set(object, "choice", text_or_null(clause->then ? clause->then->choice : NULL));
	set(object, "knc", override_object(clause->override));
	set(object, "expect", expect_object(spec, function, clause));
	return object;
}

static void add_outcomes(json_t *list, const struct outcome *outcomes, unsigned count,
			 const char *kind)
{
	for (unsigned i = 0; i < count; i++) {
		json_t *object = json_object();

		set(object, "name", json_string(outcomes[i].name));
		set(object, "kind", json_string(kind));
		set(object, "text", json_string(outcomes[i].text));
		json_array_append_new(list, object);
	}
}

static json_t *function_object(const struct spec *spec, const struct function *function)
{
	json_t *object = json_object(), *outcomes = json_array(), *clauses = json_array();

	add_outcomes(outcomes, function->successes, function->success_count, "success");
	add_outcomes(outcomes, function->errors, function->error_count, "error");
	for (unsigned i = 0; i < function->all_count; i++)
		json_array_append_new(clauses, clause_object(spec, function, function->all[i]));
	set(object, "name", json_string(function->name));
	set(object, "api", json_string(spec->api.name));
	set(object, "prototype", json_string(function->prototype_text));
	set(object, "header", json_string(function->header));
	set(object, "summary", json_string(function->summary));
	set(object, "linkage", json_string(function->linkage ? function->linkage : "required"));
	set(object, "supplement", text_or_null(function->supplement));
	set(object, "outcomes", outcomes);
	set(object, "clauses", clauses);
	return object;
}

static json_t *erratum_object(const struct erratum *erratum)
{
	json_t *object = json_object(), *facts = json_array();

	for (unsigned i = 0; i < erratum->fact_count; i++)
		json_array_append_new(facts, json_integer(erratum->facts[i]));
	set(object, "id", json_string(erratum->id));
	set(object, "facts", facts);
	set(object, "kind", json_string(erratum->kind));
	set(object, "clash", json_string(erratum->clash));
	set(object, "ruling", json_string(erratum->ruling));
	set(object, "why", json_string(erratum->why));
	set(object, "clauses",
	    json_strings((const char *const *)erratum->clauses, erratum->clause_count));
	return object;
}

static json_t *reports_array(const struct spec *spec)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < spec->reports.entry_count; i++) {
		const struct fault_report *report = &spec->reports.entries[i];
		json_t *object = json_object();

		set(object, "id", json_string(report->id));
		set(object, "text", json_string(report->text));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *functions_array(const struct spec *spec)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < spec->prototypes.count; i++) {
		const struct function *function = spec_function(spec, spec->prototypes.at[i].name);

		if (function)
			json_array_append_new(list, function_object(spec, function));
	}
	return list;
}

bool emit_plan(const struct spec *spec, const char *file)
{
	json_t *plan = json_object(), *errata = json_array();
	bool written;

	for (unsigned i = 0; i < spec->errata.entry_count; i++)
		json_array_append_new(errata, erratum_object(&spec->errata.entries[i]));
	set(plan, "format", json_string("scif-cts-plan/1"));
	set(plan, "api", json_string(spec->api.name));
	set(plan, "error_style", json_string(spec_returns_errors(spec) ? "value" : "errno"));
	set(plan, "suite_version", json_string(PACKAGE_VERSION));
	set(plan, "spec_hash", json_string(spec_hash(spec)));
	set(plan, "functions", functions_array(spec));
	set(plan, "errata", errata);
	set(plan, "reports", reports_array(spec));
	written = !json_dump_file(plan, file, JSON_INDENT(1));
	json_decref(plan);
	if (!written)
		fprintf(stderr, "specc: %s cannot be written\n", file);
	return written;
}
