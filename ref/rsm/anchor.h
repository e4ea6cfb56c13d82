/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The anchor: one SCIF connection of the process with itself, there while it has exports. Memory is
 * registered on it when an export is created, so it becomes shareable before anybody computes with
 * it, registering it again for an importer moves nothing, and it stays reachable for relays even if
 * the program unmaps it.
 */
#ifndef RSM_ANCHOR_H
#define RSM_ANCHOR_H

#include <stddef.h>
#include <sys/types.h>

/* Counted, library lock held. 0, or as endpoint_open(), or -EAGAIN: it could not be connected. */
int anchor_use(void);
void anchor_release(void);

/* Between use and release. The window, or -errno of scif_register(). */
off_t anchor_register(void *vaddr, size_t size);
void anchor_unregister(off_t window, size_t size);

/* Copies between a buffer and a window: 0 or -errno. */
int anchor_read(void *to, size_t n, off_t from);
int anchor_write(off_t to, const void *from, size_t n);

void anchor_atfork_child(void);

#endif
