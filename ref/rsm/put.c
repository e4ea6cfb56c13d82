/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_memseg_import_put and its forms for items of 8 to 64 bits: write to a segment.
 */
#include "transfer.h"

static int put(rsm_memseg_import_handle_t handle, off_t offset, void *data, size_t count,
	       unsigned width)
{
	struct transfer t = {
		.offset = offset, .data = data, .count = count, .width = width, .put = true};

	return transfer_call(handle, &t);
}

int rsm_memseg_import_put8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			   ulong_t rep_cnt)
{
	return put(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_put16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			    ulong_t rep_cnt)
{
	return put(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_put32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
			    ulong_t rep_cnt)
{
	return put(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_put64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			    ulong_t rep_cnt)
{
	return put(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_put(rsm_memseg_import_handle_t im_memseg, off_t offset, void *src_addr,
			  size_t length)
{
	return put(im_memseg, offset, src_addr, length, 1);
}
