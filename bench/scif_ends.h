/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections between driver and partner, by public calls only. */
#ifndef BENCH_SCIF_ENDS_H
#define BENCH_SCIF_ENDS_H

#include <scif.h>

#include "bench.h"

/* A listening endpoint of the partner, which the driver is told of; for both sides. */
struct scif_listener {
	scif_epd_t epd; /* the partner's */
	struct scif_portID address;
};
void scif_listener_open(const struct pair *pair, struct scif_listener *listener, int backlog);

/* COUNT connected endpoints; for both sides. */
void scif_ends_open(const struct pair *pair, scif_epd_t *epds, unsigned count);

/* The offset of a window on the partner's memory, for the driver. */
off_t scif_window_of_partner(const struct pair *pair, scif_epd_t epd, void *pages, size_t length);

#endif
