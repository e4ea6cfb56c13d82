/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_connect: asks a listener for a connection. The request is complete when
 * the acceptor has joined the connection block that travels with it.
 */
#include "connect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
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

/* How often the name of the old socket is tried again while its last users let go. */
enum { RENEW_TRIES = 200 };

/* --- a new socket in the old place --- */

static int replace_socket(struct ep *ep)
{
	int number = atomic_load(&ep->fd), fresh = ep_socket();
	int status = fcntl(number, F_GETFL), flags = fcntl(number, F_GETFD);
	struct stat st;

	if (fresh < 0)
		return -ENOBUFS;
	if (fstat(fresh, &st) != 0 || fcntl(fresh, F_SETFL, status) != 0 ||
	    dup3(fresh, number, flags & FD_CLOEXEC ? O_CLOEXEC : 0) != number) {
		close(fresh);
		return -ENOBUFS;
	}
	ep->inode = st.st_ino;
	close(fresh);
	return 0;
}

/* The old socket gives its name back once nobody sleeps on it any more. */
static int rebind(struct ep *ep)
{
	int port = -EINVAL;

	for (int i = 0; i < RENEW_TRIES && port == -EINVAL; i++) {
		port = port_bind(ep->fd, ep->port);
		if (port == -EINVAL)
			sched_yield();
	}
	if (port == 0)
		return 0;
	port = port_bind_any(ep->fd);
	if (port < 0)
		return -ENOBUFS;
	ep->port = (uint16_t)port;
	return 0;
}

int connect_renew(struct ep *ep)
{
	int error;

	if (!ep->unusable)
		return 0;
	shutdown(ep->fd, SHUT_RDWR);
	error = replace_socket(ep);
	if (error != 0)
		return error;
	wake_sleepers();
	error = rebind(ep);
	if (error == 0)
		ep->unusable = false;
	return error;
}

/* --- the request --- */

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int create_parts(struct conn *c, int fds[HELLO_FDS])
{
	int pair[2];

	c->block = conn_block_create(&fds[HELLO_BLOCK]);
	if (c->block == NULL)
		return -ENOBUFS;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -ENOBUFS;
	fds[HELLO_CTL] = pair[1];
	pair[0] = fd_keep(pair[0]);
	if (conn_set_control(c, pair[0]) == 0)
		return 0;
	close_if_open(pair[0]);
	return -ENOBUFS;
}

static int bind_if_needed(struct ep *ep)
{
	int port;

	if (atomic_load(&ep->state) != EP_UNBOUND)
		return 0;
	port = port_bind_any(ep->fd);
	if (port < 0)
		return port == -ENOSPC ? -ENOSPC : -ENOBUFS;
	ep->port = (uint16_t)port;
	atomic_store(&ep->state, EP_BOUND);
	return 0;
}

static void describe(const struct ep *ep, struct conn *c, const struct scif_portID *dst)
{
	struct block_side *ours = &c->block->side[SIDE_CONNECTOR];

	c->node = node_self();
	c->port = ep->port;
	c->peer_node = dst->node;
	c->peer_port = dst->port;
	c->incarnation = node_incarnation(c->node);
	c->peer_incarnation = node_incarnation(c->peer_node);
	c->filler = bell_filler();
	c->inode = ep->inode;
	atomic_store(&c->sock, ep->fd);
	ours->node = c->node;
	ours->port = c->port;
	atomic_store(&ours->state, BLOCK_SIDE_JOINED);
}

static int reach_listener(int sock, const struct scif_portID *dst)
{
	struct sockaddr_un name;
	socklen_t length = node_port_name(&name, dst->node, dst->port);

	if (connect(sock, (struct sockaddr *)&name, length) == 0)
		return 0;
	switch (errno) {
	case EINTR:
		return -EINTR;
	case ENOMEM:
	case ENOBUFS:
	case ENFILE:
	case EMFILE:
		return -ENOBUFS;
	default: /* EAGAIN: the queue is full */
		return -ECONNREFUSED;
	}
}

/* Names have no permissions: whoever answers on a protected port must have been allowed to. */
static int check_listener(int sock, struct conn *c)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
		return -ENOBUFS;
	if (c->peer_port < PORT_PRIVILEGED_END && peer.uid != 0)
		return -ECONNREFUSED;
	c->peer_uid = peer.uid;
	c->same_class = peer.uid == geteuid();
	return 0;
}

union hello_fds {
	struct cmsghdr header;
	char room[CMSG_SPACE(HELLO_FDS * sizeof(int))];
};

