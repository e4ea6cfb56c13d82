/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What memory lies behind a range of addresses.
 */
#ifndef RSM_BACKING_H
#define RSM_BACKING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Looks a range up that starts and ends at page boundaries. 0 if it may be exported: readable and
 * writable throughout, no shared mapping of a regular file. Then *print differs for different
 * memory as far as that shows (private anonymous memory all looks alike). -EFAULT for a gap or a
 * file, -EACCES without read and write access, -EMFILE or -ENOMEM when there was nothing to look
 * with. Where there is no /proc everything passes.
 */
int backing_look(const void *vaddr, size_t size, uint64_t *print);

#endif
