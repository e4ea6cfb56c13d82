/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of the fabric: which one this process is on, which ones there are and in what state, the
 * ephemeral port range, and the abstract socket names by which ports, processes and the controller
 * are found.
 */
#ifndef EMBEDDED_NODE_H
#define EMBEDDED_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum { NODE_MAX = 256, NODE_COUNT = NODE_MAX + 1 };
enum { NODE_FABRIC_MAX = 64 };

/* What all names of a fabric begin with; a fabric that is somebody else's inside has another. */
#ifndef FABRIC_NAMES
#define FABRIC_NAMES "scif"
#endif

enum node_state { NODE_ABSENT, NODE_UP, NODE_ASLEEP, NODE_DOWN };

struct node_table; /* ctl.h */

/* Reads SCIF_NODE and SCIF_FABRIC, once they are good; 0 or -ENXIO. */
int node_init(void);

uint16_t node_self(void);
const char *node_fabric(void);

/*
 * This process's view, taken from memory alone.  process_refresh() brings it up to date: call it
 * where staleness matters, and after a hang-up before telling a lost node from a closed connection
 * (the table changes before the processes of a lost node are killed).
 */
enum node_state node_state(uint16_t node);
bool node_online(uint16_t node);	  /* up or asleep; the own node always is */
uint32_t node_incarnation(uint16_t node); /* grows at every loss of the node, never falls back */
void node_port_range(uint16_t *low, uint16_t *high);

/* Takes over what a controller's table says; true when the view changed. */
bool node_table_read(const struct node_table *table);

/* Another table follows: its incarnations and events count from zero. */
void node_table_replaced(void);

/*
 * Additions and removals of nodes that this process has taken in are numbered from 0.  An event is
 * enum scif_event << 16 | node, or 0 when so many followed that it is forgotten.
 */
uint32_t node_event_count(void);
uint32_t node_event(uint32_t number);

/* A decimal number without sign, blanks or leading zeros, within low..high. */
bool node_parse_number(const char *text, unsigned low, unsigned high, unsigned *number);
bool node_fabric_valid(const char *fabric);

socklen_t node_port_name(struct sockaddr_un *name, uint16_t node, uint16_t port);
socklen_t node_process_name(struct sockaddr_un *name, uint16_t node, pid_t pid, unsigned copy);
socklen_t node_ctl_name(struct sockaddr_un *name, const char *fabric);

/* True for the name of a port in this process's fabric. */
bool node_parse_port_name(const struct sockaddr_un *name, socklen_t len, uint16_t *node,
			  uint16_t *port);

#endif
