/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_accept: order, waiting, what it hands out, and requests that were given up. */
#include "ends.h"

static scif_epd_t accept_now(scif_epd_t listener, struct scif_portID *from)
{
	scif_epd_t epd = -1;

	CTS_ASSERT(scif_accept(listener, from, &epd, 0) == 0);
	CTS_ASSERT(epd >= 0);
	return epd;
}

SCENARIO(accept_reports_the_requester)
{
	struct cts_peer *peer = cts_peer(), *neighbour = cts_peer_start(cts_self_node());
	struct listener l = ends_listen(2);
	struct scif_portID from = {0};

	struct request r = ends_request(peer, l.at);
	scif_epd_t epd = accept_now(l.epd, &from);
	CTS_CHECK(from.node == cts_peer_node(peer), "peer.node of a request from another node");
	CTS_CHECK(from.port == ends_request_end(&r).ret,
		  "peer.port of a request from another node");
	CTS_ASSERT(scif_close(epd) == 0);

	int far = ends_far_open(neighbour);
	uint16_t port = cts_fx_free_port();
	CTS_REQUIRE(cts_peer_call(neighbour, "bind %d %u", far, port).ret == port);
	int tag = cts_peer_begin(neighbour, "connect %d %u %u", far, l.at.node, l.at.port);
	cts_peer_asleep(neighbour, tag);
	epd = accept_now(l.epd, &from);
	CTS_CHECK(from.node == cts_self_node(), "peer.node of a request from the own node");
	CTS_CHECK(from.port == port, "peer.port of a bound requester");
	CTS_ASSERT(cts_peer_end(neighbour, tag).ret == port);
	CTS_ASSERT(scif_close(epd) == 0);
}

/* The far end of the endpoint that an accept gets which waits until there is a request. */
static int far_end_of_waiting(struct listener l, struct cts_thread *accepting)
{
	CTS_ASSERT(!cts_thread_done(accepting));
	struct request r = ends_request_begin(cts_peer(), l.at);
	struct cts_result got = cts_join(accepting);
	cts_expect_ok(cts_observe(got.ret, got.err), "the waiting accept");
	CTS_ASSERT(ends_request_end(&r).ret > 0);
	return r.far;
}

SCENARIO(accept_blocks_until_requested)
{
	struct listener l = ends_listen(1);
	struct cts_thread *accepting = cts_begin_accept(l.epd, SCIF_ACCEPT_SYNC);

	cts_wait_asleep(accepting);
	CTS_ASSERT(!cts_thread_done(accepting));
	/* Before the endpoint is asked for, which there is none of until then. */
	int far = far_end_of_waiting(l, accepting);
	cts_link(cts_thread_epd(accepting), cts_peer(), far);
	CTS_CHECK(cts_far_alive(cts_thread_epd(accepting)),
		  "the connection carries bytes both ways");
	CTS_ASSERT(scif_close(cts_thread_epd(accepting)) == 0);
}

SCENARIO(accept_in_order)
{
	int count = (int)cts_param("requests");
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(count);
	struct request waiting[ENDS_MOST_REQUESTS];

	ends_requests(peer, l.at, waiting, count);
	/* ends_accept checks that the endpoint accepted belongs to just this request. */
	for (int i = 0; i < count; i++)
		CTS_ASSERT(scif_close(ends_accept(l.epd, &waiting[i])) == 0);
	CTS_CHECK(cts_poll(l.epd, POLLIN) == 0, "the queue is empty");
}

SCENARIO(accept_connects_the_requester)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(2);
	scif_epd_t first = ends_serve(l, peer), second = ends_serve(l, peer);
	unsigned char *bytes = cts_fx_pattern(32, 1), *got = cts_fx_buffer(32);

	CTS_ASSERT(scif_send(first, bytes, 32, 0) == 32);
	CTS_CHECK(cts_far_poll(second, POLLIN) == 0, "the other requester received nothing");
	CTS_CHECK(cts_far_recv_is(first, 32, 1, 0), "the requester received the bytes");
	CTS_ASSERT(cts_far_send(second, 16).ret == 16);
	CTS_CHECK(cts_poll(first, POLLIN) == 0, "the other endpoint received nothing");
	CTS_ASSERT(scif_recv(second, got, 16, SCIF_RECV_BLOCK) == 16);
	CTS_CHECK(cts_is_pattern(got, 16, 1), "the endpoint received the bytes of its requester");
	CTS_ASSERT(scif_close(first) == 0);
	CTS_ASSERT(scif_close(second) == 0);
}

