/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_mmap on the embedded fabric. */
#include <errno.h>

#include "embedded.h"
#include "endpoint.h"
#include "mapping.h"
#include "scif.h"
#include "window.h"

enum { PROT_FLAGS = SCIF_PROT_READ | SCIF_PROT_WRITE };

static int check_arguments(const void *addr, size_t len, int prot, int map_flags, off_t offset)
{
	if (!len || len % PAGE_BYTES || prot & ~PROT_FLAGS || map_flags & ~SCIF_MAP_FIXED ||
	    offset % PAGE_BYTES)
		return -EINVAL;
	if (map_flags & SCIF_MAP_FIXED && (uintptr_t)addr % PAGE_BYTES)
		return -EINVAL;
	return 0;
}

static int map(struct conn *c, void **pa, void *addr, size_t len, int prot, int map_flags,
	       off_t offset)
{
	mapping_verify_wanted();
	window_collect();
	if (offset < 0 || len > (size_t)INT64_MAX - offset)
		return -ENXIO;
	return mapping_make(c, offset, len, prot, addr, map_flags & SCIF_MAP_FIXED, pa);
}

int embedded_mmap(void **pa, void *addr, size_t len, int prot, int map_flags, scif_epd_t epd,
		  off_t offset)
{
	struct ep *ep;
	struct conn *c;
	int error = ep_get(epd, &ep);
	if (error)
		return error;
	error = check_arguments(addr, len, prot, map_flags, offset);
	if (!error)
		error = ep_rma_ready(ep, &c);
	if (!error)
		error = map(c, pa, addr, len, prot, map_flags, offset);
	ep_put(ep);
	return error;
}
