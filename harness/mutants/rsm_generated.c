/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generated mutants of librsm: one error of one call comes back as another one, or the call
 * goes through instead.
 */
#include "rsm_generated.h"

#include <string.h>

#include "mutant.h"

/* What most calls are given is nothing that they could be repaired by. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define CALL(name, parameters, arguments)                                                          \
	__typeof__(&name) real_##name;                                                             \
	__attribute__((weak)) int goes_through_##name parameters                                   \
	{                                                                                          \
		return RSM_SUCCESS;                                                                \
	}                                                                                          \
	static int name##_mutant parameters                                                        \
	{                                                                                          \
		int result = real_##name arguments;                                                \
                                                                                                   \
		if (!mutant_strikes(result))                                                       \
			return result;                                                             \
		return mutant.replacement ? mutant.replacement : goes_through_##name arguments;    \
	}
#define CALL_WITHOUT_RESULT(name, parameters, arguments)

#include "rsm_calls.def"

#undef CALL

void rsm_generated_install(void)
{
#define CALL(name, parameters, arguments)                                                          \
	if (strcmp(mutant.function, #name) == 0) {                                                 \
		real_##name = wrapped_##name;                                                      \
		wrapped_##name = name##_mutant;                                                    \
		return;                                                                            \
	}

#include "rsm_calls.def"
	mutant_unknown(mutant.function);
}
