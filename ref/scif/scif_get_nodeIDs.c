/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_get_nodeIDs: tell which nodes are online.
 */
#include "result.h"

int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self)
{
	return scif_result(SCIF_CALL(get_nodeIDs, nodes, len, self));
}
