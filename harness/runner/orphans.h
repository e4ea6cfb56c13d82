/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that case programs leave behind.  This process is the reaper of all orphans below it,
 * and each case program leads a session of its own, so what an ended program has left is known by
 * its session and can be ended without touching anybody else's processes.
 */
#ifndef CTS_RUNNER_ORPHANS_H
#define CTS_RUNNER_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct orphans {
	pid_t *running; /* case programs; 0 for a free place */
	size_t running_limit;
	pid_t *ended; /* sessions of case programs that have ended */
	size_t ended_count;
};

/* RUNNING_LIMIT programs at once, at most ENDED_LIMIT in all. */
void orphans_open(struct orphans *orphans, size_t running_limit, size_t ended_limit);
void orphans_close(struct orphans *orphans);

void orphans_program_started(struct orphans *orphans, pid_t pid);
void orphans_program_ended(struct orphans *orphans, pid_t pid);

/* Ends what ended programs have left in their sessions. */
void orphans_end(const struct orphans *orphans);

/*
 * Ends every other child too, such as one that has left its session: during the run it may still
 * serve a case, afterwards nothing may stay.  Returns whether there was one.
 */
bool orphans_end_all(const struct orphans *orphans);

#endif