static int send_hello(int sock, const struct conn *c, const int fds[HELLO_FDS])
{
	static const unsigned char zeros[BELL_FILLER_MAX];
	struct hello hello = {.magic = HELLO_MAGIC,
			      .version = BLOCK_VERSION,
			      .length = c->filler,
			      .filler = c->filler};
	struct iovec part[2] = {
		{.iov_base = &hello, .iov_len = sizeof(hello)},
		{.iov_base = (void *)(uintptr_t)zeros, .iov_len = c->filler - sizeof(hello)}};
	union hello_fds control = {.header = {.cmsg_len = CMSG_LEN(HELLO_FDS * sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = part,
				 .msg_iovlen = 2,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), fds, HELLO_FDS * sizeof(int));
	if (sendmsg(sock, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)c->filler)
		return 0;
	return errno == EPIPE || errno == ECONNRESET ? -ECONNREFUSED : -ENOBUFS;
}

/* From here to the hello the acceptor has to wait for us, so everything slow was done before. */
static int make_request(struct ep *ep, struct conn *c, const struct scif_portID *dst, int fds[])
{
	int error = reach_listener(ep->fd, dst);

	if (error != 0)
		return error;
	ep->unusable = true;
	error = check_listener(ep->fd, c);
	if (error != 0)
		return error;
	fds[HELLO_STORE] = mem_store_fd(c->peer_uid, true);
	if (fds[HELLO_STORE] < 0)
		return -ENOBUFS;
	return send_hello(ep->fd, c, fds);
}

static int request_connection(struct ep *ep, const struct scif_portID *dst)
{
	int fds[HELLO_FDS] = {-1, -1, -1};
	struct conn *c;
	int error = connect_renew(ep);

	if (error != 0)
		return error;
	c = conn_create(SIDE_CONNECTOR);
	if (c == NULL)
		return -ENOBUFS;
	error = create_parts(c, fds);
	if (error == 0)
		error = bind_if_needed(ep);
	if (error == 0) {
		describe(ep, c, dst);
		error = make_request(ep, c, dst, fds);
	}
	close_if_open(fds[HELLO_BLOCK]);
	close_if_open(fds[HELLO_CTL]);
	if (error != 0) {
		conn_put(c);
		connect_renew(ep);
		return error;
	}
	atomic_store(&ep->conn, c);
	atomic_store(&ep->state, EP_CONNECTING);
	return 0;
}

/* --- its end; all with ep->lock held --- */

static void fail(struct ep *ep, int error)
{
	struct conn *c = atomic_exchange(&ep->conn, NULL);

	ep->failure = error;
	atomic_store(&ep->state, EP_BOUND);
	conn_put(c);
	if (!atomic_load(&ep->closed))
		connect_renew(ep);
}

static int join(struct conn *c)
{
	struct welcome welcome;
	int store, error = conn_recv_fd(c, &welcome, sizeof(welcome), &store);

	if (error != 0)
		return error == -EMFILE || error == -ENOMEM || error == -ENOBUFS ? -ENOBUFS
										 : -ECONNREFUSED;
	if (store < 0)
		return -ECONNREFUSED;
	if (welcome.magic != HELLO_MAGIC || welcome.filler == 0 ||
	    welcome.filler > BELL_FILLER_MAX) {
		close(store);
		return -ECONNREFUSED;
	}
	c->peer_filler = welcome.filler;
	return mem_conn_init(c, store) == 0 ? 0 : -ENOBUFS;
}

static bool accepted(const struct conn *c)
{
	return atomic_load(&c->block->side[SIDE_ACCEPTOR].state) == BLOCK_SIDE_JOINED;
}

static void succeed(struct ep *ep, struct conn *c)
{
	int error = join(c);

	if (error != 0) {
		fail(ep, error);
		return;
	}
	ep->failure = 0;
	/* Release: who sees the state sees the whole connection. */
	atomic_store_explicit(&ep->state, EP_CONNECTED, memory_order_release);
}

static bool was_accepted_then_closed(const struct conn *c)
{
	return atomic_load(&c->block->side[SIDE_ACCEPTOR].state) == BLOCK_SIDE_CLOSED;
}

static void settle(struct ep *ep)
{
	struct conn *c = atomic_load(&ep->conn);
	struct pollfd p = {.fd = ep->fd, .events = POLLOUT | POLLRDHUP};

	if (atomic_load(&ep->state) != EP_CONNECTING)
		return;
	if (!accepted(c) && poll(&p, 1, 0) <= 0)
		return;
	/*
	 * The acceptor joins before it takes the hello off or closes, so now the
	 * block has the answer.
	 */
	if (accepted(c) || was_accepted_then_closed(c)) {
		succeed(ep, c);
		return;
	}
	process_refresh();
	fail(ep, node_online(c->peer_node) ? -ECONNREFUSED : -ENODEV);
}

void connect_settle(struct ep *ep)
{
	pthread_mutex_lock(&ep->lock);
	settle(ep);
	pthread_mutex_unlock(&ep->lock);
	if (atomic_load(&ep->state) == EP_CONNECTED)
		ep_publish(ep);
}

/* Takes the request back, unless the acceptor was faster. */
static void withdraw(struct ep *ep, int reason)
{
	struct conn *c = atomic_load(&ep->conn);
	uint32_t none = BLOCK_SIDE_NONE;

	if (atomic_compare_exchange_strong(&c->block->side[SIDE_ACCEPTOR].state, &none,
					   BLOCK_SIDE_CLOSED))
		fail(ep, reason);
	else
		settle(ep);
}

/* --- the call --- */

static int collect(struct ep *ep)
{
	ep->uncollected = false;
	return ep->failure != 0 ? ep->failure : ep->port;
}

static int refuse_by_state(struct ep *ep)
{
	switch (atomic_load(&ep->state)) {
	case EP_LISTENING:
		return -EOPNOTSUPP;
	case EP_CONNECTED:
		return conn_alive(atomic_load(&ep->conn)) != 0 ? -EINVAL : -EISCONN;
	case EP_CONNECTING:
		return ep->connecting_call ? -EISCONN : -EINPROGRESS;
	default:
		return 0;
	}
}

/* The local port, an error, or 0: wait. */
static int begin(struct ep *ep, const struct scif_portID *dst)
{
	int error;

	settle(ep);
	if (ep->uncollected && atomic_load(&ep->state) != EP_CONNECTING)
		return collect(ep);
	error = refuse_by_state(ep);
	if (error != 0)
		return error;
	if (dst->port == 0)
		return -EINVAL;
	error = request_connection(ep, dst);
	if (error != 0)
		return error;
	if (fcntl(ep->fd, F_GETFL) & O_NONBLOCK) {
		ep->uncollected = true;
		return -EINPROGRESS;
	}
	ep->connecting_call = true;
	return 0;
}

static int outcome(struct ep *ep)
{
	switch (atomic_load(&ep->state)) {
	case EP_CONNECTED:
		return ep->port;
	case EP_CONNECTING:
		return 0;
	default:
		return ep->failure;
	}
}

/* Looks after the request once: its outcome, or 0 while there is none. */
static int look(struct ep *ep, int interrupted)
{
	int result;

	pthread_mutex_lock(&ep->lock);
	settle(ep);
	if (atomic_load(&ep->state) == EP_CONNECTING) {
		if (interrupted != 0)
			withdraw(ep, interrupted);
		else if (!node_online(atomic_load(&ep->conn)->peer_node))
			withdraw(ep, -ENODEV);
	}
	result = outcome(ep);
	if (result != 0)
		ep->connecting_call = false;
	pthread_mutex_unlock(&ep->lock);
	return result;
}

static int wait_for_accept(struct ep *ep)
{
	struct wait_signals signals = {.held = false};
	short revents;
	int result;

	do
		result = look(ep, wait_fd(&ep->closed, &signals, ep->fd, POLLOUT, WAIT_FOREVER,
					  &revents));
	while (result == 0);
	wait_signals_release(&signals);
	/* poll(2) may lack memory, and of connect every shortage is ENOBUFS. */
	return result == -ENOMEM ? -ENOBUFS : result;
}

static int connect_endpoint(struct ep *ep, const struct scif_portID *dst)
{
	int result;

	pthread_mutex_lock(&ep->lock);
	result = begin(ep, dst);
	pthread_mutex_unlock(&ep->lock);
	if (result == 0)
		result = wait_for_accept(ep);
	ep_publish(ep);
	return result;
}

int embedded_connect(scif_epd_t epd, struct scif_portID *dst)
{
	struct scif_portID peer;
	struct ep *ep;
	int result;

	if (dst == NULL)
		return -EINVAL;
	result = ep_get_sure(epd, &ep);
	if (result != 0)
		return result;
	process_refresh();
	if (safe_copy(&peer, dst, sizeof(peer)) != 0)
		result = -EFAULT;
	else
		result = node_online(peer.node) ? connect_endpoint(ep, &peer) : -ENODEV;
	ep_put(ep);
	return result;
}
