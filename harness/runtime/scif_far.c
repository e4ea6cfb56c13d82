/* SPDX-License-Identifier: BSD-2-Clause */
/* What the far end of one of our endpoints does, by its peer. */
#include "scif_endpoints.h"

#include "pattern.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

/* The endpoint with a far end that lives. */
static struct endpoint *far_of(scif_epd_t epd)
{
	struct endpoint *e = endpoint_find(epd);

	if (e->far == -1)
		port_resolve(e);
	if (e->far == -1)
		cts_unresolved("endpoint %d has no far end that a peer holds", epd);
	return e;
}

struct cts_peer *cts_peer_of(scif_epd_t epd)
{
	struct endpoint *e = endpoint_find(epd);

	if (!e->peer)
		port_resolve(e);
	if (!e->peer)
		cts_unresolved("endpoint %d has no peer", epd);
	return e->peer;
}

int cts_far(scif_epd_t epd)
{
	return far_of(epd)->far;
}

struct cts_result cts_far_send_at(scif_epd_t epd, int len, unsigned seed, size_t from, int flags)
{
	const struct endpoint *e = far_of(epd);

	return cts_peer_call(e->peer, "send %d %d %d %u %zu", e->far, len, flags, seed, from);
}

struct cts_result cts_far_send(scif_epd_t epd, int len)
{
	return cts_far_send_at(epd, len, 1, 0, SCIF_SEND_BLOCK);
}

struct cts_result cts_far_recv(scif_epd_t epd, int len, int flags)
{
	const struct endpoint *e = far_of(epd);

	return cts_peer_call(e->peer, "recv %d %d %d", e->far, len, flags);
}

bool cts_far_recv_is(scif_epd_t epd, int len, unsigned seed, size_t from)
{
	struct cts_result r = cts_far_recv(epd, len, SCIF_RECV_BLOCK);

	return r.ret == len && strtoumax(cts_peer_text(cts_peer_of(epd)), NULL, 10) ==
				       cts_hash_pattern((size_t)len, seed, from);
}

int cts_far_poll(scif_epd_t epd, int events)
{
	const struct endpoint *e = far_of(epd);

	return (int)cts_peer_call(e->peer, "poll %d %d 0", e->far, events).ret;
}

int cts_far_poll_wait(scif_epd_t epd, int events)
{
	int got;

	while (!(got = cts_far_poll(epd, events)) && cts_time_left())
		sched_yield();
	return got;
}

void cts_far_close(scif_epd_t epd)
{
	struct endpoint *e = far_of(epd);
	struct cts_result r = cts_peer_call(e->peer, "close %d", e->far);

	if (r.ret == -1)
		cts_unresolved("scif_close of the peer: %s", strerror(r.err));
	e->far = -1;
	cts_wait_hup(epd);
}

void cts_far_exit(scif_epd_t epd)
{
	cts_peer_exit(far_of(epd)->peer);
	cts_wait_hup(epd);
}

void cts_far_kill(scif_epd_t epd)
{
	cts_peer_kill(far_of(epd)->peer);
	cts_wait_hup(epd);
}

struct cts_result cts_far_fence_mark(scif_epd_t epd, int flags)
{
	const struct endpoint *e = far_of(epd);

	return cts_peer_call(e->peer, "fence_mark %d %d", e->far, flags);
}

struct cts_result cts_far_fence_wait(scif_epd_t epd, int mark)
{
	const struct endpoint *e = far_of(epd);

	return cts_peer_call(e->peer, "fence_wait %d %d", e->far, mark);
}

bool cts_far_alive(scif_epd_t epd)
{
	unsigned char there = 0xa7, back = 0;

	if (scif_send(epd, &there, 1, SCIF_SEND_BLOCK) != 1 ||
	    cts_far_recv(epd, 1, SCIF_RECV_BLOCK).ret != 1)
		return false;
	if (cts_far_send_at(epd, 1, 9, 0, SCIF_SEND_BLOCK).ret != 1)
		return false;
	return scif_recv(epd, &back, 1, SCIF_RECV_BLOCK) == 1 && back == cts_pattern(9, 0);
}

void cts_far_node(scif_epd_t epd, const char *state)
{
	const struct endpoint *e = endpoint_find(epd);

	if (!e->peer)
		cts_unresolved("endpoint %d has no peer", epd);
	cts_node(cts_peer_node(e->peer), state);
	if (!strcmp(state, "down"))
		cts_wait_hup(epd);
}
