/* SPDX-License-Identifier: BSD-2-Clause */
/* The topology: controllers, nodes, and that it follows them. */
#include "parties.h"

#include <stdlib.h>
#include <strings.h>

/* A node that the fabric does not have before it is added. */
#define LATE_NODE 7

static rsm_node_id_t node_added(void)
{
	cts_node(LATE_NODE, "add");
	return cts_peer_node(cts_peer_start(LATE_NODE));
}

static const rsm_remote_cntlr_t *remote_of(const rsm_topology_t *t, rsm_node_id_t node)
{
	for (unsigned i = 0; i < t->topology_hdr.local_cntlr_count; i++) {
		const rsm_connections_t *c = t->connections[i];

		for (int j = 0; j < c->hdr.remote_cntlr_count; j++)
			if (c->remote_cntlr[j].remote_nodeid == node)
				return &c->remote_cntlr[j];
	}
	return NULL;
}

static bool is_active(const rsm_topology_t *t, rsm_node_id_t node)
{
	const rsm_remote_cntlr_t *remote = remote_of(t, node);

	return remote && remote->connection_state == RSM_CONNECTION_ACTIVE;
}

static int times_listed(const rsm_connections_t *c, rsm_node_id_t node)
{
	int times = 0;

	for (int i = 0; i < c->hdr.remote_cntlr_count; i++)
		times += c->remote_cntlr[i].remote_nodeid == node;
	return times;
}

static rsm_topology_t *topology_now(void)
{
	rsm_topology_t *t = NULL;

	EXPECT(rsm_get_interconnect_topology(&t), RSM_SUCCESS);
	CTS_ASSERT(t != NULL);
	return t;
}

static bool is_name(const char *name)
{
	size_t length = strnlen(name, 256);

	return length && length < 256;
}

SCENARIO(topology_names_controllers)
{
	rsm_topology_t *t = topology_now();
	unsigned count = t->topology_hdr.local_cntlr_count;

	CTS_ASSERT(count >= 1);
	for (unsigned i = 0; i < count; i++) {
		CTS_ASSERT(t->connections[i] != NULL);
		CTS_CHECK(is_name(t->connections[i]->hdr.cntlr_name), "the controller has a name");
		for (unsigned j = 0; j < i; j++)
			CTS_CHECK(strcmp(t->connections[i]->hdr.cntlr_name,
					 t->connections[j]->hdr.cntlr_name) != 0,
				  "each instance is there once");
	}
	rsm_free_interconnect_topology(t);
}

SCENARIO(topology_lists_fabric)
{
	rsm_topology_t *t = topology_now();
	int fabric = 0, loopback = 0;

	for (unsigned i = 0; i < t->topology_hdr.local_cntlr_count; i++) {
		fabric += !strcmp(t->connections[i]->hdr.cntlr_name, "scif0");
		loopback += !strncasecmp(t->connections[i]->hdr.cntlr_name, "loopback", 8);
	}
	rsm_free_interconnect_topology(t);
	CTS_CHECK(fabric == 1, "scif0 is listed once");
	CTS_CHECK(loopback == 0, "loopback is not listed");
}

SCENARIO(topology_lists_nodes)
{
	rsm_node_id_t one = cts_peer_node(cts_peer()), two = node_added();
	rsm_topology_t *t = topology_now();

	for (unsigned i = 0; i < t->topology_hdr.local_cntlr_count; i++) {
		CTS_CHECK(times_listed(t->connections[i], one) == 1,
			  "the peer's node is listed once");
		CTS_CHECK(times_listed(t->connections[i], two) == 1, "so is a third node");
		CTS_CHECK(times_listed(t->connections[i], cts_self_node()) == 0,
			  "the own node is no remote end");
	}
	CTS_CHECK(is_active(t, one) && is_active(t, two), "both are active");
	rsm_free_interconnect_topology(t);
}

SCENARIO(topology_remote_ends)
{
	cts_peer();
	node_added();
	rsm_topology_t *t = topology_now();

	for (unsigned i = 0; i < t->topology_hdr.local_cntlr_count; i++) {
		const rsm_connections_t *c = t->connections[i];

		CTS_ASSERT(c->hdr.remote_cntlr_count >= 2);
		for (int j = 0; j < c->hdr.remote_cntlr_count; j++) {
			CTS_CHECK(is_name(c->remote_cntlr[j].remote_cntlrname),
				  "the remote controller has a name");
			CTS_CHECK(c->remote_cntlr[j].remote_hwaddr != c->hdr.local_hwaddr,
				  "its address is not the local one");
			for (int k = 0; k < j; k++)
				CTS_CHECK(c->remote_cntlr[j].remote_hwaddr !=
						  c->remote_cntlr[k].remote_hwaddr,
					  "two remote ends have different addresses");
		}
	}
	rsm_free_interconnect_topology(t);
}

static bool is_active_now(rsm_node_id_t node)
{
	rsm_topology_t *t = topology_now();
	bool active = is_active(t, node);

	rsm_free_interconnect_topology(t);
	return active;
}

SCENARIO(topology_follows_nodes)
{
	int node = cts_peer_node(cts_peer());

	CTS_ASSERT(is_active_now((rsm_node_id_t)node));
	cts_node(node, "down");
	CTS_CHECK(!is_active_now((rsm_node_id_t)node), "a node that is down is not active");
	cts_node(node, "up");
	cts_peer_start(node);
	CTS_CHECK(is_active_now((rsm_node_id_t)node), "a node that is up again is active");
}

SCENARIO(topology_sees_new_node)
{
	CTS_REQUIRE(!is_active_now(LATE_NODE));
	node_added();
	CTS_CHECK(is_active_now(LATE_NODE), "the node that joined is active");
}

SCENARIO(topology_is_a_picture)
{
	cts_peer();
	rsm_topology_t *t = topology_now();
	rsm_connections_t *c = t->connections[0];
	size_t size = sizeof c->hdr + (size_t)c->hdr.remote_cntlr_count * sizeof c->remote_cntlr[0];
	void *copy = malloc(size);

	memcpy(copy, c, size);
	node_added();
	CTS_ASSERT(is_active_now(LATE_NODE));
	CTS_CHECK(t->connections[0] == c && cts_same(copy, c, size),
		  "the topology of before is what it was");
	free(copy);
	rsm_free_interconnect_topology(t);
}

SCENARIO(topology_serves_import)
{
	struct far_export there = far_published(cts_peer(), 1);
	rsm_topology_t *t = topology_now();
	const rsm_remote_cntlr_t *remote = remote_of(t, cts_peer_node(there.peer));
	struct near_import i;

	CTS_ASSERT(remote != NULL);
	CTS_ASSERT(near_connect(&i, t->connections[0]->hdr.cntlr_name, remote->remote_nodeid,
				there.id, RSM_PERM_READ) == RSM_SUCCESS);
	CTS_CHECK(near_reads(&i, 0, there.len, 3, 0), "the import shows the segment");
	CTS_ASSERT(rsm_memseg_import_disconnect(i.handle) == RSM_SUCCESS);
	rsm_free_interconnect_topology(t);
}

SCENARIO(topology_leaves_nothing)
{
	cts_peer();
	for (int i = 0; i < WARM_UP; i++)
		rsm_free_interconnect_topology(topology_now());
	struct cts_holdings before = cts_holdings();
	for (int i = 0; i < 50; i++)
		rsm_free_interconnect_topology(topology_now());
	nothing_left(&before);
}
