/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_connect in non-blocking mode: begun at once, finished by the accept, collected by one more
 * call. */
#include "ends.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>

static struct cts_result begin_nonblocking(scif_epd_t epd, struct scif_portID at)
{
	cts_set_nonblocking(epd, true);
	return CTS_RESULT(scif_connect(epd, &at));
}

static bool in_progress(struct cts_result r)
{
	return cts_failed_with(r, EINPROGRESS);
}

static void check_collected(scif_epd_t epd, struct scif_portID at, int port)
{
	CTS_ASSERT(ends_collected(CTS_OBSERVE(scif_connect(epd, &at)), port));
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_connect(epd, &at)), EISCONN));
}

SCENARIO(connect_to_self)
{
	struct listener l = ends_listen(1);
	scif_epd_t epd = cts_fx_unbound(), accepted = -1;
	struct scif_portID from = {0};

	CTS_ASSERT(in_progress(begin_nonblocking(epd, l.at)));
	CTS_CHECK(cts_poll(epd, POLLOUT) == 0, "nothing is ready before the accept");
	CTS_ASSERT(cts_poll_wait(l.epd, POLLIN) == POLLIN);
	CTS_ASSERT(scif_accept(l.epd, &from, &accepted, 0) == 0);
	CTS_ASSERT(cts_poll_wait(epd, POLLOUT) == POLLOUT);
	check_collected(epd, l.at, from.port);
	CTS_CHECK(from.node == cts_self_node(), "the acceptor is told the own node");
	CTS_CHECK(ends_talk(epd, accepted), "the connection carries bytes both ways");
	CTS_ASSERT(scif_close(accepted) == 0);
}

SCENARIO(connect_in_progress)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();

	CTS_ASSERT(in_progress(begin_nonblocking(epd, at.at)));
	for (int i = 0; i < 3; i++)
		CTS_ASSERT(in_progress(CTS_RESULT(scif_connect(epd, &at.at))));
	CTS_CHECK(cts_poll(epd, POLLIN | POLLOUT) == 0, "the endpoint is not ready");
	ends_far_accept(at, epd);
	CTS_ASSERT(cts_poll_wait(epd, POLLOUT) == POLLOUT);
	CTS_ASSERT(ends_collected(CTS_OBSERVE(scif_connect(epd, &at.at)), 0));
}

SCENARIO(connect_nonblocking_loop)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	int own = scif_bind(epd, 0);
	struct cts_result r = begin_nonblocking(epd, at.at);

	int tag = cts_peer_begin(at.peer, "accept %d %d", at.epd, SCIF_ACCEPT_SYNC);
	while (in_progress(r)) {
		sched_yield();
		r = CTS_RESULT(scif_connect(epd, &at.at));
	}
	CTS_ASSERT(ends_collected(cts_observe(r.ret, r.err), own));
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_connect(epd, &at.at)), EISCONN));
	cts_link(epd, at.peer, (int)cts_peer_end(at.peer, tag).ret);
	cts_set_nonblocking(epd, false);
	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
}

SCENARIO(connect_nonblocking_poll)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	int own = scif_bind(epd, 0);

	CTS_ASSERT(in_progress(begin_nonblocking(epd, at.at)));
	struct cts_thread *polling = cts_fx_polling2(epd, POLLOUT);
	ends_far_accept(at, epd);
	CTS_ASSERT(cts_join(polling).ret == POLLOUT);
	check_collected(epd, at.at, own);
	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
}

static struct cts_result select_for_writing(void *arg)
{
	scif_epd_t epd = *(scif_epd_t *)arg;
	fd_set out;

	FD_ZERO(&out);
	FD_SET(epd, &out);
	return CTS_RESULT(select(epd + 1, NULL, &out, NULL, NULL));
}

SCENARIO(connect_nonblocking_select)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	int own = scif_bind(epd, 0);

	CTS_REQUIRE(epd < FD_SETSIZE);
	CTS_ASSERT(in_progress(begin_nonblocking(epd, at.at)));
	CTS_ASSERT(cts_select(epd, POLLOUT) == 0);
	struct cts_thread *selecting = cts_thread_start(select_for_writing, &epd);
	cts_wait_asleep(selecting);
	CTS_ASSERT(!cts_thread_done(selecting));
	ends_far_accept(at, epd);
	CTS_ASSERT(cts_join(selecting).ret == 1);
	check_collected(epd, at.at, own);
}