SCENARIO(accept_many)
{
	int count = (int)cts_param("connections");
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(1);
	scif_epd_t *epds = (scif_epd_t *)(void *)cts_fx_buffer((size_t)count * sizeof *epds);

	for (int i = 0; i < count; i++)
		epds[i] = ends_serve(l, peer);
	for (int i = 0; i < count; i++)
		CTS_ASSERT(cts_poll(epds[i], POLLIN | POLLOUT) == POLLOUT);
	CTS_CHECK(cts_far_alive(epds[0]), "the first connection still carries bytes");
	CTS_CHECK(cts_far_alive(epds[count - 1]), "the last connection carries bytes");
	for (int i = 0; i < count; i++)
		CTS_ASSERT(scif_close(epds[i]) == 0);
}

SCENARIO(accepted_ends_with_requester)
{
	struct listener l = ends_listen(1);
	scif_epd_t epd = ends_serve(l, cts_peer());

	cts_far_close(epd);
	CTS_CHECK(cts_poll(epd, POLLIN) == POLLHUP, "the accepted endpoint is disconnected");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_send(epd, "x", 1, 0)), ECONNRESET),
		  "it cannot send");
	CTS_CHECK(cts_failed_with(CTS_RESULT(scif_recv(epd, cts_fx_buffer(1), 1, SCIF_RECV_BLOCK)),
				  ECONNRESET),
		  "it has nothing to receive");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accepted_drains_after_requester)
{
	int bytes = (int)cts_param("bytes");
	struct listener l = ends_listen(1);
	scif_epd_t epd = ends_serve(l, cts_peer());
	unsigned char *got = cts_fx_buffer((size_t)bytes);

	CTS_REQUIRE(cts_far_send(epd, bytes).ret == bytes);
	cts_far_close(epd);
	CTS_ASSERT(CTS_OBSERVE(scif_recv(epd, got, bytes, SCIF_RECV_BLOCK)).ret == bytes);
	CTS_CHECK(cts_is_pattern(got, (size_t)bytes, 1), "the bytes are those that were sent");
	CTS_ASSERT(
		cts_failed_with(CTS_RESULT(scif_recv(epd, got, 1, SCIF_RECV_BLOCK)), ECONNRESET));
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accept_readable_event_wakes_poll)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(2);
	struct cts_thread *by_scif = cts_fx_polling(l.epd, POLLIN),
			  *by_system = cts_fx_polling2(l.epd, POLLIN);
	struct request r = ends_request_begin(peer, l.at);

	CTS_ASSERT(CTS_OBSERVE(cts_join(by_scif).ret).ret == POLLIN);
	CTS_ASSERT(cts_join(by_system).ret == POLLIN);
	CTS_ASSERT(scif_close(ends_accept(l.epd, &r)) == 0);
}

SCENARIO(accepted_close_on_exec)
{
	struct listener l = ends_listen(1);
	scif_epd_t epd = ends_serve(l, cts_peer());
	struct cts_result flags = CTS_OBSERVE(fcntl(epd, F_GETFD));

	CTS_ASSERT(flags.ret == 0 || flags.ret == FD_CLOEXEC);
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accept_ignores_nonblocking_mode)
{
	struct listener l = ends_listen(1);

	cts_set_nonblocking(l.epd, true);
	struct cts_thread *accepting = cts_fx_accepting(l.epd);
	far_end_of_waiting(l, accepting);
	CTS_ASSERT(scif_close(cts_thread_epd(accepting)) == 0);
}

static int accept_as_child(void *arg)
{
	struct listener *l = arg;
	struct scif_portID from;
	scif_epd_t epd = -1;

	if (scif_accept(l->epd, &from, &epd, SCIF_ACCEPT_SYNC) != 0)
		return 1;
	return scif_send(epd, "c", 1, SCIF_SEND_BLOCK) == 1 ? 0 : 2;
}

