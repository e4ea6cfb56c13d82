/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints in every state a clause can ask for. The far end of a connection is held by a peer
 * process, so that death, node loss and other users can be had; each fixture checks that it reached
 * the state it names.
 */
#include "scif_endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define BACKLOG	      5
#define UNUSED_NUMBER 987 /* below the usual limit of 1024, above anything a case opens */
#define OTHER_USER    65534
#define QUEUE_LIMIT   (64 << 20) /* a send queue that takes more than this is taken for endless */

struct endpoint endpoints[ENDPOINT_MAX];
int endpoint_count;
static int latest_connected = -1;

struct endpoint *endpoint_add(scif_epd_t epd)
{
	if (endpoint_count == ENDPOINT_MAX)
		cts_unresolved("too many endpoints");
	struct endpoint *e = &endpoints[endpoint_count++];
	*e = (struct endpoint){
		.epd = epd, .far = -1, .listener = -1, .accept_tag = -1, .live = true};
	return e;
}

/* The latest one of that number: numbers come up again after a close. */
static struct endpoint *endpoint_seek(scif_epd_t epd)
{
	for (int i = endpoint_count; i-- > 0;)
		if (endpoints[i].epd == epd)
			return &endpoints[i];
	return NULL;
}

struct endpoint *endpoint_find(scif_epd_t epd)
{
	struct endpoint *e = endpoint_seek(epd);

	if (!e)
		cts_unresolved("endpoint %d was made by no fixture", epd);
	return e;
}

static struct endpoint *connection(struct endpoint *e, struct cts_peer *p, int far)
{
	e->peer = p;
	e->far = far;
	latest_connected = (int)(e - endpoints);
	return e;
}

scif_epd_t endpoint_latest_connected(void)
{
	if (latest_connected == -1 || latest_connected >= endpoint_count)
		cts_unresolved("no connected endpoint was asked for before");
	return endpoints[latest_connected].epd;
}

void cts_link(scif_epd_t epd, struct cts_peer *p, int far)
{
	struct endpoint *e = endpoint_seek(epd);

	connection(e ? e : endpoint_add(epd), p, far);
}

scif_epd_t open_endpoint(void)
{
	scif_epd_t epd = scif_open();

	if (epd == SCIF_OPEN_FAILED)
		cts_unresolved("scif_open: %s", strerror(errno));
	return epd;
}

static void must(int ret, const char *what)
{
	if (ret == -1)
		cts_unresolved("%s: %s", what, strerror(errno));
}

static int must_peer(struct cts_result r, const char *what)
{
	if (r.ret == -1)
		cts_unresolved("%s of the peer: %s", what, strerror(r.err));
	return (int)r.ret;
}

/* Descriptors that are no endpoints. */

scif_epd_t cts_fx_never_opened(void)
{
	if (cts_is_open(UNUSED_NUMBER))
		cts_unresolved("descriptor %d is open", UNUSED_NUMBER);
	return UNUSED_NUMBER;
}

scif_epd_t cts_fx_closed(void)
{
	scif_epd_t epd = open_endpoint();

	must(scif_close(epd), "scif_close");
	return epd;
}

scif_epd_t cts_fx_closed_connected(void)
{
	scif_epd_t epd = cts_fx_connected();
	struct endpoint *e = endpoint_find(epd);

	must(scif_close(epd), "scif_close");
	e->live = false;
	e->far = -1;
	return epd;
}

scif_epd_t cts_fx_other_kind(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd, "socket");
	return fd;
}

scif_epd_t cts_fx_pipe(void)
{
	int ends[2];

	must(pipe2(ends, O_CLOEXEC), "pipe");
	return ends[0];
}

scif_epd_t cts_fx_socket(void)
{
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
	return ends[0];
}

scif_epd_t cts_fx_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd == -1)
		fd = memfd_create("cts-file", MFD_CLOEXEC);
	must(fd, "a regular file");
	return fd;
}

scif_epd_t cts_fx_null_device(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	must(fd, "/dev/null");
	return fd;
}

scif_epd_t cts_fx_epoll_set(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	must(fd, "epoll_create1");
	return fd;
}

/* Endpoints without a connection. */

scif_epd_t cts_fx_unbound(void)
{
	return endpoint_add(open_endpoint())->epd;
}

scif_epd_t cts_fx_bound_to(int port)
{
	scif_epd_t epd = cts_fx_unbound();

	must(scif_bind(epd, (uint16_t)port), "scif_bind");
	return epd;
}

scif_epd_t cts_fx_bound(void)
{
	return cts_fx_bound_to(0);
}

