/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moving a range of private memory of the application into frames of a store, in place and under
 * the feet of its other threads.
 */
#ifndef SCIF_EMBEDDED_RELOCATE_H
#define SCIF_EMBEDDED_RELOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/*
 * Copies the range into the frames and maps them over it, with the same protection. While that
 * goes on, stores of other threads wait, where the kernel lets us hold them back. The memory must
 * not be shared. -EFAULT, -ENOMEM, -EAGAIN. Calls must not overlap each other.
 */
int relocate_in(void *addr, size_t len, int prot, struct store *s, uint64_t frame);

/* The reverse, in a forked child: the range gets private memory with the frames' contents. */
void relocate_out(void *addr, size_t len, int prot, const struct store *s, uint64_t frame);

/* The same for shared memory of which no more is known. */
void relocate_shared(void *addr, size_t len);

void relocate_atfork_child(void);

#endif