SCENARIO(accept_in_forked_child)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(2);
	pid_t child = cts_fork(accept_as_child, &l);
	struct request r = ends_request_begin(peer, l.at);

	CTS_ASSERT(ends_request_end(&r).ret > 0);
	CTS_ASSERT(cts_wait_child(child) == 0);
	CTS_CHECK(cts_peer_call(peer, "recv %d 1 1", r.far).ret == 1,
		  "the child sent on what it accepted");
	struct cts_result end = cts_peer_call(peer, "recv %d 1 1", r.far);
	CTS_CHECK(cts_failed_with(end, ECONNRESET), "the connection ended with the child");
	if (ends_driver())
		return;
	scif_epd_t epd = ends_serve(l, peer);
	CTS_CHECK(cts_far_alive(epd), "the parent still accepts");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accept_from_two_threads)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(2);
	struct cts_thread *one = cts_fx_accepting(l.epd), *two = cts_fx_accepting(l.epd);
	struct request first = ends_request_begin(peer, l.at),
		       second = ends_request_begin(peer, l.at);

	CTS_ASSERT(cts_join(one).ret == 0);
	CTS_ASSERT(cts_join(two).ret == 0);
	CTS_CHECK(cts_thread_epd(one) != cts_thread_epd(two),
		  "each thread has an endpoint of its own");
	CTS_ASSERT(ends_request_end(&first).ret > 0);
	CTS_ASSERT(ends_request_end(&second).ret > 0);
	CTS_ASSERT(scif_close(cts_thread_epd(one)) == 0);
	CTS_ASSERT(scif_close(cts_thread_epd(two)) == 0);
}

SCENARIO(accept_passes_over_dead_request)
{
	struct cts_peer *peer = cts_peer(), *doomed = cts_peer_start(cts_peer_node(peer));
	struct listener l = ends_listen(3);
	struct request live;

	ends_request(doomed, l.at);
	cts_peer_kill(doomed);
	live = ends_request(peer, l.at);
	scif_epd_t epd = ends_accept(l.epd, &live);
	CTS_CHECK(cts_far_alive(epd), "what was accepted is the request of the living client");
	CTS_ASSERT(scif_close(epd) == 0);

	doomed = cts_peer_start(cts_peer_node(peer));
	ends_request(doomed, l.at);
	cts_peer_kill(doomed);
	struct cts_thread *accepting = cts_fx_accepting(l.epd);
	live = ends_request_begin(peer, l.at);
	CTS_ASSERT(cts_join(accepting).ret == 0);
	CTS_ASSERT(ends_request_end(&live).ret > 0);
	CTS_ASSERT(scif_close(cts_thread_epd(accepting)) == 0);
}

SCENARIO(accept_from_own_process)
{
	struct listener l = ends_listen(1);
	scif_epd_t epd = cts_fx_unbound();
	struct cts_thread *connecting = cts_fx_connecting_to(epd, l.at);
	struct scif_portID from = {0};
	scif_epd_t accepted = accept_now(l.epd, &from);
	struct cts_result r = cts_join(connecting);

	CTS_ASSERT(cts_observe(r.ret, r.err).ret > 0);
	CTS_CHECK(from.node == cts_self_node(), "peer.node is the own node");
	CTS_CHECK(from.port == r.ret, "peer.port is the port of the connector");
	CTS_CHECK(ends_talk(epd, accepted), "the connection carries bytes both ways");
	CTS_ASSERT(scif_close(accepted) == 0);
}

