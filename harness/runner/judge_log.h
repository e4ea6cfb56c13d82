/* SPDX-License-Identifier: BSD-2-Clause */
/* Judging a raw log by the model of its API. */
#ifndef CTS_RUNNER_JUDGE_LOG_H
#define CTS_RUNNER_JUDGE_LOG_H

#include <stddef.h>

struct plan;

/*
 * Prints what no documented behaviour allows in the lines of a raw log, its first line included,
 * and how much was judged. NAME is what the log is called. Returns an exit status.
 */
int judge_log(const struct plan *plan, const char *name, const char *profile, const char *text,
	      size_t length);

#endif
