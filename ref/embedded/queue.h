/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A look into a listening socket's queue without taking anything out of it.
 */
#ifndef SCIF_EMBEDDED_QUEUE_H
#define SCIF_EMBEDDED_QUEUE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the connector of the oldest request is gone, for the listening socket
 * with this inode; false also when the kernel does not tell (no unix_diag).
 */
bool queue_head_dead(ino_t listener);

#endif
