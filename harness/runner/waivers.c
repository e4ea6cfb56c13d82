/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the waivers and decides what each of them is worth in a run. */
#include "waivers.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "format.h"
#include "session.h"

struct reader {
	const char *path;
	yaml_document_t document;
	bool failed;
};

static void complain(struct reader *reader, size_t line, const char *what, const char *about)
{
	fprintf(stderr, "scif-cts: %s:%zu: %s%s%s\n", reader->path, line + 1, what,
		about ? ": " : "", about ? about : "");
	reader->failed = true;
}

static size_t line_of(const yaml_node_t *node)
{
	return node->start_mark.line;
}

static const char *scalar(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* A word that is not empty. */
static char *read_word(struct reader *reader, const yaml_node_t *node, const char *key)
{
	const char *text = scalar(node);

	if (text && *text)
		return copy_text(text);
	complain(reader, line_of(node), "this needs a text", key);
	return NULL;
}

static void put_word(struct reader *reader, char **field, const yaml_node_t *node, const char *key)
{
	if (*field) {
		complain(reader, line_of(node), "this is said twice", key);
		return;
	}
	*field = read_word(reader, node, key);
}

static bool is_date(const char *text)
{
	struct tm day = {0};
	char again[sizeof("YYYY-MM-DD")];
	const char *end = strptime(text, "%Y-%m-%d", &day);

	if (!end || *end || strlen(text) != sizeof(again) - 1)
		return false;
	/* 31 February becomes a day in March. */
	timegm(&day);
	strftime(again, sizeof(again), "%Y-%m-%d", &day);
	return strcmp(again, text) == 0;
}

static void read_implementation(struct reader *reader, struct waiver *waiver, yaml_node_t *node)
{
	yaml_node_pair_t *pair;

	if (node->type != YAML_MAPPING_NODE) {
		complain(reader, line_of(node), "implementation needs soname, sha256 or label",
			 NULL);
		return;
	}
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
		yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
		const char *name = scalar(key);

		if (name && strcmp(name, "soname") == 0)
			put_word(reader, &waiver->soname, value, name);
		else if (name && strcmp(name, "sha256") == 0)
			put_word(reader, &waiver->sha256, value, name);
		else if (name && strcmp(name, "label") == 0)
			put_word(reader, &waiver->label, value, name);
		else
			complain(reader, line_of(key),
				 "an implementation has soname, sha256 and label, not",
				 name ? name : "a list");
	}
	if (!reader->failed && !waiver->soname && !waiver->sha256 && !waiver->label)
		complain(reader, line_of(node), "implementation needs soname, sha256 or label",
			 NULL);
}

static void read_key(struct reader *reader, struct waiver *waiver, const yaml_node_t *key,
		     yaml_node_t *value, bool *has_implementation)
{
	const char *name = scalar(key);

	if (name && strcmp(name, "clause") == 0) {
		put_word(reader, &waiver->clause, value, name);
	} else if (name && strcmp(name, "reason") == 0) {
		put_word(reader, &waiver->reason, value, name);
	} else if (name && strcmp(name, "link") == 0) {
		put_word(reader, &waiver->link, value, name);
	} else if (name && strcmp(name, "expires") == 0) {
		put_word(reader, &waiver->expires, value, name);
		if (waiver->expires && !is_date(waiver->expires))
			complain(reader, line_of(value), "expires needs a day, YYYY-MM-DD, not",
				 waiver->expires);
	} else if (name && strcmp(name, "implementation") == 0) {
		if (*has_implementation)
			complain(reader, line_of(key), "this is said twice", name);
		*has_implementation = true;
		read_implementation(reader, waiver, value);
	} else {
		complain(reader, line_of(key),
			 "a waiver has clause, implementation, reason, link and expires, not",
			 name ? name : "a list");
	}
}

static void read_waiver(struct reader *reader, struct waiver *waiver, yaml_node_t *node)
{
	bool has_implementation = false;
	yaml_node_pair_t *pair;

	waiver->line = (int)line_of(node) + 1;
	if (node->type != YAML_MAPPING_NODE) {
		complain(reader, line_of(node), "a waiver is a mapping that begins with a clause",
			 NULL);
		return;
	}
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
		read_key(reader, waiver, yaml_document_get_node(&reader->document, pair->key),
			 yaml_document_get_node(&reader->document, pair->value),
			 &has_implementation);
	if (reader->failed)
		return;
	if (!waiver->clause || !waiver->reason || !waiver->link || !waiver->expires ||
	    !has_implementation)
		complain(reader, line_of(node), "this waiver lacks",
			 !waiver->clause       ? "clause"
			 : !has_implementation ? "implementation"
			 : !waiver->reason     ? "reason"
			 : !waiver->link       ? "link"
					       : "expires");
}

