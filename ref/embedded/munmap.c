/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_munmap on the embedded fabric. */
#include <errno.h>
#include <stdint.h>

#include "embedded.h"
#include "mapping.h"
#include "window.h"

int embedded_munmap(void *addr, size_t len)
{
	if (!len || len % PAGE_BYTES || (uintptr_t)addr % PAGE_BYTES)
		return -EINVAL;
	int error = mapping_remove(addr, len);
	mapping_verify_wanted();
	window_collect();
	return error;
}
