/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares every constant, size, offset and type of the RSMAPI headers with what the known
 * interface has on a machine with 64-bit addresses.
 */
#include "rsmapi.h"
#include "table.h"

#define FUNCTION(name, result, parameters)                                                         \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters),          \
		       "prototype of " #name);
#include "rsm-functions.def"

#define FIELD(type, member, at, bytes) OFFSET(type, member, at), MEMBER(type, member, bytes)
#define UNSIGNED(type)		       FACT((type)-1 > 0)
#define TYPE_OF(type, member)	       __typeof__(((type *)NULL)->member)

static const struct row constants[] = {
#define VALUE(name, number) {#name, (long long)(name), number},
#include "rsm-values.def"
};

static const struct row scalars[] = {
	SIZE(uint_t, 4),
	UNSIGNED(uint_t),
	SIZE(ulong_t, 8),
	UNSIGNED(ulong_t),
	SIZE(offset_t, 8),
	FACT((offset_t)-1 < 0),
	SAME(caddr_t, char *),
	SIZE(off_t, 8),
	SAME(rsm_addr_t, uint64_t),
	SAME(rsm_node_id_t, uint32_t),
	SAME(rsm_nodeid_t, uint32_t),
	SAME(rsm_memseg_id_t, uint32_t),
	SAME(rsm_permission_t, uint32_t),
	SAME(rsm_memseg_import_handle_t, struct __rsm_memseg_import_handle *),
	SAME(rsm_memseg_export_handle_t, struct __rsm_memseg_export_handle *),
	SAME(rsmapi_controller_handle_t, struct __rsmapi_controller_handle *),
	SAME(rsm_localmemory_handle_t, struct __rsm_localmemory_handle *),
	SIZE(rsm_access_size_t, 4),
	SIZE(rsm_attribute_t, 4),
	SIZE(rsm_map_attr_t, 4),
	SIZE(rsm_barrier_type_t, 4),
	SIZE(rsm_barrier_mode_t, 4),
	SIZE(rsm_barrier_t, 32),
};

static const struct row layout[] = {
	SIZE(rsmapi_controller_attr_t, 64),
	FIELD(rsmapi_controller_attr_t, attr_direct_access_sizes, 0, 4),
	FIELD(rsmapi_controller_attr_t, attr_atomic_sizes, 4, 4),
	FIELD(rsmapi_controller_attr_t, attr_page_size, 8, 8),
	FIELD(rsmapi_controller_attr_t, attr_max_export_segment_size, 16, 8),
	FIELD(rsmapi_controller_attr_t, attr_tot_export_segment_size, 24, 8),
	FIELD(rsmapi_controller_attr_t, attr_max_export_segments, 32, 8),
	FIELD(rsmapi_controller_attr_t, attr_max_import_map_size, 40, 8),
	FIELD(rsmapi_controller_attr_t, attr_tot_import_map_size, 48, 8),
	FIELD(rsmapi_controller_attr_t, attr_max_import_segments, 56, 8),
	SIZE(rsmapi_access_entry_t, 8),
	FIELD(rsmapi_access_entry_t, ae_node, 0, 4),
	FIELD(rsmapi_access_entry_t, ae_permission, 4, 4),
	SIZE(rsmapi_barrier_t, 24),
	FIELD(rsmapi_barrier_t, seg, 0, 8),
	FIELD(rsmapi_barrier_t, gnum, 8, 2),
	FIELD(rsmapi_barrier_t, privdata, 16, 8),
	SIZE(rsm_iovec_t, 40),
	FIELD(rsm_iovec_t, io_type, 0, 4),
	FIELD(rsm_iovec_t, local, 8, 8),
	FIELD(rsm_iovec_t, local.handle, 8, 8),
	FIELD(rsm_iovec_t, local.vaddr, 8, 8),
	SAME(TYPE_OF(rsm_iovec_t, local.vaddr), caddr_t),
	FIELD(rsm_iovec_t, local_offset, 16, 8),
	FIELD(rsm_iovec_t, remote_offset, 24, 8),
	FIELD(rsm_iovec_t, transfer_length, 32, 8),
	SIZE(rsm_scat_gath_t, 48),
	FIELD(rsm_scat_gath_t, local_nodeid, 0, 4),
	FIELD(rsm_scat_gath_t, io_request_count, 8, 8),
	FIELD(rsm_scat_gath_t, io_residual_count, 16, 8),
	FIELD(rsm_scat_gath_t, flags, 24, 4),
	SAME(TYPE_OF(rsm_scat_gath_t, flags), uint_t),
	FIELD(rsm_scat_gath_t, remote_handle, 32, 8),
	FIELD(rsm_scat_gath_t, iovec, 40, 8),
	SIZE(rsm_topology_hdr_t, 8),
	FIELD(rsm_topology_hdr_t, local_nodeid, 0, 4),
	FIELD(rsm_topology_hdr_t, local_cntlr_count, 4, 4),
	SIZE(rsm_topology_t, 16),
	FIELD(rsm_topology_t, topology_hdr, 0, 8),
	FIELD(rsm_topology_t, connections, 8, 8),
	SAME(TYPE_OF(rsm_topology_t, connections), rsm_connections_t *[1]),
	SIZE(rsm_connections_t, 552),
	FIELD(rsm_connections_t, hdr, 0, 272),
	FIELD(rsm_connections_t, remote_cntlr, 272, 280),
	SIZE(rsm_connections_hdr_t, 272),
	FIELD(rsm_connections_hdr_t, cntlr_name, 0, 256),
	FIELD(rsm_connections_hdr_t, local_hwaddr, 256, 8),
	FIELD(rsm_connections_hdr_t, remote_cntlr_count, 264, 4),
	SIZE(rsm_remote_cntlr_t, 280),
	FIELD(rsm_remote_cntlr_t, remote_nodeid, 0, 4),
	FIELD(rsm_remote_cntlr_t, remote_cntlrname, 4, 256),
	FIELD(rsm_remote_cntlr_t, remote_hwaddr, 264, 8),
	FIELD(rsm_remote_cntlr_t, connection_state, 272, 4),
};

/* The guide's names lead to the same places. */
static const struct row guide[] = {
	FIELD(rsmapi_access_entry_t, ae_permissions, 4, 4),
	FIELD(rsm_iovec_t, local.virtual_addr, 8, 8),
	FIELD(rsm_iovec_t, import_segment_offset, 24, 8),
	FIELD(rsm_topology_hdr_t, local_cntrl_count, 4, 4),
	FIELD(rsm_topology_t, local_nodeid, 0, 4),
	FIELD(rsm_topology_t, local_cntrl_count, 4, 4),
	FIELD(rsm_topology_t, local_cntlr_count, 4, 4),
	SAME(connections_t, rsm_connections_t),
	SAME(rsm_topology_t, struct rsm_topology),
};

int main(void)
{
	unsigned wrong = compare(constants, sizeof(constants) / sizeof(constants[0]));

	wrong += compare(scalars, sizeof(scalars) / sizeof(scalars[0]));
	wrong += compare(layout, sizeof(layout) / sizeof(layout[0]));
	wrong += compare(guide, sizeof(guide) / sizeof(guide[0]));
	return wrong != 0;
}
