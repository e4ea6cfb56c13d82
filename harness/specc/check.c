/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the shape of the files cannot say: names that must exist, expectations that must fit the
 * documented outcomes, snippets that must be what the generated code needs them to be.
 */
#include "report.h"
#include "spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const struct clause *clause, const char *key, const char *what, const char *right)
{
	report(clause->document->file, clause_line(clause, key), "%s: %s; %s", clause->id, what,
	       right);
}

/* ENOTSUP and the like are second names that strerrorname_np() does not give. */
static bool is_errno(const char *name)
{
	static const char *const second_names[] = {"EWOULDBLOCK", "EDEADLOCK", "ENOTSUP"};

	for (size_t i = 0; i < sizeof second_names / sizeof *second_names; i++)
		if (!strcmp(name, second_names[i]))
			return true;
	for (int number = 1; number < 4096; number++) {
		const char *known = strerrorname_np(number);

		if (known && !strcmp(name, known))
			return true;
	}
	return false;
}

bool spec_returns_errors(const struct spec *spec)
{
	return !strcmp(spec->api.error_style, "value");
}

bool spec_error_exists(const struct spec *spec, const char *name)
{
	const char *prefix = spec->api.error_prefix ? spec->api.error_prefix : "";

	if (!spec_returns_errors(spec))
		return is_errno(name);
	return !strncmp(name, prefix, strlen(prefix)) &&
	       names_find(&spec->prototypes.words, name) >= 0;
}

const char *spec_error_place(const struct spec *spec)
{
	if (!spec_returns_errors(spec))
		return "a name of errno(3)";
	return pool_printf("a constant %s* of the API's headers",
			   spec->api.error_prefix ? spec->api.error_prefix : "");
}

static bool is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

/* ---- snippets of C ---- */

static void check_expression(const struct clause *clause, const char *key, const char *text)
{
	if (text && !tokens_balanced(text))
		wrong(clause, key, pool_printf("brackets or quotes do not match in %s", text),
		      "one whole C expression is needed");
}

static void check_statements(const struct clause *clause, const char *key, char **texts,
			     unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const char *place = pool_printf("%s/%u", key, i);

		if (!tokens_balanced(texts[i]))
			wrong(clause, place,
			      pool_printf("brackets or quotes do not match in %s", texts[i]),
			      "whole C statements are needed");
		else if (!tokens_end_statement(texts[i]))
			wrong(clause, place, pool_printf("%s is no C statement", texts[i]),
			      "a statement ends with ;");
	}
}

static void check_call(const struct function *function, const struct clause *clause,
		       const char *key, const char *text)
{
	unsigned calls = tokens_count_calls(text, function->name);

	if (calls != 1)
		wrong(clause, key,
		      pool_printf("%s calls %s %u times: %s", key, function->name, calls, text),
		      "exactly one call of the function under test");
	else if (!tokens_is_call(text, function->name))
		wrong(clause, key, pool_printf("%s is more than a call: %s", key, text),
		      pool_printf("%s(...) alone; what goes before belongs in setup",
				  function->name));
}

/* ---- vocabulary ---- */

static void check_needs(const struct spec *spec, const struct document *document, const char *path,
			char **needs, unsigned count)
{
	struct names known = {0};

	for (unsigned v = 0; v < spec->vocabulary_count; v++)
		for (unsigned i = 0; i < spec->vocabularies[v].need_count; i++)
			names_add(&known, spec->vocabularies[v].needs[i].name);
	for (unsigned i = 0; i < count; i++)
		if (!spec_need(spec, needs[i]))
			report(document->file,
			       document_line(document, pool_printf("%s/needs/%u", path, i)),
			       "unknown need %s; known needs are: %s", needs[i],
			       names_join(&known, ", "));
}

