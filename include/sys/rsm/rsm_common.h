/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remote shared memory: version, error numbers, segment id ranges, permissions and the types that
 * programs and drivers share.  <rsmapi.h> includes this file.
 */
#ifndef _SYS_RSM_RSM_COMMON_H
#define _SYS_RSM_RSM_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Scalar types of Solaris.  A program that has them from elsewhere defines RSM_HAVE_SOLARIS_TYPES
 * and declares all four before it includes this file.
 */
#ifndef RSM_HAVE_SOLARIS_TYPES
typedef unsigned int uint_t;
typedef unsigned long ulong_t;
typedef int64_t offset_t;
/* glibc has this one too, but not for every standard; this is the mark that it sets then. */
#ifndef __daddr_t_defined
typedef char *caddr_t;
#endif
#endif

/* version of the interface */
#define RSM_VERSION 5

/*
 * What the functions return.  0 is success; an error is a positive number and errno is not used.
 */
#define RSM_SUCCESS 0

#define RSMERR_BAD_LIBRARY_VERSION 1
#define RSMERR_BAD_TOPOLOGY_PTR 2
#define RSMERR_BAD_CTLR_HNDL 3
#define RSMERR_CTLR_NOT_PRESENT 4
#define RSMERR_BAD_SEG_HNDL 5
#define RSMERR_SEG_ALREADY_PUBLISHED 6
#define RSMERR_SEG_NOT_PUBLISHED 7
#define RSMERR_SEG_NOT_PUBLISHED_TO_NODE 8
#define RSMERR_SEG_ALREADY_MAPPED 9
#define RSMERR_SEG_STILL_MAPPED 10
#define RSMERR_SEG_NOT_MAPPED 11
#define RSMERR_NOT_CREATOR 12
#define RSMERR_BAD_BARRIER_PTR 13
#define RSMERR_BAD_SGIO 14
#define RSMERR_BAD_LOCALMEM_HNDL 15
#define RSMERR_BAD_ADDR 16
#define RSMERR_BAD_MEM_ALIGNMENT 17
#define RSMERR_BAD_OFFSET 18
#define RSMERR_MISALIGNED_OFFSET 19
#define RSMERR_BAD_LENGTH 20
#define RSMERR_BAD_ACL 21
#define RSMERR_BAD_SEGID 22
#define RSMERR_RESERVED_SEGID 23
#define RSMERR_SEGID_IN_USE 24
#define RSMERR_BAD_MODE 25
#define RSMERR_BAD_PERMS 26
#define RSMERR_PERM_DENIED 27
#define RSMERR_LOCKS_NOT_SUPPORTED 28
#define RSMERR_LOCKS_NOT_ENABLED 29
#define RSMERR_REBIND_NOT_ALLOWED 30
#define RSMERR_INSUFFICIENT_RESOURCES 31
#define RSMERR_INSUFFICIENT_MEM 32
#define RSMERR_MAP_FAILED 33
#define RSMERR_POLLFD_IN_USE 34
#define RSMERR_BARRIER_UNINITIALIZED 35
#define RSMERR_BARRIER_OPEN_FAILED 36
#define RSMERR_BARRIER_NOT_OPENED 37
#define RSMERR_BARRIER_FAILURE 38
#define RSMERR_REMOTE_NODE_UNREACHABLE 39
#define RSMERR_CONN_ABORTED 40
#define RSMERR_INTERRUPTED 41
#define RSMERR_TIMEOUT 42
#define RSMERR_BAD_APPID 43
#define RSMERR_BAD_CONF 44
#define RSMERR_SEG_NOT_CONNECTED 45

/* Spellings that documents use for two of the above. */
#define RSMERR_BAD_ADDRESS RSMERR_BAD_ADDR
#define RSMERR_INSUFFICIENT_MEMF RSMERR_INSUFFICIENT_MEM

/* Errors between drivers and the layers above; only BAD_ARGS_ERRORS is for programs as well. */
#define RSMERR_INTERNAL_ERROR 100
#define RSMERR_BAD_DRIVER_VERSION 101
#define RSMERR_UNSUPPORTED_VERSION 102
#define RSMERR_DRIVER_NAME_IN_USE 103
#define RSMERR_DRIVER_NOT_REGISTERED 104
#define RSMERR_DRIVER_THREAD_RUNNING 105
#define RSMERR_NEED_THREAD_INIT 106
#define RSMERR_THREAD_NOT_INITED 107
#define RSMERR_CTLRS_REGISTERED 108
#define RSMERR_CTLR_NOT_REGISTERED 109
#define RSMERR_CTLR_ALREADY_REGISTERED 110
#define RSMERR_CTLR_IN_USE 111
#define RSMERR_NAME_TOO_LONG 112
#define RSMERR_SEG_PUBLISHED 113
#define RSMERR_SEG_NOT_PUBLISHED_TO_RSM_ADDR 114
#define RSMERR_SEG_IN_USE 115
#define RSMERR_BAD_SENDQ_HNDL 116
#define RSMERR_BAD_ARGS_ERRORS 117
#define RSMERR_BAD_MSTYPE 118
#define RSMERR_NO_BACKING_MEM 119
#define RSMERR_NOT_MEM 120
#define RSMERR_MEM_ALREADY_BOUND 121
#define RSMERR_MEM_NOT_BOUND 122
#define RSMERR_HANDLER_NOT_REGISTERED 123
#define RSMERR_NO_HANDLER 124
#define RSMERR_UNBIND_REBIND_NOT_ALLOWED 125
#define RSMERR_CALLBACKS_NOT_SUPPORTED 126
#define RSMERR_UNSUPPORTED_OPERATION 127
#define RSMERR_RSM_ADDR_UNREACHABLE 128
#define RSMERR_UNKNOWN_RSM_ADDR 129
#define RSMERR_BAD_BARRIER_HNDL 130
#define RSMERR_COMM_ERR_MAYBE_DELIVERED 131
#define RSMERR_COMM_ERR_NOT_DELIVERED 132
#define RSMERR_QUEUE_FENCE_UP 133
#define RSMERR_QUEUE_FULL 134