/* A refusal may be known at once or only after a while; either way it is told once. */
static struct cts_result collect_refusal(scif_epd_t epd, struct scif_portID at)
{
	struct cts_result r = begin_nonblocking(epd, at);

	if (!in_progress(r))
		return r;
	CTS_ASSERT(cts_poll_wait(epd, POLLOUT) != 0);
	return CTS_RESULT(scif_connect(epd, &at));
}

SCENARIO(connect_nonblocking_refused)
{
	struct cts_peer *peer = cts_peer();
	struct far_listener at = ends_far_listen(peer, 1);
	struct scif_portID nobody = cts_fx_peer_port_unused();
	scif_epd_t epd = cts_fx_unbound();

	ends_observe_error(collect_refusal(epd, nobody), ECONNREFUSED, "the refusal is told");
	CTS_ASSERT(in_progress(CTS_RESULT(scif_connect(epd, &at.at))));
	ends_far_accept(at, epd);
	CTS_ASSERT(cts_poll_wait(epd, POLLOUT) == POLLOUT);
	CTS_CHECK_EFFECT(ends_collected(CTS_RESULT(scif_connect(epd, &at.at)), 0),
			 "the same endpoint connects elsewhere");
	CTS_CHECK_EFFECT(cts_far_alive(epd), "the connection carries bytes both ways");
}

SCENARIO(connect_nonblocking_then_blocking)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	struct scif_portID nobody = cts_fx_peer_port_unused();
	scif_epd_t epd = cts_fx_unbound();

	ends_observe_error(collect_refusal(epd, nobody), ECONNREFUSED, "the refusal is told");
	cts_set_nonblocking(epd, false);
	CTS_CHECK_EFFECT(ends_connect(epd, at) > 0, "the same endpoint connects in blocking mode");
	CTS_CHECK_EFFECT(cts_far_alive(epd), "the connection carries bytes both ways");
}

SCENARIO(connect_collected_in_blocking_mode)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();
	int own = scif_bind(epd, 0);

	CTS_ASSERT(in_progress(begin_nonblocking(epd, at.at)));
	cts_set_nonblocking(epd, false);
	ends_far_accept(at, epd);
	CTS_ASSERT(cts_poll_wait(epd, POLLOUT) == POLLOUT);
	check_collected(epd, at.at, own);
	CTS_CHECK(cts_far_alive(epd), "the connection carries bytes both ways");
}

static int wait_for(int set)
{
	struct epoll_event event = {.events = 0};

	CTS_ASSERT(epoll_wait(set, &event, 1, 2000) == 1);
	return (int)event.events;
}

static int watch(scif_epd_t epd, uint32_t events)
{
	struct epoll_event event = {.events = events | EPOLLET};
	int set = epoll_create1(EPOLL_CLOEXEC);

	CTS_REQUIRE(set >= 0);
	CTS_ASSERT(epoll_ctl(set, EPOLL_CTL_ADD, scif_get_fd(epd), &event) == 0);
	while (epoll_wait(set, &event, 1, 0) > 0)
		;
	return set;
}

SCENARIO(descriptor_keeps_epoll_registration)
{
	struct cts_peer *peer = cts_peer();
	struct far_listener at = ends_far_listen(peer, 1);
	scif_epd_t listener = cts_fx_unbound(), epd = cts_fx_unbound();
	int requests = watch(listener, EPOLLIN), room = watch(epd, EPOLLOUT);
	int port = scif_bind(listener, 0);

	CTS_ASSERT(scif_listen(listener, 1) == 0);
	CTS_ASSERT(scif_get_fd(listener) == listener);
	struct request r =
		ends_request(peer, (struct scif_portID){cts_self_node(), (uint16_t)port});
	CTS_CHECK(wait_for(requests) & EPOLLIN,
		  "a set that knew the new endpoint reports the request");
	scif_epd_t accepted = ends_accept(listener, &r);
	int arrivals = watch(accepted, EPOLLIN);
	CTS_ASSERT(cts_far_send(accepted, 1).ret == 1);
	CTS_CHECK(wait_for(arrivals) & EPOLLIN,
		  "a set that knew the accepted endpoint reports bytes");
	CTS_OBSERVE(ends_connect(epd, at));
	CTS_ASSERT(scif_get_fd(epd) == epd);
	CTS_CHECK(wait_for(room) & EPOLLOUT,
		  "a set that knew the new endpoint reports the connection");
	CTS_ASSERT(scif_close(accepted) == 0);
	close(arrivals);
	close(room);
	close(requests);
}
