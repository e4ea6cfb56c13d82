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
		  const struct library *library, const struct library *carrier)
{
	char *program = locate_program(clause->function->api, clause->function->name);
	struct launch launch;
	char **arguments;

	if (!program) {
		fprintf(stderr, "scif-cts: there is no test program for %s\n",
			clause->function->name);
		return EXIT_UNRESOLVED;
	}
	if (launch_prepare(&launch, settings, clause->function->api, library, carrier) != 0) {
		launch_release(&launch);
		return EXIT_USAGE;
	}
	arguments = launch_arguments(&launch, program, &clause, 1, true);
	execve(arguments[0], arguments, launch_environment(&launch, NULL, NULL));
	fprintf(stderr, "scif-cts: %s: %s\n", arguments[0], strerror(errno));
	return EXIT_UNRESOLVED;
}

/* Returns only where there is nothing to run, or it cannot be. */
static int replay(const struct settings *settings, const struct plan *plan,
		  const struct plan_clause *clause, const struct library *library)
{
	const char *reason = reason_not_to_run(clause, library);
	struct library carrier;
	int status;

	if (reason) {
		fprintf(stderr, "scif-cts: %s: there is nothing to run: %s\n", clause->id, reason);
		return EXIT_UNRESOLVED;
	}
	status = session_open_carrier(settings, plan, clause->function->api, &carrier);
	if (!status)
		status = become(settings, clause, library, &carrier);
	library_free(&carrier);
	return status;
}

int command_replay(const struct settings *settings, const struct plan *plan)
{
	const struct plan_clause *clause = commands_clause(settings, plan);
	struct library library;
	int status;

	if (!clause || session_open_library(settings, clause->function->api, &library) != 0)
		return EXIT_USAGE;
	status = replay(settings, plan, clause, &library);
	library_free(&library);
	return status;
}
