/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports: who gets them, who has them, when none is left, and when they are free again. */
#include "ends.h"

#include <dirent.h>
#include <stdlib.h>

#define NARROW_LOW 20000
#define NUMBERED   30000
#define ARRIVES_MS 3000

static void check_reached(struct listener here, struct listener other)
{
	CTS_ASSERT(here.at.port != other.at.port);
	struct request r = ends_request_begin(cts_peer(), here.at);
	struct scif_pollepd p = {.epd = here.epd, .events = POLLIN};

	cts_assert(scif_poll(&p, 1, ARRIVES_MS) == 1,
		   "the request is at the endpoint that has the port", __FILE__, __LINE__);
	CTS_CHECK(cts_poll(other.epd, POLLIN) == 0, "the other endpoint has no request");
	CTS_ASSERT(scif_close(ends_accept(here.epd, &r)) == 0);
}

static struct listener listen_at(uint16_t port)
{
	struct listener l = {.epd = cts_fx_bound_to(port),
			     .at = {.node = cts_self_node(), .port = port}};

	CTS_REQUIRE(scif_listen(l.epd, 1) == 0);
	return l;
}

/* A port that was assigned, and one that was asked for. */
SCENARIO(bind_port_is_reachable)
{
	struct listener assigned = ends_listen(1), asked_for = listen_at(cts_fx_free_port());

	CTS_OBSERVE(assigned.at.port);
	check_reached(assigned, asked_for);
	check_reached(asked_for, assigned);
}

static int *bind_many(int count)
{
	int *ports = calloc((size_t)count, sizeof *ports);

	CTS_REQUIRE(ports);
	for (int i = 0; i < count; i++) {
		ports[i] = scif_bind(cts_fx_unbound(), 0);
		CTS_ASSERT(ports[i] >= SCIF_PORT_RSVD);
		CTS_ASSERT(ports[i] <= UINT16_MAX);
		for (int j = 0; j < i; j++)
			CTS_ASSERT(ports[j] != ports[i]);
	}
	return ports;
}

SCENARIO(bind_many_ports)
{
	int count = (int)cts_param("count");
	int *ports = bind_many(count);

	CTS_OBSERVE(ports[count - 1]);
	free(ports);
}

SCENARIO(bind_port_of_the_dead)
{
	uint16_t port = cts_fx_free_port();

	for (long round = cts_param("rounds"); round > 0; round--) {
		struct cts_peer *peer = cts_peer_start(cts_self_node());
		int far = ends_far_open(peer);

		CTS_REQUIRE(cts_peer_call(peer, "bind %d %u", far, port).ret == port);
		CTS_REQUIRE(round % 2 || cts_peer_call(peer, "listen %d 4", far).ret == 0);
		cts_peer_kill(peer);
		scif_epd_t epd = scif_open();
		CTS_ASSERT(CTS_OBSERVE(scif_bind(epd, port)).ret == port);
		CTS_ASSERT(scif_close(epd) == 0);
	}
}

#define WINDOWS 100

/* What a process holds when it is killed: a port, a listener with a request of ours, a connection
 * with windows. */
struct doomed {
	uint16_t port;
	struct scif_portID server; /* where it connects to */
	int tell[2];		   /* and it tells at which port it listens */
	pid_t pid;
	struct scif_portID listens;
	scif_epd_t connected, request; /* our ends */
};

static bool register_windows(scif_epd_t epd)
{
	size_t page = cts_page_size();
	unsigned char *memory =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < WINDOWS; i++)
		if (scif_register(epd, memory, page, 0, SCIF_PROT_READ, 0) == SCIF_REGISTER_FAILED)
			return false;
	return true;
}

static int hold_and_wait(void *arg)
{
	struct doomed *d = arg;
	scif_epd_t bound = scif_open(), listener = scif_open(), connected = scif_open();
	uint16_t at;

	if (scif_bind(bound, d->port) != d->port)
		return 1;
	at = (uint16_t)scif_bind(listener, 0);
	if (scif_listen(listener, 4) != 0 || scif_connect(connected, &d->server) < 0)
		return 2;
	if (!register_windows(connected) || write(d->tell[1], &at, sizeof at) != sizeof at)
		return 3;
	while (pause() == -1)
		;
	return 4;
}

