/* SPDX-License-Identifier: BSD-2-Clause */
/* What a person sees while the cases run, and the TAP stream of `run --tap`. */
#ifndef CTS_RUNNER_PROGRESS_H
#define CTS_RUNNER_PROGRESS_H

#include <stdbool.h>

#include "session.h"

struct progress;

/* Whether a line that is drawn again and again can be: on standard error. */
bool progress_is_drawn(void);

struct progress *progress_start(const struct session *session);
void progress_case(struct progress *progress, const struct case_run *run);
void progress_finish(struct progress *progress);

#endif
