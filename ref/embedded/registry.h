/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry: one memfd named scif-proc per process that describes its endpoints, indexed by
 * descriptor, for scif-fabric to read through /proc/PID/fd.  Only the owner writes it; it is
 * information, nothing in the library depends on it.
 */
#ifndef EMBEDDED_REGISTRY_H
#define EMBEDDED_REGISTRY_H

#include <stdint.h>
#include <sys/types.h>

#define REGISTRY_NAME "scif-proc"
enum { REGISTRY_MAGIC = 0x53434650, REGISTRY_VERSION = 1 };

struct registry_entry {
	uint64_t inode; /* of the descriptor, so that a reused number is not taken for the endpoint
			 */
	uint32_t state; /* enum ep_state */
	uint16_t node;
	uint16_t port; /* 0: none */
	uint16_t peer_node;
	uint16_t peer_port; /* 0: none */
	uint32_t windows;   /* registered windows; kept by registry_windows() */
	uint64_t bytes;	    /* their total length */
};

/* Shape of the memfd: a header, then one slot per descriptor number. */
struct registry_header {
	uint32_t magic;
	uint32_t version;
	uint32_t pid; /* of the writer */
	uint32_t node;
	uint32_t capacity;     /* slots */
	uint32_t reserved[11]; /* a slot does not straddle cache lines */
};

struct registry_slot {
	uint32_t used;
	uint32_t sequence; /* odd while the entry is being written */
	struct registry_entry entry;
	uint8_t reserved[24];
};

int registry_init(void);

/* Sets state, names and inode of a descriptor; the window counts of the same inode are kept. */
void registry_endpoint(int fd, const struct registry_entry *entry);
void registry_windows(int fd, uint32_t windows, uint64_t bytes);
void registry_remove(int fd);

/* atfork child: the child writes a registry of its own, made at its next registry call. */
void registry_forked(void);

#endif
