/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What memory lies behind a range of addresses.
 */
#ifndef RSM_BACKING_H
#define RSM_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backing {
	/*
	 * Differs for different memory as far as that shows; private anonymous memory all looks
	 * alike.
	 */
	uint64_t print;
	bool shared; /* some of it is a shared mapping */
};

/*
 * Looks a range up that starts and ends at page boundaries. 0 if it may be exported: readable and
 * writable throughout, no shared mapping of a regular file. -EFAULT for a gap or a file, -EACCES
 * without read and write access, -EMFILE or -ENOMEM when there was nothing to look with. Where
 * there is no /proc everything passes.
 */
int backing_look(const void *vaddr, size_t size, struct backing *b);

/* Whether memory that may be exported is there, with this print. */
bool backing_is(const void *vaddr, size_t size, uint64_t print);

#endif
