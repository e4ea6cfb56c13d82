/* SPDX-License-Identifier: BSD-2-Clause */
/* The schemas, and the walk that compares a document with one of them. */
#include "schema.h"

#include "report.h"
#include "spec.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, structure, member)                                                               \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, structure, member, 1, CYAML_UNLIMITED)
#define TEXT_OR_EMPTY(key, structure, member)                                                      \
	CYAML_FIELD_STRING_PTR(key, OPTIONAL, structure, member, 0, CYAML_UNLIMITED)
#define MAYBE_TEXT(key, structure, member)                                                         \
	CYAML_FIELD_STRING_PTR(key, OPTIONAL, structure, member, 1, CYAML_UNLIMITED)
#define MAYBE_TEXTS(key, structure, member, counter)                                               \
	CYAML_FIELD_SEQUENCE_COUNT(key, OPTIONAL, structure, member, counter, &text_entry, 0,      \
				   CYAML_UNLIMITED)
#define MAYBE_TRUE(key, structure, member)                                                         \
	CYAML_FIELD_BOOL(key, CYAML_FLAG_OPTIONAL, structure, member)
#define LIST(key, structure, member, counter, entry, least)                                        \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER, structure, member, counter, &(entry),  \
				   least, CYAML_UNLIMITED)
#define MAYBE_LIST(key, structure, member, counter, entry)                                         \
	CYAML_FIELD_SEQUENCE_COUNT(key, OPTIONAL, structure, member, counter, &(entry), 0,         \
				   CYAML_UNLIMITED)
/* Free keys, or text that may also be a list: taken from the document. */
#define FROM_DOCUMENT(key) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL)

static const cyaml_schema_value_t text_entry = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED),
};

static const cyaml_schema_value_t number_entry = {
	CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, unsigned),
};

static const cyaml_schema_field_t library_fields[] = {
	TEXT("name", struct library, name), TEXT("link", struct library, link),
	TEXT("pkg_config", struct library, pkg_config), CYAML_FIELD_END};

static const cyaml_schema_field_t api_fields[] = {
	TEXT("api", struct api, name),
	CYAML_FIELD_SEQUENCE_COUNT("headers", CYAML_FLAG_POINTER, struct api, headers, header_count,
				   &text_entry, 1, CYAML_UNLIMITED),
	TEXT("error_style", struct api, error_style),
	MAYBE_TEXT("error_prefix", struct api, error_prefix),
	TEXT("prefix", struct api, prefix),
	MAYBE_TEXT("id_skips", struct api, id_skips),
	TEXT("failure", struct api, failure),
	MAYBE_TEXT("state_type", struct api, state_type),
	MAYBE_TEXT("state_variable", struct api, state_variable),
	MAYBE_TEXT("runtime", struct api, runtime),
	CYAML_FIELD_MAPPING_PTR("library", OPTIONAL, struct api, library, library_fields),
	CYAML_FIELD_END};
const cyaml_schema_value_t schema_api = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct api, api_fields),
};

static const cyaml_schema_field_t source_fields[] = {TEXT("document", struct source, document),
						     TEXT("section", struct source, section),
						     CYAML_FIELD_END};

static const cyaml_schema_field_t outcome_fields[] = {
	TEXT("name", struct outcome, name), TEXT("text", struct outcome, text), CYAML_FIELD_END};
static const cyaml_schema_value_t outcome_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct outcome, outcome_fields),
};

static const cyaml_schema_field_t outcomes_fields[] = {
	MAYBE_LIST("success", struct function, successes, success_count, outcome_entry),
	MAYBE_LIST("errors", struct function, errors, error_count, outcome_entry), CYAML_FIELD_END};

static const cyaml_schema_field_t then_fields[] = {
	MAYBE_TEXT("returns", struct then, returns),
	FROM_DOCUMENT("errno"),
	MAYBE_TEXTS("check", struct then, check, check_count),
	MAYBE_TEXTS("unchanged", struct then, unchanged, unchanged_count),
	MAYBE_TEXT("choice", struct then, choice),
	CYAML_FIELD_END};

