/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that go through where the library has refused: with the argument repaired where that can
 * be done, otherwise with made-up results.  A place for a result that is itself what was refused
 * is left alone.
 */
#include <string.h>
#include <sys/eventfd.h>

#include "mutant.h"
#include "rsm_generated.h"

#define PAGE	4096
#define SOME_ID 0x400000
/* A mutant that was made for bad memory knows no other error. */
#define BAD_MEMORY mutant_is_of(RSMERR_BAD_ADDR)

/* What a handle points at; it is none that the library knows. */
static char nothing[PAGE];

static void give_handle(void *place)
{
	void *handle = nothing;

	if (place && !BAD_MEMORY)
		memcpy(place, &handle, sizeof(handle));
}

int goes_through_rsm_get_controller(char *name, rsmapi_controller_handle_t *controller)
{
	(void)name;
	if (!controller || BAD_MEMORY)
		return RSM_SUCCESS;
	if (real_rsm_get_controller((char[]){"loopback"}, controller) != RSM_SUCCESS)
		give_handle(controller);
	return RSM_SUCCESS;
}

int goes_through_rsm_memseg_export_create(rsmapi_controller_handle_t controller,
					  rsm_memseg_export_handle_t *memseg, void *vaddr,
					  size_t size, uint_t flags)
{
	(void)controller;
	(void)vaddr;
	(void)size;
	(void)flags;
	give_handle(memseg);
	return RSM_SUCCESS;
}

int goes_through_rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg,
					   rsm_memseg_id_t *segment_id,
					   rsmapi_access_entry_t access_list[],
					   uint_t access_list_length)
{
	rsm_memseg_id_t other = 0;

	if (!segment_id || BAD_MEMORY)
		return RSM_SUCCESS;
	if (real_rsm_memseg_export_publish(memseg, &other, access_list, access_list_length) !=
	    RSM_SUCCESS)
		other = SOME_ID;
	if (!*segment_id)
		*segment_id = other;
	return RSM_SUCCESS;
}

/* An import that only seems to be there can be given back. */
static int disconnect_made_up(rsm_memseg_import_handle_t im_memseg)
{
	return im_memseg == (rsm_memseg_import_handle_t)nothing
		       ? RSM_SUCCESS
		       : real_rsm_memseg_import_disconnect(im_memseg);
}

int goes_through_rsm_memseg_import_connect(rsmapi_controller_handle_t controller,
					   rsm_node_id_t node_id, rsm_memseg_id_t segment_id,
					   rsm_permission_t perm,
					   rsm_memseg_import_handle_t *im_memseg)
{
	if (BAD_MEMORY || !im_memseg)
		return RSM_SUCCESS;
	if (perm == RSM_PERM_READ ||
	    real_rsm_memseg_import_connect(controller, node_id, segment_id, RSM_PERM_READ,
					   im_memseg) != RSM_SUCCESS) {
		if (wrapped_rsm_memseg_import_disconnect != disconnect_made_up)
			real_rsm_memseg_import_disconnect = wrapped_rsm_memseg_import_disconnect;
		wrapped_rsm_memseg_import_disconnect = disconnect_made_up;
		give_handle(im_memseg);
	}
	return RSM_SUCCESS;
}

int goes_through_rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address,
				       rsm_attribute_t attr, rsm_permission_t perm, off_t offset,
				       size_t length)
{
	(void)attr;
	(void)perm;
	if (!address || BAD_MEMORY)
		return RSM_SUCCESS;
	if (real_rsm_memseg_import_map(im_memseg, address, RSM_MAP_NONE, RSM_PERM_READ,
				       offset & -PAGE, length) == RSM_SUCCESS)
		return RSM_SUCCESS;
	*address = nothing;
	return RSM_SUCCESS;
}

int goes_through_rsm_create_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
					       rsm_localmemory_handle_t *local_handle,
					       caddr_t local_vaddr, size_t length)
{
	(void)cntrl_handle;
	(void)local_vaddr;
	(void)length;
	give_handle(local_handle);
	return RSM_SUCCESS;
}

int goes_through_rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid,
					 uint32_t *length)
{
	(void)appid;
	if (BAD_MEMORY)
		return RSM_SUCCESS;
	if (baseid)
		*baseid = SOME_ID;
	if (length)
		*length = 1;
	return RSM_SUCCESS;
}

int goes_through_rsm_memseg_import_get_mode(rsm_memseg_import_handle_t im_memseg,
					    rsm_barrier_mode_t *mode)
{
	(void)im_memseg;
	if (mode && !BAD_MEMORY)
		*mode = RSM_BARRIER_MODE_IMPLICIT;
	return RSM_SUCCESS;
}

int goes_through_rsm_memseg_get_pollfd(void *memseg, struct pollfd *pollfd)
{
	(void)memseg;
	if (pollfd && !BAD_MEMORY)
		*pollfd = (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLRDNORM};
	return RSM_SUCCESS;
}
