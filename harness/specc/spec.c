/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and loads the files of one API, and the questions that several passes ask about them. */
#include "spec.h"

#include "report.h"
#include "schema.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

static void remember(struct spec *spec, const struct document *document)
{
	const struct document **bigger = pool_alloc((spec->document_count + 1) * sizeof *bigger);

	if (spec->document_count)
		memcpy(bigger, spec->documents, spec->document_count * sizeof *bigger);
	bigger[spec->document_count++] = document;
	spec->documents = bigger;
}

static void *load(struct spec *spec, const char *file, const cyaml_schema_value_t *schema,
		  const struct document **document)
{
	*document = document_load(file);
	if (!*document)
		return NULL;
	remember(spec, *document);
	return schema_load(*document, schema);
}

struct binding *spec_given(const struct document *document, const char *path, unsigned before,
			   unsigned *count)
{
	struct pairs pairs = document_pairs(document, path);
	struct binding *bindings = pool_alloc((before + pairs.count + 1) * sizeof *bindings);

	for (unsigned i = 0; i < pairs.count; i++) {
		struct binding *binding = &bindings[before + i];
		const char *value = pairs.at[i].value ? pairs.at[i].value : "";
		const char *open = strchr(value, '(');
		size_t length = open ? (size_t)(open - value) : strlen(value);

		while (length && isspace((unsigned char)value[length - 1]))
			length--;
		binding->name = pairs.at[i].key;
		binding->line = pairs.at[i].line;
		binding->fixture = pool_text(value, length);
		if (open && value[strlen(value) - 1] == ')')
			binding->arguments =
				tokens_split(pool_text(open + 1, strlen(open + 1) - 1));
		else if (open)
			report(document->file, binding->line,
			       "fixture of %s is %s; FIXTURE or FIXTURE(ARGUMENT, ...) belongs "
			       "here",
			       binding->name, value);
	}
	*count = before + pairs.count;
	return bindings;
}

static void resolve_then(const struct document *document, const char *path, struct then *then)
{
	if (then)
		then->errnos = document_names(document, pool_printf("%s/errno", path));
}

static void resolve_clause(const struct document *document, struct clause *clause, unsigned index)
{
	clause->document = document;
	clause->path = pool_printf("clauses/%u", index);
	clause->line = document_line(document, clause->path);
	clause->bindings =
		spec_given(document, clause_path(clause, "given"), 0, &clause->binding_count);
	clause->provoke = document_pairs(document, clause_path(clause, "provoke"));
	if (clause->provoke.count)
		clause->provoke_kind = clause->provoke.at[0].key;
	clause->params = document_pairs(document, clause_path(clause, "params"));
	resolve_then(document, clause_path(clause, "then"), clause->then);
}

static void add_function(struct spec *spec, const struct function *function)
{
	struct function *bigger = pool_alloc((spec->function_count + 1) * sizeof *bigger);

	if (spec->function_count)
		memcpy(bigger, spec->functions, spec->function_count * sizeof *bigger);
	bigger[spec->function_count++] = *function;
	spec->functions = bigger;
}

static void load_function(struct spec *spec, const char *file)
{
	const struct document *document;
	struct function *function = load(spec, file, &schema_function, &document);

	if (!function) {
		spec->incomplete = true;
		return;
	}
	function->document = document;
	if (!prototype_parse(function->prototype_text, &function->prototype))
		function->prototype.name = "";
	function->parameters = document_pairs(document, "parameters");
	function->all = pool_alloc(function->clause_count * sizeof *function->all);
	function->all_count = function->clause_count;
	for (unsigned i = 0; i < function->clause_count; i++) {
		resolve_clause(document, &function->clauses[i], i);
		function->all[i] = &function->clauses[i];
	}
	add_function(spec, function);
}

static void load_profile(struct spec *spec, const char *file)
{
	const struct document *document;
	struct profile *profile = load(spec, file, &schema_profile, &document);
	struct profile *bigger;

	if (!profile)
		return;
	profile->document = document;
	for (unsigned i = 0; i < profile->override_count; i++) {
		struct override *override = &profile->overrides[i];

		override->document = document;
		override->profile = profile->name;
		override->path = pool_printf("overrides/%u", i);
		resolve_then(document, pool_printf("%s/then", override->path), override->then);
	}
	bigger = pool_alloc((spec->profile_count + 1) * sizeof *bigger);
	if (spec->profile_count)
		memcpy(bigger, spec->profiles, spec->profile_count * sizeof *bigger);
	bigger[spec->profile_count++] = *profile;
	spec->profiles = bigger;
}

