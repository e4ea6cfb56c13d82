/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The byte ring of one direction. One writer and one reader at a time (each
 * side's lock); the two sides need no lock between them.
 */
#ifndef SCIF_EMBEDDED_RING_H
#define SCIF_EMBEDDED_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

/* What a step did, and what it was the only one to see. */
struct ring_step {
	uint32_t moved;
	bool token; /* put: the reader has to be told of bytes; take: there is no more to tell of */
	bool filler;  /* put: there is no more room; take: there is room again */
	bool sleeper; /* put: the reader sleeps on ring_written */
};

/*
 * Both move at most n bytes and as many as room or data allow, 0 included; after ring_put there are
 * at most `most` in the ring. *seen is what the caller last saw of the other side; it begins with
 * 0. 0, -EFAULT (nothing moved), or -EPROTO: the other side wrote nonsense.
 */
int ring_put(struct ring *r, uint32_t *seen, const void *src, uint32_t n, uint32_t most,
	     struct ring_step *step);
int ring_take(struct ring *r, uint64_t *seen, void *dst, uint32_t n, struct ring_step *step);

/* After a writer was killed: true when it filled the ring and did not come to say so. */
bool ring_refill(struct ring *r);
/* The bytes there, if taking n would empty the ring and take off a doorbell; otherwise 0. */
uint32_t ring_to_empty(struct ring *r, uint64_t seen, uint32_t n);

/* Takes back a put that nobody has read from yet; false when it is too late. */
bool ring_withdraw(struct ring *r, const struct ring_step *step);

/*
 * The reader of an empty ring says that it will take the next n bytes whenever they come: they need
 * no doorbell. false when there are bytes, or a doorbell is under way.
 */
bool ring_want(struct ring *r, uint32_t n);
/* The reader is going to sleep until ring_written changes; false when it has changed. */
bool ring_doze(struct ring *r);
/* The reader takes its word back. Bytes that came meanwhile are there to be taken. */
void ring_unwant(struct ring *r);
/* Ends a sleep of the reader before its time. */
void ring_rouse(struct ring *r);

/* Bytes in the ring; more than RING_CAPACITY when the other side wrote nonsense. */
uint32_t ring_used(const struct ring *r);
/* What the doorbell has told or is about to tell: that there are bytes, that there is no room. */
bool ring_rung(const struct ring *r);
bool ring_full(const struct ring *r);

/* Words to sleep on. */
_Atomic uint32_t *ring_written(struct ring *r);
_Atomic uint32_t *ring_taken(struct ring *r);

#endif
