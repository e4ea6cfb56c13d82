/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif-cts report: writes the reports of a certification again from its raw log, as this version of
 * the suite words them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bundle.h"
#include "commands.h"
#include "format.h"
#include "report.h"

static int publish(const struct bundle *bundle, struct session *session)
{
	char *place = realpath(bundle->folder, NULL), *name;
	struct publication *publication;
	size_t i;

	if (!place) {
		fprintf(stderr, "scif-cts: %s: %s\n", bundle->folder, strerror(errno));
		return EXIT_USAGE;
	}
	name = strrchr(place, '/');
	*name++ = '\0';
	publication = report_open(*place ? place : "/", name);
	free(place);
	if (!publication)
		return EXIT_USAGE;
	for (i = 0; i < session->case_count; i++)
		session->cases[i].output = bundle_output(bundle, session->cases[i].clause->id);
	return report_publish(publication, session);
}

/* Only what verifies gets a new certificate; its old page alone may be worded otherwise. */
static int report_again(const struct bundle *bundle, const struct plan *plan)
{
	struct mismatches mismatches = {.stream = stderr, .folder = bundle->folder};
	struct session session = {0};
	int status = EXIT_FAILED;

	if (bundle_has_plan(bundle, plan, &mismatches) &&
	    bundle_session(&session, bundle, plan) == 0) {
		bundle_verify_records(bundle, &session, &mismatches);
		if (!mismatches.count)
			status = publish(bundle, &session);
	}
	if (mismatches.count)
		fprintf(stderr, "scif-cts: report: %s: it does not verify; nothing was written\n",
			bundle->folder);
	session_close(&session);
	return status;
}

int command_report(const struct settings *settings, const struct plan *plan)
{
	struct bundle bundle;
	int status = bundle_open(&bundle, settings->operands[0]);

	if (!status)
		status = report_again(&bundle, plan);
	bundle_close(&bundle);
	return status;
}
