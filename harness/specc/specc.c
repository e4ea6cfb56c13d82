/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * specc - the spec compiler: reads the clause files of one API, refuses what is wrong with them
 * (file:line: what is wrong; what would be right), and writes the tests, the plan and the manual
 * pages that follow from them.
 */
#include "emit.h"
#include "pool.h"
#include "report.h"
#include "spec.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_GOOD = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 };

struct options {
	const char *api, *spec, *include, *out, *only, *plan, *manual;
	bool check;
};

static int usage(void)
{
	fputs("usage: specc --api NAME --spec DIR --include DIR --out DIR [--only FUNCTION]\n"
	      "             [--check] [--plan FILE] [--man DIR]\n"
	      "  --check  reports what is wrong and writes nothing\n"
	      "  --only   limits messages and output to one function\n",
	      stderr);
	return EXIT_USAGE;
}

static bool read_options(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {{"api", required_argument, NULL, 'a'},
						     {"spec", required_argument, NULL, 's'},
						     {"include", required_argument, NULL, 'i'},
						     {"out", required_argument, NULL, 'o'},
						     {"only", required_argument, NULL, 'f'},
						     {"plan", required_argument, NULL, 'p'},
						     {"man", required_argument, NULL, 'm'},
						     {"check", no_argument, NULL, 'c'},
						     {0}};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'a':
			options->api = optarg;
			break;
		case 's':
			options->spec = optarg;
			break;
		case 'i':
			options->include = optarg;
			break;
		case 'o':
			options->out = optarg;
			break;
		case 'f':
			options->only = optarg;
			break;
		case 'p':
			options->plan = optarg;
			break;
		case 'm':
			options->manual = optarg;
			break;
		case 'c':
			options->check = true;
			break;
		default:
			return false;
		}
	}
	return optind == argc && options->api && options->spec && options->include &&
	       (options->check || options->out || options->plan || options->manual);
}

/*
 * With --only the messages about other functions do not count, because an author works on one file;
 * but what everything rests on must have been loaded.
 */
static unsigned complain(const struct spec *spec, const struct options *options)
{
	const char *file;

	if (!options->only || !spec->api.name || !spec->vocabulary_count) {
		report_print(stderr, NULL);
		return report_count();
	}
	file = pool_printf("%s/%s/%s.yaml", options->spec, options->api, options->only);
	report_print(stderr, file);
	return report_count_of(file);
}

static bool make_folder(const char *folder)
{
	if (!mkdir(folder, 0777) || errno == EEXIST)
		return true;
	fprintf(stderr, "specc: %s cannot be made: %s\n", folder, strerror(errno));
	return false;
}

static bool write_all(const struct spec *spec, const struct options *options)
{
	if ((options->out && !make_folder(options->out)) ||
	    (options->manual && !make_folder(options->manual)))
		return false;
	if (options->out && !emit_scenarios(spec, pool_printf("%s/scenarios.h", options->out)))
		return false;
	if (options->out && (!emit_calls(spec, pool_printf("%s/calls.c", options->out)) ||
			     !emit_preload(spec, pool_printf("%s/preload.c", options->out))))
		return false;
	for (unsigned i = 0; i < spec->function_count; i++) {
		const struct function *function = &spec->functions[i];

		if (options->only && strcmp(options->only, function->name))
			continue;
		if (options->out &&
		    !emit_function(spec, function,
				   pool_printf("%s/%s.c", options->out, function->name)))
			return false;
		if (options->manual &&
		    !emit_manual(spec, function,
				 pool_printf("%s/%s.3", options->manual, function->name)))
			return false;
	}
	return !options->plan || emit_plan(spec, options->plan);
}

static void say_what_was_read(const struct spec *spec)
{
	unsigned clauses = 0, cells = 0;

	for (unsigned i = 0; i < spec->function_count; i++) {
		clauses += spec->functions[i].clause_count;
		cells += spec->functions[i].all_count - spec->functions[i].clause_count;
	}
	printf("%u functions, %u clauses, %u cells of the state matrix, %u errata: nothing to "
	       "refuse\n",
	       spec->function_count, clauses, cells, spec->errata.entry_count);
}

static int run(struct spec *spec, const struct options *options)
{
	spec_load(spec, options->api, options->spec, options->include);
	if (spec->api.name && spec->vocabulary_count) {
		states_expand(spec);
		spec_check(spec);
	}
	if (complain(spec, options))
		return EXIT_REFUSED;
	if (options->only && !spec_function(spec, options->only)) {
		fprintf(stderr, "specc: no function %s in %s/%s\n", options->only, options->spec,
			options->api);
		return EXIT_REFUSED;
	}
	if (options->check) {
		say_what_was_read(spec);
		return EXIT_GOOD;
	}
	return write_all(spec, options) ? EXIT_GOOD : EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct spec spec = {0};
	int status;

	if (!read_options(argc, argv, &options))
		return usage();
	status = run(&spec, &options);
	spec_unload(&spec);
	pool_free();
	return status;
}
