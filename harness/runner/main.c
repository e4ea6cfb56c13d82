/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts: lists, runs and replays the cases of the conformance suite, and certifies a library
 * with them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "locate.h"
#include "plan.h"

/* Commands that need no plan. */
#define READS_RESULTS                                                                              \
	(COMMAND_DIFF_VERDICTS | COMMAND_VERDICTS | COMMAND_STATUS_TABLE | COMMAND_COMPARE)

static const struct command {
	const char *name;
	int (*run)(const struct settings *settings, const struct plan *plan);
	unsigned int bit;
	int least, most; /* operands */
	const char *operands, *summary;
} commands[] = {
	{"list", command_list, COMMAND_LIST, 0, 1, "[functions|outcomes|clauses]",
	 "what the suite knows, as tsv or json (--format)"},
	{"run", command_run, COMMAND_RUN, 0, 0, "",
	 "run the cases against the library just built, or --impl PATH"},
	{"certify", command_certify, COMMAND_CERTIFY, 0, 0, "--impl PATH --label NAME",
	 "run the cases and write results/NAME"},
	{"verify", command_verify, COMMAND_VERIFY, 1, 1, "DIR",
	 "recompute every verdict of a certification from its raw log"},
	{"merge", command_merge, COMMAND_MERGE, 2, 1001, "OUT DIR...",
	 "one certification of the shards of certify --shard"},
	{"compare", command_compare, COMMAND_COMPARE, 2, 1001, "A B...",
	 "what got better and what got worse from A to B; --html: side by side"},
	{"show", command_show, COMMAND_SHOW, 1, 1, "CLAUSE|ERRATA",
	 "a clause: text, source, outcome, provoker, errata; or an errata entry"},
	{"replay", command_replay, COMMAND_REPLAY, 1, 1, "CLAUSE",
	 "one case, unforked; --exec 'gdb --args'"},
	{"diff-verdicts", command_diff_verdicts, COMMAND_DIFF_VERDICTS, 2, 2, "A B",
	 "compare two results.json or lists of verdicts"},
	{"verdicts", command_verdicts, COMMAND_VERDICTS, 1, 1, "RESULTS.JSON",
	 "print the list of verdicts of a results.json"},
	{"status-table", command_status_table, COMMAND_STATUS_TABLE, 1, 1, "RESULTS.JSON",
	 "print results as a Markdown table"},
	{"spec-coverage", command_spec_coverage, COMMAND_SPEC_COVERAGE, 1, 1000, "RESULTS...",
	 "what is documented, has a case, was observed, per function"},
};

/* A line per option, so that those of one command can be told from the others. */
static const char options_text[] =
	"  --api scif|rsm              the API (scif); list: only this one\n"
	"  --impl PATH                 the library to test (the one just built)\n"
	"  --scif PATH                 rsm: the libscif that carries it\n"
	"  --label NAME                name of the results folder\n"
	"  --format tsv|json           list: lines (tsv) or JSON; spec-coverage: JSON\n"
	"  --profile documented|knc    what is accepted (documented)\n"
	"  --filter GLOB[,GLOB]        only clauses with such an id or function\n"
	"  --all                       long cases too\n"
	"  --jobs N                    cases at once (2)\n"
	"  --timeout-scale X           stretch every time limit (1)\n"
	"  --seed N                    for whatever is random (1)\n"
	"  --waivers FILE              failures that are known and excused\n"
	"  --shard I/N                 only each N-th clause from the I-th, for `merge`\n"
	"  --html FILE                 compare: a page with two or more side by side\n"
	"  --results DIR               parent of the results folder (results)\n"
	"  --node-adapter CMD          command that takes nodes down, to sleep and up\n"
	"  --port-adapter CMD          command that narrows the port range\n"
	"  --version-adapter CMD       command that gives the fabric another version\n"
	"  --exec CMD                  command line put before the case program\n"
	"  --color auto|always|never   colour of the verdicts\n"
	"  --tap                       run: a TAP stream on standard output\n"
	"  -h, --help                  what a command takes\n";

static const char exit_text[] =
	"\nexit status: 0 passed or excused, 1 something failed, 2 usage, 3 something unresolved\n";

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
	size_t i;

	fputs("usage: scif-cts COMMAND [OPTION]...\n\n", stream);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(stream, "  %-14s %-29s %s\n", commands[i].name, commands[i].operands,
			commands[i].summary);
	fprintf(stream, "\noptions:\n%s%s", options_text, exit_text);
}

static void print_command_usage(FILE *stream, const struct command *command)
{
	fprintf(stream, "usage: scif-cts %s%s%s [OPTION]...\n", command->name,
		*command->operands ? " " : "", command->operands);
}

static void print_help(const struct command *command)
{
	const char *line, *end;

	print_command_usage(stdout, command);
	printf("\n%s\n\noptions:\n", command->summary);
	for (line = options_text; *line; line = end) {
		const char *name = strstr(line, "--") + 2;

		end = strchr(line, '\n') + 1;
		if (settings_takes(command->bit, name, strcspn(name, " ")))
			printf("%.*s", (int)(end - line), line);
	}
	fputs(exit_text, stdout);
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
	print_command_usage(stderr, find_command(command));
	return EXIT_USAGE;
}

const struct plan_clause *commands_clause(const struct settings *settings, const struct plan *plan)
{
	const char *id = settings->operands[0];
	const struct plan_clause *clause = plan_clause(plan, id);

	if (!clause)
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
	if (command->bit & READS_RESULTS && !settings->html)
		return command->run(settings, NULL);
	plan = load_plan();
	if (plan)
		status = command->run(settings, plan);
	plan_free(plan);
	return status;
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
	return run_command(command, &settings);
}
