/* SPDX-License-Identifier: BSD-2-Clause */
/* scif_get_nodeIDs: the list and its changes. */
#include "ends.h"

#include <stdio.h>

#define MOST_NODES 64
#define NEW_NODE   5

struct node_list {
	uint16_t nodes[MOST_NODES], self;
	int count;
};

static struct node_list list_nodes(void)
{
	struct node_list l;

	l.count = (int)CTS_OBSERVE(scif_get_nodeIDs(l.nodes, MOST_NODES, &l.self)).ret;
	CTS_ASSERT(l.count >= 1);
	CTS_ASSERT(l.count <= MOST_NODES);
	return l;
}

static bool has_node(const struct node_list *l, int node)
{
	for (int i = 0; i < l->count; i++)
		if (l->nodes[i] == node)
			return true;
	return false;
}

SCENARIO(node_list_is_a_set_with_self)
{
	struct node_list l = list_nodes();

	CTS_CHECK(has_node(&l, l.self), "the own node is listed");
	for (int i = 0; i < l.count; i++)
		for (int j = 0; j < i; j++)
			CTS_ASSERT(l.nodes[i] != l.nodes[j]);
}

SCENARIO(node_list_follows_loss)
{
	int other = cts_peer_node(cts_peer());
	struct node_list before = list_nodes(), meanwhile, after;

	CTS_REQUIRE(other != before.self);
	CTS_CHECK(has_node(&before, other), "the node is listed while it is up");
	cts_node(other, "down");
	meanwhile = list_nodes();
	CTS_CHECK(!has_node(&meanwhile, other), "the lost node is not listed");
	CTS_CHECK(meanwhile.count == before.count - 1, "the lost node is not counted");
	cts_node(other, "up");
	after = list_nodes();
	CTS_CHECK(has_node(&after, other), "the node is listed when it is up again");
	CTS_CHECK(after.count == before.count, "the node is counted when it is up again");
}

SCENARIO(node_list_follows_addition)
{
	struct node_list before = list_nodes(), after;

	CTS_REQUIRE(!has_node(&before, NEW_NODE));
	cts_node(NEW_NODE, "add");
	after = list_nodes();
	CTS_CHECK(has_node(&after, NEW_NODE), "the added node is listed");
	CTS_CHECK(after.count == before.count + 1, "the added node is counted");
}

SCENARIO(node_list_keeps_sleeping_node)
{
	int other = cts_peer_node(cts_peer());
	struct node_list before = list_nodes(), asleep;

	cts_node(other, "sleep");
	asleep = list_nodes();
	CTS_CHECK(has_node(&asleep, other), "the sleeping node is listed");
	CTS_CHECK(asleep.count == before.count, "the sleeping node is counted");
}

SCENARIO(node_list_of_another_node)
{
	struct cts_peer *peer = cts_peer();
	struct node_list here = list_nodes();
	unsigned there;

	struct cts_result r = cts_peer_call(peer, "nodes");
	CTS_ASSERT(r.ret == here.count);
	CTS_REQUIRE(sscanf(cts_peer_text(peer), "%u", &there) == 1);
	CTS_CHECK(there != here.self, "the peer is told another node than this process");
	CTS_CHECK(has_node(&here, (int)there), "the node that the peer is told is in the list");
}

SCENARIO(node_list_can_be_connected)
{
	struct node_list l = list_nodes();
	scif_epd_t epd = cts_fx_unbound();

	for (int i = 0; i < l.count; i++) {
		struct scif_portID dst = {.node = l.nodes[i],
					  .port = cts_fx_peer_port_unused().port};
		struct cts_result r = CTS_RESULT(scif_connect(epd, &dst));

		CTS_ASSERT(cts_failed_with(r, ECONNREFUSED));
	}
	CTS_CHECK(ends_connect(epd, ends_far_listen(cts_peer(), 1)) > 0,
		  "the peer's node can be connected to");
}
