/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remote shared memory (RSMAPI), user side: a process exports memory as a segment, processes of the
 * cluster import it, read and write it, map it, and signal each other.  Same names, values and
 * binary layout as the documented interface of librsm.so.2.
 *
 * Unless it says otherwise a function returns RSM_SUCCESS, which is 0, or one of the errors
 * RSMERR_* (errno says nothing), and these errors mean:
 *
 *	RSMERR_BAD_CTLR_HNDL		the handle is not one that rsm_get_controller() gave
 *	RSMERR_CTLR_NOT_PRESENT		every get of the controller has been released
 *	RSMERR_BAD_SEG_HNDL		the handle is NULL, of the wrong kind, or of a segment that
 *					is no more
 *	RSMERR_BAD_ADDR			memory of the caller is missing or not accessible as needed
 *	RSMERR_NOT_CREATOR		the caller is a fork of the process that created the segment
 *	RSMERR_CONN_ABORTED		the connection is lost: the segment was unpublished or
 *					destroyed, its exporter is gone, or the exporter's node is
 *	RSMERR_INSUFFICIENT_MEM		no memory, or a quota of it is used up
 *	RSMERR_INSUFFICIENT_RESOURCES	no descriptor, segment, port or thread is left
 *	RSMERR_INTERRUPTED		a signal arrived while the call waited
 *
 * When a call fails, what its pointer arguments point to is unchanged.  Handles may be used by all
 * threads.  Handles, also freed ones, are told apart without being followed, so that a wrong one
 * gives an error and no crash.
 *
 * A segment belongs to the process that created it and ends with it.  A fork of it can only destroy
 * its copy of the handle.  A fork of an importer goes on importing: the first use of a connection
 * there connects anew and maps again at the same address, which until then shows memory that is
 * nobody's; barriers are initialised and closed there, and pending signals stay with the parent.
 *
 * Offsets into a segment are in bytes and count from the segment's start.
 *
 * Environment: RSM_SEGMENTID_FILE names a file to use instead of /etc/rsm/rsm.segmentid (ignored in
 * set-user-id programs); RSM_BYTE_ORDER, `little` or `big`, declares the byte order of the segments
 * that the process exports.
 */
#ifndef _RSMAPI_H
#define _RSMAPI_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/param.h>
#include <sys/types.h>

#include <sys/rsm/rsm_common.h>
#include <sys/rsm/rsmapi_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * typedef rsm_attribute_t - where rsm_memseg_import_map() puts a mapping
 * @RSM_MAP_NONE: anywhere; the address given is a suggestion
 * @RSM_MAP_FIXED: at the address given, replacing what is there
 * @RSM_MAP_RESERVED: ignored
 */
typedef enum {
	RSM_MAP_NONE = 0x0,
	RSM_MAP_FIXED = 0x1,
	RSM_MAP_RESERVED = 0x2
} rsm_attribute_t;

/** typedef rsm_map_attr_t - the guide's name of the same */
typedef rsm_attribute_t rsm_map_attr_t;

/* connection_state of rsm_remote_cntlr_t: the only state in which the path can be used */
#define RSM_CONNECTION_ACTIVE 3

/*
 * The guide prints the topology in one level and spells one count differently.  Both ways of
 * writing work: unnamed unions hold the two forms, which the leading __extension__ allows in every
 * standard.
 */

/**
 * typedef rsm_topology_hdr_t - head of a topology
 * @local_nodeid: node of the caller
 * @local_cntlr_count: number of its controllers, loopback not counted
 * @local_cntrl_count: the guide's spelling of the same
 */
typedef struct {
	rsm_node_id_t local_nodeid;
	__extension__ union {
		uint_t local_cntlr_count;
		uint_t local_cntrl_count;
	};
} rsm_topology_hdr_t;

/**
 * typedef rsm_connections_hdr_t - one controller of the caller's node
 * @cntlr_name: its name, for rsm_get_controller()
 * @local_hwaddr: its address
 * @remote_cntlr_count: number of paths from it to other nodes
 */
typedef struct {
	char cntlr_name[256];
	rsm_addr_t local_hwaddr;
	int remote_cntlr_count;
} rsm_connections_hdr_t;

/**
 * typedef rsm_remote_cntlr_t - one path to another node
 * @remote_nodeid: that node
 * @remote_cntlrname: name of its controller
 * @remote_hwaddr: address of its controller
 * @connection_state: RSM_CONNECTION_ACTIVE if the path can be used
 */
typedef struct {
	rsm_node_id_t remote_nodeid;
	char remote_cntlrname[256];
	rsm_addr_t remote_hwaddr;
	uint_t connection_state;
} rsm_remote_cntlr_t;

/**
 * typedef rsm_connections_t - one controller and its paths
 * @hdr: the controller
 * @remote_cntlr: its paths, really hdr.remote_cntlr_count of them
 */
typedef struct {
	rsm_connections_hdr_t hdr;
	rsm_remote_cntlr_t remote_cntlr[1];
} rsm_connections_t;

