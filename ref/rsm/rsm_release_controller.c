/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_release_controller: take one get of a controller back.
 */
#include <rsmapi.h>
#include <stdatomic.h>

#include "controller.h"

int rsm_release_controller(rsmapi_controller_handle_t chdl)
{
	struct rsm_controller *controller;
	unsigned users;

	if (controller_check(chdl, &controller) != RSM_SUCCESS)
		return RSMERR_BAD_CTLR_HNDL;
	/* Two threads with one get between them: one of them is too late. */
	users = controller->users;
	do {
		if (users == 0)
			return RSMERR_BAD_CTLR_HNDL;
	} while (!atomic_compare_exchange_weak(&controller->users, &users, users - 1));
	return RSM_SUCCESS;
}
