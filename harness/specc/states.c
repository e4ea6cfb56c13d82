/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the state matrix into clauses: one per cell, so the rest of the compiler, the plan and the
 * reports know no difference between a cell and a clause that was written out.
 */
#include "report.h"
#include "spec.h"

#include <ctype.h>
#include <string.h>

static bool names_outcome(const struct outcome *outcomes, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(outcomes[i].name, name))
			return true;
	return false;
}

bool function_has_success(const struct function *function, const char *name)
{
	return names_outcome(function->successes, function->success_count, name);
}

bool function_has_error(const struct function *function, const char *name)
{
	return names_outcome(function->errors, function->error_count, name);
}

static const char *as_id(const char *text)
{
	char *id = pool_text(text, strlen(text));

	for (char *at = id; *at; at++)
		*at = *at == '_' ? '-' : (char)toupper((unsigned char)*at);
	return id;
}

static const char *call_path(unsigned row)
{
	return pool_printf("calls/%u", row);
}

static const char *cell_path(unsigned row, const char *state)
{
	return pool_printf("calls/%u/results/%s", row, state);
}

static const char *list_names(const struct function *function)
{
	struct names names = {0};

	for (unsigned i = 0; i < function->success_count; i++)
		names_add(&names, function->successes[i].name);
	for (unsigned i = 0; i < function->error_count; i++)
		names_add(&names, function->errors[i].name);
	return names_join(&names, ", ");
}

/* Binds the matrix's variable to the fixture of the state, in front of what the row gives. */
static void bind_state(struct clause *clause, const struct spec *spec, unsigned row,
		       const char *state)
{
	const struct document *document = spec->states.document;

	clause->bindings = spec_given(document, pool_printf("%s/given", call_path(row)), 1,
				      &clause->binding_count);
	clause->bindings[0] = (struct binding){
		.name = spec->api.state_variable ? spec->api.state_variable : "epd",
		.fixture = state,
		.line = document_line(document, cell_path(row, state)),
	};
}

static const char *cell_text(const struct states *states, unsigned row, const char *state,
			     const struct names *results)
{
	return pool_printf("In state %s the call %s gives %s.", state, states->calls[row].call,
			   names_join(results, " or "));
}

static void set_errata(struct clause *clause, const struct document *document, unsigned row,
		       const char *state)
{
	struct names errata =
		document_names(document, pool_printf("%s/errata/%s", call_path(row), state));

	clause->errata = (char **)errata.at;
	clause->errata_count = errata.count;
}

static void set_expectation(struct clause *clause, const struct spec *spec,
			    const struct function *function, const struct names *results)
{
	const char *failure = function_failure(spec, function);

	clause->then = pool_alloc(sizeof *clause->then);
	clause->is_error = !function_has_success(function, results->at[0]);
	if (clause->is_error) {
		clause->then->errnos = *results;
		clause->control_none =
			(char *)"the other cells of the row show the call succeeding";
		clause->undocumented = !function_has_error(function, results->at[0]);
	} else {
		clause->then->returns = (char *)condition_of_success(failure);
	}
}

static struct clause *cell_clause(const struct spec *spec, const struct function *function,
				  unsigned row, const char *state, const struct names *results)
{
	const struct document *document = spec->states.document;
	const struct state_call *call = &spec->states.calls[row];
	struct clause *clause = pool_alloc(sizeof *clause);

	clause->id = pool_printf("%sSTATE-%s%s%s", function_id_prefix(spec, function->name),
				 as_id(state), call->variant ? "-" : "",
				 call->variant ? as_id(call->variant) : "");
	clause->text = (char *)cell_text(&spec->states, row, state, results);
	clause->source = call->source;
	clause->outcome = (char *)results->at[0];
	clause->needs = call->needs;
	clause->needs_count = call->needs_count;
	clause->is_long = call->is_long;
	clause->setup = call->setup;
	clause->setup_count = call->setup_count;
	clause->call = call->call;
	clause->repeat = call->repeat;
	clause->document = document;
	clause->path = call_path(row);
	clause->line = document_line(document, cell_path(row, state));
	clause->state = state;
	bind_state(clause, spec, row, state);
	set_errata(clause, document, row, state);
	set_expectation(clause, spec, function, results);
	return clause;
}

