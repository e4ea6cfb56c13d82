/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_event_register: which events a handler is told, which not, and what it may do. */
#include "ends.h"

#include <stdatomic.h>

#define NEW_NODE 5
#define NEVER	 1000

static void register_handler(void)
{
	CTS_ASSERT(CTS_OBSERVE(scif_event_register(cts_event_handler)).ret == 0);
}

static bool event_is(int i, int event, int node)
{
	struct cts_event e = cts_event_at(i);

	return e.event == event && e.node == node;
}

SCENARIO(event_node_removed)
{
	int node = cts_peer_node(cts_peer());

	register_handler();
	cts_node(node, "down");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_REMOVED, node));
	CTS_CHECK(cts_event_count() == 1, "there was one event");
}

SCENARIO(event_node_added)
{
	register_handler();
	cts_node(NEW_NODE, "add");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_ADDED, NEW_NODE));
	CTS_CHECK(cts_event_count() == 1, "there was one event");
}

SCENARIO(event_order)
{
	int rounds = (int)cts_param("rounds");

	register_handler();
	for (int i = 0; i < rounds; i++) {
		cts_node(NEW_NODE + i, "add");
		cts_node(NEW_NODE + i, "down");
	}
	CTS_ASSERT(cts_event_wait(SCIF_NODE_REMOVED, NEW_NODE + rounds - 1));
	CTS_ASSERT(cts_event_count() == 2 * rounds);
	for (int i = 0; i < rounds; i++) {
		CTS_ASSERT(event_is(2 * i, SCIF_NODE_ADDED, NEW_NODE + i));
		CTS_ASSERT(event_is(2 * i + 1, SCIF_NODE_REMOVED, NEW_NODE + i));
	}
}

SCENARIO(event_two_handlers)
{
	register_handler();
	CTS_ASSERT(scif_event_register(cts_event_handler_second) == 0);
	cts_node(NEW_NODE, "add");
	cts_node(NEW_NODE, "down");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_REMOVED, NEW_NODE));
	for (int tries = 0; cts_event_count_second() < 2 && tries < NEVER; tries++)
		cts_let_pass_us(1000);
	CTS_CHECK(cts_event_count_second() == 2, "the second handler was told both events");
	CTS_CHECK(cts_event_count() == 2, "the first handler was told both events once");
}

SCENARIO(event_not_from_before)
{
	cts_node(NEW_NODE, "add");
	register_handler();
	cts_node(NEW_NODE + 1, "add");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_ADDED, NEW_NODE + 1));
	CTS_CHECK(event_is(0, SCIF_NODE_ADDED, NEW_NODE + 1),
		  "the first event is the one after the registration");
	CTS_CHECK(cts_event_count() == 1, "there was one event");
}

static scif_epd_t endpoint_to_close;
static atomic_int closed;

static void close_endpoint(enum scif_event event, union scif_event_data data)
{
	(void)data;
	if (event == SCIF_NODE_REMOVED)
		atomic_store(&closed, scif_close(endpoint_to_close) == 0 ? 1 : -1);
}

SCENARIO(event_handler_closes_endpoints)
{
	scif_epd_t epd = cts_fx_connected();
	int node = cts_peer_node(cts_peer_of(epd));
	struct cts_thread *receiving = cts_fx_receiving(epd, 8);

	endpoint_to_close = epd;
	CTS_ASSERT(CTS_OBSERVE(scif_event_register(close_endpoint)).ret == 0);
	cts_node(node, "down");
	for (int tries = 0; !atomic_load(&closed) && tries < NEVER; tries++)
		cts_let_pass_us(1000);
	CTS_CHECK(atomic_load(&closed) == 1, "the handler closed the endpoint");
	CTS_CHECK(!cts_is_open(epd), "the endpoint is gone");
	struct cts_result r = cts_join(receiving);
	CTS_CHECK(r.ret == -1 && (r.err == ENODEV || r.err == EINTR), "a waiting receive ended");
}

SCENARIO(event_none_for_sleep)
{
	int node = cts_peer_node(cts_peer());

	register_handler();
	cts_node(node, "sleep");
	cts_node(node, "up");
	/* Something that does make an event, so that there is an end to the waiting. */
	cts_node(NEW_NODE, "add");
	CTS_ASSERT(cts_event_wait(SCIF_NODE_ADDED, NEW_NODE));
	CTS_CHECK(cts_event_count() == 1, "sleeping and waking were no events");
}

SCENARIO(event_none_without_cause)
{
	register_handler();
	scif_epd_t epd = cts_fx_connected();
	CTS_ASSERT(cts_far_alive(epd));
	cts_far_kill(epd);
	CTS_ASSERT(scif_close(epd) == 0);
	CTS_CHECK(cts_event_count() == 0, "neither a connection nor its end is a node event");
}
