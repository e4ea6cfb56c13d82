/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Symmetric Communication Interface (SCIF), user side: endpoints that connect to each other
 * between the nodes of one machine, exchange short messages, open windows of memory to each other,
 * map them and copy between them.  Same names, values and binary layout as the documented Knights
 * Corner interface.
 *
 * Unless a function says otherwise it returns -1 and sets errno when it fails, and these errors
 * mean:
 *
 *	EBADF		the number is not an open descriptor
 *	ENOTTY		the descriptor is open but is not an endpoint
 *	ENOTCONN	the endpoint is not connected
 *	ECONNRESET	the peer closed the connection, exited or was killed
 *	ENODEV		the peer's node is lost
 */
#ifndef __SCIF_H__
#define __SCIF_H__

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* flags of scif_accept(), scif_send() and scif_recv(): wait */
#define SCIF_ACCEPT_SYNC 1
#define SCIF_SEND_BLOCK 1
#define SCIF_RECV_BLOCK 1

/* Deprecated spellings of the three above. */
#define ACCEPT_SYNC SCIF_ACCEPT_SYNC
#define SEND_BLOCK SCIF_SEND_BLOCK
#define RECV_BLOCK SCIF_RECV_BLOCK

/* prot_flags of scif_register() and scif_mmap() */
enum { SCIF_PROT_READ = 1, SCIF_PROT_WRITE = 2 };

/* map_flags of scif_register() and scif_mmap(); SCIF_MAP_KERNEL is reserved and refused */
enum { SCIF_MAP_FIXED = 0x10, SCIF_MAP_KERNEL = 0x20 };

/* flags of the fence functions: whose transfers */
enum { SCIF_FENCE_INIT_SELF = 1, SCIF_FENCE_INIT_PEER = 2 };

/* reserved flags of the fence functions, refused */
enum { SCIF_FENCE_RAS_SELF = 4, SCIF_FENCE_RAS_PEER = 8 };

/* flags of scif_fence_signal(): where to write */
enum { SCIF_SIGNAL_LOCAL = 0x10, SCIF_SIGNAL_REMOTE = 0x20 };

/* rma_flags of the four transfer functions */
#define SCIF_RMA_USECPU 1
#define SCIF_RMA_USECACHE 2
#define SCIF_RMA_SYNC 4
#define SCIF_RMA_ORDERED 8

/* event bits of scif_poll() */
#define SCIF_POLLIN POLLIN
#define SCIF_POLLOUT POLLOUT
#define SCIF_POLLERR POLLERR
#define SCIF_POLLHUP POLLHUP
#define SCIF_POLLNVAL POLLNVAL

/*
 * Ports set aside by convention for system services.  Nothing but privilege below 1024 enforces it.
 */

/* Coprocessor offload infrastructure */
#define SCIF_COI_PORT_0 40
#define SCIF_COI_PORT_1 41
#define SCIF_COI_PORT_2 42
#define SCIF_COI_PORT_3 43
#define SCIF_COI_PORT_4 44
#define SCIF_COI_PORT_5 45
#define SCIF_COI_PORT_6 46
#define SCIF_COI_PORT_7 47
#define SCIF_COI_PORT_8 48
#define SCIF_COI_PORT_9 49

/* OpenFabrics */
#define SCIF_OFED_PORT_0 60
#define SCIF_OFED_PORT_1 61
#define SCIF_OFED_PORT_2 62
#define SCIF_OFED_PORT_3 63
#define SCIF_OFED_PORT_4 64
#define SCIF_OFED_PORT_5 65
#define SCIF_OFED_PORT_6 66
#define SCIF_OFED_PORT_7 67
#define SCIF_OFED_PORT_8 68
#define SCIF_OFED_PORT_9 69