static bool is_absent(const struct document *document, const char *path, int line)
{
	const char *text = node_scalar(document_node(document, path));
	const char *reason;

	if (!text || strncmp(text, "absent:", 7))
		return false;
	reason = text + 7;
	if (!reason[strspn(reason, " ")])
		report(document->file, line, "absent without a reason; say \"absent: reason\"");
	return true;
}

/* Every name of a cell is known; several names are errors only. */
static bool check_cell(const struct spec *spec, const struct function *function,
		       const struct names *results, const char *state, int line)
{
	const char *file = spec->states.document->file;
	unsigned before = report_count();

	if (!results->count)
		report(file, line, "cell %s is empty; an outcome of %s belongs here: %s", state,
		       function->name, list_names(function));
	for (unsigned i = 0; i < results->count; i++) {
		bool success = function_has_success(function, results->at[i]);

		if (success && results->count > 1)
			report(file, line,
			       "cell %s lists the success %s with others; one success, or errors "
			       "only",
			       state, results->at[i]);
		if (!success && !function_has_error(function, results->at[i]) &&
		    !spec_error_exists(spec, results->at[i]))
			report(file, line, "%s is no outcome of %s and no error; known are: %s",
			       results->at[i], function->name, list_names(function));
	}
	return report_count() == before;
}

static void add_clause(struct function *function, struct clause *clause)
{
	struct clause **bigger = pool_alloc((function->all_count + 1) * sizeof *bigger);

	memcpy(bigger, function->all, function->all_count * sizeof *bigger);
	bigger[function->all_count++] = clause;
	function->all = bigger;
}

static void expand_cell(struct spec *spec, struct function *function, unsigned row,
			const char *state)
{
	const struct document *document = spec->states.document;
	const char *path = cell_path(row, state);
	int line = document_line(document, path);
	struct names results;

	if (!document_node(document, path)) {
		report(document->file, line,
		       "the row of %s has no cell %s; add %s: OUTCOME or \"absent: reason\"",
		       function->name, state, state);
		return;
	}
	if (is_absent(document, path, line))
		return;
	results = document_names(document, path);
	if (check_cell(spec, function, &results, state, line))
		add_clause(function, cell_clause(spec, function, row, state, &results));
}

static bool is_state(const struct states *states, const char *name)
{
	for (unsigned i = 0; i < states->state_count; i++)
		if (!strcmp(states->states[i], name))
			return true;
	return false;
}

static void check_keys(const struct spec *spec, unsigned row, const char *key)
{
	const struct document *document = spec->states.document;
	struct pairs pairs = document_pairs(document, pool_printf("%s/%s", call_path(row), key));
	struct names known = {0};

	for (unsigned i = 0; i < spec->states.state_count; i++)
		names_add(&known, spec->states.states[i]);
	for (unsigned i = 0; i < pairs.count; i++)
		if (!is_state(&spec->states, pairs.at[i].key))
			report(document->file, pairs.at[i].line,
			       "unknown state %s in %s; the states are: %s", pairs.at[i].key, key,
			       names_join(&known, ", "));
}

static void check_states(const struct spec *spec)
{
	const struct document *document = spec->states.document;

	for (unsigned i = 0; i < spec->states.state_count; i++) {
		const struct fixture *fixture = spec_fixture(spec, spec->states.states[i]);

		if (!fixture || fixture->args)
			report(document->file, document_line(document, pool_printf("states/%u", i)),
			       "state %s is no fixture without arguments; spec/vocabulary.yaml "
			       "must have one of that name",
			       spec->states.states[i]);
	}
}

void states_expand(struct spec *spec)
{
	check_states(spec);
	for (unsigned row = 0; row < spec->states.call_count; row++) {
		const struct state_call *call = &spec->states.calls[row];
		struct function *function = spec_function(spec, call->function);

		check_keys(spec, row, "results");
		check_keys(spec, row, "errata");
		if (!function && spec->incomplete)
			continue;
		if (!function) {
			report(spec->states.document->file,
			       document_line(spec->states.document,
					     pool_printf("%s/function", call_path(row))),
			       "row of %s, which has no clause file; one of spec/%s/ is meant",
			       call->function, spec->api.name);
			continue;
		}
		for (unsigned i = 0; i < spec->states.state_count; i++)
			expand_cell(spec, function, row, spec->states.states[i]);
	}
}
