/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsm_get_controller_attr: what a controller can do. The same for all of them: they are names for
 * ways through one network.
 */
#include <rsmapi.h>
#include <unistd.h>

#include "caller_memory.h"
#include "controller.h"
#include "handle.h"

enum { ALL_SIZES = RSM_DAS8 | RSM_DAS16 | RSM_DAS32 | RSM_DAS64 };

int rsm_get_controller_attr(rsmapi_controller_handle_t chdl, rsmapi_controller_attr_t *attr)
{
	const size_t longest = controller_longest_segment();
	const rsmapi_controller_attr_t attributes = {
		.attr_direct_access_sizes = ALL_SIZES,
		.attr_atomic_sizes = ALL_SIZES,
		.attr_page_size = (size_t)sysconf(_SC_PAGESIZE) / 1024,
		.attr_max_export_segment_size = longest,
		.attr_tot_export_segment_size = longest,
		.attr_max_export_segments = HANDLE_SLOTS,
		.attr_max_import_map_size = longest,
		.attr_tot_import_map_size = longest,
		.attr_max_import_segments = HANDLE_SLOTS,
	};
	struct rsm_controller *controller;
	int rc = controller_check(chdl, &controller);

	if (rc != RSM_SUCCESS)
		return rc;
	if (caller_store(attr, &attributes, sizeof(attributes)) < 0)
		return RSMERR_BAD_ADDR;
	return RSM_SUCCESS;
}
