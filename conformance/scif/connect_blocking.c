/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_connect on a blocking endpoint: completion, refusal, interruption, retry, and what happens
 * meanwhile. */
#include "ends.h"

#include <sched.h>

/* Below SCIF_PORT_RSVD, so that no endpoint gets it without asking for it. */
#define QUIET_PORT 1060

SCENARIO(connect_acceptor_sees_port)
{
	struct listener l = ends_listen(2);
	struct cts_peer *peer = cts_peer();
	struct scif_portID from = {0};
	scif_epd_t epd = -1;

	struct request r = ends_request(peer, l.at);
	CTS_ASSERT(scif_accept(l.epd, &from, &epd, 0) == 0);
	struct cts_result port = ends_request_end(&r);
	cts_observe(port.ret, port.err);
	CTS_ASSERT(port.ret > 0);
	CTS_CHECK(from.port == port.ret, "peer.port is what connect returned");
	CTS_CHECK(from.node == cts_peer_node(peer), "peer.node is the node of the connector");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(connect_is_complete)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	unsigned char *bytes = cts_fx_pattern(64, 1);

	CTS_OBSERVE(ends_connect(epd, at));
	CTS_ASSERT(scif_send(epd, bytes, 64, 0) == 64);
	CTS_CHECK(cts_far_recv_is(epd, 64, 1, 0), "what was sent at once arrived");
	CTS_ASSERT(cts_far_send(epd, 64).ret == 64);
	CTS_ASSERT(scif_recv(epd, cts_fx_buffer(64), 64, SCIF_RECV_BLOCK) == 64);
}

SCENARIO(connect_waits_for_accept)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	struct cts_thread *connecting = cts_begin_connect(epd, at.at);

	cts_wait_asleep(connecting);
	CTS_ASSERT(!cts_thread_done(connecting));
	CTS_ASSERT(cts_peer_call(at.peer, "poll %d %d 0", at.epd, POLLIN).ret == POLLIN);
	CTS_ASSERT(!cts_thread_done(connecting));
	ends_far_accept(at, epd);
	struct cts_result r = cts_join(connecting);
	CTS_ASSERT(cts_observe(r.ret, r.err).ret > 0);
	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
}

SCENARIO(connect_loopback_threads)
{
	struct listener l = ends_listen(1);
	struct cts_thread *accepting = cts_fx_accepting(l.epd);
	scif_epd_t epd = cts_fx_unbound();

	CTS_ASSERT(CTS_OBSERVE(scif_connect(epd, &l.at)).ret > 0);
	CTS_ASSERT(cts_join(accepting).ret == 0);
	CTS_CHECK(ends_talk(epd, cts_thread_epd(accepting)),
		  "the connection carries bytes both ways");
	CTS_ASSERT(scif_close(cts_thread_epd(accepting)) == 0);
}

SCENARIO(connect_retries)
{
	struct cts_peer *peer = cts_peer();
	scif_epd_t epd = cts_fx_unbound();
	/* Held, but nobody listens: on the peer's node, which may be ours, nobody else can get it. */
	int far = ends_far_open(peer);
	struct scif_portID dst = {
		.node = (uint16_t)cts_peer_node(peer),
		.port = (uint16_t)cts_peer_call(peer, "bind %d 0", far).ret,
	};
	int own = cts_param("bound") ? scif_bind(epd, 0) : 0;

	for (long i = cts_param("tries"); i > 0; i--)
		CTS_ASSERT(ends_refused(CTS_RESULT(scif_connect(epd, &dst))));
	struct cts_result held = CTS_RESULT(scif_bind(epd, 0));
	CTS_CHECK(cts_failed_with(held, EINVAL), "the endpoint has a port after the first refusal");
	CTS_REQUIRE(cts_peer_call(peer, "listen %d 1", far).ret == 0);
	int port = ends_connect(epd, (struct far_listener){.peer = peer, .epd = far, .at = dst});
	CTS_OBSERVE(port);
	CTS_CHECK(!own || port == own, "the local port is unchanged");
	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
}

/* One round of a server that appears while its client is at it already. */
static struct cts_result serve_once(void *arg)
{
	const struct scif_portID *at = arg;
	struct scif_portID from;
	scif_epd_t listener = scif_open(), epd = -1;
	struct cts_result r = CTS_RESULT(scif_bind(listener, at->port));

