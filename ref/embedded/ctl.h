/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The controller: a small process that scif-fabric leaves behind for as long as the state of a
 * fabric's nodes or ports differs from the default.  It holds the node table, a memfd sealed so
 * that only the controller can write it, and serves one-record requests on the abstract stream
 * socket scif/<fabric>/ctl.  Every reply carries the table by SCM_RIGHTS; every change is
 * announced, table included, as a datagram to scif/<fabric>/<node>/pid/<pid> of each process.
 */
#ifndef EMBEDDED_CTL_H
#define EMBEDDED_CTL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "node.h"

/* A build may stand for a later version; everybody on a fabric has to speak the same one. */
#ifndef CTL_VERSION
#define CTL_VERSION 1
#endif

enum { CTL_MAGIC = 0x4c544353 };

enum { PORTS_LOW_DEFAULT = 1088, PORTS_HIGH_DEFAULT = 65535 };

enum { NODE_LOG = 256 };

/*
 * Each word changes as a whole.  The log holds the latest additions and removals of nodes in their
 * order; an entry is there once event_count includes it.  generation is bumped after the words it
 * announces; closed is set, after the table is the default again, by a controller about to leave.
 */
struct node_table {
	uint32_t magic;
	uint32_t version;
	_Atomic uint32_t generation;
	_Atomic uint32_t closed;
	_Atomic uint32_t ports;		   /* low << 16 | high */
	_Atomic uint32_t node[NODE_COUNT]; /* incarnation << 2 | enum node_state */
	_Atomic uint32_t event_count;
	_Atomic uint32_t log[NODE_LOG]; /* enum scif_event << 16 | node */
};

static inline uint32_t node_word(enum node_state state, uint32_t incarnation)
{
	return incarnation << 2 | (uint32_t)state;
}

static inline enum node_state node_word_state(uint32_t word)
{
	return (enum node_state)(word & 3);
}

static inline uint32_t node_word_incarnation(uint32_t word)
{
	return word >> 2;
}

enum ctl_op { CTL_FETCH, CTL_NODE_ADD, CTL_NODE_SET, CTL_PORTS, CTL_RESET };

struct ctl_request {
	uint32_t magic;
	uint32_t version;
	uint32_t op;
	uint16_t node;
	uint16_t state; /* enum node_state, for CTL_NODE_ADD and CTL_NODE_SET */
	uint16_t low;	/* for CTL_PORTS */
	uint16_t high;
};

struct ctl_reply {
	uint32_t magic;
	uint32_t version;
	int32_t error; /* 0 or a negative errno */
	uint32_t generation;
};

struct ctl_notice {
	uint32_t magic;
	uint32_t version;
	uint32_t generation;
};

/* A message with one optional descriptor (-1: none); uid, where asked for, is the sender's. */
ssize_t ctl_send_fd(int sock, const struct sockaddr_un *to, socklen_t to_len, const void *msg,
		    size_t len, int fd);
ssize_t ctl_recv_fd(int sock, void *msg, size_t len, int *fd, uid_t *uid);

/* Connects to a fabric's controller; -ECONNREFUSED when there is none. */
int ctl_connect(const char *fabric, struct ucred *owner);

/* Processes of this user follow a controller that runs as themselves or as root. */
bool ctl_heeded(const struct ucred *owner);

/* One request and its reply on a connection; 0 and the table's descriptor, or a negative errno. */
int ctl_request(int sock, const struct ctl_request *request, int timeout_ms, int *table_fd);

/* Maps a table read-only after checking it; NULL with a negative errno, -ENXIO for another version.
 */
const struct node_table *ctl_map_table(int fd, int *error);

#endif
