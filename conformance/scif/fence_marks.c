/* SPDX-License-Identifier: BSD-2-Clause */
/* Which transfers a mark covers and how long scif_fence_wait waits for them. */
#include "fence_flight.h"

static int take_mark(scif_epd_t epd, int flags)
{
	int mark = -5;

	CTS_ASSERT(scif_fence_mark(epd, flags, &mark) == 0);
	return mark;
}

SCENARIO(fence_wait_holds)
{
	enum transfer transfer = (enum transfer)cts_param("transfer");
	scif_epd_t epd = cts_fx_connected();

	flight_needs_stall();
	struct flight f = flight_begin(epd, transfer);
	int mark = take_mark(epd, flight_init_flag(transfer));
	struct cts_thread *waiter = cts_begin_fence_wait(epd, mark);
	cts_wait_asleep(waiter);
	CTS_ASSERT(!cts_thread_done(waiter));
	flight_land(&f);
	CTS_ASSERT(cts_join(waiter).ret == 0);
}

/* The close itself waits for the transfer, so it runs in a thread of its own. */
SCENARIO(fence_wait_closed)
{
	scif_epd_t epd = cts_fx_connected();

	flight_needs_stall();
	struct flight f = flight_begin(epd, OWN_WRITE);
	struct cts_thread *waiter = cts_begin_fence_wait(epd, take_mark(epd, SCIF_FENCE_INIT_SELF));
	cts_wait_asleep(waiter);
	struct cts_thread *closer = cts_begin_close(epd);
	struct cts_result r = cts_join(waiter);
	cts_stall_release(f.stall);
	cts_join(closer);
	cts_expect_error(cts_observe(r.ret, r.err), EINTR,
			 "the wait gives EINTR when its endpoint is closed");
}

/* What the other side has in flight does not concern the mark. */
SCENARIO(fence_other_direction)
{
	scif_epd_t epd = cts_fx_connected();
	enum transfer transfer = cts_param("peer_transfers") ? PEER_WRITE : OWN_WRITE;

	flight_needs_stall();
	struct flight f = flight_begin(epd, transfer);
	int mark = take_mark(epd,
			     transfer == PEER_WRITE ? SCIF_FENCE_INIT_SELF : SCIF_FENCE_INIT_PEER);
	CTS_ASSERT(scif_fence_wait(epd, mark) == 0);
	flight_land(&f);
}

SCENARIO(fence_other_endpoint)
{
	scif_epd_t busy = cts_fx_connected(), idle = cts_fx_connected();

	flight_needs_stall();
	struct flight f = flight_begin(busy, OWN_WRITE);
	CTS_ASSERT(scif_fence_wait(idle, take_mark(idle, SCIF_FENCE_INIT_SELF)) == 0);
	flight_land(&f);
}

SCENARIO(fence_many_marks)
{
	enum { MOST = 4096 };
	static int marks[MOST];
	long count = cts_param("count");
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window(1, READ_WRITE);
	unsigned char *buf = cts_fx_pattern(64, 4);

	CTS_REQUIRE(count <= MOST);
	for (long i = 0; i < count; i++) {
		CTS_ASSERT(scif_vwriteto(epd, buf, 64, far.offset + i % 64, 0) == 0);
		marks[i] = take_mark(epd, i % 2 ? SCIF_FENCE_INIT_PEER : SCIF_FENCE_INIT_SELF);
	}
	for (long i = count - 1; i >= 0; i--)
		CTS_ASSERT(scif_fence_wait(epd, marks[i]) == 0);
	CTS_ASSERT(cts_peer_is(far, (size_t)(count - 1) % 64, 64, 4, 0));
}

SCENARIO(fence_wait_ignores_later)
{
	scif_epd_t epd = cts_fx_connected();

	flight_needs_stall();
	struct flight early = flight_begin(epd, OWN_WRITE);
	int mark = take_mark(epd, SCIF_FENCE_INIT_SELF);
	struct flight late = flight_begin(epd, OWN_WRITE);
	struct cts_thread *waiter = cts_begin_fence_wait(epd, mark);
	cts_wait_asleep(waiter);
	flight_land(&early);
	CTS_ASSERT(cts_join(waiter).ret == 0);
	flight_land(&late);
}

SCENARIO(fence_wait_other_thread)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_peer_window far = cts_fx_peer_window(16, READ_WRITE);
	struct cts_window win = cts_fx_window(16, READ_WRITE);

	CTS_ASSERT(scif_writeto(epd, win.offset, win.len, far.offset, 0) == 0);
	int mark = take_mark(epd, SCIF_FENCE_INIT_SELF);
	CTS_ASSERT(cts_join(cts_begin_fence_wait(epd, mark)).ret == 0);
	CTS_ASSERT(cts_peer_is(far, 0, far.len, 2, 0));
}

static void own_transfers_then_message(scif_epd_t epd, size_t len)
{
	size_t pages = len / cts_page_size(), part = len / 8;
	struct cts_window win = cts_fx_window_on(epd, pages, READ_WRITE);
	struct cts_peer_window far = cts_fx_peer_window_on(epd, pages, READ_WRITE);

	for (size_t i = 0; i < 8; i++)
		CTS_ASSERT(scif_writeto(epd, win.offset + (off_t)(i * part), part,
					far.offset + (off_t)(i * part), 0) == 0);
	CTS_ASSERT(scif_fence_wait(epd, take_mark(epd, SCIF_FENCE_INIT_SELF)) == 0);
	CTS_REQUIRE(scif_send(epd, "!", 1, SCIF_SEND_BLOCK) == 1);
	CTS_REQUIRE(cts_far_recv(epd, 1, SCIF_RECV_BLOCK).ret == 1);
	CTS_ASSERT(cts_peer_is(far, 0, len, 2, 0));
}

/* The receiver fences itself: it marks and waits for the transfers of its peer. */
static void peer_transfers_then_message(scif_epd_t epd, size_t len)
{
	struct cts_window win = cts_fx_window_on(epd, len / cts_page_size(), READ_WRITE);
	char byte;

	cts_expect_ok(cts_peer_writeto_us(win, 0, len, 9, 0), "the peer writes without flags");
	CTS_REQUIRE(cts_far_send(epd, 1).ret == 1);
	CTS_REQUIRE(scif_recv(epd, &byte, 1, SCIF_RECV_BLOCK) == 1);
	CTS_ASSERT(scif_fence_wait(epd, take_mark(epd, SCIF_FENCE_INIT_PEER)) == 0);
	CTS_ASSERT(cts_is_pattern(win.addr, len, 9));
}

SCENARIO(fence_then_message)
{
	scif_epd_t epd = cts_fx_connected();
	size_t len = (size_t)cts_param("mib") << 20;

	own_transfers_then_message(epd, len);
	peer_transfers_then_message(epd, len);
}
