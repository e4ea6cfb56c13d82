/* SPDX-License-Identifier: BSD-2-Clause */
/* Expectation E18: whoever sleeps in a call on an endpoint returns when another thread closes that
 * endpoint. */
#include "ends.h"

static void close_under(scif_epd_t epd)
{
	CTS_ASSERT(CTS_OBSERVE(scif_close(epd)).ret == 0);
}

SCENARIO(close_wakes_accept)
{
	struct listener l = ends_listen(1);
	struct cts_thread *sleeping = cts_fx_accepting(l.epd);

	close_under(l.epd);
	ends_observe_error(cts_join(sleeping), EINTR, "the waiting accept ends with EINTR");
	CTS_CHECK_EFFECT(cts_port_is_free(l.at.port), "the port of the listener is free");
}

SCENARIO(close_wakes_connect)
{
	struct cts_peer *peer = cts_peer();
	struct far_listener at = ends_far_listen(peer, 2);
	scif_epd_t epd = cts_fx_unbound();
	int port = scif_bind(epd, 0);
	struct cts_thread *sleeping = cts_fx_connecting_to(epd, at.at);

	close_under(epd);
	if (ends_driver())
		return;
	ends_observe_error(cts_join(sleeping), EINTR, "the waiting connect ends with EINTR");
	CTS_CHECK_EFFECT(cts_port_is_free((uint16_t)port), "the port of the connector is free");
	CTS_CHECK_EFFECT(cts_failed_with(cts_peer_call(peer, "accept %d 0", at.epd), EAGAIN),
			 "the request is withdrawn");
}

SCENARIO(close_wakes_recv)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *sleeping = cts_fx_receiving(epd, 16);

	close_under(epd);
	if (ends_driver())
		return;
	struct cts_result r = cts_join(sleeping);
	CTS_CHECK(cts_failed_with(cts_observe(r.ret, r.err), EINTR),
		  "the waiting receive ends with EINTR");
	CTS_CHECK(cts_far_poll_wait(epd, POLLIN) == POLLHUP, "the peer is disconnected");
}

SCENARIO(close_wakes_send)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *sleeping = cts_fx_sending(epd, 16);

	close_under(epd);
	if (ends_driver())
		return;
	ends_observe_error(cts_join(sleeping), EINTR, "the waiting send ends with EINTR");
	CTS_CHECK_EFFECT(cts_far_recv(epd, 4095, SCIF_RECV_BLOCK).ret == 4095,
			 "the peer receives what had been queued before");
	CTS_CHECK_EFFECT(cts_failed_with(cts_far_recv(epd, 1, SCIF_RECV_BLOCK), ECONNRESET),
			 "the peer receives nothing of the interrupted send");
}

SCENARIO(close_during_partial_send)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *sleeping = cts_begin_send(epd, 10000, SCIF_SEND_BLOCK);

	cts_wait_asleep(sleeping);
	CTS_REQUIRE(!cts_thread_done(sleeping));
	close_under(epd);
	if (ends_driver())
		return;
	struct cts_result r = cts_join(sleeping);
	cts_observe(r.ret, r.err);
	CTS_ASSERT(r.ret > 0);
	CTS_ASSERT(r.ret < 10000);
	CTS_CHECK(cts_far_recv_is(epd, (int)r.ret, 1, 0), "the peer receives just that many bytes");
	CTS_CHECK(cts_failed_with(cts_far_recv(epd, 1, SCIF_RECV_BLOCK), ECONNRESET),
		  "and no more");
}

/* poll reports an invalid descriptor by a bit or the whole call is refused or interrupted; it never
 * sleeps on. */
static void check_poll_ended(struct cts_result r)
{
	cts_observe(r.ret, r.err);
	if (r.ret == -1)
		CTS_ASSERT(r.err == EINTR || r.err == EBADF);
	else
		CTS_ASSERT(r.ret & (POLLNVAL | POLLHUP | POLLERR));
}

SCENARIO(close_wakes_poll)
{
	scif_epd_t epd = cts_fx_connected();
	struct cts_thread *sleeping = cts_fx_polling(epd, POLLIN);

	close_under(epd);
	if (ends_driver())
		return;
	check_poll_ended(cts_join(sleeping));
}

SCENARIO(close_wakes_poll_on_listener)
{
	struct listener l = ends_listen(1);
	struct cts_thread *sleeping = cts_fx_polling(l.epd, POLLIN);

	close_under(l.epd);
	if (ends_driver())
		return;
	check_poll_ended(cts_join(sleeping));
	CTS_CHECK(cts_port_is_free(l.at.port), "the port of the listener is free");
}