/* The list below the only key; NULL after a complaint. */
static yaml_node_t *find_list(struct reader *reader)
{
	yaml_node_t *root = yaml_document_get_root_node(&reader->document), *key, *list;
	yaml_node_pair_t *pair;

	if (!root || root->type != YAML_MAPPING_NODE ||
	    root->data.mapping.pairs.top - root->data.mapping.pairs.start != 1) {
		complain(reader, root ? line_of(root) : 0,
			 "the file needs the key `waivers` and no other", NULL);
		return NULL;
	}
	pair = root->data.mapping.pairs.start;
	key = yaml_document_get_node(&reader->document, pair->key);
	list = yaml_document_get_node(&reader->document, pair->value);
	if (!scalar(key) || strcmp(scalar(key), "waivers") != 0)
		complain(reader, line_of(key), "the file needs the key `waivers` and no other",
			 NULL);
	else if (list->type != YAML_SEQUENCE_NODE)
		complain(reader, line_of(list), "`waivers` needs a list", NULL);
	return reader->failed ? NULL : list;
}

static void read_document(struct reader *reader, struct waivers *waivers)
{
	yaml_node_t *list = find_list(reader);
	yaml_node_item_t *item;

	if (!list)
		return;
	waivers->entries =
		zeroed_array(list->data.sequence.items.top - list->data.sequence.items.start,
			     sizeof(*waivers->entries));
	for (item = list->data.sequence.items.start; item < list->data.sequence.items.top; item++)
		read_waiver(reader, &waivers->entries[waivers->count++],
			    yaml_document_get_node(&reader->document, *item));
}

static void parse(struct reader *reader, struct waivers *waivers)
{
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		abort();
	yaml_parser_set_input_string(&parser, (const unsigned char *)waivers->text,
				     waivers->length);
	if (yaml_parser_load(&parser, &reader->document)) {
		read_document(reader, waivers);
		yaml_document_delete(&reader->document);
	} else {
		complain(reader, parser.problem_mark.line, "this is no YAML", parser.problem);
	}
	yaml_parser_delete(&parser);
}

static int read_text(struct waivers *waivers, const char *path)
{
	FILE *file = fopen(path, "re"), *text;
	char block[4096];
	size_t got;

	if (file) {
		text = text_stream(&waivers->text, &waivers->length);
		while ((got = fread(block, 1, sizeof(block), file)) > 0)
			fwrite(block, 1, got, text);
		fclose(text);
	}
	if (!file || ferror(file)) {
		fprintf(stderr, "scif-cts: %s: %s\n", path, strerror(errno));
		if (file)
			fclose(file);
		return EXIT_USAGE;
	}
	fclose(file);
	hash_bytes(waivers->sha256, waivers->text, waivers->length);
	return 0;
}

int waivers_load(struct waivers *waivers, const char *path)
{
	struct reader reader = {.path = path};

	*waivers = (struct waivers){.file = copy_text(path)};
	if (read_text(waivers, path) != 0)
		return EXIT_USAGE;
	parse(&reader, waivers);
	return reader.failed ? EXIT_USAGE : 0;
}

void waivers_free(struct waivers *waivers)
{
	size_t i;

	for (i = 0; i < waivers->count; i++) {
		struct waiver *waiver = &waivers->entries[i];

		free(waiver->clause);
		free(waiver->soname);
		free(waiver->sha256);
		free(waiver->label);
		free(waiver->reason);
		free(waiver->link);
		free(waiver->expires);
	}
	free(waivers->entries);
	free(waivers->file);
	free(waivers->text);
	*waivers = (struct waivers){0};
}

bool waiver_covers(const struct waiver *waiver, const char *id)
{
	return fnmatch(waiver->clause, id, 0) == 0;
}

static bool names_a_clause(const struct waiver *waiver, const struct plan *plan)
{
	size_t f, c;

	for (f = 0; f < plan->function_count; f++) {
		for (c = 0; c < plan->functions[f].clause_count; c++) {
			if (waiver_covers(waiver, plan->functions[f].clauses[c].id))
				return true;
		}
	}
	return false;
}

static bool fits(const char *pattern, const char *text)
{
	return !pattern || fnmatch(pattern, text ? text : "", 0) == 0;
}

