/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the command line; an option that a command does not use is an error, not ignored. */
#include "settings.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

#define RUNS		 (COMMAND_RUN | COMMAND_CERTIFY)
#define STARTS_CASES	 (RUNS | COMMAND_REPLAY)
#define STARTS_LIBRARIES (STARTS_CASES | COMMAND_EXPLORE)

enum option_key {
	/* Below every character, so that an unknown short option is told from these. */
	KEY_PROFILE = 1,
	KEY_FILTER,
	KEY_JOBS,
	KEY_TIMEOUT_SCALE,
	KEY_ALL,
	KEY_API,
	KEY_RESULTS,
	KEY_LABEL,
	KEY_IMPL,
	KEY_SCIF,
	KEY_NODE_ADAPTER,
	KEY_PORT_ADAPTER,
	KEY_VERSION_ADAPTER,
	KEY_EXEC,
	KEY_FORMAT,
	KEY_SEED,
	KEY_WAIVERS,
	KEY_SHARD,
	KEY_HTML,
	KEY_COLOR,
	KEY_TAP,
	KEY_OUTPUT,
	KEY_FOLLOW,
	KEY_TIME,
	KEY_SEQUENCES,
	KEY_HELP
};

static const struct option options[] = {
	{"profile", required_argument, NULL, KEY_PROFILE},
	{"filter", required_argument, NULL, KEY_FILTER},
	{"jobs", required_argument, NULL, KEY_JOBS},
	{"timeout-scale", required_argument, NULL, KEY_TIMEOUT_SCALE},
	{"all", no_argument, NULL, KEY_ALL},
	{"api", required_argument, NULL, KEY_API},
	{"results", required_argument, NULL, KEY_RESULTS},
	{"label", required_argument, NULL, KEY_LABEL},
	{"impl", required_argument, NULL, KEY_IMPL},
	{"scif", required_argument, NULL, KEY_SCIF},
	{"node-adapter", required_argument, NULL, KEY_NODE_ADAPTER},
	{"port-adapter", required_argument, NULL, KEY_PORT_ADAPTER},
	{"version-adapter", required_argument, NULL, KEY_VERSION_ADAPTER},
	{"exec", required_argument, NULL, KEY_EXEC},
	{"format", required_argument, NULL, KEY_FORMAT},
	{"seed", required_argument, NULL, KEY_SEED},
	{"waivers", required_argument, NULL, KEY_WAIVERS},
	{"shard", required_argument, NULL, KEY_SHARD},
	{"html", required_argument, NULL, KEY_HTML},
	{"color", required_argument, NULL, KEY_COLOR},
	{"tap", no_argument, NULL, KEY_TAP},
	{"output", required_argument, NULL, KEY_OUTPUT},
	{"follow-forks", no_argument, NULL, KEY_FOLLOW},
	{"time", required_argument, NULL, KEY_TIME},
	{"sequences", required_argument, NULL, KEY_SEQUENCES},
	{"help", no_argument, NULL, KEY_HELP},
	{NULL, 0, NULL, 0},
};

/* Which commands take an option. */
static const unsigned int takers[] = {
	[KEY_PROFILE] = STARTS_LIBRARIES | COMMAND_JUDGE | COMMAND_TRACE,
	[KEY_FILTER] = RUNS | COMMAND_LIST,
	[KEY_JOBS] = RUNS,
	[KEY_TIMEOUT_SCALE] = STARTS_LIBRARIES,
	[KEY_ALL] = STARTS_CASES,
	[KEY_API] = RUNS | COMMAND_LIST | COMMAND_EXPLORE,
	[KEY_RESULTS] = RUNS,
	[KEY_LABEL] = RUNS,
	[KEY_IMPL] = STARTS_LIBRARIES,
	[KEY_SCIF] = STARTS_LIBRARIES,
	[KEY_NODE_ADAPTER] = STARTS_CASES,
	[KEY_PORT_ADAPTER] = STARTS_CASES,
	[KEY_VERSION_ADAPTER] = STARTS_CASES,
	[KEY_EXEC] = STARTS_CASES,
	[KEY_FORMAT] = COMMAND_LIST | COMMAND_SPEC_COVERAGE,
	[KEY_SEED] = STARTS_LIBRARIES,
	[KEY_WAIVERS] = RUNS,
	[KEY_SHARD] = COMMAND_CERTIFY,
	[KEY_HTML] = COMMAND_COMPARE,
	[KEY_COLOR] = RUNS,
	[KEY_TAP] = COMMAND_RUN,
	[KEY_OUTPUT] = COMMAND_TRACE | COMMAND_EXPLORE,
	[KEY_FOLLOW] = COMMAND_TRACE,
	[KEY_TIME] = COMMAND_EXPLORE,
	[KEY_SEQUENCES] = COMMAND_EXPLORE,
	[KEY_HELP] = ~0U,
};

