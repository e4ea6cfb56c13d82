/* SPDX-License-Identifier: BSD-2-Clause */
/* Unregistering among neighbours, and while somebody still uses the window. */
#include "far_memory.h"

#include <inttypes.h>

SCENARIO(window_unregister_middle)
{
	scif_epd_t epd = cts_fx_connected();
	size_t page = cts_page_size(), part = 3 * page;
	unsigned char *mem = cts_fx_pages(9);
	uint64_t there = far_alloc(epd, page);

	for (int i = 0; i < 3; i++)
		CTS_REQUIRE(scif_register(epd, mem + i * part, part, 0x100000 + (off_t)(i * part),
					  READ_WRITE,
					  SCIF_MAP_FIXED) == 0x100000 + (off_t)(i * part));
	CTS_ASSERT(scif_unregister(epd, 0x100000 + (off_t)part, part) == 0);
	CTS_REQUIRE(mmap(mem + part, part, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == mem + part);
	cts_fill(mem + part, part, 6);
	for (size_t i = 0; i < 9; i++) {
		struct cts_result r = far_vreadfrom(epd, there, page, 0x100000 + (off_t)(i * page));

		if (i / 3 == 1) {
			CTS_ASSERT(cts_failed_with(r, ENXIO));
			continue;
		}
		cts_expect_ok(r, "the peer reads a page of a neighbour");
		CTS_ASSERT(far_is(epd, there, page, 2, i * page));
		cts_expect_ok(far_vwriteto(epd, there, page, 0x100000 + (off_t)(i * page)),
			      "the peer writes it");
	}
	uint64_t all = far_alloc(epd, 9 * page);
	CTS_ASSERT(cts_failed_with(far_vreadfrom(epd, all, 9 * page, 0x100000), ENXIO));
	CTS_ASSERT(cts_is_pattern(mem + part, part, 6));
}

SCENARIO(window_unregister_ends_mmap)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_window win = cts_fx_window(2, READ_WRITE);

	CTS_ASSERT(scif_unregister(epd, win.offset, win.len) == 0);
	CTS_ASSERT(cts_failed_with(far_mmap(epd, 0, win.len, READ_WRITE, 0, win.offset), ENXIO));
}

/* ---- transfers in flight ---- */

struct unregistering {
	scif_epd_t epd;
	off_t offset;
	size_t len;
};

static struct cts_result unregister_in_thread(void *arg)
{
	struct unregistering *u = arg;

	return CTS_RESULT(scif_unregister(u->epd, u->offset, u->len));
}

/* The call may wait for the transfer or return before it: a little time tells which of the two it
 * does. */
static bool returned_early(struct cts_thread *t)
{
	uint64_t end = cts_now_us() + 20000;

	while (!cts_thread_done(t) && cts_now_us() < end)
		cts_let_pass_us(200);
	return cts_thread_done(t);
}

static uint64_t far_hold(struct cts_peer *peer)
{
	return (uint64_t)cts_peer_call(peer, "hold").ret;
}

/* Held at its first touch of the local page, the call may find the window open or closed
 * afterwards. */
static void check_transfer(struct cts_result r, struct cts_window win, bool target, uint64_t held)
{
	if (r.ret == 0) {
		CTS_ASSERT(target ? cts_is_pattern(win.addr, win.len, 7)
				  : far_is(win.epd, held, win.len, 2, 0));
		return;
	}
	CTS_ASSERT(cts_failed_with(r, ENXIO));
	CTS_ASSERT(cts_is_pattern(win.addr, win.len, 2));
	CTS_ASSERT(far_is(win.epd, held, win.len, 7, 0));
}

/* target 1: the peer writes into our window; 0: it reads from it. Its local page is held back
 * meanwhile. */
SCENARIO(window_unregister_in_flight)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer *peer = cts_peer_of(epd);
	struct cts_window win = cts_fx_window_at(1, READ_WRITE, 0x100000);
	bool target = cts_param("target");
	uint64_t held = far_hold(peer);
	int tag = cts_peer_begin(peer, "%s %d %" PRIu64 " %zu %jd 0",
				 target ? "vwriteto" : "vreadfrom", cts_far(epd), held, win.len,
				 (intmax_t)win.offset);
	struct unregistering u = {epd, win.offset, win.len};

	if (!strcmp(cts_profile(), "knc"))
		cts_untested("the driver pins the local buffer before a transfer begins, so a held "
			     "page holds the call, not the transfer");
	cts_peer_asleep(peer, tag);
	struct cts_thread *t = cts_thread_start(unregister_in_thread, &u);
	if (returned_early(t))
		CTS_ASSERT(!cts_offset_is_free(epd, win.offset, win.len));
	CTS_REQUIRE(cts_peer_call(peer, "release %" PRIu64 " 7", held).ret == 0);
	struct cts_result r = cts_peer_end(peer, tag);
	CTS_ASSERT(cts_join(t).ret == 0);
	CTS_REQUIRE(cts_far_fence_wait(epd, (int)cts_far_fence_mark(epd, SCIF_FENCE_INIT_SELF).ret)
			    .ret == 0);
	check_transfer(r, win, target, held);
	CTS_ASSERT(cts_offset_is_free(epd, win.offset, win.len));
}

