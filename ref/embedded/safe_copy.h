/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Touching memory that the caller named. A fault inside these routines, and
 * only there, ends them with -EFAULT instead of a signal.
 */
#ifndef SCIF_EMBEDDED_SAFE_COPY_H
#define SCIF_EMBEDDED_SAFE_COPY_H

#include <stddef.h>

/*
 * Copies ascending; on -EFAULT a part may have been written. 2, 4 or 8 bytes that are aligned on
 * both sides move in one access, so nobody sees half of them.
 */
int safe_copy(void *dst, const void *src, size_t n);

/* One load, or one atomic "or 0", in every page that [p, p+n) touches; wrap-around is -EFAULT. */
int safe_probe_read(const void *p, size_t n);
int safe_probe_write(void *p, size_t n);
/*
 * The same for memory that the caller is about to overwrite as a whole, with a load and a store,
 * which is faster: what another thread writes there meanwhile would be lost anyway.
 */
int safe_probe_overwrite(void *p, size_t n);

/* fork: nobody is at work on the handlers while it happens. */
void safe_copy_atfork_prepare(void);
void safe_copy_atfork_parent(void);
void safe_copy_atfork_child(void);

/* Puts our fault handler in place, or back on top when the application replaced it. Idempotent. */
void safe_copy_install(void);

#endif
