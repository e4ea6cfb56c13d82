/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closing an endpoint whose peer may be in the middle of a transfer: scif_close() waits for the end
 * of that, and the peer may be stopped. So a thread of its own does it.
 */
#ifndef RSM_CLOSER_H
#define RSM_CLOSER_H

#include <scif.h>

/*
 * Library lock held, dropped meanwhile. Returns when the endpoint is closed, or a moment later;
 * then it is closed when the peer goes on or dies.
 */
void closer_close(scif_epd_t epd);

/* The endpoints that are being closed are closed in the child as well. */
void closer_atfork_child(void);

#endif
