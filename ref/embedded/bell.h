/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doorbell: bytes on the endpoint's own socket that make it readable while
 * the ring towards it holds data, and not writable while the ring from it is
 * full, so that poll, select and epoll on the descriptor tell the truth. Bytes
 * that a reader inside scif_recv has asked for need none.
 *
 * The queue towards a reader is always empty (nothing to tell of), T (bytes) or
 * T J T (full): T one byte, J a filler large enough to use up a quarter of the
 * send buffer. Nothing is sent or taken off while a ring stays partly filled.
 */
#ifndef SCIF_EMBEDDED_BELL_H
#define SCIF_EMBEDDED_BELL_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"
#include "ring.h"

/* The send buffer that makes the arithmetic work; the kernel doubles it. */
enum { BELL_SEND_BUFFER = 16384, BELL_FILLER_MAX = 16000 };

/* Length of J on this kernel, measured once. */
uint32_t bell_filler(void);

/*
 * After a put, under the send lock. -ENOMEM when the kernel had no memory for
 * the doorbell and the put could be taken back; otherwise 0.
 */
int bell_put(struct conn *c, const struct ring_step *step);
/* After a take, under the receive lock. */
void bell_taken(struct conn *c, const struct ring_step *step);

/* What could not be done at its time. Each under the lock of its direction. */
void bell_flush(struct conn *c);
void bell_settle(struct conn *c);

/* Brings the queue in line with the ring after a holder of the lock died. */
void bell_repair_sender(struct conn *c);
void bell_repair_receiver(struct conn *c);

#endif
