/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Controllers: names for ways through the SCIF network. All of them carry everything; they differ
 * in the nodes that they lead to.
 */
#ifndef RSM_CONTROLLER_H
#define RSM_CONTROLLER_H

#include <rsmapi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum controller_kind { CONTROLLER_LOOPBACK, CONTROLLER_SCIF, CONTROLLER_MIC };

struct rsm_controller {
	enum controller_kind kind;
	_Atomic unsigned users; /* gets less releases */
	_Atomic bool given;	/* was got once, so its handle is known to the program */
};

/* RSM_SUCCESS with the controller of a handle, RSMERR_BAD_CTLR_HNDL or RSMERR_CTLR_NOT_PRESENT. */
int controller_check(rsmapi_controller_handle_t handle, struct rsm_controller **controller);

/* Whether every get of it has been released. */
bool controller_released(const struct rsm_controller *controller);

/*
 * RSM_SUCCESS, RSMERR_CTLR_NOT_PRESENT if it does not lead to the node,
 * RSMERR_REMOTE_NODE_UNREACHABLE if the node is not there, or the shortage that kept it from being
 * asked for.
 */
int controller_reaches(const struct rsm_controller *controller, uint32_t node);

/* The one node that a controller of CONTROLLER_MIC leads to. */
uint32_t controller_mic_node(const struct rsm_controller *controller);

/* RSM_SUCCESS or RSMERR_CTLR_NOT_PRESENT. */
int controller_own_node(uint16_t *node);

/* attr_max_export_segment_size, for every controller. */
size_t controller_longest_segment(void);

/* The controller and its handle belong together; neither is ever freed. */
struct rsm_controller *controller_named(const char *name);
rsmapi_controller_handle_t controller_handle(struct rsm_controller *controller);

#endif
