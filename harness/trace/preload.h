/* SPDX-License-Identifier: BSD-2-Clause */
/* What the preload of `scif-cts trace` asks at every call; the functions themselves are generated.
 */
#ifndef CTS_TRACE_PRELOAD_H
#define CTS_TRACE_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a call from there is the program's own; an implementation's is not recorded. */
bool preload_records(const void *caller);
/* The function behind this library, or NULL; keeps errno. */
void *preload_find(const char *function);
/* What a function returns that no library behind this one has. */
intptr_t preload_absent(const char *function);

#endif