/* Network device */
#define SCIF_NETDEV_PORT_0 80
#define SCIF_NETDEV_PORT_1 81
#define SCIF_NETDEV_PORT_2 82
#define SCIF_NETDEV_PORT_3 83
#define SCIF_NETDEV_PORT_4 84
#define SCIF_NETDEV_PORT_5 85
#define SCIF_NETDEV_PORT_6 86
#define SCIF_NETDEV_PORT_7 87
#define SCIF_NETDEV_PORT_8 88
#define SCIF_NETDEV_PORT_9 89

/* Reliability, availability, serviceability */
#define SCIF_RAS_PORT_0 100
#define SCIF_RAS_PORT_1 101
#define SCIF_RAS_PORT_2 102
#define SCIF_RAS_PORT_3 103
#define SCIF_RAS_PORT_4 104
#define SCIF_RAS_PORT_5 105
#define SCIF_RAS_PORT_6 106
#define SCIF_RAS_PORT_7 107
#define SCIF_RAS_PORT_8 108
#define SCIF_RAS_PORT_9 109

/* Power management */
#define SCIF_PM_PORT_0 120
#define SCIF_PM_PORT_1 121
#define SCIF_PM_PORT_2 122
#define SCIF_PM_PORT_3 123
#define SCIF_PM_PORT_4 124
#define SCIF_PM_PORT_5 125
#define SCIF_PM_PORT_6 126
#define SCIF_PM_PORT_7 127
#define SCIF_PM_PORT_8 128
#define SCIF_PM_PORT_9 129

/* Board tools */
#define SCIF_BT_PORT_0 130
#define SCIF_BT_PORT_1 131
#define SCIF_BT_PORT_2 132
#define SCIF_BT_PORT_3 133
#define SCIF_BT_PORT_4 134
#define SCIF_BT_PORT_5 135
#define SCIF_BT_PORT_6 136
#define SCIF_BT_PORT_7 137
#define SCIF_BT_PORT_8 138
#define SCIF_BT_PORT_9 139

/* Boot and configuration daemon */
#define MPSSD_MONRECV 160
#define MIC_NOTIFY 161
#define MPSSD_CRED 162
#define MPSSD_MONSEND 163
#define MPSSD_MICCTRL 164
#define MPSSD_RESV5 165
#define MPSSD_RESV6 166
#define MPSSD_RESV7 167
#define MPSSD_RESV8 168
#define MPSSD_RESV9 169

/* Binding a port below this one needs privilege. */
#define SCIF_ADMIN_PORT_END 1024

/* Shared virtual memory */
#define SCIF_MYO_PORT_0 1025
#define SCIF_MYO_PORT_1 1026
#define SCIF_MYO_PORT_2 1027
#define SCIF_MYO_PORT_3 1028
#define SCIF_MYO_PORT_4 1029
#define SCIF_MYO_PORT_5 1030
#define SCIF_MYO_PORT_6 1031
#define SCIF_MYO_PORT_7 1032
#define SCIF_MYO_PORT_8 1033
#define SCIF_MYO_PORT_9 1034

/* Software tools */
#define SCIF_ST_PORT_0 1044
#define SCIF_ST_PORT_1 1045
#define SCIF_ST_PORT_2 1046
#define SCIF_ST_PORT_3 1047
#define SCIF_ST_PORT_4 1048
#define SCIF_ST_PORT_5 1049
#define SCIF_ST_PORT_6 1050
#define SCIF_ST_PORT_7 1051
#define SCIF_ST_PORT_8 1052
#define SCIF_ST_PORT_9 1053

/* Ports the implementation assigns by itself start here. */
#define SCIF_PORT_RSVD 1088

/**
 * typedef scif_epd_t - endpoint descriptor
 *
 * A file descriptor of the process: poll(), select(), epoll, fcntl(), dup() and close() work on it.
 */
typedef int scif_epd_t;

/**
 * struct scif_pollepd - one endpoint asked about in scif_poll()
 * @epd: endpoint descriptor; a negative one is skipped
 * @events: bits asked for, SCIF_POLLIN and SCIF_POLLOUT
 * @revents: bits found
 */