static void check_vocabulary(const struct spec *spec, const struct vocabulary *vocabulary)
{
	const struct document *document = vocabulary->document;

	for (unsigned i = 0; i < vocabulary->fixture_count; i++) {
		const struct fixture *fixture = &vocabulary->fixtures[i];
		const char *path = pool_printf("fixtures/%u", i);

		check_needs(spec, document, path, fixture->needs, fixture->needs_count);
		if (spec_fixture(spec, fixture->name) != fixture)
			report(document->file, document_line(document, path),
			       "fixture %s given twice; names must be unique", fixture->name);
		if (fixture->args_max && fixture->args_max < fixture->args)
			report(document->file,
			       document_line(document, pool_printf("%s/args_max", path)),
			       "args_max %u is below args %u; it counts the optional ones too",
			       fixture->args_max, fixture->args);
	}
	for (unsigned i = 0; i < vocabulary->provoker_count; i++) {
		const char *path = pool_printf("provokers/%u", i);

		check_needs(spec, document, path, vocabulary->provokers[i].needs,
			    vocabulary->provokers[i].needs_count);
		if (spec_provoker(spec, vocabulary->provokers[i].name) != &vocabulary->provokers[i])
			report(document->file, document_line(document, path),
			       "provoker %s given twice; names must be unique",
			       vocabulary->provokers[i].name);
	}
}

/* ---- given, provoke, needs ---- */

/* value(TYPE) or value(TYPE, INITIALISER): a variable without a fixture function. */
static bool resolve_value(struct binding *binding, const struct clause *clause)
{
	if (strcmp(binding->fixture, "value"))
		return false;
	if (!binding->arguments.count || binding->arguments.count > 2)
		report(clause->document->file, binding->line,
		       "%s: value takes 1 or 2 arguments, not %u; value(TYPE) or value(TYPE, "
		       "INITIALISER)",
		       clause->id, binding->arguments.count);
	else
		binding->type = binding->arguments.at[0];
	return true;
}

static const char *argument_count(const struct fixture *fixture)
{
	if (fixture->args_max > fixture->args)
		return pool_printf("%u to %u", fixture->args, fixture->args_max);
	return pool_printf("%u", fixture->args);
}

static void resolve_fixture(const struct spec *spec, struct clause *clause, struct binding *binding)
{
	const struct fixture *fixture = spec_fixture(spec, binding->fixture);
	unsigned most;

	if (resolve_value(binding, clause))
		return;
	if (!fixture) {
		report(clause->document->file, binding->line,
		       "%s: unknown fixture %s for %s; one of spec/vocabulary.yaml, or value(TYPE)",
		       clause->id, binding->fixture, binding->name);
		return;
	}
	most = fixture->args_max > fixture->args ? fixture->args_max : fixture->args;
	if (binding->arguments.count < fixture->args || binding->arguments.count > most)
		report(clause->document->file, binding->line,
		       "%s: fixture %s with %u arguments; it takes %s", clause->id, fixture->name,
		       binding->arguments.count, argument_count(fixture));
	binding->type = fixture->type;
	binding->function = fixture->function;
	for (unsigned i = 0; i < fixture->needs_count; i++)
		if (names_find(&clause->all_needs, fixture->needs[i]) < 0)
			names_add(&clause->all_needs, fixture->needs[i]);
}

static void check_given(const struct spec *spec, struct clause *clause)
{
	static const char *const reserved[] = {"v", "r", "ret", "err", "vars"};

	for (unsigned i = 0; i < clause->binding_count; i++) {
		struct binding *binding = &clause->bindings[i];
		bool taken = !is_identifier(binding->name);

		for (size_t j = 0; j < sizeof reserved / sizeof *reserved; j++)
			taken = taken || !strcmp(binding->name, reserved[j]);
		if (taken)
			report(clause->document->file, binding->line,
			       "%s: %s cannot name a variable; a C identifier other than v, r, "
			       "ret, err, vars",
			       clause->id, binding->name);
		for (unsigned j = 0; j < i; j++)
			if (!strcmp(binding->name, clause->bindings[j].name))
				report(clause->document->file, binding->line,
				       "%s: %s is given twice; every variable needs its own name",
				       clause->id, binding->name);
		resolve_fixture(spec, clause, binding);
	}
}