/* Who has the transfer in flight is killed while the window is being unregistered. */
SCENARIO(b25_initiator_killed)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer *peer = cts_peer_of(epd);
	struct cts_window win = cts_fx_window_at(1, READ_WRITE, 0x100000);
	bool target = cts_param("target");
	struct unregistering u = {epd, win.offset, win.len};

	if (!strcmp(cts_profile(), "knc"))
		cts_untested("the driver pins the local buffer before a transfer begins, so a held "
			     "page holds the call, not the transfer");
	int tag = cts_peer_begin(peer, "%s %d %" PRIu64 " %zu %jd 0",
				 target ? "vwriteto" : "vreadfrom", cts_far(epd), far_hold(peer),
				 win.len, (intmax_t)win.offset);
	cts_peer_asleep(peer, tag);
	struct cts_thread *t = cts_thread_start(unregister_in_thread, &u);
	cts_far_kill(epd);
	struct cts_result r = cts_join(t);
	CTS_ASSERT(cts_observe(r.ret, r.err).ret == 0 || r.err == ECONNRESET);
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_writeto(epd, win.offset, 8, 0x200000, 0)),
				   ECONNRESET));
	CTS_ASSERT(cts_is_pattern(win.addr, win.len, 2));
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(window_unregister_pending_signal)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window_on(epd, 1, READ_WRITE);
	struct cts_window win = cts_fx_window_at(1, READ_WRITE, 0x100000);
	struct unregistering u = {epd, win.offset, win.len};

	if (!strcmp(cts_profile(), "knc"))
		cts_untested("the driver pins the local buffer before a transfer begins, so a held "
			     "page holds the call, not the transfer");
	struct cts_stall *stall = cts_fx_stalled_write(far);
	CTS_ASSERT(scif_fence_signal(epd, win.offset + 16, 0x1234567812345678, 0, 0,
				     SCIF_FENCE_INIT_SELF | SCIF_SIGNAL_LOCAL) == 0);
	struct cts_thread *t = cts_thread_start(unregister_in_thread, &u);
	if (returned_early(t))
		CTS_ASSERT(!cts_offset_is_free(epd, win.offset, win.len));
	CTS_ASSERT(cts_is_pattern(win.addr, win.len, 2));
	cts_stall_release(stall);
	CTS_ASSERT(cts_stall_join(stall).ret == 0);
	CTS_ASSERT(cts_join(t).ret == 0);
	CTS_ASSERT(cts_wait64((char *)win.addr + 16, 0x1234567812345678));
	CTS_ASSERT(cts_offset_is_free(epd, win.offset, win.len));
}

static void bulk_round(scif_epd_t epd, size_t len, bool kill)
{
	size_t pages = len / cts_page_size();
	struct cts_window win = cts_fx_window_at(pages, READ_WRITE, 0x10000000);
	struct cts_peer_window far = cts_fx_peer_window_at(pages, READ_WRITE, 0x20000000);

	CTS_ASSERT(scif_writeto(epd, win.offset, len, far.offset, 0) == 0);
	if (kill)
		cts_far_kill(epd);
	struct cts_result own = CTS_RESULT(scif_unregister(epd, win.offset, len));
	if (kill) {
		CTS_ASSERT(own.ret == 0 || own.err == ECONNRESET);
		CTS_ASSERT(cts_failed_with(
			CTS_RESULT(scif_writeto(epd, win.offset, 8, far.offset, 0)), ECONNRESET));
		return;
	}
	CTS_ASSERT(own.ret == 0);
	cts_expect_ok(cts_peer_unregister(far), "the peer unregisters the target");
	int mark;
	CTS_ASSERT(scif_fence_mark(epd, SCIF_FENCE_INIT_SELF, &mark) == 0);
	CTS_ASSERT(scif_fence_wait(epd, mark) == 0);
	CTS_ASSERT(cts_peer_is(far, 0, len, 2, 0));
	CTS_ASSERT(cts_offset_is_free(epd, win.offset, len));
	CTS_ASSERT(far_offset_is_free(epd, far.offset, len));
}

SCENARIO(window_unregister_bulk)
{
	bulk_round(cts_fx_connected(), (size_t)cts_param("mib") << 20, false);
}

SCENARIO(window_unregister_bulk_killed)
{
	bulk_round(cts_fx_connected(), (size_t)cts_param("mib") << 20, false);
	bulk_round(cts_fx_connected(), (size_t)cts_param("mib") << 17, true);
}