struct scif_pollepd {
	scif_epd_t epd;
	short events;
	short revents;
};

#define SCIF_OPEN_FAILED ((scif_epd_t)-1)
#define SCIF_REGISTER_FAILED ((off_t)-1)
#define SCIF_MMAP_FAILED ((void *)-1)

/**
 * struct scif_portID - a port somewhere in the SCIF network
 * @node: node on which the port is, 0..256
 * @port: port number on that node, 1..65535
 */
struct scif_portID {
	uint16_t node;
	uint16_t port;
};

/* Deprecated.  The macro renames every identifier portID that follows. */
#define portID scif_portID
typedef struct portID portID_t;

/**
 * scif_open() - create an endpoint
 *
 * The endpoint is unbound. Its descriptor is closed by exec.
 *
 * Clauses: SCIF-OPEN-*
 *
 * Return: the descriptor, or SCIF_OPEN_FAILED with errno set to
 *	ENOMEM	no memory;
 *	ENXIO	library and fabric (or driver) do not fit together, or the environment names an
 *		unusable node, fabric or provider.
 */
scif_epd_t scif_open(void);

/**
 * scif_bind() - bind an endpoint to a port of the local node
 * @epd: unbound endpoint
 * @pn: port number, 1..65535, or 0 for any free one from SCIF_PORT_RSVD on
 *
 * Clauses: SCIF-BIND-*
 *
 * Return: the port number bound, or -1 with errno set to
 *	EBADF, ENOTTY	as at the top;
 *	EACCES	@pn is 1..1023 and the caller is not privileged;
 *	EINVAL	the endpoint is bound already, or the port is taken;
 *	EISCONN	the endpoint is connected or listening;
 *	ENOSPC	@pn is 0 and no port is free.
 */
int scif_bind(scif_epd_t epd, uint16_t pn);

/**
 * scif_listen() - let an endpoint receive connection requests
 * @epd: bound endpoint
 * @backlog: number of requests that may wait; 0 or less refuses all
 *
 * Clauses: SCIF-LISTEN-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY	as at the top;
 *	EINVAL	the endpoint is not bound;
 *	EISCONN	the endpoint is listening, connecting or connected.
 */
int scif_listen(scif_epd_t epd, int backlog);

/**
 * scif_connect() - connect an endpoint to a listening port
 * @epd: unbound or bound endpoint; an unbound one is bound to a free port first
 * @dst: node and port to connect to; not NULL
 *
 * The connection is complete when the other side has accepted it. With O_NONBLOCK set on the
 * descriptor the call returns at once; SCIF_POLLOUT then tells that the request is settled, and
 * calling again gives the result.
 *
 * Clauses: SCIF-CONNECT-*
 *
 * Return: the local port number, or -1 with errno set to
 *	EBADF, ENOTTY	as at the top;
 *	ECONNREFUSED	nobody listens there, or the listener's queue is full or was closed;
 *	EINPROGRESS	O_NONBLOCK: the request is under way;
 *	EINTR	a signal arrived first;
 *	EINVAL	@dst is NULL or names port 0;
 *	EISCONN	the endpoint is connected;
 *	ENOBUFS	no memory, buffer or descriptor;
 *	ENODEV	the node does not exist or is lost;
 *	ENOSPC	no port is free for the unbound endpoint;
 *	EOPNOTSUPP	the endpoint is listening.
 */
int scif_connect(scif_epd_t epd, struct scif_portID *dst);

