/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the C file of one function: per clause a struct of its variables and the functions that
 * struct cts_case of harness/runtime/cts.h points to, then the case table.  Snippets keep their
 * place in the clause file by #line, so a compiler's message points at what the author wrote.
 */
#include "emit.h"

#include "expect.h"
#include "tokens.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output {
	FILE *stream; /* into text */
	char *text;
	size_t size;
	const char *file; /* for #line back into the output */
	int line;	  /* of the next character */
	const struct spec *spec;
	const struct function *function;
};

static void put(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct output *out, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	for (const char *at = text; at && *at; at++)
		out->line += *at == '\n';
	if (text)
		fputs(text, out->stream);
	free(text);
}

/* `text` as a C string constant. */
static const char *quoted(const char *text)
{
	char *out, *end;

	if (!text)
		return "NULL";
	end = out = pool_alloc(4 * strlen(text) + 3);
	*end++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*end++ = '\\';
		if (*text == '\n')
			end = stpcpy(end, "\\n");
		else
			*end++ = *text;
	}
	*end = '"';
	return out;
}

static const char *truth(bool value)
{
	return value ? "true" : "false";
}

/* ---- snippets ---- */

static void into_clause_file(struct output *out, const struct document *document, const char *path)
{
	put(out, "#line %d %s\n", document_content_line(document, path), quoted(document->file));
}

static void back(struct output *out)
{
	put(out, "#line %d %s\n", out->line + 1, quoted(out->file));
}

static struct names variables(const struct clause *clause)
{
	struct names names = {0};

	for (unsigned i = 0; i < clause->binding_count; i++)
		names_add(&names, clause->bindings[i].name);
	return names;
}

static const char *with_members(const struct clause *clause, const char *text)
{
	struct names names = variables(clause);

	return tokens_prefix(text, &names, "v->");
}

static const char *compare(const char *condition, const char *value)
{
	const char *operator, *operand = condition_split(condition, &operator);

	return pool_printf("%s %s (%s)", value, operator, operand);
}

static bool is_void(const struct output *out)
{
	return function_is_void(out->function);
}

static bool returns_errors(const struct output *out)
{
	return spec_returns_errors(out->spec);
}

static const char *returned(const struct output *out)
{
	return pool_printf("((%s)r->ret)", out->function->prototype.returns);
}

/* ---- the functions of one case ---- */

static void open_function(struct output *out, const struct clause *clause, unsigned index,
			  const char *result, const char *name, const char *more)
{
	put(out, "\nstatic %s case_%u_%s(void *vars%s)\n{\n", result, index, name, more);
	if (clause->binding_count)
		put(out, "\tstruct case_%u *v = vars;\n\n\t(void)v;\n", index);
	else
		put(out, "\t(void)vars;\n");
}

static void close_function(struct output *out)
{
	back(out);
	put(out, "}\n");
}

/* `uint16_t[8]` declares as `uint16_t NAME[8]`. */
static void declare(struct output *out, const struct binding *binding)
{
	size_t length = strcspn(binding->type, "[");

	put(out, "\t%s %s%s;\n", pool_text(binding->type, length), binding->name,
	    binding->type + length);
}

static void emit_struct(struct output *out, const struct clause *clause, unsigned index)
{
	put(out, "\n/* %s */\n", clause->id);
	if (!clause->binding_count)
		return;
	put(out, "struct case_%u {\n", index);
	for (unsigned i = 0; i < clause->binding_count; i++)
		declare(out, &clause->bindings[i]);
	put(out, "};\n");
}

static void emit_binding(struct output *out, const struct clause *clause,
			 const struct binding *binding)
{
	const char *arguments = with_members(clause, names_join(&binding->arguments, ", "));

	if (!binding->function && binding->arguments.count < 2)
		return;
	put(out, "\tcts_step(%s);\n",
	    quoted(pool_printf("%s: %s(%s)", binding->name, binding->fixture,
			       names_join(&binding->arguments, ", "))));
	put(out, "#line %d %s\n", binding->line, quoted(clause->document->file));
	if (binding->function)
		put(out, "\tv->%s = %s(%s);\n", binding->name, binding->function, arguments);
	else
		put(out,
		    "\t{ const __typeof__(v->%s) initial = %s; memcpy((void *)&v->%s, &initial, "
		    "sizeof initial); }\n",
		    binding->name, with_members(clause, binding->arguments.at[1]), binding->name);
}

