/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One transfer between the caller's memory and an imported segment.
 */
#ifndef RSM_TRANSFER_H
#define RSM_TRANSFER_H

#include "import.h"

struct transfer {
	off_t offset;	/* in the segment, in bytes */
	void *data;	/* the caller's */
	size_t count;	/* items */
	unsigned width; /* bytes of an item: what it is aligned to, and swapped within */
	bool put;
	bool interruptible;
};

/* Checks everything and moves the data: the RSMERR value. */
int transfer_run(struct import *m, const struct transfer *t);

/* The same for the import that a handle names. */
int transfer_call(rsm_memseg_import_handle_t handle, const struct transfer *t);

#endif
