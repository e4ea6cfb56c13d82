/* SPDX-License-Identifier: BSD-2-Clause */
/* Edge-triggered epoll on endpoints: an edge for every change that a program has to act on. */
#include "ends.h"

#define QUEUE 4095

/* Waits for the next edge that shows `bits`; the time limit of the case ends it. */
static bool edge_comes(int set, int bits)
{
	struct pollfd entry = {.fd = set, .events = POLLIN};

	while (cts_time_left()) {
		if (poll(&entry, 1, 100) == 1 && (cts_epoll_edge(set) & bits) == bits)
			return true;
	}
	return false;
}

/* Takes in whatever was reported on registration. */
static int edges_of(scif_epd_t epd, int events)
{
	int set = cts_epoll_edge_open(epd, events);

	cts_epoll_edge(set);
	return set;
}

SCENARIO(edge_on_arrival)
{
	scif_epd_t epd = cts_fx_connected();
	int set = edges_of(epd, POLLIN);

	CTS_OBSERVE(scif_get_fd(epd));
	for (int i = 0; i < 3; i++) {
		CTS_ASSERT(cts_epoll_edge(set) == 0);
		CTS_ASSERT(cts_far_send(epd, 3).ret == 3);
		CTS_ASSERT(edge_comes(set, POLLIN));
		CTS_ASSERT(cts_epoll_edge(set) == 0);
		CTS_ASSERT(scif_recv(epd, cts_fx_buffer(8), 8, 0) == 3);
		CTS_ASSERT(scif_recv(epd, cts_fx_buffer(8), 8, 0) == 0);
	}
	close(set);
}

SCENARIO(edge_on_room)
{
	scif_epd_t epd = cts_fx_connected();
	unsigned char *bytes = cts_fx_pattern(2 * QUEUE, 1);
	int set = edges_of(epd, POLLOUT);

	CTS_OBSERVE(scif_get_fd(epd));
	for (int i = 0; i < 3; i++) {
		CTS_ASSERT(scif_send(epd, bytes, 2 * QUEUE, 0) == QUEUE);
		CTS_ASSERT(scif_send(epd, bytes, 1, 0) == 0);
		cts_epoll_edge(set);
		CTS_ASSERT(cts_far_recv(epd, QUEUE, SCIF_RECV_BLOCK).ret == QUEUE);
		CTS_ASSERT(edge_comes(set, POLLOUT));
	}
	close(set);
}

SCENARIO(edge_on_request)
{
	struct cts_peer *peer = cts_peer();
	struct listener l = ends_listen(3);
	int set = edges_of(l.epd, POLLIN);

	CTS_OBSERVE(scif_get_fd(l.epd));
	for (int i = 0; i < 2; i++) {
		struct request r = ends_request(peer, l.at);

		CTS_ASSERT(edge_comes(set, POLLIN));
		CTS_ASSERT(scif_close(ends_accept(l.epd, &r)) == 0);
	}
	close(set);
}

SCENARIO(edge_on_hangup)
{
	scif_epd_t closed = cts_fx_connected(), killed = cts_fx_connected();
	int of_closed = edges_of(closed, POLLIN), of_killed = edges_of(killed, POLLIN);

	CTS_OBSERVE(scif_get_fd(closed));
	cts_far_close(closed);
	CTS_CHECK(edge_comes(of_closed, POLLHUP), "the close of the peer is reported");
	CTS_CHECK(cts_epoll_edge(of_killed) == 0, "the other endpoint has no edge");
	cts_far_kill(killed);
	CTS_CHECK(edge_comes(of_killed, POLLHUP), "the death of the peer is reported");
	close(of_closed);
	close(of_killed);
}

SCENARIO(edge_on_connect)
{
	struct far_listener at = ends_far_listen(cts_peer(), 1);
	scif_epd_t epd = cts_fx_unbound();

	cts_set_nonblocking(epd, true);
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_connect(epd, &at.at)), EINPROGRESS));
	int set = edges_of(epd, POLLOUT);
	CTS_OBSERVE(scif_get_fd(epd));
	ends_far_accept(at, epd);
	CTS_ASSERT(edge_comes(set, POLLOUT));
	CTS_ASSERT(ends_collected(CTS_RESULT(scif_connect(epd, &at.at)), 0));
	close(set);
}
