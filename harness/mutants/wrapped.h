/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libscif that passes every call on to the next libscif of the process.  A mutant defines the
 * calls that it gets wrong and reaches the right ones through these pointers.
 */
#ifndef CTS_MUTANTS_WRAPPED_H
#define CTS_MUTANTS_WRAPPED_H

#include "scif.h"
#include "scif_event.h"

/* The calls of the wrapped library, found when the mutant is loaded. */
struct wrapped {
	__typeof__(&scif_open) open;
	__typeof__(&scif_bind) bind;
	__typeof__(&scif_listen) listen;
	__typeof__(&scif_connect) connect;
	__typeof__(&scif_accept) accept;
	__typeof__(&scif_close) close;
	__typeof__(&scif_send) send;
	__typeof__(&scif_recv) recv;
	__typeof__(&scif_register) reg;
	__typeof__(&scif_unregister) unreg;
	__typeof__(&scif_mmap) mmap;
	__typeof__(&scif_munmap) munmap;
	__typeof__(&scif_readfrom) readfrom;
	__typeof__(&scif_writeto) writeto;
	__typeof__(&scif_vreadfrom) vreadfrom;
	__typeof__(&scif_vwriteto) vwriteto;
	__typeof__(&scif_fence_mark) fence_mark;
	__typeof__(&scif_fence_wait) fence_wait;
	__typeof__(&scif_fence_signal) fence_signal;
	__typeof__(&scif_get_nodeIDs) get_nodeIDs;
	__typeof__(&scif_poll) poll;
	__typeof__(&scif_event_register) event_register;
};

extern struct wrapped wrapped __attribute__((visibility("hidden")));

/* Called once the calls are found, so that a mutant may replace some of them in the table. */
void wrapped_found(void) __attribute__((visibility("hidden")));

#endif