static void emit_statements(struct output *out, const struct clause *clause, const char *key,
			    char **texts, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		into_clause_file(out, clause->document,
				 clause_path(clause, pool_printf("%s/%u", key, i)));
		put(out, "\t%s\n", with_members(clause, texts[i]));
	}
}

/* Statements that prepare: the report names the one that broke. */
static void emit_steps(struct output *out, const struct clause *clause, const char *key,
		       char **texts, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		put(out, "\tcts_step(%s);\n", quoted(texts[i]));
		into_clause_file(out, clause->document,
				 clause_path(clause, pool_printf("%s/%u", key, i)));
		put(out, "\t%s\n", with_members(clause, texts[i]));
		back(out);
	}
}

static void emit_given(struct output *out, const struct clause *clause, unsigned index)
{
	if (!clause->binding_count && !clause->setup_count)
		return;
	open_function(out, clause, index, "void", "given", "");
	for (unsigned i = 0; i < clause->binding_count; i++)
		emit_binding(out, clause, &clause->bindings[i]);
	emit_steps(out, clause, "setup", clause->setup, clause->setup_count);
	close_function(out);
}

static void emit_call(struct output *out, const struct clause *clause, unsigned index,
		      const char *name, const char *text)
{
	open_function(out, clause, index, "void", name, ", struct cts_result *r");
	if (clause->binding_count && !strcmp(name, "control"))
		put(out, "\tcase_%u_vars = v;\n", index);
	put(out, "\terrno = 0;\n");
	into_clause_file(out, clause->document, clause_path(clause, name));
	if (is_void(out))
		put(out, "\t%s; r->ret = 0;\n", with_members(clause, text));
	else
		put(out, "\tr->ret = (intptr_t)(%s);\n", with_members(clause, text));
	back(out);
	put(out, "\tr->err = %s;\n}\n", returns_errors(out) ? "(int)r->ret" : "errno");
}

static void emit_block(struct output *out, const struct clause *clause, unsigned index,
		       const char *key, char **texts, unsigned count)
{
	if (!count)
		return;
	open_function(out, clause, index, "void", key, "");
	emit_statements(out, clause, key, texts, count);
	close_function(out);
}

/* The predicate sees no variables; a condition that names one finds them where control left them.
 */
static void emit_control_ok(struct output *out, const struct clause *clause, unsigned index,
			    const char *condition)
{
	put(out, "\nstatic bool case_%u_control_ok(const struct cts_result *r)\n{\n", index);
	if (clause->binding_count)
		put(out, "\tstruct case_%u *v = case_%u_vars;\n\n\t(void)v;\n", index, index);
	into_clause_file(out, clause->document, clause_path(clause, "control_returns"));
	if (is_void(out) || !strcmp(condition, "any"))
		put(out, "\t(void)r;\n\treturn true;\n");
	else
		put(out, "\treturn %s;\n", compare(with_members(clause, condition), returned(out)));
	close_function(out);
}

static void emit_control(struct output *out, const struct clause *clause, unsigned index)
{
	const char *failure = function_failure(out->spec, out->function);

	if (!clause->control)
		return;
	emit_block(out, clause, index, "control_setup", clause->control_setup,
		   clause->control_setup_count);
	if (clause->binding_count)
		put(out, "\nstatic struct case_%u *case_%u_vars;\n", index, index);
	emit_call(out, clause, index, "control", clause->control);
	emit_control_ok(out, clause, index,
			clause->control_returns ? clause->control_returns
						: condition_of_success(failure));
}

static void emit_snapshots(struct output *out, const struct clause *clause, unsigned index)
{
	unsigned count = clause->then ? clause->then->unchanged_count : 0;

	for (unsigned i = 0; i < count; i++) {
		const char *lvalue = with_members(clause, clause->then->unchanged[i]);

		put(out, "\nstatic size_t case_%u_unchanged_%u(void *vars, void *out)\n{\n", index,
		    i);
		if (clause->binding_count)
			put(out, "\tstruct case_%u *v = vars;\n\n\t(void)v;\n", index);
		else
			put(out, "\t(void)vars;\n");
		into_clause_file(out, clause->document,
				 clause_path(clause, pool_printf("then/unchanged/%u", i)));
		put(out, "\tif (out) memcpy(out, (const void *)&(%s), sizeof(%s));\n", lvalue,
		    lvalue);
		back(out);
		put(out, "\treturn sizeof(%s);\n}\n", lvalue);
	}
	if (!count)
		return;
	put(out, "\nstatic const struct cts_snapshot case_%u_unchanged[] = {\n", index);
	for (unsigned i = 0; i < count; i++)
		put(out, "\t{ %s, case_%u_unchanged_%u },\n", quoted(clause->then->unchanged[i]),
		    index, i);
	put(out, "};\n");
}

