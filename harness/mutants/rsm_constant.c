/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call of RSMAPI returns RESULT and leaves everything as it was.  Null: with
 * RSMERR_INTERNAL_ERROR, which no call documents, nothing is implemented.  All definitions are
 * weak, so that rsm_success.c replaces those that have more to give than RSM_SUCCESS.
 */
#include "rsmapi.h"

/* What the calls are given is what these do not look at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define CALL(name, parameters, arguments)                                                          \
	__attribute__((weak)) int name parameters                                                  \
	{                                                                                          \
		return RESULT;                                                                     \
	}
#define CALL_WITHOUT_RESULT(name, parameters, arguments)                                           \
	__attribute__((weak)) void name parameters                                                 \
	{                                                                                          \
	}

#include "rsm_calls.def"
