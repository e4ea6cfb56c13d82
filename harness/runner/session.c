/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the clauses of a run, checks the implementation and keeps the records. */
#include "session.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "locate.h"
#include "machine.h"
#include "trial.h"

const char *session_api(const struct settings *settings, const struct plan *plan)
{
	if (!settings->api)
		return plan->functions[0].api;
	if (plan_api(plan, settings->api))
		return settings->api;
	fprintf(stderr, "scif-cts: the plan has no API named %s\n", settings->api);
	return NULL;
}

static bool glob_picks(const char *glob, const struct plan_clause *clause)
{
	size_t i;

	for (i = 0; i < clause->report_count; i++) {
		if (fnmatch(glob, clause->reports[i], 0) == 0)
			return true;
	}
	return fnmatch(glob, clause->id, 0) == 0 || fnmatch(glob, clause->function->name, 0) == 0;
}

bool session_filter_picks(const struct settings *settings, const struct plan_clause *clause)
{
	char *globs, *rest, *glob;
	bool picks = false;

	if (!settings->filter)
		return true;
	globs = rest = copy_text(settings->filter);
	while (!picks && (glob = strsep(&rest, ",")))
		picks = glob_picks(glob, clause);
	free(globs);
	return picks;
}

void session_choose(struct session *session)
{
	const struct settings *settings = session->settings;
	const struct plan *plan = session->plan;
	size_t picked = 0, f, c;

	session->cases = zeroed_array(plan->clause_count, sizeof(*session->cases));
	for (f = 0; f < plan->function_count; f++) {
		const struct plan_function *function = &plan->functions[f];

		if (strcmp(function->api, session->api) != 0)
			continue;
		for (c = 0; c < function->clause_count; c++) {
			if (!session_filter_picks(settings, &function->clauses[c]))
				continue;
			if (!settings->shards ||
			    picked % (size_t)settings->shards == (size_t)settings->shard - 1)
				session->cases[session->case_count++].clause =
					&function->clauses[c];
			picked++;
		}
	}
}

/* Whether the library has at least one function of the API. */
static bool serves(const struct library *library, const struct plan *plan, const char *api)
{
	size_t f;

	for (f = 0; f < plan->function_count; f++) {
		if (strcmp(plan->functions[f].api, api) == 0 &&
		    plan->functions[f].linkage != LINKAGE_INLINE &&
		    library_exports(library, plan->functions[f].name))
			return true;
	}
	return false;
}

/* Another API of the plan that the library serves; NULL where there is none. */
static const char *other_api(const struct library *library, const struct plan *plan)
{
	size_t f;

	for (f = 0; f < plan->function_count; f++) {
		if (serves(library, plan, plan->functions[f].api))
			return plan->functions[f].api;
	}
	return NULL;
}