static const cyaml_schema_field_t clause_fields[] = {
	TEXT("id", struct clause, id),
	TEXT("text", struct clause, text),
	MAYBE_TEXT("source", struct clause, source),
	TEXT("outcome", struct clause, outcome),
	MAYBE_TEXTS("errata", struct clause, errata, errata_count),
	MAYBE_TEXTS("reports", struct clause, reports, report_count),
	MAYBE_TRUE("long", struct clause, is_long),
	MAYBE_TEXTS("needs", struct clause, needs, needs_count),
	FROM_DOCUMENT("given"),
	MAYBE_TEXTS("setup", struct clause, setup, setup_count),
	MAYBE_TEXT("as", struct clause, as),
	MAYBE_TEXT("call", struct clause, call),
	FROM_DOCUMENT("provoke"),
	MAYBE_TEXTS("during", struct clause, during, during_count),
	CYAML_FIELD_MAPPING_PTR("then", OPTIONAL, struct clause, then, then_fields),
	MAYBE_TEXT("control", struct clause, control),
	MAYBE_TEXT("control_none", struct clause, control_none),
	MAYBE_TEXT("control_as", struct clause, control_as),
	MAYBE_TEXTS("control_setup", struct clause, control_setup, control_setup_count),
	MAYBE_TEXT("control_returns", struct clause, control_returns),
	CYAML_FIELD_BOOL_PTR("repeat", OPTIONAL, struct clause, repeat),
	MAYBE_TEXT("scenario", struct clause, scenario),
	FROM_DOCUMENT("params"),
	TEXT_OR_EMPTY("untestable", struct clause, untestable),
	MAYBE_TEXT("ruled_out", struct clause, ruled_out),
	MAYBE_TRUE("undocumented", struct clause, undocumented),
	CYAML_FIELD_END};
static const cyaml_schema_value_t clause_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct clause, clause_fields),
};

/* `outcomes` lies in struct function itself: offset 0 of a mapping that is no pointer. */
static const cyaml_schema_field_t function_fields[] = {
	TEXT("function", struct function, name),
	TEXT("prototype", struct function, prototype_text),
	TEXT("header", struct function, header),
	CYAML_FIELD_MAPPING("source", CYAML_FLAG_DEFAULT, struct function, source, source_fields),
	TEXT("summary", struct function, summary),
	FROM_DOCUMENT("parameters"),
	TEXT_OR_EMPTY("failure", struct function, failure),
	CYAML_FIELD_BOOL("errno_set", CYAML_FLAG_OPTIONAL, struct function, errno_set),
	MAYBE_TEXT("linkage", struct function, linkage),
	MAYBE_TEXT("supplement", struct function, supplement),
	{.key = "outcomes",
	 .data_offset = 0,
	 .value = {.type = CYAML_MAPPING,
		   .flags = CYAML_FLAG_DEFAULT,
		   .data_size = sizeof(struct function),
		   .mapping = {.fields = outcomes_fields}}},
	LIST("clauses", struct function, clauses, clause_count, clause_entry, 1),
	CYAML_FIELD_END};
const cyaml_schema_value_t schema_function = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct function, function_fields),
};

static const cyaml_schema_field_t state_call_fields[] = {
	TEXT("function", struct state_call, function),
	TEXT("call", struct state_call, call),
	MAYBE_TEXT("variant", struct state_call, variant),
	MAYBE_TEXT("source", struct state_call, source),
	FROM_DOCUMENT("given"),
	MAYBE_TEXTS("setup", struct state_call, setup, setup_count),
	MAYBE_TEXTS("needs", struct state_call, needs, needs_count),
	CYAML_FIELD_BOOL_PTR("repeat", OPTIONAL, struct state_call, repeat),
	MAYBE_TRUE("long", struct state_call, is_long),
	CYAML_FIELD_IGNORE("results", CYAML_FLAG_DEFAULT),
	FROM_DOCUMENT("errata"),
	CYAML_FIELD_END};
static const cyaml_schema_value_t state_call_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct state_call, state_call_fields),
};
static const cyaml_schema_field_t states_fields[] = {
	CYAML_FIELD_SEQUENCE_COUNT("states", CYAML_FLAG_POINTER, struct states, states, state_count,
				   &text_entry, 1, CYAML_UNLIMITED),
	LIST("calls", struct states, calls, call_count, state_call_entry, 0), CYAML_FIELD_END};
const cyaml_schema_value_t schema_states = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct states, states_fields),
};

static const cyaml_schema_field_t fixture_fields[] = {
	TEXT("name", struct fixture, name),
	TEXT("type", struct fixture, type),
	TEXT("function", struct fixture, function),
	CYAML_FIELD_UINT("args", CYAML_FLAG_DEFAULT, struct fixture, args),
	CYAML_FIELD_UINT("args_max", CYAML_FLAG_OPTIONAL, struct fixture, args_max),
	TEXT("text", struct fixture, text),
	MAYBE_TEXTS("needs", struct fixture, needs, needs_count),
	CYAML_FIELD_END};
