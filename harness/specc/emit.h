/* SPDX-License-Identifier: BSD-2-Clause */
/* What a checked specification is turned into.  Each returns false after a message on stderr. */
#ifndef SPECC_EMIT_H
#define SPECC_EMIT_H

#include "spec.h"

#include <stdbool.h>

bool emit_function(const struct spec *spec, const struct function *function, const char *file);

/* The prototypes of all scenarios, for the hand-written files that define them. */
bool emit_scenarios(const struct spec *spec, const char *file);

/* The wrappers that note every call in the raw log. */
bool emit_calls(const struct spec *spec, const char *file);
/* What calls them where the linker does not. */
bool emit_preload(const struct spec *spec, const char *file);

bool emit_plan(const struct spec *spec, const char *file);
bool emit_manual(const struct spec *spec, const struct function *function, const char *file);

#endif
