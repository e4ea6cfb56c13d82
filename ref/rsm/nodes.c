/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asked anew each time: nodes come and go.
 */
#include "nodes.h"

#include <errno.h>
#include <scif.h>

int nodes_online(struct nodes *nodes)
{
	int online = scif_get_nodeIDs(nodes->ids, NODES_MOST, &nodes->self);

	if (online < 0)
		return -errno;
	nodes->count = online < NODES_MOST ? (unsigned)online : NODES_MOST;
	return 0;
}

bool nodes_have(const struct nodes *nodes, uint32_t node)
{
	for (unsigned i = 0; i < nodes->count; i++)
		if (nodes->ids[i] == node)
			return true;
	return false;
}
