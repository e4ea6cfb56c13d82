/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts a transfer whose local buffer is held back, and lets it land. */
#include "fence_flight.h"

void flight_needs_stall(void)
{
	if (!strcmp(cts_profile(), "knc"))
		cts_untested("the driver pins the local buffer before a transfer begins, so a held "
			     "page holds the call, not the transfer");
}

struct flight flight_begin(scif_epd_t epd, enum transfer transfer)
{
	struct flight f = {.epd = epd, .transfer = transfer};

	if (transfer == PEER_WRITE) {
		f.near = cts_fx_window_on(epd, 1, READ_WRITE);
		f.stall = cts_fx_peer_stalled_write(f.near);
		return f;
	}
	f.far = cts_fx_peer_window_on(epd, 1, READ_WRITE);
	f.stall = transfer == OWN_READ ? cts_fx_stalled_read(f.far) : cts_fx_stalled_write(f.far);
	return f;
}

void flight_land(const struct flight *f)
{
	CTS_ASSERT(cts_stall_pending(f->stall));
	cts_stall_release(f->stall);
	CTS_ASSERT(cts_stall_join(f->stall).ret == 0);
	if (f->transfer == OWN_WRITE)
		CTS_ASSERT(cts_peer_is(f->far, 0, f->far.len, 7, 0));
	if (f->transfer == PEER_WRITE)
		CTS_ASSERT(cts_is_pattern(f->near.addr, f->near.len, 7));
}

int flight_init_flag(enum transfer transfer)
{
	return transfer == PEER_WRITE ? SCIF_FENCE_INIT_PEER : SCIF_FENCE_INIT_SELF;
}
