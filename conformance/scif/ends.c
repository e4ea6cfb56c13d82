/* SPDX-License-Identifier: BSD-2-Clause */
/* Listeners, requests and connections made by hand: see ends.h. */
#include "ends.h"

#include <stdio.h>

struct listener ends_listen(int backlog)
{
	struct listener l = {.epd = cts_fx_unbound(), .at = {.node = cts_self_node()}};
	int port = scif_bind(l.epd, 0);

	CTS_REQUIRE(port > 0);
	CTS_REQUIRE(scif_listen(l.epd, backlog) == 0);
	l.at.port = (uint16_t)port;
	return l;
}

struct far_listener ends_far_listen(struct cts_peer *peer, int backlog)
{
	struct far_listener l = {.peer = peer};
	unsigned port, node;

	l.epd = (int)cts_peer_call(peer, "listener 0 %d", backlog).ret;
	CTS_REQUIRE(l.epd >= 0);
	CTS_REQUIRE(sscanf(cts_peer_text(peer), "%u %u", &port, &node) == 2);
	l.at = (struct scif_portID){.node = (uint16_t)node, .port = (uint16_t)port};
	return l;
}

int ends_far_open(struct cts_peer *peer)
{
	int far = (int)cts_peer_call(peer, "open").ret;

	CTS_REQUIRE(far >= 0);
	return far;
}

struct request ends_request_begin(struct cts_peer *peer, struct scif_portID at)
{
	struct request r = {.peer = peer, .far = ends_far_open(peer)};

	r.tag = cts_peer_begin(peer, "connect %d %u %u", r.far, at.node, at.port);
	return r;
}

struct request ends_request(struct cts_peer *peer, struct scif_portID at)
{
	struct request r = ends_request_begin(peer, at);

	cts_peer_asleep(peer, r.tag);
	return r;
}

void ends_requests(struct cts_peer *peer, struct scif_portID at, struct request *waiting, int count)
{
	CTS_REQUIRE(count <= ENDS_MOST_REQUESTS);
	for (int i = 0; i < count; i++)
		waiting[i] = ends_request(peer, at);
}

struct cts_result ends_request_end(const struct request *r)
{
	return cts_peer_end(r->peer, r->tag);
}

struct cts_result ends_connect_of(struct cts_peer *peer, int far, struct scif_portID at)
{
	return cts_peer_call(peer, "connect %d %u %u", far, at.node, at.port);
}

scif_epd_t ends_accept(scif_epd_t listener, const struct request *r)
{
	struct scif_portID from;
	scif_epd_t epd = -1;

	CTS_ASSERT(scif_accept(listener, &from, &epd, SCIF_ACCEPT_SYNC) == 0);
	struct cts_result end = ends_request_end(r);
	CTS_ASSERT(end.ret > 0);
	CTS_ASSERT(from.port == end.ret);
	cts_link(epd, r->peer, r->far);
	return epd;
}

scif_epd_t ends_serve(struct listener at, struct cts_peer *peer)
{
	struct request r = ends_request_begin(peer, at.at);

	return ends_accept(at.epd, &r);
}

int ends_connect(scif_epd_t epd, struct far_listener at)
{
	int tag = cts_peer_begin(at.peer, "accept %d %d", at.epd, SCIF_ACCEPT_SYNC);
	int port = scif_connect(epd, &at.at);

	CTS_ASSERT(port > 0);
	struct cts_result far = cts_peer_end(at.peer, tag);
	CTS_ASSERT(far.ret >= 0);
	cts_link(epd, at.peer, (int)far.ret);
	return port;
}

void ends_far_accept(struct far_listener at, scif_epd_t epd)
{
	struct cts_result far = cts_peer_call(at.peer, "accept %d %d", at.epd, SCIF_ACCEPT_SYNC);

	CTS_ASSERT(far.ret >= 0);
	cts_link(epd, at.peer, (int)far.ret);
}

bool ends_collected(struct cts_result r, int port)
{
	return r.ret == 0 || (r.ret > 0 && (port <= 0 || r.ret == port));
}

bool ends_talk(scif_epd_t one, scif_epd_t other)
{
	char out = 'a', in = 0;

	if (scif_send(one, &out, 1, SCIF_SEND_BLOCK) != 1 ||
	    scif_recv(other, &in, 1, SCIF_RECV_BLOCK) != 1 || in != 'a')
		return false;
	out = 'b';
	return scif_send(other, &out, 1, SCIF_SEND_BLOCK) == 1 &&
	       scif_recv(one, &in, 1, SCIF_RECV_BLOCK) == 1 && in == 'b';
}

bool ends_driver(void)
{
	return !strcmp(cts_profile(), "knc");
}

struct cts_result ends_observe_error(struct cts_result r, int err, const char *text)
{
	return cts_expect_error(cts_observe(r.ret, r.err), err, text);
}

struct turns turns_open(void)
{
	struct turns t;

	CTS_REQUIRE(pipe2(t.to_child, O_CLOEXEC) == 0);
	CTS_REQUIRE(pipe2(t.to_parent, O_CLOEXEC) == 0);
	return t;
}

void turns_close(struct turns *t)
{
	close(t->to_child[0]);
	close(t->to_child[1]);
	close(t->to_parent[0]);
	close(t->to_parent[1]);
}

void turn_to_child(const struct turns *t)
{
	CTS_REQUIRE(write(t->to_child[1], "", 1) == 1);
}

bool turn_of_child(const struct turns *t)
{
	char byte;

	return read(t->to_child[0], &byte, 1) == 1;
}

void turn_to_parent(const struct turns *t)
{
	if (write(t->to_parent[1], "", 1) != 1)
		_exit(99);
}

void turn_of_parent(const struct turns *t)
{
	struct pollfd entry = {.fd = t->to_parent[0], .events = POLLIN};
	char byte;

	CTS_REQUIRE(poll(&entry, 1, 4000) == 1);
	CTS_REQUIRE(read(t->to_parent[0], &byte, 1) == 1);
}
