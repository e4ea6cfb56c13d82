/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Node events of the Symmetric Communication Interface.  The SCIF text describes
 * scif_event_register() without giving a prototype; this header supplies one.
 */
#ifndef SCIF_EVENT_H
#define SCIF_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum scif_event - kind of an event
 * @SCIF_NODE_ADDED: a node has joined the SCIF network; informational
 * @SCIF_NODE_REMOVED: a node is leaving the SCIF network; the handler should close every endpoint
 *	that is connected to it
 */
enum scif_event { SCIF_NODE_ADDED = 1, SCIF_NODE_REMOVED = 2 };

/**
 * union scif_event_data - what an event is about
 * @scif_node_added: node id, 0..256, of a SCIF_NODE_ADDED event
 * @scif_node_removed: node id, 0..256, of a SCIF_NODE_REMOVED event
 */
union scif_event_data {
	uint16_t scif_node_added;
	uint16_t scif_node_removed;
};

/**
 * typedef scif_event_handler_t - routine that is called when an event occurs
 * @event: kind of the event
 * @data: the member that belongs to @event names the node
 *
 * The routine runs on a thread of the library, with all signals blocked, one event at a time. It
 * may call any SCIF function.
 */
typedef void (*scif_event_handler_t)(enum scif_event event, union scif_event_data data);

/**
 * scif_event_register() - have a routine called at node events
 * @handler: routine to call; not NULL
 *
 * Every registered handler is called once per event, in the order of registration, for events that
 * occur after the call. A handler cannot be taken back. A child made by fork() starts without
 * handlers.
 *
 * Clauses: SCIF-EVENT-REGISTER-*
 *
 * Return: 0, or -1 with errno set to
 *	ENOMEM	no memory, descriptor or thread is available;
 *	EINVAL	@handler is NULL (not in the SCIF text);
 *	ENXIO	the environment names no usable fabric (not in the SCIF text);
 *	ENOSYS	a card's driver is used: it tells of nodes inside the kernel only (not in the
 *		SCIF text).
 */
int scif_event_register(scif_event_handler_t handler);

#ifdef __cplusplus
}
#endif

#endif
