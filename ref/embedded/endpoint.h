/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints: what a descriptor number means to this process. An endpoint is an
 * AF_UNIX stream socket from scif_open to scif_close; several numbers (dup) may
 * name the same one.
 */
#ifndef SCIF_EMBEDDED_ENDPOINT_H
#define SCIF_EMBEDDED_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "connection.h"
#include "scif.h"

enum ep_state {
    EP_UNBOUND,
    EP_BOUND,
    EP_LISTENING,
    EP_CONNECTING,
    EP_CONNECTED,
    EP_DISCONNECTED
};

struct ep;

/*
 * Takes a reference. 0, -EBADF (number not open), -ENOTTY (open, no endpoint).
 * On a connected endpoint this costs no lock, and a system call only when the
 * kernel was not asked for 50 us.
 */
int ep_get(scif_epd_t epd, struct ep **ep);
void ep_put(struct ep *ep);

/*
 * The check that opens every RMA, window and fence call: disconnected
 * -ECONNRESET, not connected -ENOTCONN, node lost -ENODEV, else 0. The
 * connection is valid as long as the endpoint reference is held; conn_get it
 * to keep it longer.
 */
int ep_rma_ready(struct ep *ep, struct conn **c);

/* fork: called by the handlers that fork.c registers, around its own part. */
void ep_atfork_prepare(void);
void ep_atfork_parent(void);
void ep_atfork_child(void);

/*
 * Wakes everything that sleeps inside a library call of this process, so that
 * it looks at node states again. For process_refresh's caller.
 */
void ep_wake_sleepers(void);

#endif
