/* SPDX-License-Identifier: BSD-2-Clause */
/* One pair of ranges and one of the four transfers between them. */
#include "rma_ends.h"

bool rma_reads(enum rma_call call)
{
	return call == RMA_READFROM || call == RMA_VREADFROM;
}

bool rma_is_registered(enum rma_call call)
{
	return call == RMA_READFROM || call == RMA_WRITETO;
}

struct rma_ends rma_ends_open(size_t pages)
{
	struct rma_ends e = {.call = (enum rma_call)cts_param("call"), .epd = cts_fx_connected()};

	e.far = cts_fx_peer_window_on(e.epd, pages, READ_WRITE);
	if (rma_is_registered(e.call)) {
		struct cts_window win = cts_fx_window_on(e.epd, pages, READ_WRITE);

		e.local = win.addr;
		e.loffset = win.offset;
	} else {
		e.local = cts_fx_pages(pages);
	}
	return e;
}

struct cts_result rma_transfer(const struct rma_ends *e, size_t local_at, size_t remote_at,
			       size_t len, int flags)
{
	off_t loff = e->loffset + (off_t)local_at, roff = e->far.offset + (off_t)remote_at;

	switch (e->call) {
	case RMA_READFROM:
		return CTS_RESULT(scif_readfrom(e->epd, loff, len, roff, flags));
	case RMA_WRITETO:
		return CTS_RESULT(scif_writeto(e->epd, loff, len, roff, flags));
	case RMA_VREADFROM:
		return CTS_RESULT(scif_vreadfrom(e->epd, e->local + local_at, len, roff, flags));
	default:
		return CTS_RESULT(scif_vwriteto(e->epd, e->local + local_at, len, roff, flags));
	}
}

void rma_fence(scif_epd_t epd)
{
	int mark;

	CTS_ASSERT(scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark) == 0);
	CTS_ASSERT(scif_fence_wait(epd, mark) == 0);
}

static void side_fill(const struct rma_ends *e, bool local, size_t at, size_t n, unsigned seed,
		      size_t from)
{
	if (local)
		cts_fill_at(e->local + at, n, seed, from);
	else
		cts_peer_fill_at(e->far, at, n, seed, from);
}

void rma_source_fill(const struct rma_ends *e, size_t at, size_t n, unsigned seed, size_t from)
{
	side_fill(e, !rma_reads(e->call), at, n, seed, from);
}

void rma_target_fill(const struct rma_ends *e, size_t at, size_t n, unsigned seed, size_t from)
{
	side_fill(e, rma_reads(e->call), at, n, seed, from);
}

bool rma_target_is(const struct rma_ends *e, size_t at, size_t n, unsigned seed, size_t from)
{
	if (rma_reads(e->call))
		return cts_is_pattern_at(e->local + at, n, seed, from);
	return cts_peer_is(e->far, at, n, seed, from);
}
