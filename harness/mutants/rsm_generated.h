/* SPDX-License-Identifier: BSD-2-Clause */
/* The mutants of librsm that are made of a function and an error. */
#ifndef CTS_MUTANTS_RSM_GENERATED_H
#define CTS_MUTANTS_RSM_GENERATED_H

#include "rsm_wrapped.h"

#pragma GCC visibility push(hidden)

/* Replaces the call of the mutant, wrapped_NAME. */
void rsm_generated_install(void);

/*
 * real_NAME: the call of the wrapped library.  goes_through_NAME: what the mutant does and returns
 * where the real call has refused, weak and RSM_SUCCESS unless rsm_goes_through.c has more.
 */
#define CALL(name, parameters, arguments)                                                          \
	extern __typeof__(&name) real_##name;                                                      \
	int goes_through_##name parameters;
#define CALL_WITHOUT_RESULT(name, parameters, arguments)

#include "rsm_calls.def"

#undef CALL
#undef CALL_WITHOUT_RESULT

#pragma GCC visibility pop

#endif
