/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remote shared memory: the types that programs hand to the library.  <rsmapi.h> includes this
 * file.
 *
 * The guide prints a few fields under names that differ from the established ones.  The established
 * name is the field; the guide's name is a second member of a union where there is one anyway, and
 * a macro elsewhere, because an unnamed union would make a plain initialiser draw warnings.
 */
#ifndef _SYS_RSM_RSMAPI_COMMON_H
#define _SYS_RSM_RSMAPI_COMMON_H

#include <sys/rsm/rsm_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* io_type of rsm_iovec_t: which member of local counts */
#define RSM_HANDLE_TYPE 0x01
#define RSM_VA_TYPE 0x02

/*
 * The guide's names for these two.  They are far too short for a header that everybody includes, so
 * a program asks for them by defining RSM_GUIDE_NAMES.
 */
#ifdef RSM_GUIDE_NAMES
#define HANDLE RSM_HANDLE_TYPE
#define VA_IMMEDIATE RSM_VA_TYPE
#endif

/*
 * flags of rsm_memseg_export_create(): rsm_memseg_export_rebind() is allowed; publishing does not
 * wait for resources (it never does here); lock operations are supported (named by the guide as not
 * yet released, accepted and without effect).
 */
#define RSM_ALLOW_REBIND 0x01
#define RSM_CREATE_SEG_DONTWAIT 0x02
#define RSM_LOCK_OPS 0x04

/*
 * flags of rsm_scat_gath_t and rsm_intr_signal_post(): signal the exporter after a complete
 * transfer; drop the signal if the target has one pending.
 */
#define RSM_IMPLICIT_SIGPOST 0x01
#define RSM_SIGPOST_NO_ACCUMULATE 0x02

/* The manual's other spelling of the second. */
#define RSM_SIG_POST_NO_ACCUMULATE RSM_SIGPOST_NO_ACCUMULATE

/** typedef rsmapi_controller_handle_t - what rsm_get_controller() gives */
typedef struct __rsmapi_controller_handle *rsmapi_controller_handle_t;

/** typedef rsm_localmemory_handle_t - what rsm_create_localmemory_handle() gives */
typedef struct __rsm_localmemory_handle *rsm_localmemory_handle_t;

/**
 * typedef rsmapi_controller_attr_t - what a controller can do
 * @attr_direct_access_sizes: widths of accesses through a mapping, in bytes, or-ed together (1, 2,
 *	4 and 8 give 0xF)
 * @attr_atomic_sizes: widths that never tear, in the same coding
 * @attr_page_size: page sizes as a mask: bit i set means pages of 1024 << i bytes; 0x4 is 4 KiB
 * @attr_max_export_segment_size: longest segment, in bytes
 * @attr_tot_export_segment_size: most memory exported at once, in bytes; what is exported twice
 *	counts once
 * @attr_max_export_segments: most segments exported at once; here exports and imports of a process
 *	share one table
 * @attr_max_import_map_size: longest mapping, in bytes
 * @attr_tot_import_map_size: most memory mapped at once, in bytes
 * @attr_max_import_segments: most connections at once
 */
typedef struct {
	uint_t attr_direct_access_sizes;
	uint_t attr_atomic_sizes;
	size_t attr_page_size;
	size_t attr_max_export_segment_size;
	size_t attr_tot_export_segment_size;
	ulong_t attr_max_export_segments;
	size_t attr_max_import_map_size;
	size_t attr_tot_import_map_size;
	ulong_t attr_max_import_segments;
} rsmapi_controller_attr_t;

/**
 * typedef rsmapi_access_entry_t - who on one node may import a segment
 * @ae_node: the importer's node, 0..0xFFFF
 * @ae_permission: three octal digits for importers with the exporter's uid, with its gid, and all
 *	others; 4 read, 2 write, 6 both; at most 0666
 */
typedef struct {
	rsm_node_id_t ae_node;
	rsm_permission_t ae_permission;
} rsmapi_access_entry_t;

/* The guide's name of the field. */
#define ae_permissions ae_permission

/**
 * typedef rsmapi_barrier_t - a barrier, in the program's memory
 * @seg: connection that it belongs to
 * @gnum: generation
 * @privdata: state
 *
 * All fields are the library's. Fill it with zeros first: that is what an uninitialised barrier is
 * told by.
 */
typedef struct {
	void *seg;
	uint16_t gnum;
	void *privdata;
} rsmapi_barrier_t;

/**
 * typedef rsm_iovec_t - one piece of a scattered transfer
 * @io_type: RSM_HANDLE_TYPE or RSM_VA_TYPE
 * @local: the local memory
 * @local.handle: handle on it, with RSM_HANDLE_TYPE
 * @local.vaddr: its address, with RSM_VA_TYPE
 * @local.virtual_addr: the guide's name for the same
 * @local_offset: where the piece starts, in bytes from that address or from the handle's
 * @remote_offset: where it goes or comes from, in bytes from the start of the remote segment
 * @transfer_length: its length, in bytes
 */
typedef struct {
	int io_type;
	union {
		rsm_localmemory_handle_t handle;
		caddr_t vaddr;
		caddr_t virtual_addr;
	} local;
	size_t local_offset;
	size_t remote_offset;
	size_t transfer_length;
} rsm_iovec_t;

/* The guide's name of the field. */
#define import_segment_offset remote_offset

/**
 * typedef rsm_scat_gath_t - a scattered transfer
 * @local_nodeid: ignored
 * @io_request_count: number of pieces, 1..RSM_MAX_SGIOREQS
 * @io_residual_count: set by the transfer: pieces not completed or not started
 * @flags: RSM_IMPLICIT_SIGPOST, and with it RSM_SIGPOST_NO_ACCUMULATE
 * @remote_handle: connection to the remote segment
 * @iovec: the pieces
 */
typedef struct {
	rsm_node_id_t local_nodeid;
	ulong_t io_request_count;
	ulong_t io_residual_count;
	uint_t flags;
	rsm_memseg_import_handle_t remote_handle;
	rsm_iovec_t *iovec;
} rsm_scat_gath_t;

#ifdef __cplusplus
}
#endif

#endif
