/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between processes that use librsm: docs/rsm-protocol.md. In memory they have the
 * machine's byte order, on the wire they are little-endian.
 */
#ifndef RSM_WIRE_H
#define RSM_WIRE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	WIRE_MAGIC = 0x314d5352, /* "RSM1" */
	WIRE_VERSION = 1,
	WIRE_SIZE = 64,		 /* of the header */
	WIRE_PAYLOAD_MAX = 32768 /* bytes after the header */
};

enum wire_type {
	/* first message of a connection */
	WIRE_ASK = 1,	   /* claimer -> holder of a port: segment_id, index of the claim */
	WIRE_HOLDER = 2,   /* answer: status 0 the id is not mine, RSMERR_SEGID_IN_USE it is */
	WIRE_CONNECT = 3,  /* importer -> holder: segment_id, permission, uid, gid */
	WIRE_ANSWER = 4,   /* answer: status; if 0 size, offset (window), flags */
	WIRE_WORKING = 11, /* before an ANSWER that takes long: it is being worked at */

	/* exporter -> importer */
	WIRE_REBIND = 5, /* the segment is now in the window at `offset`; answered by DONE */
	WIRE_ABORT = 6,	 /* no access any more; answered by DONE, then the exporter closes */

	/* importer -> exporter, connections with WIRE_RELAY only */
	WIRE_GET = 7, /* offset, size <= WIRE_PAYLOAD_MAX; answered by DONE with the bytes */
	WIRE_PUT = 8, /* offset and payload; answered by DONE */

	/* both ways */
	WIRE_DONE = 9,	 /* answer: serial of the question, status */
	WIRE_SIGNAL = 10 /* size: how many; flags WIRE_NO_ACCUMULATE */
};

enum wire_flags {
	WIRE_BIG_ENDIAN = 1,   /* ANSWER: the exporter's byte order */
	WIRE_RELAY = 2,	       /* ANSWER: no window; GET and PUT */
	WIRE_NO_ACCUMULATE = 4 /* SIGNAL: drop it if one is pending */
};

struct wire_message {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t length; /* bytes of payload that follow */
	uint32_t serial; /* of a question, repeated in its answer */
	uint32_t status; /* an RSMERR value */
	uint32_t flags;
	uint32_t segment_id;
	uint32_t permission;
	uint32_t uid, gid; /* what the importer claims */
	uint32_t index;	   /* place of the asker's port in the sequence */
	uint32_t reserved;
	uint64_t offset;
	uint64_t size;
};

void wire_encode(unsigned char bytes[WIRE_SIZE], const struct wire_message *m);
/* False for what is no message of this version, or announces too much payload. */
bool wire_decode(struct wire_message *m, const unsigned char bytes[WIRE_SIZE]);

#endif
