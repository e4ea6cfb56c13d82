/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's transfers, on the fabric's.
 */
#include "../embedded/rma.c"

#include "libc.h"
#include "standin.h"

/* More pages than the driver finds memory for to describe them. */
static const uint64_t DESCRIBABLE = UINT64_C(1) << 40;

static bool wraps(off_t offset, size_t len)
{
	return len > (uint64_t)INT64_MAX ||
	       (int64_t)((uint64_t)offset + len) < (offset < 0 ? INT64_MIN : offset);
}

static int check(off_t loffset, const void *addr, size_t len, off_t roffset, int flags)
{
	/* One valid bit is enough. */
	if (flags != 0 && !(flags & RMA_FLAGS))
		return -EINVAL;
	if (len == 0 || wraps(roffset, len) || (loffset != 0 && wraps(loffset, len)))
		return -EINVAL;
	return addr != NULL && len >= DESCRIBABLE ? -ENOMEM : 0;
}

int driver_copy(struct ep *ep, off_t loffset, void *addr, size_t len, off_t roffset, int flags,
		bool read)
{
	struct conn *c;
	struct span local = {.side = SPAN_MEMORY, .at = addr, .bytes = len};
	int error = driver_ready(ep, &c);

	if (error == 0)
		error = check(loffset, addr, len, roffset, flags);
	if (error != 0)
		return error;
	/* What tells the two kinds of transfer apart is whether there is an address. */
	if (addr == NULL)
		local = (struct span){.side = c->side, .offset = (uint64_t)loffset, .bytes = len};
	local.c = c;
	error = rma_run(c, &local, (uint64_t)roffset, flags & RMA_FLAGS, read);
	return error == -ENODEV ? -ECONNRESET : error;
}