static void check_provoke(const struct spec *spec, struct clause *clause)
{
	const struct provoker *provoker;
	struct names known = {0};

	if (!clause->provoke_kind)
		return;
	provoker = spec_provoker(spec, clause->provoke_kind);
	if (!provoker) {
		for (unsigned v = 0; v < spec->vocabulary_count; v++)
			for (unsigned i = 0; i < spec->vocabularies[v].provoker_count; i++)
				names_add(&known, spec->vocabularies[v].provokers[i].name);
		report(clause->document->file, clause->provoke.at[0].line,
		       "%s: unknown provoker %s; the first key must be one of: %s", clause->id,
		       clause->provoke_kind, names_join(&known, ", "));
		return;
	}
	names_add(&known, provoker->name);
	for (unsigned i = 0; i < provoker->key_count; i++)
		if (names_find(&known, provoker->keys[i]) < 0)
			names_add(&known, provoker->keys[i]);
	for (unsigned i = 0; i < clause->provoke.count; i++) {
		if (names_find(&known, clause->provoke.at[i].key) < 0)
			report(clause->document->file, clause->provoke.at[i].line,
			       "%s: provoker %s has no key %s; its keys are: %s", clause->id,
			       provoker->name, clause->provoke.at[i].key, names_join(&known, ", "));
		if (!clause->provoke.at[i].value)
			report(clause->document->file, clause->provoke.at[i].line,
			       "%s: %s of provoke is no text; one word or number is needed",
			       clause->id, clause->provoke.at[i].key);
	}
	for (unsigned i = 0; i < provoker->needs_count; i++)
		if (names_find(&clause->all_needs, provoker->needs[i]) < 0)
			names_add(&clause->all_needs, provoker->needs[i]);
}

/* No need follows from it: a run without privilege has no privilege to drop. */
static void check_as(const struct clause *clause, const char *key, const char *value)
{
	if (value && strcmp(value, "unprivileged"))
		wrong(clause, key, pool_printf("unknown user %s", value),
		      "unprivileged is the one there is");
}

static void check_params(const struct clause *clause)
{
	for (unsigned i = 0; i < clause->params.count; i++) {
		const char *value = clause->params.at[i].value;
		char *end = NULL;

		if (value && *value)
			strtol(value, &end, 0);
		if (!end || *end)
			report(clause->document->file, clause->params.at[i].line,
			       "%s: parameter %s is %s; an integer is needed", clause->id,
			       clause->params.at[i].key, value ? value : "no number");
	}
	if (clause->params.count && !clause->scenario)
		wrong(clause, "params", "params without scenario",
		      "only a scenario reads them; use value(TYPE, INITIALISER) in given");
}

/* ---- then ---- */

static void check_errnos(const struct spec *spec, const struct function *function,
			 const struct clause *clause)
{
	const struct names *errnos = &clause->then->errnos;

	if (errnos->count && !clause->is_error)
		wrong(clause, "then/errno", "an error code on a success clause",
		      "errno belongs to clauses whose outcome is an error");
	if (errnos->count && clause->is_error && names_find(errnos, clause->outcome) < 0)
		wrong(clause, "then/errno",
		      pool_printf("the expected %s is not the outcome %s", names_join(errnos, ", "),
				  clause->outcome),
		      "the list must contain the outcome");
	for (unsigned i = 0; i < errnos->count; i++) {
		if (!spec_error_exists(spec, errnos->at[i]))
			wrong(clause, "then/errno", pool_printf("no such error %s", errnos->at[i]),
			      spec_error_place(spec));
		else if (clause->is_error && !function_has_error(function, errnos->at[i]) &&
			 !clause->errata_count)
			wrong(clause, "then/errno",
			      pool_printf("%s is not documented for %s", errnos->at[i],
					  function->name),
			      "a documented error, or errata: [ID] that allows it");
	}
}

