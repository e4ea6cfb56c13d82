/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows, mappings, transfers and fences: one request of the driver per call.
 */
#include <errno.h>
#include <sys/mman.h>

#include "driver.h"
#include "hw.h"

static int status(int result)
{
	return result < 0 ? result : 0;
}

off_t hw_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot, int map_flags)
{
	struct hw_register request = {.addr = (uintptr_t)addr,
				      .len = len,
				      .offset = offset,
				      .prot = prot,
				      .flags = map_flags};
	int error = hw_request(epd, hw_driver()->encoding->reg, &request);

	return error < 0 ? error : request.out_offset;
}

int hw_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	struct hw_unregister request = {.offset = offset, .len = len};

	return status(hw_request(epd, hw_driver()->encoding->unreg, &request));
}

/* The flags of SCIF are mmap's own; the offset is the one in the peer's space. */
int hw_mmap(void **pa, void *addr, size_t len, int prot, int map_flags, scif_epd_t epd,
	    off_t offset)
{
	*pa = mmap(addr, len, prot, map_flags | MAP_SHARED, epd, offset);
	return *pa == MAP_FAILED ? -errno : 0;
}

int hw_munmap(void *addr, size_t len)
{
	return munmap(addr, len) < 0 ? -errno : 0;
}

static int copy(scif_epd_t epd, unsigned number, struct hw_copy request)
{
	return status(hw_request(epd, number, &request));
}

int hw_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return copy(
		epd, hw_driver()->encoding->readfrom,
		(struct hw_copy){
			.loffset = loffset, .len = len, .roffset = roffset, .flags = rma_flags});
}

int hw_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return copy(
		epd, hw_driver()->encoding->writeto,
		(struct hw_copy){
			.loffset = loffset, .len = len, .roffset = roffset, .flags = rma_flags});
}

int hw_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return copy(epd, hw_driver()->encoding->vreadfrom,
		    (struct hw_copy){.addr = (uintptr_t)addr,
				     .len = len,
				     .roffset = roffset,
				     .flags = rma_flags});
}

int hw_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return copy(epd, hw_driver()->encoding->vwriteto,
		    (struct hw_copy){.addr = (uintptr_t)addr,
				     .len = len,
				     .roffset = roffset,
				     .flags = rma_flags});
}

int hw_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	struct hw_fence_mark request = {.flags = flags, .mark = (uintptr_t)mark};

	return status(hw_request(epd, hw_driver()->encoding->fence_mark, &request));
}

int hw_fence_wait(scif_epd_t epd, int mark)
{
	return status(hw_request(epd, HW_FENCE_WAIT, (void *)(intptr_t)mark));
}

int hw_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval, int flags)
{
	struct hw_fence_signal request = {
		.loff = loff, .lval = lval, .roff = roff, .rval = rval, .flags = flags};

	return status(hw_request(epd, hw_driver()->encoding->fence_signal, &request));
}
