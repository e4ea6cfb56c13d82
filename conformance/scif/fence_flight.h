/* SPDX-License-Identifier: BSD-2-Clause */
/* A transfer that is really in flight while fences are tried: own write, own read, or a write of
 * the peer. */
#ifndef CTS_FENCE_FLIGHT_H
#define CTS_FENCE_FLIGHT_H

#include "far_memory.h"

enum transfer { OWN_WRITE, OWN_READ, PEER_WRITE };

struct flight {
	scif_epd_t epd;
	enum transfer transfer;
	struct cts_peer_window far; /* the remote side of own transfers */
	struct cts_window near;	    /* the target of the peer's */
	struct cts_stall *stall;
};

/* Ends the case as UNTESTED under a profile whose implementation cannot be held inside a transfer.
 */
void flight_needs_stall(void);
struct flight flight_begin(scif_epd_t epd, enum transfer transfer);
void flight_land(const struct flight *f);     /* releases it, waits for it and looks at its bytes */
int flight_init_flag(enum transfer transfer); /* the SCIF_FENCE_INIT_ flag that covers it */

#endif