	if (r.ret != -1)
		r = CTS_RESULT(scif_listen(listener, 1));
	if (r.ret != -1)
		r = CTS_RESULT(scif_accept(listener, &from, &epd, SCIF_ACCEPT_SYNC));
	scif_close(listener);
	scif_close(epd);
	return r;
}

static struct cts_result connect_until_served(scif_epd_t epd, struct scif_portID at,
					      struct cts_thread *server)
{
	struct cts_result r;

	while (ends_refused(r = CTS_RESULT(scif_connect(epd, &at))) && !cts_thread_done(server))
		sched_yield();
	return r;
}

SCENARIO(connect_races_listen)
{
	struct scif_portID at = {.node = cts_self_node(), .port = QUIET_PORT};

	for (long i = cts_param("rounds"); i > 0; i--) {
		scif_epd_t epd = scif_open();
		struct cts_thread *server = cts_thread_start(serve_once, &at);
		struct cts_result r = connect_until_served(epd, at, server);

		CTS_ASSERT(cts_observe(r.ret, r.err).ret > 0);
		CTS_ASSERT(cts_join(server).ret == 0);
		CTS_ASSERT(scif_close(epd) == 0);
	}
}

SCENARIO(connections_are_separate)
{
	struct far_listener at = ends_far_listen(cts_peer(), 2);
	scif_epd_t first = cts_fx_unbound(), second = cts_fx_unbound();
	int port = ends_connect(first, at);

	CTS_OBSERVE(port);
	CTS_ASSERT(ends_connect(second, at) != port);
	CTS_ASSERT(cts_far_send_at(first, 20, 1, 0, SCIF_SEND_BLOCK).ret == 20);
	CTS_CHECK(cts_poll(second, POLLIN) == 0,
		  "bytes of the first connection do not show at the second");
	cts_far_close(first);
	CTS_CHECK(cts_far_alive(second), "the end of the first connection leaves the second alone");
}

SCENARIO(connect_to_full_queue)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t waiting = cts_fx_unbound(), late = cts_fx_unbound();
	struct cts_thread *connecting = cts_fx_connecting_to(waiting, at.at);

	CTS_OBSERVE_ERROR(scif_connect(late, &at.at), ECONNREFUSED);
	CTS_OBSERVE_ERROR(scif_connect(late, &at.at), ECONNREFUSED);
	CTS_ASSERT(!cts_thread_done(connecting));
	ends_far_accept(at, waiting);
	CTS_ASSERT(cts_join(connecting).ret > 0);
	CTS_CHECK_EFFECT(ends_connect(late, at) > 0,
			 "the control, with room in the queue, succeeds");
}

SCENARIO(connect_listener_closed)
{
	struct cts_peer *peer = cts_peer();
	struct far_listener at = ends_far_listen(peer, 2), other = ends_far_listen(peer, 1);
	scif_epd_t epd = cts_fx_unbound(), second = cts_fx_unbound();
	struct cts_thread *first = cts_fx_connecting_to(epd, at.at);
	struct cts_thread *another = cts_fx_connecting_to(second, at.at);

	CTS_REQUIRE(cts_peer_call(peer, "close %d", at.epd).ret == 0);
	ends_observe_error(cts_join(first), ECONNREFUSED, "the first waiting connect is refused");
	ends_observe_error(cts_join(another), ECONNREFUSED,
			   "the second waiting connect is refused");
	CTS_CHECK_EFFECT(ends_connect(epd, other) > 0,
			 "the control, to another listener, succeeds");
}

SCENARIO(connect_listener_killed)
{
	struct cts_peer *peer = cts_peer(), *doomed = cts_peer_start(cts_peer_node(peer));
	struct far_listener at = ends_far_listen(doomed, 1), other = ends_far_listen(peer, 1);
	scif_epd_t epd = cts_fx_unbound();
	struct cts_thread *connecting = cts_fx_connecting_to(epd, at.at);

	cts_peer_kill(doomed);
	ends_observe_error(cts_join(connecting), ECONNREFUSED, "the waiting connect is refused");
	CTS_CHECK_EFFECT(ends_connect(epd, other) > 0,
			 "the control, to another listener, succeeds");
}

