/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts: lists, runs and replays the cases of the conformance suite, and certifies a library
 * with them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "docs/scif-cts.usage.h"
#include "locate.h"
#include "plan.h"

/* Commands that need no plan. */
#define NEEDS_NO_PLAN                                                                              \
	(COMMAND_DIFF_VERDICTS | COMMAND_VERDICTS | COMMAND_STATUS_TABLE | COMMAND_COMPARE)

static const struct command {
	const char *name;
	int (*run)(const struct settings *settings, const struct plan *plan);
	unsigned int bit;
	int least, most; /* operands */
} commands[] = {
	{"list", command_list, COMMAND_LIST, 0, 1},
	{"run", command_run, COMMAND_RUN, 0, 0},
	{"certify", command_certify, COMMAND_CERTIFY, 0, 0},
	{"verify", command_verify, COMMAND_VERIFY, 1, 1},
	{"judge", command_judge, COMMAND_JUDGE, 1, 1},
	{"report", command_report, COMMAND_REPORT, 1, 1},
	{"merge", command_merge, COMMAND_MERGE, 2, 1001},
	{"compare", command_compare, COMMAND_COMPARE, 2, 1001},
	{"show", command_show, COMMAND_SHOW, 1, 1},
	{"replay", command_replay, COMMAND_REPLAY, 1, 1},
	{"diff-verdicts", command_diff_verdicts, COMMAND_DIFF_VERDICTS, 2, 2},
	{"verdicts", command_verdicts, COMMAND_VERDICTS, 1, 1},
	{"status-table", command_status_table, COMMAND_STATUS_TABLE, 1, 1},
	{"explore", command_explore, COMMAND_EXPLORE, 0, 0},
	{"trace", command_trace, COMMAND_TRACE, 1, INT_MAX},
	{"spec-coverage", command_spec_coverage, COMMAND_SPEC_COVERAGE, 1, 1000},
};

/* What the manual page says of each. */
static const struct {
	const char *name, *synopsis, *summary;
} usages[] = {USAGE_OF_COMMANDS};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static void print_usage(FILE *stream)
{
	fputs("usage: scif-cts COMMAND [OPTION]...\n\n" USAGE_COMMANDS
	      "\n" USAGE_OPTIONS USAGE_STATUSES,
	      stream);
}

static void print_command_usage(FILE *stream, const char *command, bool with_summary)
{
	size_t i;

	for (i = 0; i < sizeof(usages) / sizeof(*usages); i++) {
		if (strcmp(usages[i].name, command) != 0)
			continue;
		fputs(usages[i].synopsis, stream);
		if (with_summary)
			fprintf(stream, "\n%s\n", usages[i].summary);
	}
}

static void print_help(const struct command *command)
{
	const char *line, *end;

	print_command_usage(stdout, command->name, true);
	printf("\noptions:\n");
	for (line = USAGE_OPTIONS; *line; line = end) {
		const char *name = strstr(line, "--") + 2;

		end = strchr(line, '\n') + 1;
		if (settings_takes(command->bit, name, strcspn(name, " ")))
			printf("%.*s", (int)(end - line), line);
	}
	fputs(USAGE_STATUSES, stdout);
}

/* Says what is wrong with the operands, if anything. */
static int check_operands(const struct command *command, const struct settings *settings)
{
	if (settings->operand_count > command->most) {
		fprintf(stderr, "scif-cts: %s: unexpected argument '%s'\n", command->name,
			settings->operands[command->most]);
		return commands_usage(command->name);
	}
	if (settings->operand_count < command->least) {
		fprintf(stderr, "scif-cts: %s: an argument is missing\n", command->name);
		return commands_usage(command->name);
	}
	return 0;
}

int commands_usage(const char *command)
{
	print_command_usage(stderr, command, false);
	return EXIT_USAGE;
}

const struct plan_clause *commands_clause(const struct settings *settings, const struct plan *plan)
{
	const char *id = settings->operands[0];
	const struct plan_clause *clause = plan_clause(plan, id);

	if (!clause && plan_has_function(plan, id))
		fprintf(stderr,
			"scif-cts: %s is a function; `scif-cts list clauses --filter %s` names its "
			"clauses\n",
			id, id);
	else if (!clause)
		fprintf(stderr,
			"scif-cts: there is no clause '%s'; `scif-cts list clauses` "
			"names them all\n",
			id);
	return clause;
}

static struct plan *load_plan(void)
{
	char **paths = locate_plans();
	struct plan *plan = NULL;
	size_t i;

	if (*paths)
		plan = plan_load(paths);
	else
		fputs("scif-cts: there is no plan.json beside this build; CTS_PLAN names one\n",
		      stderr);
	for (i = 0; paths[i]; i++)
		free(paths[i]);
	free(paths);
	return plan;
}

static int run_command(const struct command *command, const struct settings *settings)
{
	struct plan *plan;
	int status = EXIT_USAGE;

	/* A page quotes the clauses. */
	if (command->bit & NEEDS_NO_PLAN && !settings->html)
		return command->run(settings, NULL);
	plan = load_plan();
	if (plan)
		status = command->run(settings, plan);
	plan_free(plan);
	return status;
}

/* What could not be printed is not done. */
static int end_output(int status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "scif-cts: standard output: %s\n", strerror(errno ? errno : EIO));
	return status ? status : EXIT_USAGE;
}

static bool is_call_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;
	struct settings settings;

	if (argc > 1 && is_call_for_help(argv[1])) {
		print_usage(stdout);
		return EXIT_PASSED;
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		puts("scif-cts " SUITE_VERSION);
		return EXIT_PASSED;
	}
	if (!command) {
		if (argc > 1)
			fprintf(stderr, "scif-cts: unknown command '%s'\n", argv[1]);
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (settings_parse(&settings, argc, argv, command->bit) != 0)
		return EXIT_USAGE;
	if (settings.help) {
		print_help(command);
		return EXIT_PASSED;
	}
	if (check_operands(command, &settings) != 0)
		return EXIT_USAGE;
	return end_output(run_command(command, &settings));
}
