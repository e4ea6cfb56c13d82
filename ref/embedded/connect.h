/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connecting side's steps that other calls need as well.
 */
#ifndef SCIF_EMBEDDED_CONNECT_H
#define SCIF_EMBEDDED_CONNECT_H

struct ep;

/* Looks whether a pending connect has come to an end and takes in the result. */
void connect_settle(struct ep *ep);

/*
 * Puts a new socket under the endpoint's number when the old one was used up by
 * a failed connect; the port is kept. With ep->lock held. 0 or -ENOBUFS.
 */
int connect_renew(struct ep *ep);

#endif
