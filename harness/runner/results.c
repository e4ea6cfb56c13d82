/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads results.json (scif-cts-results/1) and lists of verdicts (scif-cts-verdicts/1): a few header
 * lines that start with '#', then a line per clause: id, verdict, kind, separated by tabs.
 */
#include "results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format.h"
#include "settings.h"

static const char list_format[] = "# scif-cts-verdicts/1";

static int complain(const char *path, int line, const char *what)
{
	fprintf(stderr, "scif-cts: %s:%d: %s\n", path, line, what);
	return EXIT_USAGE;
}

static void add(struct results *results, const char *id, enum verdict verdict, const char *kind)
{
	size_t count = results->count + 1;
	struct result *grown = reallocarray(results->results, count, sizeof(*grown));

	if (!grown)
		abort();
	grown[results->count] = (struct result){
		.id = copy_text(id),
		.verdict = verdict,
		.kind = copy_text(kind ? kind : ""),
	};
	results->results = grown;
	results->count = count;
}

static int compare_results(const void *a, const void *b)
{
	return strcmp(((const struct result *)a)->id, ((const struct result *)b)->id);
}

static void read_environment(struct results *results)
{
	const json_t *environment = json_object_get(results->root, "environment");
	const char *build = json_string_value(json_object_get(environment, "build"));
	const char *profile = json_string_value(json_object_get(results->root, "profile"));

	results->environment = (struct environment_class){
		.root = json_is_true(json_object_get(environment, "root")),
		.userfaultfd = json_is_true(json_object_get(environment, "userfaultfd")),
		.sanitizer = build && strcmp(build, "plain") != 0,
	};
	results->profile = copy_text(profile ? profile : "");
}

static int read_json(struct results *results, const char *path)
{
	const char *format = json_string_value(json_object_get(results->root, "format"));
	json_t *record;
	size_t i;

	if (!format || strcmp(format, "scif-cts-results/1") != 0)
		return complain(path, 1, "the format is not scif-cts-results/1");
	read_environment(results);
	json_array_foreach(json_object_get(results->root, "records"), i, record)
	{
		const char *id = json_string_value(json_object_get(record, "id"));
		const char *verdict = json_string_value(json_object_get(record, "verdict"));

		if (!id || verdict_by_name(verdict) == VERDICT_COUNT)
			return complain(path, 1, "a record has no id or no known verdict");
		add(results, id, verdict_by_name(verdict),
		    json_string_value(json_object_get(record, "kind")));
	}
	return 0;
}

static void read_header(struct results *results, const char *line)
{
	if (strncmp(line, "# environment: ", 15) == 0)
		results->environment = (struct environment_class){
			.root = !strstr(line, "not root"),
			.userfaultfd = !strstr(line, "no userfaultfd"),
			.sanitizer = strstr(line, "sanitizer build") != NULL,
		};
	else if (strncmp(line, "# profile: ", 11) == 0) {
		free(results->profile);
		results->profile = copy_text(line + 11);
	}
}

static int read_list(struct results *results, FILE *file, const char *path)
{
	char line[512];
	int number = 0;

	while (fgets(line, sizeof(line), file)) {
		char *rest = line, *id, *verdict;

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#') {
			read_header(results, line);
			continue;
		}
		id = strsep(&rest, "\t");
		verdict = strsep(&rest, "\t");
		if (verdict_by_name(verdict) == VERDICT_COUNT)
			return complain(path, number, "not a line of id, verdict and kind");
		add(results, id, verdict_by_name(verdict), rest);
	}
	return 0;
}

static int read_file(struct results *results, FILE *file, const char *path)
{
	char first[sizeof(list_format)] = "";
	json_error_t error;

	if (fgets(first, sizeof(first), file) && strcmp(first, list_format) == 0) {
		rewind(file);
		results->profile = copy_text("");
		return read_list(results, file, path);
	}
	rewind(file);
	results->root = json_loadf(file, 0, &error);
	if (!results->root)
		return complain(path, error.line, error.text);
	return read_json(results, path);
}

static int open_and_read(struct results *results, const char *path)
{
	FILE *file = fopen(path, "re");
	int status;

	if (!file) {
		fprintf(stderr, "scif-cts: %s: %s\n", path, strerror(errno));
		return EXIT_USAGE;
	}
	status = read_file(results, file, path);
	fclose(file);
	return status;
}

/* A folder stands for the results.json in it. */
static char *path_of_results(const char *path)
{
	struct stat status;
	bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);

	return format_text("%s%s", path, is_folder ? "/results.json" : "");
}

int results_load(struct results *results, const char *path_or_folder)
{
	char *path = path_of_results(path_or_folder);
	size_t i;
	int status;

	*results = (struct results){0};
	status = open_and_read(results, path);
	free(path);
	if (status)
		return status;
	qsort(results->results, results->count, sizeof(*results->results), compare_results);
	for (i = 1; i < results->count; i++) {
		if (compare_results(&results->results[i - 1], &results->results[i]) == 0)
			return complain(path_or_folder, 1, "a clause has two records");
	}
	return 0;
}

const struct result *results_find(const struct results *results, const char *id)
{
	const struct result key = {.id = (char *)id};

	return bsearch(&key, results->results, results->count, sizeof(key), compare_results);
}

char *result_text(const struct result *result)
{
	return format_text("%s%s%s", verdict_name(result->verdict), *result->kind ? " " : "",
			   result->kind);
}

void results_free(struct results *results)
{
	size_t i;

	for (i = 0; i < results->count; i++) {
		free(results->results[i].id);
		free(results->results[i].kind);
	}
	free(results->results);
	free(results->profile);
	json_decref(results->root);
}

void results_print_verdicts(FILE *stream, const struct results *results)
{
	char *class = environment_class_text(&results->environment);
	size_t i;

	fprintf(stream, "%s\n# environment: %s\n# profile: %s\n", list_format, class,
		results->profile);
	for (i = 0; i < results->count; i++) {
		const struct result *result = &results->results[i];

		fprintf(stream, "%s\t%s\t%s\n", result->id, verdict_name(result->verdict),
			result->kind);
	}
	free(class);
}
