/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts verify: decides every verdict anew and tells what does not match (docs/certificate.md).
 */
#include <stdlib.h>
#include <string.h>

#include "bundle.h"
#include "certificate.h"
#include "commands.h"
#include "format.h"
#include "json_text.h"
#include "judge.h"
#include "raw_log.h"
#include "report.h"

static const char *shown(const char *text)
{
	return text ? text : "(nothing)";
}

bool bundle_has_plan(const struct bundle *bundle, const struct plan *plan,
		     struct mismatches *mismatches)
{
	const char *api = bundle->settings.api, *hash = json_text(bundle->certificate, "spec_hash");
	const struct plan_function *function = api ? plan_api(plan, api) : NULL;

	if (!function) {
		mismatch(mismatches, "another spec: this suite has no API named %s", shown(api));
		return false;
	}
	if (same_text(hash, function->document->spec_hash))
		return true;
	mismatch(mismatches,
		 "another spec: the certificate is of %s, this suite has %s; "
		 "verify it with the suite that it is of",
		 shown(hash), function->document->spec_hash);
	return false;
}

/* The files of the folder against the hashes of the certificate. */
static void verify_artefacts(const struct bundle *bundle, struct mismatches *mismatches)
{
	const json_t *told = json_object_get(bundle->certificate, "artefacts");
	json_t *found = json_object();
	const char *name;
	json_t *hash;

	if (certificate_artefacts(found, bundle->folder) != 0)
		mismatch(mismatches, "the files of the folder cannot all be read");
	json_object_foreach((json_t *)told, name, hash)
	{
		const char *now = json_text(found, name);

		if (!now)
			mismatch(mismatches, "%s: the file is missing", name);
		else if (!same_text(now, json_string_value(hash)))
			mismatch(mismatches,
				 "%s: the artefact was changed (SHA-256 %s, certified %s)", name,
				 now, shown(json_string_value(hash)));
	}
	json_object_foreach(found, name, hash)
	{
		if (!json_object_get(told, name))
			mismatch(mismatches, "%s: the certificate does not know this file", name);
	}
	json_decref(found);
}

static size_t count_string(const json_t *array, const char *text)
{
	size_t count = 0, i;
	json_t *item;

	json_array_foreach(array, i, item) count += same_text(json_string_value(item), text);
	return count;
}

static bool is_picked(const struct session *session, const char *id)
{
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		if (strcmp(session->cases[i].clause->id, id) == 0)
			return true;
	}
	return false;
}

/* The must-run list against the clauses that the plan has under the selection. */
static void verify_must_run(const struct bundle *bundle, const struct session *session,
			    struct mismatches *mismatches)
{
	const json_t *list = json_object_get(bundle->certificate, "must_run");
	json_t *item;
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		const char *id = session->cases[i].clause->id;
		size_t count = count_string(list, id);

		if (!count)
			mismatch(mismatches, "%s: missing in the must-run list", id);
		else if (count > 1)
			mismatch(mismatches, "%s: duplicate in the must-run list", id);
	}
	json_array_foreach(list, i, item)
	{
		const char *id = json_string_value(item);

		if (!id || !is_picked(session, id))
			mismatch(mismatches,
				 "%s: in the must-run list, but the selection picks no such clause",
				 shown(id));
	}
}

/* What both documents tell must be told alike. */
static void verify_documents(const struct bundle *bundle, struct mismatches *mismatches)
{
	static const char *const keys[] = {
		"label",       "api",	    "profile",	   "suite_version", "spec_hash", "started",
		"seed",	       "selection", "interrupted", "shard",	    "carrier",	 "platform",
		"environment", "waivers",   "counts",	   "machine",
	};
	json_t *implementation = json_copy(json_object_get(bundle->certificate, "implementation"));
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!json_equal(json_object_get(bundle->certificate, keys[i]),
				json_object_get(bundle->results, keys[i])))
			mismatch(mismatches, "certificate.json and results.json differ in \"%s\"",
				 keys[i]);
	}
	json_object_del(implementation, "exports");
	if (!json_equal(implementation, json_object_get(bundle->results, "implementation")))
		mismatch(mismatches,
			 "certificate.json and results.json differ in \"implementation\"");
	json_decref(implementation);
}

