/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process found in a tree of windows, for when it looks there again: with many windows the
 * way down a tree costs more than a small transfer. An entry is good as long as the root is the one
 * that it was found under. Any thread may look and leave an entry at any time, without a lock.
 */
#ifndef SCIF_EMBEDDED_LOOKUP_H
#define SCIF_EMBEDDED_LOOKUP_H

#include "tree.h"

/* All zero is empty. */
struct lookup {
	_Atomic(struct lookup_table *) newest; /* larger than the ones before it */
	_Atomic uint32_t replaced;	       /* good entries, since then */
};

bool lookup_get(struct lookup *l, uint64_t root, uint64_t page, struct extent *e);
void lookup_put(struct lookup *l, uint64_t root, uint64_t page, const struct extent *e);
/* lookup_get for this page will follow. */
void lookup_soon(struct lookup *l, uint64_t page);
void lookup_free(struct lookup *l);

#endif
