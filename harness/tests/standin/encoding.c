/* SPDX-License-Identifier: BSD-2-Clause */
/* Request numbers of the Knights Corner driver and of its successor, and little-endian images. */
#include "encoding.h"

#include <string.h>

const struct encoding encoding_knc = {
	.name = "knc",
	.device = "/dev/mic/scif",
	.code = {
		[REQUEST_BIND] = 0xc0087301,
		[REQUEST_LISTEN] = 0x40047302,
		[REQUEST_CONNECT] = 0xc0087303,
		[REQUEST_ACCEPTREQ] = 0xc0087304,
		[REQUEST_ACCEPTREG] = 0xc0087305,
		[REQUEST_SEND] = 0xc0087306,
		[REQUEST_RECV] = 0xc0087307,
		[REQUEST_REG] = 0xc0087308,
		[REQUEST_UNREG] = 0xc0087309,
		[REQUEST_READFROM] = 0xc008730a,
		[REQUEST_WRITETO] = 0xc008730b,
		[REQUEST_VREADFROM] = 0xc008730c,
		[REQUEST_VWRITETO] = 0xc008730d,
		[REQUEST_GET_NODEIDS] = 0xc008730e,
		[REQUEST_FENCE_MARK] = 0xc008730f,
		[REQUEST_FENCE_WAIT] = 0xc0047310,
		[REQUEST_FENCE_SIGNAL] = 0xc0087311,
		[REQUEST_GET_VERSION] = 0x00007317,
	},
	.nodeids_nodes = 0,
	.nodeids_len = 8,
	.nodeids_self = 16,
};

const struct encoding encoding_mpss4 = {
	.name = "mpss4",
	.device = "/dev/scif",
	.code = {
		[REQUEST_BIND] = 0xc0087301,
		[REQUEST_LISTEN] = 0x40047302,
		[REQUEST_CONNECT] = 0xc0087303,
		[REQUEST_ACCEPTREQ] = 0xc0107304,
		[REQUEST_ACCEPTREG] = 0xc0087305,
		[REQUEST_SEND] = 0xc0187306,
		[REQUEST_RECV] = 0xc0187307,
		[REQUEST_REG] = 0xc0287308,
		[REQUEST_UNREG] = 0xc0107309,
		[REQUEST_READFROM] = 0xc028730a,
		[REQUEST_WRITETO] = 0xc028730b,
		[REQUEST_VREADFROM] = 0xc028730c,
		[REQUEST_VWRITETO] = 0xc028730d,
		[REQUEST_GET_NODEIDS] = 0xc018730e,
		[REQUEST_FENCE_MARK] = 0xc010730f,
		[REQUEST_FENCE_WAIT] = 0xc0047310,
		[REQUEST_FENCE_SIGNAL] = 0xc0287311,
	},
	.nodeids_nodes = 0,
	.nodeids_self = 8,
	.nodeids_len = 16,
};

const struct request_shape request_shape[REQUESTS] = {
	[REQUEST_BIND] = {"SCIF_BIND", 1, 4},
	[REQUEST_LISTEN] = {"SCIF_LISTEN", 2, 0},
	[REQUEST_CONNECT] = {"SCIF_CONNECT", 3, 8},
	[REQUEST_ACCEPTREQ] = {"SCIF_ACCEPTREQ", 4, 16},
	[REQUEST_ACCEPTREG] = {"SCIF_ACCEPTREG", 5, 8},
	[REQUEST_SEND] = {"SCIF_SEND", 6, 24},
	[REQUEST_RECV] = {"SCIF_RECV", 7, 24},
	[REQUEST_REG] = {"SCIF_REG", 8, 40},
	[REQUEST_UNREG] = {"SCIF_UNREG", 9, 16},
	[REQUEST_READFROM] = {"SCIF_READFROM", 10, 40},
	[REQUEST_WRITETO] = {"SCIF_WRITETO", 11, 40},
	[REQUEST_VREADFROM] = {"SCIF_VREADFROM", 12, 40},
	[REQUEST_VWRITETO] = {"SCIF_VWRITETO", 13, 40},
	[REQUEST_GET_NODEIDS] = {"SCIF_GET_NODEIDS", 14, 24},
	[REQUEST_FENCE_MARK] = {"SCIF_FENCE_MARK", 15, 16},
	[REQUEST_FENCE_WAIT] = {"SCIF_FENCE_WAIT", 16, 0},
	[REQUEST_FENCE_SIGNAL] = {"SCIF_FENCE_SIGNAL", 17, 40},
	[REQUEST_GET_VERSION] = {"SCIF_GET_VERSION", 23, 0},
};

struct image image_of(size_t size)
{
	struct image image = {.size = size};

	memset(image.byte, 0x5a, sizeof image.byte);
	return image;
}

void image_put(struct image *image, size_t offset, size_t width, uint64_t value)
{
	for (size_t i = 0; i < width; i++)
		image->byte[offset + i] = (unsigned char)(value >> (8 * i));
}

uint64_t image_get(const struct image *image, size_t offset, size_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)image->byte[offset + i] << (8 * i);
	return value;
}