static void doomed_begin(struct doomed *d, scif_epd_t listener)
{
	struct scif_portID from;

	CTS_REQUIRE(pipe2(d->tell, O_CLOEXEC) == 0);
	d->pid = cts_fork(hold_and_wait, d);
	close(d->tell[1]);
	CTS_REQUIRE(scif_accept(listener, &from, &d->connected, SCIF_ACCEPT_SYNC) == 0);
	d->listens.node = cts_self_node();
	CTS_REQUIRE(read(d->tell[0], &d->listens.port, sizeof(uint16_t)) == sizeof(uint16_t));
	close(d->tell[0]);
	d->request = scif_open();
	CTS_REQUIRE(fcntl(d->request, F_SETFL, O_NONBLOCK) == 0);
	CTS_REQUIRE(
		cts_failed_with(CTS_RESULT(scif_connect(d->request, &d->listens)), EINPROGRESS));
}

static void bind_at_once(uint16_t port)
{
	scif_epd_t epd = scif_open();

	CTS_ASSERT(CTS_OBSERVE(scif_bind(epd, port)).ret == port);
	CTS_ASSERT(scif_listen(epd, 1) == 0);
	CTS_ASSERT(scif_close(epd) == 0);
}

static void doomed_round(uint16_t port, struct listener l)
{
	struct doomed d = {.port = port, .server = l.at};
	char byte;

	doomed_begin(&d, l.epd);
	cts_kill_child(d.pid);
	bind_at_once(port);
	bind_at_once(d.listens.port);
	CTS_ASSERT(ends_refused(CTS_RESULT(scif_connect(d.request, &d.listens))));
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_recv(d.connected, &byte, 1, SCIF_RECV_BLOCK)),
				   ECONNRESET));
	CTS_ASSERT(scif_close(d.request) == 0);
	CTS_ASSERT(scif_close(d.connected) == 0);
}

/* -1: there is no such place. */
static long shared_memory_names(void)
{
	DIR *dir = opendir("/dev/shm");
	long names = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		names++;
	closedir(dir);
	return names;
}

/* Others on the machine may leave a name or two there meanwhile. */
SCENARIO(x02_killed_holder)
{
	struct listener l = ends_listen(2);
	uint16_t port = cts_fx_free_port();
	long rounds = cts_param("rounds");

	doomed_round(port, l);
	struct cts_holdings before = cts_holdings();
	long names = shared_memory_names();
	for (long i = 0; i < rounds; i++)
		doomed_round(port, l);
	struct cts_holdings after = cts_holdings();
	CTS_CHECK_EFFECT(after.descriptors < before.descriptors + rounds,
			 "no descriptor is left of each round");
	CTS_CHECK_EFFECT(after.mappings < before.mappings + rounds,
			 "no mapping is left of each round");
	CTS_CHECK_EFFECT(shared_memory_names() < names + rounds,
			 "no name in /dev/shm is left of each round");
}

SCENARIO(bind_passes_over_held_ports)
{
	int first = scif_bind(cts_fx_unbound(), 0);
	int held[4];

	CTS_REQUIRE(first > 0 && first < UINT16_MAX - 4);
	/* One of them may be in use already, which does no harm: somebody holds it. */
	for (int i = 0; i < 4; i++) {
		held[i] = first + 1 + i;
		scif_bind(cts_fx_unbound(), (uint16_t)held[i]);
	}
	for (int i = 0; i < 8; i++) {
		int port = (int)CTS_OBSERVE(scif_bind(cts_fx_unbound(), 0)).ret;

		CTS_ASSERT(port >= SCIF_PORT_RSVD);
		for (int j = 0; j < 4; j++)
			CTS_ASSERT(port != held[j]);
	}
}

SCENARIO(bind_port_of_another_process)
{
	struct cts_peer *peer = cts_peer_start(cts_self_node());
	int far = ends_far_open(peer);
	uint16_t port = cts_fx_free_port();
	scif_epd_t epd = cts_fx_unbound();

	CTS_REQUIRE(cts_peer_call(peer, "bind %d %u", far, port).ret == port);
	CTS_OBSERVE_ERROR(scif_bind(epd, port), EINVAL);
	CTS_OBSERVE_ERROR(scif_bind(epd, port), EINVAL);
	CTS_REQUIRE(cts_peer_call(peer, "close %d", far).ret == 0);
	CTS_CHECK_EFFECT(scif_bind(epd, port) == port,
			 "the control, after the other process closed, succeeds");
}

/* Uses up the narrowed range; the last of the endpoints that hold it. */
static scif_epd_t exhaust(int ports)
{
	scif_epd_t epd = -1;

	cts_ports(NARROW_LOW, NARROW_LOW + (unsigned)ports - 1);
	for (int i = 0; i < ports; i++) {
		epd = cts_fx_unbound();
		int port = scif_bind(epd, 0);
		CTS_ASSERT(port >= NARROW_LOW);
		CTS_ASSERT(port < NARROW_LOW + ports);
	}
	return epd;
}