/*
 * Who may publish which segment id; both ends belong to the range.  A program that publishes
 * chooses one from RSM_HPC_ID_BASE up to below RSM_USER_APP_ID_BASE, or 0 and gets one of the last
 * range.
 */
#define RSM_DRIVER_PRIVATE_ID_BASE 0
#define RSM_DRIVER_PRIVATE_ID_END 0x0FFFFF
#define RSM_CLUSTER_TRANSPORT_ID_BASE 0x100000
#define RSM_CLUSTER_TRANSPORT_ID_END 0x1FFFFF
#define RSM_RSMLIB_ID_BASE 0x200000
#define RSM_RSMLIB_ID_END 0x2FFFFF
#define RSM_DLPI_ID_BASE 0x300000
#define RSM_DLPI_ID_END 0x3FFFFF
#define RSM_HPC_ID_BASE 0x400000
#define RSM_HPC_ID_END 0x4FFFFF
#define RSM_OPS_ID_BASE 0x500000
#define RSM_OPS_ID_END 0x5FFFFF
#define RSM_USER_APP_ID_BASE 0x80000000
#define RSM_USER_APP_ID_END 0xFFFFFFFF

/* rsm_permission_t: the three values that a connection can be asked for, and none */
#define RSM_PERM_NONE 0
#define RSM_PERM_READ 0400
#define RSM_PERM_WRITE 0200
#define RSM_PERM_RDWR (RSM_PERM_READ | RSM_PERM_WRITE)

/* most entries that one rsm_scat_gath_t may have */
#define RSM_MAX_SGIOREQS 16

/**
 * typedef rsm_access_size_t - widths of single accesses, one bit each
 * @RSM_DAS8: 8 bits
 * @RSM_DAS16: 16 bits
 * @RSM_DAS32: 32 bits
 * @RSM_DAS64: 64 bits
 */
typedef enum {
	RSM_DAS8 = 0x1,
	RSM_DAS16 = 0x2,
	RSM_DAS32 = 0x4,
	RSM_DAS64 = 0x8
} rsm_access_size_t;

/** typedef rsm_addr_t - hardware address of a controller, an opaque number */
typedef uint64_t rsm_addr_t;

/** typedef rsm_node_id_t - node of the cluster; here the number of a SCIF node, 0..256 */
typedef uint32_t rsm_node_id_t;

/** typedef rsm_nodeid_t - the same, as the guide once writes it */
typedef rsm_node_id_t rsm_nodeid_t;

/** typedef rsm_memseg_id_t - segment id, unique on the exporter's node */
typedef uint32_t rsm_memseg_id_t;

/** typedef rsm_permission_t - one of RSM_PERM_*; in an access list three octal digits */
typedef uint32_t rsm_permission_t;

/** typedef rsm_memseg_import_handle_t - a connection to a segment that somebody else exports */
typedef struct __rsm_memseg_import_handle *rsm_memseg_import_handle_t;

/** typedef rsm_memseg_export_handle_t - a segment of the own process */
typedef struct __rsm_memseg_export_handle *rsm_memseg_export_handle_t;

/**
 * typedef rsm_barrier_type_t - what one barrier covers
 * @RSM_BARRIER_SEGMENT: one imported segment
 * @RSM_BARRIER_NODE: everything between two nodes; treated as RSM_BARRIER_SEGMENT
 * @RSM_BARRIER_SEGMENT_THREAD: one imported segment, one thread; treated as RSM_BARRIER_SEGMENT
 * @RSM_BARRIER_NODE_THREAD: two nodes, one thread; treated as RSM_BARRIER_SEGMENT
 */
typedef enum {
	RSM_BARRIER_SEGMENT = 0x01,
	RSM_BARRIER_NODE = 0x02,
	RSM_BARRIER_SEGMENT_THREAD = 0x11,
	RSM_BARRIER_NODE_THREAD = 0x12
} rsm_barrier_type_t;

/* The guide's name for the only type that it supports; no older header had it. */
#define RSM_BAR_DEFAULT RSM_BARRIER_SEGMENT

/**
 * typedef rsm_barrier_mode_t - who opens and closes barriers around transfers
 * @RSM_BARRIER_MODE_EXPLICIT: the program
 * @RSM_BARRIER_MODE_IMPLICIT: every transfer itself; a new connection is in this mode
 */
typedef enum {
	RSM_BARRIER_MODE_EXPLICIT = 0,
	RSM_BARRIER_MODE_IMPLICIT = 1
} rsm_barrier_mode_t;

/**
 * typedef rsm_barrier_t - barrier as drivers see it; programs use rsmapi_barrier_t
 * @component: four words of the driver's
 */
typedef struct {
	union {
		uint64_t number;
		void *address;
	} component[4];
} rsm_barrier_t;

#ifdef __cplusplus
}
#endif

#endif