static int check_library(const struct library *library, const struct plan *plan, const char *api)
{
	const char *other;

	if (serves(library, plan, api))
		return 0;
	other = other_api(library, plan);
	fprintf(stderr, "scif-cts: %s: it exports no function of the API %s", library->path, api);
	if (other)
		fprintf(stderr, ", but of %s", other);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static int read_library(struct library *library, const char *path)
{
	char *wrong = library_read(library, path);

	if (!wrong)
		return 0;
	fprintf(stderr, "scif-cts: %s: %s\n", path, wrong);
	free(wrong);
	return EXIT_USAGE;
}

int session_open_library(const struct settings *settings, const char *api, struct library *library)
{
	const char *path = settings->implementation;
	char *built = NULL;
	int status;

	if (!path)
		path = built = locate_built_library(api);
	if (!path) {
		fputs("scif-cts: which library? Name it with --impl PATH\n", stderr);
		return EXIT_USAGE;
	}
	status = read_library(library, path);
	free(built);
	return status;
}

int session_open_carrier(const struct settings *settings, const struct plan *plan, const char *api,
			 struct library *carrier)
{
	const char *below = locate_carrier(api), *path = settings->carrier;
	char *built = NULL;
	int status;

	*carrier = (struct library){0};
	if (path && !below) {
		fprintf(stderr, "scif-cts: --scif: no other library carries the API %s\n", api);
		return EXIT_USAGE;
	}
	if (!path && below && !settings->implementation)
		path = built = locate_built_library(below);
	if (!path)
		return 0;
	status = read_library(carrier, path);
	free(built);
	if (!status && plan_api(plan, below))
		status = check_library(carrier, plan, below);
	return status;
}

/* The filter may be meant for the API that is not the one of this run. */
static void complain_of_filter(const struct settings *settings, const struct plan *plan)
{
	size_t f, c;

	fprintf(stderr, "scif-cts: no clause matches the filter %s", settings->filter);
	for (f = 0; f < plan->function_count; f++) {
		const struct plan_function *function = &plan->functions[f];

		for (c = 0; c < function->clause_count; c++) {
			if (!session_filter_picks(settings, &function->clauses[c]))
				continue;
			fprintf(stderr, "; it matches some of --api %s\n", function->api);
			return;
		}
	}
	fputs("; `scif-cts list clauses` names them all\n", stderr);
}

int session_open(struct session *session, const struct settings *settings, const struct plan *plan)
{
	int status;

	*session = (struct session){.settings = settings, .plan = plan};
	session->api = session_api(settings, plan);
	if (!session->api)
		return EXIT_USAGE;
	session->document = plan_api(plan, session->api)->document;
	session_choose(session);
	if (!session->case_count) {
		if (settings->shards)
			fprintf(stderr, "scif-cts: there is no clause for shard %d of %d\n",
				settings->shard, settings->shards);
		else
			complain_of_filter(settings, plan);
		return EXIT_USAGE;
	}
	status = settings->waivers ? waivers_load(&session->waivers, settings->waivers) : 0;
	if (status)
		return status;
	status = session_open_library(settings, session->api, &session->library);
	if (!status)
		status = check_library(&session->library, plan, session->api);
	if (!status)
		status = session_open_carrier(settings, plan, session->api, &session->carrier);
	if (!status)
		status = trial_load(session);
	if (status)
		return status;
	session->environment =
		environment_class(session->library.sanitizer || session->carrier.sanitizer);
	session->platform = platform_read();
	session->machine = machine_read();
	return 0;
}

void session_close(struct session *session)
{
	size_t i;

	for (i = 0; i < session->case_count; i++) {
		record_free(&session->cases[i].record);
		free(session->cases[i].output);
		free(session->cases[i].observations);
		free(session->cases[i].replay);
	}
	free(session->cases);
	library_free(&session->library);
	library_free(&session->carrier);
	platform_free(&session->platform);
	json_decref(session->machine);
	waivers_free(&session->waivers);
	json_decref(session->parts);
}

size_t session_failed(const struct session *session)
{
	size_t count = 0;
	int verdict;

	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (verdict_counts_as_failed(verdict))
			count += session->verdicts[verdict];
	}
	return count + waivers_out_of_date(&session->waivers);
}

size_t session_skipped(const struct session *session)
{
	size_t count = 0;
	int verdict;

	for (verdict = 0; verdict < VERDICT_COUNT; verdict++) {
		if (verdict_counts_as_skipped(verdict))
			count += session->verdicts[verdict];
	}
	return count;
}

int session_exit_status(const struct session *session)
{
	if (session->verdicts[VERDICT_FAIL] || waivers_out_of_date(&session->waivers))
		return EXIT_FAILED;
	if (session->verdicts[VERDICT_UNRESOLVED] || session->verdicts[VERDICT_NOTRUN])
		return EXIT_UNRESOLVED;
	return EXIT_PASSED;
}

static void print_option(FILE *stream, const char *option, const char *value)
{
	if (!value)
		return;
	fprintf(stream, " %s ", option);
	print_shell_word(stream, value);
}

/* By a path that means the same in any folder. */
static void print_library(FILE *stream, const char *option, const struct library *library)
{
	if (library->path)
		print_option(stream, option,
			     *library->path == '/' ? library->path : library->real_path);
}

char *session_replay_command(const struct session *session, const struct case_run *run)
{
	const struct settings *settings = session->settings;
	size_t length;
	char *text;
	FILE *stream;

	if (run->replay)
		return copy_text(run->replay);
	stream = text_stream(&text, &length);
	fprintf(stream, "scif-cts replay %s", run->clause->id);
	print_library(stream, "--impl", &session->library);
	print_library(stream, "--scif", &session->carrier);
	if (strcmp(settings->profile, "documented") != 0)
		print_option(stream, "--profile", settings->profile);
	print_option(stream, "--node-adapter", settings->node_adapter);
	print_option(stream, "--port-adapter", settings->port_adapter);
	print_option(stream, "--version-adapter", settings->version_adapter);
	if (settings->seed != 1)
		fprintf(stream, " --seed %lu", settings->seed);
	fclose(stream);
	return text;
}