static const cyaml_schema_value_t fixture_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct fixture, fixture_fields),
};
static const cyaml_schema_field_t provoker_fields[] = {
	TEXT("name", struct provoker, name), MAYBE_TEXTS("keys", struct provoker, keys, key_count),
	TEXT("text", struct provoker, text),
	MAYBE_TEXTS("needs", struct provoker, needs, needs_count), CYAML_FIELD_END};
static const cyaml_schema_value_t provoker_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct provoker, provoker_fields),
};
static const cyaml_schema_field_t need_fields[] = {
	TEXT("name", struct need, name), TEXT("text", struct need, text), CYAML_FIELD_END};
static const cyaml_schema_value_t need_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct need, need_fields),
};
static const cyaml_schema_field_t vocabulary_fields[] = {
	LIST("fixtures", struct vocabulary, fixtures, fixture_count, fixture_entry, 1),
	MAYBE_LIST("provokers", struct vocabulary, provokers, provoker_count, provoker_entry),
	MAYBE_LIST("needs", struct vocabulary, needs, need_count, need_entry), CYAML_FIELD_END};
const cyaml_schema_value_t schema_vocabulary = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vocabulary, vocabulary_fields),
};

static const cyaml_schema_field_t erratum_fields[] = {
	TEXT("id", struct erratum, id),
	MAYBE_LIST("facts", struct erratum, facts, fact_count, number_entry),
	TEXT("kind", struct erratum, kind),
	TEXT("clash", struct erratum, clash),
	TEXT("ruling", struct erratum, ruling),
	TEXT("why", struct erratum, why),
	MAYBE_TEXTS("clauses", struct erratum, clauses, clause_count),
	CYAML_FIELD_END};
static const cyaml_schema_value_t erratum_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct erratum, erratum_fields),
};
static const cyaml_schema_field_t errata_fields[] = {
	LIST("entries", struct errata, entries, entry_count, erratum_entry, 0), CYAML_FIELD_END};
const cyaml_schema_value_t schema_errata = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct errata, errata_fields),
};

static const cyaml_schema_field_t report_fields[] = {
	TEXT("id", struct fault_report, id),
	CYAML_FIELD_SEQUENCE_COUNT("apis", CYAML_FLAG_POINTER, struct fault_report, apis, api_count,
				   &text_entry, 1, CYAML_UNLIMITED),
	TEXT("text", struct fault_report, text), CYAML_FIELD_END};
static const cyaml_schema_value_t report_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct fault_report, report_fields),
};
static const cyaml_schema_field_t reports_fields[] = {
	LIST("entries", struct fault_reports, entries, entry_count, report_entry, 1),
	CYAML_FIELD_END};
const cyaml_schema_value_t schema_reports = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct fault_reports, reports_fields),
};

/* tag and where are required, but their absence is a matter of content with a message of its own.
 */
static const cyaml_schema_field_t override_fields[] = {
	TEXT("clause", struct override, clause),
	CYAML_FIELD_MAPPING_PTR("then", OPTIONAL, struct override, then, then_fields),
	MAYBE_TEXT("tag", struct override, tag),
	MAYBE_TEXT("where", struct override, where),
	MAYBE_TRUE("accepts_text", struct override, accepts_text),
	MAYBE_TRUE("slow", struct override, is_slow),
	CYAML_FIELD_END};
static const cyaml_schema_value_t override_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct override, override_fields),
};
static const cyaml_schema_field_t profile_fields[] = {
	TEXT("profile", struct profile, name), MAYBE_TEXT("text", struct profile, text),
	LIST("overrides", struct profile, overrides, override_count, override_entry, 0),
	CYAML_FIELD_END};
const cyaml_schema_value_t schema_profile = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct profile, profile_fields),
};

static const char *wanted(const cyaml_schema_value_t *schema)
{
	switch (schema->type) {
	case CYAML_MAPPING:
		return "a mapping";
	case CYAML_SEQUENCE:
		return "a list";
	case CYAML_BOOL:
		return "true or false";
	case CYAML_UINT:
		return "a number";
	default:
		return "text";
	}
}

static bool fits_scalar(const cyaml_schema_value_t *schema, const char *text)
{
	char *end;

	if (schema->type == CYAML_BOOL)
		return !strcmp(text, "true") || !strcmp(text, "false");
	if (schema->type == CYAML_UINT)
		return *text && *text != '-' && (strtoul(text, &end, 10), !*end);
	return strlen(text) >= schema->string.min;
}