/** typedef connections_t - the guide's name of the same */
typedef rsm_connections_t connections_t;

/**
 * typedef rsm_topology_t - what rsm_get_interconnect_topology() gives
 * @topology_hdr: the caller's node and the number of its controllers
 * @local_nodeid: the guide's way to topology_hdr.local_nodeid
 * @local_cntlr_count: a short way to topology_hdr.local_cntlr_count
 * @local_cntrl_count: the guide's way to the same
 * @connections: the controllers, really topology_hdr.local_cntlr_count of them.  The object may be
 *	shorter or longer than its type: never copy it by sizeof
 */
typedef struct rsm_topology {
	__extension__ union {
		rsm_topology_hdr_t topology_hdr;
		__extension__ struct {
			rsm_node_id_t local_nodeid;
			__extension__ union {
				uint_t local_cntlr_count;
				uint_t local_cntrl_count;
			};
		};
	};
	rsm_connections_t *connections[1];
} rsm_topology_t;

/* The functions are exported also from a library that hides everything by default: this one. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/**
 * rsm_get_controller() - get a handle on an interconnect controller
 * @name: its name, upper and lower case alike; NULL means `loopback`
 *	`loopback`	to the own node only; any unit number may follow
 *	`scif0`		to every node of the SCIF network, the own one included
 *	`micN`		to node N+1 only
 * @controller: where to store the handle
 *
 * The same name gives the same handle, counted: each get needs its release.
 *
 * Clauses: RSM-GET-CONTROLLER-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL	@controller is NULL;
 *	RSMERR_CTLR_NOT_PRESENT	there is no such controller: the name is unknown, the node of `micN`
 *				is not there, or there is no SCIF network;
 *	RSMERR_INSUFFICIENT_MEM	no memory or descriptor;
 *	RSMERR_BAD_LIBRARY_VERSION	the SCIF library does not fit its network or driver;
 *	RSMERR_BAD_ADDR		@name cannot be read or @controller cannot be written.
 */
int rsm_get_controller(char *name, rsmapi_controller_handle_t *controller);

/**
 * rsm_get_controller_attr() - what a controller can do
 * @chdl: controller
 * @attr: where to store its attributes
 *
 * The limits are those that hold: beyond them rsm_memseg_export_create(),
 * rsm_memseg_import_connect() and rsm_memseg_import_map() fail.
 *
 * Clauses: RSM-GET-CONTROLLER-ATTR-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL	as at the top;
 *	RSMERR_CTLR_NOT_PRESENT	as at the top (not in the guide's list);
 *	RSMERR_BAD_ADDR		@attr is NULL or cannot be written.
 */
int rsm_get_controller_attr(rsmapi_controller_handle_t chdl, rsmapi_controller_attr_t *attr);

/**
 * rsm_release_controller() - take one get of a controller back
 * @chdl: controller
 *
 * With the last one the handle becomes useless, also for segments that were made with it; the
 * segments themselves stay.
 *
 * Clauses: RSM-RELEASE-CONTROLLER-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL	the handle is not one that rsm_get_controller() gave, or has been
 *				released as often as it was got.
 */
int rsm_release_controller(rsmapi_controller_handle_t chdl);

/**
 * rsm_get_interconnect_topology() - the controllers of this node and their paths to other nodes
 * @topology_data: where to store the address of the answer
 *
 * The answer holds what is there now: `scif0` with a path to every other node of the SCIF network,
 * each RSM_CONNECTION_ACTIVE; hardware addresses are node numbers. `loopback` is not listed;
 * without a SCIF network there is no controller. It is freed by rsm_free_interconnect_topology().
 *
 * Clauses: RSM-GET-INTERCONNECT-TOPOLOGY-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_TOPOLOGY_PTR	@topology_data is NULL;
 *	RSMERR_INSUFFICIENT_MEM	no memory or descriptor;
 *	RSMERR_BAD_ADDR		@topology_data cannot be written.
 */
int rsm_get_interconnect_topology(rsm_topology_t **topology_data);

/**
 * rsm_free_interconnect_topology() - free a topology and all that belongs to it
 * @topology_data: what rsm_get_interconnect_topology() gave, or NULL
 *
 * Clauses: RSM-FREE-INTERCONNECT-TOPOLOGY-*
 */
void rsm_free_interconnect_topology(rsm_topology_t *topology_data);

/**
 * rsm_get_segmentid_range() - the segment ids that are reserved for an application
 * @appid: the application, a string without blanks, upper and lower case alike
 * @baseid: where to store the first id
 * @length: where to store how many there are
 *
 * Looks up /etc/rsm/rsm.segmentid, or the file that the environment names. Each line of it has four
 * fields, separated by blanks or tabs:
 *
 *	reserve APPID BASEID LENGTH
 *
 * `reserved` is accepted for the keyword, in upper or lower case. BASEID is hexadecimal, with or
 * without 0x; LENGTH is decimal; both are numbers of 32 bits. A line with # in its first column is
 * a comment; a line has at most 8191 bytes, and the last one need not end. Anything else, an empty
 * line included, is malformed and makes the whole file malformed, wherever it stands. The first
 * line for an application counts. What it reserves is handed out as it stands, and not
 * compared with the ids that programs may publish.
 *
 * Clauses: RSM-GET-SEGMENTID-RANGE-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_ADDR		an argument is NULL, or cannot be read or written;
 *	RSMERR_BAD_APPID	the file has no line for @appid;
 *	RSMERR_BAD_CONF		the file does not exist, cannot be read, or is malformed.
 */
int rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length);

/**
 * rsm_memseg_export_create() - make a segment of own memory
 * @controller: controller over which it will be imported
 * @memseg: where to store its handle
 * @vaddr: start of the memory, a multiple of the page size
 * @size: its length in bytes, a positive multiple of the page size
 * @flags: RSM_ALLOW_REBIND to allow rsm_memseg_export_rebind(); RSM_CREATE_SEG_DONTWAIT for a
 *	rsm_memseg_export_publish() that does not wait for resources, which the reference library
 *	never does; RSM_LOCK_OPS without effect; other bits are ignored
 *
 * The segment holds the pages, not the addresses: later changes of the mapping leave it intact. The
 * memory stays the caller's to use.
 *
 * Clauses: RSM-EXPORT-CREATE-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL, RSMERR_CTLR_NOT_PRESENT, RSMERR_INTERRUPTED	as at the top;
 *	RSMERR_BAD_SEG_HNDL	@memseg is NULL;
 *	RSMERR_BAD_LENGTH	@size is 0 or more than attr_max_export_segment_size;
 *	RSMERR_BAD_ADDR		@vaddr is NULL, part of the range is not mapped or is a shared
 *				mapping of a regular file, or @memseg cannot be written;
 *	RSMERR_BAD_MEM_ALIGNMENT	@vaddr or @size is no multiple of the page size;
 *	RSMERR_PERM_DENIED	part of the range is not readable and writable;
 *	RSMERR_INSUFFICIENT_MEM	no memory, or the quota of shared or locked memory is used up;
 *	RSMERR_INSUFFICIENT_RESOURCES	no descriptor, or attr_max_export_segments is reached.
 */
int rsm_memseg_export_create(rsmapi_controller_handle_t controller,
			     rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size,
			     uint_t flags);

/**
 * rsm_memseg_export_destroy() - end a segment
 * @memseg: segment
 *
 * A published segment is unpublished first, as by rsm_memseg_export_unpublish(), except that
 * signals do not interrupt it.
 *
 * Clauses: RSM-EXPORT-DESTROY-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top;
 *	RSMERR_POLLFD_IN_USE	a descriptor of rsm_memseg_get_pollfd() is not released.
 */
int rsm_memseg_export_destroy(rsm_memseg_export_handle_t memseg);

/**
 * rsm_memseg_export_publish() - let other processes import a segment
 * @memseg: segment
 * @segment_id: the id under which they do, RSM_HPC_ID_BASE to below RSM_USER_APP_ID_BASE; or 0, and
 *	a free one from RSM_USER_APP_ID_BASE on is chosen and stored here
 * @access_list: who may, an entry per node; the first entry of a node counts
 * @access_list_length: number of entries; 0 lets every node import, with the permissions of a file
 *	that the process would have created when it created the segment (0666 less the umask)
 *
 * Users and groups are the numbers that the kernel vouches for on one machine; where the SCIF
 * network has no way to tell, they are what the importer claims. A privileged importer passes the
 * digits but not the list.
 *
 * Clauses: RSM-EXPORT-PUBLISH-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_NOT_CREATOR, RSMERR_INSUFFICIENT_MEM	as at the top;
 *	RSMERR_SEG_ALREADY_PUBLISHED	it is published;
 *	RSMERR_BAD_ACL		@access_list is NULL with a length, has a permission beyond 0666 or
 *				with a digit other than 0, 2, 4, 6, a node that cannot be (over
 *				`loopback`: any but the own one), or more entries than nodes can be;
 *	RSMERR_BAD_SEGID	@segment_id is NULL;
 *	RSMERR_SEGID_IN_USE	the id is taken on this node;
 *	RSMERR_RESERVED_SEGID	the id is none that a program may choose;
 *	RSMERR_BAD_ADDR		@segment_id or @access_list is not accessible;
 *	RSMERR_INSUFFICIENT_RESOURCES	no descriptor, port, thread or free id is left.
 */
int rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
			      rsmapi_access_entry_t access_list[], uint_t access_list_length);

