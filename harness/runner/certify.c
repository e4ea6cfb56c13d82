/* SPDX-License-Identifier: BSD-2-Clause */
/* scif-cts run and scif-cts certify: the same run, with or without a results folder. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "format.h"
#include "hash.h"
#include "report.h"
#include "session.h"

/* The end of what is printed: for certify the summary and where the rest of the report is. */
static void print_end(const struct session *session, const char *root)
{
	const struct settings *settings = session->settings;
	char hash[HASH_TEXT], *path;

	if (settings->tap)
		return;
	if (!root) {
		report_print_totals(stdout, session);
		return;
	}
	printf("\n");
	if (session->interrupted)
		report_print_totals(stdout, session);
	else
		report_print_summary(stdout, session);
	path = format_text("%s/%s/certificate.json", root, settings->label);
	if (hash_file(hash, path) != 0)
		*hash = '\0';
	printf("The report is in %s/%s/; SHA-256 of its certificate: %s\n", root, settings->label,
	       hash);
	free(path);
}

static int run_and_report(const struct settings *settings, const struct plan *plan,
			  const char *root)
{
	struct publication *publication = NULL;
	struct session session;
	int status = session_open(&session, settings, plan);

	if (!status && root) {
		publication = report_open(root, settings->label);
		status = publication ? 0 : EXIT_USAGE;
	}
	if (!status)
		status = session_run(&session);
	if (status) {
		report_abandon(publication);
	} else {
		if (publication)
			status = report_publish(publication, &session);
		if (!status) {
			print_end(&session, root);
			status = session_exit_status(&session);
		}
	}
	session_close(&session);
	return status;
}

int command_run(const struct settings *settings, const struct plan *plan)
{
	struct settings run = *settings;

	if (!run.label)
		run.label = "run";
	return run_and_report(&run, plan, run.results);
}

int command_certify(const struct settings *settings, const struct plan *plan)
{
	if (!settings->implementation || !settings->label) {
		fprintf(stderr, "scif-cts: certify: %s is missing\n",
			settings->implementation ? "--label" : "--impl");
		return commands_usage("certify");
	}
	return run_and_report(settings, plan, settings->results ? settings->results : "results");
}
