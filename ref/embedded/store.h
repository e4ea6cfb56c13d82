/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page stores: sealed sparse memfds whose frames back registered memory, the allocator of their
 * frames (shared with forked children, never with peers), and the views through which this process
 * reaches its own stores and those of its peers.
 */
#ifndef SCIF_EMBEDDED_STORE_H
#define SCIF_EMBEDDED_STORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct conn;

/* --- hooks for the connection code --- */

/* Descriptor of the store to hand to a peer of this user; borrowed; negative errno. */
int mem_store_fd(uid_t peer_uid, bool peer_known);
/*
 * Makes the memory half of a connection; store_fd is what was handed out, the peer's store becomes
 * ours to close, in any case. Sets c->mem.
 */
int mem_conn_init(struct conn *c, int peer_store_fd);
/* This process closed its end: waits for transfers, drops the windows if no other process holds
 * the end, keeps mappings alive. */
void mem_conn_closed(struct conn *c);
void mem_conn_free(struct conn *c);

/* --- own stores --- */

enum { PAGE_BYTES = 4096, PAGE_BITS = 12 };

struct store_frames; /* allocator state, shared with forked children */

/* A file of pages mapped as a whole; the descriptor is kept only for own stores. */
struct store {
	struct store *next;
	dev_t dev;
	ino_t ino;
	unsigned char *base;
	uint64_t pages;
	int fd;                      /* -1: somebody else's */
	struct store_frames *frames; /* NULL: somebody else's */
	uid_t uid;                   /* own: the class of peers that may see it */
	bool private_class;          /* own: made while this process was not dumpable */
	bool inherited;              /* own: made by a parent */
	unsigned references;
};

#endif