/**
 * rsm_memseg_export_republish() - replace the access list of a published segment
 * @memseg: segment
 * @access_list: as for rsm_memseg_export_publish()
 * @access_list_length: as for rsm_memseg_export_publish()
 *
 * Later connections obey the new list; the present ones stay as they are.
 *
 * Clauses: RSM-EXPORT-REPUBLISH-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_NOT_CREATOR, RSMERR_INSUFFICIENT_MEM,
 *	RSMERR_INSUFFICIENT_RESOURCES, RSMERR_INTERRUPTED	as at the top;
 *	RSMERR_SEG_NOT_PUBLISHED	it is not published;
 *	RSMERR_BAD_ACL		as for rsm_memseg_export_publish();
 *	RSMERR_BAD_ADDR		@access_list cannot be read (not in the guide's list).
 */
int rsm_memseg_export_republish(rsm_memseg_export_handle_t memseg,
				rsmapi_access_entry_t access_list[], uint_t access_list_length);

/**
 * rsm_memseg_export_unpublish() - end all imports of a segment
 * @memseg: segment
 *
 * Every importer is told and loses its connection; one that does not answer for 5 seconds is cut
 * off. The segment can be published again.
 *
 * Clauses: RSM-EXPORT-UNPUBLISH-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_NOT_CREATOR	as at the top;
 *	RSMERR_SEG_NOT_PUBLISHED	it is not published;
 *	RSMERR_INTERRUPTED	as at the top; the segment stays published, but importers that had
 *				answered have lost their connections;
 *	RSMERR_POLLFD_IN_USE	a descriptor of rsm_memseg_get_pollfd() is not released (in the
 *				guide's prose only).
 */
int rsm_memseg_export_unpublish(rsm_memseg_export_handle_t memseg);

/**
 * rsm_memseg_export_rebind() - put other memory under a segment
 * @memseg: segment, created with RSM_ALLOW_REBIND
 * @vaddr: start of the new memory, a multiple of the page size
 * @off: ignored; the whole segment is bound anew
 * @size: its length in bytes, the segment's
 *
 * Importers stay connected and mapped and see the new memory; one that does not answer for 5
 * seconds is cut off. Nothing is copied. What a transfer meanwhile meets is undefined.
 *
 * Clauses: RSM-EXPORT-REBIND-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_NOT_CREATOR, RSMERR_INSUFFICIENT_RESOURCES	as at the top;
 *	RSMERR_BAD_LENGTH	@size is not the segment's;
 *	RSMERR_BAD_ADDR		@vaddr is NULL or no multiple of the page size, or the memory is
 *				none that rsm_memseg_export_create() takes;
 *	RSMERR_REBIND_NOT_ALLOWED	the segment was created without RSM_ALLOW_REBIND;
 *	RSMERR_PERM_DENIED	part of the range is not readable and writable;
 *	RSMERR_INSUFFICIENT_MEM	no memory, or the quota of shared or locked memory is used up;
 *	RSMERR_INTERRUPTED	as at the top; the old memory stays bound.
 */
int rsm_memseg_export_rebind(rsm_memseg_export_handle_t memseg, void *vaddr, offset_t off,
			     size_t size);

/**
 * rsm_memseg_import_connect() - connect to a published segment
 * @controller: controller to go over; it must reach @node_id
 * @node_id: node of the exporter
 * @segment_id: id under which the segment is published there
 * @perm: what the caller wants to do: RSM_PERM_READ, RSM_PERM_WRITE or RSM_PERM_RDWR
 * @im_memseg: where to store the handle of the connection
 *
 * A process may have several connections to one segment.
 *
 * Clauses: RSM-IMPORT-CONNECT-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL, RSMERR_INSUFFICIENT_MEM, RSMERR_INSUFFICIENT_RESOURCES,
 *	RSMERR_INTERRUPTED	as at the top;
 *	RSMERR_CTLR_NOT_PRESENT	as at the top, or the controller does not lead to @node_id;
 *	RSMERR_BAD_SEG_HNDL	@im_memseg is NULL;
 *	RSMERR_PERM_DENIED	@perm is none of the three, or the access list grants less;
 *	RSMERR_SEG_NOT_PUBLISHED_TO_NODE	the access list does not have the caller's node;
 *	RSMERR_SEG_NOT_PUBLISHED	nobody on the node has published the id;
 *	RSMERR_REMOTE_NODE_UNREACHABLE	the node is not there or does not answer;
 *	RSMERR_BAD_ADDR		@im_memseg cannot be written.
 */
int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
			      rsm_memseg_id_t segment_id, rsm_permission_t perm,
			      rsm_memseg_import_handle_t *im_memseg);

/**
 * rsm_memseg_import_disconnect() - end a connection
 * @im_memseg: connection
 *
 * Clauses: RSM-IMPORT-DISCONNECT-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top;
 *	RSMERR_SEG_STILL_MAPPED	it is mapped;
 *	RSMERR_POLLFD_IN_USE	a descriptor of rsm_memseg_get_pollfd() is not released.
 */
int rsm_memseg_import_disconnect(rsm_memseg_import_handle_t im_memseg);

