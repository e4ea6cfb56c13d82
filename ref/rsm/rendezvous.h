/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an importer finds a segment: a segment id leads to a short fixed sequence of SCIF ports, and
 * its exporter listens on one of them. docs/rsm-protocol.md has the rules.
 */
#ifndef RSM_RENDEZVOUS_H
#define RSM_RENDEZVOUS_H

#include <scif.h>
#include <stdint.h>

#include "wire.h"

enum { RENDEZVOUS_PORTS = 8 };

void rendezvous_ports(uint32_t segment_id, uint16_t ports[RENDEZVOUS_PORTS]);

/*
 * Importer: walks the ports of the node, sends `request` (a WIRE_CONNECT; the id is filled in) and
 * takes the answer. No lock held. Results:
 *	0	an exporter of the id answered; *answer holds what it said. If answer->status is 0
 *		(RSM_SUCCESS) *epd is the connected endpoint, the caller's to open a channel on or
 *		to endpoint_close(); otherwise *epd is -1 and the status is the RSMERR value.
 *	-ENOENT	nobody serves the id
 *	-EHOSTUNREACH	the node is not there, or a holder stayed silent and nobody else serves it
 *	-EINTR	a signal arrived
 *	-EMFILE, -ENOMEM, -ENXIO	as endpoint_open()
 */
int rendezvous_find(uint16_t node, uint32_t segment_id, const struct wire_message *request,
		    struct wire_message *answer, scif_epd_t *epd);

/*
 * Publisher: binds and listens on the first free port of the sequence; its place goes into
 * *index. 0, -ENOSPC (all taken), or as endpoint_open().
 */
int rendezvous_bind(uint32_t segment_id, unsigned *index, scif_epd_t *listener);

/*
 * Publisher, while its listener answers: asks the holders of all other ports. 0 nobody has the id,
 * -EADDRINUSE somebody does, or does not answer, or as endpoint_open(). No lock held; takes as long
 * as the slowest holder, five seconds at most.
 */
int rendezvous_ask(uint32_t segment_id, unsigned index);

#endif