static void check_then(const struct spec *spec, const struct function *function,
		       const struct clause *clause)
{
	const struct then *then = clause->then;

	if (!clause->is_error && (!then || !then->returns))
		wrong(clause, "then", "a success clause does not say what is returned",
		      "then: {returns: VALUE}, or any");
	if (!then)
		return;
	check_errnos(spec, function, clause);
	check_expression(clause, "then/returns", then->returns);
	for (unsigned i = 0; i < then->check_count; i++)
		check_expression(clause, pool_printf("then/check/%u", i), then->check[i]);
	for (unsigned i = 0; i < then->unchanged_count; i++)
		check_expression(clause, pool_printf("then/unchanged/%u", i), then->unchanged[i]);
}

/* ---- one clause ---- */

static void check_control(const struct function *function, const struct clause *clause)
{
	if (clause->control)
		check_call(function, clause, "control", clause->control);
	if (clause->control && clause->control_none)
		wrong(clause, "control_none", "control and control_none together", "keep one");
	if (clause->is_error && !clause->control && !clause->control_none)
		wrong(clause, "", "an error clause without control",
		      "control: CALL that succeeds, or control_none: reason");
	if (!clause->control && clause->control_setup_count)
		wrong(clause, "control_setup", "control_setup without control",
		      "add control, or drop it");
	check_statements(clause, "control_setup", clause->control_setup,
			 clause->control_setup_count);
	check_expression(clause, "control_returns", clause->control_returns);
}

static void check_called(struct spec *spec, const struct function *function, struct clause *clause)
{
	check_call(function, clause, "call", clause->call);
	check_statements(clause, "setup", clause->setup, clause->setup_count);
	check_statements(clause, "during", clause->during, clause->during_count);
	check_then(spec, function, clause);
	check_control(function, clause);
}

/* A clause is one of: a call, a scenario, untestable, ruled out. */
static void check_form(const struct clause *clause)
{
	unsigned forms =
		!!clause->call + !!clause->scenario + !!clause->untestable + !!clause->ruled_out;

	if (forms != 1)
		wrong(clause, "",
		      forms ? "several of call, scenario, untestable, ruled_out"
			    : "neither call nor scenario nor untestable nor ruled_out",
		      "exactly one of them");
	if (clause->untestable && !clause->untestable[strspn(clause->untestable, " ")])
		wrong(clause, "untestable", "untestable without a reason", "untestable: reason");
	if (clause->scenario && !is_identifier(clause->scenario))
		wrong(clause, "scenario", pool_printf("%s is no C name", clause->scenario),
		      "NAME of a function cts_scenario_NAME");
	if (!clause->call && (clause->binding_count || clause->setup_count || clause->then ||
			      clause->control || clause->provoke_kind || clause->during_count))
		wrong(clause, "", "given, setup, provoke, during, then or control without call",
		      "they belong to a call; a scenario does its own");
}

static void check_errata_of(const struct spec *spec, const struct clause *clause)
{
	const char *file = clause->document->file;

	for (unsigned i = 0; i < clause->errata_count; i++) {
		const char *path =
			clause->state ? pool_printf("%s/errata/%s", clause->path, clause->state)
				      : clause_path(clause, pool_printf("errata/%u", i));

		if (!spec_erratum(spec, clause->errata[i]))
			report(file, document_line(clause->document, path),
			       "%s: no erratum %s; an id of spec/errata.yaml", clause->id,
			       clause->errata[i]);
	}
	if (clause->ruled_out) {
		const struct erratum *erratum = spec_erratum(spec, clause->ruled_out);

		if (!erratum || strcmp(erratum->kind, "ruled_out"))
			wrong(clause, "ruled_out",
			      pool_printf("%s is no erratum of kind ruled_out", clause->ruled_out),
			      "the id of one that proves it");
	}
}

static void check_reports_of(const struct spec *spec, const struct clause *clause)
{
	for (unsigned i = 0; i < clause->report_count; i++)
		if (!spec_fault_report(spec, clause->reports[i]))
			wrong(clause, pool_printf("reports/%u", i),
			      pool_printf("no report %s", clause->reports[i]),
			      "an id of spec/reports.yaml");
}

