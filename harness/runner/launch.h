/* SPDX-License-Identifier: BSD-2-Clause */
/* How the program of a case is started: its environment and its arguments. */
#ifndef CTS_RUNNER_LAUNCH_H
#define CTS_RUNNER_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "library.h"
#include "plan.h"
#include "settings.h"

struct launch {
	const struct settings *settings;
	char *implementation, *carrier; /* paths that LD_PRELOAD can carry; no carrier: NULL */
	char *peer, *fault_preload, *library_folder;
	bool linked; /* the programs are linked with the implementation, so it is not preloaded */
	char *link_folder; /* holds links where a real path could not be preloaded; else NULL */
};

/* Returns 0, or EXIT_USAGE after a line on stderr; to be released either way. */
int launch_prepare(struct launch *launch, const struct settings *settings, const char *api,
		   const struct library *library, const struct library *carrier);
void launch_release(struct launch *launch);

/* NULL-terminated arrays to free with launch_free_strings(). */
char **launch_environment(const struct launch *launch, const char *records,
			  const char *observations);
char **launch_arguments(const struct launch *launch, const char *program,
			const struct plan_clause *const *clauses, size_t count, bool unforked);
void launch_free_strings(char **strings);

#endif