/**
 * scif_accept() - take the first waiting connection request
 * @epd: listening endpoint
 * @peer: where to store node and port of the requester; not NULL
 * @newepd: where to store the descriptor of the new, connected endpoint; not NULL
 * @flags: 0, or SCIF_ACCEPT_SYNC to wait for a request
 *
 * @peer and @newepd are written on success only.
 *
 * Clauses: SCIF-ACCEPT-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY	as at the top;
 *	EAGAIN	no SCIF_ACCEPT_SYNC and no request waiting, or the requester gave up;
 *	EINTR	a signal arrived first, or the endpoint was closed;
 *	EINVAL	not listening, an unknown flag, @peer or @newepd NULL;
 *	ENOBUFS	no buffer or descriptor;
 *	ENODEV	the requesting node is lost;
 *	ENOENT	the listener was closed before the connection was complete;
 *	ENOMEM	no memory.
 */
int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags);

/**
 * scif_close() - close an endpoint
 * @epd: endpoint in any state
 *
 * Waiting requests are refused, the connection ends, windows are released, the port becomes free.
 * What the peer has not yet received stays readable for it. Mappings made by scif_mmap() stay.
 *
 * Clauses: SCIF-CLOSE-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF	the number is not an open descriptor;
 *	EINVAL	the descriptor is not an endpoint; it stays open.
 */
int scif_close(scif_epd_t epd);

/**
 * scif_send() - send bytes to the peer
 * @epd: connected endpoint
 * @msg: first byte
 * @len: number of bytes, >= 0
 * @flags: 0 to send what there is room for, or SCIF_SEND_BLOCK to wait until all are sent
 *
 * Clauses: SCIF-SEND-*
 *
 * Return: the number of bytes sent, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EFAULT	the bytes cannot be read;
 *	EINTR	nothing sent before a signal arrived or the endpoint was closed;
 *	EINVAL	@len negative or an unknown flag;
 *	ENOMEM	no memory.
 */
int scif_send(scif_epd_t epd, void *msg, int len, int flags);

/**
 * scif_recv() - receive bytes from the peer
 * @epd: connected endpoint, or one whose peer is gone while bytes are left
 * @msg: where to store them
 * @len: number of bytes, >= 0
 * @flags: 0 to take what has arrived, or SCIF_RECV_BLOCK to wait until @len bytes have
 *
 * Clauses: SCIF-RECV-*
 *
 * Return: the number of bytes received, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top, once nothing is left to receive;
 *	EAGAIN	not blocking, and the peer's node is coming back from a low power state;
 *	EFAULT	the place cannot be written; no byte is lost;
 *	EINTR	nothing received before a signal arrived or the endpoint was closed;
 *	EINVAL	@len negative or an unknown flag;
 *	ENOMEM	no memory.
 */
int scif_recv(scif_epd_t epd, void *msg, int len, int flags);

/**
 * scif_register() - open a window: make memory reachable for the peer
 * @epd: connected endpoint
 * @addr: start of the memory, a multiple of the page size
 * @len: its length in bytes, a positive multiple of the page size
 * @offset: with SCIF_MAP_FIXED the place in the endpoint's registered address space, a
 *	multiple of the page size; otherwise a suggestion, 0 for none; never negative
 * @prot_flags: what the peer may do, SCIF_PROT_READ, SCIF_PROT_WRITE or both
 * @map_flags: 0 or SCIF_MAP_FIXED
 *
 * The window holds the pages, not the addresses: later changes of the mapping leave it intact.
 *
 * Clauses: SCIF-REGISTER-*
 *
 * Return: the offset of the window, or SCIF_REGISTER_FAILED with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EADDRINUSE	SCIF_MAP_FIXED and part of the range is taken or beyond 2^62;
 *	EAGAIN	a quota is used up, or memory of this kind cannot be shared;
 *	EFAULT	part of the memory does not exist;
 *	EINVAL	an argument breaks its rule above;
 *	ENOMEM	no memory.
 */
off_t scif_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
		    int map_flags);