static void check_outcome_of(const struct spec *spec, const struct function *function,
			     struct clause *clause)
{
	bool success = function_has_success(function, clause->outcome);
	bool error = function_has_error(function, clause->outcome);

	clause->is_error = error || (!success && spec_error_exists(spec, clause->outcome));
	if ((success || error) && clause->undocumented)
		wrong(clause, "undocumented", pool_printf("%s is documented", clause->outcome),
		      "drop undocumented");
	if (success || error)
		return;
	if (!clause->undocumented)
		wrong(clause, "outcome",
		      pool_printf("outcome %s is not documented for %s", clause->outcome,
				  function->name),
		      "one of outcomes, or undocumented: true with errata");
	else if (!clause->is_error)
		wrong(clause, "outcome", pool_printf("no such error %s", clause->outcome),
		      spec_error_place(spec));
	else if (!clause->errata_count)
		report(clause->document->file, clause->line,
		       "%s: undocumented %s without errata; the entry that settles it", clause->id,
		       clause->outcome);
}

static void check_id(const struct spec *spec, const struct function *function,
		     const struct clause *clause)
{
	const char *prefix = function_id_prefix(spec, function->name);

	/* Constants of headers have underscores, and an id carries the short name of one. */
	const char *letters = spec_returns_errors(spec) ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
							: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

	if (strncmp(clause->id, prefix, strlen(prefix)) || clause->id[strspn(clause->id, letters)])
		wrong(clause, "id", "the id does not fit the function",
		      pool_printf("%sOUTCOME-n in capitals, digits and dashes", prefix));
}

static void check_clause(struct spec *spec, const struct function *function, struct clause *clause)
{
	unsigned before = report_count();

	check_id(spec, function, clause);
	check_form(clause);
	check_outcome_of(spec, function, clause);
	check_errata_of(spec, clause);
	check_reports_of(spec, clause);
	check_needs(spec, clause->document, clause->path, clause->needs, clause->needs_count);
	for (unsigned i = 0; i < clause->needs_count; i++)
		names_add(&clause->all_needs, clause->needs[i]);
	check_given(spec, clause);
	check_provoke(spec, clause);
	check_as(clause, "as", clause->as);
	check_as(clause, "control_as", clause->control_as);
	check_params(clause);
	if (clause->call && report_count() == before)
		check_called(spec, function, clause);
}

/* ---- one function ---- */

static void check_prototype(const struct spec *spec, const struct function *function)
{
	const struct document *document = function->document;
	const struct prototype *declared = prototypes_find(&spec->prototypes, function->name);
	int line = document_line(document, "prototype");

	if (!declared) {
		report(document->file, document_line(document, "function"),
		       "%s is in no header of the API; a function of %s", function->name,
		       spec->api.headers[0]);
		return;
	}
	if (strcmp(function->prototype.name, function->name)) {
		report(document->file, line, "%s is no prototype of %s; the header has: %s",
		       function->prototype_text, function->name, declared->text);
		return;
	}
	if (strcmp(function->prototype.types, declared->types))
		report(document->file, line, "prototype %s differs from the header; %s:%d has: %s",
		       function->prototype_text, declared->file, declared->line, declared->text);
}

/* A text that describes no parameter, or none: both are a page that misleads. */
static void check_described(const struct function *function, struct names *described)
{
	const struct names *known = &function->prototype.parameters;

	for (unsigned i = 0; i < function->parameters.count; i++) {
		const struct pair *pair = &function->parameters.at[i];

		if (names_find(known, pair->key) < 0)
			report(function->document->file, pair->line,
			       "%s has no parameter %s; its parameters are: %s", function->name,
			       pair->key, known->count ? names_join(known, ", ") : "none");
		else if (names_find(described, pair->key) >= 0)
			report(function->document->file, pair->line,
			       "parameter %s described twice; keep one", pair->key);
		else if (!pair->value || !*pair->value)
			report(function->document->file, pair->line,
			       "parameter %s has no text; its meaning, unit and range", pair->key);
		names_add(described, pair->key);
	}
}

