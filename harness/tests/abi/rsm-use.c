/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uses all of the RSMAPI headers in a way that every C from 1989 on and every C++ from 1998 on
 * accepts; abi-header.sh compiles it with each of them.
 */
#define RSM_GUIDE_NAMES
#include "sys/rsm/rsmapi_common.h"
#include "rsmapi.h"
#include "sys/rsm/rsm_common.h"
#include "rsmapi.h"

#define VALUE(name, number) name,
extern const long rsm_values[];
const long rsm_values[] = {
#include "rsm-values.def"
	HANDLE, VA_IMMEDIATE};

#define FUNCTION(name, result, parameters) extern result(*use_##name) parameters;
#include "rsm-functions.def"
#undef FUNCTION
#define FUNCTION(name, result, parameters) result(*use_##name) parameters = name;
#include "rsm-functions.def"

extern int rsm_use(rsm_topology_t *topology, void *memory);
int rsm_use(rsm_topology_t *topology, void *memory)
{
	rsmapi_access_entry_t list[] = {{0, 0666}, {1, RSM_PERM_RDWR}};
	rsm_iovec_t pieces[] = {{RSM_VA_TYPE, {0}, 0, 8, 16}};
	rsm_scat_gath_t transfer;
	rsm_connections_t *controller = topology->connections[0];
	rsm_map_attr_t attr = RSM_MAP_NONE;
	rsm_barrier_mode_t mode = RSM_BARRIER_MODE_IMPLICIT;
	rsm_barrier_type_t type = RSM_BAR_DEFAULT;
	rsm_access_size_t width = RSM_DAS64;
	rsm_barrier_t words;

	list[0].ae_permissions = list[1].ae_permission;
	pieces[0].local.virtual_addr = (caddr_t)memory;
	pieces[0].import_segment_offset = pieces[0].local_offset;
	transfer.local_nodeid = topology->local_nodeid;
	transfer.io_request_count = topology->local_cntrl_count;
	transfer.iovec = pieces;
	words.component[0].number = transfer.io_request_count;
	if (topology->topology_hdr.local_nodeid == controller->remote_cntlr[0].remote_nodeid)
		return RSMERR_BAD_ADDRESS;
	return (int)attr + (int)mode + (int)type + (int)width + (int)list[0].ae_node +
	       (int)words.component[0].number;
}