/**
 * rsm_memseg_import_get8() - read 8-bit items from a segment
 * @im_memseg: connection with read permission
 * @offset: where the first item is
 * @datap: where to store the items
 * @rep_cnt: number of items; 0 reads nothing
 *
 * In implicit mode, which is the mode of a new connection, a barrier must have been initialised for
 * the connection, and the items have arrived when the call returns. In explicit mode an error of
 * the transfer between opening and closing a barrier shows when it is closed, not here.
 *
 * The transfer needs no mapping.
 *
 * Clauses: RSM-IMPORT-GET8-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_CONN_ABORTED, RSMERR_INSUFFICIENT_RESOURCES	as at the top;
 *	RSMERR_BAD_ADDR		@datap is NULL or the place cannot be written;
 *	RSMERR_BAD_MEM_ALIGNMENT	cannot occur with items of this width;
 *	RSMERR_BAD_OFFSET	@offset is negative or beyond the segment;
 *	RSMERR_BAD_LENGTH	the last item is beyond the segment;
 *	RSMERR_PERM_DENIED	the connection has no read permission;
 *	RSMERR_BARRIER_UNINITIALIZED	implicit mode and no barrier;
 *	RSMERR_BARRIER_FAILURE	the connection was lost during the transfer.
 */
int rsm_memseg_import_get8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			   ulong_t rep_cnt);

/**
 * rsm_memseg_import_get16() - read 16-bit items from a segment
 * @im_memseg: connection with read permission
 * @offset: where the first item is, a multiple of 2
 * @datap: where to store the items, a multiple of 2
 * @rep_cnt: number of items; 0 reads nothing
 *
 * Items arrive in the caller's byte order. Otherwise as rsm_memseg_import_get8().
 *
 * Clauses: RSM-IMPORT-GET16-*
 *
 * Return: as for rsm_memseg_import_get8(), and
 *	RSMERR_BAD_MEM_ALIGNMENT	@offset or @datap breaks its rule above.
 */
int rsm_memseg_import_get16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_get32() - read 32-bit items from a segment
 * @im_memseg: connection with read permission
 * @offset: where the first item is, a multiple of 4
 * @datap: where to store the items, a multiple of 4
 * @rep_cnt: number of items; 0 reads nothing
 *
 * Items arrive in the caller's byte order. Otherwise as rsm_memseg_import_get8().
 *
 * Clauses: RSM-IMPORT-GET32-*
 *
 * Return: as for rsm_memseg_import_get16().
 */
int rsm_memseg_import_get32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_get64() - read 64-bit items from a segment
 * @im_memseg: connection with read permission
 * @offset: where the first item is, a multiple of 8
 * @datap: where to store the items, a multiple of 8
 * @rep_cnt: number of items; 0 reads nothing
 *
 * Items arrive in the caller's byte order. Otherwise as rsm_memseg_import_get8().
 *
 * Clauses: RSM-IMPORT-GET64-*
 *
 * Return: as for rsm_memseg_import_get16().
 */
int rsm_memseg_import_get64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_get() - read bytes from a segment
 * @im_memseg: connection with read permission
 * @offset: where the first byte is
 * @dst_addr: where to store the bytes
 * @length: number of bytes; 0 reads nothing
 *
 * Modes and barriers as for rsm_memseg_import_get8().
 *
 * Clauses: RSM-IMPORT-GET-*
 *
 * Return: as for rsm_memseg_import_get8().
 */
int rsm_memseg_import_get(rsm_memseg_import_handle_t im_memseg, off_t offset, void *dst_addr,
			  size_t length);

/**
 * rsm_memseg_import_put8() - write 8-bit items to a segment
 * @im_memseg: connection with write permission
 * @offset: where the first item goes
 * @datap: the items
 * @rep_cnt: number of items; 0 writes nothing
 *
 * In implicit mode, which is the mode of a new connection, a barrier must have been initialised for
 * the connection, and the items are in the segment when the call returns. In explicit mode an error
 * of the transfer between opening and closing a barrier shows when it is closed, not here.
 *
 * The transfer needs no mapping.
 *
 * Clauses: RSM-IMPORT-PUT8-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_CONN_ABORTED, RSMERR_INSUFFICIENT_RESOURCES	as at the top;
 *	RSMERR_BAD_ADDR		@datap is NULL or the items cannot be read;
 *	RSMERR_BAD_MEM_ALIGNMENT	cannot occur with items of this width;
 *	RSMERR_BAD_OFFSET	@offset is negative or beyond the segment;
 *	RSMERR_BAD_LENGTH	the last item is beyond the segment;
 *	RSMERR_PERM_DENIED	the connection has no write permission;
 *	RSMERR_BARRIER_UNINITIALIZED	implicit mode and no barrier;
 *	RSMERR_BARRIER_FAILURE	the connection was lost during the transfer.
 */
int rsm_memseg_import_put8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			   ulong_t rep_cnt);

