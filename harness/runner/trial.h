/* SPDX-License-Identifier: BSD-2-Clause */
/* Tries once what every case depends on, so that it is refused before the run. */
#ifndef CTS_RUNNER_TRIAL_H
#define CTS_RUNNER_TRIAL_H

#include "session.h"

/*
 * Starts one case program with the library in front of it, which only lists its cases, and, where
 * the caller sets SCIF_NODE, SCIF_FABRIC or SCIF_PROVIDER, opens an endpoint.  Returns 0, or
 * EXIT_USAGE after a line on stderr that says why the library cannot be loaded, or which settings
 * it refuses.
 */
int trial_load(const struct session *session);

/* Whether the shell finds the command that a line of the shell starts with. */
bool trial_finds_command(const char *line);

#endif
