/* SPDX-License-Identifier: BSD-2-Clause */
/* The ten calls that move data between memory and a segment, by number. */
#include "transfer_calls.h"

enum transfer_call transfer_call(void)
{
	return (enum transfer_call)cts_param("call");
}

bool transfer_reads(enum transfer_call call)
{
	return call <= TRANSFER_GET;
}

size_t transfer_width(enum transfer_call call)
{
	static const size_t widths[] = {1, 2, 4, 8, 1};

	return widths[call % COUNT(widths)];
}

int transfer(enum transfer_call call, rsm_memseg_import_handle_t im, size_t offset, void *data,
	     size_t bytes)
{
	off_t at = (off_t)offset;
	ulong_t items = bytes / transfer_width(call);

	switch (call) {
	case TRANSFER_GET8:
		return rsm_memseg_import_get8(im, at, data, items);
	case TRANSFER_GET16:
		return rsm_memseg_import_get16(im, at, data, items);
	case TRANSFER_GET32:
		return rsm_memseg_import_get32(im, at, data, items);
	case TRANSFER_GET64:
		return rsm_memseg_import_get64(im, at, data, items);
	case TRANSFER_GET:
		return rsm_memseg_import_get(im, at, data, bytes);
	case TRANSFER_PUT8:
		return rsm_memseg_import_put8(im, at, data, items);
	case TRANSFER_PUT16:
		return rsm_memseg_import_put16(im, at, data, items);
	case TRANSFER_PUT32:
		return rsm_memseg_import_put32(im, at, data, items);
	case TRANSFER_PUT64:
		return rsm_memseg_import_put64(im, at, data, items);
	default:
		return rsm_memseg_import_put(im, at, data, bytes);
	}
}

void transfer_swap(enum transfer_call call, void *data, size_t bytes)
{
	size_t width = transfer_width(call);
	unsigned char *p = data;

	for (size_t i = 0; width > 1 && i + width <= bytes; i += width)
		for (size_t low = 0, high = width - 1; low < high; low++, high--) {
			unsigned char byte = p[i + low];

			p[i + low] = p[i + high];
			p[i + high] = byte;
		}
}
