/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer of a librsm process, played by hand: ports and messages are made from
 * docs/rsm-protocol.md, not by the library.
 */
#ifndef RSM_TESTS_BY_HAND_H
#define RSM_TESTS_BY_HAND_H

#include <scif.h>
#include <stdbool.h>
#include <stdint.h>

enum { HEADER = 64 };
enum { ASK = 1, HOLDER, CONNECT, ANSWER, REBIND, ABORT, GET, PUT, DONE, SIGNAL, WORKING };

struct message {
	uint32_t word[HEADER / 4];
};

uint16_t by_hand_first_port(uint32_t id);

struct message by_hand(uint16_t type, uint32_t id);
struct message by_hand_connect(uint32_t id, uint32_t permission);
uint16_t by_hand_type(const struct message *m);

/* A connection to the first port of an id on the own node, with the first bytes of a message. */
scif_epd_t by_hand_meet(uint32_t id);
scif_epd_t by_hand_says(uint32_t id, const void *bytes, int length);

/* Waits for a message; false: the connection has ended. */
bool by_hand_hears(scif_epd_t epd, struct message *m);

#endif
