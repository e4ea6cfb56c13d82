/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Window tables: the registered address spaces of the two ends of a connection. A table is a tree
 * whose nodes are never changed once published; a change copies the path and swaps the root, so
 * readers of the other side need no lock and a writer may die at any moment.
 */
#ifndef SCIF_EMBEDDED_WINDOW_H
#define SCIF_EMBEDDED_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct conn;

/*
 * For every call on a connected endpoint (send and recv too): if the peer waits for offsets that
 * this process has mapped, looks whether the mappings are still there. One load when there is
 * nothing to do.
 */
void mem_attend(struct conn *c);

#endif
