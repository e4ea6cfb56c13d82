/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An implementation of RSMAPI that claims success for every call and does nothing: handles, the
 * topology and ranges are made up, a mapping is fresh memory.  What has no result beside its value
 * is in rsm_constant.c.
 */
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "rsmapi.h"

#define SOME_ID 0x400000

/* What a handle points at; nobody looks. */
static int nothing;

static void *some_handle(void)
{
	return &nothing;
}

int rsm_get_controller(char *name, rsmapi_controller_handle_t *controller)
{
	(void)name;
	if (controller)
		*controller = some_handle();
	return RSM_SUCCESS;
}

int rsm_get_controller_attr(rsmapi_controller_handle_t chdl, rsmapi_controller_attr_t *attr)
{
	(void)chdl;
	if (attr)
		*attr = (rsmapi_controller_attr_t){0};
	return RSM_SUCCESS;
}

int rsm_get_interconnect_topology(rsm_topology_t **topology_data)
{
	static rsm_connections_t path = {
		.hdr = {.cntlr_name = "scif0", .remote_cntlr_count = 1},
		.remote_cntlr = {{.remote_nodeid = 1,
				  .remote_cntlrname = "scif0",
				  .connection_state = RSM_CONNECTION_ACTIVE}},
	};
	static rsm_topology_t topology = {
		.topology_hdr.local_cntlr_count = 1,
		.connections = {&path},
	};

	if (topology_data)
		*topology_data = &topology;
	return RSM_SUCCESS;
}

int rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length)
{
	(void)appid;
	if (baseid)
		*baseid = SOME_ID;
	if (length)
		*length = 1;
	return RSM_SUCCESS;
}

int rsm_memseg_export_create(rsmapi_controller_handle_t controller,
			     rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size,
			     uint_t flags)
{
	(void)controller;
	(void)vaddr;
	(void)size;
	(void)flags;
	if (memseg)
		*memseg = some_handle();
	return RSM_SUCCESS;
}

int rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
			      rsmapi_access_entry_t access_list[], uint_t access_list_length)
{
	(void)memseg;
	(void)access_list;
	(void)access_list_length;
	if (segment_id && !*segment_id)
		*segment_id = SOME_ID;
	return RSM_SUCCESS;
}

int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
			      rsm_memseg_id_t segment_id, rsm_permission_t perm,
			      rsm_memseg_import_handle_t *im_memseg)
{
	(void)controller;
	(void)node_id;
	(void)segment_id;
	(void)perm;
	if (im_memseg)
		*im_memseg = some_handle();
	return RSM_SUCCESS;
}

int rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address,
			  rsm_attribute_t attr, rsm_permission_t perm, off_t offset, size_t length)
{
	static char page[4096];
	void *memory =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)im_memseg;
	(void)attr;
	(void)perm;
	(void)offset;
	if (address)
		*address = memory == MAP_FAILED ? page : memory;
	return RSM_SUCCESS;
}

int rsm_create_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
				  rsm_localmemory_handle_t *local_handle, caddr_t local_vaddr,
				  size_t length)
{
	(void)cntrl_handle;
	(void)local_vaddr;
	(void)length;
	if (local_handle)
		*local_handle = some_handle();
	return RSM_SUCCESS;
}

int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t *mode)
{
	(void)im_memseg;
	if (mode)
		*mode = RSM_BARRIER_MODE_IMPLICIT;
	return RSM_SUCCESS;
}

int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp)
{
	(void)fds;
	(void)timeout;
	if (numfdsp)
		*numfdsp = (int)nfds;
	return RSM_SUCCESS;
}

int rsm_memseg_get_pollfd(void *memseg, struct pollfd *pollfd)
{
	(void)memseg;
	if (pollfd)
		*pollfd = (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLRDNORM};
	return RSM_SUCCESS;
}
