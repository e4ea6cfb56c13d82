/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line. */
#ifndef CTS_RUNNER_SETTINGS_H
#define CTS_RUNNER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum exit_status { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNRESOLVED = 3 };

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct settings {
	const char *profile, *filter, *api, *results, *label, *implementation, *carrier, *waivers;
	const char *node_adapter, *port_adapter, *version_adapter, *wrapper, *format, *html, *output;
	unsigned long seed, sequences; /* of explore; 0: as many as there is time for */
	double timeout_scale, time; /* time: of explore; below 0: not told */
	int jobs;
	int shard, shards; /* --shard SHARD/SHARDS; 0/0: all */
	enum color color;
	bool all, tap, help;
	char **operands;
	int operand_count;
};

/*
 * Reads argv[2..] for the command argv[1], up to a call for help; on failure prints why and returns
 * EXIT_USAGE.
 */
int settings_parse(struct settings *settings, int argc, char **argv, unsigned int command);

/* Whether a command takes the option --NAME, NAME being LENGTH characters long. */
bool settings_takes(unsigned int command, const char *name, size_t length);

/* One bit per command, to say which options each takes. */
enum {
	COMMAND_LIST = 1,
	COMMAND_RUN = 2,
	COMMAND_CERTIFY = 4,
	COMMAND_SHOW = 8,
	COMMAND_REPLAY = 16,
	COMMAND_DIFF_VERDICTS = 32,
	COMMAND_STATUS_TABLE = 64,
	COMMAND_VERDICTS = 128,
	COMMAND_VERIFY = 256,
	COMMAND_MERGE = 512,
	COMMAND_COMPARE = 1024,
	COMMAND_SPEC_COVERAGE = 2048,
	COMMAND_REPORT = 4096,
	COMMAND_JUDGE = 8192,
	COMMAND_TRACE = 16384,
	COMMAND_EXPLORE = 32768
};

#endif
