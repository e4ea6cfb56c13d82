/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences: waiting for, and signals after, the transfers that one side has in flight. */
#ifndef SCIF_EMBEDDED_FENCE_H
#define SCIF_EMBEDDED_FENCE_H

#include <stdbool.h>
#include <stdint.h>

struct conn;

/* Writes the signals whose transfers of this side have all finished. */
void fence_deliver(struct conn *c, int side);
/* Whether a signal is still to be written to bytes [first, end) of our space. */
bool fence_refers(struct conn *c, uint64_t first, uint64_t end);
/* Whether any signal is still to be written. */
bool fence_pending(struct conn *c);

#endif