static void verify_lines(const struct bundle *bundle, const struct session *session,
			 struct mismatches *mismatches)
{
	size_t i, expected = 0;

	if (bundle->log_damage)
		mismatch(mismatches, RAW_LOG_NAME ": %s", bundle->log_damage);
	for (i = 0; i < bundle->line_count; i++) {
		const char *id = json_text(bundle->logs[i], "id");
		bool is_last = i + 1 == bundle->line_count;

		if (is_last && bundle->was_cut_off)
			mismatch(mismatches, RAW_LOG_NAME ":%zu: the log was cut off", i + 2);
		else if (!id)
			mismatch(mismatches, RAW_LOG_NAME ":%zu: the line is no log", i + 2);
		else if (bundle_line(bundle, id) != i)
			mismatch(mismatches, RAW_LOG_NAME ":%zu: duplicate log of %s", i + 2, id);
		else if (!is_picked(session, id))
			mismatch(mismatches, RAW_LOG_NAME ":%zu: a log of %s, which was not to run",
				 i + 2, id);
		else
			expected++;
	}
	if (expected < session->case_count)
		mismatch(mismatches, RAW_LOG_NAME ": %zu of %zu logs are there", expected,
			 session->case_count);
}

static void verify_records(const struct bundle *bundle, const struct session *session,
			   struct mismatches *mismatches)
{
	const json_t *records = json_object_get(bundle->results, "records");
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
	{
		const char *id = json_text(record, "id");

		if (!id || !is_picked(session, id))
			mismatch(mismatches, "%s: a record of a clause that was not to run",
				 shown(id));
		else if (bundle_record(bundle, id) != record)
			mismatch(mismatches, "%s: duplicate record", id);
	}
}

static void compare_text(struct mismatches *mismatches, const char *id, const char *what,
			 const char *told, const char *follows)
{
	if (!same_text(told, follows))
		mismatch(mismatches, "%s: %s is \"%s\", but \"%s\" follows from the log", id, what,
			 shown(told), shown(follows));
}

/* Whether the log and the record of the clause are both there; tells of the others. */
static bool is_complete(const struct bundle *bundle, const char *id, const json_t *told,
			size_t line, struct mismatches *mismatches)
{
	if (!told)
		mismatch(mismatches, "%s: missing case: there is no record", id);
	if (line == bundle->line_count)
		mismatch(mismatches, "%s: missing case: there is no log", id);
	return told && line < bundle->line_count;
}

/* Gives a clause the record that follows from its log, and compares it with the one that is told.
 */
static void verify_case(const struct bundle *bundle, struct session *session, struct case_run *run,
			const struct judge_rules *rules, struct mismatches *mismatches)
{
	const char *id = run->clause->id;
	const json_t *told = bundle_record(bundle, id);
	size_t line = bundle_line(bundle, id);
	struct judgement judgement;

	if (!is_complete(bundle, id, told, line, mismatches)) {
		session_record(session, run, record_make(VERDICT_NOTRUN, NULL, NULL), NULL, NULL);
		return;
	}
	judgement = judge(run->clause, rules, json_object_get(bundle->logs[line], "events"));
	if (judgement.problem)
		mismatch(mismatches, "%s: %s", id, judgement.problem);
	free(judgement.problem);
	judgement.record.ms = json_number_value(json_object_get(told, "ms"));
	if (json_text(told, "reason"))
		judgement.record.reason = copy_text(json_text(told, "reason"));
	session_record(session, run, judgement.record, NULL, copy_text(bundle->lines[line]));
	if (json_text(told, "replay"))
		run->replay = copy_text(json_text(told, "replay"));
	compare_text(mismatches, id, "the verdict", json_text(told, "verdict"),
		     verdict_name(run->record.verdict));
	compare_text(mismatches, id, "the kind", json_text(told, "kind"), run->record.kind);
	compare_text(mismatches, id, "what was expected", json_text(told, "expected"),
		     run->record.expected);
	compare_text(mismatches, id, "what was observed", json_text(told, "observed"),
		     run->record.observed);
}

static void verify_cases(const struct bundle *bundle, struct session *session,
			 struct mismatches *mismatches)
{
	struct judge_rules rules = {
		.profile = bundle->settings.profile,
		.runs_long = bundle->settings.all,
		.exports = json_object_get(json_object_get(bundle->certificate, "implementation"),
					   "exports"),
	};
	size_t i;