/* A listening endpoint and where it listens. */
static scif_epd_t listening(int backlog, struct scif_portID *at)
{
	scif_epd_t epd = cts_fx_unbound();
	int port = scif_bind(epd, 0);

	must(port, "scif_bind");
	must(scif_listen(epd, backlog), "scif_listen");
	if (at)
		*at = (struct scif_portID){.node = cts_self_node(), .port = (uint16_t)port};
	return epd;
}

scif_epd_t cts_fx_listening_backlog(int backlog)
{
	return listening(backlog, NULL);
}

scif_epd_t cts_fx_listening(void)
{
	return listening(BACKLOG, NULL);
}

/* Requests of peers that wait at our listening endpoints, oldest first. */
#define PENDING_MAX 256
static struct pending {
	scif_epd_t listener;
	struct cts_peer *peer;
	int far;
	int tag; /* of the call that waits in the peer, or -1 */
} pending[PENDING_MAX];
static int pending_count;

static void pending_add(struct pending request)
{
	if (pending_count == PENDING_MAX)
		cts_unresolved("too many pending requests");
	pending[pending_count++] = request;
}

/*
 * A request of that peer, queued at our port by a call that waits there.  Those that do not wait
 * may be made one after the other, so that the second comes only when the first was accepted.
 */
static void request_waiting(struct cts_peer *p, scif_epd_t listener, struct scif_portID at)
{
	int far = must_peer(cts_peer_call(p, "open"), "scif_open");
	int tag = cts_peer_begin(p, "connect %d %u %u", far, at.node, at.port);

	cts_peer_asleep(p, tag);
	pending_add((struct pending){listener, p, far, tag});
}

/* One of a call that has returned; its endpoint over there. */
static int request_from(struct cts_peer *p, scif_epd_t listener, struct scif_portID at)
{
	int far = must_peer(cts_peer_call(p, "open"), "scif_open");

	must_peer(cts_peer_call(p, "nonblock %d 1", far), "fcntl");
	struct cts_result r = cts_peer_call(p, "connect %d %u %u", far, at.node, at.port);
	if (r.ret != -1 || r.err != EINPROGRESS)
		cts_unresolved("a non-blocking scif_connect of the peer gave %ld %s", (long)r.ret,
			       r.ret == -1 ? strerror(r.err) : "");
	pending_add((struct pending){listener, p, far, -1});
	return far;
}

static void await_request(scif_epd_t listener)
{
	if (!(cts_poll_wait(listener, POLLIN) & POLLIN))
		waited_in_vain("a pending request makes the listening endpoint readable");
}

scif_epd_t cts_fx_listening_pending(int requests)
{
	struct scif_portID at;

	if (requests)
		requests += shortage_spare("scif_accept");
	scif_epd_t epd = listening(requests > BACKLOG ? requests : BACKLOG, &at);
	for (int i = 0; i < requests; i++)
		request_waiting(cts_peer(), epd, at);
	if (requests)
		await_request(epd);
	return epd;
}

void cts_adopt(scif_epd_t newepd, scif_epd_t listener)
{
	for (int i = 0; i < pending_count; i++) {
		if (pending[i].listener != listener)
			continue;
		cts_link(newepd, pending[i].peer, pending[i].far);
		if (pending[i].tag != -1)
			must_peer(cts_peer_end(pending[i].peer, pending[i].tag), "scif_connect");
		pending[i].listener = -1;
		return;
	}
	cts_unresolved("no request was left pending at endpoint %d", listener);
}

scif_epd_t cts_fx_listening_dead_closed(void)
{
	struct scif_portID at;
	scif_epd_t epd = listening(BACKLOG, &at);
	int far = request_from(cts_peer(), epd, at);

	await_request(epd);
	must_peer(cts_peer_call(cts_peer(), "close %d", far), "scif_close");
	return epd;
}

scif_epd_t cts_fx_listening_dead_killed(void)
{
	struct scif_portID at;
	scif_epd_t epd = listening(BACKLOG, &at);
	struct cts_peer *p = cts_peer_start(cts_peer_node(cts_peer()));

	request_waiting(p, epd, at);
	await_request(epd);
	cts_peer_kill(p);
	return epd;
}

scif_epd_t cts_fx_listening_dead_interrupted(void)
{
	struct scif_portID at;
	scif_epd_t epd = listening(BACKLOG, &at);
	struct cts_peer *p = cts_peer();
	int far = must_peer(cts_peer_call(p, "open"), "scif_open");
	int tag = cts_peer_begin(p, "connect %d %u %u", far, at.node, at.port);

	await_request(epd);
	cts_peer_asleep(p, tag);
	cts_peer_interrupt(p, tag);
	struct cts_result r = cts_peer_end(p, tag);
	if (r.ret != -1 || r.err != EINTR)
		cts_unresolved("an interrupted scif_connect of the peer gave %ld %s", (long)r.ret,
			       strerror(r.err));
	return epd;
}

