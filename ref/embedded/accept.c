/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_accept: serves the oldest connection request. Whatever can run short is
 * obtained before the request leaves the kernel's queue, or the request is kept
 * for the next call.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded.h"
#include "endpoint.h"
#include "node.h"
#include "port.h"
#include "process.h"
#include "request.h"
#include "safe_copy.h"
#include "store.h"
#include "wait.h"

/* A connector needs microseconds from entering the queue to its hello; one that stalls is dropped.
 */
#define HELLO_NS 2000000000ull

struct newcomer {
	struct ep *ep;
	struct conn *c;
	int reserve[HELLO_FDS]; /* so that the descriptors in the hello find room */
	struct wait_signals *signals;
};

static void release_reserve(struct newcomer *new)
{
	for (int i = 0; i < HELLO_FDS; i++) {
		if (new->reserve[i] >= 0)
			close(new->reserve[i]);
		new->reserve[i] = -1;
	}
}

static void newcomer_drop(struct newcomer *new)
{
	release_reserve(new);
	if (new->c != NULL)
		conn_put(new->c);
	if (new->ep != NULL)
		ep_put(new->ep);
}

static int newcomer_prepare(struct newcomer *new)
{
	new->ep = ep_create();
	new->c = conn_create(SIDE_ACCEPTOR);
	if (new->ep == NULL || new->c == NULL)
		return -ENOMEM;
	for (int i = 0; i < HELLO_FDS; i++) {
		new->reserve[i] = eventfd(0, EFD_CLOEXEC);
		if (new->reserve[i] < 0)
			return -ENOBUFS;
	}
	return 0;
}

/* --- the hello --- */

union hello_fds {
	struct cmsghdr header;
	char room[CMSG_SPACE(16 * sizeof(int))];
};

static void close_fds(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int keep_fds(int fds[HELLO_FDS], const int got[HELLO_FDS])
{
	bool all = true;

	for (int i = 0; i < HELLO_FDS; i++) {
		fds[i] = fd_keep(got[i]);
		all &= fds[i] >= 0;
	}
	if (all)
		return 0;
	close_fds(fds, HELLO_FDS);
	return -ENOBUFS;
}

/* Every descriptor that came is either in fds or closed; 0 when it was exactly those we expect. */
static int take_fds(struct msghdr *message, int fds[HELLO_FDS])
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int got[16];
	size_t count = 0;

	if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	if (count > 0)
		memcpy(got, CMSG_DATA(header), count * sizeof(int));
	if (count == HELLO_FDS && !(message->msg_flags & MSG_CTRUNC))
		return keep_fds(fds, got);
	close_fds(got, count);
	return message->msg_flags & MSG_CTRUNC && count < HELLO_FDS ? -ENOBUFS : -EAGAIN;
}

/* Only looks: the hello stays where it is until the connection is complete. */
static int peek_hello(int sock, struct hello *hello, int fds[HELLO_FDS])
{
	struct iovec part = {.iov_base = hello, .iov_len = sizeof(*hello)};
	union hello_fds control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(sock, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int error;

	if (got <= 0)
		return got < 0 && (errno == ENOMEM || errno == ENOBUFS) ? -ENOBUFS : -EAGAIN;
	error = take_fds(&message, fds);
	if (error != 0)
		return error;
	if (got == sizeof(*hello) && hello->magic == HELLO_MAGIC &&
	    hello->version == BLOCK_VERSION && hello->filler > 0 &&
	    hello->filler <= BELL_FILLER_MAX && hello->length >= sizeof(*hello) &&
	    hello->length <= BELL_FILLER_MAX)
		return 0;
	close_fds(fds, HELLO_FDS);
	return -EAGAIN;
}

static int wait_for_hello(const struct ep *ep, struct wait_signals *signals, int sock)
{
	uint64_t deadline = wait_now() + HELLO_NS;
	struct pollfd p = {.fd = sock, .events = POLLIN};
	short revents;
	int error;

	if (poll(&p, 1, 0) == 1)
		return 0;
	do
		error = wait_fd(&ep->closed, signals, sock, POLLIN, deadline, &revents);
	while (error == 0 && revents == 0 && wait_now() < deadline);
	if (error == 0)
		return revents != 0 ? 0 : -EAGAIN;
	return error == -EINTR && atomic_load(&ep->closed) ? -ENOENT : error;
}

static void consume_hello(int sock, uint32_t length)
{
	unsigned char sink[4096];

	while (length > 0) {
		ssize_t got = recv(sock, sink, length < sizeof(sink) ? length : sizeof(sink),
				   MSG_DONTWAIT);

		if (got <= 0)
			return;
		length -= (uint32_t)got;
	}
}

/* --- serving one request --- */

static int identify(struct conn *c, int sock)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);
	const int size = BELL_SEND_BUFFER;
	struct stat st;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
	    fstat(sock, &st) != 0 ||
	    setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) != 0)
		return -ENOBUFS;
	c->peer_uid = peer.uid;
	c->same_class = peer.uid == geteuid();
	c->inode = st.st_ino;
	c->node = node_self();
	c->incarnation = node_incarnation(c->node);
	c->peer_incarnation = node_incarnation(c->peer_node);
	c->filler = bell_filler();
	return 0;
}