	for (i = 0; i < session->case_count; i++)
		verify_case(bundle, session, &session->cases[i], &rules, mismatches);
	waivers_judge(&session->waivers, session);
}

/* Counts, coverage, choices and waivers, made anew from the recomputed records. */
static void verify_sums(const struct bundle *bundle, const struct session *session,
			struct mismatches *mismatches)
{
	static const char *const keys[] = {"counts", "outcomes", "choices", "waivers",
					   "deviations"};
	json_t *results = report_results(session);
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!json_equal(json_object_get(results, keys[i]),
				json_object_get(bundle->results, keys[i])))
			mismatch(mismatches,
				 "results.json: \"%s\" does not follow from the logs and the "
				 "waivers",
				 keys[i]);
	}
	json_decref(results);
	if (!same_text(json_text(bundle->certificate, "verdict"), report_verdict(session)))
		mismatch(mismatches, "certificate.json: the verdict is %s, but %s follows",
			 shown(json_text(bundle->certificate, "verdict")), report_verdict(session));
}

/* The page says nothing but what follows from the logs. */
static enum report_page verify_page(const struct bundle *bundle, const struct session *session,
				    struct mismatches *mismatches)
{
	char *path = format_text("%s/report.html", bundle->folder);
	size_t line;
	enum report_page page = report_compare_html(session, path, &line);

	free(path);
	if (page == PAGE_DIFFERS)
		mismatch(mismatches, "report.html:%zu: the page does not follow from the logs",
			 line);
	return page;
}

void bundle_verify_records(const struct bundle *bundle, struct session *session,
			   struct mismatches *mismatches)
{
	verify_artefacts(bundle, mismatches);
	verify_must_run(bundle, session, mismatches);
	verify_documents(bundle, mismatches);
	verify_lines(bundle, session, mismatches);
	verify_records(bundle, session, mismatches);
	verify_cases(bundle, session, mismatches);
	verify_sums(bundle, session, mismatches);
}

enum report_page bundle_verify(const struct bundle *bundle, struct session *session,
			       struct mismatches *mismatches)
{
	bundle_verify_records(bundle, session, mismatches);
	return verify_page(bundle, session, mismatches);
}

static void print_verified(const struct bundle *bundle, const struct session *session,
			   enum report_page page)
{
	printf("verified: %s, %zu clauses, API %s, profile %s, spec %.12s: %s\n",
	       shown(bundle->settings.label), session->case_count, session->api,
	       bundle->settings.profile, session->document->spec_hash, report_verdict(session));
	if (session->verdicts[VERDICT_WAIVED])
		printf("WAIVED: %zu failures are excused by %s\n",
		       session->verdicts[VERDICT_WAIVED], session->waivers.file);
	if (bundle->settings.filter)
		printf("only the clauses of the filter %s\n", bundle->settings.filter);
	if (bundle->settings.shards)
		printf("only shard %d of %d\n", bundle->settings.shard, bundle->settings.shards);
	if (page == PAGE_OF_ANOTHER_SUITE)
		printf("report.html was written by another version of the suite: only its hash was "
		       "compared\n");
	printf("SHA-256 of the certificate: %s\n", bundle->certificate_hash);
}

static int verify(const struct bundle *bundle, const struct plan *plan)
{
	struct mismatches mismatches = {.stream = stdout};
	struct session session = {0};
	enum report_page page = PAGE_ABSENT;
	int status = 0;

	if (!bundle_has_plan(bundle, plan, &mismatches))
		verify_artefacts(bundle, &mismatches);
	else
		status = bundle_session(&session, bundle, plan);
	if (status)
		mismatch(&mismatches, "waivers.yaml: the waivers cannot be read");
	else if (!mismatches.count)
		page = bundle_verify(bundle, &session, &mismatches);
	if (mismatches.count)
		printf("not verified: %zu mismatches\n", mismatches.count);
	else
		print_verified(bundle, &session, page);
	session_close(&session);
	return mismatches.count ? EXIT_FAILED : EXIT_PASSED;
}

int command_verify(const struct settings *settings, const struct plan *plan)
{
	struct bundle bundle;
	int status = bundle_open(&bundle, settings->operands[0]);

	if (!status)
		status = verify(&bundle, plan);
	bundle_close(&bundle);
	return status;
}