/**
 * rsm_memseg_import_put16() - write 16-bit items to a segment
 * @im_memseg: connection with write permission
 * @offset: where the first item goes, a multiple of 2
 * @datap: the items, a multiple of 2
 * @rep_cnt: number of items; 0 writes nothing
 *
 * Items arrive in the exporter's byte order. Otherwise as rsm_memseg_import_put8().
 *
 * Clauses: RSM-IMPORT-PUT16-*
 *
 * Return: as for rsm_memseg_import_put8(), and
 *	RSMERR_BAD_MEM_ALIGNMENT	@offset or @datap breaks its rule above.
 */
int rsm_memseg_import_put16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_put32() - write 32-bit items to a segment
 * @im_memseg: connection with write permission
 * @offset: where the first item goes, a multiple of 4
 * @datap: the items, a multiple of 4
 * @rep_cnt: number of items; 0 writes nothing
 *
 * Items arrive in the exporter's byte order. Otherwise as rsm_memseg_import_put8().
 *
 * Clauses: RSM-IMPORT-PUT32-*
 *
 * Return: as for rsm_memseg_import_put16().
 */
int rsm_memseg_import_put32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_put64() - write 64-bit items to a segment
 * @im_memseg: connection with write permission
 * @offset: where the first item goes, a multiple of 8
 * @datap: the items, a multiple of 8
 * @rep_cnt: number of items; 0 writes nothing
 *
 * Items arrive in the exporter's byte order. Otherwise as rsm_memseg_import_put8().
 *
 * Clauses: RSM-IMPORT-PUT64-*
 *
 * Return: as for rsm_memseg_import_put16().
 */
int rsm_memseg_import_put64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_put() - write bytes to a segment
 * @im_memseg: connection with write permission
 * @offset: where the first byte goes
 * @src_addr: the bytes
 * @length: number of bytes; 0 writes nothing
 *
 * Modes and barriers as for rsm_memseg_import_put8().
 *
 * Clauses: RSM-IMPORT-PUT-*
 *
 * Return: as for rsm_memseg_import_put8().
 */
int rsm_memseg_import_put(rsm_memseg_import_handle_t im_memseg, off_t offset, void *src_addr,
			  size_t length);

/**
 * rsm_memseg_import_putv() - write several pieces to a segment
 * @sg_io: what to write where
 *
 * The pieces are written in their order and the first error ends the call; io_residual_count then
 * says how many are not written, and is 0 on success. In implicit mode every piece has a barrier of
 * its own. With RSM_IMPLICIT_SIGPOST the exporter is signalled when all are written. Bytes are
 * never swapped.
 *
 * Clauses: RSM-IMPORT-PUTV-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_CONN_ABORTED, RSMERR_INSUFFICIENT_RESOURCES, RSMERR_INTERRUPTED	as at the top;
 *	RSMERR_BAD_SGIO		@sg_io is NULL or cannot be read, the number of pieces is none of
 *				1..RSM_MAX_SGIOREQS, or a piece has an unknown type or a handle that
 *				is none of local memory;
 *	RSMERR_BAD_SEG_HNDL	remote_handle is no connection;
 *	RSMERR_BAD_CTLR_HNDL	a local memory handle belongs to another controller than the
 *				connection, or to a released one;
 *	RSMERR_BAD_ADDR		the pieces or the memory of one cannot be accessed;
 *	RSMERR_BAD_OFFSET	an offset is beyond the segment or the local memory handle;
 *	RSMERR_BAD_LENGTH	a piece runs beyond the segment or the local memory handle;
 *	RSMERR_PERM_DENIED	the connection has no write permission;
 *	RSMERR_BARRIER_FAILURE	the connection was lost during the transfer;
 *	RSMERR_BARRIER_UNINITIALIZED	implicit mode and no barrier (not in the guide's list).
 */
int rsm_memseg_import_putv(rsm_scat_gath_t *sg_io);

/**
 * rsm_memseg_import_getv() - read several pieces from a segment
 * @sg_io: what to read from where
 *
 * As rsm_memseg_import_putv() in the other direction.
 *
 * Clauses: RSM-IMPORT-GETV-*
 *
 * Return: as for rsm_memseg_import_putv(), with
 *	RSMERR_PERM_DENIED	the connection has no read permission.
 */
int rsm_memseg_import_getv(rsm_scat_gath_t *sg_io);

/**
 * rsm_create_localmemory_handle() - name local memory for scattered transfers
 * @cntrl_handle: controller of the transfers
 * @local_handle: where to store the handle
 * @local_vaddr: start of the memory, a multiple of the page size
 * @length: its length in bytes, positive
 *
 * The handle names addresses: it neither copies nor keeps the memory.
 *
 * Clauses: RSM-CREATE-LOCALMEMORY-HANDLE-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL, RSMERR_INSUFFICIENT_MEM	as at the top;
 *	RSMERR_CTLR_NOT_PRESENT	as at the top (not in the guide's list);
 *	RSMERR_BAD_LOCALMEM_HNDL	@local_handle is NULL;
 *	RSMERR_BAD_LENGTH	@length is 0, or the range runs beyond the address space;
 *	RSMERR_BAD_ADDR		@local_vaddr is NULL or no multiple of the page size, part of the
 *				range is not mapped, or @local_handle cannot be written.
 */
