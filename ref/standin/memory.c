/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's windows and mappings: its checks, in its order.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "libc.h"
#include "mapping.h"
#include "pin.h"
#include "scif.h"
#include "standin.h"
#include "window.h"

/* Windows at fixed offsets end here. */
static const uint64_t FIXED_END = UINT64_C(1) << 62;
/* More pages than the driver finds memory for to describe them. */
static const uint64_t DESCRIBABLE = UINT64_C(1) << 40;

int driver_ready(struct ep *ep, struct conn **c)
{
	int error = ep_connection(ep, c);

	if (error != 0)
		return error;
	/* A lost node has disconnected its endpoints. */
	if (conn_alive(*c) != 0)
		return -ECONNRESET;
	mem_attend(*c);
	return 0;
}

/* --- windows --- */

static int check_register(const void *addr, size_t len, off_t offset, int prot, int flags)
{
	if (flags & ~SCIF_MAP_FIXED || prot & ~(SCIF_PROT_READ | SCIF_PROT_WRITE))
		return -EINVAL;
	if (len == 0 || len % PAGE_BYTES || (uintptr_t)addr % PAGE_BYTES)
		return -EINVAL;
	if (!(flags & SCIF_MAP_FIXED))
		return 0;
	if (offset % PAGE_BYTES || offset < 0 || len > (uint64_t)INT64_MAX - (uint64_t)offset)
		return -EINVAL;
	return 0;
}

static int check_fixed(struct conn *c, uint64_t offset, size_t len)
{
	if (offset >= FIXED_END || len > FIXED_END - offset)
		return -EADDRINUSE;
	return window_check_free(c, offset >> PAGE_BITS, len >> PAGE_BITS);
}

static off_t open_window(struct conn *c, void *addr, size_t len, uint64_t page, int prot)
{
	struct pinned pinned;
	uint64_t placed;
	int error = pin_range(c, addr, len, prot, &pinned);

	if (error != 0)
		return error;
	error = window_open(c, pinned.extents, pinned.count, page, &placed);
	if (error != 0) {
		pin_undo(c, &pinned);
		return error;
	}
	free(pinned.extents);
	return (off_t)(placed << PAGE_BITS);
}

off_t driver_register(struct ep *ep, void *addr, size_t len, off_t offset, int prot, int flags)
{
	bool fixed = flags & SCIF_MAP_FIXED;
	struct conn *c;
	off_t result = check_register(addr, len, offset, prot, flags);

	if (result == 0)
		result = driver_ready(ep, &c);
	if (result != 0)
		return result;
	/* To a driver all memory is alike, whoever the peer is. */
	c->same_class = true;
	room_enter();
	mapping_verify_wanted();
	window_collect();
	if (fixed)
		result = check_fixed(c, (uint64_t)offset, len);
	if (result == 0 && len >= DESCRIBABLE)
		result = -ENOMEM;
	if (result == 0)
		result = open_window(c, addr, len,
				     fixed ? (uint64_t)offset >> PAGE_BITS : WINDOW_ANYWHERE, prot);
	room_leave();
	/* What the fabric cannot take in although a driver could is a shortage as well. */
	return result == -EAGAIN ? -ENOMEM : result == -ENODEV ? -ECONNRESET : result;
}

int driver_unregister(struct ep *ep, off_t offset, size_t len)
{
	struct conn *c;
	int error;

	if (len == 0 || len % PAGE_BYTES || offset % PAGE_BYTES || len > INT64_MAX ||
	    (offset >= 0 && len > (uint64_t)INT64_MAX - (uint64_t)offset))
		return -EINVAL;
	error = driver_ready(ep, &c);
	if (error != 0)
		return error;
	if (offset < 0)
		return -ENXIO;
	mapping_verify_wanted();
	window_collect();
	return window_remove_range(c, (uint64_t)offset >> PAGE_BITS, len >> PAGE_BITS);
}

/* --- mappings --- */

/* What the kernel checks before it asks a driver: tried on memory that may be mapped likewise. */
static int check_by_kernel(void *addr, size_t len, int prot, int flags, off_t offset)
{
	uint64_t last = UINT64_MAX - len;
	int fd;
	void *place;
	int error = 0;

	if (offset % PAGE_BYTES)
		return -EINVAL;
	if (len > 0 &&
	    (len > UINT64_MAX - PAGE_BYTES || (uint64_t)offset >> PAGE_BITS > last >> PAGE_BITS))
		return len > UINT64_MAX - PAGE_BYTES ? -ENOMEM : -EOVERFLOW;
	if (flags & MAP_FIXED && (uintptr_t)addr % PAGE_BYTES)
		return -EINVAL;
	room_enter();
	fd = memfd_create("scif-standin", MFD_CLOEXEC);
	room_leave();
	if (fd < 0)
		return -ENOMEM;
	place = libc_mmap(NULL, len, prot & (PROT_READ | PROT_WRITE | PROT_EXEC),
			  flags & ~(MAP_FIXED | MAP_POPULATE | MAP_LOCKED), fd, 0);
	if (place == MAP_FAILED)
		error = -errno;
	else
		libc_munmap(place, len);
	libc_close(fd);
	return error;
}

static int check_range(struct conn *c, off_t offset, size_t len, int prot)
{
	struct span s = {.c = c, .side = !c->side, .offset = (uint64_t)offset, .bytes = len};

	return span_check(&s, prot & (SCIF_PROT_READ | SCIF_PROT_WRITE));
}

int driver_map(struct ep *ep, void **place, void *addr, size_t len, int prot, int flags,
	       off_t offset)
{
	size_t pages = (len + PAGE_BYTES - 1) & -(size_t)PAGE_BYTES;
	struct conn *c;
	int error = check_by_kernel(addr, len, prot, flags, offset);

	if (error == 0)
		error = driver_ready(ep, &c);
	if (error != 0)
		return error;
	mapping_verify_wanted();
	window_collect();
	/* Before the mapping is announced, which would keep an unregistered window there. */
	error = check_range(c, offset, pages, prot);
	if (error != 0)
		return error;
	/* A protection without meaning to the windows has one to the processor. */
	error = mapping_make(c, (uint64_t)offset, pages, prot & (SCIF_PROT_READ | SCIF_PROT_WRITE),
			     addr, flags & MAP_FIXED, place);
	return error == -ENODEV ? -ECONNRESET : error;
}
