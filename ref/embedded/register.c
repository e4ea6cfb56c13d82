/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_register on the embedded fabric. */
#include <errno.h>
#include <stdlib.h>

#include "embedded.h"
#include "endpoint.h"
#include "mapping.h"
#include "pin.h"
#include "scif.h"
#include "window.h"

enum { PROT_FLAGS = SCIF_PROT_READ | SCIF_PROT_WRITE };

/* Windows at fixed offsets end here. */
static const uint64_t FIXED_END = UINT64_C(1) << (62 - PAGE_BITS);

static int check_arguments(const void *addr, size_t len, off_t offset, int prot, int map_flags)
{
	if (map_flags & ~SCIF_MAP_FIXED || prot & ~PROT_FLAGS)
		return -EINVAL;
	if (!len || len % PAGE_BYTES || (uintptr_t)addr % PAGE_BYTES || offset < 0)
		return -EINVAL;
	return map_flags & SCIF_MAP_FIXED && offset % PAGE_BYTES ? -EINVAL : 0;
}

static int check_fixed(struct conn *c, uint64_t page, uint64_t pages)
{
	if (page >= FIXED_END || pages > FIXED_END - page)
		return -EADDRINUSE;
	return window_check_free(c, page, pages);
}

static off_t open_window(struct conn *c, void *addr, size_t len, uint64_t page, int prot)
{
	struct pinned pinned;
	uint64_t placed;
	int error = pin_range(c, addr, len, prot, &pinned);
	if (error)
		return error;
	error = window_open(c, pinned.extents, pinned.count, page, &placed);
	if (error) {
		pin_undo(c, &pinned);
		return error;
	}
	free(pinned.extents);
	return placed << PAGE_BITS;
}

static off_t do_register(struct conn *c, void *addr, size_t len, off_t offset, int prot,
			 int map_flags)
{
	uint64_t page = WINDOW_ANYWHERE;
	mapping_verify_wanted();
	window_collect();
	if (map_flags & SCIF_MAP_FIXED) {
		page = (uint64_t)offset >> PAGE_BITS;
		int error = check_fixed(c, page, len >> PAGE_BITS);
		if (error)
			return error;
	}
	return open_window(c, addr, len, page, prot);
}

off_t embedded_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot,
			int map_flags)
{
	struct ep *ep;
	struct conn *c;
	off_t result = ep_get(epd, &ep);
	if (result)
		return result;
	result = check_arguments(addr, len, offset, prot, map_flags);
	if (!result)
		result = ep_rma_ready(ep, &c);
	if (!result)
		result = do_register(c, addr, len, offset, prot, map_flags);
	ep_put(ep);
	return result;
}
