/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts replay: becomes the program of one case, unforked, with the environment that it has in a
 * run, so that a debugger or valgrind can be put in front of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "launch.h"
#include "locate.h"
#include "session.h"

/* What a run would answer without starting a program; NULL where it would start one. */
static const char *reason_not_to_run(const struct plan_clause *clause,
				     const struct library *library)
{
	if (clause->ruled_out)
		return "an errata entry rules it out";
	if (clause->untestable)
		return clause->untestable;
	if (clause->function->linkage != LINKAGE_INLINE &&
	    !library_exports(library, clause->function->name))
		return "the library does not export the function";
	return NULL;
}

/* Returns only where that fails. */
static int become(const struct settings *settings, const struct plan_clause *clause,
		  const struct library *library)
{
	char *program = locate_program(clause->function->api, clause->function->name);
	struct launch launch;
	char **arguments;

	if (!program) {
		fprintf(stderr, "scif-cts: there is no test program for %s\n",
			clause->function->name);
		return EXIT_UNRESOLVED;
	}
	if (launch_prepare(&launch, settings, library) != 0)
		return EXIT_USAGE;
	arguments = launch_arguments(&launch, program, &clause, 1, true);
	execve(arguments[0], arguments, launch_environment(&launch, NULL));
	fprintf(stderr, "scif-cts: %s: %s\n", arguments[0], strerror(errno));
	return EXIT_UNRESOLVED;
}

int command_replay(const struct settings *settings, const struct plan *plan)
{
	const struct plan_clause *clause = commands_clause(settings, plan);
	struct library library;
	const char *reason;
	int status;

	if (!clause || session_open_library(settings, clause->function->api, &library) != 0)
		return EXIT_USAGE;
	reason = reason_not_to_run(clause, &library);
	if (reason) {
		fprintf(stderr, "scif-cts: %s: there is nothing to run: %s\n", clause->id, reason);
		status = EXIT_UNRESOLVED;
	} else {
		status = become(settings, clause, &library);
	}
	library_free(&library);
	return status;
}
