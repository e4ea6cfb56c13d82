/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a message to bytes and back.
 */
#include "wire.h"

#include <endian.h>
#include <string.h>

static void put32(unsigned char *bytes, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
}

static void put64(unsigned char *bytes, uint64_t value)
{
	value = htole64(value);
	memcpy(bytes, &value, sizeof(value));
}

static uint32_t get32(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

void wire_encode(unsigned char bytes[WIRE_SIZE], const struct wire_message *m)
{
	put32(bytes, WIRE_MAGIC);
	put32(bytes + 4, (uint32_t)m->type << 16 | WIRE_VERSION);
	put32(bytes + 8, m->length);
	put32(bytes + 12, m->serial);
	put32(bytes + 16, m->status);
	put32(bytes + 20, m->flags);
	put32(bytes + 24, m->segment_id);
	put32(bytes + 28, m->permission);
	put32(bytes + 32, m->uid);
	put32(bytes + 36, m->gid);
	put32(bytes + 40, m->index);
	put32(bytes + 44, 0);
	put64(bytes + 48, m->offset);
	put64(bytes + 56, m->size);
}

bool wire_decode(struct wire_message *m, const unsigned char bytes[WIRE_SIZE])
{
	*m = (struct wire_message){
		.magic = get32(bytes),
		.version = (uint16_t)get32(bytes + 4),
		.type = (uint16_t)(get32(bytes + 4) >> 16),
		.length = get32(bytes + 8),
		.serial = get32(bytes + 12),
		.status = get32(bytes + 16),
		.flags = get32(bytes + 20),
		.segment_id = get32(bytes + 24),
		.permission = get32(bytes + 28),
		.uid = get32(bytes + 32),
		.gid = get32(bytes + 36),
		.index = get32(bytes + 40),
		.offset = get64(bytes + 48),
		.size = get64(bytes + 56),
	};
	return m->magic == WIRE_MAGIC && m->version == WIRE_VERSION &&
	       m->length <= WIRE_PAYLOAD_MAX;
}