SCENARIO(connect_after_listener_closed)
{
	struct far_listener at = ends_far_listen(cts_peer(), 2);
	scif_epd_t connected = cts_fx_unbound(), late = cts_fx_unbound();

	ends_connect(connected, at);
	CTS_REQUIRE(cts_peer_call(at.peer, "close %d", at.epd).ret == 0);
	CTS_OBSERVE_ERROR(scif_connect(late, &at.at), ECONNREFUSED);
	CTS_CHECK_EFFECT(cts_far_alive(connected), "the connection made before lives on");
}

SCENARIO(connect_interrupted_leaves_no_dead_request)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(2);
	struct request first = ends_request(peer, l.at);

	cts_peer_interrupt(peer, first.tag);
	ends_observe_error(ends_request_end(&first), EINTR,
			   "the interrupted connect ends with EINTR");
	struct request second = ends_request(peer, l.at);
	scif_epd_t epd = ends_accept(l.epd, &second);
	CTS_CHECK_EFFECT(cts_far_alive(epd),
			 "the accepted endpoint is connected to the second client");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(connect_again_after_signal)
{
	struct far_listener at = ends_far_listen(cts_peer(), 2);
	scif_epd_t epd = cts_fx_unbound();
	int own = scif_bind(epd, 0);
	struct cts_thread *connecting = cts_fx_connecting_to(epd, at.at);

	cts_thread_signal(connecting, SIGUSR1);
	ends_observe_error(cts_join(connecting), EINTR, "the interrupted connect ends with EINTR");
	struct cts_thread *again = cts_fx_connecting_to(epd, at.at);
	ends_far_accept(at, epd);
	CTS_CHECK_EFFECT(cts_join(again).ret == own,
			 "the repeated connect succeeds from the same port");
	CTS_CHECK_EFFECT(cts_far_alive(epd), "the connection carries bytes both ways");
}

SCENARIO(connect_while_connecting)
{
	struct far_listener at = ends_far_listen(cts_peer(), 2);
	scif_epd_t epd = cts_fx_unbound();
	struct cts_thread *connecting = cts_fx_connecting_to(epd, at.at);

	CTS_OBSERVE_ERROR(scif_connect(epd, &at.at), EISCONN);
	CTS_OBSERVE_ERROR(scif_connect(epd, &at.at), EISCONN);
	CTS_CHECK_EFFECT(!cts_thread_done(connecting), "the first connect goes on waiting");
	ends_far_accept(at, epd);
	CTS_CHECK_EFFECT(cts_join(connecting).ret > 0,
			 "the first connect succeeds once it is accepted");
}

SCENARIO(connect_without_descriptors)
{
	struct far_listener at = ends_far_listen(cts_peer(), 3);
	scif_epd_t epd = cts_fx_unbound();
	int tag = cts_peer_begin(at.peer, "accept %d %d", at.epd, SCIF_ACCEPT_SYNC);

	cts_peer_asleep(at.peer, tag);
	cts_limit(RLIMIT_NOFILE, "current");
	struct cts_result r = CTS_OBSERVE(scif_connect(epd, &at.at));
	cts_limit_restore(RLIMIT_NOFILE);
	if (r.ret == -1) {
		CTS_ASSERT(r.err == ENOBUFS);
		CTS_CHECK_EFFECT(scif_connect(epd, &at.at) > 0,
				 "with descriptors the same call succeeds");
	}
	CTS_ASSERT(cts_peer_end(at.peer, tag).ret >= 0);
}

SCENARIO(connect_to_lost_node)
{
	struct cts_peer *peer = cts_peer();
	struct far_listener at = ends_far_listen(peer, 2);
	int node = at.at.node;
	scif_epd_t epd = cts_fx_unbound();

	cts_node(node, "down");
	CTS_OBSERVE_ERROR(scif_connect(epd, &at.at), ENODEV);
	CTS_OBSERVE_ERROR(scif_connect(epd, &at.at), ENODEV);
	cts_node(node, "up");
	CTS_CHECK_EFFECT(ends_connect(epd, ends_far_listen(cts_peer_start(node), 1)) > 0,
			 "the control, with the node up again, succeeds");
}

SCENARIO(connect_node_lost_while_waiting)
{
	struct far_listener at = ends_far_listen(cts_peer(), 2);
	scif_epd_t epd = cts_fx_unbound();
	struct cts_thread *connecting = cts_fx_connecting_to(epd, at.at);

	cts_node(at.at.node, "down");
	ends_observe_error(cts_join(connecting), ENODEV, "the waiting connect ends with ENODEV");
}