/* The text tells descriptors and buffers from memory. */
static int shortage(int error)
{
	switch (error) {
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ETOOMANYREFS:
		return -ENOBUFS;
	default:
		return -ENOMEM;
	}
}

static int adopt_fds(struct conn *c, int fds[HELLO_FDS])
{
	int error = conn_block_map(fds[HELLO_BLOCK], &c->block);

	close(fds[HELLO_BLOCK]);
	if (error == 0)
		error = conn_set_control(c, fds[HELLO_CTL]);
	if (error == 0) {
		error = mem_conn_init(c, fds[HELLO_STORE]);
		return error == 0 || error == -EPROTO ? error : shortage(error);
	}
	close(fds[HELLO_CTL]);
	close(fds[HELLO_STORE]);
	return error;
}

static int send_welcome(struct conn *c)
{
	struct welcome welcome = {.magic = HELLO_MAGIC, .filler = c->filler};
	int store = mem_store_fd(c->peer_uid, true);
	int error = store < 0 ? shortage(store) : conn_send_fd(c, &welcome, sizeof(welcome), store);

	switch (error) {
	case 0:
	case -ENOMEM:
		return error;
	case -ENOBUFS:
	case -ETOOMANYREFS:
		return -ENOBUFS;
	default:
		return -EAGAIN;
	}
}

/* The moment the connection comes into being; the connector may have given up before. */
static bool join(struct conn *c)
{
	struct block_side *ours = &c->block->side[SIDE_ACCEPTOR];
	uint32_t none = BLOCK_SIDE_NONE;

	ours->node = c->node;
	ours->port = c->port;
	return atomic_compare_exchange_strong(&ours->state, &none, BLOCK_SIDE_JOINED);
}

static int enter(struct ep *listener, struct conn *c)
{
	int error = send_welcome(c);

	if (error != 0)
		return error;
	if (atomic_load(&listener->closed))
		return -ENOENT;
	return join(c) ? 0 : -EAGAIN;
}

static int complete(struct ep *listener, struct newcomer *new, int sock, const struct hello *hello)
{
	struct conn *c = new->c;
	int error;

	if (ep_attach(new->ep, sock) != 0)
		return -ENOMEM;
	atomic_store(&c->sock, sock);
	error = enter(listener, c);
	if (error != 0) {
		ep_detach(new->ep, sock);
		return error;
	}
	new->c = NULL; /* the endpoint's now */
	new->ep->port = c->port;
	atomic_store(&new->ep->conn, c);
	atomic_store_explicit(&new->ep->state, EP_CONNECTED, memory_order_release);
	consume_hello(sock, hello->length);
	ep_publish(new->ep);
	return 0;
}

/*
 * 0, or: -EAGAIN it is dead or its sender does not keep to the rules, -ENODEV
 * its node is lost, -ENOENT the listener was closed; other errors leave it as
 * it was.
 */
