/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Right but for five planted faults: an id in use is RESERVED_SEGID, each failing get_controller
 * leaves a descriptor open, a failing map writes the address, a wait that runs out of time
 * succeeds, and closing a barrier never reports what was lost.
 */
#include <stdint.h>
#include <sys/eventfd.h>

#include "rsm_wrapped.h"

int rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
			      rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	int result = wrapped_rsm_memseg_export_publish(memseg, segment_id, access_list,
						       access_list_length);

	return result == RSMERR_SEGID_IN_USE ? RSMERR_RESERVED_SEGID : result;
}

int rsm_get_controller(char *name, rsmapi_controller_handle_t *controller)
{
	int result = wrapped_rsm_get_controller(name, controller);

	if (result != RSM_SUCCESS)
		eventfd(0, 0);
	return result;
}

int rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address,
			  rsm_attribute_t attr, rsm_permission_t perm, off_t offset, size_t length)
{
	int result = wrapped_rsm_memseg_import_map(im_memseg, address, attr, perm, offset, length);

	if (result != RSM_SUCCESS && result != RSMERR_BAD_ADDR)
		*address = (void *)(intptr_t)-1;
	return result;
}

int rsm_intr_signal_wait(void *memseg, int timeout)
{
	int result = wrapped_rsm_intr_signal_wait(memseg, timeout);

	return result == RSMERR_TIMEOUT ? RSM_SUCCESS : result;
}

int rsm_memseg_import_close_barrier(rsmapi_barrier_t *barrier)
{
	int result = wrapped_rsm_memseg_import_close_barrier(barrier);

	if (result == RSMERR_CONN_ABORTED || result == RSMERR_BARRIER_FAILURE)
		return RSM_SUCCESS;
	return result;
}
