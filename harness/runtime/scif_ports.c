/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports of our node and of the peer's. */
#include "scif_endpoints.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define BACKLOG	       5
#define NO_SUCH_NODE   200
#define FEW_PORTS_LOW  50000
#define FEW_PORTS_HIGH 50007
#define PORT_MAX       64

/* A port of a peer that a fixture handed out. */
static struct peer_port {
	struct scif_portID id;
	struct cts_peer *peer;
	int listener;
	int accept_tag; /* a blocking accept is under way there; or -1 */
} ports[PORT_MAX];
static int port_count;

static int must_peer(struct cts_result r, const char *what)
{
	if (r.ret == -1)
		cts_unresolved("%s of the peer: %s", what, strerror(r.err));
	return (int)r.ret;
}

struct scif_portID peer_listener(struct cts_peer *p, int backlog, int *listener)
{
	unsigned port, node;

	*listener = must_peer(cts_peer_call(p, "listener 0 %d", backlog), "a listening endpoint");
	if (sscanf(cts_peer_text(p), "%u %u", &port, &node) != 2)
		cts_unresolved("the peer does not say where it listens");
	return (struct scif_portID){.node = (uint16_t)node, .port = (uint16_t)port};
}

static struct peer_port *port_add(struct scif_portID id, struct cts_peer *p, int listener)
{
	if (port_count == PORT_MAX)
		cts_unresolved("too many ports of peers");
	ports[port_count] = (struct peer_port){id, p, listener, -1};
	return &ports[port_count++];
}

static struct peer_port *port_find(struct scif_portID id)
{
	for (int i = port_count; i-- > 0;)
		if (ports[i].id.node == id.node && ports[i].id.port == id.port)
			return &ports[i];
	cts_unresolved("port %u of node %u was made by no fixture", id.port, id.node);
}

int port_listener(struct scif_portID id)
{
	return port_find(id)->listener;
}

void cts_peer_close_port(struct scif_portID id)
{
	const struct peer_port *port = port_find(id);

	must_peer(cts_peer_call(port->peer, "close %d", port->listener), "scif_close");
}

void cts_peer_accept_port(struct scif_portID id)
{
	struct peer_port *port = port_find(id);

	port->accept_tag = cts_peer_begin(port->peer, "accept %d 1", port->listener);
}

/* True when one of the accepts under way has come back: it belongs to the endpoint that connected
 * last. */
static bool accepted_meanwhile(struct endpoint *e, bool *under_way)
{
	*under_way = false;
	for (int i = 0; i < port_count; i++) {
		struct peer_port *port = &ports[i];

		if (port->accept_tag == -1)
			continue;
		*under_way = true;
		if (!cts_peer_call(port->peer, "done %d", port->accept_tag).ret)
			continue;
		struct cts_result r = cts_peer_end(port->peer, port->accept_tag);
		port->accept_tag = -1;
		if (r.ret == -1)
			continue;
		e->peer = port->peer;
		e->far = (int)r.ret;
		return true;
	}
	return false;
}

/* Our connect may return before the peer's accept does. */
void port_resolve(struct endpoint *e)
{
	bool under_way;

	while (!accepted_meanwhile(e, &under_way) && under_way && cts_time_left())
		sched_yield();
}

static struct scif_portID listener_port(int backlog)
{
	int listener;
	struct scif_portID id = peer_listener(cts_peer(), backlog, &listener);

	return port_add(id, cts_peer(), listener)->id;
}

struct scif_portID cts_fx_peer_port(void)
{
	return listener_port(BACKLOG);
}

struct scif_portID cts_fx_peer_port_backlog(int backlog)
{
	return listener_port(backlog);
}

struct scif_portID cts_fx_peer_port_closing(void)
{
	return listener_port(BACKLOG);
}

struct scif_portID cts_fx_peer_port_accepting(void)
{
	struct scif_portID id = listener_port(BACKLOG);

	for (int i = 0; i < shortage_spare("scif_connect"); i++)
		cts_peer_begin(cts_peer(), "accept %d 1", port_listener(id));
	cts_peer_accept_port(id);
	return id;
}

struct scif_portID cts_fx_peer_port_full(void)
{
	struct scif_portID id = listener_port(1);
	struct cts_peer *p = cts_peer();
	int far = must_peer(cts_peer_call(p, "open"), "scif_open");

	/* One that waits: a request that does not might hold up the one under test. */
	cts_peer_asleep(p, cts_peer_begin(p, "connect %d %u %u", far, id.node, id.port));
	return id;
}

/* An endpoint of the peer bound to a port of its choice. */
static int peer_bound(uint16_t *port)
{
	int far = must_peer(cts_peer_call(cts_peer(), "open"), "scif_open");

	*port = (uint16_t)must_peer(cts_peer_call(cts_peer(), "bind %d 0", far), "scif_bind");
	return far;
}

struct scif_portID cts_fx_peer_port_bound(void)
{
	struct scif_portID id = {.node = cts_peer_node(cts_peer())};
	uint16_t port;
	int far = peer_bound(&port);

	id.port = port;
	return port_add(id, cts_peer(), far)->id;
}

struct scif_portID cts_fx_peer_port_unused(void)
{
	struct scif_portID id = {.node = cts_peer_node(cts_peer())};
	uint16_t port;
	int far = peer_bound(&port);

	id.port = port;
	must_peer(cts_peer_call(cts_peer(), "close %d", far), "scif_close");
	return id;
}

struct scif_portID cts_fx_absent_node_port(void)
{
	return (struct scif_portID){.node = NO_SUCH_NODE, .port = 2000};
}

struct scif_portID cts_fx_down_node_port(void)
{
	struct scif_portID id = listener_port(BACKLOG);

	cts_node(id.node, "down");
	return id;
}

struct scif_portID cts_fx_port_id(int node, int port)
{
	return (struct scif_portID){.node = (uint16_t)node, .port = (uint16_t)port};
}

uint16_t cts_fx_free_port(void)
{
	scif_epd_t epd = open_endpoint();
	int port = scif_bind(epd, 0);

	if (port == -1 || scif_close(epd) == -1)
		cts_unresolved("no free port: %s", strerror(errno));
	return (uint16_t)port;
}

uint16_t cts_fx_taken_port(void)
{
	scif_epd_t epd = endpoint_add(open_endpoint())->epd;
	int port = scif_bind(epd, 0);

	if (port == -1)
		cts_unresolved("scif_bind: %s", strerror(errno));
	return (uint16_t)port;
}

int cts_fx_ports_exhausted(void)
{
	int count = FEW_PORTS_HIGH - FEW_PORTS_LOW + 1;

	cts_ports(FEW_PORTS_LOW, FEW_PORTS_HIGH);
	for (int i = 0; i < count; i++)
		if (scif_bind(open_endpoint(), 0) == -1)
			cts_unresolved("port %d of %d: %s", i + 1, count, strerror(errno));
	return count;
}

bool cts_port_is_free(uint16_t port)
{
	scif_epd_t epd = open_endpoint();
	bool bound = scif_bind(epd, port) == port;

	if (scif_close(epd) == -1)
		cts_unresolved("scif_close: %s", strerror(errno));
	return bound;
}
