/* SPDX-License-Identifier: BSD-2-Clause */
/* results.json, format scif-cts-results/1 (docs/results-format.md). */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "outcomes.h"
#include "report.h"

/* What is no valid UTF-8, as a path may be, is made so. */
static json_t *string_or_null(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();
	char *printable;

	if (string)
		return string;
	printable = printable_text(text, strlen(text));
	string = json_string(printable);
	free(printable);
	return string;
}

static json_t *library_json(const struct library *library)
{
	if (!library->path)
		return json_null();
	return json_pack("{s:o, s:s, s:o, s:o, s:o}", "path", string_or_null(library->path),
			 "sha256", library->sha256, "build_id", string_or_null(library->build_id),
			 "soname", string_or_null(library->soname), "sanitizer",
			 string_or_null(library->sanitizer));
}

static json_t *platform_json(const struct platform *platform)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "system", platform->system, "release",
			 platform->release, "machine", platform->machine, "distribution",
			 platform->distribution, "c_library", platform->c_library, "processors",
			 platform->processors);
}

static json_t *environment_json(const struct environment_class *class)
{
	return json_pack("{s:b, s:b, s:s}", "root", class->root, "userfaultfd", class->userfaultfd,
			 "build", class->sanitizer ? "sanitizer" : "plain");
}

static json_t *counts_json(const struct session *session)
{
	json_t *counts = json_object();
	int verdict;

	for (verdict = 0; verdict < VERDICT_COUNT; verdict++)
		json_object_set_new(counts, verdict_name(verdict),
				    json_integer((json_int_t)session->verdicts[verdict]));
	return counts;
}

/* {documented: [...], observed: [...], ruled_out: [...]} of one function's values or errors. */
static json_t *outcome_group(const struct session *session, const struct plan_function *function,
			     bool errors)
{
	json_t *documented = json_array(), *observed = json_array(), *ruled_out = json_array();
	size_t i;

	for (i = 0; i < function->outcome_count; i++) {
		const struct plan_outcome *outcome = &function->outcomes[i];
		enum outcome_state state;

		if (outcome->is_error != errors)
			continue;
		state = outcome_state(session, function, outcome);
		json_array_append_new(documented, json_string(outcome->name));
		if (state == OUTCOME_OBSERVED)
			json_array_append_new(observed, json_string(outcome->name));
		else if (state == OUTCOME_RULED_OUT)
			json_array_append_new(ruled_out, json_string(outcome->name));
	}
	return json_pack("{s:o, s:o, s:o}", "documented", documented, "observed", observed,
			 "ruled_out", ruled_out);
}

static json_t *outcomes_json(const struct session *session)
{
	json_t *outcomes = json_array();
	size_t f;

	for (f = 0; f < session->plan->function_count; f++) {
		const struct plan_function *function = &session->plan->functions[f];

		if (strcmp(function->api, session->api) != 0)
			continue;
		json_array_append_new(outcomes,
				      json_pack("{s:s, s:o, s:o, s:o}", "function", function->name,
						"supplement", string_or_null(function->supplement),
						"values", outcome_group(session, function, false),
						"errors", outcome_group(session, function, true)));
	}
	return outcomes;
}

static json_t *choices_json(const struct session *session)
{
	json_t *choices = json_array();
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (!run->record.choice || run->record.verdict != VERDICT_PASS)
			continue;
		json_array_append_new(choices,
				      json_pack("{s:s, s:s, s:o}", "choice", run->record.choice,
						"id", run->clause->id, "observed",
						string_or_null(run->record.observed)));
	}
	return choices;
}

static json_t *record_json(const struct session *session, const struct case_run *run)
{
	const struct record *record = &run->record;
	char *replay = session_replay_command(session, run);
	json_t *json;

	json = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:f, s:o}", "id",
			 run->clause->id, "function", run->clause->function->name, "outcome",
			 run->clause->outcome, "verdict", verdict_name(record->verdict), "kind",
			 string_or_null(record->kind), "expected", string_or_null(record->expected),
			 "observed", string_or_null(record->observed), "reason",
			 string_or_null(record->reason), "ms", report_ms(record), "replay",
			 string_or_null(replay));
	free(replay);
	return json;
}

