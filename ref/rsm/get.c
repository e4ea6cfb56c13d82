/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_memseg_import_get and its forms for items of 8 to 64 bits: read from a segment.
 */
#include "transfer.h"

static int get(rsm_memseg_import_handle_t handle, off_t offset, void *data, size_t count,
	       unsigned width)
{
	struct transfer t = {.offset = offset, .data = data, .count = count, .width = width};

	return transfer_call(handle, &t);
}

int rsm_memseg_import_get8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			   ulong_t rep_cnt)
{
	return get(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_get16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			    ulong_t rep_cnt)
{
	return get(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_get32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
			    ulong_t rep_cnt)
{
	return get(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_get64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			    ulong_t rep_cnt)
{
	return get(im_memseg, offset, datap, rep_cnt, sizeof(*datap));
}

int rsm_memseg_import_get(rsm_memseg_import_handle_t im_memseg, off_t offset, void *dst_addr,
			  size_t length)
{
	return get(im_memseg, offset, dst_addr, length, 1);
}