/**
 * scif_unregister() - close windows
 * @epd: connected endpoint
 * @offset: start of a range of its registered address space, a multiple of the page size
 * @len: length of the range in bytes, a positive multiple of the page size
 *
 * Every window within the range is closed. Its offsets become free when the last mapping and
 * transfer that uses it has ended. On failure nothing is closed.
 *
 * Clauses: SCIF-UNREGISTER-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EINVAL	the range cuts a window, @offset is negative, or an argument breaks its rule above;
 *	ENXIO	no window is in the range.
 */
int scif_unregister(scif_epd_t epd, off_t offset, size_t len);

/**
 * scif_mmap() - map windows of the peer
 * @addr: with SCIF_MAP_FIXED the address to map at, a multiple of the page size, replacing
 *	what is there; otherwise a suggestion, NULL for none
 * @len: length in bytes, a positive multiple of the page size
 * @prot_flags: SCIF_PROT_READ, SCIF_PROT_WRITE or both
 * @map_flags: 0 or SCIF_MAP_FIXED
 * @epd: connected endpoint
 * @offset: start in the peer's registered address space, a multiple of the page size
 *
 * The range must be covered by windows without a gap. The mapping outlives the endpoint.
 *
 * Clauses: SCIF-MMAP-*
 *
 * Return: the address, or SCIF_MMAP_FAILED with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EACCES	a window does not allow @prot_flags;
 *	EINVAL	an argument breaks its rule above;
 *	ENOMEM	no memory or address space;
 *	ENXIO	part of the range is in no window, or @offset is negative.
 */
void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd,
		off_t offset);

/**
 * scif_munmap() - remove mappings
 * @addr: start, a multiple of the page size
 * @len: length in bytes, a positive multiple of the page size
 *
 * Clauses: SCIF-MUNMAP-*
 *
 * Return: 0, or -1 with errno set to
 *	EINVAL	an argument breaks its rule above.
 */
int scif_munmap(void *addr, size_t len);

/**
 * scif_readfrom() - copy from the peer's windows into own windows
 * @epd: connected endpoint
 * @loffset: where to, in the own registered address space
 * @len: number of bytes, positive
 * @roffset: where from, in the peer's registered address space
 * @rma_flags: any of SCIF_RMA_USECPU, SCIF_RMA_USECACHE, SCIF_RMA_SYNC (return when the copy is
 *	complete) and SCIF_RMA_ORDERED (the last cache line becomes visible last)
 *
 * Both ranges must be covered by windows without a gap.
 *
 * Clauses: SCIF-READFROM-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EACCES	the source may not be read or the destination not be written;
 *	EINVAL	an unknown flag, or @len is 0;
 *	ENXIO	part of a range is in no window, or an offset is negative.
 */
int scif_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);

/**
 * scif_writeto() - copy from own windows into the peer's windows
 * @epd: connected endpoint
 * @loffset: where from, in the own registered address space
 * @len: number of bytes, positive
 * @roffset: where to, in the peer's registered address space
 * @rma_flags: as for scif_readfrom()
 *
 * Clauses: SCIF-WRITETO-*
 *
 * Return: as for scif_readfrom().
 */
int scif_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags);

/**
 * scif_vreadfrom() - copy from the peer's windows into memory
 * @epd: connected endpoint
 * @addr: where to; needs no window
 * @len: number of bytes, positive
 * @roffset: where from, in the peer's registered address space
 * @rma_flags: as for scif_readfrom(); SCIF_RMA_USECACHE allows the memory to stay prepared
 *	for the next transfer
 *
 * Clauses: SCIF-VREADFROM-*
 *
 * Return: as for scif_readfrom(), and EFAULT when part of the memory does not exist.
 */
int scif_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);

/**
 * scif_vwriteto() - copy from memory into the peer's windows
 * @epd: connected endpoint
 * @addr: where from; needs no window
 * @len: number of bytes, positive
 * @roffset: where to, in the peer's registered address space
 * @rma_flags: as for scif_vreadfrom()
 *
 * Clauses: SCIF-VWRITETO-*
 *
 * Return: as for scif_vreadfrom().
 */
