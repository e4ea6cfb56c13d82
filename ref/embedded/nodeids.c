/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_get_nodeIDs for the embedded fabric.
 */
#include <errno.h>

#include "embedded.h"
#include "node.h"
#include "process.h"
#include "safe_copy.h"

static int list_online(uint16_t *ids)
{
	int count = 0;

	for (unsigned node = 0; node <= NODE_MAX; node++)
		if (node_online((uint16_t)node))
			ids[count++] = (uint16_t)node;
	return count;
}

int embedded_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	uint16_t ids[NODE_COUNT];
	uint16_t own;
	size_t bytes;
	int online;
	int error;

	if (len < 0)
		return -EINVAL;
	error = process_init();
	/* As of scif_open: every shortage is ENOMEM. */
	if (error < 0)
		return error == -ENXIO ? -ENXIO : -ENOMEM;
	safe_copy_install();
	process_refresh();
	own = node_self();
	online = list_online(ids);
	bytes = (size_t)(len < online ? len : online) * sizeof(ids[0]);
	/* Both places are tried before either is written. */
	if (safe_probe_write(self, sizeof(own)) < 0)
		return -EFAULT;
	if (bytes > 0 && safe_probe_write(nodes, bytes) < 0)
		return -EFAULT;
	if (bytes > 0 && safe_copy(nodes, ids, bytes) < 0)
		return -EFAULT;
	if (safe_copy(self, &own, sizeof(own)) < 0)
		return -EFAULT;
	return online;
}
