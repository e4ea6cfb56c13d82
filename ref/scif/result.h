/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one place where an operation's negative errno becomes errno and the caller's failure value.
 */
#ifndef SCIF_RESULT_H
#define SCIF_RESULT_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#include "provider.h"

static inline off_t scif_offset_result(off_t result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

static inline int scif_result(int result)
{
	return (int)scif_offset_result(result);
}

/* Calls an operation of the chosen provider; without a provider the call fails with the reason. */
#define SCIF_CALL(op, ...) (scif_provider() != NULL ? scif_provider()->op(__VA_ARGS__) : -errno)

#endif
