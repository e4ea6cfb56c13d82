/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page stores: sealed sparse memfds whose frames back registered memory, the allocator of their
 * frames (shared with forked children, never with peers), and the views through which this process
 * reaches its own stores and those of its peers.
 */
#ifndef SCIF_EMBEDDED_STORE_H
#define SCIF_EMBEDDED_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "maps.h"

struct conn;

/* --- hooks for the connection code --- */

/* Descriptor of the store to hand to a peer of this user; borrowed; negative errno. */
int mem_store_fd(uid_t peer_uid, bool peer_known);
/*
 * Makes the memory half of a connection and sets c->mem. The peer's store is verified and mapped;
 * its descriptor becomes ours to close, in any case.
 */
int mem_conn_init(struct conn *c, int peer_store_fd);
/* This process closed its end: waits for transfers, drops the windows if no other process holds
 * the end, keeps mappings alive. */
void mem_conn_closed(struct conn *c);
/* Under the lock of a process that died with it. */
void mem_conn_repair(struct conn *c);
/* Of somebody who has waited for transfers for a while. */
void mem_conn_waited(struct conn *c);
void mem_conn_free(struct conn *c);

/* --- stores --- */

enum { PAGE_BYTES = 4096, PAGE_BITS = 12 };

struct frames;

enum store_kind {
	STORE_OWN,    /* made by this process or a parent; frames are handed out */
	STORE_SHARED, /* memory of the application that was shared already */
	STORE_PEER,   /* somebody else's */
};

struct store_class {
	uid_t uid;
	bool known;
	bool secret; /* this process is not dumpable: not shared with anything else */
};

struct store {
	struct store *next;
	enum store_kind kind;
	dev_t dev;
	ino_t ino;
	unsigned char *base; /* the whole file, mapped */
	uint64_t pages;
	_Atomic uint64_t reachable; /* pages from the first on that the mapping lets us touch */
	bool writable;
	int fd;		       /* own stores keep it, and a few of the peers' */
	struct frames *frames; /* own stores */
	struct store_class class;
	bool inherited; /* own: made by a parent; serves the connections that came along */
	unsigned references;
};

struct store_class store_class_of(const struct conn *c);
bool store_class_same(const struct store_class *a, const struct store_class *b);

/* The store that peers of the class get, made if need be. */
int store_own(const struct store_class *class, struct store **store);
/* An own store of the class with this many free frames in a row, made if need be. */
int store_with_room(const struct store_class *class, struct store *preferred, uint64_t pages,
		    struct store **store, uint64_t *frame);

/* Frames come with one reference and no holder. */
int store_take(struct store *s, uint64_t pages, uint64_t *frame);
void store_reference(struct store *s, uint64_t frame, uint64_t pages);
/* Frames without reference are freed once no process can have them mapped. */
void store_release(struct store *s, uint64_t frame, uint64_t pages);
/* This process maps the frames into memory of the application from now on. */
void store_hold(struct store *s, uint64_t frame, uint64_t pages);

/* The store that a mapped area belongs to, own or shared memory; NULL. */
struct store *store_find(const struct area *area, uint64_t pages);
/* Shared memory of the application, opened through its name or an open descriptor. */
int store_open_shared(struct maps *maps, const struct area *area, bool write, struct store **store,
		      int *fd);
/* Somebody else's store; takes the descriptor. */
int store_open_peer(int fd, bool sealed, bool writable, uint64_t pages, struct store **store);
void store_get(struct store *s);
void store_put(struct store *s);

/* Makes the view accessible up to `pages`; -ENOMEM. */
int store_extend(struct store *s, uint64_t pages);

/*
 * Address of frames in the view, or NULL. The view is made accessible as far as it is used, in a
 * few growing steps: the rest of it would be real memory for whoever scans all that is mapped.
 */
static inline unsigned char *store_address(struct store *s, uint64_t frame, uint64_t pages)
{
	uint64_t end = frame + pages;
	if (frame > s->pages || pages > s->pages - frame)
		return NULL;
	/* Relaxed: once set, it was true before the value could be read. */
	if (end > atomic_load_explicit(&s->reachable, memory_order_relaxed) && store_extend(s, end))
		return NULL;
	return s->base + (frame << PAGE_BITS);
}

/* Maps frames over [target, target + pages), whatever is there; flags: 0 or MAP_POPULATE. */
int store_map(const struct store *s, uint64_t frame, uint64_t pages, int prot, void *target,
	      int flags);

/* The own store that an area outside the view shows; single-threaded use only (after fork). */
struct store *store_of_area(const struct area *area);

void store_atfork_prepare(void);
void store_atfork_parent(void);
void store_atfork_child(void);
bool store_any(void);

#endif