/* ---- expectations ---- */

static bool checks_anything(const struct output *out, const struct clause *clause,
			    const struct then *then)
{
	return strcmp(expected_return(out->spec, out->function, clause, then), "any") || (then && then->check_count);
}

/* The operand is said apart, so that the raw log shows what was compared. */
static void emit_check_returned(struct output *out, const struct clause *clause,
				const char *condition)
{
	const char *operator, *text = with_members(clause, condition);
	const char *operand = condition_split(text, &operator);

	put(out, "\tcts_check_returned((%s), (intptr_t)ret, %s, (intptr_t)(%s), %s);\n",
	    compare(text, "ret"), quoted(operator), operand,
	    quoted(pool_printf("returns %s", condition)));
}

static void emit_check(struct output *out, const struct clause *clause, unsigned index,
		       const char *profile, const struct then *then,
		       const struct document *document, const char *path)
{
	const char *condition = expected_return(out->spec, out->function, clause, then);
	const char *effect = clause->is_error ? "CTS_CHECK_EFFECT" : "CTS_CHECK";

	if (!checks_anything(out, clause, then))
		return;
	put(out, "\nstatic void case_%u_check_%s(void *vars, const struct cts_result *r)\n{\n",
	    index, profile);
	if (clause->binding_count)
		put(out, "\tstruct case_%u *v = vars;\n", index);
	if (!is_void(out))
		put(out, "\t%s ret = %s;\n", out->function->prototype.returns, returned(out));
	put(out, "\tint err = r->err;\n\n\t(void)vars;\n\t(void)err;\n");
	if (clause->binding_count)
		put(out, "\t(void)v;\n");
	if (!is_void(out))
		put(out, "\t(void)ret;\n");
	if (strcmp(condition, "any")) {
		into_clause_file(out, document, pool_printf("%s/returns", path));
		emit_check_returned(out, clause, condition);
	}
	for (unsigned i = 0; then && i < then->check_count; i++) {
		into_clause_file(out, document, pool_printf("%s/check/%u", path, i));
		put(out, "\t%s((%s), %s);\n", effect, with_members(clause, then->check[i]),
		    quoted(then->check[i]));
	}
	close_function(out);
}

static void emit_expect(struct output *out, const struct clause *clause, unsigned index,
			const char *profile, const struct then *then,
			const struct override *override)
{
	struct names errors = expected_errors(clause, then);
	const char *tag = override ? override->tag : NULL;
	bool accepts = override && (override->accepts_text || !strcmp(tag, "read"));

	put(out, "\t{\n\t\t.profile = %s,\n", quoted(profile));
	put(out, "\t\t.returns_text = %s,\n",
	    quoted(expected_text(out->spec, out->function, clause, then)));
	put(out, "\t\t.errno_text = %s,\n", quoted(names_join(&errors, " ")));
	if (errors.count)
		put(out, "\t\t.errnos = (const int[]){ %s },\n\t\t.errno_count = %u,\n",
		    names_join(&errors, ", "), errors.count);
	if (clause->call && checks_anything(out, clause, then))
		put(out, "\t\t.check = case_%u_check_%s,\n", index, profile);
	if (accepts)
		put(out, "\t\t.accepts_text = true,\n");
	if (tag)
		put(out, "\t\t.tag = %s,\n", quoted(tag));
	if (override && override->is_slow)
		put(out, "\t\t.is_slow = true,\n");
	put(out, "\t},\n");
}

static void emit_expects(struct output *out, const struct clause *clause, unsigned index)
{
	const struct override *override = clause->override;

	if (clause->call)
		emit_check(out, clause, index, "documented", clause->then, clause->document,
			   clause_path(clause, "then"));
	if (clause->call && override)
		emit_check(out, clause, index, override->profile, override->then,
			   override->document, pool_printf("%s/then", override->path));
	put(out, "\nstatic const struct cts_expect case_%u_expects[] = {\n", index);
	emit_expect(out, clause, index, "documented", clause->then, NULL);
	if (override)
		emit_expect(out, clause, index, override->profile,
			    clause->call ? override->then : clause->then, override);
	put(out, "};\n");
}

