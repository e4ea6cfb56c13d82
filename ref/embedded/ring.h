/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte ring of one direction. One writer and one reader at a time (each
 * side's lock); the two sides need no lock between them.
 */
#ifndef SCIF_EMBEDDED_RING_H
#define SCIF_EMBEDDED_RING_H

#include <stdint.h>

#include "block.h"

/* What a step did to the ring, as the only party that can have seen it. */
struct ring_step {
	uint32_t moved;
	uint32_t before, after; /* bytes in the ring around the step */
};

/*
 * Both move at most n bytes and as many as room or data allow, 0 included.
 * 0, -EFAULT (nothing moved), or -EPROTO: the other side wrote nonsense.
 */
int ring_put(struct ring *r, const void *src, uint32_t n, struct ring_step *step);
int ring_take(struct ring *r, void *dst, uint32_t n, struct ring_step *step);

/* Takes back a put that nobody has read from yet: 1, or 0 when it is too late. */
int ring_withdraw(struct ring *r, const struct ring_step *step);

/* Bytes in the ring; more than RING_CAPACITY when the other side wrote nonsense. */
uint32_t ring_used(const struct ring *r);

#endif
