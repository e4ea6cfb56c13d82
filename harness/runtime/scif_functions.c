/* SPDX-License-Identifier: BSD-2-Clause */
/* Without scif_get_fd, which is inline in the header and has no address to prove. */
#include "functions.h"

#include <stddef.h>

const char *const scif_functions[] = {
	"scif_open",
	"scif_close",
	"scif_bind",
	"scif_listen",
	"scif_connect",
	"scif_accept",
	"scif_send",
	"scif_recv",
	"scif_register",
	"scif_unregister",
	"scif_mmap",
	"scif_munmap",
	"scif_readfrom",
	"scif_writeto",
	"scif_vreadfrom",
	"scif_vwriteto",
	"scif_fence_mark",
	"scif_fence_wait",
	"scif_fence_signal",
	"scif_get_nodeIDs",
	"scif_poll",
	"scif_event_register",
	NULL,
};