scif_epd_t cts_fx_listening_dead_node(void)
{
	struct scif_portID at;
	scif_epd_t epd = listening(BACKLOG, &at);
	struct cts_peer *p = cts_peer();

	request_from(p, epd, at);
	await_request(epd);
	cts_node(cts_peer_node(p), "down");
	return epd;
}

/* Our own requests. */

static void request_to(scif_epd_t epd, struct scif_portID dst)
{
	if (scif_connect(epd, &dst) != -1 || errno != EINPROGRESS)
		cts_unresolved("a non-blocking scif_connect does not give EINPROGRESS");
}

scif_epd_t cts_fx_connecting(void)
{
	struct scif_portID dst = cts_fx_peer_port();
	scif_epd_t epd = cts_fx_unbound();
	struct endpoint *e = endpoint_find(epd);

	cts_set_nonblocking(epd, true);
	request_to(epd, dst);
	e->peer = cts_peer();
	e->listener = port_listener(dst);
	return epd;
}

void cts_far_accept(scif_epd_t epd)
{
	struct endpoint *e = endpoint_find(epd);

	if (e->listener == -1)
		cts_unresolved("endpoint %d waits at no listener of a peer", epd);
	int far = must_peer(cts_peer_call(e->peer, "accept %d 1", e->listener), "scif_accept");
	connection(e, e->peer, far);
}

int cts_far_accept_begin(scif_epd_t epd)
{
	struct endpoint *e = endpoint_find(epd);

	if (e->listener == -1)
		cts_unresolved("endpoint %d waits at no listener of a peer", epd);
	return cts_peer_begin(e->peer, "accept %d 1", e->listener);
}

void cts_far_close_listener(scif_epd_t epd)
{
	struct endpoint *e = endpoint_find(epd);

	must_peer(cts_peer_call(e->peer, "close %d", e->listener), "scif_close");
}

scif_epd_t cts_fx_connecting_done(void)
{
	scif_epd_t epd = cts_fx_connecting();

	cts_far_accept(epd);
	if (!(cts_poll_wait(epd, POLLOUT) & POLLOUT))
		waited_in_vain("an accepted request makes the endpoint writable");
	return epd;
}

scif_epd_t cts_fx_connecting_refused(void)
{
	scif_epd_t epd = cts_fx_connecting();

	cts_far_close_listener(epd);
	if (!cts_poll_wait(epd, POLLOUT))
		waited_in_vain("a refused request makes the endpoint ready");
	return epd;
}

scif_epd_t cts_fx_refused(void)
{
	struct scif_portID dst = cts_fx_peer_port_unused();
	scif_epd_t epd = cts_fx_unbound();

	if (scif_connect(epd, &dst) != -1 || errno != ECONNREFUSED)
		cts_unresolved("a port that nobody holds does not refuse the connection");
	return epd;
}

/* Connections. */

/* Each connection gets a listener of its own: the port is then free for the case, and no order is
 * assumed. */
static scif_epd_t connect_with(struct cts_peer *p, int port)
{
	scif_epd_t epd = port == -1 ? cts_fx_unbound() : cts_fx_bound_to(port);
	int listener, tag;
	struct scif_portID dst = peer_listener(p, 1, &listener);

	tag = cts_peer_begin(p, "accept %d 1", listener);
	must(scif_connect(epd, &dst), "scif_connect");
	int far = must_peer(cts_peer_end(p, tag), "scif_accept");
	must_peer(cts_peer_call(p, "close %d", listener), "scif_close");
	return connection(endpoint_find(epd), p, far)->epd;
}

scif_epd_t cts_fx_connected(void)
{
	return connect_with(cts_peer(), -1);
}

scif_epd_t cts_fx_connected_bound(void)
{
	return connect_with(cts_peer(), 0);
}

scif_epd_t cts_fx_connected_own_node(void)
{
	return connect_with(cts_peer_start(cts_self_node()), -1);
}

scif_epd_t cts_fx_connected_other_user(void)
{
	return connect_with(cts_peer_start_as(cts_peer_node(cts_peer()), OTHER_USER), -1);
}

scif_epd_t cts_fx_accepted(void)
{
	struct scif_portID at, from;
	scif_epd_t listener = listening(BACKLOG, &at), epd = -1;
	struct cts_peer *p = cts_peer();
	int far = must_peer(cts_peer_call(p, "open"), "scif_open");
	int tag = cts_peer_begin(p, "connect %d %u %u", far, at.node, at.port);

	must(scif_accept(listener, &from, &epd, SCIF_ACCEPT_SYNC), "scif_accept");
	must_peer(cts_peer_end(p, tag), "scif_connect");
	return connection(endpoint_add(epd), p, far)->epd;
}

