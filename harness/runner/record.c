/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the record lines of the case programs. */
#include "record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static const char *const verdict_names[VERDICT_COUNT] = {
	"PASS", "FAIL", "UNSUPPORTED", "UNTESTED", "UNRESOLVED", "NOTRUN",
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
	return verdict == VERDICT_UNTESTED || verdict == VERDICT_UNSUPPORTED;
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

/* What keeps LINE from being the record of clause ID; NULL where nothing does. */
static char *objection(const json_t *line, const char *id, const char *error)
{
	const char *written_id, *verdict, *kind;

	if (!line)
		return format_text("unreadable record: %s", error);
	written_id = json_string_value(json_object_get(line, "id"));
	verdict = json_string_value(json_object_get(line, "verdict"));
	kind = json_string_value(json_object_get(line, "kind"));
	if (!written_id || strcmp(written_id, id) != 0)
		return format_text("the program wrote a record of %s, which was not asked for",
				   written_id ? written_id : "no clause");
	if (verdict_by_name(verdict) == VERDICT_COUNT)
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
	record->ms = json_number_value(json_object_get(line, "ms"));
}

int record_parse(struct record *record, const char *text, size_t length, const char *id)
{
	const char *end = text + length;
	int count = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		const char *line_end = newline ? newline : end;
		json_error_t error;
		json_t *line = json_loadb(text, line_end - text, JSON_REJECT_DUPLICATES, &error);
		char *wrong = objection(line, id, error.text);

		if (!wrong && count++)
			wrong = copy_text("the program wrote two records of this clause");
		if (wrong) {
			json_decref(line);
			record_free(record);
			*record = record_make(VERDICT_UNRESOLVED, NULL, wrong);
			return 1;
		}
		read_record(record, line);
		json_decref(line);
		text = newline ? newline + 1 : end;
	}
	return count;
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
