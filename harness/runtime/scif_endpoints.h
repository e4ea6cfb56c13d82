/* SPDX-License-Identifier: BSD-2-Clause */
/* The endpoints and ports of the running case, shared between the SCIF files of the runtime. */
#ifndef CTS_SCIF_ENDPOINTS_H
#define CTS_SCIF_ENDPOINTS_H

#include "cts_scif.h"
#include "engine.h"

/* scif_endpoints.c: every endpoint that a fixture made, so that the oracle can ask about it */
struct endpoint {
	scif_epd_t epd;
	struct cts_peer *peer; /* holds the far end, when far is not -1 */
	int far;
	int listener; /* of the peer, where a request of ours waits; or -1 */
	int accept_tag;
	bool live; /* a usable endpoint: its readiness is probed */
	bool may_change;
};
#define ENDPOINT_MAX 4096
extern struct endpoint endpoints[ENDPOINT_MAX];
extern int endpoint_count;
struct endpoint *endpoint_add(scif_epd_t epd);
struct endpoint *endpoint_find(scif_epd_t epd); /* UNRESOLVED when no fixture made it */
scif_epd_t endpoint_latest_connected(void);
scif_epd_t open_endpoint(void); /* scif_open or UNRESOLVED */
void fill_send_queue(scif_epd_t epd);

/* scif_ports.c: listeners of peers, by the port that a clause sees */
struct scif_portID peer_listener(struct cts_peer *p, int backlog, int *listener);
int port_listener(struct scif_portID id);
void port_resolve(struct endpoint *e); /* fills in the far end when a peer has accepted meanwhile */

#endif
