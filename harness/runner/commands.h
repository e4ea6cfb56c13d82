/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands; each returns the exit status of the program.  Those that only read results get no
 * plan.
 */
#ifndef CTS_RUNNER_COMMANDS_H
#define CTS_RUNNER_COMMANDS_H

#include "plan.h"
#include "settings.h"

int command_list(const struct settings *settings, const struct plan *plan);
int command_run(const struct settings *settings, const struct plan *plan);
int command_certify(const struct settings *settings, const struct plan *plan);
int command_show(const struct settings *settings, const struct plan *plan);
int command_replay(const struct settings *settings, const struct plan *plan);
int command_diff_verdicts(const struct settings *settings, const struct plan *plan);
int command_status_table(const struct settings *settings, const struct plan *plan);
int command_verify(const struct settings *settings, const struct plan *plan);
int command_report(const struct settings *settings, const struct plan *plan);
int command_merge(const struct settings *settings, const struct plan *plan);
int command_compare(const struct settings *settings, const struct plan *plan);
int command_spec_coverage(const struct settings *settings, const struct plan *plan);
int command_judge(const struct settings *settings, const struct plan *plan);
int command_trace(const struct settings *settings, const struct plan *plan);
int command_explore(const struct settings *settings, const struct plan *plan);
int command_verdicts(const struct settings *settings, const struct plan *plan);

/* The clause that is the only operand; NULL after a line on stderr. */
const struct plan_clause *commands_clause(const struct settings *settings, const struct plan *plan);
/* Prints the usage of a command and returns EXIT_USAGE. */
int commands_usage(const char *command);

#endif