int rsm_create_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
				  rsm_localmemory_handle_t *local_handle, caddr_t local_vaddr,
				  size_t length);

/**
 * rsm_free_localmemory_handle() - free the name of local memory
 * @cntrl_handle: the controller that it was created with
 * @handle: local memory handle
 *
 * Clauses: RSM-FREE-LOCALMEMORY-HANDLE-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_CTLR_HNDL	as at the top, or @handle was created with another controller;
 *	RSMERR_CTLR_NOT_PRESENT	as at the top (not in the guide's list);
 *	RSMERR_BAD_LOCALMEM_HNDL	@handle is none of local memory, or freed.
 */
int rsm_free_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
				rsm_localmemory_handle_t handle);

/**
 * rsm_memseg_import_map() - map a segment or part of it
 * @im_memseg: connection
 * @address: where to store the address; with RSM_MAP_FIXED it holds the address to map at, a
 *	multiple of the page size, otherwise a suggestion or NULL
 * @attr: RSM_MAP_NONE or RSM_MAP_FIXED
 * @perm: RSM_PERM_READ, RSM_PERM_WRITE or RSM_PERM_RDWR, within what the connection has
 * @offset: where in the segment the mapping starts, a multiple of the page size
 * @length: its length in bytes, positive
 *
 * A connection has at most one mapping; transfers need none. When the connection is lost the
 * mapping stays, with other memory under it: loads and stores go on without a fault, into nowhere.
 *
 * Clauses: RSM-IMPORT-MAP-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_CONN_ABORTED	as at the top;
 *	RSMERR_BAD_ADDR		@address is NULL or not accessible;
 *	RSMERR_BAD_LENGTH	@length is 0, or the end is beyond the segment;
 *	RSMERR_BAD_OFFSET	@offset is negative or beyond the segment;
 *	RSMERR_BAD_PERMS	@perm is none of the three, or more than the connection has;
 *	RSMERR_SEG_ALREADY_MAPPED	the connection has a mapping;
 *	RSMERR_SEG_NOT_CONNECTED	the connection was ended by rsm_memseg_import_disconnect();
 *	RSMERR_MAP_FAILED	the interconnect cannot map the segment, or no address space or
 *				memory is left;
 *	RSMERR_BAD_MEM_ALIGNMENT	@offset or the fixed address is not page-aligned.
 */
int rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address,
			  rsm_attribute_t attr, rsm_permission_t perm, off_t offset,
			  size_t length);

/**
 * rsm_memseg_import_unmap() - remove the mapping of a connection
 * @im_memseg: connection
 *
 * Clauses: RSM-IMPORT-UNMAP-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top;
 *	RSMERR_SEG_NOT_MAPPED	it has no mapping (not in the guide's list);
 *	RSMERR_POLLFD_IN_USE	a descriptor of rsm_memseg_get_pollfd() is not released (in the
 *				guide's prose only).
 */
int rsm_memseg_import_unmap(rsm_memseg_import_handle_t im_memseg);

/**
 * rsm_memseg_import_init_barrier() - initialise a barrier of a connection
 * @im_memseg: connection
 * @type: RSM_BAR_DEFAULT
 * @barrier: barrier, in the caller's memory
 *
 * It becomes the barrier that transfers in implicit mode use.
 *
 * Clauses: RSM-IMPORT-INIT-BARRIER-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_INSUFFICIENT_MEM	as at the top;
 *	RSMERR_BAD_BARRIER_PTR	@barrier is NULL or not accessible.
 */
