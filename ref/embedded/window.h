/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows: the registered address spaces of the two ends of a connection, and the memory half of a
 * connection as one process sees it.
 */
#ifndef SCIF_EMBEDDED_WINDOW_H
#define SCIF_EMBEDDED_WINDOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connection.h"
#include "endpoint.h"
#include "lookup.h"
#include "store.h"
#include "tree.h"

enum {
	MEM_STORES = 64, /* per side of a connection: the one of the start and 63 more */
	MEM_MARKS = 512,
};

/* Marks of the transfers of one side. */
struct mem_marks {
	uint64_t issued; /* the last MEM_MARKS are kept */
	uint64_t seq[MEM_MARKS];
};

/* Shared by the processes that hold this side, never by the peer; under conn_lock_mem. */
struct mem_side {
	struct tree_pool pool;
	uint32_t next_id;
	uint32_t windows; /* registered now */
	uint64_t bytes;
	uint64_t
		looked; /* root of the peer's mappings when closed windows were last gone through */
	uint32_t stores;
	struct {
		dev_t dev;
		ino_t ino;
		uint64_t pages;
	} store[MEM_STORES];
	struct mem_marks marks[2];
	/* Who has each of our places for transfers, 0 nobody: the peer can write the places. */
	_Atomic uint32_t flying[MEM_TRANSFERS];
	/* Who fills or writes each signal of a side, likewise. */
	_Atomic uint32_t signing[2][MEM_SIGNALS];
};

struct mem_conn {
	struct tree_place place[2];
	struct lookup lookup[2]; /* in the windows of each side */
	struct mem_side *own;
	_Atomic(struct store *) store[2][MEM_STORES];
	struct store_class class;
	pthread_mutex_t receiving;
	_Atomic uint32_t mappings; /* of this process, through this connection */
	_Atomic uint32_t verified; /* value of `verify` that was acted upon */
	_Atomic uint32_t awaited;  /* mappings that the owner waits for and that are still there */
	uint64_t charged;	   /* pages of windows in the quota of this process */
	uint64_t pass;		   /* of the mapping list's last look */
	bool lingers;		   /* closed here, waits for windows to become free */
	int number; /* of the endpoint when it was closed; siblings still know it so */
	struct conn *next_lingering;
};

/*
 * For every call on a connected endpoint (send and recv too): if the peer waits for offsets that
 * this process has mapped, looks whether the mappings are still there. One load when there is
 * nothing to do.
 */
void mem_attend(struct conn *c);

/*
 * Opens every transfer and fence call: a reference to the endpoint, ep_rma_ready, mem_attend.
 * 0, and the caller ends with ep_put; or the error, and nothing is held.
 */
int mem_enter(scif_epd_t epd, struct ep **ep, struct conn **c);

/* Whether the fixed range is free (-EADDRINUSE); windows that nobody refers to any more go first.
 */
int window_check_free(struct conn *c, uint64_t page, uint64_t pages);

/*
 * Opens a window over the extents (frame, pages, store), at `page` or, when it is WINDOW_ANYWHERE,
 * first fit. The extents' references pass to the window. -EADDRINUSE, -ENOMEM.
 */
#define WINDOW_ANYWHERE UINT64_MAX
int window_open(struct conn *c, const struct extent *extents, size_t count, uint64_t page,
		uint64_t *placed);

/* Closes the windows within the range, all or none. -EINVAL, -ENXIO, -ENOMEM. */
int window_close(struct conn *c, uint64_t page, uint64_t pages);

/* Number of an own store within the connection, sent to the peer when it is new; fd may be -1. */
int window_store_number(struct conn *c, struct store *s, int fd, uint32_t *number);

/* The store behind a number, or NULL. */
struct store *window_store(struct conn *c, int side, uint32_t number);

/* Frees what has become free of connections that are closed here already. */
void window_collect(void);

void window_atfork_prepare(void);
void window_atfork_parent(void);
void window_atfork_child(void);

/* Every process of the peer's side is gone or has closed and unmapped all. */
bool mem_peer_ended(struct conn *c);

/* --- ranges of bytes --- */

/* A range of bytes to copy: in a registered address space, or memory of the caller. */
struct span {
	struct conn *c;
	int side; /* SPAN_MEMORY: at and bytes are all there is */
	uint64_t offset;
	size_t bytes;
	unsigned char *at; /* the first piece, contiguous here */
	size_t piece;
	struct store *store; /* where the piece begins, unless moved on into it */
	uint64_t frame;
};

enum { SPAN_MEMORY = -1 };

/* Finds the first piece and checks that windows with this protection cover all: -ENXIO, -EACCES. */
int span_check(struct span *s, int prot);
/* Finds the first piece, also in a window that has been closed: -ENXIO. */
int span_find(struct span *s);
/* Moves on by n <= piece bytes, into windows that may have been closed since the check. */
int span_advance(struct span *s, size_t n);

#endif
