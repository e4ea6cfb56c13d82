/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection request as the two sides exchange it: the hello that the
 * connector sends on its socket, and the acceptor's view of one that it has
 * taken from the kernel's queue.
 */
#ifndef SCIF_EMBEDDED_REQUEST_H
#define SCIF_EMBEDDED_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bell.h"

#define HELLO_MAGIC 0x53434948u

/*
 * The hello is followed by zeros up to the length of the connector's filler J:
 * until it is taken off, the connector's socket is not writable, which is how
 * "still connecting" looks to poll(2).
 */
struct hello {
	uint32_t magic;
	uint32_t version;
	uint32_t length; /* with the zeros */
	uint32_t filler; /* the connector's J */
};

/* Descriptors that travel with it. */
enum { HELLO_BLOCK, HELLO_STORE, HELLO_CTL, HELLO_FDS };

/* First message on the control socket, acceptor to connector, with the acceptor's store. */
struct welcome {
	uint32_t magic;
	uint32_t filler;
};

struct ep;

struct request {
	struct request *next;
	int sock; /* as accept(2) returned it */
};

enum request_state { REQUEST_LIVE, REQUEST_DEAD, REQUEST_LOST };

/* Dead: its connector is gone or gave up. Lost: so is its connector's node. */
enum request_state request_state(int sock, uint16_t *node, uint16_t *port);

/* The oldest request, to be given to one of the next three: 0, -EAGAIN, -ENOMEM, -ENOBUFS. */
int request_take(struct ep *ep, struct request **request);
/* Puts one that could not be served back to the front. */
void request_keep(struct ep *ep, struct request *request);
void request_drop(struct ep *ep, struct request *request);
/* It was served: its socket is another's now. */
void request_done(struct ep *ep, struct request *request);
/* Whether accept would return at once; drops dead requests it meets on the way. */
bool request_pending(struct ep *ep, bool kernel_has_one);
/* Those that nobody serves; in a forked child those that the parent serves as well. */
void requests_drop(struct ep *ep);
void requests_atfork_child(struct ep *ep);
#endif