static int serve(struct ep *listener, struct newcomer *new, int sock)
{
	struct conn *c = new->c;
	struct hello hello;
	int fds[HELLO_FDS], error = wait_for_hello(listener, new->signals, sock);

	if (error != 0)
		return error;
	switch (request_state(sock, &c->peer_node, &c->peer_port)) {
	case REQUEST_DEAD:
		return -EAGAIN;
	case REQUEST_LOST:
		return -ENODEV;
	case REQUEST_LIVE:
		break;
	}
	error = identify(c, sock);
	if (error != 0)
		return error;
	/* Names have no permissions: whoever has a protected port must have been allowed to. */
	if (c->peer_port < PORT_PRIVILEGED_END && c->peer_uid != 0)
		return -EAGAIN;
	release_reserve(new);
	error = peek_hello(sock, &hello, fds);
	if (error != 0)
		return error;
	c->port = listener->port;
	c->peer_filler = hello.filler;
	error = adopt_fds(c, fds);
	if (error == 0)
		error = complete(listener, new, sock, &hello);
	return error == -EPROTO ? -EAGAIN : error;
}

static bool worth_keeping(int error)
{
	return error == -ENOMEM || error == -ENOBUFS || error == -EINTR;
}

static bool anything_there(struct ep *ep)
{
	struct pollfd p = {.fd = atomic_load(&ep->fd), .events = POLLIN};

	return ep->kept != NULL || (ep->backlog > 0 && poll(&p, 1, 0) == 1);
}

static int accept_once(struct ep *ep, struct wait_signals *signals, struct scif_portID *peer,
		       scif_epd_t *newepd)
{
	struct newcomer new = {.reserve = {-1, -1, -1}, .signals = signals};
	struct request *request;
	int error;

	if (!anything_there(ep))
		return -EAGAIN;
	error = newcomer_prepare(&new);
	if (error == 0)
		error = request_take(ep, &request);
	if (error != 0) {
		newcomer_drop(&new);
		return error;
	}
	error = serve(ep, &new, request->sock);
	if (error == 0) {
		*peer = (struct scif_portID){.node = new.ep->conn->peer_node,
					     .port = new.ep->conn->peer_port};
		*newepd = request->sock;
		request_done(ep, request);
	} else if (worth_keeping(error)) {
		request_keep(ep, request);
	} else {
		request_drop(ep, request);
	}
	newcomer_drop(&new);
	return error;
}

static int next_request(struct ep *ep, struct wait_signals *signals, struct scif_portID *peer,
			scif_epd_t *newepd)
{
	int error;

	/* Dead requests are passed over as long as something is queued behind them. */
	do
		error = accept_once(ep, signals, peer, newepd);
	while (error == -EAGAIN && anything_there(ep));
	return error;
}

static int wait_for_request(struct ep *ep, struct wait_signals *signals, struct scif_portID *peer,
			    scif_epd_t *newepd)
{
	int error;

	while ((error = next_request(ep, signals, peer, newepd)) == -EAGAIN) {
		short revents;

		error = wait_fd(&ep->closed, signals, ep->backlog > 0 ? ep->fd : -1, POLLIN,
				WAIT_FOREVER, &revents);
		if (error != 0)
			return error;
	}
	return error;
}

static int accept_checked(struct ep *ep, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	struct scif_portID from;
	scif_epd_t number;
	struct wait_signals signals = {.held = false};
	int error;

	if (flags & ~SCIF_ACCEPT_SYNC)
		return -EINVAL;
	if (atomic_load(&ep->state) != EP_LISTENING)
		return -EINVAL;
	if (anything_there(ep) && (safe_probe_write(peer, sizeof(*peer)) != 0 ||
				   safe_probe_write(newepd, sizeof(*newepd)) != 0))
		return -EFAULT;
	error = flags & SCIF_ACCEPT_SYNC ? wait_for_request(ep, &signals, &from, &number)
					 : next_request(ep, &signals, &from, &number);
	wait_signals_release(&signals);
	if (error != 0)
		return error;
	if (safe_copy(peer, &from, sizeof(from)) == 0 &&
	    safe_copy(newepd, &number, sizeof(number)) == 0)
		return 0;
	embedded_close(number);
	return -EFAULT;
}

int embedded_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	struct ep *ep;
	int error;

	if (peer == NULL || newepd == NULL)
		return -EINVAL;
	error = ep_get_sure(epd, &ep);
	if (error != 0)
		return error;
	safe_copy_install();
	error = accept_checked(ep, peer, newepd, flags);
	ep_put(ep);
	return error;
}
