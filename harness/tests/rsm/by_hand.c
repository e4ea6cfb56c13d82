/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages without payload, little-endian.
 */
#include "by_hand.h"

#include <endian.h>

#include "pair.h"

uint16_t by_hand_first_port(uint32_t id)
{
	uint64_t z = id + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (uint16_t)(0x4000 + z % 0xc000);
}

struct message by_hand(uint16_t type, uint32_t id)
{
	struct message m = {{htole32(0x314d5352), htole32((uint32_t)type << 16 | 1)}};

	m.word[6] = htole32(id);
	return m;
}

struct message by_hand_connect(uint32_t id, uint32_t permission)
{
	struct message m = by_hand(CONNECT, id);

	m.word[7] = htole32(permission);
	return m;
}

uint16_t by_hand_type(const struct message *m)
{
	return (uint16_t)(le32toh(m->word[1]) >> 16);
}

scif_epd_t by_hand_meet(uint32_t id)
{
	struct scif_portID to = {.port = by_hand_first_port(id)};
	scif_epd_t epd = scif_open();
	uint16_t self;

	pair_must(epd < 0 || scif_get_nodeIDs(NULL, 0, &self) < 0, "scif_open");
	to.node = self;
	pair_must(scif_connect(epd, &to) < 0, "scif_connect");
	return epd;
}

scif_epd_t by_hand_says(uint32_t id, const void *bytes, int length)
{
	scif_epd_t epd = by_hand_meet(id);

	pair_must(scif_send(epd, (void *)(uintptr_t)bytes, length, SCIF_SEND_BLOCK) != length,
		  "scif_send");
	return epd;
}

bool by_hand_hears(scif_epd_t epd, struct message *m)
{
	return scif_recv(epd, m, HEADER, SCIF_RECV_BLOCK) == HEADER;
}