static json_t *records_json(const struct session *session)
{
	json_t *records = json_array();
	size_t i;

	for (i = 0; i < session->case_count; i++)
		json_array_append_new(records, record_json(session, &session->cases[i]));
	return records;
}

static json_t *waived_ids(const struct session *session, const struct waiver *waiver)
{
	json_t *ids = json_array();
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const struct case_run *run = &session->cases[i];

		if (run->record.verdict == VERDICT_WAIVED &&
		    waivers_find(&session->waivers, run->clause->id) == waiver)
			json_array_append_new(ids, json_string(run->clause->id));
	}
	return ids;
}

static json_t *waiver_json(const struct session *session, const struct waiver *waiver)
{
	return json_pack("{s:i, s:s, s:{s:o, s:o, s:o}, s:s, s:s, s:s, s:s, s:o}", "line",
			 waiver->line, "clause", waiver->clause, "implementation", "soname",
			 string_or_null(waiver->soname), "sha256", string_or_null(waiver->sha256),
			 "label", string_or_null(waiver->label), "reason", waiver->reason, "link",
			 waiver->link, "expires", waiver->expires, "state",
			 waiver_state_name(waiver->state), "waived", waived_ids(session, waiver));
}

static json_t *waivers_json(const struct session *session)
{
	const struct waivers *waivers = &session->waivers;
	json_t *entries;
	size_t i;

	if (!waivers->file)
		return json_null();
	entries = json_array();
	for (i = 0; i < waivers->count; i++)
		json_array_append_new(entries, waiver_json(session, &waivers->entries[i]));
	return json_pack("{s:s, s:s, s:o}", "file", waivers->file, "sha256", waivers->sha256,
			 "entries", entries);
}

void report_time(time_t time, char text[REPORT_TIME])
{
	struct tm utc;

	gmtime_r(&time, &utc);
	strftime(text, REPORT_TIME, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

double report_ms(const struct record *record)
{
	return (double)(long long)(record->ms * 1000 + 0.5) / 1000;
}

static json_t *shard_json(const struct settings *settings)
{
	if (!settings->shards)
		return json_null();
	return json_pack("{s:i, s:i}", "index", settings->shard, "count", settings->shards);
}

json_t *report_results(const struct session *session)
{
	const struct settings *settings = session->settings;
	char started[REPORT_TIME];
	json_t *results;

	report_time(session->started, started);
	results = json_pack(
		"{s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:f, s:b, s:I,"
		" s:{s:o, s:b}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"format", "scif-cts-results/1", "label", string_or_null(settings->label), "api",
		session->api, "profile", settings->profile, "suite_version",
		session->document->suite_version, "spec_hash", session->document->spec_hash,
		"started", started, "duration_ms", session->duration_ms, "interrupted",
		session->interrupted, "seed", (json_int_t)settings->seed, "selection", "filter",
		string_or_null(settings->filter), "long", settings->all, "implementation",
		library_json(&session->library), "carrier", library_json(&session->carrier),
		"platform", platform_json(&session->platform), "environment",
		environment_json(&session->environment), "shard", shard_json(settings), "waivers",
		waivers_json(session), "counts", counts_json(session), "outcomes",
		outcomes_json(session), "choices", choices_json(session), "records",
		records_json(session));
	json_object_set_new(results, "machine",
			    session->machine ? json_incref(session->machine) : json_null());
	json_object_set_new(results, "deviations", report_deviations_json(session));
	return results;
}

int report_dump(const json_t *json, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	/* What cannot be written leaves its mark on the stream. */
	json_dumpf(json, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	putc('\n', file);
	return report_close(file);
}

int report_write_json(const struct session *session, const char *path)
{
	json_t *results = report_results(session);
	int status = results ? report_dump(results, path) : -ENOMEM;

	json_decref(results);
	return status;
}
