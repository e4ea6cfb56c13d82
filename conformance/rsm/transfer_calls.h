/* SPDX-License-Identifier: BSD-2-Clause */
/* The ten calls that move data between memory and a segment, by number. */
#ifndef CTS_TRANSFER_CALLS_H
#define CTS_TRANSFER_CALLS_H

#include "parties.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum transfer_call {
	TRANSFER_GET8,
	TRANSFER_GET16,
	TRANSFER_GET32,
	TRANSFER_GET64,
	TRANSFER_GET,
	TRANSFER_PUT8,
	TRANSFER_PUT16,
	TRANSFER_PUT32,
	TRANSFER_PUT64,
	TRANSFER_PUT
};

/* The clause's parameter `call`. */
enum transfer_call transfer_call(void);
bool transfer_reads(enum transfer_call call);
/* Bytes of one item; 1 for blocks. */
size_t transfer_width(enum transfer_call call);
/* The call itself; `bytes` is a multiple of the width. */
int transfer(enum transfer_call call, rsm_memseg_import_handle_t im, size_t offset, void *data,
	     size_t bytes);
/* Turns every item of so many bytes round; blocks and bytes stay as they are. */
void transfer_swap(enum transfer_call call, void *data, size_t bytes);

#endif
