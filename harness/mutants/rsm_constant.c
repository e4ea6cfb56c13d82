/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Implementations of RSMAPI in which nothing is implemented: every call returns RESULT and leaves
 * everything as it was.  Null: RSMERR_INTERNAL_ERROR, which no call documents; success:
 * RSM_SUCCESS.
 */
#include "rsmapi.h"

/* What the calls are given is what these do not look at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define CALL(name, parameters, arguments)                                                          \
	int name parameters                                                                        \
	{                                                                                          \
		return RESULT;                                                                     \
	}
#define CALL_WITHOUT_RESULT(name, parameters, arguments)                                           \
	void name parameters                                                                       \
	{                                                                                          \
	}

#include "rsm_calls.def"
