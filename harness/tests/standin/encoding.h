/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ways in which a SCIF driver wants to be asked, written out by hand: request numbers as
 * literals, structures as bytes at offsets. Nothing here comes from a header of the library or of
 * the stand-in, so that a mistake which both of them make is seen.
 */
#ifndef STANDIN_ENCODING_H
#define STANDIN_ENCODING_H

#include <stddef.h>
#include <stdint.h>

enum request {
	REQUEST_BIND,
	REQUEST_LISTEN,
	REQUEST_CONNECT,
	REQUEST_ACCEPTREQ,
	REQUEST_ACCEPTREG,
	REQUEST_SEND,
	REQUEST_RECV,
	REQUEST_REG,
	REQUEST_UNREG,
	REQUEST_READFROM,
	REQUEST_WRITETO,
	REQUEST_VREADFROM,
	REQUEST_VWRITETO,
	REQUEST_GET_NODEIDS,
	REQUEST_FENCE_MARK,
	REQUEST_FENCE_WAIT,
	REQUEST_FENCE_SIGNAL,
	REQUEST_GET_VERSION,
	REQUESTS
};

struct encoding {
	const char *name;
	const char *device;
	uint32_t code[REQUESTS]; /* 0: the driver does not have it */
	size_t nodeids_nodes;	 /* the one structure whose fields are in another order */
	size_t nodeids_self;
	size_t nodeids_len;
};

/* A request's name, number within the magic, and the size of its structure (0: by value, none). */
struct request_shape {
	const char *name;
	unsigned int number;
	size_t size;
};

extern const struct encoding encoding_knc;
extern const struct encoding encoding_mpss4;
extern const struct request_shape request_shape[REQUESTS];

/* The bytes of one argument. */
struct image {
	size_t size;
	unsigned char byte[40];
};

/* All of it set to a byte that no field has by accident. */
struct image image_of(size_t size);
void image_put(struct image *image, size_t offset, size_t width, uint64_t value);
uint64_t image_get(const struct image *image, size_t offset, size_t width);

#endif
