/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of the SCIF network as they are now.
 */
#ifndef RSM_NODES_H
#define RSM_NODES_H

#include <stdbool.h>
#include <stdint.h>

enum { NODES_MOST = 257 }; /* SCIF numbers them 0..256 */

struct nodes {
	uint16_t self;
	unsigned count;
	uint16_t ids[NODES_MOST]; /* ascending, the own one included */
};

/* 0, or a negative errno where there is no network. */
int nodes_online(struct nodes *nodes);

bool nodes_have(const struct nodes *nodes, uint32_t node);

#endif
