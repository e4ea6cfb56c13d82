/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts judge: whether the model allows every step of a log (docs/model.md). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../model/model.h"
#include "../model/tables.h"
#include "commands.h"
#include "format.h"
#include "judge_log.h"
#include "json_text.h"
#include "raw_log.h"

struct judgement {
	const struct plan *plan;
	const char *path, *profile;
	struct model *model;
	struct tables tables;
	bool knows_intervals;
	size_t cases, steps, complaints;
};

static bool has_need(const struct plan_clause *clause, const char *need)
{
	size_t i;

	for (i = 0; i < clause->needs_count; i++) {
		if (!strcmp(clause->needs[i], need))
			return true;
	}
	return false;
}

/* What a case may do beside its calls follows from its clause; nothing is known of a scenario. */
static struct surroundings surroundings_of(const struct plan_clause *clause, bool tells_nodes)
{
	struct surroundings around = surroundings_unknown;
	bool is_scenario = !clause || clause->scenario || !clause->provoker;
	const char *provoker = clause && clause->provoker ? clause->provoker : "";

	if (!clause)
		return around;
	around.threads = false;
	around.node_loss =
		!tells_nodes && (has_need(clause, "node_adapter") || !strcmp(provoker, "node"));
	if (is_scenario)
		return around;
	around.signals = !strcmp(provoker, "signal");
	around.shortage = !strcmp(provoker, "fault") || !strcmp(provoker, "limit");
	around.unprivileged = !strcmp(provoker, "privilege");
	around.descriptors = false;
	return around;
}

static void tell(void *to, const struct history *history, const struct complaint *complaint)
{
	struct judgement *judgement = to;

	printf("%s: step %zu:\n", history->id ? history->id : judgement->path,
	       complaint->step->number);
	complaint_print(stdout, complaint);
	judgement->complaints++;
}

static void judge_line(struct judgement *judgement, json_t *line)
{
	const char *id = json_text(line, "id");
	const struct plan_clause *clause = id ? plan_clause(judgement->plan, id) : NULL;
	struct surroundings around = surroundings_of(clause, judgement->knows_intervals);
	struct history history;

	history_read(&history, line, &judgement->tables, judgement->knows_intervals);
	judgement->cases++;
	judgement->steps += history.step_count;
	model_judge(judgement->model, &history, &around, tell, judgement);
	history_free(&history);
}

/* Returns 0, or EXIT_USAGE where the file is no raw log. */
static int read_header(struct judgement *judgement, const json_t *line)
{
	const char *api = json_text(line, "api"), *format = json_text(line, "format");

	if (!api || !format || strcmp(format, "scif-cts-observations/1")) {
		fprintf(stderr, "scif-cts: %s: this is no raw log\n", judgement->path);
		return EXIT_USAGE;
	}
	judgement->model = model_create(judgement->plan, api, judgement->profile);
	judgement->tables = (struct tables){judgement->plan, strcmp(api, "rsm") ? "scif" : "rsm",
					    judgement->profile};
	judgement->knows_intervals = json_is_true(json_object_get(line, "intervals"));
	if (judgement->model)
		return 0;
	fprintf(stderr, "scif-cts: %s: this suite has no API named %s\n", judgement->path, api);
	return EXIT_USAGE;
}

static int judge_lines(struct judgement *judgement, const char *text, size_t length)
{
	const char *at = text, *end = at + length, *newline;
	int status = 0;
	size_t number;

	for (number = 1; at < end && !status; at = newline + 1, number++) {
		json_error_t error;
		json_t *line;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			newline = end;
		line = json_loadb(at, (size_t)(newline - at), 0, &error);
		if (!line) {
			fprintf(stderr, "scif-cts: %s:%zu: %s\n", judgement->path, number,
				error.text);
			status = EXIT_USAGE;
		} else if (number == 1) {
			status = read_header(judgement, line);
		} else {
			judge_line(judgement, line);
		}
		json_decref(line);
	}
	return number == 1 ? EXIT_USAGE : status;
}

/* The log of a folder, or the file itself. To be freed. */
static char *log_path(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return format_text("%s/" RAW_LOG_NAME, path);
	return copy_text(path);
}

/* A log may also be written by hand, uncompressed. */
static int read_log(struct raw_log *log, const char *path)
{
	int status = raw_log_read(log, path);

	if (status || !log->damage || log->length)
		return status;
	free(log->text);
	free(log->damage);
	log->damage = NULL;
	log->text = file_text(path, &log->length);
	return log->text ? 0 : -1;
}

/* The profile that a folder was judged by. To be freed. */
static char *profile_of(const struct settings *settings)
{
	char *path = format_text("%s/certificate.json", settings->operands[0]);
	json_t *certificate = json_load_file(path, 0, NULL);
	const char *profile = json_text(certificate, "profile");
	char *copy = copy_text(profile ? profile : settings->profile);

	json_decref(certificate);
	free(path);
	return copy;
}

int judge_log(const struct plan *plan, const char *name, const char *profile, const char *text,
	      size_t length)
{
	struct judgement judgement = {.plan = plan, .path = name, .profile = profile};
	int status = judge_lines(&judgement, text, length);

	if (!status)
		printf("%zu cases, %zu steps: %zu that no documented behaviour allows\n",
		       judgement.cases, judgement.steps, judgement.complaints);
	model_free(judgement.model);
	if (status)
		return status;
	return judgement.complaints ? EXIT_FAILED : EXIT_PASSED;
}

int command_judge(const struct settings *settings, const struct plan *plan)
{
	char *path = log_path(settings->operands[0]), *profile = profile_of(settings);
	struct raw_log log = {0};
	int status = EXIT_USAGE;

	if (read_log(&log, path) == 0)
		status = judge_log(plan, path, profile, log.text, log.length);
	else
		fprintf(stderr, "scif-cts: %s: it cannot be read\n", path);
	free(log.text);
	free(log.damage);
	free(path);
	free(profile);
	return status;
}
