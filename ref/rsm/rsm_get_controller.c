/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_get_controller: get a handle on an interconnect controller.
 */
#include <errno.h>
#include <rsmapi.h>

#include "caller_memory.h"
#include "controller.h"
#include "endpoint.h"
#include "nodes.h"

enum { NAME_SIZE = 256 };

/* A network that cannot give an endpoint is not there, whatever names say. */
static int look_for_network(void)
{
	int epd = endpoint_open();

	if (epd >= 0) {
		endpoint_close(epd);
		return RSM_SUCCESS;
	}
	switch (-epd) {
	case ENXIO:
		return RSMERR_BAD_LIBRARY_VERSION;
	case ENOMEM:
	case ENOBUFS:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
		return RSMERR_INSUFFICIENT_MEM;
	default:
		return RSMERR_CTLR_NOT_PRESENT;
	}
}

static int look_for_node(const struct rsm_controller *controller)
{
	struct nodes nodes;

	if (controller->kind != CONTROLLER_MIC)
		return RSM_SUCCESS;
	if (nodes_online(&nodes) < 0 || !nodes_have(&nodes, controller_mic_node(controller)))
		return RSMERR_CTLR_NOT_PRESENT;
	return RSM_SUCCESS;
}

int rsm_get_controller(char *name, rsmapi_controller_handle_t *controller)
{
	rsmapi_controller_handle_t handle;
	struct rsm_controller *found;
	char copy[NAME_SIZE] = "loopback";
	int rc = 0;

	if (controller == NULL)
		return RSMERR_BAD_CTLR_HNDL;
	if (name != NULL)
		rc = caller_fetch_string(copy, sizeof(copy), name);
	if (rc == -EFAULT)
		return RSMERR_BAD_ADDR;
	found = rc < 0 ? NULL : controller_named(copy);
	if (found == NULL)
		return RSMERR_CTLR_NOT_PRESENT;
	rc = look_for_network();
	if (rc == RSM_SUCCESS)
		rc = look_for_node(found);
	if (rc != RSM_SUCCESS)
		return rc;
	handle = controller_handle(found);
	if (caller_store(controller, &handle, sizeof(handle)) < 0)
		return RSMERR_BAD_ADDR;
	found->users++;
	found->given = true;
	return RSM_SUCCESS;
}