SCENARIO(accept_again_after_signal)
{
	struct listener l = ends_listen(1);
	struct cts_thread *accepting = cts_fx_accepting(l.epd);

	cts_thread_signal(accepting, SIGUSR1);
	ends_observe_error(cts_join(accepting), EINTR, "the interrupted accept ends with EINTR");
	scif_epd_t epd = ends_serve(l, cts_peer());
	CTS_CHECK_EFFECT(cts_far_alive(epd), "the listener serves the next request");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accept_without_descriptors)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(1);
	struct request first = ends_request(peer, l.at);
	struct scif_portID from;
	scif_epd_t epd = -1;
	int none = ends_driver() ? EMFILE : ENOBUFS;

	cts_limit(RLIMIT_NOFILE, "current");
	for (int i = 0; i < 3; i++) {
		struct cts_result r = CTS_RESULT(scif_accept(l.epd, &from, &epd, 0));

		CTS_ASSERT(r.ret == -1);
		CTS_ASSERT(r.err == none || (i && r.err == EAGAIN));
		if (r.err == none)
			cts_observe(r.ret, r.err);
	}
	cts_limit_restore(RLIMIT_NOFILE);
	if (scif_accept(l.epd, &from, &epd, 0) == 0) {
		CTS_ASSERT(ends_request_end(&first).ret > 0);
		CTS_ASSERT(scif_close(epd) == 0);
	} else {
		struct cts_result refused = ends_request_end(&first);

		CTS_CHECK_EFFECT(cts_failed_with(refused, ECONNREFUSED), "the client was refused");
	}
	epd = ends_serve(l, peer);
	CTS_CHECK_EFFECT(cts_far_alive(epd), "the next client is served");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accept_after_lost_node)
{
	struct cts_peer *peer = cts_peer(), *neighbour = cts_peer_start(cts_self_node());
	struct listener l = ends_listen(3);
	struct scif_portID from;
	scif_epd_t epd = -1;

	ends_request(peer, l.at);
	cts_node(cts_peer_node(peer), "down");
	CTS_OBSERVE_ERROR(scif_accept(l.epd, &from, &epd, 0), ENODEV);
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_accept(l.epd, &from, &epd, 0)), EAGAIN));
	epd = ends_serve(l, neighbour);
	CTS_CHECK_EFFECT(cts_far_alive(epd), "a request of another node is served");
	CTS_ASSERT(scif_close(epd) == 0);
}

SCENARIO(accepted_outlives_listener)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(2);
	scif_epd_t first = ends_serve(l, peer), second = ends_serve(l, peer);

	CTS_ASSERT(CTS_OBSERVE(scif_close(l.epd)).ret == 0);
	CTS_CHECK(cts_far_alive(first), "the first accepted endpoint lives on");
	CTS_CHECK(cts_far_alive(second), "the second accepted endpoint lives on");
	CTS_ASSERT(scif_close(first) == 0);
	CTS_ASSERT(scif_close(second) == 0);
}

struct midway {
	struct listener *listener;
	struct cts_thread *closing;
};

/* Runs inside the accept, between two of its library calls: another thread closes the listener. */
static void close_listener(void *arg)
{
	struct midway *m = arg;

	m->closing = cts_begin_close(m->listener->epd);
	/* The close may be waiting for the accept to get out of the way, or be over. */
	cts_wait_asleep(m->closing);
}

/* Accepts with the listener closed before the nth library call of a class; false when there was
 * none. */
static bool accept_closed_before(const char *class, int nth, struct cts_peer *peer,
				 struct cts_result *r)
{
	struct listener l = ends_listen(1);
	struct request request = ends_request(peer, l.at);
	struct midway m = {.listener = &l};
	struct scif_portID from = {7, 7};
	scif_epd_t epd = -77;

	cts_before_call(class, nth, close_listener, &m);
	*r = CTS_RESULT(scif_accept(l.epd, &from, &epd, 0));
	bool closed = cts_fault_disarm(NULL);
	if (closed)
		CTS_ASSERT(cts_join(m.closing).ret == 0);
	else
		CTS_ASSERT(scif_close(l.epd) == 0);
	struct cts_result end = ends_request_end(&request);
	if (r->ret == 0) {
		CTS_ASSERT(end.ret > 0);
		CTS_ASSERT(scif_close(epd) == 0);
	} else {
		/* To the driver's connector the connection was there, for a moment. */
		CTS_ASSERT(cts_failed_with(end, ECONNREFUSED) ||
			   (ends_driver() && r->err == ENOENT));
		CTS_ASSERT(epd == -77 && from.node == 7 && from.port == 7);
	}
	return closed;
}

SCENARIO(accept_listener_closed_midway)
{
	struct cts_peer *peer = cts_peer();
	struct cts_result r;
	int missed = 0;

	cts_need("inject");
	/* Before the request is taken from the queue the call is merely interrupted; after it there
	 * is no entry. To a driver both halves are requests, and what its library opens before them
	 * may get the number of the listener. */
	for (int nth = 1; accept_closed_before(ends_driver() ? "request" : "any", nth, peer, &r);
	     nth++) {
		CTS_ASSERT(r.ret == 0 || r.err == ENOENT || r.err == EINTR || r.err == EBADF ||
			   (ends_driver() && r.err == EINVAL));
		if (r.ret == -1 && r.err == ENOENT) {
			cts_observe(r.ret, r.err);
			missed++;
		}
	}
	cts_expect_ok(r, "the accept that nothing came between");
	CTS_ASSERT(missed > 0);
}
