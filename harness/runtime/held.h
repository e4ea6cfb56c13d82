/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page that is not there yet: whoever touches it, from user code or inside a system call, sleeps
 * until it is released. Made with userfaultfd in missing mode.
 */
#ifndef CTS_HELD_H
#define CTS_HELD_H

#include <stddef.h>

struct held_page {
	int uffd;
	void *addr;
	size_t len;
};

int held_open(struct held_page *h);		      /* 0, or a negative errno */
int held_release(struct held_page *h, unsigned seed); /* the page arrives with that pattern */
void held_close(struct held_page *h);		      /* releases sleepers with a zero page */

#endif
