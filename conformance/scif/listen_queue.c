/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of a listening endpoint: how many requests wait in it, and what happens to the next. */
#include "ends.h"

SCENARIO(listen_serves_a_request)
{
	struct listener l = ends_listen(1);
	scif_epd_t epd = ends_serve(l, cts_peer());

	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(listen_backlog)
{
	int backlog = (int)cts_param("backlog");
	struct listener l = ends_listen(backlog);
	struct cts_peer *peer = cts_peer();
	struct request waiting[ENDS_MOST_REQUESTS];
	int late = ends_far_open(peer);

	ends_requests(peer, l.at, waiting, backlog);
	CTS_ASSERT(ends_refused(ends_connect_of(peer, late, l.at)));
	CTS_ASSERT(ends_refused(ends_connect_of(peer, late, l.at)));
	for (int i = 0; i < backlog; i++)
		CTS_ASSERT(scif_close(ends_accept(l.epd, &waiting[i])) == 0);
	CTS_CHECK(cts_poll(l.epd, POLLIN) == 0, "the refused request is not in the queue");
}

SCENARIO(listen_without_backlog)
{
	struct listener l = ends_listen((int)cts_param("backlog"));
	struct cts_peer *peer = cts_peer();
	int far = ends_far_open(peer);
	struct scif_portID from;
	scif_epd_t epd = -1;

	CTS_ASSERT(ends_refused(ends_connect_of(peer, far, l.at)));
	CTS_ASSERT(ends_refused(ends_connect_of(peer, far, l.at)));
	CTS_CHECK(cts_poll(l.epd, POLLIN) == 0, "no request is in the queue");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_accept(l.epd, &from, &epd, 0)), EAGAIN),
		  "there is nothing to accept");
}

SCENARIO(listen_accept_makes_room)
{
	struct listener l = ends_listen(1);
	struct cts_peer *peer = cts_peer();
	int late = ends_far_open(peer);

	for (int i = 0; i < 3; i++) {
		struct request r = ends_request(peer, l.at);

		CTS_ASSERT(ends_refused(ends_connect_of(peer, late, l.at)));
		CTS_ASSERT(scif_close(ends_accept(l.epd, &r)) == 0);
	}
	struct request last = {.peer = peer, .far = late};
	last.tag = cts_peer_begin(peer, "connect %d %u %u", late, l.at.node, l.at.port);
	CTS_ASSERT(scif_close(ends_accept(l.epd, &last)) == 0);
}

SCENARIO(listen_refused_client_retries)
{
	struct cts_peer *peer = cts_peer(), *third = cts_peer_start(cts_peer_node(peer));
	struct far_listener at = ends_far_listen(peer, 1);
	scif_epd_t epd = cts_fx_unbound();

	ends_request(third, at.at);
	CTS_ASSERT(ends_refused(CTS_RESULT(scif_connect(epd, &at.at))));
	CTS_ASSERT(ends_refused(CTS_RESULT(scif_connect(epd, &at.at))));
	CTS_ASSERT(cts_peer_call(peer, "accept %d 0", at.epd).ret >= 0);
	CTS_OBSERVE(ends_connect(epd, at));
	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
}

SCENARIO(listen_dead_requests_make_room)
{
	int backlog = (int)cts_param("backlog");
	struct cts_peer *peer = cts_peer(), *doomed = cts_peer_start(cts_peer_node(peer));
	struct listener l = ends_listen(backlog);
	struct request waiting[ENDS_MOST_REQUESTS];
	int late = ends_far_open(peer);
	struct scif_portID from;
	scif_epd_t epd = -1;

	for (int i = 0; i < backlog; i++)
		ends_request(doomed, l.at);
	cts_peer_kill(doomed);
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_accept(l.epd, &from, &epd, 0)), EAGAIN));
	ends_requests(peer, l.at, waiting, backlog);
	CTS_ASSERT(ends_refused(ends_connect_of(peer, late, l.at)));
	for (int i = 0; i < backlog; i++)
		CTS_ASSERT(scif_close(ends_accept(l.epd, &waiting[i])) == 0);
}

static int close_in_child(void *arg)
{
	const struct listener *l = arg;

	return scif_close(l->epd) == 0 ? 0 : 1;
}

static int end_in_child(void *arg)
{
	(void)arg;
	return 0;
}

SCENARIO(listen_survives_child)
{
	struct listener l = ends_listen(2);
	struct cts_peer *peer = cts_peer();

	CTS_ASSERT(cts_wait_child(cts_fork(close_in_child, &l)) == 0);
	scif_epd_t epd = ends_serve(l, peer);
	CTS_CHECK(cts_far_alive(epd), "the parent accepts after the child closed its copy");
	CTS_ASSERT(scif_close(epd) == 0);

	struct cts_thread *waiting = cts_fx_accepting(l.epd);
	CTS_ASSERT(cts_wait_child(cts_fork(end_in_child, NULL)) == 0);
	struct request r = ends_request_begin(peer, l.at);
	CTS_ASSERT(cts_join(waiting).ret == 0);
	CTS_ASSERT(ends_request_end(&r).ret > 0);
	CTS_ASSERT(scif_close(cts_thread_epd(waiting)) == 0);
}

SCENARIO(listen_again_keeps_backlog)
{
	struct listener l = ends_listen(1);
	struct cts_peer *peer = cts_peer();
	int late = ends_far_open(peer);

	CTS_OBSERVE_ERROR(scif_listen(l.epd, 5), EISCONN);
	struct request r = ends_request(peer, l.at);
	CTS_CHECK_EFFECT(ends_refused(ends_connect_of(peer, late, l.at)),
			 "only one request waits, as before");
	CTS_ASSERT(scif_close(ends_accept(l.epd, &r)) == 0);
}
