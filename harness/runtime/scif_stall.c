/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers of SCIF that are held back in the middle. */
#include "scif_endpoints.h"

#include <inttypes.h>

struct cts_stall *cts_fx_stalled_write(struct cts_peer_window w)
{
	void *page;
	struct cts_stall *s = stall_local(&page);

	return stall_in_flight(s, cts_begin_vwriteto(w.epd, page, cts_page_size(), w.offset, 0));
}

struct cts_stall *cts_fx_stalled_read(struct cts_peer_window w)
{
	void *page;
	struct cts_stall *s = stall_local(&page);

	return stall_in_flight(s, cts_begin_vreadfrom(w.epd, page, cts_page_size(), w.offset, 0));
}

struct cts_stall *cts_fx_peer_stalled_write(struct cts_window w)
{
	struct cts_peer *p = cts_peer_of(w.epd);
	uint64_t there = stall_there(p);
	int tag = cts_peer_begin(p, "vwriteto %d %" PRIu64 " %zu %jd 0", cts_far(w.epd), there,
				 cts_page_size(), (intmax_t)w.offset);

	return stall_in_peer(p, there, tag);
}
