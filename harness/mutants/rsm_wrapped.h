/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A librsm that passes every call on to the next librsm of the process.  A mutant defines the
 * calls that it gets wrong and reaches the right ones through these pointers, wrapped_NAME.
 */
#ifndef CTS_MUTANTS_RSM_WRAPPED_H
#define CTS_MUTANTS_RSM_WRAPPED_H

#include "rsmapi.h"

#define CALL(name, parameters, arguments)                                                          \
	extern __typeof__(&name) wrapped_##name __attribute__((visibility("hidden")));
#define CALL_WITHOUT_RESULT CALL

#include "rsm_calls.def"

#undef CALL
#undef CALL_WITHOUT_RESULT

/* Called once the calls are found, so that a mutant may replace some of them. */
void wrapped_found(void) __attribute__((visibility("hidden")));

#endif
