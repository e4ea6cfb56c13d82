/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting awake: whether it is worth while is learned from how it went before. A wait that was
 * awaited in time allows longer ones, one in vain shorter ones, down to none but for a try now and
 * then. A machine with one processor never waits awake.
 */
#ifndef SCIF_EMBEDDED_PATIENCE_H
#define SCIF_EMBEDDED_PATIENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct patience {
	uint32_t spent;	   /* waits in vain, less those that were not; each halves the time */
	uint32_t skipping; /* waits not to be tried */
};

/*
 * Waits until the count has moved away from seen by least, until the time that patience allows is
 * up, longest (ns) at most, or until *stop. True when it has moved at all.
 */
bool patience_wait(struct patience *p, const _Atomic uint32_t *count, uint32_t seen, uint32_t least,
		   uint32_t longest, const _Atomic bool *stop);

#endif