static int complain(const char *what, const char *value)
{
	fprintf(stderr, "scif-cts: %s: %s\n", what, value);
	return EXIT_USAGE;
}

static int parse_jobs(struct settings *settings, const char *text)
{
	char *end;
	long jobs;

	errno = 0;
	jobs = strtol(text, &end, 10);
	if (errno || end == text || *end || jobs < 1 || jobs > 256)
		return complain("--jobs takes a number from 1 to 256, not", text);
	settings->jobs = (int)jobs;
	return 0;
}

static int parse_scale(struct settings *settings, const char *text)
{
	char *end;
	double scale;

	errno = 0;
	scale = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(scale) || scale < 0.01 || scale > 1000)
		return complain("--timeout-scale takes a number from 0.01 to 1000, not", text);
	settings->timeout_scale = scale;
	return 0;
}

static int parse_count(unsigned long *count, const char *text, const char *wrong)
{
	char *end;

	errno = 0;
	*count = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		return complain(wrong, text);
	return 0;
}

static int parse_time(struct settings *settings, const char *text)
{
	char *end;

	errno = 0;
	settings->time = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(settings->time) || settings->time < 0)
		return complain("--time takes a number of seconds, not", text);
	return 0;
}

static int parse_shard(struct settings *settings, const char *text)
{
	const char *rest = text;
	char *end;
	long shard, shards = 0;

	errno = 0;
	shard = strtol(text, &end, 10);
	if (end != text && *end == '/')
		shards = strtol(rest = end + 1, &end, 10);
	if (errno || end == rest || *end || shard < 1 || shards < 1 || shard > shards ||
	    shards > 1000)
		return complain("--shard takes I/N, both from 1, I at most N, N at most 1000; not",
				text);
	settings->shard = (int)shard;
	settings->shards = (int)shards;
	return 0;
}

static int parse_color(struct settings *settings, const char *text)
{
	static const char *const names[] = {"auto", "always", "never"};
	int i;

	for (i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			settings->color = i;
			return 0;
		}
	}
	return complain("--color takes auto, always or never, not", text);
}

static int one_of(const char **field, const char *text, const char *first, const char *second,
		  const char *wrong)
{
	if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
		return complain(wrong, text);
	*field = text;
	return 0;
}

/* A label becomes the name of a folder. */
static int parse_label(struct settings *settings, const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t length = strlen(text);

	if (!length || length > 64 || text[strspn(text, allowed)] || *text == '.')
		return complain("--label takes 1 to 64 letters, digits, '.', '_' and '-', "
				"the first not a dot; not",
				text);
	settings->label = text;
	return 0;
}

static int parse_library(const char **library, const char *option, const char *text)
{
	if (*text) {
		*library = text;
		return 0;
	}
	fprintf(stderr, "scif-cts: %s takes the path of a library, not: an empty word\n", option);
	return EXIT_USAGE;
}

static int parse_adapter(const char **adapter, const char *option, const char *text)
{
	if (!trial_finds_command(text)) {
		fprintf(stderr, "scif-cts: %s: there is no such command: '%s'\n", option, text);
		return EXIT_USAGE;
	}
	*adapter = text;
	return 0;
}

