/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the record lines of the case programs. */
#include "record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static const char *const verdict_names[VERDICT_COUNT] = {
	"PASS", "FAIL", "WAIVED", "UNSUPPORTED", "UNTESTED", "UNRESOLVED", "NOTRUN",
};

static const char *const fail_kinds[] = {"value", "errno", "side effect", "crash", "timeout"};

const char *verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

enum verdict verdict_by_name(const char *name)
{
	int verdict;

	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (name && strcmp(verdict_names[verdict], name) == 0)
			break;
	}
	return verdict;
}

bool verdict_counts_as_failed(enum verdict verdict)
{
	return verdict == VERDICT_FAIL || verdict == VERDICT_UNRESOLVED ||
	       verdict == VERDICT_NOTRUN;
}

bool verdict_counts_as_skipped(enum verdict verdict)
{
	return verdict == VERDICT_UNTESTED || verdict == VERDICT_UNSUPPORTED ||
	       verdict == VERDICT_WAIVED;
}

struct record record_make(enum verdict verdict, const char *kind, char *reason)
{
	return (struct record){
		.verdict = verdict,
		.kind = kind ? copy_text(kind) : NULL,
		.reason = reason,
	};
}

static char *string_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? printable_text(text, strlen(text)) : NULL;
}

static bool is_fail_kind(const char *kind)
{
	size_t i;

	for (i = 0; i < sizeof(fail_kinds) / sizeof(*fail_kinds); i++) {
		if (strcmp(fail_kinds[i], kind) == 0)
			return true;
	}
	return false;
}

static bool is_one_of(const char *const *ids, size_t count, const char *id)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (id && strcmp(ids[i], id) == 0)
			return true;
	}
	return false;
}

static char *line_objection(const json_t *line, const char *error, const char *const *ids,
			    size_t count)
{
	const char *id, *verdict, *kind;

	if (!line)
		return format_text("unreadable record: %s", error);
	id = json_string_value(json_object_get(line, "id"));
	verdict = json_string_value(json_object_get(line, "verdict"));
	kind = json_string_value(json_object_get(line, "kind"));
	if (!is_one_of(ids, count, id))
		return format_text("the program wrote a record of %s, which was not asked for",
				   id ? id : "no clause");
	if (verdict_by_name(verdict) == VERDICT_COUNT || verdict_by_name(verdict) == VERDICT_WAIVED)
		return format_text("the record has no known verdict: %s",
				   verdict ? verdict : "(none)");
	if (verdict_by_name(verdict) == VERDICT_FAIL && !(kind && is_fail_kind(kind)))
		return format_text("the record has no known kind of failure: %s",
				   kind ? kind : "(none)");
	return NULL;
}

static void read_record(struct record *record, const json_t *line)
{
	record->verdict = verdict_by_name(json_string_value(json_object_get(line, "verdict")));
	record->kind = record->verdict == VERDICT_FAIL ? string_of(line, "kind") : NULL;
	record->expected = string_of(line, "expected");
	record->observed = string_of(line, "observed");
	record->reason = string_of(line, "reason");
	record->choice = string_of(line, "choice");
	/* Some programs repeat what was observed behind the name of the choice. */
	if (record->choice)
		record->choice[strcspn(record->choice, "=")] = '\0';
	record->ms = json_number_value(json_object_get(line, "ms"));
}

/* Takes one line off the text; NULL with ERROR set where it is no JSON. */
static json_t *next_line(const char **text, const char *end, json_error_t *error)
{
	const char *newline = memchr(*text, '\n', end - *text);
	const char *line = *text, *line_end = newline ? newline : end;

	*text = newline ? newline + 1 : end;
	return json_loadb(line, line_end - line, JSON_REJECT_DUPLICATES, error);
}

char *records_objection(const char *text, size_t length, const char *const *ids, size_t count)
{
	const char *end = text + length;
	char *objection = NULL;

	while (text < end && !objection) {
		json_error_t error;
		json_t *line = next_line(&text, end, &error);

		objection = line_objection(line, error.text, ids, count);
		json_decref(line);
	}
	return objection;
}

bool record_find(struct record *record, const char *text, size_t length, const char *id)
{
	const char *end = text + length;
	bool found = false;

	while (text < end) {
		json_error_t error;
		json_t *line = next_line(&text, end, &error);
		bool is_mine = is_one_of(&id, 1, json_string_value(json_object_get(line, "id")));

		if (is_mine && found) {
			record_free(record);
			*record = record_make(
				VERDICT_UNRESOLVED, NULL,
				copy_text("the program wrote two records of this clause"));
			json_decref(line);
			return true;
		}
		if (is_mine)
			read_record(record, line);
		found |= is_mine;
		json_decref(line);
	}
	return found;
}

void record_free(struct record *record)
{
	free(record->kind);
	free(record->expected);
	free(record->observed);
	free(record->reason);
	free(record->choice);
	memset(record, 0, sizeof(*record));
}