static void for_each(struct spec *spec, const char *pattern,
		     void (*load_one)(struct spec *, const char *))
{
	glob_t found;

	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			load_one(spec, pool_text(found.gl_pathv[i], strlen(found.gl_pathv[i])));
	globfree(&found);
}

static void load_headers(struct spec *spec, const char *include)
{
	for (unsigned i = 0; i < spec->api.header_count; i++)
		header_read(&spec->prototypes, pool_printf("%s/%s", include, spec->api.headers[i]),
			    spec->api.prefix);
}

static bool load_api(struct spec *spec, const char *file)
{
	const struct document *document;
	struct api *api = load(spec, file, &schema_api, &document);

	if (!api)
		return false;
	spec->api = *api;
	spec->api.document = document;
	if (!strcmp(api->error_style, "errno") || !strcmp(api->error_style, "value"))
		return true;
	report(file, document_line(document, "error_style"),
	       "error_style is %s; errno or value belongs here", api->error_style);
	return false;
}

static void load_vocabulary(struct spec *spec, const char *file)
{
	const struct document *document;
	struct vocabulary *vocabulary = load(spec, file, &schema_vocabulary, &document);

	if (!vocabulary)
		return;
	vocabulary->document = document;
	spec->vocabularies[spec->vocabulary_count++] = *vocabulary;
}

void spec_load(struct spec *spec, const char *api, const char *directory, const char *include)
{
	const char *states = pool_printf("%s/%s-states.yaml", directory, api);
	const char *errata = pool_printf("%s/errata.yaml", directory);
	const char *reports = pool_printf("%s/reports.yaml", directory);
	const char *vocabulary = pool_printf("%s/%s-vocabulary.yaml", directory, api);
	const struct document *document;

	spec->directory = directory;
	if (!load_api(spec, pool_printf("%s/%s.yaml", directory, api)))
		return;
	load_headers(spec, include);
	load_vocabulary(spec, pool_printf("%s/vocabulary.yaml", directory));
	if (spec->vocabulary_count && !access(vocabulary, R_OK))
		load_vocabulary(spec, vocabulary);
	if (!access(errata, R_OK)) {
		struct errata *loaded = load(spec, errata, &schema_errata, &document);

		if (loaded)
			spec->errata = *loaded;
		spec->errata.document = document;
	}
	if (!access(reports, R_OK)) {
		struct fault_reports *loaded = load(spec, reports, &schema_reports, &document);

		if (loaded)
			spec->reports = *loaded;
		spec->reports.document = document;
	}
	for_each(spec, pool_printf("%s/%s/*.yaml", directory, api), load_function);
	if (!access(states, R_OK)) {
		struct states *loaded = load(spec, states, &schema_states, &document);

		if (loaded)
			spec->states = *loaded;
		spec->states.document = document;
	}
	for_each(spec, pool_printf("%s/profiles/*.yaml", directory), load_profile);
}

void spec_unload(struct spec *spec)
{
	for (unsigned i = 0; i < spec->document_count; i++)
		document_free((struct document *)spec->documents[i]);
	schema_free_all();
}

static void hash_text(struct sha256_ctx *hash, const char *text)
{
	sha256_update(hash, strlen(text) + 1, (const uint8_t *)text);
}

static int by_name(const void *left, const void *right)
{
	const struct document *const *a = left, *const *b = right;

	return strcmp((*a)->file, (*b)->file);
}

