/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of the fabric: which one this process is on, which ones there are and in what state, the ephemeral
 * port range, and the abstract socket names by which ports, processes and the controller are found.
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

enum node_state { NODE_ABSENT, NODE_UP, NODE_ASLEEP, NODE_DOWN };

struct node_table; /* ctl.h */

/* Reads SCIF_NODE and SCIF_FABRIC at the first success; 0 or -ENXIO. */
int node_init(void);

uint16_t node_self(void);
const char *node_fabric(void);

/* Memory reads only, nothing is asked of the kernel: call process_refresh() first where staleness matters. */
enum node_state node_state(uint16_t node);
bool node_online(uint16_t node);
uint32_t node_incarnation(uint16_t node); /* grows at every loss of the node, never falls back */
void node_port_range(uint16_t *low, uint16_t *high);

/* A decimal number without sign, blanks or leading zeros; false outside low..high. */
bool node_parse_number(const char *text, unsigned low, unsigned high, unsigned *number);
bool node_fabric_valid(const char *fabric);

socklen_t node_port_name(struct sockaddr_un *name, uint16_t node, uint16_t port);
socklen_t node_process_name(struct sockaddr_un *name, uint16_t node, pid_t pid, unsigned copy);
socklen_t node_ctl_name(struct sockaddr_un *name, const char *fabric);

/* True for a port name of this process's fabric. */
bool node_parse_port_name(const struct sockaddr_un *name, socklen_t len, uint16_t *node, uint16_t *port);

/* Takes over a checked, read-only table handed out by the controller; it replaces the one before. */
void node_table_attach(const struct node_table *table);
bool node_table_current(void); /* false when there is none or its controller has left */

#endif
