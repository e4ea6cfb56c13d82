/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the peer about its plain memory and windows that scenarios place themselves. */
#include "far_memory.h"

#include <inttypes.h>

static struct cts_peer *holder(scif_epd_t epd)
{
	return cts_peer_of(epd);
}

uint64_t far_alloc(scif_epd_t epd, size_t len)
{
	return (uint64_t)cts_peer_call(holder(epd), "alloc %zu", len).ret;
}

bool far_is(scif_epd_t epd, uint64_t there, size_t len, unsigned seed, size_t from)
{
	return cts_peer_call(holder(epd), "is %" PRIu64 " %zu %u %zu", there, len, seed, from)
		       .ret == 1;
}

bool far_is_byte(scif_epd_t epd, uint64_t there, size_t len, int byte)
{
	return cts_peer_call(holder(epd), "isbyte %" PRIu64 " %zu %d", there, len, byte).ret == 1;
}

struct cts_result far_vreadfrom(scif_epd_t epd, uint64_t there, size_t len, off_t roff)
{
	return cts_peer_call(holder(epd), "vreadfrom %d %" PRIu64 " %zu %jd %d", cts_far(epd),
			     there, len, (intmax_t)roff, SCIF_RMA_SYNC);
}

struct cts_result far_vwriteto(scif_epd_t epd, uint64_t there, size_t len, off_t roff)
{
	return cts_peer_call(holder(epd), "vwriteto %d %" PRIu64 " %zu %jd %d", cts_far(epd), there,
			     len, (intmax_t)roff, SCIF_RMA_SYNC);
}

struct cts_result far_register(scif_epd_t epd, uint64_t there, size_t len, off_t offset, int prot)
{
	return cts_peer_call(holder(epd), "register %d %" PRIu64 " %zu %jd %d %d", cts_far(epd),
			     there, len, (intmax_t)offset, prot, SCIF_MAP_FIXED);
}

struct cts_result far_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	return cts_peer_call(holder(epd), "unregister %d %jd %zu", cts_far(epd), (intmax_t)offset,
			     len);
}

struct cts_result far_mmap(scif_epd_t epd, uint64_t there, size_t len, int prot, int flags,
			   off_t offset)
{
	return cts_peer_call(holder(epd), "mmap %d %" PRIu64 " %zu %d %d %jd", cts_far(epd), there,
			     len, prot, flags, (intmax_t)offset);
}

bool far_offset_is_free(scif_epd_t epd, off_t offset, size_t len)
{
	uint64_t there = far_alloc(epd, len);
	struct cts_result r = far_register(epd, there, len, offset, READ_WRITE);

	if (r.ret == -1) {
		CTS_REQUIRE(r.err == EADDRINUSE);
		return false;
	}
	CTS_REQUIRE(far_unregister(epd, offset, len).ret == 0);
	return true;
}
