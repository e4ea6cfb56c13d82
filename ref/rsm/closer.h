/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closing an endpoint whose peer may be in the middle of a transfer: scif_close() waits for the end
 * of that, and the peer may be stopped, or lie. So it is an errand.
 */
#ifndef RSM_CLOSER_H
#define RSM_CLOSER_H

#include <scif.h>

#include "endpoint.h"
#include "errand.h"

struct closing {
	struct errand errand;
	struct endpoint_closing endpoint;
	struct closing *next;
	const void *owner;		   /* for whom it is; NULL: nobody waits for it */
	void (*closed)(struct closing *c); /* may free it */
};

/*
 * Library lock held, not dropped. The endpoint is closed when the peer lets it be; then `closed` is
 * called with the lock held, perhaps before the return.
 */
void closer_close(struct closing *c, scif_epd_t epd, const void *owner,
		  void (*closed)(struct closing *c));

/* Lock held, dropped meanwhile: until none of the owner's is left, or the deadline. */
void closer_await(const void *owner, uint64_t deadline_ns);
/* Nobody waits for the owner's any more. */
void closer_disown(const void *owner);

/* The endpoints that are being closed are closed in the child as well. */
void closer_atfork_child(void);

#endif
