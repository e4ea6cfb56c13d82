/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees of page runs in memory that both ends of a connection see: a side's windows, and its
 * mappings of the other side's windows. A published node never changes; a writer copies the path
 * down to its change and swaps the root. So readers need no lock, see every window whole or not at
 * all, and a writer may be killed at any instruction. Both trees of a side share one pool of nodes:
 * some in the block, the rest in frames of the side's first store, which the peer has mapped.
 *
 * The memory can be written by the peer: node numbers are checked at every step and walks are
 * bounded, so that nonsense in it ends in an error and never outside the pool.
 */
#ifndef SCIF_EMBEDDED_TREE_H
#define SCIF_EMBEDDED_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "block_mem.h"

struct store;

/* The pool as the processes of its own side keep it, out of the peer's reach. */
struct tree_pool {
	uint32_t free;	 /* list of nodes, linked by `made` */
	uint32_t fresh;	 /* nodes never used begin here */
	uint32_t chunks; /* chunk 0 is in the block */
};

/* Where a tree is: the block's half of a side, and that side's first store. */
struct tree_place {
	struct block_mem *mem;
	struct store *store;
};

/* A part of a window, or a mapping, copied out of a tree. */
struct extent {
	uint64_t page, pages, frame;
	uint32_t store, id, holder;
	uint8_t prot, closed;
};

/* --- reading, from either side --- */

/* The extent that contains the page, or else the next one above. */
bool tree_next(const struct tree_place *place, _Atomic uint64_t *root, uint64_t page,
	       struct extent *extent);
/* The same, and how the extent was found. */
struct tree_way {
	uint64_t root;
	int nodes; /* met on the way down */
};
bool tree_find(const struct tree_place *place, _Atomic uint64_t *root, uint64_t page,
	       struct extent *extent, struct tree_way *way);
/* The first closed extent that ends behind `page`. */
bool tree_next_closed(const struct tree_place *place, _Atomic uint64_t *root, uint64_t page,
		      struct extent *extent);
struct tree_search {
	uint64_t first, end;
	bool (*counts)(const struct extent *e);
};
/* Whether an extent overlaps the range that counts; extents may overlap each other. True as well
 * when that cannot be told. */
bool tree_overlap(const struct tree_place *place, _Atomic uint64_t *root,
		  const struct tree_search *search);

/* --- writing, under the side's lock --- */

struct tree_change {
	const struct tree_place *place;
	struct tree_pool *pool;
	_Atomic uint64_t *root;
	uint32_t top; /* root of the version being made */
	uint32_t version;
	uint32_t made, retired;
	int error;
};

void tree_begin(struct tree_change *t, const struct tree_place *place, struct tree_pool *pool,
		_Atomic uint64_t *root);
void tree_insert(struct tree_change *t, const struct extent *extent);
/* Removes or marks closed the extent that begins at `page` with this id. */
void tree_remove(struct tree_change *t, uint64_t page, uint32_t id);
void tree_close(struct tree_change *t, uint64_t page, uint32_t id);
/* Publishes the new version; on error (-ENOMEM, -ECONNRESET) nothing has changed. */
int tree_commit(struct tree_change *t);

/* Lowest page >= base with a hole of this many pages below limit; false when there is none. */
bool tree_fit(struct tree_change *t, uint64_t base, uint64_t limit, uint64_t pages, uint64_t *page);

#endif