/* ---- tables ---- */

static void emit_needs(struct output *out, const struct clause *clause, unsigned index)
{
	if (!clause->all_needs.count)
		return;
	put(out, "\nstatic const char *const case_%u_needs[] = { \"%s\", NULL };\n", index,
	    names_join(&clause->all_needs, "\", \""));
}

static void emit_pairs(struct output *out, const struct clause *clause, unsigned index)
{
	if (clause->provoke.count) {
		put(out, "\nstatic const struct cts_key case_%u_provoke[] = {\n", index);
		for (unsigned i = 0; i < clause->provoke.count; i++)
			put(out, "\t{ %s, %s },\n", quoted(clause->provoke.at[i].key),
			    quoted(clause->provoke.at[i].value));
		put(out, "};\n");
	}
	if (clause->params.count) {
		put(out, "\nstatic const struct cts_param case_%u_params[] = {\n", index);
		for (unsigned i = 0; i < clause->params.count; i++)
			put(out, "\t{ %s, %s },\n", quoted(clause->params.at[i].key),
			    clause->params.at[i].value);
		put(out, "};\n");
	}
}

static void declare_scenario(struct output *out, const struct clause *clause,
			     struct names *declared)
{
	if (!clause->scenario || names_find(declared, clause->scenario) >= 0)
		return;
	names_add(declared, clause->scenario);
	put(out, "\nvoid cts_scenario_%s(void);\n", clause->scenario);
}

static void emit_parts(struct output *out, const struct clause *clause, unsigned index,
		       struct names *scenarios)
{
	emit_struct(out, clause, index);
	declare_scenario(out, clause, scenarios);
	emit_needs(out, clause, index);
	emit_pairs(out, clause, index);
	if (clause->call) {
		emit_given(out, clause, index);
		emit_call(out, clause, index, "call", clause->call);
		emit_block(out, clause, index, "during", clause->during, clause->during_count);
		emit_control(out, clause, index);
		emit_snapshots(out, clause, index);
	}
	emit_expects(out, clause, index);
}

static void emit_text(struct output *out, const char *member, const char *text)
{
	if (text)
		put(out, "\t\t.%s = %s,\n", member, quoted(text));
}

static void emit_pointers(struct output *out, const struct clause *clause, unsigned index)
{
	if (clause->binding_count)
		put(out, "\t\t.vars_size = sizeof(struct case_%u),\n", index);
	if (clause->binding_count || clause->setup_count)
		put(out, "\t\t.given = case_%u_given,\n", index);
	put(out, "\t\t.call = case_%u_call,\n", index);
	if (clause->during_count)
		put(out, "\t\t.during = case_%u_during,\n", index);
	if (clause->control_setup_count)
		put(out, "\t\t.control_setup = case_%u_control_setup,\n", index);
	if (clause->control)
		put(out, "\t\t.control = case_%u_control,\n", index);
	if (clause->control)
		put(out, "\t\t.control_ok = case_%u_control_ok,\n", index);
	if (clause->then && clause->then->unchanged_count)
		put(out, "\t\t.unchanged = case_%u_unchanged,\n\t\t.unchanged_count = %u,\n", index,
		    clause->then->unchanged_count);
}

static void emit_case(struct output *out, const struct clause *clause, unsigned index)
{
	put(out, "\t{\n\t\t.id = %s,\n\t\t.function = %s,\n", quoted(clause->id),
	    quoted(out->function->name));
	emit_text(out, "outcome", clause->outcome);
	emit_text(out, "text", clause->text);
	emit_text(out, "source", clause_source(out->function, clause));
	emit_text(out, "call_text", clause->call);
	emit_text(out, "control_text", clause->control);
	emit_text(out, "scenario_name", clause->scenario);
	put(out, "\t\t.line = %d,\n", clause->line);
	emit_text(out, "file", spec_file_name(out->spec, clause->document->file));
	if (clause->call)
		emit_pointers(out, clause, index);
	if (!is_void(out) && *function_failure(out->spec, out->function))
		put(out, "\t\t.failed = failed,\n");
	if (clause->scenario)
		put(out, "\t\t.scenario = cts_scenario_%s,\n", clause->scenario);
	emit_text(out, "as", clause->as);
	emit_text(out, "control_as", clause->control_as);
	if (clause->provoke_kind)
		put(out, "\t\t.provoke = { %s, case_%u_provoke, %u },\n",
		    quoted(clause->provoke_kind), index, clause->provoke.count);
	put(out, "\t\t.expects = case_%u_expects,\n\t\t.expect_count = %d,\n", index,
	    clause->override ? 2 : 1);
	if (clause->all_needs.count)
		put(out, "\t\t.needs = case_%u_needs,\n", index);
	emit_text(out, "choice", clause->then ? clause->then->choice : NULL);
	if (clause->params.count)
		put(out, "\t\t.params = case_%u_params,\n\t\t.param_count = %u,\n", index,
		    clause->params.count);
	put(out, "\t\t.is_error = %s,\n\t\t.is_long = %s,\n\t\t.repeat = %s,\n",
	    truth(clause->is_error), truth(clause->is_long), truth(clause_repeats(clause)));
	emit_text(out, "untestable", clause->untestable);
	emit_text(out, "ruled_out", clause->ruled_out);
	put(out, "\t},\n");
}

