/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection block: one sealed memfd mapped by both sides of a connection.
 * Everything in it may be written by the other side at any time, so a reader
 * copies a value once and checks the copy. Locks and everything else that must
 * not be reachable for the peer live in struct conn_side (connection.h).
 */
#ifndef SCIF_EMBEDDED_BLOCK_H
#define SCIF_EMBEDDED_BLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "block_mem.h"

#define BLOCK_MAGIC   0x53434246u
#define BLOCK_VERSION 2u

#define RING_BYTES 4096u
/* One byte is kept free: 4095 bytes fit, as on the card. */
#define RING_CAPACITY (RING_BYTES - 1)

/* Index of a side in every two-element array of the block. */
enum block_side_index { SIDE_CONNECTOR = 0, SIDE_ACCEPTOR = 1 };

enum block_side_state {
	BLOCK_SIDE_NONE = 0,   /* this side has not joined yet */
	BLOCK_SIDE_JOINED = 1, /* connector: request made; acceptor: accepted */
	BLOCK_SIDE_CLOSED = 2, /* the last holder called scif_close */
};

struct block_side {
	_Alignas(64) _Atomic uint32_t state; /* enum block_side_state, a futex word */
	uint16_t node;
	uint16_t port;
	uint32_t incarnation; /* of its node when the connection was made */
	uint32_t filler;      /* length of the doorbell's filler J in bytes */
};

/*
 * Each word is moved on by one side, and carries the marks by which both sides agree who has seen
 * the ring become non-empty, full, empty, or get room: each of these is one compare-and-swap, seen
 * by exactly one party. A process killed at any instruction leaves a consistent ring.
 */
struct ring {
	_Alignas(64) _Atomic uint64_t head; /* bytes written modulo 2^32, and enum ring_head */
	_Alignas(64) _Atomic uint64_t tail; /* bytes taken modulo 2^32, and enum ring_tail */
	_Alignas(64) unsigned char data[RING_BYTES];
};

#define RING_COUNT 0xffffffffull

enum ring_head_shift { RING_WANT_SHIFT = 32 };
/* How many more bytes the reader takes without being told of them. */
#define RING_WANT   (0xfffull << RING_WANT_SHIFT)
#define RING_RUNG   (1ull << 48) /* the doorbell tells of the bytes in the ring */
#define RING_ASLEEP (1ull << 49) /* the reader sleeps on the count of this word */

#define RING_FULL     (1ull << 32) /* the doorbell tells that there is no room */
#define RING_TAKEBACK (1ull << 33) /* the writer takes back what it wrote last */
/* Changes with each taking back, which would go unnoticed otherwise. */
#define RING_TAKEBACKS	   (0xffffull << 48)
#define RING_TAKEBACKS_ONE (1ull << 48)

struct block {
	uint32_t magic;
	uint32_t version;
	uint64_t size;
	struct block_side side[2];
	struct ring ring[2]; /* ring[s] carries what side s sends */
	_Alignas(4096) struct block_mem mem[2];
};

#endif