static const char *why_unmatched(const struct waiver *waiver, const struct plan *plan,
				 const struct library *library, const char *label)
{
	if (!names_a_clause(waiver, plan))
		return "no clause has such an id";
	if (!fits(waiver->soname, library->soname))
		return "the implementation has another soname";
	if (!fits(waiver->sha256, library->sha256))
		return "the implementation has another SHA-256";
	if (!fits(waiver->label, label))
		return "the implementation has another label";
	return NULL;
}

void waivers_prepare(struct waivers *waivers, const struct plan *plan,
		     const struct library *library, const char *label, time_t now)
{
	char today[sizeof("YYYY-MM-DD")];
	struct tm utc;
	size_t i;

	gmtime_r(&now, &utc);
	strftime(today, sizeof(today), "%Y-%m-%d", &utc);
	for (i = 0; i < waivers->count; i++) {
		struct waiver *waiver = &waivers->entries[i];

		waiver->why = why_unmatched(waiver, plan, library, label);
		waiver->state = WAIVER_IDLE;
		if (waiver->why)
			waiver->state = WAIVER_UNMATCHED;
		else if (strcmp(waiver->expires, today) < 0)
			waiver->state = WAIVER_EXPIRED;
	}
}

const struct waiver *waivers_find(const struct waivers *waivers, const char *id)
{
	size_t i;

	for (i = 0; i < waivers->count; i++) {
		const struct waiver *waiver = &waivers->entries[i];

		if (waiver->state != WAIVER_EXPIRED && waiver->state != WAIVER_UNMATCHED &&
		    waiver_covers(waiver, id))
			return waiver;
	}
	return NULL;
}

/* A pattern is healed only when the run has picked all that it covers. */
static bool covers_what_was_not_picked(const struct waiver *waiver, const struct session *session)
{
	size_t f, c, planned = 0, picked = 0;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		for (c = 0; strcmp(function->api, session->api) == 0 && c < function->clause_count;
		     c++)
			planned += waiver_covers(waiver, function->clauses[c].id);
	}
	for (c = 0; c < session->case_count; c++)
		picked += waiver_covers(waiver, session->cases[c].clause->id);
	return picked < planned;
}

static enum waiver_state judge(const struct waiver *waiver, const struct session *session)
{
	bool passes = false;
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (!waiver_covers(waiver, run->clause->id))
			continue;
		if (run->record.verdict == VERDICT_WAIVED || run->record.verdict == VERDICT_FAIL)
			return WAIVER_ACTIVE;
		passes |= run->record.verdict == VERDICT_PASS;
	}
	return passes && !covers_what_was_not_picked(waiver, session) ? WAIVER_HEALED : WAIVER_IDLE;
}

void waivers_judge(struct waivers *waivers, const struct session *session)
{
	size_t i;

	for (i = 0; i < waivers->count; i++) {
		struct waiver *waiver = &waivers->entries[i];

		if (waiver->state != WAIVER_EXPIRED && waiver->state != WAIVER_UNMATCHED)
			waiver->state = judge(waiver, session);
	}
}

const char *waiver_state_name(enum waiver_state state)
{
	static const char *const names[] = {
		[WAIVER_ACTIVE] = "active",	  [WAIVER_EXPIRED] = "expired",
		[WAIVER_UNMATCHED] = "unmatched", [WAIVER_HEALED] = "healed",
		[WAIVER_IDLE] = "idle",
	};

	return names[state];
}

bool waiver_is_out_of_date(const struct waiver *waiver)
{
	return waiver->state == WAIVER_EXPIRED || waiver->state == WAIVER_UNMATCHED ||
	       waiver->state == WAIVER_HEALED;
}

size_t waivers_out_of_date(const struct waivers *waivers)
{
	size_t count = 0, i;

	for (i = 0; i < waivers->count; i++)
		count += waiver_is_out_of_date(&waivers->entries[i]);
	return count;
}

char *waiver_complaint(const struct waivers *waivers, const struct waiver *waiver)
{
	const char *file = waivers->file, *clause = waiver->clause;

	if (waiver->state == WAIVER_EXPIRED)
		return format_text("%s:%d: the waiver of %s expired on %s; delete it or renew it",
				   file, waiver->line, clause, waiver->expires);
	if (waiver->state == WAIVER_UNMATCHED)
		return format_text("%s:%d: the waiver of %s matches nothing (%s); delete it", file,
				   waiver->line, clause, waiver->why);
	return format_text("%s:%d: the waiver of %s is healed, it passes now; delete it", file,
			   waiver->line, clause);
}
