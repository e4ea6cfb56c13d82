/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who opens and closes barriers around transfers: the program (explicit) or every transfer itself
 * (implicit).
 */
#include <rsmapi.h>

#include "caller_memory.h"
#include "import.h"

int rsm_memseg_import_set_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t mode)
{
	struct import *m = import_enter(im_memseg);
	bool known = mode == RSM_BARRIER_MODE_EXPLICIT || mode == RSM_BARRIER_MODE_IMPLICIT;

	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	if (known)
		atomic_store(&m->mode, mode);
	import_leave(m);
	return known ? RSM_SUCCESS : RSMERR_BAD_MODE;
}

int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t *mode)
{
	struct import *m = import_enter(im_memseg);
	rsm_barrier_mode_t now;
	int error;

	if (m == NULL)
		return RSMERR_BAD_SEG_HNDL;
	now = (rsm_barrier_mode_t)atomic_load(&m->mode);
	error = caller_store(mode, &now, sizeof(now));
	import_leave(m);
	return error != 0 ? RSMERR_BAD_ADDR : RSM_SUCCESS;
}