SCENARIO(bind_no_port_left)
{
	scif_epd_t holder = exhaust((int)cts_param("ports")), epd = cts_fx_unbound();

	CTS_OBSERVE_ERROR(scif_bind(epd, 0), ENOSPC);
	CTS_OBSERVE_ERROR(scif_bind(epd, 0), ENOSPC);
	CTS_ASSERT(cts_failed_with(CTS_RESULT(scif_listen(epd, 1)), EINVAL));
	CTS_REQUIRE(scif_close(holder) == 0);
	CTS_CHECK_EFFECT(scif_bind(epd, 0) >= NARROW_LOW,
			 "the control, after one port came back, succeeds");
}

SCENARIO(bind_by_number_when_none_left)
{
	scif_epd_t epd = cts_fx_unbound();

	exhaust((int)cts_param("ports"));
	CTS_OBSERVE_ERROR(scif_bind(epd, 0), ENOSPC);
	CTS_CHECK_EFFECT(scif_bind(epd, NUMBERED) == NUMBERED,
			 "a port asked for by number can be bound");
}

SCENARIO(bind_every_port)
{
	int ports = (int)cts_param("ports");
	scif_epd_t late = cts_fx_unbound(), *epds = calloc((size_t)ports, sizeof *epds);
	bool *given = calloc((size_t)ports, sizeof *given);

	CTS_REQUIRE(epds && given);
	cts_ports(NARROW_LOW, NARROW_LOW + (unsigned)ports - 1);
	for (int i = 0; i < ports; i++) {
		epds[i] = scif_open();
		int port = scif_bind(epds[i], 0) - NARROW_LOW;
		CTS_ASSERT(port >= 0 && port < ports);
		CTS_ASSERT(!given[port]);
		given[port] = true;
	}
	CTS_OBSERVE_ERROR(scif_bind(late, 0), ENOSPC);
	for (int i = 0; i < ports; i += ports / 7) {
		CTS_CHECK_EFFECT(scif_close(epds[i]) == 0, "one of them is closed");
		epds[i] = late;
		CTS_CHECK_EFFECT(scif_bind(late, 0) >= NARROW_LOW, "its port can be had again");
		late = cts_fx_unbound();
		CTS_OBSERVE_ERROR(scif_bind(late, 0), ENOSPC);
	}
	for (int i = 0; i < ports; i++)
		scif_close(epds[i]);
	free(given);
	free(epds);
}

SCENARIO(connect_no_port_left)
{
	struct far_listener at = ends_far_listen(cts_peer(), 5);
	scif_epd_t epd = cts_fx_unbound(), holder = exhaust((int)cts_param("ports"));

	CTS_OBSERVE_ERROR(scif_connect(epd, &at.at), ENOSPC);
	CTS_OBSERVE_ERROR(scif_connect(epd, &at.at), ENOSPC);
	CTS_CHECK_EFFECT(cts_peer_call(at.peer, "poll %d %d 0", at.epd, POLLIN).ret == 0,
			 "no request came to the listener");
	CTS_REQUIRE(scif_close(holder) == 0);
	CTS_CHECK_EFFECT(ends_connect(epd, at) >= NARROW_LOW,
			 "the control, after one port came back, succeeds");
}

SCENARIO(connect_bound_when_no_port_left)
{
	struct far_listener at = ends_far_listen(cts_peer(), 5);
	uint16_t port = cts_fx_free_port();
	scif_epd_t epd = cts_fx_bound_to(port), late = cts_fx_unbound();

	exhaust((int)cts_param("ports"));
	CTS_OBSERVE_ERROR(scif_connect(late, &at.at), ENOSPC);
	CTS_CHECK_EFFECT(ends_connect(epd, at) == port,
			 "an endpoint that has a port connects from it");
}

SCENARIO(port_free_while_accepted_lives)
{
	struct listener l = ends_listen(2);
	scif_epd_t accepted = ends_serve(l, cts_peer());

	CTS_ASSERT(!cts_port_is_free(l.at.port));
	CTS_ASSERT(CTS_OBSERVE(scif_close(l.epd)).ret == 0);
	CTS_CHECK(cts_port_is_free(l.at.port), "the port of the closed listener is free");
	CTS_CHECK(cts_far_alive(accepted), "the accepted endpoint still is connected");
	CTS_ASSERT(scif_close(accepted) == 0);
}