int scif_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags);

/**
 * scif_fence_mark() - mark the transfers that are under way
 * @epd: connected endpoint
 * @flags: SCIF_FENCE_INIT_SELF for those started through @epd, or SCIF_FENCE_INIT_PEER for
 *	those started by the peer
 * @mark: where to store the mark
 *
 * Clauses: SCIF-FENCE-MARK-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EINVAL	@flags is neither of the two;
 *	ENOMEM	no memory.
 */
int scif_fence_mark(scif_epd_t epd, int flags, int *mark);

/**
 * scif_fence_wait() - wait until marked transfers are complete
 * @epd: connected endpoint
 * @mark: a mark that scif_fence_mark() gave for this endpoint
 *
 * Clauses: SCIF-FENCE-WAIT-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EINVAL	@mark was never given out;
 *	ENOMEM	no memory.
 */
int scif_fence_wait(scif_epd_t epd, int mark);

/**
 * scif_fence_signal() - write values when the transfers that are under way are complete
 * @epd: connected endpoint
 * @loff: where to write @lval in the own registered address space, a multiple of 4
 * @lval: value for SCIF_SIGNAL_LOCAL
 * @roff: where to write @rval in the peer's registered address space, a multiple of 4
 * @rval: value for SCIF_SIGNAL_REMOTE
 * @flags: SCIF_FENCE_INIT_SELF or SCIF_FENCE_INIT_PEER, with SCIF_SIGNAL_LOCAL,
 *	SCIF_SIGNAL_REMOTE or both
 *
 * Clauses: SCIF-FENCE-SIGNAL-*
 *
 * Return: 0, or -1 with errno set to
 *	EBADF, ENOTTY, ENOTCONN, ECONNRESET, ENODEV	as at the top;
 *	EINVAL	@flags or an offset breaks its rule above;
 *	ENXIO	an offset that is used is in no window.
 */
int scif_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
		      int flags);

/**
 * scif_get_nodeIDs() - tell which nodes are online
 * @nodes: where to store their ids, ascending; may be NULL when @len is 0
 * @len: number of entries in @nodes, >= 0; further ids are left out
 * @self: where to store the id of the local node
 *
 * Nothing is written on failure.
 *
 * Clauses: SCIF-GET-NODEIDS-*
 *
 * Return: the number of nodes online, the local one included and also if more than @len, or -1
 * with errno set to
 *	EFAULT	@nodes or @self cannot be written;
 *	EINVAL	@len is negative (not in the SCIF text).
 */
int scif_get_nodeIDs(uint16_t *nodes, int len, uint16_t *self);

/**
 * scif_get_fd() - the file descriptor of an endpoint
 * @epd: any endpoint descriptor; not checked
 *
 * Clauses: SCIF-GET-FD-*
 *
 * Return: the file descriptor.
 */
static __inline__ int scif_get_fd(scif_epd_t epd)
{
	return epd;
}

/**
 * scif_poll() - wait until endpoints are ready
 * @epds: array of endpoints and the bits asked for
 * @nepds: number of entries
 * @timeout: longest wait in milliseconds; negative for no limit
 *
 * SCIF_POLLIN: scif_recv(), or scif_accept() on a listening endpoint, would not wait. SCIF_POLLOUT:
 * scif_send() would not wait, or a pending connect is settled. SCIF_POLLERR, SCIF_POLLHUP (peer
 * gone) and SCIF_POLLNVAL (not an open descriptor) are reported unasked.
 *
 * Clauses: SCIF-POLL-*
 *
 * Return: the number of entries with bits found, 0 when the time is over, or -1 with errno set to
 *	EFAULT	the array cannot be read or written;
 *	EINTR	a signal arrived first;
 *	EINVAL	@nepds is greater than the limit of open descriptors;
 *	ENOMEM	no memory.
 */
int scif_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout);

#ifdef __cplusplus
}
#endif

#endif