static int take_option(struct settings *settings, int key, const char *value)
{
	switch (key) {
	case KEY_PROFILE:
		return one_of(&settings->profile, value, "documented", "knc",
			      "--profile takes documented or knc, not");
	case KEY_FORMAT:
		return one_of(&settings->format, value, "tsv", "json",
			      "--format takes tsv or json, not");
	case KEY_JOBS:
		return parse_jobs(settings, value);
	case KEY_TIMEOUT_SCALE:
		return parse_scale(settings, value);
	case KEY_SEED:
		return parse_count(&settings->seed, value, "--seed takes a decimal number, not");
	case KEY_SEQUENCES:
		return parse_count(&settings->sequences, value,
				   "--sequences takes a decimal number, not");
	case KEY_TIME:
		return parse_time(settings, value);
	case KEY_SHARD:
		return parse_shard(settings, value);
	case KEY_OUTPUT:
		settings->output = value;
		return 0;
	case KEY_FOLLOW:
		return 0;
	case KEY_WAIVERS:
		settings->waivers = value;
		return 0;
	case KEY_HTML:
		settings->html = value;
		return 0;
	case KEY_COLOR:
		return parse_color(settings, value);
	case KEY_LABEL:
		return parse_label(settings, value);
	case KEY_FILTER:
		settings->filter = value;
		return 0;
	case KEY_API:
		settings->api = value;
		return 0;
	case KEY_RESULTS:
		settings->results = value;
		return 0;
	case KEY_IMPL:
		return parse_library(&settings->implementation, "--impl", value);
	case KEY_SCIF:
		return parse_library(&settings->carrier, "--scif", value);
	case KEY_NODE_ADAPTER:
		return parse_adapter(&settings->node_adapter, "--node-adapter", value);
	case KEY_PORT_ADAPTER:
		return parse_adapter(&settings->port_adapter, "--port-adapter", value);
	case KEY_VERSION_ADAPTER:
		return parse_adapter(&settings->version_adapter, "--version-adapter", value);
	case KEY_EXEC:
		settings->wrapper = value;
		return 0;
	case KEY_ALL:
		settings->all = true;
		return 0;
	default:
		settings->tap = true;
		return 0;
	}
}

bool settings_takes(unsigned int command, const char *name, size_t length)
{
	const struct option *option;

	for (option = options; option->name; option++) {
		if (strncmp(option->name, name, length) == 0 && !option->name[length])
			return (takers[option->val] & command) != 0;
	}
	return false;
}

int settings_parse(struct settings *settings, int argc, char **argv, unsigned int command)
{
	/* What stands behind the name of a program is the program's. */
	int mixed = command != COMMAND_TRACE, key;

	*settings = (struct settings){
		.profile = "documented",
		.seed = 1,
		.timeout_scale = 1,
		.time = -1,
		.jobs = 2,
	};
	opterr = 0;
	while ((key = getopt_long(argc - 1, argv + 1, &"+:hfo:"[mixed], options, NULL)) != -1) {
		const char *word = argv[optind];

		if (key == 'o' || key == 'f')
			key = key == 'o' ? KEY_OUTPUT : KEY_FOLLOW;
		if (key == ':')
			return complain("this option needs a value", word);
		if (key == '?' && optopt && optopt <= KEY_HELP)
			return complain("this option takes no value", word);
		if (key == '?')
			return complain("unknown option", optopt ? (char[]){'-', optopt, 0} : word);
		if (key == 'h' || key == KEY_HELP) {
			settings->help = true;
			return 0;
		}
		if (!(takers[key] & command))
			return complain("this command does not take the option",
					options[key - 1].name);
		if (take_option(settings, key, optarg) != 0)
			return EXIT_USAGE;
	}
	settings->operands = argv + 1 + optind;
	settings->operand_count = argc - 1 - optind;
	return 0;
}
