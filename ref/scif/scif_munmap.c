/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_munmap: remove mappings.
 */
#include "result.h"

int scif_munmap(void *addr, size_t len)
{
	return scif_result(SCIF_CALL(munmap, addr, len));
}