int rsm_memseg_import_init_barrier(rsm_memseg_import_handle_t im_memseg, rsm_barrier_type_t type,
				   rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_open_barrier() - begin a span in which errors of transfers are collected
 * @barrier: initialised barrier; if it is open, its span begins anew
 *
 * Clauses: RSM-IMPORT-OPEN-BARRIER-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	its connection has been ended;
 *	RSMERR_BAD_BARRIER_PTR	@barrier is NULL or not accessible;
 *	RSMERR_BARRIER_UNINITIALIZED	it is not initialised (not in the guide's list).
 */
int rsm_memseg_import_open_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_close_barrier() - end the span of a barrier and tell whether all went well
 * @barrier: open barrier
 *
 * Success means that every transfer since the barrier was opened is complete. After a failure the
 * caller has to repeat them all. The barrier is closed in both cases.
 *
 * Clauses: RSM-IMPORT-CLOSE-BARRIER-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_CONN_ABORTED	as at the top;
 *	RSMERR_BAD_SEG_HNDL	its connection has been ended;
 *	RSMERR_BAD_BARRIER_PTR	@barrier is NULL or not accessible;
 *	RSMERR_BARRIER_UNINITIALIZED	it is not initialised;
 *	RSMERR_BARRIER_NOT_OPENED	it is not open;
 *	RSMERR_BARRIER_FAILURE	the exporter or its node was lost within the span.
 */
int rsm_memseg_import_close_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_order_barrier() - order the writes within the span of a barrier
 * @barrier: open barrier
 *
 * Writes before the call complete before writes after it. The barrier stays open.
 *
 * Clauses: RSM-IMPORT-ORDER-BARRIER-*
 *
 * Return: as for rsm_memseg_import_close_barrier().
 */
int rsm_memseg_import_order_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_destroy_barrier() - free a barrier
 * @barrier: initialised barrier
 *
 * Clauses: RSM-IMPORT-DESTROY-BARRIER-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	its connection has been ended;
 *	RSMERR_BAD_BARRIER_PTR	@barrier is NULL or not accessible;
 *	RSMERR_BARRIER_UNINITIALIZED	it is not initialised (not in the guide's list).
 */
int rsm_memseg_import_destroy_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_set_mode() - choose who opens and closes barriers around transfers
 * @im_memseg: connection
 * @mode: RSM_BARRIER_MODE_EXPLICIT or RSM_BARRIER_MODE_IMPLICIT
 *
 * Clauses: RSM-IMPORT-SET-MODE-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top;
 *	RSMERR_BAD_MODE		@mode is neither (not in the guide's list).
 */
int rsm_memseg_import_set_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t mode);

/**
 * rsm_memseg_import_get_mode() - who opens and closes barriers around transfers
 * @im_memseg: connection
 * @mode: where to store its mode
 *
 * Clauses: RSM-IMPORT-GET-MODE-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top;
 *	RSMERR_BAD_ADDR		@mode is NULL or cannot be written (not in the guide's list).
 */
int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t *mode);

/**
 * rsm_intr_signal_post() - signal the other side of a segment
 * @memseg: a connection signals the exporter, a segment all its importers
 * @flags: 0, or RSM_SIGPOST_NO_ACCUMULATE: a receiver that has a signal pending gets none
 *
 * Each call adds one to the signals pending at a receiver. It never waits, and a segment without
 * importers has no receivers.
 *
 * Clauses: RSM-INTR-SIGNAL-POST-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top;
 *	RSMERR_REMOTE_NODE_UNREACHABLE	the exporter's node is lost;
 *	RSMERR_CONN_ABORTED	as at the top (not in the guide's list).
 */
int rsm_intr_signal_post(void *memseg, uint_t flags);

/**
 * rsm_intr_signal_wait() - wait for a signal and take it
 * @memseg: segment or connection
 * @timeout: how long to wait, in milliseconds; 0 not at all, -1 without end
 *
 * Each signal ends one wait. A lost connection does not end the wait.
 *
 * Clauses: RSM-INTR-SIGNAL-WAIT-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL, RSMERR_INTERRUPTED	as at the top;
 *	RSMERR_TIMEOUT		no signal in that time.
 */
int rsm_intr_signal_wait(void *memseg, int timeout);

/**
 * rsm_intr_signal_wait_pollfd() - wait for signals of several segments and for other descriptors
 * @fds: descriptors as for poll(2), of rsm_memseg_get_pollfd() and others
 * @nfds: number of them
 * @timeout: how long to wait, in milliseconds; 0 not at all, -1 without end
 * @numfdsp: where to store the number of those with revents set, or NULL; 0 on failure
 *
 * Takes one signal from each segment that has one and sets revents to POLLRDNORM there. Not in the
 * guide.
 *
 * Clauses: RSM-INTR-SIGNAL-WAIT-POLLFD-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_INSUFFICIENT_MEM, RSMERR_INSUFFICIENT_RESOURCES,
 *	RSMERR_INTERRUPTED	as at the top;
 *	RSMERR_TIMEOUT		nothing in that time;
 *	RSMERR_BAD_ARGS_ERRORS	@nfds is more than the process may have;
 *	RSMERR_BAD_ADDR		@fds or @numfdsp is not accessible.
 */
int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp);

/**
 * rsm_memseg_get_pollfd() - get a descriptor for poll(2) that tells of signals
 * @memseg: published segment or connection
 * @pollfd: where to store the descriptor, in fd, and POLLRDNORM, in events; revents is left alone
 *
 * Every call gives the same descriptor and counts; each needs its release. The descriptor is only
 * for poll(2), select(2) and epoll: it shows a pending signal until a wait takes it.
 *
 * Clauses: RSM-GET-POLLFD-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top, or the segment is not published, or the connection is
 *				lost;
 *	RSMERR_BAD_ADDR		@pollfd is NULL or cannot be written (not in the guide's list).
 */
int rsm_memseg_get_pollfd(void *memseg, struct pollfd *pollfd);

/**
 * rsm_memseg_release_pollfd() - take one get of the descriptor back
 * @memseg: segment or connection
 *
 * Until the last one is taken back the segment cannot be unpublished or destroyed, and the
 * connection not be unmapped or ended. Without a get it has no effect.
 *
 * Clauses: RSM-RELEASE-POLLFD-*
 *
 * Return: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL	as at the top.
 */
int rsm_memseg_release_pollfd(void *memseg);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
