/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages that are not there yet: whoever touches them, from user code or inside a system call,
 * sleeps until they are released. Made with userfaultfd in missing mode.
 */
#ifndef CTS_HELD_H
#define CTS_HELD_H

#include <stddef.h>

struct held_page {
	int uffd;
	void *addr;
	size_t len;
};

int held_open(struct held_page *h, size_t len);	      /* whole pages; 0, or a negative errno */
/* The same, but only the first `held` bytes are held back. */
int held_open_start(struct held_page *h, size_t held, size_t len);
int held_release(struct held_page *h, unsigned seed); /* they arrive with that pattern */
void held_close(struct held_page *h);		      /* releases sleepers with a zero page */

#endif
