/* SPDX-License-Identifier: BSD-2-Clause */
/* When scif_fence_signal writes its values: after the marked transfers, and for nobody else's sake
 * later. */
#include "fence_flight.h"

#define LVAL 0x1111222233334444ULL
#define RVAL 0x5555666677778888ULL

struct targets {
	struct cts_window own;
	struct cts_peer_window far;
};

static struct targets make_targets(scif_epd_t epd)
{
	return (struct targets){cts_fx_window_on(epd, 1, READ_WRITE),
				cts_fx_peer_window_on(epd, 1, READ_WRITE)};
}

static void ask_signal(scif_epd_t epd, const struct targets *t, int init)
{
	CTS_ASSERT(CTS_OBSERVE(scif_fence_signal(epd, t->own.offset, LVAL, t->far.offset, RVAL,
						 init | SCIF_SIGNAL_LOCAL | SCIF_SIGNAL_REMOTE))
			   .ret == 0);
}

static bool nothing_written(const struct targets *t)
{
	return cts_is_pattern(t->own.addr, t->own.len, 2) &&
	       cts_peer_is(t->far, 0, t->far.len, 3, 0);
}

static bool both_written(const struct targets *t)
{
	return cts_wait64(t->own.addr, LVAL) && cts_peer_wait64(t->far, 0, RVAL);
}

SCENARIO(fence_signal_after_transfer)
{
	enum transfer transfer = (enum transfer)cts_param("transfer");
	scif_epd_t epd = cts_fx_connected();

	flight_needs_stall();
	struct targets t = make_targets(epd);
	struct flight f = flight_begin(epd, transfer);
	ask_signal(epd, &t, flight_init_flag(transfer));
	CTS_ASSERT(cts_stall_pending(f.stall));
	CTS_ASSERT(nothing_written(&t));
	flight_land(&f);
	CTS_ASSERT(both_written(&t));
}

SCENARIO(fence_signal_ignores_later)
{
	scif_epd_t epd = cts_fx_connected();

	flight_needs_stall();
	struct targets t = make_targets(epd);
	struct flight early = flight_begin(epd, OWN_WRITE);
	ask_signal(epd, &t, SCIF_FENCE_INIT_SELF);
	struct flight late = flight_begin(epd, OWN_WRITE);
	flight_land(&early);
	CTS_ASSERT(both_written(&t));
	flight_land(&late);
}

SCENARIO(fence_signal_other_direction)
{
	scif_epd_t epd = cts_fx_connected();
	enum transfer transfer = cts_param("peer_transfers") ? PEER_WRITE : OWN_WRITE;

	flight_needs_stall();
	struct targets t = make_targets(epd);
	struct flight f = flight_begin(epd, transfer);
	ask_signal(epd, &t, transfer == PEER_WRITE ? SCIF_FENCE_INIT_SELF : SCIF_FENCE_INIT_PEER);
	CTS_ASSERT(both_written(&t));
	flight_land(&f);
}

SCENARIO(fence_signal_data_before_value)
{
	scif_epd_t epd = cts_fx_connected();
	size_t len = 16 * cts_page_size();
	struct cts_peer_window data = cts_fx_peer_window(16, READ_WRITE),
			       flag = cts_fx_peer_window(1, READ_WRITE);
	unsigned char *buf = cts_fx_pages(16);

	for (long i = 1; i <= cts_param("rounds"); i++) {
		memset(buf, (int)i, len);
		CTS_ASSERT(scif_vwriteto(epd, buf, len, data.offset, 0) == 0);
		CTS_ASSERT(scif_fence_signal(epd, 0, 0, flag.offset, (uint64_t)i,
					     SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_REMOTE) == 0);
		CTS_ASSERT(cts_peer_wait64(flag, 0, (uint64_t)i));
		CTS_ASSERT(cts_peer_is_byte(data, 0, len, (int)(i & 0xff)));
	}
}

/* The signal's word is the first one of what was just written, on both sides, 4-byte aligned in the
 * second round. */
SCENARIO(fence_signal_into_data)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window win = cts_fx_window(16, READ_WRITE);
	struct cts_peer_window far = cts_fx_peer_window(16, READ_WRITE);

	for (size_t at = 0; at <= 4; at += 4) {
		cts_fill(win.addr, win.len, 33);
		CTS_ASSERT(scif_writeto(epd, win.offset, win.len, far.offset, 0) == 0);
		CTS_ASSERT(scif_fence_signal(epd, win.offset + (off_t)at, LVAL,
					     far.offset + (off_t)at, RVAL, SELF_BOTH) == 0);
		CTS_ASSERT(cts_wait64((char *)win.addr + at, LVAL));
		CTS_ASSERT(cts_peer_wait64(far, at, RVAL));
		CTS_ASSERT(cts_peer_is(far, at + 8, far.len - at - 8, 33, at + 8));
		CTS_ASSERT(cts_is_pattern_at((unsigned char *)win.addr + at + 8, win.len - at - 8,
					     33, at + 8));
	}
}