static void check_parameters(const struct function *function)
{
	const struct document *document = function->document;
	const char *place = document_node(document, "parameters") ? "parameters" : "prototype";
	const struct names *known = &function->prototype.parameters;
	struct names described = {0};

	if (names_find(known, "") >= 0) {
		report(document->file, document_line(document, "prototype"),
		       "parameter %d of %s has no name; one, so that parameters can describe it",
		       names_find(known, "") + 1, function->name);
		return;
	}
	check_described(function, &described);
	for (unsigned i = 0; i < known->count; i++)
		if (names_find(&described, known->at[i]) < 0)
			report(document->file, document_line(document, place),
			       "parameter %s of %s is not described; add %s: TEXT to parameters",
			       known->at[i], function->name, known->at[i]);
}

static void check_header(const struct spec *spec, const struct function *function)
{
	struct names headers = {0};

	for (unsigned i = 0; i < spec->api.header_count; i++)
		names_add(&headers, spec->api.headers[i]);
	if (names_find(&headers, function->header) < 0)
		report(function->document->file, document_line(function->document, "header"),
		       "unknown header %s; the API has: %s", function->header,
		       names_join(&headers, ", "));
}

static void check_linkage(const struct function *function)
{
	if (function->linkage && strcmp(function->linkage, "required") &&
	    strcmp(function->linkage, "optional") && strcmp(function->linkage, "inline"))
		report(function->document->file, document_line(function->document, "linkage"),
		       "unknown linkage %s; required, optional or inline", function->linkage);
}

static bool has_clause(const struct function *function, const char *outcome)
{
	for (unsigned i = 0; i < function->all_count; i++)
		if (!strcmp(function->all[i]->outcome, outcome))
			return true;
	return false;
}

static void check_outcome(const struct function *function, struct names *seen,
			  const struct outcome *outcome, const char *path)
{
	const struct document *document = function->document;

	if (names_find(seen, outcome->name) >= 0)
		report(document->file, document_line(document, path),
		       "outcome %s given twice; outcomes of a function must differ", outcome->name);
	names_add(seen, outcome->name);
	if (!has_clause(function, outcome->name))
		report(document->file, document_line(document, path),
		       "outcome %s of %s has no clause; add one (untestable: reason if it must be)",
		       outcome->name, function->name);
}

static void check_outcomes(const struct spec *spec, const struct function *function)
{
	const struct document *document = function->document;
	struct names seen = {0};

	for (unsigned i = 0; i < function->success_count; i++)
		check_outcome(function, &seen, &function->successes[i],
			      pool_printf("outcomes/success/%u", i));
	for (unsigned i = 0; i < function->error_count; i++) {
		const char *path = pool_printf("outcomes/errors/%u", i);

		check_outcome(function, &seen, &function->errors[i], path);
		if (!spec_error_exists(spec, function->errors[i].name))
			report(document->file, document_line(document, path),
			       "no such error %s; %s", function->errors[i].name,
			       spec_error_place(spec));
	}
	if (function->error_count && !*function_failure(spec, function))
		report(document->file, document_line(document, "failure"),
		       "%s has errors but no failure value; the value it returns then",
		       function->name);
}

static void check_function(struct spec *spec, struct function *function)
{
	const char *name = strrchr(function->document->file, '/');

	name = name ? name + 1 : function->document->file;
	if (strcmp(name, pool_printf("%s.yaml", function->name)))
		report(function->document->file, document_line(function->document, "function"),
		       "function %s in file %s; its file is %s.yaml", function->name, name,
		       function->name);
	check_prototype(spec, function);
	check_parameters(function);
	check_header(spec, function);
	check_linkage(function);
	check_outcomes(spec, function);
	for (unsigned i = 0; i < function->all_count; i++)
		check_clause(spec, function, function->all[i]);
}

void spec_check(struct spec *spec)
{
	for (unsigned i = 0; i < spec->vocabulary_count; i++)
		check_vocabulary(spec, &spec->vocabularies[i]);
	for (unsigned i = 0; i < spec->function_count; i++)
		check_function(spec, &spec->functions[i]);
	spec_check_across(spec);
}