static const cyaml_schema_field_t *field_named(const cyaml_schema_field_t *fields, const char *key)
{
	for (; fields->key; fields++)
		if (!strcmp(fields->key, key))
			return fields;
	return NULL;
}

static const char *known_keys(const cyaml_schema_field_t *fields)
{
	struct names names = {0};

	for (; fields->key; fields++)
		names_add(&names, fields->key);
	return names_join(&names, ", ");
}

static void compare(const struct document *document, yaml_node_t *node,
		    const cyaml_schema_value_t *schema, const char *name);

static void compare_mapping(const struct document *document, yaml_node_t *node,
			    const cyaml_schema_field_t *fields, const char *name)
{
	struct names seen = {0};
	yaml_node_pair_t *pair;

	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = document_child(document, pair->key);
		const char *text = node_scalar(key) ? node_scalar(key) : "?";
		const cyaml_schema_field_t *field = field_named(fields, text);
		int line = (int)key->start_mark.line + 1;

		if (names_find(&seen, text) >= 0)
			report(document->file, line, "key %s given twice in %s; keep one", text,
			       name);
		names_add(&seen, text);
		if (field)
			compare(document, document_child(document, pair->value), &field->value,
				text);
		else
			report(document->file, line, "unknown key %s in %s; known keys are: %s",
			       text, name, known_keys(fields));
	}
	for (; fields->key; fields++)
		if (!(fields->value.flags & CYAML_FLAG_OPTIONAL) &&
		    names_find(&seen, fields->key) < 0)
			report(document->file, (int)node->start_mark.line + 1,
			       "%s has no %s; add %s: with %s", name, fields->key, fields->key,
			       fields->value.type == CYAML_IGNORE ? "a value"
								  : wanted(&fields->value));
}

static void compare_sequence(const struct document *document, yaml_node_t *node,
			     const cyaml_schema_value_t *schema, const char *name)
{
	yaml_node_item_t *at;

	if (node->data.sequence.items.top - node->data.sequence.items.start <
	    (long)schema->sequence.min)
		report(document->file, (int)node->start_mark.line + 1,
		       "%s is an empty list; at least %u entry is needed", name,
		       schema->sequence.min);
	for (at = node->data.sequence.items.start; at < node->data.sequence.items.top; at++)
		compare(document, document_child(document, *at), schema->sequence.entry,
			pool_printf("an entry of %s", name));
}

static void compare(const struct document *document, yaml_node_t *node,
		    const cyaml_schema_value_t *schema, const char *name)
{
	const char *text = node_scalar(node);

	if (schema->type == CYAML_IGNORE)
		return;
	if (schema->type == CYAML_MAPPING && node->type == YAML_MAPPING_NODE)
		compare_mapping(document, node, schema->mapping.fields, name);
	else if (schema->type == CYAML_SEQUENCE && node->type == YAML_SEQUENCE_NODE)
		compare_sequence(document, node, schema, name);
	else if (schema->type == CYAML_MAPPING || schema->type == CYAML_SEQUENCE || !text ||
		 !fits_scalar(schema, text))
		report(document->file, (int)node->start_mark.line + 1,
		       "%s is %s%s%s; %s belongs here", name, node_kind(node),
		       text && *text ? " " : "", text ? text : "", wanted(schema));
}

struct loaded {
	struct loaded *next;
	const cyaml_schema_value_t *schema;
	void *data;
};

static struct loaded *all_loaded;

static const cyaml_config_t config = {
	.log_level = CYAML_LOG_ERROR,
	.mem_fn = cyaml_mem,
};

void *schema_load(const struct document *document, const cyaml_schema_value_t *schema)
{
	yaml_node_t *root = document_node(document, "");
	unsigned before = report_count();
	struct loaded *loaded;
	void *data = NULL;
	cyaml_err_t error;

	compare(document, root, schema, "the file");
	if (report_count() != before)
		return NULL;
	error = cyaml_load_data((const uint8_t *)document->content, document->size, &config, schema,
				&data, NULL);
	if (error != CYAML_OK) {
		report(document->file, 1, "libcyaml cannot load it: %s; plain YAML 1.1 is needed",
		       cyaml_strerror(error));
		return NULL;
	}
	loaded = pool_alloc(sizeof *loaded);
	*loaded = (struct loaded){all_loaded, schema, data};
	all_loaded = loaded;
	return data;
}

void schema_free_all(void)
{
	for (; all_loaded; all_loaded = all_loaded->next)
		cyaml_free(&config, all_loaded->schema, all_loaded->data, 0);
}