static scif_epd_t with_data(scif_epd_t epd, int bytes)
{
	if (!bytes)
		return epd;
	struct cts_result r = cts_far_send(epd, bytes);
	if (r.ret != bytes)
		cts_unresolved("the peer could send %ld of %d bytes", (long)r.ret, bytes);
	if (!(cts_poll_wait(epd, POLLIN) & POLLIN))
		waited_in_vain("queued bytes make the endpoint readable");
	return epd;
}

scif_epd_t cts_fx_queued(int bytes)
{
	return with_data(cts_fx_connected(), bytes);
}

/* Fills the queue to the last byte. */
void fill_send_queue(scif_epd_t epd)
{
	static const unsigned char zeros[4096];
	int step = sizeof zeros, sent;

	for (long total = 0; step; total += sent) {
		sent = scif_send(epd, (void *)(uintptr_t)zeros, step, 0);
		must(sent, "scif_send");
		if (!sent)
			step /= 2;
		if (total > QUEUE_LIMIT)
			cts_unresolved("the send queue does not get full");
	}
}

scif_epd_t cts_fx_full_queue(void)
{
	scif_epd_t epd = cts_fx_connected();

	fill_send_queue(epd);
	return epd;
}

/* Connections that ended. */

static scif_epd_t ended(scif_epd_t epd, void (*end)(scif_epd_t epd))
{
	end(epd);
	return epd;
}

scif_epd_t cts_fx_peer_closed_data(int bytes)
{
	return ended(with_data(cts_fx_connected(), bytes), cts_far_close);
}

scif_epd_t cts_fx_peer_closed(void)
{
	return cts_fx_peer_closed_data(0);
}

/* A peer of its own, because others of the case may be wanted alive. */
static scif_epd_t with_own_peer(void)
{
	return connect_with(cts_peer_start(cts_peer_node(cts_peer())), -1);
}

scif_epd_t cts_fx_peer_exited(void)
{
	return ended(with_own_peer(), cts_far_exit);
}

scif_epd_t cts_fx_peer_killed_data(int bytes)
{
	return ended(with_data(with_own_peer(), bytes), cts_far_kill);
}

scif_epd_t cts_fx_peer_killed(void)
{
	return cts_fx_peer_killed_data(0);
}

static scif_epd_t on_node(int bytes, const char *state)
{
	scif_epd_t epd = with_data(cts_fx_connected(), bytes);

	cts_far_node(epd, state);
	return epd;
}

scif_epd_t cts_fx_node_lost_data(int bytes)
{
	return on_node(bytes, "down");
}

scif_epd_t cts_fx_node_lost(void)
{
	return on_node(0, "down");
}

scif_epd_t cts_fx_node_back(void)
{
	scif_epd_t epd = cts_fx_connected();
	int node = cts_peer_node(endpoint_find(epd)->peer);

	cts_far_node(epd, "down");
	cts_node(node, "up");
	return epd;
}

scif_epd_t cts_fx_node_asleep_data(int bytes)
{
	return on_node(bytes, "sleep");
}

scif_epd_t cts_fx_node_asleep(void)
{
	return on_node(0, "sleep");
}

scif_epd_t cts_fx_duplicate(scif_epd_t epd)
{
	int copy = fcntl(epd, F_DUPFD_CLOEXEC, 0);

	must(copy, "dup");
	return copy;
}

scif_epd_t cts_fx_nonblocking(scif_epd_t epd)
{
	cts_set_nonblocking(epd, true);
	return epd;
}

/* Both ends ours: a non-blocking connect, then accept, then collect. */
void cts_pair(scif_epd_t pair[2])
{
	struct scif_portID at, from;
	scif_epd_t listener = listening(1, &at);

	pair[0] = cts_fx_unbound();
	cts_set_nonblocking(pair[0], true);
	request_to(pair[0], at);
	must(scif_accept(listener, &from, &pair[1], SCIF_ACCEPT_SYNC), "scif_accept");
	endpoint_add(pair[1]);
	if (!(cts_poll_wait(pair[0], POLLOUT) & POLLOUT))
		waited_in_vain("an accepted request makes the endpoint writable");
	must(scif_connect(pair[0], &at), "collecting the connection");
	cts_set_nonblocking(pair[0], false);
	must(scif_close(listener), "scif_close");
	endpoint_find(listener)->live = false;
}
