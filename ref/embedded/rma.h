/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers between registered address spaces: CPU copies between mapped stores, announced in the
 * connection block while they are in flight.
 */
#ifndef SCIF_EMBEDDED_RMA_H
#define SCIF_EMBEDDED_RMA_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

/* Marks the number of a transfer that has a place but not its number yet. */
#define TRANSFER_TENTATIVE (UINT64_C(1) << 63)

/*
 * The calls' common part, after the endpoint was looked up: checks flags and ranges, copies.
 * `local` is memory of the caller or a range of the own space; its prot is what the copy needs.
 */
int rma_run(struct conn *c, struct span *local, uint64_t roffset, int flags, bool read);

/* Whether a transfer of either side uses bytes [first, end) of our space. */
bool rma_in_flight(struct conn *c, uint64_t first, uint64_t end);
/* Returns when no transfer that began before uses them. Not interrupted by anything. */
void rma_wait_range(struct conn *c, uint64_t first, uint64_t end);
/* Whether transfers of a side with numbers up to seq are in flight. */
bool rma_pending(struct conn *c, int side, uint64_t seq);
/* Frees the places of transfers whose process of our side was killed. */
void rma_drop_dead(struct conn *c);

/* This process, without a system call. */
uint32_t rma_self(void);
void rma_atfork_child(void);

#endif
