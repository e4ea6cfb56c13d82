/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinning: turning a range of application memory into frames of stores that the peer of a
 * connection can reach.
 */
#ifndef SCIF_EMBEDDED_PIN_H
#define SCIF_EMBEDDED_PIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree.h"

struct conn;

struct pinned {
	struct extent *extents; /* to be freed */
	size_t count, room;
};

/*
 * All of the range or nothing. -EFAULT: not there, not writable though prot asks for it, or a
 * mapping of remote memory; -EAGAIN: over quota, in a store of another class of peers, or shared
 * memory whose file cannot be opened; -ENOMEM.
 */
int pin_range(struct conn *c, void *addr, size_t len, int prot, struct pinned *p);
/* Gives up what pin_range took. */
void pin_undo(struct conn *c, struct pinned *p);

/* Whether memory of the application that was moved into a store lies in the range. */
bool pin_is_ours(uintptr_t start, uintptr_t end);

void pin_atfork_prepare(void);
void pin_atfork_parent(void);
void pin_atfork_child(void);
/* In a forked child: private copies of all that is registered. */
void pin_copy_all(void);

#endif
