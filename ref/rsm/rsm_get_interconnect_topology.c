/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_get_interconnect_topology, rsm_free_interconnect_topology: the controllers of this node and
 * their paths. The whole answer is one block, so that one free releases it.
 */
#include <errno.h>
#include <rsmapi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "caller_memory.h"
#include "nodes.h"

/* The fabric's controller has this name on every node. */
#define FABRIC_NAME "scif0"

/* A path to every node but the own one. */
static void describe_fabric(rsm_connections_t *fabric, const struct nodes *nodes)
{
	rsm_remote_cntlr_t *path = fabric->remote_cntlr;

	snprintf(fabric->hdr.cntlr_name, sizeof(fabric->hdr.cntlr_name), FABRIC_NAME);
	fabric->hdr.local_hwaddr = nodes->self;
	for (unsigned i = 0; i < nodes->count; i++) {
		if (nodes->ids[i] == nodes->self)
			continue;
		path->remote_nodeid = nodes->ids[i];
		snprintf(path->remote_cntlrname, sizeof(path->remote_cntlrname), FABRIC_NAME);
		path->remote_hwaddr = nodes->ids[i];
		path->connection_state = RSM_CONNECTION_ACTIVE;
		path++;
	}
	fabric->hdr.remote_cntlr_count = (int)(path - fabric->remote_cntlr);
}

static rsm_topology_t *describe(const struct nodes *nodes)
{
	const size_t paths = offsetof(rsm_connections_t, remote_cntlr) +
			     nodes->count * sizeof(rsm_remote_cntlr_t);
	rsm_topology_t *topology = calloc(1, sizeof(*topology) + paths);

	if (topology == NULL)
		return NULL;
	topology->topology_hdr.local_nodeid = nodes->self;
	if (nodes->count == 0)
		return topology;
	topology->topology_hdr.local_cntlr_count = 1;
	topology->connections[0] = (rsm_connections_t *)(topology + 1);
	describe_fabric(topology->connections[0], nodes);
	return topology;
}

static bool is_shortage(int error)
{
	return error == -ENOMEM || error == -ENOBUFS || error == -EMFILE || error == -ENFILE;
}

int rsm_get_interconnect_topology(rsm_topology_t **topology_data)
{
	struct nodes nodes;
	rsm_topology_t *topology;
	int rc;

	if (topology_data == NULL)
		return RSMERR_BAD_TOPOLOGY_PTR;
	rc = nodes_online(&nodes);
	if (is_shortage(rc))
		return RSMERR_INSUFFICIENT_MEM;
	if (rc < 0)
		nodes = (struct nodes){.count = 0};
	topology = describe(&nodes);
	if (topology == NULL)
		return RSMERR_INSUFFICIENT_MEM;
	if (caller_store(topology_data, &topology, sizeof(topology)) < 0) {
		free(topology);
		return RSMERR_BAD_ADDR;
	}
	return RSM_SUCCESS;
}

void rsm_free_interconnect_topology(rsm_topology_t *topology_data)
{
	free(topology_data);
}