static const char *runtime_header(const struct spec *spec)
{
	return spec->api.runtime ? spec->api.runtime : "cts.h";
}

static void emit_top(struct output *out)
{
	const char *failure = function_failure(out->spec, out->function);

	put(out, "/* Generated by specc from %s; do not edit. */\n",
	    spec_file_name(out->spec, out->function->document->file));
	for (unsigned i = 0; i < out->spec->api.header_count; i++)
		put(out, "#include \"%s\"\n", out->spec->api.headers[i]);
	put(out, "#include \"%s\"\n\n", runtime_header(out->spec));
	put(out, "const struct cts_api *const cts_api = &cts_api_%s;\n", out->spec->api.name);
	put(out, "const char cts_function[] = %s;\n", quoted(out->function->name));
	if (!is_void(out) && *failure)
		put(out, "\nstatic bool failed(const struct cts_result *r)\n{\n\treturn %s;\n}\n",
		    compare(failure, returned(out)));
}

static void emit_file(struct output *out)
{
	const struct function *function = out->function;
	struct names scenarios = {0};

	emit_top(out);
	for (unsigned i = 0; i < function->all_count; i++)
		emit_parts(out, function->all[i], i, &scenarios);
	put(out, "\nconst struct cts_case cts_cases[] = {\n");
	for (unsigned i = 0; i < function->all_count; i++)
		emit_case(out, function->all[i], i);
	put(out, "};\n\nconst int cts_case_count = %u;\n", function->all_count);
}

static bool open_output(struct output *out)
{
	out->line = 1;
	out->stream = open_memstream(&out->text, &out->size);
	if (!out->stream)
		fprintf(stderr, "specc: no memory: %s\n", strerror(errno));
	return out->stream != NULL;
}

/* A file that would not change is left alone: what was built from it is still right. */
static bool is_written_already(const struct output *out)
{
	FILE *file = fopen(out->file, "r");
	char *old = malloc(out->size + 1);
	bool same = file && old && fread(old, 1, out->size + 1, file) == out->size &&
		    !memcmp(old, out->text, out->size);

	free(old);
	if (file)
		fclose(file);
	return same;
}

static bool write_text(const struct output *out)
{
	FILE *file = fopen(out->file, "w");
	bool good = file && fwrite(out->text, 1, out->size, file) == out->size;

	return file && !fclose(file) && good;
}

static bool close_output(struct output *out)
{
	bool good = !fclose(out->stream);

	good = good && (is_written_already(out) || write_text(out));
	if (!good)
		fprintf(stderr, "specc: %s cannot be written: %s\n", out->file, strerror(errno));
	free(out->text);
	return good;
}

bool emit_function(const struct spec *spec, const struct function *function, const char *file)
{
	struct output out = {.file = file, .spec = spec, .function = function};

	if (!open_output(&out))
		return false;
	emit_file(&out);
	return close_output(&out);
}

bool emit_scenarios(const struct spec *spec, const char *file)
{
	struct output out = {.file = file, .spec = spec};
	struct names declared = {0};

	if (!open_output(&out))
		return false;
	put(&out, "/* Generated by specc: the scenarios that clauses name; do not edit. */\n"
		  "#ifndef CTS_SCENARIOS_H\n#define CTS_SCENARIOS_H\n");
	for (unsigned i = 0; i < spec->function_count; i++)
		for (unsigned j = 0; j < spec->functions[i].all_count; j++)
			declare_scenario(&out, spec->functions[i].all[j], &declared);
	put(&out, "\n#endif\n");
	return close_output(&out);
}
