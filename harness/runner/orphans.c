/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the orphans among the children of this process, which the kernel lists in /proc. */
#include "orphans.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "format.h"

void orphans_open(struct orphans *orphans, size_t running_limit, size_t ended_limit)
{
	orphans->running = zeroed_array(running_limit, sizeof(*orphans->running));
	orphans->running_limit = running_limit;
	orphans->ended = zeroed_array(ended_limit, sizeof(*orphans->ended));
	orphans->ended_count = 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void orphans_close(struct orphans *orphans)
{
	free(orphans->running);
	free(orphans->ended);
}

static pid_t *place_of(const struct orphans *orphans, pid_t pid)
{
	size_t i;

	for (i = 0; i < orphans->running_limit; i++) {
		if (orphans->running[i] == pid)
			return &orphans->running[i];
	}
	return NULL;
}

void orphans_program_started(struct orphans *orphans, pid_t pid)
{
	*place_of(orphans, 0) = pid;
}

void orphans_program_ended(struct orphans *orphans, pid_t pid)
{
	*place_of(orphans, pid) = 0;
	orphans->ended[orphans->ended_count++] = pid;
}

static bool has_ended(const struct orphans *orphans, pid_t session)
{
	size_t i;

	/* Process numbers come round: a running program may have that of an ended one. */
	if (place_of(orphans, session))
		return false;
	for (i = 0; i < orphans->ended_count; i++) {
		if (orphans->ended[i] == session)
			return true;
	}
	return false;
}

static bool end_children(const struct orphans *orphans, bool all)
{
	FILE *children = fopen("/proc/thread-self/children", "re");
	bool found = false;
	int pid;

	while (children && fscanf(children, "%d", &pid) == 1) {
		if (place_of(orphans, pid) || (!all && !has_ended(orphans, getsid(pid))))
			continue;
		kill(pid, SIGKILL);
		found = true;
	}
	if (children)
		fclose(children);
	return found;
}

void orphans_end(const struct orphans *orphans)
{
	end_children(orphans, false);
}

bool orphans_end_all(const struct orphans *orphans)
{
	return end_children(orphans, true);
}
