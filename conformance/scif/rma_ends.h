/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The four transfers seen as one: a remote range in a window of the peer and a local range that is
 * a window of ours for scif_readfrom and scif_writeto and plain memory for scif_vreadfrom and
 * scif_vwriteto.
 */
#ifndef CTS_RMA_ENDS_H
#define CTS_RMA_ENDS_H

#include "far_memory.h"

enum rma_call { RMA_READFROM, RMA_WRITETO, RMA_VREADFROM, RMA_VWRITETO };

struct rma_ends {
	enum rma_call call;
	scif_epd_t epd;
	unsigned char *local; /* pattern 2 at first */
	off_t loffset;
	struct cts_peer_window far; /* pattern 3 at first */
};

bool rma_reads(enum rma_call call);
bool rma_is_registered(enum rma_call call);
/* A connection with `pages` pages on both sides for the clause's parameter `call`. */
struct rma_ends rma_ends_open(size_t pages);
/* The transfer of `len` bytes between these distances from the starts of both ranges. */
struct cts_result rma_transfer(const struct rma_ends *e, size_t local_at, size_t remote_at,
			       size_t len, int flags);
void rma_fence(scif_epd_t epd); /* mark and wait for own transfers */

/* The side that is written, whichever it is. */
void rma_source_fill(const struct rma_ends *e, size_t at, size_t n, unsigned seed, size_t from);
void rma_target_fill(const struct rma_ends *e, size_t at, size_t n, unsigned seed, size_t from);
bool rma_target_is(const struct rma_ends *e, size_t at, size_t n, unsigned seed, size_t from);

#endif
