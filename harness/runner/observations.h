/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw log of a run, a line per clause (docs/certificate.md). */
#ifndef CTS_RUNNER_OBSERVATIONS_H
#define CTS_RUNNER_OBSERVATIONS_H

#include <stddef.h>

/* The line of the clause ID among those that a program wrote, without its end; NULL where there is
 * none. */
char *observations_find(const char *text, size_t length, const char *id);

/* The line of a clause about which only the runner has something to say; DETAIL may be NULL. */
char *observations_of_runner(const char *id, const char *what, const char *detail);

#endif
