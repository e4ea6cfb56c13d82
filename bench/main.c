/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-bench: how fast libscif and librsm are, beside what else moves bytes between two processes.
 */
#include "config.h"
#include "docs/scif-bench.usage.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"
#include "json.h"
#include "page.h"
#include "results.h"
#include "run.h"
#include "targets.h"
#include "timing.h"

enum { EXIT_MEASURED, EXIT_NOT_MEASURED, EXIT_USAGE };
enum { REPETITIONS = 7, QUICK_REPETITIONS = 5, MOST_REPETITIONS = 1000 };

struct settings {
	const char *compare, *filter, *json, *page;
	bool lists;
};

static const struct option options[] = {
	{"compare", required_argument, NULL, 'c'}, {"filter", required_argument, NULL, 'f'},
	{"html", required_argument, NULL, 'H'},	   {"json", required_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},	   {"list", no_argument, NULL, 'l'},
	{"quick", no_argument, NULL, 'q'},	   {"repetitions", required_argument, NULL, 'r'},
	{"version", no_argument, NULL, 'V'},	   {NULL, 0, NULL, 0},
};

static unsigned repetitions_of(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || end == text || number < 1 || number > MOST_REPETITIONS) {
		fprintf(stderr, "scif-bench: %s is no number of repetitions, 1 to %d\n", text,
			MOST_REPETITIONS);
		exit(EXIT_USAGE);
	}
	return (unsigned)number;
}

static void read_options(int argc, char **argv, struct settings *settings, struct results *results)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:f:hH:j:lqr:V", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			settings->compare = optarg;
			break;
		case 'f':
			settings->filter = optarg;
			break;
		case 'h':
			fputs(USAGE_TEXT, stdout);
			exit(fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_NOT_MEASURED);
		case 'H':
			settings->page = optarg;
			break;
		case 'j':
			settings->json = optarg;
			break;
		case 'l':
			settings->lists = true;
			break;
		case 'q':
			results->is_quick = true;
			break;
		case 'r':
			results->repetitions = repetitions_of(optarg);
			break;
		case 'V':
			puts("scif-bench " PACKAGE_VERSION);
			exit(fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_NOT_MEASURED);
		default:
			fputs(USAGE_TEXT, stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind != argc) {
		fputs(USAGE_TEXT, stderr);
		exit(EXIT_USAGE);
	}
	if (results->repetitions == 0)
		results->repetitions = results->is_quick ? QUICK_REPETITIONS : REPETITIONS;
}

static bool is_wanted(const struct settings *settings, const struct measurement *measurement)
{
	return !settings->filter || strstr(measurement->name, settings->filter);
}

static int list(const struct settings *settings)
{
	const struct measurement *const *measurement;

	for (measurement = measurements; *measurement; measurement++)
		if (is_wanted(settings, *measurement))
			printf("%-18s %s\n", (*measurement)->name, (*measurement)->title);
	return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_NOT_MEASURED;
}

/* A fabric of its own: what other programs do is not measured. */
static void choose_fabric(void)
{
	char name[32];

	snprintf(name, sizeof(name), "bench-%d", (int)getpid());
	setenv("SCIF_FABRIC", name, 1);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool measure(const struct settings *settings, struct results *results)
{
	const struct measurement *const *measurement;
	bool is_right = true;

	for (measurement = measurements; *measurement; measurement++) {
		struct results_of *of;

		if (!is_wanted(settings, *measurement))
			continue;
		results->of = realloc(results->of, (results->count + 1) * sizeof(*results->of));
		if (!results->of)
			abort();
		of = &results->of[results->count++];
		memset(of, 0, sizeof(*of));
		is_right = run_measurement(results, of, *measurement) && is_right;
		results_print_one(stdout, of);
	}
	return is_right;
}

/* Whether what was asked for could be written. */
static bool save(const struct settings *settings, const struct results *results)
{
	int error;

	if (settings->json && json_save(settings->json, results) != 0) {
		fprintf(stderr, "scif-bench: %s: %s\n", settings->json, strerror(errno));
		return false;
	}
	error = settings->page ? page_save(settings->page, results) : 0;
	if (error != 0)
		fprintf(stderr, "scif-bench: %s: %s\n", settings->page, strerror(-error));
	if (fflush(stdout) == 0)
		return error == 0;
	fprintf(stderr, "scif-bench: standard output: %s\n", strerror(errno));
	return false;
}

static bool compare(const json_t *reference, const struct results *results)
{
	return !reference || check_ratios(stdout, reference, results);
}

int main(int argc, char **argv)
{
	struct settings settings = {0};
	struct results results = {0};
	json_t *reference = NULL;
	bool is_right;

	read_options(argc, argv, &settings, &results);
	if (settings.lists)
		return list(&settings);
	if (settings.compare && !(reference = check_load(settings.compare)))
		return EXIT_USAGE;
	choose_fabric();
	timing_choose_cpus(results.cpu);
	results_print_head(stdout, &results);
	fflush(stdout);
	is_right = measure(&settings, &results);
	if (results.count == 0) {
		fprintf(stderr, "scif-bench: no measurement is named %s\n", settings.filter);
		return EXIT_USAGE;
	}
	targets_print(stdout, &results);
	is_right = compare(reference, &results) && is_right;
	json_decref(reference);
	return save(&settings, &results) && is_right ? EXIT_MEASURED : EXIT_NOT_MEASURED;
}