const char *spec_hash(const struct spec *spec)
{
	size_t bytes = spec->document_count * sizeof *spec->documents;
	const struct document **sorted = pool_alloc(bytes);
	uint8_t digest[SHA256_DIGEST_SIZE];
	char *text = pool_alloc(2 * sizeof digest + 1);
	struct sha256_ctx hash;

	memcpy(sorted, spec->documents, bytes);
	qsort(sorted, spec->document_count, sizeof *sorted, by_name);
	sha256_init(&hash);
	for (unsigned i = 0; i < spec->document_count; i++) {
		hash_text(&hash, spec_file_name(spec, sorted[i]->file));
		hash_text(&hash, pool_printf("%zu", sorted[i]->size));
		sha256_update(&hash, sorted[i]->size, (const uint8_t *)sorted[i]->content);
	}
	sha256_digest(&hash, sizeof digest, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
	return text;
}

const char *spec_file_name(const struct spec *spec, const char *file)
{
	size_t length = strlen(spec->directory);

	if (strncmp(file, spec->directory, length))
		return file;
	return pool_printf("spec/%s", file + length + strspn(file + length, "/"));
}

struct function *spec_function(const struct spec *spec, const char *name)
{
	for (unsigned i = 0; i < spec->function_count; i++)
		if (!strcmp(spec->functions[i].name, name))
			return &spec->functions[i];
	return NULL;
}

const struct erratum *spec_erratum(const struct spec *spec, const char *id)
{
	for (unsigned i = 0; i < spec->errata.entry_count; i++)
		if (!strcmp(spec->errata.entries[i].id, id))
			return &spec->errata.entries[i];
	return NULL;
}

const struct fault_report *spec_fault_report(const struct spec *spec, const char *id)
{
	for (unsigned i = 0; i < spec->reports.entry_count; i++)
		if (!strcmp(spec->reports.entries[i].id, id))
			return &spec->reports.entries[i];
	return NULL;
}

const struct fixture *spec_fixture(const struct spec *spec, const char *name)
{
	for (unsigned v = 0; v < spec->vocabulary_count; v++)
		for (unsigned i = 0; i < spec->vocabularies[v].fixture_count; i++)
			if (!strcmp(spec->vocabularies[v].fixtures[i].name, name))
				return &spec->vocabularies[v].fixtures[i];
	return NULL;
}

const struct provoker *spec_provoker(const struct spec *spec, const char *name)
{
	for (unsigned v = 0; v < spec->vocabulary_count; v++)
		for (unsigned i = 0; i < spec->vocabularies[v].provoker_count; i++)
			if (!strcmp(spec->vocabularies[v].provokers[i].name, name))
				return &spec->vocabularies[v].provokers[i];
	return NULL;
}

bool spec_need(const struct spec *spec, const char *name)
{
	for (unsigned v = 0; v < spec->vocabulary_count; v++)
		for (unsigned i = 0; i < spec->vocabularies[v].need_count; i++)
			if (!strcmp(spec->vocabularies[v].needs[i].name, name))
				return true;
	return false;
}

const char *function_failure(const struct spec *spec, const struct function *function)
{
	return function->failure ? function->failure : spec->api.failure;
}

const char *condition_of_success(const char *failure)
{
	if (!*failure)
		return "any";
	if (!strncmp(failure, "!=", 2))
		return pool_printf("==%s", failure + 2);
	if (!strncmp(failure, "==", 2))
		return pool_printf("!=%s", failure + 2);
	return pool_printf("!= (%s)", failure);
}

const char *function_id_prefix(const struct spec *spec, const char *name)
{
	size_t skip = strlen(spec->api.prefix);
	char *text;

	if (strncmp(name, spec->api.prefix, skip))
		skip = 0;
	else if (spec->api.id_skips &&
		 !strncmp(name + skip, spec->api.id_skips, strlen(spec->api.id_skips)))
		skip += strlen(spec->api.id_skips);
	text = pool_printf("%s-%s-", spec->api.name, name + skip);
	for (char *at = text; *at; at++)
		*at = *at == '_' ? '-' : (char)toupper((unsigned char)*at);
	return text;
}

const char *clause_path(const struct clause *clause, const char *key)
{
	return pool_printf("%s/%s", clause->path, key);
}

int clause_line(const struct clause *clause, const char *key)
{
	return document_line(clause->document, clause_path(clause, key));
}

const char *clause_source(const struct function *function, const struct clause *clause)
{
	return pool_printf("%s, %s", function->source.document,
			   clause->source ? clause->source : function->source.section);
}

const char *clause_provoker(const struct clause *clause)
{
	if (clause->provoke_kind)
		return clause->provoke_kind;
	if (clause->as)
		return "privilege";
	if (clause->scenario)
		return "scenario";
	return clause->state ? "state" : "argument";
}
