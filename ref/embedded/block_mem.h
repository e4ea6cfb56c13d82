/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory half of the connection block: what one side of a connection tells the other about its
 * windows, its mappings of the other's windows, and its transfers in flight. One struct block_mem
 * per side; only processes of that side write it, apart from the signal table, where either side
 * leaves requests. All zero is the valid initial state. Everything read from it is untrusted: it is
 * copied, then checked.
 */
#ifndef SCIF_EMBEDDED_BLOCK_MEM_H
#define SCIF_EMBEDDED_BLOCK_MEM_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	MEM_TRANSFERS = 64,    /* transfers of one side in flight at once */
	MEM_SIGNALS = 64,      /* fence signals waiting for transfers of one side */
	MEM_NODES_INLINE = 56, /* tree nodes before the first chunk of store frames */
	MEM_CHUNKS = 20,       /* chunk k holds MEM_NODES_INLINE << k nodes */
};

/* A run of pages of a registered address space: part of a window, or a mapping of the peer. */
struct tree_node {
	uint64_t page; /* first page, in the registered address space */
	uint64_t pages;
	uint64_t frame; /* window: first frame in the store */
	uint32_t store; /* window: number of the store within the connection */
	uint32_t id;	/* window: number of the window; mapping: breaks ties */
	uint32_t left, right;
	uint64_t first, end, gap; /* of the subtree: first page, end page, widest hole inside */
	uint32_t made, retired;	  /* lists of the writer */
	uint32_t version;	  /* change that made it */
	uint32_t holder;	  /* mapping: process id of the mapper */
	uint8_t prot;
	uint8_t closed;	    /* unregistered, but still referenced */
	uint8_t any_closed; /* in the subtree */
	uint8_t pad;
};

struct transfer {
	_Atomic uint64_t seq;			   /* 0: free */
	_Atomic uint64_t local_first, local_end;   /* bytes, in the space of this side */
	_Atomic uint64_t remote_first, remote_end; /* bytes, in the space of the other side */
} __attribute__((aligned(64)));

enum { SIGNAL_FREE, SIGNAL_FILLING, SIGNAL_READY, SIGNAL_WRITING };

struct signal_target {
	uint64_t offset, value;
	uint32_t wanted;
	uint32_t side; /* whose registered address space */
};

/* A fence_signal whose marked transfers are not finished yet. */
struct pending_signal {
	_Atomic uint32_t state;
	uint32_t pad;
	uint64_t seq; /* transfers up to this one are marked */
	struct signal_target target[2];
};

struct block_mem {
	/* Roots of the two trees: node number in the low, generation in the high half. */
	_Atomic uint64_t windows __attribute__((aligned(64)));
	_Atomic uint64_t mappings;
	_Atomic uint32_t chunk_frame[MEM_CHUNKS]; /* frames of store 0 that hold chunk k */
	_Atomic uint64_t pid_space;		  /* inode of the side's pid namespace, 0 unknown */
	_Atomic uint32_t
		verify; /* counted up by the *other* side: look whether mappings are gone */

	_Atomic uint64_t started __attribute__((aligned(64))); /* transfers */
	_Atomic uint32_t finished; /* changes when a transfer ends while somebody waits */
	_Atomic uint32_t waiters;
	_Atomic uint32_t signals; /* entries of pending[] in use */

	struct transfer transfer[MEM_TRANSFERS];
	struct pending_signal pending[MEM_SIGNALS];
	struct tree_node node[MEM_NODES_INLINE];
};

#endif
